"""The rows of `jobs.history`: chunks of one subject, by when they begin (seconds since 1970)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

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
    subject: str,
    resolution: Resolution,
    since: int,
    until: int | None = None,
    names: Collection[str] | None = None,
) -> dict[int, Chunk]:
    """Those that begin between the two times, both included; `names`: what is wanted of them."""
    rows = at_resolution(subject, resolution).filter(begins__gte=since)
    return _decoded(rows if until is None else rows.filter(begins__lte=until), names)


def newest(rows: QuerySet[HistoryChunk], names: Collection[str] | None = None) -> dict[int, Chunk]:
    return _decoded(rows.order_by("-begins")[:1], names)


def _decoded(rows: QuerySet[HistoryChunk], names: Collection[str] | None) -> dict[int, Chunk]:
    return {at: _chunk(bytes(data), names) for at, data in rows.values_list("begins", "data")}


def _chunk(data: bytes, names: Collection[str] | None) -> Chunk:
    """One that cannot be read is lost, and with it some points of a chart: no job may wait for
    that."""
    try:
        return rollups.decoded(data, names)
    except ValueError:
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
