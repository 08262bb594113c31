"""Whether a program may go on from a checkpoint: its state must find its operators again.

State is addressed by operator uid, key and namespace, in as many levels and key groups as the job
had at first, and Spark keeps source offsets by position. A program that differs in these would
not fail: it would silently begin with empty state, or read a topic again from its start. So they
are kept beside the checkpoint and compared before anything runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime import kafka_topics
from headrace.runtime.compiler import GENERATED_UID
from headrace.runtime.errors import JobFailed
from headrace.runtime.operators.operator import KeyedOperator
from headrace.runtime.operators.shared_function import SharedCoProcess
from headrace.runtime.program import Program
from headrace.wire import rundir
from headrace.wire.failures import Cause

#: How the state of a key group is laid out in its store; raised when that changes. 2: in pages.
LAYOUT = 2


def keep_or_compare(program: Program, path: Path, *, may_lose: bool = False) -> None:
    """Keep the identity at the job's first start, and what its sources read, its operators and its
    parallelism at every later one. Raises JobFailed, not to be tried again, when a later program
    does not fit. `may_lose`: state of operators that the program has no more may be lost."""
    now = identity(program)
    if path.exists():
        compare(program, path, may_lose=may_lose)
        changed = {name: now[name] for name in ("reads", "parallelism", "operators")}
        now = {**json.loads(path.read_text()), **changed}
    rundir.write_atomically(path, json.dumps(now, indent=2).encode())


def compare(program: Program, path: Path, *, may_lose: bool = False) -> None:
    """As `keep_or_compare`, and keeps nothing."""
    problems = []
    if path.exists():
        kept, now = json.loads(path.read_text()), identity(program)
        problems = differences(kept, now)
        lost = [] if may_lose else lost_operators(kept, now)
        problems += [
            f"the state of operator {uid!r} would be lost (a restore from a savepoint may allow "
            "it: allowNonRestoredState)"
            for uid in lost
        ]
    if problems:
        raise JobFailed(
            "the program does not fit the job's checkpoint: "
            f"{'; '.join(problems)}. Nothing was started and the checkpoint is as it was. Restore "
            "the program's earlier form, or submit it as a new job",
            cause=Cause.CHECKPOINT,
        )


def parallelism(path: Path) -> int | None:
    """That of the job's last start; None before the first."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return kept.get("parallelism")


def identity(program: Program) -> dict[str, Any]:
    """What has to stay the same, but for what sources read and the parallelism."""
    keyed = [node for node in program.nodes.values() if isinstance(node.operator, KeyedOperator)]
    return {
        "layout": LAYOUT,
        "max_parallelism": program.max_parallelism,
        "parallelism": program.parallelism,
        "operators": {node.uid: node.level for node in keyed},
        "per_subtask": [n.name for n in keyed if isinstance(n.operator, SharedCoProcess)],
        # their kinds in order, as Spark keeps offsets; topics, paths and addresses may change
        "sources": [source.described.partition(":")[0] for source in program.sources.values()],
        "reads": [_read(source) for source in program.sources.values()],
    }


def differences(kept: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """One sentence each; empty when the program fits. An operator with a uid of its own may be
    new within a level that is there; it begins with empty state."""
    problems = []
    if kept["operators"] and kept.get("layout", 1) != now["layout"]:
        problems.append("its state was written by an earlier version of Headrace, in another form")
    if kept["max_parallelism"] != now["max_parallelism"]:
        problems.append(
            f"max parallelism was {kept['max_parallelism']}, is {now['max_parallelism']}"
        )
    parallelism_was = kept.get("parallelism", now["parallelism"])
    if now["per_subtask"] and parallelism_was != now["parallelism"]:
        names = ", ".join(repr(name) for name in now["per_subtask"])
        problems.append(
            f"{names} keeps attributes in each of {parallelism_was} subtasks, and the parallelism "
            f"is {now['parallelism']}; keyed state goes on with any parallelism"
        )
    if kept["sources"] != now["sources"]:
        problems.append(f"its sources were {kept['sources']}, are {now['sources']}")
    else:
        problems += _moved(kept.get("reads", now["reads"]), now["reads"])
    then, here = kept["operators"], now["operators"]
    if max(then.values(), default=0) != max(here.values(), default=0):
        problems.append("it has another number of key_by exchanges one behind the other")
    moved = sorted(uid for uid, level in then.items() if here.get(uid, level) != level)
    problems += [f"operator {uid!r} is behind another number of exchanges" for uid in moved]
    generated = [uid for uid in here.keys() - then.keys() if uid.startswith(GENERATED_UID)]
    if generated:
        problems.append(f"operators without a uid have moved ({', '.join(sorted(generated))})")
    return problems


def lost_operators(kept: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Uids whose state no operator of the program takes up."""
    return [uid for uid in kept["operators"] if uid not in now["operators"]]


def _read(source: Any) -> list[str]:
    """What the source reads; how far, Spark keeps by the source's position."""
    if isinstance(source, KafkaSource):
        return kafka_topics.named(source)
    return list(source.paths) if isinstance(source, FileSource) else []


def _moved(then: list[list[str]], now: list[list[str]]) -> list[str]:
    """What one source has handed over to another: that one would read it from the start again."""
    problems = []
    for i, before in enumerate(then):
        for what in (each for each in before if each not in now[i]):
            takers = [j for j, reads in enumerate(now) if what in reads and what not in then[j]]
            problems += [f"{what} was read by source {i + 1}, now by {j + 1}" for j in takers]
    return problems
