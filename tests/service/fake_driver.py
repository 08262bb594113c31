"""A driver without Spark: a small real process that speaks the journal.

Run as the real one, `fake_driver.py <run_dir>`. What it does is in the job's arguments:

    --batches N         finish after N batches (default: go on for ever)
    --pause S           seconds per batch (0.05)
    --crash-at N        die without a word before checkpoint N, in the first attempt only
    --crash             die without a word in every attempt
    --fail              journal Failed, in every attempt
    --fail-for-good     journal Failed(restartable=False)
    --hang-at N         stop beating at checkpoint N, in the first attempt only
    --deaf              ignore commands
    --groups N          its program has N slot sharing groups
    --child             leave a process in the session that nobody ends

Its state is one file in the checkpoint directory: the last checkpoint's number. `batches.log`
there gets a line per batch, so a test sees two drivers that run at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from headrace.wire import commands, events, journal, rundir, savepoint
from headrace.wire.spec import JobSpec


class FakeDriver:
    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.spec = JobSpec.read(run_dir)
        self.options = _options(self.spec.arguments)
        self.journal = journal.JournalWriter(run_dir)
        self.checkpoints = Path(self.spec.checkpoint_dir)
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        self.beating = threading.Event()
        self.beating.set()
        self.suspended = threading.Event()
        self.checkpoints_asked: list[str] = []

    def run(self) -> int:
        signal.signal(signal.SIGTERM, lambda *_: self.suspended.set())
        threading.Thread(target=self._beat, daemon=True).start()
        self.journal.append(events.Started(os.getpid(), self.spec.master))
        print(f"fake driver of {self.spec.name}, attempt {self.spec.attempt}", flush=True)
        if self.options.child:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        if self.options.fail or self.options.fail_for_good:
            return self._fail()
        self._restore()
        last = self._last()
        slots = {f"group-{n}": self.spec.parallelism for n in range(self.options.groups)}
        self.journal.append(events.Planned({"nodes": []}, checkpoint_interval=50, slots=slots))
        if sum(slots.values()) > self.spec.slots:
            return self._stop("suspended")
        self.journal.append(events.Running(last or None, f"fake-{self.spec.attempt}"))
        return self._batches(last)

    def _batches(self, last: int) -> int:
        while True:
            if self.options.batches is not None and last >= self.options.batches:
                return self._stop("finished")
            if (reason := self._asked()) is not None:
                return self._stop(reason)
            last += 1
            started = int(time.time() * 1000)
            first = self.spec.attempt == 1
            if self.options.crash or (first and self.options.crash_at == last):
                os.kill(os.getpid(), signal.SIGKILL)
            if first and self.options.hang_at == last:
                self.beating.clear()
                time.sleep(600)
            time.sleep(self.options.pause)
            with (self.checkpoints / "batches.log").open("a") as log:
                log.write(f"{last} {os.getpid()}\n")
            (self.checkpoints / "last").write_text(str(last))
            took = int(time.time() * 1000) - started
            self.journal.append(
                events.CheckpointCompleted(last, started, took, records_in=10, state_rows=last)
            )
            while self.checkpoints_asked:
                command_id = self.checkpoints_asked.pop()
                done = events.CommandDone(command_id, result={"checkpoint_id": last})
                self.journal.append(done)

    def _asked(self) -> str | None:
        if self.suspended.is_set():
            return "suspended"
        if self.options.deaf:
            return None
        for path, command in commands.pending(self.run_dir):
            path.unlink()
            if command.verb == "checkpoint":
                self.checkpoints_asked.append(command.command_id)
                continue
            self.journal.append(events.CommandDone(command.command_id))
            if command.verb == "savepoint":
                ended = self._save(commands.SavepointOptions(**command.options))
                if ended:
                    return ended
                continue
            return {"cancel": "canceled", "suspend": "suspended"}[command.verb]
        return None

    def _save(self, wish: commands.SavepointOptions) -> str:
        """A savepoint of the one file; how the job ends with it."""
        name = f"{savepoint.CONTENT}/last"
        directory = Path(wish.directory) / wish.name
        manifest = savepoint.Manifest(
            savepoint_id=wish.savepoint_id,
            job_id=self.spec.job_id,
            job_name=self.spec.name,
            artifact_sha256="0" * 64,
            entry_name="program.py",
            batch=self._last() - 1,
            checkpoint_id=self._last(),
            parallelism=1,
            max_parallelism=128,
            drained=wish.drain,
            created_by=wish.by,
            reason=wish.reason,
        )
        try:
            size, digest = savepoint.copy_hashed(self.checkpoints / "last", directory / name)
            files = [savepoint.SavedFile(name, size, digest)]
            savepoint.write_manifest(directory, replace(manifest, files=files))
        except OSError as error:
            self.journal.append(events.SavepointFailed(wish.savepoint_id, str(error)))
            return ""
        checkpoint = manifest.checkpoint_id
        self.journal.append(
            events.SavepointCompleted(wish.savepoint_id, str(directory), checkpoint, size, 1)
        )
        return wish.then

    def _restore(self) -> None:
        """From the savepoint that the job begins with, at its first start."""
        wish = savepoint.Restore.of(self.spec.restore)
        if wish is not None and not (self.checkpoints / "last").exists():
            begun = savepoint.locate(wish.path) / savepoint.CONTENT / "last"
            (self.checkpoints / "last").write_text(begun.read_text())

    def _fail(self) -> int:
        try:
            raise ImportError("No module named 'nonsense'")
        except ImportError as error:
            text = f'Traceback (most recent call last):\n  File "{self.spec.entry}", line 1\n'
            self.journal.append(
                events.Failed(
                    f"ImportError: {error}",
                    text + f"ImportError: {error}",
                    restartable=not self.options.fail_for_good,
                )
            )
        return 1

    def _stop(self, reason: str) -> int:
        self.journal.append(events.Stopped(reason))
        return 0

    def _last(self) -> int:
        path = self.checkpoints / "last"
        return int(path.read_text() or 0) if path.exists() else 0

    def _beat(self) -> None:
        while True:
            if self.beating.is_set():
                (self.run_dir / rundir.HEARTBEAT).touch()
            time.sleep(0.2)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int)
    parser.add_argument("--pause", type=float, default=0.05)
    parser.add_argument("--crash-at", type=int)
    parser.add_argument("--hang-at", type=int)
    parser.add_argument("--groups", type=int, default=1)
    for name in ("--crash", "--fail", "--fail-for-good", "--deaf", "--child"):
        parser.add_argument(name, action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(FakeDriver(Path(sys.argv[1])).run())
