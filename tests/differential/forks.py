"""Spark's short-lived Python processes as forks of one that has imported what they need.

Spark starts a process for each source and each level of a query, and gives it ten seconds; most of
its time is imports. PYTHON takes the interpreter's place: it asks `serve` for a fork, and lives as
long as the fork does."""

import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
from pathlib import Path

ADDRESS = "DIFFERENTIAL_FORKS"
#: What runs in a fork; everything else runs as it would.
FORKED = "pyspark.sql.streaming."
IMPORTED = (
    "pandas",
    "pyarrow",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.streaming.transform_with_state_driver_worker",
    "headrace.runtime.ingest",
    "headrace.runtime.python_sources",
    "headrace.runtime.spark_python_source",
    "headrace.runtime.spark_state",
)
PYTHON = f"""#!/usr/bin/env bash
case "$1 $2" in "-m {FORKED}"*) ;; *) exec {sys.executable} "$@" ;; esac
exec {sys.executable} -S -E - "$2" <<'END'
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect(os.environ["{ADDRESS}"])
    to.sendall(json.dumps([sys.argv[1], dict(os.environ)]).encode() + b"\\n")
    to.recv(1)
END
"""


def interpreter(folder: Path) -> Path:
    """One that asks the server at `folder`/forks."""
    path = folder / "python"
    path.write_text(PYTHON)
    path.chmod(0o755)
    os.environ[ADDRESS] = str(folder / "forks")
    return path


def serve(address: str) -> None:
    """Until this process is killed."""
    sys.path.pop(0)  # this folder: its modules have names of others
    for name in IMPORTED:
        importlib.import_module(name)
    for name in IMPORTED:
        if name.startswith(FORKED):
            del sys.modules[name]  # to be run as a program
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen(64)
    while True:
        asker, _ = server.accept()
        if os.fork() == 0:
            server.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _run(asker)
        asker.close()


def _run(asker: socket.socket) -> None:
    code = 1
    try:
        with asker.makefile() as text:
            module, environment = json.loads(text.readline())
        os.environ.clear()
        os.environ.update(environment)
        threading.Thread(target=_end_with, args=[asker], daemon=True).start()
        sys.argv = [module]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with(asker: socket.socket) -> None:
    asker.recv(1)
    os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1])
