"""What a driver is told of the slots that its job was given."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from django.utils import timezone

from headrace.wire.spec import JobSpec
from jobs import actions, attempts, taskmanagers
from jobs.models import Attempt, Checkpoint, Job
from jobs.states import JobState, change_state
from workers import specs

pytestmark = pytest.mark.django_db

CLUSTER = "spark://master:7077"


@pytest.fixture(autouse=True)
def _no_jars(settings: object) -> None:
    settings.HEADRACE_SPARK_JARS = []  # type: ignore[attr-defined]


def spec(
    parallelism: int,
    needed: int | None = None,
    configuration: Mapping[str, str] | None = None,
    spark_master: str = "",
) -> JobSpec:
    row = taskmanagers.register("tm", "here", 1, 4, 8192, spark_master)
    job = actions.submit("job", (b"pass\n", "job.py"), (), parallelism, configuration)
    change_state(job, JobState.CREATED, slots_needed=needed)
    ids = list(row.slot_set.values_list("pk", flat=True)[: job.slots_wanted])
    return specs.of(attempts.begin(job, row.pk, ids))


def test_a_job_in_its_driver_has_the_memory_of_its_slots() -> None:
    found = spec(3)

    assert (found.master, found.slots, found.memory_mib) == ("local[3]", 3, 6144)


def test_slot_sharing_groups_have_slots_and_the_job_its_parallelism() -> None:
    found = spec(1, needed=2)

    assert (found.parallelism, found.slots) == (1, 2)
    assert (found.master, found.memory_mib) == ("local[2]", 4096)


def test_executors_of_a_cluster_have_one_slot_each() -> None:
    found = spec(3, spark_master=CLUSTER)

    assert (found.master, found.slots, found.memory_mib) == (CLUSTER, 3, 2048)


def test_a_job_may_bring_its_own_cluster() -> None:
    found = spec(3, configuration={"spark.master": CLUSTER})

    assert (found.master, found.memory_mib) == (CLUSTER, 2048)


def test_a_job_with_a_master_of_one_machine_is_refused() -> None:
    with pytest.raises(actions.InvalidJob, match=r"spark.master: 'local\[8\]'"):
        spec(1, configuration={"spark.master": "local[8]"})


def test_a_driver_is_told_whether_there_are_checkpoints_to_go_on_from() -> None:
    assert not spec(1).has_checkpoints
    job, attempt, now = Job.objects.get(), Attempt.objects.get(), timezone.now()
    at = {"started_at": now, "completed_at": now}
    Checkpoint.objects.create(job=job, attempt=attempt, checkpoint_id=1, duration=1, **at)
    assert not specs.of(Attempt.objects.get()).has_checkpoints, "they are another version's"

    Job.objects.update(progressed_at=now)

    assert specs.of(Attempt.objects.get()).has_checkpoints


def test_settings_of_checkpoints_are_the_clusters_and_the_jobs(settings: object) -> None:
    interval, timeout = "execution.checkpointing.interval", "execution.checkpointing.timeout"
    cluster = {interval: "10 s", timeout: "5 min", "slot.request.timeout": "1 min"}
    settings.HEADRACE_PROPERTIES = cluster  # type: ignore[attr-defined]

    found = spec(1, configuration={interval: "1 s"})

    assert found.configuration == {interval: "1 s", timeout: "5 min"}
    assert Job.objects.get().checkpointing == {interval: "1 s", timeout: "5 min"}
