"""Asks at a start whether the cluster lets a sink or source in, so that no task has to find out.

librdkafka tries for ever, whatever the reason; its callback tells which it is.
"""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from headrace.connectors.kafka import errors, sending
from headrace.connectors.kafka.settings import SinkSettings

#: Brokers that have just started may not know every user yet.
REFUSED_SECONDS = 3.0
#: Brokers and drivers often start together.
PATIENCE_SECONDS = 30.0
_ASK_SECONDS = 1.0
_REFUSALS = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})


def check(settings: SinkSettings) -> None:
    """As `check_client`, for a sink."""
    check_client(f"sink {settings.name!r}", settings.bootstrap_servers, settings.client_options())


def check_client(
    who: str, servers: str, client_options: dict[str, Any], patience: float | None = None
) -> None:
    """Raises `InvalidSettings` when the cluster refuses who the sink or source says it is, or is
    not who it should be; `ClusterUnreachable` when it does not answer. `who` is for messages."""
    problems: list[KafkaError] = []
    begun = time.monotonic()
    options: dict[str, Any] = {"error_cb": problems.append, "log_level": 0}
    client = AdminClient({**client_options, "bootstrap.servers": servers, **options})
    while True:
        try:
            client.describe_cluster(request_timeout=_ASK_SECONDS).result()
            return
        except KafkaException as error:
            client.poll(0)
            waited = time.monotonic() - begun
            refused = [each.str() for each in problems if _is_refusal(each)]
            if refused and waited > REFUSED_SECONDS:
                raise errors.InvalidSettings(
                    f"{who}: {servers} does not let it in: {refused[-1]}"
                ) from None
            if waited > (PATIENCE_SECONDS if patience is None else patience):
                known = [e.str() for e in problems if e.code() != KafkaError._ALL_BROKERS_DOWN]
                last = known[-1] if known else sending.reason(error)
                raise errors.ClusterUnreachable(f"{servers}: {last}") from None


def _is_refusal(problem: KafkaError) -> bool:
    """A broker that misses a client's certificate says so after the handshake only."""
    return problem.code() in _REFUSALS or "tls alert" in problem.str()
