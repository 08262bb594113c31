"""Which rows of checkpoints are kept, so that a job of many batches fills no database.

The newest are all there. Behind them every second is kept, behind those every fourth, and so on:
each span is twice as long as the one before and has half as many rows as the newest span. So 5,000
rows show a job of 18 million batches from its beginning, six weeks at five a second. Rows of
checkpoints that savepoints were taken of stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F, Q

from jobs.models import Checkpoint, Savepoint

#: Doublings of the span.
SPANS = 15
#: Rows are thinned out once in so many checkpoints.
EVERY = 500


@dataclass(frozen=True, slots=True)
class Span:
    """Of checkpoints `above` < id <= `up_to` one in `step` is kept."""

    above: int
    up_to: int
    step: int


def spans(newest: int, keep: int) -> list[Span]:
    """Newest first, for about `keep` rows in all; what is older than the last is not kept."""
    size = max(1, 2 * keep // (2 + SPANS))
    found = [Span(newest - size, newest, 1)]
    for doubling in range(SPANS):
        up_to = found[-1].above
        found.append(Span(up_to - size * 2**doubling, up_to, 2 ** (doubling + 1)))
    return found


def thin_out(job_id: str, newest: int, keep: int) -> int:
    """Delete the rows of a job that are not to be kept; how many went."""
    kept = spans(newest, keep)
    gone = Q(checkpoint_id__lte=kept[-1].above)
    for span in kept[1:]:
        within = Q(checkpoint_id__gt=span.above, checkpoint_id__lte=span.up_to)
        gone |= within & ~Q(**{f"modulo_{span.step}": 0})
    rows = Checkpoint.objects.filter(job=job_id, checkpoint_id__lte=kept[0].above)
    rows = rows.annotate(
        **{f"modulo_{span.step}": F("checkpoint_id") % span.step for span in kept[1:]}
    )
    saved = Savepoint.objects.filter(job=job_id).exclude(checkpoint_id=None)
    ids = rows.filter(gone).exclude(checkpoint_id__in=saved.values("checkpoint_id"))
    return Checkpoint.objects.filter(pk__in=list(ids.values_list("pk", flat=True))).delete()[0]
