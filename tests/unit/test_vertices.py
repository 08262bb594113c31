"""A job's vertices, and their ids."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.wire.operator_ids import murmur3, operator_id
from jobs import vertices


def node(number: int, name: str, *reads: int, **more: Any) -> dict[str, Any]:
    before = [{"id": each, "ship_strategy": "HASH"} for each in reads]
    return {"id": number, "uid": f"u{number}", "type": name, "predecessors": before, **more}


CHAINED: dict[str, Any] = {
    "max_parallelism": 32,
    "nodes": [
        node(1, "flights", pact="Data Source", chain=1, parallelism=2),
        node(2, "parse", 1, pact="Operator", chain=1, parallelism=2),
        node(3, "delays", 2, pact="Operator", chain=3, parallelism=2),
        node(4, "round", 3, pact="Operator", chain=3, parallelism=2),
        node(5, "Print", 3, pact="Data Sink", chain=3, parallelism=2),
    ],
}


@pytest.mark.parametrize(
    ("data", "flinks"),
    [
        # what Flink makes of a source without a uid: of one integer, or of two if chained
        (bytes(4), "bc764cd8ddf7a0cff126f51c16239658"),
        (bytes(8), "cbc357ccb763df2852fee8c4fc7d55f2"),
    ],
)
def test_the_hash_is_flinks(data: bytes, flinks: str) -> None:
    assert murmur3(data).hex() == flinks


def test_long_uids_have_ids_of_the_same_length() -> None:
    ids = {operator_id("u" * length) for length in range(60)}
    assert len(ids) == 60
    assert {len(each) for each in ids} == {32}


def test_a_uid_hash_is_the_id() -> None:
    assert operator_id("BC764CD8DDF7A0CFF126F51C16239658") == "bc764cd8ddf7a0cff126f51c16239658"


def test_chains_are_named_as_flink_names_tasks() -> None:
    source, window = vertices.of(CHAINED)

    assert source.name == "Source: flights -> parse"
    assert window.name == "delays -> (round, Sink: Print)"
    assert (source.id, window.id) == (operator_id("u1"), operator_id("u3"))
    assert window.inputs == (vertices.Input(source.id, "HASH"),)
    assert (window.parallelism, window.max_parallelism) == (2, 32)
    assert [operator.node for operator in window.operators] == ["3", "4", "5"]
    assert vertices.find(CHAINED, window.id) == window
    assert vertices.find(CHAINED, "0" * 32) is None


def test_inputs_stand_before_what_reads_them_whatever_the_plans_order() -> None:
    plan = {"nodes": list(reversed(CHAINED["nodes"]))}
    assert next(vertex.id for vertex in vertices.of(plan)) == operator_id("u1")


def test_a_plan_of_older_form() -> None:
    plan = {
        "nodes": [
            {"id": "b", "description": "count<br/>", "inputs": [{"id": "a"}], "parallelism": 3},
            {"id": "a", "description": "words", "inputs": []},
        ]
    }
    words, count = vertices.of(plan)
    assert (words.name, count.name) == ("Source: words", "Sink: count")
    assert (words.parallelism, count.parallelism) == (1, 3)
    assert count.max_parallelism == vertices.MAX_PARALLELISM


def test_loops_and_unknown_inputs_do_no_harm() -> None:
    plan = {"nodes": [node(1, "a", 2, 9, chain=7), node(2, "b", 1)]}
    assert {vertex.name for vertex in vertices.of(plan)} == {"a", "b"}
    assert vertices.of({}) == []


def test_names_of_metrics() -> None:
    assert vertices.metric_name("Source: gen-source") == "Source__gen-source"
    assert vertices.metric_name("sink: Writer") == "sink__Writer"
