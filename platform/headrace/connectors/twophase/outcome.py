"""The decisions of recovery, without I/O."""

from __future__ import annotations

from headrace.connectors.twophase.manifest import Manifest
from headrace.connectors.twophase.messages import Key, Prepared, Resume


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
        ledgers=ledgers,
    )
