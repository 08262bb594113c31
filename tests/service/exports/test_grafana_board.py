"""The board in docs/grafana asks for nothing that is not exported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from jobs.models import TaskManager
from tests.service.exports import driven
from workers.jvm_counters import Jvm
from workers.vitals import Gauge, Sizes, _of_jvms

BOARD = json.loads(
    (Path(__file__).parents[3] / "docs/grafana/headrace.json").read_text(encoding="utf-8")
)
NAME = re.compile(r"\b(?:flink|headrace)_[a-zA-Z0-9_]+")
SELECTOR = re.compile(r"\b((?:flink|headrace)_[a-zA-Z0-9_]+)\{([^}]*)\}")
BY = re.compile(r"by \(([^)]*)\) \(((?:flink|headrace)_[a-zA-Z0-9_]+)")


def expressions() -> Iterator[str]:
    for panel in BOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", []))
    for variable in BOARD["templating"]["list"]:
        yield variable["definition"] if variable["type"] == "query" else ""


@pytest.fixture
def exported(admin_client: Client) -> dict[str, set[str]]:
    """Names -> labels."""
    driven.job()
    gauge = Gauge()
    gauge.look()
    jvm = Jvm(*range(1, 10))
    vitals = gauge.look([], 1024) | _of_jvms({1: jvm}, Sizes())
    vitals |= {"Status.JVM.GarbageCollector.All.TimeMsPerSecond": 1.0}
    TaskManager.objects.update(vitals=vitals)
    text = admin_client.get("/metrics").content.decode()
    return {
        family.name: {name for sample in family.samples for name in sample.labels}
        for family in text_string_to_metric_families(text)
    }


@pytest.mark.django_db
def test_every_metric_it_asks_for_is_exported(exported: dict[str, set[str]]) -> None:
    asked = {name for text in expressions() for name in NAME.findall(text)}

    assert asked - exported.keys() == set()
    assert len(asked) > 25


@pytest.mark.django_db
def test_every_label_it_asks_for_is_there(exported: dict[str, set[str]]) -> None:
    for text in expressions():
        for name, selectors in SELECTOR.findall(text):
            asked = {part.partition("=")[0] for part in selectors.split(",")}
            assert asked <= exported[name], (name, asked)
        for labels, name in BY.findall(text):
            assert {label.strip() for label in labels.split(",")} <= exported[name], (name, labels)


def test_panels_have_ids_of_their_own_and_lie_beside_each_other() -> None:
    panels: list[dict[str, Any]] = BOARD["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(set(ids)) == len(ids)
    cells = [
        (x, y)
        for panel in panels
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_each_question_has_its_panel_and_each_panel_its_title() -> None:
    rows = [panel["title"] for panel in BOARD["panels"] if panel["type"] == "row"]
    wanted = {"Throughput", "Latency", "Lag", "Back pressure", "Checkpoints", "Restarts"}
    assert wanted <= set(rows)
    assert all(panel["title"] for panel in BOARD["panels"])
    variables = [variable["name"] for variable in BOARD["templating"]["list"]]
    assert variables == ["datasource", "job", "taskmanager"]
