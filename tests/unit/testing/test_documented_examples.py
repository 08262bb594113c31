"""The examples of the documentation run as they stand there; the README's are run on Kafka."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.runtime import executors

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
#: A block of a program that the tutorial writes piece by piece: "```python machines.py".
TUTORIAL = re.compile(r"```python (\w+\.py)\n(.*?)```", re.DOTALL)
PAGES = sorted(page for page in DOCS.glob("*.md") if "def test_" in page.read_text())


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def _examples() -> Iterator[str]:
    """Puts the pages' tests among those of this module, each as `test_of_<page>_<name>`."""
    for page in PAGES:
        name = page.stem.replace("-", "_")
        for number, code in enumerate(blocks(page)):
            module = types.ModuleType(f"{name}_example_{number}")
            sys.modules[module.__name__] = module
            exec(compile(code, f"{page.name} example {number}", "exec"), module.__dict__)
            for each in [each for each in vars(module) if each.startswith("test_")]:
                full = f"test_of_{name}_{each.removeprefix('test_')}"
                assert full not in globals(), f"two examples of {page.name} have one name"
                globals()[full] = vars(module)[each]
                yield full


EXAMPLES = list(_examples())


def test_no_example_is_forgotten() -> None:
    pages = [page for page in PAGES if page.name != "tutorial.md"]
    assert len(EXAMPLES) == sum(page.read_text().count("\ndef test_") for page in pages)
    assert len(EXAMPLES) > 20


def test_every_page_can_be_found() -> None:
    index = (DOCS / "index.md").read_text()
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert pages == {name for name in pages if f"({name})" in index}
    assert "(docs/index.md)" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (DOCS / link).exists()] == []


@pytest.fixture
def tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the tutorial's files, where programs run in one process."""
    monkeypatch.setenv(executors.EXECUTOR_VARIABLE, executors.IN_PROCESS)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "platform"))
    for name, code in TUTORIAL.findall((DOCS / "tutorial.md").read_text()):
        with (tmp_path / name).open("a") as file:
            file.write(code + "\n\n")
    return tmp_path


def test_the_tutorials_tests_pass(tutorial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tutorial)
    tests = runpy.run_path(str(tutorial / "test_machines.py"))
    del sys.modules["machines"]
    for test in [found for name, found in tests.items() if name.startswith("test_")]:
        test()


def test_the_tutorials_job_does_what_the_tutorial_says(tutorial: Path) -> None:
    command = [sys.executable, "machines.py", "--count", "12000", "--output", "out"]
    subprocess.run(command, cwd=tutorial, check=True)
    means = [line for path in (tutorial / "out/means").glob("part-*") for line in path.open()]
    assert len(means) == len(set(means)) == 10 * 100
    [alarms] = (tutorial / "out/alarms").glob("part-*")
    shown = re.findall(r"^    (\{.*\})$", (DOCS / "tutorial.md").read_text(), re.MULTILINE)
    assert alarms.read_text().splitlines()[: len(shown)] == shown
    assert "celsius=-273.1" in "".join(p.read_text() for p in tutorial.glob("out/broken/*/part-*"))
