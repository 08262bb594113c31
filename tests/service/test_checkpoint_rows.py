"""A job of many batches fills no database, and what matters is still there."""

from __future__ import annotations

import pytest
from django.utils import timezone

from jobs import checkpoint_rows
from jobs.checkpoint_rows import Span
from jobs.models import Attempt, Checkpoint, Job, Savepoint

pytestmark = pytest.mark.django_db


def test_spans_cover_weeks_with_few_rows() -> None:
    spans = checkpoint_rows.spans(10_000_000, 5000)
    newest, second = spans[:2]
    assert newest.step == 1
    assert newest.up_to - newest.above >= 500
    assert second == Span(newest.above - (newest.up_to - newest.above), newest.above, 2)
    assert sum((span.up_to - span.above) // span.step for span in spans) <= 5000
    week = 7 * 24 * 3600 * 5
    assert spans[-1].above < 10_000_000 - 5 * week


def test_the_newest_and_the_saved_ones_stay() -> None:
    job = Job.objects.create(
        name="long", entry="/x.py", entry_name="x.py", artifact_sha256="0" * 64
    )
    attempt = Attempt.objects.create(job=job, number=1, run_dir="/x")
    now = timezone.now()
    Checkpoint.objects.bulk_create(
        Checkpoint(
            job=job,
            attempt=attempt,
            checkpoint_id=n,
            started_at=now,
            completed_at=now,
            duration=1,
        )
        for n in range(1, 2001)
    )
    Savepoint.objects.create(job=job, job_name="long", path="/s", checkpoint_id=333)
    for newest in range(500, 2001, 500):
        checkpoint_rows.thin_out(job.pk, newest, 170)  # spans of 20, 40, 80 ...
    kept = set(job.checkpoints.values_list("checkpoint_id", flat=True))
    assert kept >= set(range(1981, 2001))
    assert 333 in kept
    assert len(kept) <= 171
    older = sorted(each for each in kept - {333} if each <= 1980)
    assert older[0] < 400, "the job is shown from its beginning"
    assert len([each for each in older if each > 1960]) == 10
