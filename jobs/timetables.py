"""When a schedule is due: once, or by a cron expression in a time zone. No I/O, no clock.

Times that a change of the clocks leaves out or has twice are as in Debian's cron: a job of a fixed
hour runs once, behind the gap; one of every hour or minute runs by the time that passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from jobs.options import InvalidOption, duration_ms

#: A job whose time passed while no JobManager was there starts late by so much at most.
DEFAULT_GRACE = "1 h"
#: Beyond this, when it runs is no longer what anybody meant.
MAX_GRACE_MS = 31 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Timetable:
    """Times by a cron expression; none without one: what is due once is due once."""

    cron: str = ""
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))

    def after(self, moment: datetime) -> datetime | None:
        """The first of its times behind `moment`."""
        if not self.cron:
            return None
        times = CronSim(self.cron, moment.astimezone(self.zone))
        # A repeated hour would give a time of its first round once more.
        return next((at.astimezone(UTC) for at in times if at > moment), None)

    def newest(self, due: datetime, now: datetime) -> datetime:
        """The last of its times from `due` to `now`; `due` itself is one."""
        if not self.cron:
            return due
        behind = (now + timedelta(seconds=1)).astimezone(self.zone)
        times = CronSim(self.cron, behind, reverse=True)
        found = next((at.astimezone(UTC) for at in times if at <= now), due)
        return max(found, due)


def read(cron: str, zone: str, now: datetime) -> Timetable:
    """Raises InvalidOption for an expression that cannot be read or has no time to come."""
    table = Timetable(" ".join(cron.split()), _zone(zone))
    if len(table.cron.split()) != 5:
        raise InvalidOption(
            f"cron: {cron!r} has not five fields: minute, hour, day of month, month, day of week"
        )
    try:
        following = table.after(now)
    except (CronSimError, ValueError) as error:
        raise InvalidOption(f"cron: {cron!r} cannot be read: {error}") from error
    if following is None:
        raise InvalidOption(f"cron: {cron!r} names no time that comes")
    return table


def grace_ms(text: str) -> int:
    """Raises InvalidOption."""
    milliseconds = duration_ms(text)
    if milliseconds is None or milliseconds > MAX_GRACE_MS:
        raise InvalidOption(
            f"grace: {text!r} is no duration like '30 s', '10 min' or '12 h', of 31 days at most"
        )
    return milliseconds


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidOption(
            f"time zone: {name!r} is not known; name one like Europe/Berlin or UTC"
        ) from error
