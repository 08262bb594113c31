"""The README's plain PySpark script on the platform: killed, started again, suspended."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.wire import events
from tests.driving import DrivenJob, drive
from tests.kafka import brokers
from tests.kafka.engine import ROOT

__all__ = ["drive"]


@pytest.mark.timeout(1200)
def test_each_number_is_there_once(
    drive: Callable[..., DrivenJob], kafka: str, tmp_path: Path
) -> None:
    readme = (ROOT / "README.md").read_text()
    [script] = re.findall(r"```python\n(# numbers\.py.*?)```", readme, re.DOTALL)
    topic = brokers.new_topic(kafka, 2)
    job = drive(script, kafka, topic, str(tmp_path / "numbers"), kafka=kafka)

    def has_run() -> bool:
        return sum(e.records_in > 0 for e in job.events(events.CheckpointCompleted)) >= 2

    job.start()
    job.until(has_run)
    job.end()  # killed, with its JVM and workers
    job.start()
    job.until(has_run)
    job.terminate()
    assert job.wait() == 0, job.log()

    numbers = sorted(map(int, brokers.visible(kafka, topic)))
    assert numbers
    assert numbers == list(range(len(numbers)))
    assert job.events()[-1] == events.Stopped("suspended")
    assert job.events(events.Planned)[0].sinks == [f"headrace-kafka:{topic}"]
