"""What pages say of vertices, computed without a database: loads, skew, what holds watermarks
back, quantiles, flame graphs."""

from __future__ import annotations

import math

import pytest

from dashboard import flame, holding, load, quantiles, skew
from jobs.vertices import Input, Vertex


def times(busy: float, pressed: float, idle: float) -> dict[str, float]:
    return dict(zip((load.BUSY, load.PRESSED, load.IDLE), (busy, pressed, idle), strict=True))


@pytest.mark.parametrize(
    ("pressed", "level", "colour"),
    [
        *((0, "ok", "ok"), (100, "ok", "ok"), (101, "low", "warn"), (500, "low", "warn")),
        *((501, "high", "bad"), (1_000, "high", "bad")),
    ],
)
def test_levels_of_back_pressure_are_flinks(pressed: float, level: str, colour: str) -> None:
    found = load.of(times(10, pressed, 990 - pressed))
    assert found is not None
    assert (found.level, found.colour) == (level, colour)


def test_the_worst_subtask_counts() -> None:
    loads = [load.of(times(900, 0, 100)), load.of(times(100, 300, 600)), None]
    worst = load.worst(loads)
    assert worst is not None
    assert (worst.busy, worst.pressed, worst.main) == (10, 30, "low")
    assert load.worst([None]) is None


def test_time_that_was_not_measured_is_not_made_up() -> None:
    assert load.of({}) is None
    assert load.of({load.BUSY: math.nan}) is None
    assert load.of({load.BUSY: 400.0}) == load.Load(40, 0, 60, "ok")


@pytest.mark.parametrize(
    ("values", "percent"),
    [
        ([10, 10, 10], 0.0),
        ([30, 0, 0], 100.0),
        ([15, 5], 50.0),
        ([5], None),
        ([], None),
        ([0, 0], None),
    ],
)
def test_skew_is_the_mean_deviation_in_percent_of_the_mean(
    values: list[float], percent: float | None
) -> None:
    assert skew.percent(values) == percent


def vertex(name: str, *before: str) -> Vertex:
    return Vertex(name, name, 2, 128, (), tuple(Input(each, "HASH") for each in before))


def test_a_watermark_is_held_back_by_the_slowest_source_behind_it() -> None:
    graph = {each.id: each for each in (vertex("a"), vertex("b"), vertex("join", "a", "b"))}
    marks = {"a": [9.0, 8.0], "b": [7.0, 3.0], "join": [3.0, 4.0]}
    way = holding.way(graph["join"], graph, marks)
    assert [(step.vertex.id, step.subtask, step.watermark) for step in way] == [
        ("join", 0, 3),
        ("b", 1, 3),
    ]
    assert holding.way(graph["join"], graph, {}) == []


def test_a_source_without_a_watermark_is_behind_all_others() -> None:
    graph = {each.id: each for each in (vertex("a"), vertex("b"), vertex("join", "a", "b"))}
    marks = {"a": [5.0], "b": [float(holding.NONE_YET)], "join": [float(holding.NONE_YET)]}
    way = holding.way(graph["join"], graph, marks)
    assert [(step.vertex.id, step.watermark) for step in way] == [("join", None), ("b", None)]


def test_a_loop_ends_the_way() -> None:
    graph = {"a": vertex("a", "b"), "b": vertex("b", "a")}
    assert len(holding.way(graph["a"], graph, {"a": [1.0], "b": [2.0]})) == 2


def test_quantiles_are_values_that_there_were() -> None:
    found = quantiles.spread([*range(1, 101), None])
    assert found is not None
    assert (found.least, found.mean, found.most) == (1, 50.5, 100)
    assert found.quantiles == {"p50": 51, "p90": 91, "p95": 96, "p99": 100, "p99.9": 100}
    assert quantiles.spread([None]) is None


TREE = {
    "name": "all",
    "value": 100,
    "children": [
        {"name": "run (job.py:3)", "value": 60, "children": [{"name": "parse", "value": 45}]},
        {"name": "wait", "value": 40, "children": []},
    ],
}


def test_a_frame_is_as_wide_as_its_part() -> None:
    drawn = flame.draw(TREE)
    boxes = {each.name: (each.x, each.width, each.y, each.at) for each in drawn.frames}
    assert boxes["all"] == (0, 100, 0, "")
    assert boxes["parse"] == (0, 45, 2 * flame.ROW, "0.0")
    assert boxes["wait"] == (60, 40, flame.ROW, "1")
    assert (drawn.samples, drawn.height, drawn.left_out) == (100, 3 * flame.ROW, 0)


def test_one_looks_into_a_frame_and_back() -> None:
    drawn = flame.draw(TREE, "0")
    assert [each.name for each in drawn.frames] == ["run (job.py:3)", "parse"]
    assert drawn.above == [("all", "")]
    assert [each.share for each in drawn.frames] == [60, 45]


@pytest.mark.parametrize("at", ["7", "x", "0.0.0.0", "-1", "..", "0.\N{SUPERSCRIPT TWO}"])
def test_odd_places_in_a_flame_graph(at: str) -> None:
    assert flame.draw(TREE, at).frames


def test_a_deep_and_wide_tree_is_drawn_in_part() -> None:
    deep: dict[str, object] = {"name": "leaf", "value": 10}
    for _ in range(300):
        deep = {"name": "f", "value": 10, "children": [deep]}
    wide = [{"name": str(n), "value": 1, "children": []} for n in range(9_000)]
    drawn = flame.draw({"name": "all", "value": 9_010, "children": [deep, *wide]})
    assert len(drawn.frames) <= flame.MOST
    assert drawn.left_out > 8_000
