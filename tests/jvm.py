"""Makes Spark's JVM start in half the CPU: its classes, parsed and verified, in one mapped file.

`python -m tests.jvm` makes the file (Java's class-data-sharing archive), if it is not there, with
a small job. Tests use it when it is there; a JVM that it does not fit leaves it aside.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Tests start many JVMs and keep none for long: compile quickly rather than well (half the CPU).
TOOL_OPTIONS = "-XX:TieredStopAtLevel=1"
#: An archive that does not fit is no news: the JVM would tell it on the output of the program.
QUIET = "-Xlog:disable -Xlog:all=error:stderr"
#: On a quick machine it takes 30.
SECONDS = 400.0

PROGRAM = """
from headrace.common import Types
from headrace.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
words = [("to", 1), ("be", 2), ("to", 3)]
stream = env.from_collection(words, Types.TUPLE([Types.STRING(), Types.INT()]))
stream.key_by(lambda word: word[0]).sum(1).print()
env.execute("words")
"""


def archive() -> Path | None:
    """Where the file of this Java and this PySpark is, or would be; None without one of them."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    pyspark = find_spec("pyspark")
    if java is None or pyspark is None or pyspark.origin is None:
        return None
    executable, jars = Path(java).resolve(), Path(pyspark.origin).parent / "jars"
    known_by = [executable, executable.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns]
    key = hashlib.sha256(repr(known_by).encode()).hexdigest()[:12]
    return Path(sys.prefix) / f"spark-classes-{key}.jsa"


def submit_options() -> str | None:
    """For `SPARK_SUBMIT_OPTS`, which Spark's JVM of a driver gets and no other."""
    path = archive()
    return f"-XX:SharedArchiveFile={path} {QUIET}" if path and path.exists() else None


def make(path: Path) -> str | None:
    """The archive, whole or not at all; what went wrong, if something did."""
    with tempfile.TemporaryDirectory(prefix="headrace-jvm-") as folder:
        made = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            problem = _run(Path(folder), made)
            if problem is None and made.exists():
                made.replace(path)
                return None
            return problem or "Java wrote none"
        finally:
            made.unlink(missing_ok=True)


def _run(folder: Path, made: Path) -> str | None:
    (folder / "words.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "platform"))),
        "SPARK_MASTER": "local[2]",
        "TMPDIR": str(folder),
        "JAVA_TOOL_OPTIONS": os.environ.get("JAVA_TOOL_OPTIONS", TOOL_OPTIONS),
        "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={made} {QUIET}",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # its packages are compiled on the way
    with (folder / "log").open("wb") as log:
        job = subprocess.Popen(
            [sys.executable, "words.py"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + SECONDS
    while _alive(job):  # Java writes it when the program has ended
        if time.monotonic() > deadline:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            return f"the job was not done after {SECONDS:.0f} s"
        time.sleep(0.1)
    return (folder / "log").read_text(errors="replace")[-2000:] if job.returncode else None


def _alive(job: subprocess.Popen[bytes]) -> bool:
    """Whether the program, or the JVM in its process group, has not ended."""
    running = job.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(job.pid, 0)
        return True
    return running


def main() -> None:
    path = archive()
    if path is None or path.exists():
        return
    for old in path.parent.glob("spark-classes-*"):
        old.unlink(missing_ok=True)
    if problem := make(path):
        print(f"tests start Spark without an archive of its classes: {problem}", file=sys.stderr)


if __name__ == "__main__":
    main()
