"""docs/coming-from-pyflink.md says of every public class of PyFlink's what the code says."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "coming-from-pyflink.md"
SURFACE = Path(__file__).parent / "pyflink-2.3.txt"
#: Its builders are FileSink's, which call their argument `rolling_policy`, not `policy`.
OTHER_ARGUMENTS = ("StreamingFileSink.", "with_rolling_policy")
ROW = re.compile(r"^\| (`.+`) \| (\w+) \|(.*)\|$", re.MULTILINE)


@dataclass
class Named:
    """A class or function of PyFlink, and a class's methods with their arguments."""

    module: str
    name: str
    arguments: list[str] | None = None
    methods: dict[str, list[str] | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.module.removeprefix('pyflink.')}.{self.name}"

    def here(self) -> Any:
        """Raises ImportError or AttributeError where it is absent."""
        found: Any = importlib.import_module(self.module.replace("pyflink", "headrace", 1))
        for part in self.name.split("."):
            found = getattr(found, part)
        return found


def surface() -> tuple[list[Named], dict[str, list[str]]]:
    """All that is named, and what the modules export."""
    named: list[Named] = []
    exports: dict[str, list[str]] = {}
    module = ""
    for line in SURFACE.read_text().splitlines():
        word = line.split()
        if line.startswith("pyflink"):
            module = line
        elif line.startswith("  exports"):
            exports.setdefault(module, []).extend(word[1:])
        elif line.startswith("  class"):
            named.append(Named(module, word[1]))
        elif line.startswith("    "):
            name, arguments = _call(line.strip())
            named[-1].methods[name] = arguments
        elif line.startswith("  "):
            named.append(Named(module, *_call(line.strip())))
    return named, exports


def _call(text: str) -> tuple[str, list[str] | None]:
    name, bracket, arguments = text.partition("(")
    return name, [each for each in arguments[:-1].split(", ") if each] if bracket else None


def page() -> Iterator[tuple[str, str, str, str]]:
    """(module, name, state, remark) of each row."""
    for section in PAGE.read_text().split("\n### ")[1:]:
        module, _, tables = section.partition("\n")
        for names, state, remark in ROW.findall(tables):
            for name in re.findall(r"`([\w.]+)`", names):
                yield module, name, state, remark.strip()


NAMED, EXPORTS = surface()
ROWS = list(page())
STATES = {(module, name): state for module, name, state, _ in ROWS}


def state_of(named: Named) -> str:
    """A class within a class has that one's state, unless it has a row of its own."""
    own = STATES.get((named.module, named.name))
    return own or STATES[named.module, named.name.partition(".")[0]]


PRESENT = [named for named in NAMED if state_of(named) != "absent"]
ABSENT = [named for named in NAMED if state_of(named) == "absent"]


def test_the_page_has_a_row_for_each_and_no_others() -> None:
    assert len(STATES) == len(ROWS), "a class has two rows"
    assert set(STATES.values()) == {"same", "different", "absent"}
    known = {(named.module, named.name) for named in NAMED}
    assert set(STATES) <= known
    assert {key for key in known if "." not in key[1]} <= set(STATES)
    assert len(known) > 300


def test_what_is_different_or_absent_is_explained() -> None:
    assert [row for row in ROWS if row[2] != "same" and not row[3]] == []


@pytest.mark.parametrize("named", PRESENT, ids=str)
def test_it_is_there_with_all_methods_and_arguments(named: Named) -> None:
    found = named.here()
    if named.arguments is not None:
        assert _agree(named.arguments, found)
    for method, arguments in named.methods.items():
        assert hasattr(found, method), f"{named} has no {method}"
        excused = named.name.startswith(OTHER_ARGUMENTS[0]) and method == OTHER_ARGUMENTS[1]
        if arguments is not None and not excused:
            assert _agree(arguments, getattr(found, method)), f"arguments of {named}.{method}"


def _agree(arguments: list[str], function: Any) -> bool:
    """PyFlink's arguments come first, by the same names; what comes more may be left out."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # a builtin's
        return True
    ours = [p for p in parameters if p.name != "self"]
    more = ours[len(arguments) :]
    named = [(a, p) for a, p in zip(arguments, ours, strict=False) if not a.startswith("*")]
    return (
        len(ours) >= len(arguments)
        and all(argument == parameter.name for argument, parameter in named)
        and all(p.default is not p.empty or p.kind in _MANY for p in more)
    )


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@pytest.mark.parametrize("named", ABSENT, ids=str)
def test_it_is_absent_or_says_so(named: Named) -> None:
    try:
        found = named.here()
    except (ImportError, AttributeError):
        return
    assert inspect.isclass(found), f"{named} is there"
    with pytest.raises(NotImplementedError):
        found(None)


def _modules() -> list[str]:
    """Those that are here, be they packages, which have no classes of their own."""
    classes = {named.module for named in NAMED}
    return [each for each in EXPORTS if each not in classes or each in {n.module for n in PRESENT}]


@pytest.mark.parametrize("module", _modules())
def test_modules_export_what_pyflinks_do(module: str) -> None:
    absent = {named.name for named in ABSENT}
    found = importlib.import_module(module.replace("pyflink", "headrace", 1))
    missing = [name for name in EXPORTS[module] if not hasattr(found, name)]
    assert set(missing) <= absent
