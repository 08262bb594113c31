"""The rows of `jobs.history`: chunks of one subject, by when they begin (seconds since 1970)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import structlog
from django.db.models import QuerySet

from jobs import rollups
from jobs.models import HistoryChunk
from jobs.rollups import Chunk, Resolution

log = structlog.get_logger(__name__)


def of_subject(subject: str) -> QuerySet[HistoryChunk]:
    return HistoryChunk.objects.filter(subject=subject)


def at_resolution(subject: str, resolution: Resolution) -> QuerySet[HistoryChunk]:
    return of_subject(subject).filter(resolution=resolution.width)


def load(
    subject: str, resolution: Resolution, since: int, until: int | None = None
) -> dict[int, Chunk]:
    rows = at_resolution(subject, resolution).filter(begins__gte=since)
    return _decoded(rows if until is None else rows.filter(begins__lte=until))


def newest(rows: QuerySet[HistoryChunk]) -> dict[int, Chunk]:
    return _decoded(rows.order_by("-begins")[:1])


def _decoded(rows: QuerySet[HistoryChunk]) -> dict[int, Chunk]:
    return {at: _chunk(bytes(data)) for at, data in rows.values_list("begins", "data")}


def _chunk(data: bytes) -> Chunk:
    """One that cannot be read is lost, and with it some points of a chart: no job may wait for
    that."""
    try:
        return rollups.decoded(data)
    except (zlib.error, ValueError, TypeError, AttributeError):
        log.exception("figures of some time cannot be read; they are left out")
        return {}


def save(subject: str, resolution: Resolution, chunks: Mapping[int, Chunk]) -> None:
    HistoryChunk.objects.bulk_create(
        [
            HistoryChunk(
                subject=subject,
                resolution=resolution.width,
                begins=begins,
                data=rollups.encoded(chunk),
            )
            for begins, chunk in chunks.items()
        ],
        update_conflicts=True,
        unique_fields=["subject", "resolution", "begins"],
        update_fields=["data"],
    )
