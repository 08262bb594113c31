"""Names of transactions: `<root>-<epoch>.<batch>.<partition>.<attempt>`.

The root is `<prefix>-<sink>`, and the prefix belongs to one job: whatever is found under the root
is the job's own. The epoch is the driver's (see `ownership`): transactions of earlier epochs that
no manifest names are leftovers. The attempt is the task's, so that two tasks never share a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LAST = re.compile(r"(.+)-([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TransactionName:
    root: str
    epoch: int
    batch_id: int
    partition: int
    attempt: int

    def __str__(self) -> str:
        return f"{self.root}-{self.epoch}.{self.batch_id}.{self.partition}.{self.attempt}"


def parse(root: str, text: str) -> TransactionName | None:
    """The parts of `text`, or None when it is no name under this root."""
    match = _LAST.fullmatch(text)
    if match is None or match[1] != root:
        return None
    return TransactionName(root, *(int(match[i]) for i in range(2, 6)))
