from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db import migrations

AT_ONCE = 500
THE_PLATFORM = "the platform"


def keep_first_versions(apps: Any, schema_editor: Any) -> None:
    """What every job is made of becomes its version 1, and its savepoints are of that."""
    job_version = apps.get_model("jobs", "JobVersion")
    rows = _first_versions(apps)
    while batch := list(islice(rows, AT_ONCE)):
        job_version.objects.bulk_create(batch)
    apps.get_model("jobs", "Savepoint").objects.exclude(job=None).update(version=1)


def _first_versions(apps: Any) -> Iterator[Any]:
    job_version = apps.get_model("jobs", "JobVersion")
    jobs = apps.get_model("jobs", "Job").objects.select_related("submitted_by").defer("plan")
    for job in jobs.order_by("pk").iterator(AT_ONCE):
        yield job_version(
            job=job,
            number=1,
            entry=job.entry,
            entry_name=job.entry_name,
            artifact_sha256=job.artifact_sha256,
            arguments=job.arguments,
            parallelism=job.parallelism,
            configuration=job.configuration,
            created_by=job.submitted_by,
            created_by_name=job.submitted_by.username if job.submitted_by else THE_PLATFORM,
            created_at=job.created_at,
        )


class Migration(migrations.Migration):
    dependencies = [("jobs", "0008_versions")]

    operations = [migrations.RunPython(keep_first_versions, migrations.RunPython.noop)]
