"""The decisions of recovery, without I/O."""

from __future__ import annotations

from collections.abc import Collection

from headrace.connectors.twophase.manifest import Manifest
from headrace.connectors.twophase.messages import Key, Prepared, Resume, Written


def resume_after(
    manifests: list[Manifest],
    committed: set[Prepared],
    epoch: int,
    ledgers: dict[str, str],
) -> Resume:
    """What tasks need to know about the batch of `manifests`, which are in order."""
    if not manifests:
        return Resume(epoch=epoch, ledgers=ledgers)
    done: dict[Key, int] = {}
    missing: dict[Key, int] = {}
    for manifest in manifests:
        for each in manifest.prepared:
            (done if each in committed else missing)[each.key] = each.count
    return Resume(
        epoch=epoch,
        batch_id=manifests[-1].batch_id,
        number=manifests[-1].number + 1,
        committed=done,
        missing={key: count for key, count in missing.items() if key not in done},
        sinks=frozenset(name for manifest in manifests for name in manifest.sinks),
        counted=frozenset(name for manifest in manifests for name in _counted(manifest)),
        ledgers=ledgers,
    )


def _counted(manifest: Manifest) -> set[str]:
    return manifest.ledgers.keys() | {each.sink for each in manifest.prepared}


def differences(
    resume: Resume, messages: Collection[Prepared | Written | None], sinks: Collection[str]
) -> list[str]:
    """In what the batch of `resume`, which was run again, is not what it was the first time; in
    words, empty when it is the same.

    Exactly what was missing must have been written now, and as many records read and not written
    as are committed: together, since their partitions may be others in a batch that is committed
    as a whole. A batch that got more records than it had would lose them. `sinks` are those that
    are transactional now; what a sink took that was not so the first time was not counted.
    """
    written = {m.key for m in messages if isinstance(m, Prepared) and m.sink in resume.counted}
    found = [
        f"sink {sink}, partition {partition}: "
        + ("written again" if (sink, partition) in written else "not written again")
        for sink, partition in sorted(written ^ resume.missing.keys())
    ]
    for name in sorted(resume.counted.intersection(sinks)):
        then = sum(count for (sink, _), count in resume.committed.items() if sink == name)
        now = sum(m.count for m in messages if isinstance(m, Written) and _skipped(m, name))
        if then != now:
            found.append(f"sink {name}: {then} records committed then, {now} of them now")
    return found


def _skipped(message: Written, sink: str) -> bool:
    return message.skipped and message.sink == sink
