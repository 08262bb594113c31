"""Which slots a job gets, and when: the settings of that, by Flink's and Spark's keys. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jobs.options import InvalidOption, duration_ms

#: Flink's JobManagerOptions.SLOT_REQUEST_TIMEOUT: 5 minutes.
TIMEOUT = "slot.request.timeout"
DEFAULT_TIMEOUT_MS = 300_000
#: Flink has no priority among the jobs of a session.
PRIORITY = "headrace.priority"
MAX_PRIORITY = 1000
#: Spark's own.
MASTER = "spark.master"
#: Flink's TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE, and the key that it replaced.
BALANCE = "taskmanager.load-balance.mode"
OLD_BALANCE = "cluster.evenly-spread-out-slots"


@dataclass(frozen=True, slots=True)
class Placement:
    """How a job waits for its slots, and where it runs."""

    #: Of those that wait, the highest goes first.
    priority: int = 0
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    #: A Spark cluster of its own; "" = as its TaskManager says.
    spark_master: str = ""


def read(job: Mapping[str, str], cluster: Mapping[str, str] | None = None) -> Placement:
    """The job's own settings beat the cluster's. Raises InvalidOption."""
    values = {**(cluster or {}), **job}
    return Placement(_priority(values), _timeout(values), check_master(job.get(MASTER, "")))


def spreads_out(cluster: Mapping[str, str]) -> bool:
    """Whether jobs are spread over the TaskManagers, or fill one after the other (the default).
    Raises InvalidOption."""
    mode = cluster.get(BALANCE, "").strip().upper()
    if mode in ("SLOTS", "TASKS", "NONE"):
        return mode != "NONE"
    if mode:
        raise InvalidOption(f"{BALANCE}: {mode!r} is not known; use NONE, SLOTS or TASKS")
    old = cluster.get(OLD_BALANCE, "false").strip().lower()
    if old not in ("true", "false"):
        raise InvalidOption(f"{OLD_BALANCE}: {old!r} is neither true nor false")
    return old == "true"


def check_master(url: str) -> str:
    """The URL of a Spark cluster, or "". Raises InvalidOption."""
    url = url.strip()
    if not url or url == "yarn" or re.match(r"(spark|k8s)://\S", url):
        return url
    raise InvalidOption(
        f"{MASTER}: {url!r} is no Spark cluster; use spark://host:port, yarn or k8s://url, or "
        "leave it out: the job then runs in the slots of its TaskManager"
    )


def _priority(values: Mapping[str, str]) -> int:
    text = values.get(PRIORITY, "0").strip()
    if not re.fullmatch(r"[+-]?\d{1,4}", text) or abs(int(text)) > MAX_PRIORITY:
        raise InvalidOption(
            f"{PRIORITY}: {text!r} is no whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}"
        )
    return int(text)


def _timeout(values: Mapping[str, str]) -> int:
    text = values.get(TIMEOUT, str(DEFAULT_TIMEOUT_MS))
    milliseconds = duration_ms(text)
    if not milliseconds:
        raise InvalidOption(f"{TIMEOUT}: {text!r} is no duration like '300000', '5 min' or '30 s'")
    return milliseconds
