"""The sinks of a program that other systems stand behind: how tasks write to them, and how they
take part in the commit. Made anew from the program in every process that needs them."""

from __future__ import annotations

import re
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from headrace.connectors.kafka.committer import sealed
from headrace.connectors.kafka.participant import KafkaParticipant
from headrace.connectors.kafka.settings import SinkSettings, check_together
from headrace.connectors.kafka.writer import SinkWriter as KafkaWriter
from headrace.connectors.kafka.writer import open_writer as open_kafka_writer
from headrace.connectors.twophase import writer
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.messages import Resume, TaskIdentity
from headrace.connectors.twophase.participant import Message, Participant, SinkWriter
from headrace.connectors.twophase.sink import TwoPhaseCommitSink
from headrace.datastream.connectors.kafka import KafkaSink
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.program import Program

#: Records serialized for Kafka at a time.
CHUNK = 10_000
LONGEST_NAME = 100

Serializer = Callable[[int | None, Any], dict[str, Any]]
#: (timestamp or None, value)
Stamped = tuple[int | None, Any]


class Output(Protocol):
    """One sink. Writers take records of (timestamp, value)."""

    def participant(self) -> Participant: ...

    def open_writer(self, task: TaskIdentity, resume: Resume) -> SinkWriter: ...


class KafkaOutput:
    def __init__(self, settings: SinkSettings, operator: str, serializer: Serializer) -> None:
        self._settings = settings
        self._operator = operator
        self._serializer = serializer

    def participant(self) -> Participant:
        return KafkaParticipant(self._settings)

    def open_writer(self, task: TaskIdentity, resume: Resume) -> SinkWriter:
        opened = open_kafka_writer(self._settings, task, resume)
        return _SerializingWriter(opened, self._operator, self._serializer)


class TwoPhaseOutput:
    def __init__(
        self, sink: TwoPhaseCommitSink[Any, Any], name: str, job: str, suffix: str = ""
    ) -> None:
        prefix = sink.transactional_id_prefix
        self._sink = sink
        self._name = name
        self._root = f"{prefix + suffix if prefix else job}-{name}"

    def participant(self) -> Participant:
        return HookParticipant(self._sink, self._name, self._root)

    def open_writer(self, task: TaskIdentity, resume: Resume) -> SinkWriter:
        return writer.open_writer(self._sink, self._name, self._root, task, resume)


def outputs(
    program: Program, names: dict[int, str], job: str, suffix: str = ""
) -> dict[int, Output]:
    """By the sink node's number. `names` are `sink_names`, `job` names the checkpoint, `suffix` is
    put to the prefixes of transactions that the program gives. Raises InvalidSettings."""
    kafka = {
        n: kafka_settings(s, names[n], suffix) for n, s in program.sinks.items() if _is_kafka(s)
    }
    check_together(list(kafka.values()))
    found: dict[int, Output] = {}
    for number, sink in program.sinks.items():
        if number in kafka:
            operator = program.nodes[number].name
            found[number] = KafkaOutput(kafka[number], operator, sink.serializer.record)
        elif isinstance(sink, TwoPhaseCommitSink):
            found[number] = TwoPhaseOutput(sink, names[number], job, suffix)
    return found


def committer(
    outputs: dict[int, Output], checkpoint_dir: Path, resume: Resume | None = None
) -> Committer:
    """The one commit of all of them."""
    return Committer([each.participant() for each in outputs.values()], checkpoint_dir, resume)


def kafka_settings(sink: KafkaSink, name: str, suffix: str = "") -> SinkSettings:
    """Raises InvalidSettings."""
    prefix = sink.transactional_id_prefix
    return SinkSettings(
        name=name,
        bootstrap_servers=sink.bootstrap_servers,
        topic=sink.fixed_topic,
        guarantee=sink.guarantee,
        transactional_id_prefix=prefix + suffix if prefix else prefix,
        transaction_timeout_ms=sink.transaction_timeout_ms,
        partitioner=sink.partitioner,
        options=sink.properties,
    )


def sink_names(program: Program) -> dict[int, str]:
    """A name for each sink: its topic or kind, numbered where two would share it."""
    names: dict[int, str] = {}
    for number, sink in program.sinks.items():
        topic = getattr(sink, "fixed_topic", None)
        name = topic or _short(_plain(sink.described))
        names[number] = name if name not in names.values() else f"{name}-{number}"
    return names


def _plain(described: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", described.replace("*", "any")).strip("-")


def _short(name: str) -> str:
    """Names become parts of names that other systems limit."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{zlib.crc32(name.encode()):08x}"


class _SerializingWriter:
    """Makes Kafka records of values, for a writer of Kafka's."""

    def __init__(self, opened: KafkaWriter, operator: str, serializer: Serializer) -> None:
        self._writer = opened
        self._operator = operator
        self._serializer = serializer

    def write(self, records: list[Stamped]) -> None:
        for start in range(0, len(records), CHUNK):
            self._writer.write(self._serialized(records[start : start + CHUNK]))

    def prepare(self) -> Message | None:
        return sealed(self._writer.prepare())

    def abort(self) -> None:
        self._writer.abort()

    def _serialized(self, records: list[Stamped]) -> list[dict[str, Any]]:
        value = None
        serialized = []
        record = self._serializer
        try:
            for timestamp, value in records:
                serialized.append(record(timestamp, value))
        except Exception as error:
            raise OperatorError(self._operator, value, traceback.format_exc()) from error
        return serialized


def _is_kafka(sink: Any) -> bool:
    return isinstance(sink, KafkaSink)
