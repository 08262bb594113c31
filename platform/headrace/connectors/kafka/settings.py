"""What a Kafka sink is: a picklable value that driver and tasks share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from headrace.connectors.kafka import errors, partitioners

#: The broker's own default of `transaction.max.timeout.ms`.
DEFAULT_TRANSACTION_TIMEOUT_MS = 15 * 60 * 1000
DEFAULT_MARKER_TOPIC = "__headrace_commits"

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SECRET = re.compile(
    r"pass(word|phrase)|secret|token|jaas|\.pem$|credential|private|oauthbearer\.config",
    re.IGNORECASE,
)
REDACTED = "******"

#: Options that belong to the protocol and would break it if set by hand.
RESERVED_OPTIONS = frozenset(
    {
        "transactional.id",
        "transaction.timeout.ms",
        "enable.idempotence",
        "statistics.interval.ms",
        "delivery.report.only.error",
        "enable.gapless.guarantee",
        "on_delivery",
        "delivery_callback",
        "stats_cb",
        "acks",
        "request.required.acks",
    }
)


class DeliveryGuarantee(Enum):
    """What a consumer that reads `read_committed` may rely on."""

    #: Records may be lost when Kafka fails, and doubled when the job fails.
    NONE = "none"
    #: Nothing is lost; records of a batch that is run again are doubled.
    AT_LEAST_ONCE = "at-least-once"
    #: Each record once. Visible when its batch is committed.
    EXACTLY_ONCE = "exactly-once"


def redacted(options: dict[str, str]) -> dict[str, str]:
    """`options` with everything that looks like a secret replaced."""
    return {k: REDACTED if _SECRET.search(k) else v for k, v in options.items()}


@dataclass(frozen=True)
class SinkSettings:
    """One sink of a job. Raises `InvalidSettings` when constructed from unusable values.

    `name` is unique within the job and stays the same from run to run: batch markers and
    transactional ids carry it. `transactional_id_prefix` is unique to the job in its Kafka
    cluster: recovery aborts whatever is open under it.
    """

    name: str
    bootstrap_servers: str
    #: Topic of every record that does not name its own.
    topic: str | None = None
    guarantee: DeliveryGuarantee = DeliveryGuarantee.AT_LEAST_ONCE
    transactional_id_prefix: str = ""
    #: Open longer than this, a transaction is aborted by the broker (and then recomputed).
    transaction_timeout_ms: int = DEFAULT_TRANSACTION_TIMEOUT_MS
    #: Where records go that name no partition of their own.
    partitioner: partitioners.Partitioner = partitioners.DEFAULT
    #: Options of librdkafka, as they are.
    options: dict[str, str] = field(default_factory=dict)
    #: Compacted topic that says which batches are committed, in the same cluster.
    marker_topic: str = DEFAULT_MARKER_TOPIC

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise errors.InvalidSettings(f"sink {self.name!r}: {problem}")

    def _problems(self) -> list[str]:
        problems = []
        if not _NAME.fullmatch(self.name):
            problems.append("its name may have letters, digits, dot, dash and underscore only")
        if not self.bootstrap_servers.strip():
            problems.append("no bootstrap servers given")
        if self.topic is not None and (not _NAME.fullmatch(self.topic) or len(self.topic) > 249):
            problems.append(f"{self.topic!r} is no topic name")
        reserved = sorted(RESERVED_OPTIONS & self.options.keys())
        if reserved:
            problems.append(f"options {', '.join(reserved)} are set by the sink itself")
        if "bootstrap.servers" in self.options:
            problems.append("give bootstrap_servers, not the option bootstrap.servers")
        if self.partitioner != partitioners.DEFAULT and "partitioner" in self.options:
            problems.append("the option partitioner is for the default partitioner only")
        if self.exactly_once:
            problems.extend(self._transaction_problems())
        return problems

    def _transaction_problems(self) -> list[str]:
        problems = []
        if not self.transactional_id_prefix:
            problems.append("exactly-once needs a transactional id prefix, unique to this job")
        elif not _NAME.fullmatch(self.transactional_id_prefix):
            problems.append(
                f"transactional id prefix {self.transactional_id_prefix!r} may have letters, "
                "digits, dot, dash and underscore only"
            )
        if self.transaction_timeout_ms < 1000:
            problems.append("a transaction timeout under 1000 ms aborts every batch")
        return problems

    @property
    def exactly_once(self) -> bool:
        return self.guarantee is DeliveryGuarantee.EXACTLY_ONCE

    @property
    def id_root(self) -> str:
        """What every transactional id of this sink begins with."""
        return f"{self.transactional_id_prefix}-{self.name}"

    def client_options(self) -> dict[str, Any]:
        """Options of any librdkafka client of this sink's cluster."""
        return {**self.options, "bootstrap.servers": self.bootstrap_servers}

    def __repr__(self) -> str:
        return (
            f"SinkSettings(name={self.name!r}, bootstrap_servers={self.bootstrap_servers!r}, "
            f"topic={self.topic!r}, guarantee={self.guarantee.value}, "
            f"transactional_id_prefix={self.transactional_id_prefix!r}, "
            f"transaction_timeout_ms={self.transaction_timeout_ms}, "
            f"partitioner={self.partitioner.name}, "
            f"options={redacted(self.options)!r})"
        )

    def __hash__(self) -> int:
        return hash((self.id_root, self.bootstrap_servers, self.guarantee, self.topic))


def check_together(sinks: list[SinkSettings]) -> None:
    """Refuse sinks of one job that would share names, or transactional ids."""
    names = [sink.name for sink in sinks]
    if len(set(names)) < len(names):
        raise errors.InvalidSettings(f"sinks of one job need names of their own, got {names}")
    roots = [sink.id_root for sink in sinks if sink.exactly_once]
    if len(set(roots)) < len(roots):
        raise errors.InvalidSettings(f"prefix and name of two sinks give the same ids: {roots}")
