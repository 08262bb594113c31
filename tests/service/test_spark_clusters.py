"""Jobs on a Spark cluster take slots of several TaskManagers, and one of these launches them."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from jobs import actions, taskmanagers
from jobs.models import Job
from workers import specs, taskmanager
from workers.jobmanager import JobManager

pytestmark = pytest.mark.django_db

CLUSTER = "spark://master:7077"


def started(**configuration: str) -> Job:
    """A job of three slots; each TaskManager has two."""
    job = actions.submit("wide", (b"pass\n", "program.py"), (), 3, configuration)
    JobManager("one").tick()
    job.refresh_from_db()
    return job


def register(*masters: str) -> None:
    for number, master in enumerate(masters):
        taskmanagers.register(f"tm-{number}", f"host-{number}", number, 2, 2048, master)


def slots_by_taskmanager(job: Job) -> dict[str, int]:
    names = list(job.slots.values_list("taskmanager__name", flat=True))
    return {name: names.count(name) for name in names}


def test_taskmanagers_of_one_cluster_give_their_slots_together() -> None:
    register("spark://other:7077", CLUSTER, CLUSTER)

    job = started()

    assert slots_by_taskmanager(job) == {"tm-1": 2, "tm-2": 1}
    attempt = job.attempts.get()
    assert attempt.taskmanager is not None and attempt.taskmanager.name == "tm-1"
    assert (specs.of(attempt).master, specs.of(attempt).slots) == (CLUSTER, 3)


def test_a_job_with_a_cluster_of_its_own_takes_slots_of_any() -> None:
    register("", "spark://other:7077")

    job = started(**{"spark.master": CLUSTER})

    assert sum(slots_by_taskmanager(job).values()) == 3
    assert len(slots_by_taskmanager(job)) == 2
    assert specs.of(job.attempts.get()).master == CLUSTER


def test_without_a_cluster_it_waits() -> None:
    register("", "")

    job = started()

    assert not job.attempts.exists()
    assert job.waiting_for.startswith("needs 3 slots on one TaskManager; 4 exist, 4 free")


def test_a_taskmanager_is_told_its_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    offers: list[taskmanager.Offer] = []

    def run(offer: taskmanager.Offer, **_: object) -> int:
        offers.append(offer)
        return 0

    monkeypatch.setattr(taskmanager, "run", run)
    with pytest.raises(SystemExit):
        call_command("taskmanager", name="tm", slots=2, spark_master=CLUSTER)

    assert [offer.spark_master for offer in offers] == [CLUSTER]
    with pytest.raises(CommandError, match="local"):
        call_command("taskmanager", name="tm", slots=2, spark_master="local[4]")
