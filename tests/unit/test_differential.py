"""How results of two sides are compared; the programs themselves need PyFlink."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.differential import generated, programs, report, side
from tests.differential.comparison import compare
from tests.differential.intended import INTENDED, listed
from tests.differential.kept import Kept
from tests.differential.programs import Program
from tests.differential.sides import EXECUTORS, Result

PROGRAMS = programs.chosen([])


def program(order: str = "none") -> Program:
    return replace(PROGRAMS[0], order=order)


def same(one: list[str], two: list[str], order: str, parallelism: int = 1) -> bool:
    run = replace(PROGRAMS[0].runs[0], parallelism=parallelism)
    results = [Result(tuple(lines), None) for lines in (one, two)]
    return compare(program(order), run, *results).same


def test_order_counts_where_flink_gives_one() -> None:
    one, two = ["(a,1)", "(b,1)", "(a,2)"], ["(a,1)", "(a,2)", "(b,1)"]
    assert same(one, two, "none")
    assert same(one, two, "key")
    assert not same(one, two, "all")
    assert not same(one, one[::-1], "key")
    assert not same(one, [*one, one[0]], "none")


def test_subtasks_are_left_to_each_side() -> None:
    assert same(["1> a", "x:2> b"], ["2> a", "x:1> b"], "all", parallelism=2)
    assert not same(["x:2> b"], ["y:1> b"], "all", parallelism=2)
    assert not same(["1> a"], ["2> a"], "all", parallelism=1)


@pytest.mark.parametrize("error", ["job failed", "hung, or took the process down"])
def test_a_program_that_fails_on_one_side_is_a_difference(error: str) -> None:
    run = PROGRAMS[0].runs[0]
    assert not compare(program(), run, Result((), error), Result((), None)).same
    assert not compare(program(), run, Result(("a",), None), Result(("a",), error)).same


def test_only_imports_are_changed() -> None:
    text = (
        "from pyflink.common import Row\n    import pyflink.datastream as pyflink\nprint('pyflink')"
    )
    changed = side.IMPORTS.sub(r"\1headrace", text)
    assert changed.replace("headrace", "pyflink") == text
    assert changed.count("headrace") == 2
    assert changed.count("\n") == text.count("\n")


def test_every_difference_that_is_meant_is_of_a_program() -> None:
    for executor in EXECUTORS:
        assert listed(executor) <= {each.name for each in PROGRAMS}


def test_every_program_says_how_it_runs() -> None:
    for each in PROGRAMS:
        assert each.title
        assert each.order in ("none", "key", "all")
        assert {run.pace for run in each.runs} <= {"each", "whole"}
        assert all(run.parallelism == 1 for run in each.runs if run.pace == "each")


def test_a_program_can_be_the_last_of_its_application() -> None:
    alone = {each.name for each in PROGRAMS if any(run.alone for run in each.runs)}
    assert alone == {"lifecycle"}


def test_a_seed_gives_the_same_program(tmp_path: Path) -> None:
    texts = [generated.write(tmp_path, seed).path.read_text() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    compile(texts[2], "generated", "exec")


def test_a_result_is_kept_for_a_text_and_a_way_of_running_it(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("1")
    run = replace(PROGRAMS[0].runs[0], path=path)
    result = Result(("a", "b"), "job failed")
    kept = Kept("flink", tmp_path)
    assert list(kept.keep([run], [result])) == [result]
    assert kept.get(run) == result
    assert kept.get(replace(run, parallelism=7)) is None
    assert Kept("spark", tmp_path).get(run) is None
    path.write_text("2")
    assert kept.get(run) is None


def test_the_report_tells_executors_apart(tmp_path: Path) -> None:
    found = next(p for p in PROGRAMS if p.name not in INTENDED and len(p.runs) == 1)
    result, other = Result(("a",), None), Result(("b",), None)
    same = compare(found, found.runs[0], result, result)
    different = compare(found, found.runs[0], result, other)
    to = tmp_path / "report.md"
    report.write(to, [found], {"in-process": [same], "spark": [different]})
    figures, row = to.read_text(), to.read_text().splitlines()[-1]
    assert "in-process: 1 runs of 1 programs, 1 the same, 0 different" in figures
    assert "spark: 1 runs of 1 programs, 0 the same, 1 different" in figures
    assert row.endswith("| same | different | **not explained** |")
