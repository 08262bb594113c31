"""A job whose settings of checkpoints cannot be used is refused, and not restarted for ever."""

from __future__ import annotations

import pytest

from headrace.common.configuration import Configuration
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from headrace.runtime import causes
from headrace.wire import checkpointing
from headrace.wire.checkpointing import RETAINED, RETENTION
from headrace.wire.failures import Cause
from jobs import actions

UNUSABLE = [({RETAINED: "three"}, "no whole number"), ({RETENTION: "delete"}, "is not known")]


@pytest.mark.parametrize(("settings", "why"), UNUSABLE)
def test_they_are_refused_at_submission(settings: dict[str, str], why: str) -> None:
    with pytest.raises(actions.InvalidJob, match=why):
        actions.check("job", (b"", "job.py"), configuration=settings)


@pytest.mark.parametrize(("settings", "why"), UNUSABLE)
def test_a_programs_own_end_its_job_for_good(settings: dict[str, str], why: str) -> None:
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection([1]).print()
    with pytest.raises(ValueError, match=why) as met:
        env.execute()
    assert causes.of(met.value, planned=False) is Cause.PROGRAM


def test_those_of_flink_are_taken() -> None:
    for each in ExternalizedCheckpointRetention:
        checkpointing.check({RETENTION: each.name.lower(), RETAINED: " 1 "})
    checkpointing.check({})
