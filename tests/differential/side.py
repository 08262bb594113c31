"""One side: runs programs one after the other in this process, and says what they printed.

    python side.py flink|headrace RESULTS  < one JSON object a line: {"path", "pace", "parallelism",
    "alone"}

It is run by either environment's Python, so it imports nothing of the project by itself. A line of
RESULTS for each program: {"lines": [...], "error": null or what kind}."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What a program says to be run by the other side.
IMPORTS = re.compile(r"^(\s*(?:from|import)\s+)pyflink\b", re.MULTILINE)
PYTHON_ERROR = re.compile(
    r"^(?:\w+\.)*(\w+(?:Error|Exception|Interrupt)|StopIteration)\b(?=:|$)", re.MULTILINE
)


class Capture:
    """Everything that this process and its children write to standard output, as a file."""

    def __init__(self) -> None:
        self._file = Path(tempfile.mkstemp(prefix="differential-", suffix=".out")[1])
        self._at = 0
        to = os.open(self._file, os.O_WRONLY | os.O_APPEND)
        sys.stdout.flush()
        os.dup2(to, 1)
        os.close(to)

    def take(self) -> list[str]:
        """The lines since the last call."""
        sys.stdout.flush()
        with self._file.open("rb") as file:
            file.seek(self._at)
            text = file.read()
        self._at += len(text)
        return text.decode(errors="replace").splitlines()

    def close(self) -> None:
        self._file.unlink()


#: Is told what is run next.
Prepare = Callable[[dict[str, Any]], None]


def flink() -> Prepare:
    import workers

    workers.serve()
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.java_gateway import get_gateway

    original = StreamExecutionEnvironment.get_execution_environment
    settings: dict[str, str] = {}

    def environment(configuration: Any = None) -> Any:
        configuration = configuration or Configuration()
        for key, value in settings.items():
            if not configuration.contains_key(key):
                configuration.set_string(key, value)
        return original(configuration)

    StreamExecutionEnvironment.get_execution_environment = staticmethod(environment)

    def prepare(asked: dict[str, Any]) -> None:
        get_gateway().jvm.System.setProperty("differential.pace", asked["pace"])
        settings.update(
            {
                "parallelism.default": str(asked["parallelism"]),
                "pipeline.auto-watermark-interval": "0 ms",
                # Else watermarks wait for a bundle's end, and BATCH mode can meet a deadlock of
                # PyFlink's (a timer that ends a bundle, in drainUnregisteredTimers).
                "python.fn-execution.bundle.size": "1",
                "execution.target": "local",  # functions run in this process, not in one each
                "execution.attached": "true",
                "rest.port": "0",
                "rest.bind-port": "0",
            }
        )

    return prepare


def headrace() -> Prepare:
    from headrace.common import Configuration
    from headrace.datastream import StreamExecutionEnvironment

    original = StreamExecutionEnvironment.get_execution_environment
    settings: dict[str, str] = {}
    executor = os.environ.get("HEADRACE_EXECUTOR", "in-process")

    def environment(configuration: Any = None) -> Any:
        configuration = configuration or Configuration()
        for key, value in settings.items():
            if not configuration.contains_key(key):
                configuration.set_string(key, value)
        return original(configuration)

    StreamExecutionEnvironment.get_execution_environment = staticmethod(environment)
    prepare_executor = on_spark() if executor == "spark" else in_process()

    def prepare(asked: dict[str, Any]) -> None:
        settings["parallelism.default"] = str(asked["parallelism"])
        settings["headrace.executor"] = executor
        prepare_executor(asked)

    return prepare


def in_process() -> Prepare:
    from headrace.runtime import local_sources

    whole = local_sources._Collection.latest

    def one(self: Any, position: int) -> int:
        return min(position + 1, whole(self, position))

    def prepare(asked: dict[str, Any]) -> None:
        local_sources._Collection.latest = one if asked["pace"] == "each" else whole

    return prepare


def on_spark() -> Prepare:
    """Programs run on the application that an earlier one has started, if none ends it."""
    import forks

    from headrace.runtime import context, python_sources, spark_session

    folder = Path(tempfile.gettempdir())
    context._laptop_runs[folder / "shared"] = True  # the first one's files stay
    python = str(forks.interpreter(folder))
    subprocess.Popen([sys.executable, forks.__file__, str(folder / "forks")], stdout=sys.stderr)
    while not (folder / "forks").exists():
        time.sleep(0.1)
    make_ready = spark_session.make_ready

    def make_ready_to_fork(*arguments: Any) -> None:
        make_ready(*arguments)
        os.environ["PYSPARK_PYTHON"] = python

    spark_session.make_ready = make_ready_to_fork
    stop = spark_session.stop

    def release(session: Any) -> None:
        spark_session._jobs = 0

    whole = python_sources.CollectionData

    class OneReader(python_sources._CollectionReader):
        def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
            end = super().latestOffset(start, limit)
            return {"position": min(start["position"] + 1, end["position"])}

    class OneByOne(whole):
        def streamReader(self, schema: Any) -> Any:
            return OneReader(Path(self.options["path"]))

    def prepare(asked: dict[str, Any]) -> None:
        python_sources.CollectionData = OneByOne if asked["pace"] == "each" else whole
        spark_session.stop = stop if asked["alone"] else release

    return prepare


def run(path: str, rename: bool) -> str | None:
    """Run the program as `python path` would; how it failed, if it did."""
    source = Path(path).read_text()
    if rename:
        source = IMPORTS.sub(r"\1headrace", source)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        return kind(error)
    return None


def kind(error: BaseException) -> str:
    """What a user's function raised, if it did; else the error's own name where it is Python's."""
    if type(error).__module__ == "builtins":
        return type(error).__name__
    text = str(error)
    at = text.find("Traceback (most recent call last)")
    found = PYTHON_ERROR.findall(text[at:]) if at >= 0 else []
    return f"job failed: {found[-1]}" if found else "job failed"


def main() -> None:
    side, results = sys.argv[1:]
    capture = Capture()
    prepare = flink() if side == "flink" else headrace()
    for line in sys.stdin:
        asked = json.loads(line)
        capture.take()
        prepare(asked)
        error = run(asked["path"], rename=side == "headrace")
        with Path(results).open("a") as out:
            out.write(json.dumps({"lines": capture.take(), "error": error}) + "\n")
    capture.close()
    os._exit(0)  # without waiting for threads of what was run


if __name__ == "__main__":
    main()
