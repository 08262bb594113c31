"""What queries of plain PySpark scripts say, as events."""

from __future__ import annotations

from typing import Any

from headrace.runtime import plain_progress
from headrace.runtime.measuring.plain_measures import PlainMeasures, places
from headrace.runtime.plain_writer import Described
from headrace.wire import columns
from headrace.wire.operator_ids import operator_id


def progress(**changes: Any) -> dict[str, Any]:
    return {
        "runId": "r",
        "batchId": 7,
        "timestamp": "2026-01-31T12:00:00.000Z",
        "numInputRows": 5,
        "durationMs": {"addBatch": 30, "triggerExecution": 40},
        "eventTime": {"watermark": "1970-01-01T00:00:00.000Z"},
        "stateOperators": [{"numRowsTotal": 3, "memoryUsedBytes": 100}],
        "sources": [
            {
                "description": "KafkaV2[Subscribe[clicks]]",
                "endOffset": {"clicks": {"0": 10}},
                "latestOffset": {"clicks": {"0": 12}},
            }
        ],
        "sink": {"numOutputRows": 4},
        **changes,
    }


def test_a_batch_is_a_checkpoint_of_its_own_number() -> None:
    event = plain_progress.checkpoint(21, progress(), "totals", {"clicks": {"0": 2}})
    assert (event.checkpoint_id, event.records_in, event.records_out) == (21, 5, {"totals": 4})
    assert (event.duration, event.state_rows, event.watermark) == (40, 3, None)
    assert event.offsets == {"clicks": {"0": 10}}
    assert event.lag == {"clicks": {"0": 2}}
    marked = progress(eventTime={"watermark": "1970-01-01T00:00:01.500Z"}, sink={})
    event = plain_progress.checkpoint(1, marked, "totals", {})
    assert (event.watermark, event.records_out) == (1500, {})


def test_of_queries_that_read_one_topic_the_one_behind_counts() -> None:
    lags = [plain_progress.lag(progress()), {"clicks": {"0": 9, "1": 1}}, {}]
    assert plain_progress.most(lags) == {"clicks": {"0": 9, "1": 1}}


def test_the_graph_has_each_query_between_its_sources_and_its_sink() -> None:
    queries = [Described("one", ["kafka:a", "rate"], "parquet:/out"), Described("two", [], "noop")]
    nodes = plain_progress.plan(queries, 2)["nodes"]
    assert [(node["type"], node["pact"]) for node in nodes] == [
        ("Source: kafka:a", "Data Source"),
        ("Source: rate", "Data Source"),
        ("Query: one", "Operator"),
        ("Sink: parquet:/out", "Data Sink"),
        ("Query: two", "Operator"),
        ("Sink: noop", "Data Sink"),
    ]
    assert [each["id"] for each in nodes[2]["predecessors"]] == [1, 2]
    assert [each["id"] for each in nodes[3]["predecessors"]] == [3]


def test_figures_have_the_places_of_the_plan() -> None:
    queries = [Described("a", ["kafka", "rate"], "kafka"), Described("b", ["rate"], "console")]
    assert [places(queries, name) for name in "ab"] == [([1, 2], 3, 4), ([5], 6, 7)]
    nodes = plain_progress.plan(queries, 2)["nodes"]
    assert [node["id"] for node in nodes if node["pact"] == "Operator"] == [3, 6]


def test_queries_measure_what_spark_tells() -> None:
    now = 10.0
    measures = PlainMeasures(2, lambda: now)
    queries = [Described("totals", ["kafka"], "kafka")]
    found = progress(sources=[{"numInputRows": 5}])
    for _ in range(2):
        now += 1
        behind = {"clicks": {"0": 2}}
        measures.batch(queries, "totals", found, {"clicks": {"0": 10}}, behind, 1_500)
    told = measures.due()
    assert told is not None
    source, query, sink = (
        columns.rows(told.vertices[operator_id(f"node-{n}")], 2) for n in (1, 2, 3)
    )
    assert [row.get("numRecordsIn") for row in query] == [10, None]
    assert (query[1]["busyTimeMsPerSecond"], query[1]["currentInputWatermark"]) == (40, 1_500)
    assert source[0]["backPressuredTimeMsPerSecond"] == 40
    assert sink[0]["numRecordsInPerSecond"] == 4
    assert told.partitions["clicks"]["0"]["lag"] == 2
    assert told.job["numRecordsInPerSecond"] == 5
    assert measures.last() is None
    for _ in range(2):
        now += 10
        measures.idle({})
    told = measures.due()
    assert told is not None
    assert (told.job["numRecordsIn"], told.job["numRecordsInPerSecond"]) == (10, 0)
