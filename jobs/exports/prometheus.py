"""Samples as Prometheus reads them, named and labelled as Flink's reporter does it: `flink_`, the
scope, the name, with underscores; counters are gauges, histograms are summaries."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from jobs.exports import extras
from jobs.exports.samples import HEADRACE, Group, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_UNFIT = re.compile(r"[^a-zA-Z0-9:_]")
#: Names of `headrace` keep the values of these labels as they are.
_RAW = frozenset({"topic", "partition", "state", "to"})


def text(groups: Iterable[Group]) -> str:
    """Text format 0.0.4: the samples of each name together, as it demands."""
    families: dict[str, list[str]] = {}
    names: dict[tuple[str, str], str] = {}
    for group in groups:
        labels = _labels(group)
        closed = f"{{{labels}}} " if labels else " "
        told: set[str] = set()
        for name, value in group.values.items():
            family = names.get((group.scope, name))
            if family is None:
                family = names[group.scope, name] = _family(group.scope, name)
            if family in told:
                continue  # of `a.b` and `a_b` the first: one told twice may void the answer
            told.add(family)
            lines = families.get(family)
            if lines is None:
                lines = families[family] = _head(family, group.scope, name, value)
            if isinstance(value, Histogram):
                lines.extend(_summary(family, labels, value))
            else:
                lines.append(f"{family}{closed}{_number(value)}")
    return "\n".join(line for lines in families.values() for line in [*lines, ""] if line) + "\n"


def _family(scope: str, name: str) -> str:
    prefix = scope if scope == HEADRACE else f"flink_{scope}"
    return _UNFIT.sub("_", f"{prefix}_{name}")


def _head(family: str, scope: str, name: str, value: object) -> list[str]:
    kind = "summary" if isinstance(value, Histogram) else "gauge"
    full, _, last = f"{scope}.{name}".rpartition(".")
    words = f"{last} (scope: {_UNFIT.sub('_', full)})"
    if scope == HEADRACE:
        words = extras.WORDS[name]
    return [f"# HELP {family} {words}", f"# TYPE {family} {kind}"]


def _labels(group: Group) -> str:
    return ",".join(
        f'{_UNFIT.sub("_", name)}="{_label(group.scope, name, value)}"'
        for name, value in group.variables.items()
    )


def _label(scope: str, name: str, value: str) -> str:
    if scope == HEADRACE and name in _RAW:
        return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return _UNFIT.sub("_", value)


def _summary(family: str, labels: str, value: Histogram) -> list[str]:
    comma = "," if labels else ""
    lines = [
        f'{family}{{{labels}{comma}quantile="{quantile:g}"}} {_number(own)}'
        for quantile, own in value.quantiles.items()
    ]
    closed = f"{{{labels}}}" if labels else ""
    if value.sum is not None:
        lines.append(f"{family}_sum{closed} {_number(value.sum)}")
    return [*lines, f"{family}_count{closed} {_number(value.count)}"]


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return repr(value)
