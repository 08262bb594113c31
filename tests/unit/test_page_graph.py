"""The drawing of a job graph."""

from __future__ import annotations

from typing import Any

from dashboard import graph


def node(name: str, *inputs: Any, **values: Any) -> dict[str, Any]:
    return {"id": name, "description": name, "inputs": list(inputs), **values}


def columns(plan: dict[str, Any]) -> dict[str, int]:
    return {each.id: each.column for each in graph.layout(plan).nodes}


def test_each_node_stands_right_of_all_its_inputs() -> None:
    plan = {
        "nodes": [
            node("join", {"id": "a"}, {"id": "slow"}),
            node("a"),
            node("b"),
            node("slow", {"id": "b"}),
            node("sink", {"id": "join"}),
        ]
    }
    assert columns(plan) == {"a": 0, "b": 0, "slow": 1, "join": 2, "sink": 3}


def test_ends_are_named_sources_and_sinks() -> None:
    plan = {"nodes": [node("a"), node("b", "a"), node("c", "b"), node("d", "b")]}
    kinds = {each.id: each.kind for each in graph.layout(plan).nodes}
    assert kinds == {"a": "source", "b": "operator", "c": "sink", "d": "sink"}


def test_a_plan_as_programs_print_it() -> None:
    plan = {
        "nodes": [
            {"id": 1, "contents": "Source: Flights", "pact": "Data Source", "parallelism": 2},
            {"id": 2, "contents": "Delays", "pact": "Operator", "predecessors": [{"id": 1}]},
            {"id": 3, "contents": "delays", "pact": "Data Sink", "predecessors": [{"id": 2}]},
        ]
    }
    drawn = graph.layout(plan)
    assert [(each.name, each.kind, each.column) for each in drawn.nodes] == [
        ("Source: Flights", "source", 0),
        ("Delays", "operator", 1),
        ("delays", "sink", 2),
    ]


def test_boxes_do_not_overlap_and_fit_the_drawing() -> None:
    drawn = graph.layout({"nodes": [node("a"), *(node(f"s{i}", "a") for i in range(5))]})
    places = [(each.x, each.y) for each in drawn.nodes]
    assert len(set(places)) == 6
    assert max(x for x, _ in places) + graph.NODE_WIDTH <= drawn.width
    assert max(y for _, y in places) + graph.NODE_HEIGHT <= drawn.height
    assert len(drawn.edges) == 5


def test_markup_in_a_description_is_text() -> None:
    plan = {"nodes": [node("1", description="Source: flights<br/>&lt;b&gt;")]}
    assert graph.layout(plan).nodes[0].name == "Source: flights <b>"


def test_long_names_keep_to_two_lines() -> None:
    drawn = graph.layout({"nodes": [node("x" * 20 + " " + "y" * 90)]})
    assert [len(line) <= 29 for line in drawn.nodes[0].lines] == [True, True]


def test_plans_that_are_empty_or_odd_are_drawn_as_far_as_they_go() -> None:
    assert graph.layout({}).nodes == []
    assert graph.layout({"nodes": None}).nodes == []
    assert columns({"nodes": [node("a", "b"), node("b", "a"), node("c", "missing")]})["c"] == 0
