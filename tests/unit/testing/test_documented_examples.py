"""The examples of the documentation run as they stand there."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("testing.md", "sources.md", "time-windows-state.md")


def examples() -> Iterator[Any]:
    for page in PAGES:
        codes = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
        for number, code in enumerate(codes):
            module = types.ModuleType(f"{page.partition('.')[0]}_example_{number}")
            sys.modules[module.__name__] = module
            exec(compile(code, f"{page} example {number}", "exec"), module.__dict__)
            for name, found in list(vars(module).items()):
                if name.startswith("test_"):
                    yield pytest.param(found, id=name)


@pytest.mark.parametrize("example", list(examples()))
def test_the_example_passes(example: Callable[[], None]) -> None:
    example()


def test_no_example_is_forgotten() -> None:
    written = sum((DOCS / page).read_text().count("def test_") for page in PAGES)
    assert written == len(list(examples())) == 7
