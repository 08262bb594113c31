"""What processes of Python do: by py-spy, from outside, without stopping them; of this process by
its own frames."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

from headrace.wire.text import storable

#: Samples a second: enough to see where time goes, 1 % of a core for each process.
RATE = 50
#: More processes are not looked at at once.
PROCESSES = 16
#: What an answer holds at most, for those who keep and draw it: frames of a stack, stacks of a
#: process, threads, characters of a thread.
DEPTH, STACKS, THREADS, CHARACTERS = 120, 2000, 500, 20_000
_DEEPER, _OTHERS = "… deeper", "… others"
_SPARE_SECONDS = 20.0
_Stack = tuple[str, ...]


class CannotLook(Exception):
    """In words for people."""


def own_threads() -> list[dict[str, str]]:
    """[{"name", "text"}] of this process."""
    names = {each.ident: each.name for each in threading.enumerate()}
    return [
        _bounded(names.get(ident, f"thread {ident}"), "".join(traceback.format_stack(frame)))
        for ident, frame in sys._current_frames().items()
    ][:THREADS]


def _bounded(name: str, text: str) -> dict[str, str]:
    if len(text) > CHARACTERS:
        text = f"{text[: CHARACTERS // 2]}\n…\n{text[-CHARACTERS // 2 :]}"
    return {"name": storable(name)[:200], "text": storable(text)}


def python_processes(driver: int, others: Iterable[int]) -> list[int]:
    """The driver, then Python processes among the others."""
    found = [driver]
    for pid in others:
        with contextlib.suppress(psutil.Error):
            if pid != driver and "python" in psutil.Process(pid).name().lower():
                found.append(pid)
    return found[:PROCESSES]


def threads(pids: Iterable[int]) -> list[dict[str, str]]:
    """[{"name", "text"}]. Raises CannotLook when none of them can be looked at."""
    found: list[dict[str, str]] = []
    errors: list[str] = []
    for pid in pids:
        done = _run("dump", "--json", "--nonblocking", "--pid", str(pid))
        if done.returncode != 0:
            errors.append(done.stderr)
            continue
        found += [_thread(pid, each) for each in json.loads(done.stdout)]
    if not found:
        raise CannotLook(_reason(errors))
    return found[:THREADS]


def _thread(pid: int, told: Mapping[str, Any]) -> dict[str, str]:
    name = told.get("thread_name") or told.get("os_thread_id") or "thread"
    frames = [
        f"    at {frame['name']} ({frame['short_filename'] or frame['filename']}:{frame['line']})"
        for frame in told.get("frames", [])
    ]
    state = "RUNNABLE" if told.get("active") else "WAITING"
    head = f'"{name}" process {pid} {state}'
    return _bounded(f"{name} (process {pid})", "\n".join([head, *frames]))


def flame_graph(pids: Iterable[int], seconds: int) -> dict[str, Any]:
    """{"full", "on_cpu", "off_cpu": trees, "seconds"}: all samples, those that used a processor,
    and the rest. Raises CannotLook when none of the processes can be looked at."""
    _py_spy()  # said before anything is begun
    with tempfile.TemporaryDirectory(prefix="headrace-flame-") as folder, ExitStack() as ends:
        running = []
        for pid in pids:
            for idle in (True, False):
                process = _record(pid, seconds, Path(folder), idle)
                ends.callback(_kill, process)
                running.append((pid, idle, Path(folder) / f"{pid}-{idle}", process))
        errors, everything, busy = [], Counter[_Stack](), Counter[_Stack]()
        for pid, idle, path, process in running:
            stderr = _end(process, seconds)
            if process.returncode != 0 or not path.exists():
                errors.append(stderr)
                continue
            told = path.read_text(encoding="utf-8", errors="replace")
            (everything if idle else busy).update(_stacks(pid, told))
    if len(errors) == len(running):
        raise CannotLook(_reason(errors))
    waiting = everything - busy
    return {
        "full": _tree(everything | busy),
        "on_cpu": _tree(busy),
        "off_cpu": _tree(waiting),
        "seconds": seconds,
    }


def _record(pid: int, seconds: int, folder: Path, idle: bool) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(_py_spy(), "record", "--nonblocking", "--format", "raw"),
            *("--rate", str(RATE), "--duration", str(seconds), "--pid", str(pid)),
            *("--output", str(folder / f"{pid}-{idle}")),
            *(["--idle"] if idle else []),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """None is left behind, whatever went wrong with another."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def _end(process: subprocess.Popen[str], seconds: int) -> str:
    try:
        return process.communicate(timeout=seconds + _SPARE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1] + "py-spy did not end"


def _stacks(pid: int, raw: str) -> Counter[_Stack]:
    """Of lines `outer;inner count`, below their process."""
    found = Counter[_Stack]()
    for line in raw.splitlines():
        frames, _, count = line.rpartition(" ")
        if frames and count.isdecimal():
            stack = storable(frames).split(";")
            if len(stack) > DEPTH:
                stack = [*stack[:DEPTH], _DEEPER]
            found[(f"process {pid}", *stack)] += int(count)
    most = Counter(dict(found.most_common(STACKS)))
    if rest := found.total() - most.total():
        most[(f"process {pid}", _OTHERS)] = rest
    return most


def _tree(stacks: Mapping[_Stack, int]) -> dict[str, Any]:
    root: dict[str, Any] = {"name": "root", "value": 0, "children": {}}
    for stack, count in stacks.items():
        root["value"] += count
        node = root
        for name in stack:
            node = node["children"].setdefault(name, {"name": name, "value": 0, "children": {}})
            node["value"] += count
    return _listed(root)


def _listed(node: dict[str, Any]) -> dict[str, Any]:
    """Children by their names, so that two graphs can be compared."""
    children = [_listed(each) for _, each in sorted(node["children"].items())]
    return {"name": node["name"], "value": node["value"], "children": children}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [_py_spy(), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_SPARE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise CannotLook("py-spy did not end in time; the machine is too busy") from None


def _py_spy() -> str:
    """Raises CannotLook."""
    beside = Path(sysconfig.get_path("scripts")) / "py-spy"
    found = str(beside) if beside.exists() else shutil.which("py-spy")
    if found is None:
        raise CannotLook("py-spy is not installed beside this TaskManager: pip install py-spy")
    return found


def _reason(errors: Iterable[str]) -> str:
    said = next((line for text in errors for line in text.splitlines() if line.strip()), "")
    if "ermission" in said or "not permitted" in said:
        return (
            "the system does not let the TaskManager look into its drivers: allow it "
            "(sysctl kernel.yama.ptrace_scope=0, or the capability SYS_PTRACE in a container)"
        )
    return f"py-spy cannot look at the driver: {said or 'it has ended'}"
