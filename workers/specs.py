"""What a driver is told to run, from the tables and the settings."""

from __future__ import annotations

from django.conf import settings

from headrace.wire.spec import JobSpec
from jobs.models import Attempt
from workers.embedded import jars

DEFAULT_SLOT_MEMORY_MIB = 1024


def of(attempt: Attempt) -> JobSpec:
    """The spec of one attempt. Raises `jars.JarsMissing`."""
    job = attempt.job
    return JobSpec(
        job_id=job.pk,
        name=job.name,
        attempt=attempt.number,
        entry=job.entry,
        arguments=list(job.arguments),
        parallelism=job.parallelism,
        master=settings.SPARK_MASTER or f"local[{job.parallelism}]",
        memory_mib=_memory_mib(attempt),
        checkpoint_dir=str(settings.HEADRACE_CHECKPOINTS / job.pk),
        jars=_jars(),
        kafka_bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        configuration=dict(job.configuration),
    )


def _memory_mib(attempt: Attempt) -> int:
    """The job's slots' share of what its TaskManager manages; on a cluster the driver's slot."""
    taskmanager = attempt.taskmanager
    if taskmanager is None or not taskmanager.slots:
        return DEFAULT_SLOT_MEMORY_MIB
    slots = 1 if settings.SPARK_MASTER else min(attempt.job.parallelism, taskmanager.slots)
    return max(1, slots * taskmanager.memory_mib // taskmanager.slots)


def _jars() -> list[str]:
    if settings.HEADRACE_SPARK_JARS is not None:
        return list(settings.HEADRACE_SPARK_JARS)
    return [str(path) for path in jars.resolve("spark", settings.HEADRACE_JARS)]
