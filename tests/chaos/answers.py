"""What is right, and what is wrong with what was read. No I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Takes the values of a topic one by one: `<key> <n>`, or `<key> <n> <count>`."""

    counted: bool
    numbers: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    #: What was out of its place the moment it was read.
    problems: list[str] = field(default_factory=list)
    wrong_counts: list[str] = field(default_factory=list)
    records: int = 0

    def take(self, value: str) -> None:
        parts = value.split(" ")
        if len(parts) != 2 + self.counted:
            self.problems.append(f"not a record of this run: {value!r}")
            return
        self.records += 1
        key, number = parts[0], int(parts[1])
        before = self.numbers[key]
        expected = before[-1] + 1 if before else 0
        if number != expected:
            self.problems.append(f"{key}: {number} read where {expected} was next")
        if self.counted and int(parts[2]) != number + 1:
            self.wrong_counts.append(f"{key}: record {number} was counted as {parts[2]}")
        before.append(number)


def tally(values: Iterable[str], *, counted: bool) -> Tally:
    found = Tally(counted)
    for value in values:
        found.take(value)
    return found


def differences(expected: Mapping[str, int], found: Tally) -> list[str]:
    """Every key whose records are lost, doubled, not asked for, or out of order, and every
    wrong count. `expected` are records per key."""
    problems = [f"not asked for: key {key}" for key in found.numbers.keys() - expected.keys()]
    for key, records in sorted(expected.items()):
        problems += _of_key(key, records, found.numbers.get(key, []))
    return problems + found.wrong_counts


def _of_key(key: str, records: int, numbers: list[int]) -> list[str]:
    times = Counter(numbers)
    problems = []
    for what, those in (
        ("lost", [n for n in range(records) if not times[n]]),
        ("more than once", [n for n, seen in times.items() if seen > 1]),
        ("not asked for", [n for n in times if not 0 <= n < records]),
    ):
        if those:
            problems.append(f"{key}: {len(those)} records {what}: {those[:5]}")
    if numbers != sorted(numbers):
        first = next(i for i, n in enumerate(numbers) if i and numbers[i - 1] > n)
        problems.append(f"{key}: out of order: {numbers[first - 1]}, then {numbers[first]}")
    return problems


#: (batch, sink, partition) -> records
Committed = Mapping[tuple[int, str, int], int]


def batch_differences(committed: Committed, doubled: Iterable[object]) -> list[str]:
    """Batches whose sinks do not have the same number of records, and partitions of a batch
    that were committed more than once (`doubled`)."""
    problems = [f"committed more than once: {each}" for each in doubled]
    sinks = sorted({sink for _, sink, _ in committed})
    records: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for (batch, sink, _), count in committed.items():
        records[batch][sink] += count
    for batch, by_sink in sorted(records.items()):
        if len({by_sink[sink] for sink in sinks}) > 1:
            problems.append(f"batch {batch}: {dict(by_sink)}")
    return problems
