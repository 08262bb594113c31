"""PyFlink's own environment, beside the project's: made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.differential import workers

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / ".venv-flink"
#: apache-beam, with which PyFlink runs functions, imports pkg_resources.
PACKAGES = ("apache-flink==2.3.0", "setuptools<81")
#: JVMs and workers start often and run for seconds.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx2g"
_JAVA = Path(__file__).parent / "java"


def python() -> Path:
    return HERE / "bin/python"


def make() -> None:
    """Create what is not there yet; it takes minutes and 2 GB the first time."""
    stamp = HERE / "made-of"
    sources = sorted(_JAVA.rglob("*.java"))
    made_of = "\n".join([*PACKAGES, workers.RUNNER, *(each.read_text() for each in sources)])
    if stamp.exists() and stamp.read_text() == made_of:
        return
    uv = str(Path(sys.executable).with_name("uv"))
    _run(uv, "venv", "--clear", "--python", sys.executable, str(HERE))
    _run(uv, "pip", "install", "--python", str(python()), *PACKAGES)
    _replace_classes(sources)
    [runner] = HERE.glob("lib/python*/site-packages/pyflink/bin/pyflink-udf-runner.sh")
    runner.unlink()  # it may be linked to a cache
    runner.write_text(workers.RUNNER)
    runner.chmod(0o755)
    stamp.write_text(made_of)


def variables() -> dict[str, str]:
    """For a process of that environment: what it starts finds its Python, too."""
    path = os.pathsep.join([str(HERE / "bin"), os.environ["PATH"]])
    return {
        **os.environ,
        "PATH": path,
        "JDK_JAVA_OPTIONS": JAVA_OPTIONS,
        "PYTHONPATH": "",
        "TZ": "UTC",
    }


def _replace_classes(sources: list[Path]) -> None:
    """Into this environment's copy of Flink; the JVM's class path is not ours to order."""
    [libraries] = HERE.glob("lib/python*/site-packages/pyflink/lib")
    [flink] = libraries.glob("flink-dist-*.jar")
    classes = HERE / "classes"
    names = [str(each) for each in sources]
    _run("javac", "-nowarn", "-cp", str(flink), "-d", str(classes), *names)
    _run("jar", "--update", "--file", str(flink), "-C", str(classes), ".")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
