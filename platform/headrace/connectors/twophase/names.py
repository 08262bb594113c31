"""Names of transactions: `<root>-<epoch>.<batch>.<partition>.<attempt>.<token>`.

The root is `<prefix>-<sink>`, and the prefix belongs to one job: whatever is found under the root
is the job's own. The epoch is the driver's (see `ownership`): transactions of earlier epochs that
no manifest names are leftovers. The attempt is the task's. The token is random: a job that starts
anew without its checkpoint counts from the beginning again, and must not take a mark of its earlier
life for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LAST = re.compile(r"(.+)-([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9a-f]{8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TransactionName:
    root: str
    epoch: int
    batch_id: int
    partition: int
    attempt: int
    token: str

    def __str__(self) -> str:
        numbers = f"{self.epoch}.{self.batch_id}.{self.partition}.{self.attempt}"
        return f"{self.root}-{numbers}.{self.token}"


def parse(root: str, text: str) -> TransactionName | None:
    """The parts of `text`, or None when it is no name under this root."""
    match = _LAST.fullmatch(text)
    if match is None or match[1] != root:
        return None
    epoch, batch_id, partition, attempt = (int(match[i]) for i in range(2, 6))
    return TransactionName(root, epoch, batch_id, partition, attempt, match[6])
