"""Programs by chance: events, window, trigger, lateness and function; the same for a seed."""

from __future__ import annotations

import random
from pathlib import Path
from pprint import pformat
from typing import Any

from tests.differential import programs
from tests.differential.programs import Program

_TEMPLATE = Path(__file__).parent / "generated_template.py"
#: Pipelines in one program: one job.
PIPELINES = 6


def write(folder: Path, seed: int) -> Program:
    """A program of its own file, which can be kept where it shows a difference."""
    chance = random.Random(seed)
    cases = [_case(chance) for _ in range(PIPELINES)]
    text = _TEMPLATE.read_text().replace("CASES = []", f"CASES = {pformat(cases, width=96)}")
    path = folder / f"generated_{seed}.py"
    path.write_text(text.replace("Windows by chance.", f"Windows by chance, seed {seed}."))
    return programs.read(path)


def _case(chance: random.Random) -> dict[str, Any]:
    window = _window(chance)
    return {
        "events": _events(chance),
        "bound": chance.choice([0, 0, 500, 2000]),
        "window": window,
        "trigger": _trigger(chance, window[0]),
        "lateness": chance.choice([0, 0, 700, 3000]) if window[0] != "global" else 0,
        "function": _function(chance, window[0]),
        "all": chance.random() < 0.15,
    }


def _function(chance: random.Random, window: str) -> str:
    """PyFlink loses values where sessions merge whose content is reduced or aggregated."""
    kinds = ["reduce", "aggregate", "process", "reduce-process", "aggregate-process"]
    return "process" if window in ("session", "dynamic") else chance.choice(kinds)


def _events(chance: random.Random) -> list[tuple[str, int, int]]:
    """Mostly forward in time, some of them far behind."""
    now, events = 0, []
    for _ in range(chance.randint(8, 24)):
        now += chance.choice([0, 100, 450, 1000, 1999, 4000])
        behind = chance.choice([0, 0, 0, 300, 1000, 2500, 6000])
        events.append((chance.choice("aab"), chance.randint(1, 5), max(0, now - behind)))
    return events


def _window(chance: random.Random) -> tuple[Any, ...]:
    size = chance.choice([1000, 1500, 2000, 5000])
    return chance.choice(
        [
            ("tumbling", size, chance.choice([0, 0, 250, -300])),
            ("sliding", size, chance.choice([500, 700, 1000]), chance.choice([0, 0, 200])),
            ("session", chance.choice([400, 1000, 2500])),
            ("dynamic",),
            ("global",),
        ]
    )


def _trigger(chance: random.Random, window: str) -> tuple[Any, ...] | None:
    """None that registers timers behind the watermark, which PyFlink fires late or never; for
    sessions none that counts, as PyFlink's counts do not survive all merging."""
    count = chance.randint(1, 4)
    counting = [("count", count), ("purging count", count)]
    if window == "global":
        return chance.choice(counting)
    timed = [None, ("purging event time",)]
    if window in ("session", "dynamic"):
        return chance.choice(timed)
    return chance.choice([*timed, *counting])
