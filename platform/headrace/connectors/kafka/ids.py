"""Transactional ids: `<prefix>-<sink>-<epoch>.<worker>-<n>`.

The ownership model:

- A *worker* is one Python worker process, named by eight random hex digits: no two live
  processes ever share an id, on whatever machine they run, and nobody has to hand out numbers.
- The *epoch* is the driver's (see `ownership`). A driver lists every id of its sinks at the
  broker, by pattern, and aborts and fences those of earlier epochs; which workers there were
  need not be known.
- *n* counts within the worker. It is used again only after the batch it was used in has ended,
  and with a new producer, so the producer id and epoch of each transaction are its own: ending
  one can never end another.

The broker forgets ids that were not used for `transactional.id.expiration.ms` (7 days).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransactionalId:
    root: str
    epoch: int
    worker: str
    number: int

    def __str__(self) -> str:
        return f"{self.root}-{self.epoch}.{self.worker}-{self.number}"


def pattern(root: str) -> str:
    """Regular expression (RE2 and Python) of every id of the sink with this root."""
    return re.escape(root) + r"-([0-9]+)\.([0-9a-f]{8})-([0-9]+)"


def parse(root: str, text: str) -> TransactionalId | None:
    """The parts of `text`, or None when it is no id of this sink."""
    match = re.fullmatch(pattern(root), text)
    return TransactionalId(root, int(match[1]), match[2], int(match[3])) if match else None


def prefix(text: str, sink: str) -> str:
    """The transactional id prefix in `text`, an id of the sink of this name."""
    match = re.fullmatch(rf"(.*)-{re.escape(sink)}-[0-9]+\.[0-9a-f]{{8}}-[0-9]+", text)
    if match is None:
        raise ValueError(f"{text!r} is no transactional id of sink {sink!r}")
    return match[1]


def epoch(text: str) -> int:
    """The epoch in `text`, an id of any sink."""
    match = re.fullmatch(r".*-([0-9]+)\.[0-9a-f]{8}-[0-9]+", text)
    if match is None:
        raise ValueError(f"{text!r} is no transactional id of a sink")
    return int(match[1])
