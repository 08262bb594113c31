"""Where a Kafka connector finds its cluster when the program names none."""

from __future__ import annotations

import os

#: Read by both builders when no bootstrap servers are set: the platform's Kafka.
BOOTSTRAP_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"


def bootstrap_servers(given: str | None, who: str) -> str:
    servers = given or os.environ.get(BOOTSTRAP_VARIABLE)
    if not servers:
        raise ValueError(
            f"{who} needs bootstrap servers: call set_bootstrap_servers, or set "
            f"{BOOTSTRAP_VARIABLE} in the environment"
        )
    return servers
