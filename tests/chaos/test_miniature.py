"""What the miniature's faults count as a problem, and how its engine counts steps."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from headrace.connectors.twophase.steps import Step
from tests.chaos.broker import Broker
from tests.chaos.faults import Fault, Kind
from tests.chaos.miniature import Miniature
from tests.kafka import brokers
from tests.kafka import engine as of_topics
from tests.twophase import engine as of_three


def test_a_driver_with_all_answers_of_the_last_batch_may_end_well(
    kafka: str, tmp_path: Path
) -> None:
    small = Miniature(tmp_path, cast(Broker, None), print)
    topics = {sink: brokers.new_topic(kafka, 1) for sink in ("left", "right")}
    prefix = f"job-{uuid.uuid4().hex[:8]}"
    small.plan = of_topics.Plan(kafka, str(tmp_path), topics, prefix, batches=1, partitions=1)
    # after the second of two sinks
    assert small.inject(Fault(Kind.REPLACED, Step.ENDED, delay=0.001))
    assert small.problems == []


class Slow(dict[Step, int]):
    """Whoever has read is overtaken by the others."""

    def get(self, key: Step, default: Any = None) -> Any:
        found = super().get(key, default)
        time.sleep(0.1)
        return found


ENGINES = [
    lambda home: of_topics.Engine(of_topics.Plan("", home, {}, "")),
    lambda home: of_three.Engine(of_three.Plan(home, "", "", "", {}, "")),
]


@pytest.mark.parametrize("make", ENGINES)
def test_a_step_that_sinks_reach_at_once_is_counted_for_each(make: Any, tmp_path: Path) -> None:
    engine = make(str(tmp_path))
    engine.reached = Slow()
    with ThreadPoolExecutor(3) as sinks:
        list(sinks.map(engine._at, [Step.ENDED] * 3))
    assert engine.reached == {Step.ENDED: 3}
