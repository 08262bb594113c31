"""Notes what a program's own streaming queries are, and sees to it that they can go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headrace.runtime.context import RunContext

CHECKPOINT = "checkpointlocation"
_ROOT = "spark.sql.streaming.checkpointLocation"
#: Options of a sink or source that say which one it is.
_WHICH = ("topic", "subscribe", "subscribepattern", "path", "table", "dbtable")


@dataclass(frozen=True)
class Described:
    """A query for people."""

    name: str
    sources: list[str]
    sink: str


@dataclass
class Noted:
    """What the program has told a writer."""

    name: str = ""
    format: str = ""
    options: dict[str, Any] = field(default_factory=dict)


Start = Callable[[Callable[[], Any], Described], Any]


def note(context: RunContext, start: Start) -> None:
    """From now on `start(run, described)` starts the program's queries, by `run()`. Those of a
    job are its own matter."""
    unnamed = iter(range(1, 1_000_000))

    def write_stream(frame: DataFrame) -> DataStreamWriter:
        writer = DataStreamWriter(frame)
        if not context.jobs:
            writer._jwrite = _JavaWriter(writer._jwrite, frame, context, start, unnamed)
        return writer

    DataFrame.writeStream = property(write_stream)  # type: ignore[assignment,method-assign]


class _JavaWriter:
    """Stands before the JVM's writer; every call of Python's goes to it by name."""

    def __init__(
        self, writer: Any, frame: DataFrame, context: RunContext, start: Start, unnamed: Any
    ) -> None:
        self._writer = writer
        self._frame = frame
        self._root = context.checkpoint_dir / "queries"
        self._start = start
        self._unnamed = unnamed
        self._noted = Noted()

    def __getattr__(self, name: str) -> Any:
        if name == "_get_object_id":  # only `foreachBatch` hands the writer itself over
            self._noted.format = "foreachBatch"
        if name.startswith("_"):
            return getattr(self._writer, name)
        return lambda *arguments: self._call(name, arguments)

    def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        call = getattr(self._writer, name)
        if name in ("start", "toTable"):
            described = self._described(arguments)
            self._keep_checkpoint(described.name)
            return self._start(lambda: call(*arguments), described)
        if name == "option":
            self._noted.options[str(arguments[0]).lower()] = arguments[1]
        elif name == "format":
            self._noted.format = str(arguments[0])
        elif name == "queryName":
            self._noted.name = str(arguments[0])
        call(*arguments)
        return self

    def _described(self, arguments: tuple[Any, ...]) -> Described:
        options = dict(self._noted.options)
        if arguments:
            options["path"] = arguments[0]
        kind = self._noted.format or ("table" if arguments else "sink")
        name = self._noted.name or f"query-{next(self._unnamed)}"
        return Described(name, sources(self._frame), described(kind, options))

    def _keep_checkpoint(self, name: str) -> None:
        """The query's own place, or one beside the job's state. What is in memory cannot go on."""
        set_by_program = self._frame.sparkSession.conf.get(_ROOT, None)
        if CHECKPOINT in self._noted.options or set_by_program or self._noted.format == "memory":
            return
        self._writer.option("checkpointLocation", str(self._root / _as_file(name)))


def sources(frame: DataFrame) -> list[str]:
    """What a streaming DataFrame reads; "stream" for what does not say."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    found = (leaves.apply(at) for at in range(leaves.size()))
    return [_source(leaf) for leaf in found if leaf.isStreaming()]


def described(kind: str, options: dict[str, Any]) -> str:
    which = next((str(options[name]) for name in _WHICH if options.get(name)), "")
    return f"{kind}:{which}" if which else kind


def _source(leaf: Any) -> str:
    """Of Spark's two kinds of streaming relation: files and old sources, and all others."""
    kind = leaf.getClass().getSimpleName()
    if kind == "StreamingRelationV2":
        given = leaf.extraOptions()
        return described(str(leaf.sourceName()), {key: given.get(key) for key in _WHICH})
    return str(leaf.sourceName()) if kind == "StreamingRelation" else "stream"


def _as_file(name: str) -> Path:
    return Path("".join(c if c.isalnum() or c in "._-" else "_" for c in name).lstrip(".") or "_")
