"""Jar files by lock file: which ones, with which hashes, and how they get on this machine.

Two sets: `spark` (the Kafka connector on Spark's class path) and `kafka` (the embedded broker).
Each is locked in `locks/<set>.lock.toml` by `python -m workers.embedded.jars`; jgo resolves and
downloads, this module verifies every file against the lock before anyone can use it.
"""

from __future__ import annotations

import hashlib
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Literal

from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.env import LockedDependency, LockFile
from jgo.maven import Dependency, MavenContext
from jgo.parse import Coordinate

JarSet = Literal["spark", "kafka"]
SETS: tuple[JarSet, ...] = ("spark", "kafka")
LOCKS = Path(__file__).parent / "locks"

#: What each set is made from. The token provider comes first: the version the connector itself
#: asks for (4.2.0) cannot be had, and the first one named wins.
COORDINATES: dict[JarSet, tuple[str, ...]] = {
    "spark": (
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.kafka:kafka-clients:3.9.2",
    ),
    "kafka": ("org.apache.kafka:kafka_2.13:4.1.0", "org.slf4j:slf4j-simple:1.7.36"),
}

DOWNLOADS_AT_ONCE = 8
TIMEOUT_SECONDS = 60
LOOK_SECONDS = 0.2

#: Called after each file that had to be fetched: (files done, files to fetch, file name).
Progress = Callable[[int, int, str], None]


class JarsMissing(Exception):
    """Jar files could not be fetched or do not match the lock file."""


def resolve(
    jar_set: JarSet,
    folder: Path,
    progress: Progress | None = None,
    given_up: threading.Event | None = None,
) -> list[Path]:
    """Paths of the set's jars in `folder`, class path order; fetches what is not there.

    Works without a network when all are there. A file that differs from the lock is fetched
    again. Raises JarsMissing when that fails or once `given_up` is set, without waiting for the
    downloads under way; `folder` never holds an unverified jar."""
    locked = _locked(jar_set)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {folder / _file_name(jar): jar for jar in locked}
    absent = {path: jar for path, jar in wanted.items() if not _matches(path, jar)}
    if absent:
        _fetch_all(absent, folder, progress, given_up or threading.Event())
    return list(wanted)


def _fetch_all(
    absent: dict[Path, LockedDependency],
    folder: Path,
    progress: Progress | None,
    given_up: threading.Event,
) -> None:
    waiting: queue.SimpleQueue[tuple[Path, LockedDependency]] = queue.SimpleQueue()
    for each in absent.items():
        waiting.put(each)
    with tempfile.TemporaryDirectory(
        dir=folder, prefix=".download-", ignore_cleanup_errors=True
    ) as scratch:
        downloads = _Downloads(_context(Path(scratch)), waiting)
        try:
            for done in range(1, len(absent) + 1):
                name = downloads.next(given_up)
                if progress:
                    progress(done, len(absent), name)
        finally:
            downloads.no_more.set()


class _Downloads:
    """Several at once, in threads that nobody waits for: neither a failure nor a Ctrl-C hangs on
    a server that does not answer, as it would on a pool, which is joined when Python ends."""

    def __init__(
        self, context: MavenContext, waiting: queue.SimpleQueue[tuple[Path, LockedDependency]]
    ) -> None:
        self.no_more = threading.Event()
        self._context, self._waiting = context, waiting
        self._ended: queue.SimpleQueue[tuple[str, Exception | None]] = queue.SimpleQueue()
        for _ in range(min(DOWNLOADS_AT_ONCE, waiting.qsize())):
            threading.Thread(target=self._work, daemon=True).start()

    def next(self, given_up: threading.Event) -> str:
        """Name of the next file that is in its place; raises what its download raised."""
        while not given_up.is_set():
            try:
                name, error = self._ended.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            return name
        raise JarsMissing("the jars were not fetched to the end; the next start goes on there.")

    def _work(self) -> None:
        while not self.no_more.is_set():
            try:
                path, jar = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                _fetch(self._context, jar, path)
                self._ended.put((path.name, None))
            except Exception as error:
                self._ended.put((path.name, error))


def _fetch(context: MavenContext, jar: LockedDependency, target: Path) -> None:
    """One jar, from the machine's own Maven repository if it has the right one, else by jgo."""
    for repository in _repositories_on_this_machine():
        found = repository / Path(*jar.groupId.split(".")) / jar.artifactId / jar.version
        if _matches(found / _file_name(jar), jar):
            _place(found / _file_name(jar), target)
            return
    component = context.project(jar.groupId, jar.artifactId).at_version(jar.version)
    artifact = component.artifact(classifier=jar.classifier or "", packaging=jar.packaging)
    try:
        downloaded = artifact.resolve()
    except (RuntimeError, OSError) as error:
        raise JarsMissing(
            f"{target.name} could not be downloaded ({error}). Nothing was started. "
            "Check the network, or name a mirror of Maven Central in HEADRACE_MAVEN_URL."
        ) from error
    if not _matches(downloaded, jar):
        raise JarsMissing(
            f"{target.name} as downloaded does not have the hash in the lock file, so it is not "
            "used. Something between here and Maven Central changes files."
        )
    _place(downloaded, target)


def _place(source: Path, target: Path) -> None:
    """Copy beside the target, then rename: two processes may do this at once."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, temporary)
    temporary.replace(target)


def _repositories_on_this_machine() -> Iterable[Path]:
    repository = GlobalSettings.load().repo_cache
    return [repository] if repository.is_dir() else []


def _context(repo_cache: Path) -> MavenContext:
    central = os.environ.get("HEADRACE_MAVEN_URL", MAVEN_CENTRAL_URL).rstrip("/")
    remotes = {"central": central, **GlobalSettings.load().repositories}
    return MavenContext(repo_cache=repo_cache, remote_repos=remotes, timeout=TIMEOUT_SECONDS)


def _file_name(jar: LockedDependency) -> str:
    classifier = f"-{jar.classifier}" if jar.classifier else ""
    return f"{jar.artifactId}-{jar.version}{classifier}.{jar.packaging}"


def _matches(path: Path, jar: LockedDependency) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


def _locked(jar_set: JarSet) -> list[LockedDependency]:
    return LockFile.load(_lock_path(jar_set)).dependencies


def _lock_path(jar_set: JarSet) -> Path:
    return LOCKS / f"{jar_set}.lock.toml"


# --- making the lock files -------------------------------------------------------------------


def lock(jar_set: JarSet) -> int:
    """Resolve the set afresh and write its lock file; the number of jars in it."""
    with tempfile.TemporaryDirectory() as scratch:
        context = _context(Path(scratch))
        wanted = [
            context.create_dependency(replace(Coordinate.parse(name), scope="compile"))
            for name in COORDINATES[jar_set]
        ]
        inputs, transitive = context.resolver.resolve(wanted)
        chosen = [*inputs, *(d for d in transitive if d.scope in ("compile", "runtime"))]
        if jar_set == "spark":
            chosen = [d for d in chosen if not _comes_with_pyspark(d)]
        lock_file = LockFile.from_resolved_dependencies(chosen, environment_name=jar_set)
        lock_file.save(_lock_path(jar_set))
    return len(chosen)


def _comes_with_pyspark(dependency: Dependency) -> bool:
    """Whether pyspark has a jar of that name: two versions on one class path do not mix."""
    jars = Path(str(resources.files("pyspark"))) / "jars"
    return any(
        path.name.removeprefix(dependency.artifactId)[1:2].isdigit()
        for path in jars.glob(f"{dependency.artifactId}-*.jar")
    )


def main() -> None:
    for jar_set in SETS:
        print(f"{_lock_path(jar_set)}: {lock(jar_set)} jars")


if __name__ == "__main__":
    main()
