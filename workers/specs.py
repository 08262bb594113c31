"""What a driver is told to run, from the tables and the settings."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings

from headrace.wire.spec import JobSpec
from jobs import beginnings
from jobs.models import Attempt
from workers.embedded import jars

DEFAULT_SLOT_MEMORY_MIB = 1600


def of(attempt: Attempt) -> JobSpec:
    """The spec of one attempt. Raises `jars.JarsMissing`."""
    job = attempt.job
    restore = beginnings.of(job)
    return JobSpec(
        job_id=job.pk,
        name=job.name,
        attempt=attempt.number,
        entry=job.entry,
        arguments=list(job.arguments),
        parallelism=job.parallelism,
        master=spark_master(attempt) or f"local[{job.slots_wanted}]",
        slots=job.slots_wanted,
        memory_mib=memory_mib(attempt),
        checkpoint_dir=str(job.checkpoint_dir),
        has_checkpoints=job.progressed_at is not None and job.checkpoints.exists(),
        jars=_jars(),
        kafka_bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        restore=asdict(restore) if restore is not None else {},
        configuration=job.driver_settings,
    )


def spark_master(attempt: Attempt) -> str:
    """The Spark cluster it runs on: the job's own, else its TaskManager's; "" = in its driver."""
    of_job = attempt.job.placement.spark_master
    return of_job or (attempt.taskmanager.spark_master if attempt.taskmanager is not None else "")


def memory_mib(attempt: Attempt) -> int:
    """What the processes of its driver may take: the job's slots' share of what its TaskManager
    manages; on a Spark cluster that of one slot."""
    taskmanager = attempt.taskmanager
    if taskmanager is None or not taskmanager.slots:
        return DEFAULT_SLOT_MEMORY_MIB
    slots = 1 if spark_master(attempt) else min(attempt.job.slots_wanted, taskmanager.slots)
    return max(1, slots * taskmanager.memory_mib // taskmanager.slots)


def _jars() -> list[str]:
    if settings.HEADRACE_SPARK_JARS is not None:
        return list(settings.HEADRACE_SPARK_JARS)
    return [str(path) for path in jars.resolve("spark", settings.HEADRACE_JARS)]
