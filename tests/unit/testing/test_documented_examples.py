"""The examples of docs/testing.md run as they stand there."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs/testing.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def examples() -> Iterator[Any]:
    for number, code in enumerate(EXAMPLES):
        module = types.ModuleType(f"documented_{number}")
        sys.modules[module.__name__] = module
        exec(compile(code, f"{PAGE.name} example {number}", "exec"), module.__dict__)
        for name, found in list(vars(module).items()):
            if name.startswith("test_"):
                yield pytest.param(found, id=name)


@pytest.mark.parametrize("example", list(examples()))
def test_the_example_passes(example: Callable[[], None]) -> None:
    example()


def test_no_example_is_forgotten() -> None:
    assert sum(code.count("def test_") for code in EXAMPLES) == len(list(examples())) == 3
