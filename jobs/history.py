"""Figures over time: written as they come, kept in ever coarser steps, read for charts.

Seconds are kept for an hour, minutes for a week, hours for a year (`jobs.rollups`), counted back
from the newest sample, so that a job that has ended keeps its last hour too. Of one subject that
are at most 60 + 169 + 367 rows. Writing takes a read and a write of one row; once a minute also
the roll-up of that minute, and the removal of what is too old.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Min, Q
from django.utils import timezone

from jobs import history_rows, rollups
from jobs.models import HistoryChunk
from jobs.rollups import HOURS, MINUTES, RESOLUTIONS, SECONDS, Chunk, Resolution

#: A time: aware, or milliseconds since 1970.
Moment = datetime | int
#: (bucket's beginning in ms since 1970, smallest, mean, largest)
Row = tuple[int, float, float, float]

#: Names of one sample that are kept; a job of many vertices has more than anybody looks at.
NAMES = 240
LONGEST_NAME = 200
#: Rows that one call of `prune` removes at most.
AT_ONCE = 2_000


#: The subject of totals over all jobs: `jobs.cluster_history`.
CLUSTER = "cluster"


def of_taskmanager(name: str) -> str:
    """The subject of a TaskManager's vitals."""
    return f"taskmanager/{name}"


def of_jobmanager(name: str) -> str:
    """The subject of a JobManager's vitals."""
    return f"jobmanager/{name}"


# --- writing -----------------------------------------------------------------------------------


def write(subject: str, at: Moment, values: Mapping[str, object]) -> None:
    """Keep the figures of one moment. What is not a finite number is left out."""
    write_all(subject, [(at, values)])


def write_all(subject: str, samples: Iterable[tuple[Moment, Mapping[str, object]]]) -> None:
    """Keep the figures of several moments, in any order. Samples older than an hour before the
    newest one of earlier calls are left out: their minutes are closed.

    1. Merge the samples into the chunks of their seconds.
    2. A chunk that is followed by another is closed: roll it up into its minute and its hour.
    3. Remove what is too old.
    """
    coming: dict[int, Chunk] = {}
    for at, values in samples:
        _take(coming, _seconds(at), values)
    if not coming:
        return
    with transaction.atomic():
        # 1.
        stored = history_rows.load(subject, SECONDS, min(coming))
        # A clock that was ahead for a while closes nothing that is yet to come.
        until = max(timezone.now().timestamp(), *coming)
        last = max((at for at in stored if at <= until), default=None)
        newest = max(coming) if last is None else max(last, *coming)
        if last is not None:
            coming = {at: own for at, own in coming.items() if at > last - SECONDS.keep}
        for begins, chunk in coming.items():
            _merge(chunk, stored.setdefault(begins, {}))
        history_rows.save(subject, SECONDS, {begins: stored[begins] for begins in coming})
        # 2.
        closed = {begins: stored[begins] for begins in coming if begins < newest}
        if last is None:
            closed |= history_rows.newest(
                history_rows.at_resolution(subject, SECONDS).filter(begins__lt=min(coming))
            )
        elif last < newest:
            closed[last] = stored[last]
        if closed:
            _roll_up(subject, closed)
        # 3.
        if last != newest:
            _remove_old(subject, newest)


def _take(chunks: dict[int, Chunk], at: float, values: Mapping[str, object]) -> None:
    """Sort one sample's numbers into the chunk of its seconds."""
    bucket = SECONDS.bucket_of(at)
    numbers = ((name, number(value)) for name, value in values.items())
    known = [(name, value) for name, value in numbers if value is not None]
    if not known:
        return
    chunk = chunks.setdefault(SECONDS.chunk_of(at), {})
    for name, value in known[:NAMES]:
        rollups.add(chunk, bucket, name[:LONGEST_NAME], rollups.sample(value))


def number(value: object) -> float | None:
    """What can be drawn: a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _merge(chunk: Chunk, into: Chunk) -> None:
    for name, column in chunk.items():
        for bucket, point in column.points():
            rollups.add(into, bucket, name, point)


def _roll_up(subject: str, closed: Mapping[int, Chunk]) -> None:
    """Bring closed chunks of seconds up to date in their minutes, and these in their hours."""
    _roll_into(subject, HOURS, _roll_into(subject, MINUTES, closed))


def _roll_into(
    subject: str, resolution: Resolution, finer: Mapping[int, Chunk]
) -> dict[int, Chunk]:
    """The chunks of `resolution` that `finer` ones, by when they begin, were rolled up into."""
    touched = {resolution.chunk_of(begins) for begins in finer}
    stored = history_rows.load(subject, resolution, min(touched), max(touched))
    chunks = {begins: stored.get(begins, {}) for begins in touched}
    for begins, chunk in finer.items():
        into = chunks[resolution.chunk_of(begins)]
        rollups.roll_up(chunk, resolution.bucket_of(begins), into)
    history_rows.save(subject, resolution, chunks)
    return chunks


def _remove_old(subject: str, newest: int) -> None:
    # A driver's clock may be ahead: nothing is removed because of a time that is yet to come.
    until = min(newest, int(timezone.now().timestamp()))
    old = Q()
    for resolution in RESOLUTIONS:
        oldest = resolution.chunk_of(until - resolution.keep)
        old |= Q(resolution=resolution.width, begins__lt=oldest)
    history_rows.of_subject(subject).filter(old).delete()


def prune(now: datetime, at_most: int = AT_ONCE) -> int:
    """Remove some of what is left of subjects that get no new samples; how many rows went. To be
    called now and then."""
    gone = 0
    for resolution in RESOLUTIONS:
        old = HistoryChunk.objects.filter(
            resolution=resolution.width, begins__lt=_seconds(now) - resolution.keep_idle
        )
        found = old.order_by("begins").values_list("pk", "subject", "begins")[: at_most - gone]
        ids = {pk: (subject, begins) for pk, subject, begins in found}
        with transaction.atomic():
            if resolution is SECONDS:
                _close({subject for subject, _ in ids.values()}, set(ids.values()))
            gone += HistoryChunk.objects.filter(pk__in=ids).delete()[0] if ids else 0
    return gone


def _close(subjects: set[str], going: set[tuple[str, int]]) -> None:
    """Roll up the last chunks of seconds, which nothing followed, before they go."""
    rows = HistoryChunk.objects.filter(resolution=SECONDS.width, subject__in=subjects)
    lasts = rows.order_by().values_list("subject").annotate(Max("begins"))
    for subject, begins in set(lasts) & going:
        _roll_up(subject, history_rows.load(subject, SECONDS, begins, begins))


# --- reading -----------------------------------------------------------------------------------


def series(
    subject: str, names: Iterable[str], since: Moment, until: Moment, points: int = 300
) -> dict[str, list[Row]]:
    """What is known of these names between two times, in at most about so many buckets of equal
    width, aligned to the epoch; oldest first. The resolution is the coarsest that gives so many
    points, or a coarser one where the finer no longer reaches back to `since`. Names of which
    nothing is known have empty lists."""
    asked = set(names)
    begin, end = _seconds(since), _seconds(until)
    resolution = _fitting(subject, begin, (end - begin) / max(1, points))
    width = _width(resolution, (end - begin) / max(1, points))
    sums: dict[str, dict[int, list[float]]] = {name: {} for name in asked}
    for begins, chunk in sorted(_read(subject, resolution, begin, end, asked).items()):
        first = int(max(0, begin - begins) // resolution.width)
        last = math.ceil((end - begins) / resolution.width)
        for name, column in chunk.items():
            for bucket, point in column.between(first, last):
                _add(sums[name], (begins + bucket * resolution.width) // width * width, point)
    return {name: [_row(at, own) for at, own in buckets.items()] for name, buckets in sums.items()}


def _add(to: dict[int, list[float]], at: int, point: tuple[int, float, float, float]) -> None:
    """Merge a point into its group: [number, smallest, sum, largest]."""
    number, low, mean, high = point
    known = to.get(at)
    if known is None:
        to[at] = [number, low, mean * number, high]
        return
    known[0] += number
    known[1] = min(known[1], low)
    known[2] += mean * number
    known[3] = max(known[3], high)


def _row(at: int, group: Sequence[float]) -> Row:
    number, low, total, high = group
    return at * 1000, low, min(max(rollups.rounded(total / number), low), high), high


def names(subject: str) -> list[str]:
    """Of which there are figures, in its newest chunk of each resolution."""
    found: set[str] = set()
    for resolution in RESOLUTIONS:
        for chunk in history_rows.newest(history_rows.at_resolution(subject, resolution)).values():
            found |= chunk.keys()
    return sorted(found)


def latest(subject: str, names: Sequence[str], seconds: int = 60) -> dict[str, float]:
    """The newest value of each name, unless it is older than so many seconds."""
    now = timezone.now()
    rows = series(subject, names, int((now.timestamp() - seconds) * 1000), now, seconds)
    return {name: own[-1][2] for name, own in rows.items() if own}


def _fitting(subject: str, since: float, width: float) -> Resolution:
    fine = [resolution for resolution in RESOLUTIONS if resolution.width <= width]
    wanted = RESOLUTIONS.index(fine[-1]) if fine else 0
    spans = history_rows.of_subject(subject).order_by().values("resolution")
    known = {
        row["resolution"]: (row["oldest"], row["newest"])
        for row in spans.annotate(oldest=Min("begins"), newest=Max("begins"))
    }
    for index in range(wanted, len(RESOLUTIONS) - 1):
        own, coarser = RESOLUTIONS[index], RESOLUTIONS[index + 1]
        if own.width in known:
            oldest, newest = known[own.width]
            if since >= newest - own.keep or not _reaches(known.get(coarser.width), since, oldest):
                return own
    return RESOLUTIONS[-1]


def _reaches(span: tuple[int, int] | None, since: float, until: int) -> bool:
    """Whether something coarser is known from between these times."""
    return span is not None and span[0] < until and span[1] >= since - HOURS.chunk


def _width(resolution: Resolution, wanted: float) -> int:
    return resolution.width * max(1, math.ceil(wanted / resolution.width))


def _read(
    subject: str, resolution: Resolution, since: float, until: float, names: Collection[str]
) -> dict[int, Chunk]:
    """Its chunks, brought up to date with the chunk of seconds that is still open."""
    first = resolution.chunk_of(since)
    chunks = history_rows.load(subject, resolution, first, int(until), names)
    if resolution is SECONDS:
        return chunks
    opened = history_rows.newest(history_rows.at_resolution(subject, SECONDS), names)
    hour = history_rows.newest(history_rows.at_resolution(subject, MINUTES), names)
    minutes = _overlaid(opened, MINUTES, hour)
    upper = minutes if resolution is MINUTES else _overlaid(minutes, HOURS, chunks)
    return chunks | {at: chunk for at, chunk in upper.items() if at <= until}


def _overlaid(
    finer: Mapping[int, Chunk], resolution: Resolution, stored: Mapping[int, Chunk]
) -> dict[int, Chunk]:
    found: dict[int, Chunk] = {}
    for begins, chunk in finer.items():
        at = resolution.chunk_of(begins)
        into = found.setdefault(at, stored.get(at, {}))
        rollups.roll_up(chunk, resolution.bucket_of(begins), into)
    return found


def _seconds(at: Moment) -> float:
    return at.timestamp() if isinstance(at, datetime) else at / 1000
