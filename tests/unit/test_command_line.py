"""What the command reads and says: options as Flink has them, configuration, Flink's savepoints."""

from __future__ import annotations

import http.server
import json
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from headrace.cli import configuration, programs
from headrace.cli.__main__ import main
from headrace.cli.arguments import Parser
from headrace.cli.exits import Exit, Failure
from tests.isolation import ROOT

JOB = "ecd7684c9df6414354e4178579fe7b07"
TRIGGER = "a" * 32
IN_PROGRESS = {"status": {"id": "IN_PROGRESS"}, "operation": None}


# --- options ---


def test_a_programs_options_are_its_own() -> None:
    line = "run -d -p 4 -Da=b=c -D x=1 -n -s /sp -cm claim --beside job.py -p 9 --rate 5 -d -- x"
    read = Parser().parse(line.split())

    assert (read.file, read.arguments) == ("job.py", ["-p", "9", "--rate", "5", "-d", "--", "x"])
    assert (read.detached, read.parallelism, read.fromSavepoint) == (True, 4, "/sp")
    assert read.settings == [("a", "b=c"), ("x", "1")]
    assert (read.allowNonRestoredState, read.claimMode, read.beside) == (True, "claim", True)


def test_pyflinks_way_to_name_the_program() -> None:
    read = Parser().parse(["run", "-py", "job.py", "-p", "2", "--input", "x"])

    assert (read.file, read.parallelism, read.arguments) == ("job.py", 2, ["--input", "x"])


@pytest.mark.parametrize("option", ["-rm", "-restoreMode", "-claimMode", "--claimMode"])
def test_flinks_names_of_the_claim_mode(option: str) -> None:
    read = Parser().parse(["run", "-s", "/sp", option, "CLAIM", "job.py"])
    assert (read.claimMode, read.file) == ("claim", "job.py")


def test_what_of_an_archive_is_run() -> None:
    read = Parser().parse(["run", "-c", "shop.totals:main", "-Da=b", "shop.whl", "-c", "x"])
    assert (read.file, read.arguments) == ("shop.whl", ["-c", "x"])
    assert programs._settings(read) == {"a": "b", "headrace.entry-class": "shop.totals:main"}


def test_a_job_is_submitted_for_a_team() -> None:
    read = Parser().parse(["run", "--team", "payments", "job.py", "--team", "x"])
    assert (programs._submission(read)["team"], read.arguments) == ("payments", ["--team", "x"])


@pytest.mark.parametrize("option", ["-pyfs", "-pym", "--pyExecutable", "-parallelism"])
def test_an_option_that_is_not_there_is_named(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "-d", option, "x", "job.py"])
    assert ended.value.code == Exit.USAGE
    assert f"unknown option: {option};" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "",
        "run",
        "run -p 0 job.py",
        "run -D nonsense job.py",
        "run -cm legacy job.py",
        "stop",
        "stop nonsense",
        "fly",
    ],
)
def test_wrong_usage_is_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())

    assert ended.value.code == Exit.USAGE
    assert "usage: headrace" in capsys.readouterr().err


def test_the_command_is_installed_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["headrace"].partition(":")

    assert getattr(import_module(module), name) is main


# --- configuration ---


def config_file(folder: Path, text: str, mode: int = 0o600) -> dict[str, str]:
    file = folder / "config.toml"
    file.write_text(text)
    file.chmod(mode)
    return {"HEADRACE_CONFIG": str(file)}


def test_option_before_environment_before_file(tmp_path: Path) -> None:
    kept = config_file(tmp_path, 'url = "http://file:1"\ntoken = "of the file"\n')
    token = tmp_path / "token"
    token.write_text("of the option\n")
    variables = {**kept, "HEADRACE_URL": "http://variable:2/", "HEADRACE_TOKEN": "of the variable"}

    def found(*options: str | None, given: Mapping[str, str]) -> tuple[str, str]:
        server = configuration.server(options[0], options[1], given)
        return server.url, server.token

    assert found(None, None, given=kept) == ("http://file:1", "of the file")
    assert found(None, None, given=variables) == ("http://variable:2", "of the variable")
    assert found("option:3", str(token), given=variables) == ("http://option:3", "of the option")


def test_nothing_configured_is_this_machine(tmp_path: Path) -> None:
    server = configuration.server(None, None, {"XDG_CONFIG_HOME": str(tmp_path)})

    assert (server.url, server.token) == ("http://127.0.0.1:8081", "")


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ('token = "secret"', 0o644, "others may read it"),
        ('token = "secret', 0o600, "cannot be used"),
        ('password = "secret"', 0o600, "it may have `url` and `token`"),
    ],
)
def test_an_unsafe_file_is_refused(tmp_path: Path, text: str, mode: int, words: str) -> None:
    with pytest.raises(Failure, match=words) as refused:
        configuration.server(None, None, config_file(tmp_path, text, mode))

    assert refused.value.code == Exit.USAGE
    assert "secret" not in str(refused.value)


# --- Flink's savepoints, as recorded ---


@dataclass
class Flink:
    """Answers each request with what was recorded for it, the last answer again and again."""

    answers: dict[str, list[tuple[int, Any]]]
    port: int = 0
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def next(self, request: str) -> tuple[int, Any]:
        answers = self.answers.get(request, [(404, {"errors": ["Not found."]})])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def flink(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Flink]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = f"{self.command} {self.path}"
            found.asked.append((request, json.loads(content) if content else None))
            status, body = found.next(request)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    found = Flink({})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("HEADRACE_URL", f"http://127.0.0.1:{found.port}")
    monkeypatch.setenv("HEADRACE_CONFIG", str(tmp_path / "none"))
    monkeypatch.setattr("headrace.cli.__main__.signal.signal", lambda *_: None)
    monkeypatch.setattr("headrace.cli.waiting.POLL_SECONDS", 0.01)
    monkeypatch.setattr("headrace.cli.versions.POLL_SECONDS", 0.01)
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def completed(**operation: Any) -> tuple[int, Any]:
    return 200, {"status": {"id": "COMPLETED"}, "operation": operation}


def test_a_savepoint_is_waited_for(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    flink.answers = {
        f"POST /jobs/{JOB}/savepoints": [(202, {"request-id": TRIGGER})],
        f"GET /jobs/{JOB}/savepoints/{TRIGGER}": [
            (200, IN_PROGRESS),
            completed(location="file:/sp"),
        ],
    }

    assert main(["savepoint", JOB, "/target"]) == Exit.DONE
    assert "Savepoint completed. Path: file:/sp\n" in capsys.readouterr().out
    wishes = {"target-directory": "/target", "cancel-job": False}
    assert flink.asked[0] == (f"POST /jobs/{JOB}/savepoints", wishes)


def test_stop_with_its_options(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    flink.answers = {
        f"POST /jobs/{JOB}/stop": [(202, {"request-id": TRIGGER})],
        f"GET /jobs/{JOB}/savepoints/{TRIGGER}": [completed(location="file:/sp")],
    }

    assert main(["stop", "--json", "-d", "-p", "/target", "-type", "native", JOB]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == {"job": JOB, "location": "file:/sp"}
    wishes = {"targetDirectory": "/target", "drain": True, "formatType": "NATIVE"}
    assert flink.asked[0][1] == wishes


@pytest.mark.parametrize("line", [["-s", "/target", JOB], ["-s", JOB]])
def test_cancel_with_a_savepoint(flink: Flink, line: list[str]) -> None:
    flink.answers = {
        f"POST /jobs/{JOB}/savepoints": [(202, {"request-id": TRIGGER})],
        f"GET /jobs/{JOB}/savepoints/{TRIGGER}": [completed(location="file:/sp")],
    }

    assert main(["cancel", *line]) == Exit.DONE
    target = {"target-directory": "/target"} if len(line) == 3 else {}
    assert flink.asked[0][1] == {**target, "cancel-job": True}


def test_a_failed_savepoint_says_why(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    cause = {
        "class": "org.x.CheckpointException",
        "stack-trace": "org.x.CheckpointException: full\n\tat",
    }
    flink.answers = {
        f"POST /jobs/{JOB}/savepoints": [(202, {"request-id": TRIGGER})],
        f"GET /jobs/{JOB}/savepoints/{TRIGGER}": [completed(**{"failure-cause": cause})],
    }

    assert main(["savepoint", JOB]) == Exit.REFUSED
    assert capsys.readouterr().err.endswith("headrace: savepoint failed: full\n")


def test_disposal(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    flink.answers = {
        "POST /savepoint-disposal": [(200, {"request-id": TRIGGER})],
        f"GET /savepoint-disposal/{TRIGGER}": [(200, IN_PROGRESS), completed()],
    }

    assert main(["savepoint", "-d", "/sp"]) == Exit.DONE
    assert capsys.readouterr().out == "Savepoint '/sp' disposed.\n"
    assert flink.asked[0][1] == {"savepoint-path": "/sp"}


def test_detached_answers_with_the_operation(
    flink: Flink, capsys: pytest.CaptureFixture[str]
) -> None:
    flink.answers = {f"POST /jobs/{JOB}/stop": [(202, {"request-id": TRIGGER})]}

    assert main(["stop", "-detached", "--json", JOB]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["request-id"] == TRIGGER


def test_a_server_that_goes_away_is_asked_again(
    flink: Flink, capsys: pytest.CaptureFixture[str]
) -> None:
    flink.answers = {
        f"POST /jobs/{JOB}/stop": [(202, {"request-id": TRIGGER})],
        f"GET /jobs/{JOB}/savepoints/{TRIGGER}": [(503, b""), completed(location="file:/sp")],
    }

    assert main(["stop", JOB]) == Exit.DONE
    assert "Asking again; the job does not notice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (401, {"errors": ["no"]}, Exit.NOT_PERMITTED, "no token was given"),
        (403, {"errors": ["not yours"]}, Exit.NOT_PERMITTED, "not yours"),
        (404, {"errors": ["Job could not be found."]}, Exit.NO_SUCH_JOB, "could not be found"),
        (409, {"errors": ["it has ended"]}, Exit.REFUSED, "it has ended"),
        (500, b"<html>", Exit.REFUSED, "answers 500; its log says why"),
        (503, b"", Exit.UNREACHABLE, "answers 503"),
        (200, b"<html>", Exit.UNREACHABLE, "is no Headrace"),
    ],
)
def test_errors_have_words_and_a_code(
    flink: Flink,
    capsys: pytest.CaptureFixture[str],
    status: int,
    body: Any,
    code: Exit,
    words: str,
) -> None:
    flink.answers = {f"GET /api/jobs/{JOB}/checkpoints/?limit=20": [(status, body)]}

    assert main(["checkpoints", JOB]) == code
    said = capsys.readouterr()
    assert words in said.err and "Traceback" not in said.err
    assert said.out == ""


# --- versions ---


def upgrade(state: str, failure: str = "") -> dict[str, Any]:
    values = {"id": 7, "job": JOB, "before": 1, "after": 2}
    return {**values, "state": state, "failure": failure}


def steps(flink: Flink, verb: str, *states: dict[str, Any]) -> None:
    """What the server answers to the request, and then when it is asked how far it is."""
    flink.answers = {
        f"POST /api/jobs/{JOB}/{verb}/": [(202, upgrade("STOPPING"))],
        f"GET /api/jobs/{JOB}/upgrades/7/": [(200, state) for state in states],
        f"GET /api/jobs/{JOB}/": [(200, {"id": JOB, "version": 1, "state": "RUNNING"})],
    }


def test_a_job_is_rescaled(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    steps(flink, "rescale", upgrade("STARTING"), upgrade("DONE"))

    assert main(["rescale", "-p", "4", JOB]) == Exit.DONE
    said = capsys.readouterr()
    assert said.out == f"Job {JOB} is version 2 now.\n"
    assert [line.split()[1].strip(":") for line in said.err.splitlines()] == [
        *("STOPPING", "STARTING", "DONE"),
    ]
    assert flink.asked[0][1] == {"parallelism": 4}


def test_an_upgrade_of_settings(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    steps(flink, "upgrades", upgrade("REVERTED", "no such topic"))
    options = ["-D", "a=1", "--remove", "b", "--to", "3", "-n", "--reason", "new"]

    assert main(["upgrade", *options, JOB]) == Exit.REFUSED
    said = capsys.readouterr().out
    assert said == f"Version 2 did not start: no such topic\nJob {JOB} is version 1 again.\n"
    assert flink.asked[0][1] == {
        "version": 3,
        "configuration": {"a": "1", "b": None},
        "reason": "new",
        "allow_non_restored_state": True,
    }


def test_an_upgrade_without_savepoint(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    steps(flink, "upgrades", upgrade("FAILED", "the disk is full"))

    assert main(["upgrade", "--json", "-p", "2", JOB]) == Exit.REFUSED
    assert json.loads(capsys.readouterr().out)["failure"] == "the disk is full"


def test_options_of_an_upgrade_stand_before_the_job(
    flink: Flink, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    read = Parser().parse(["upgrade", "-p", "2", JOB, "job.py", "-p", "9", "--rate", "5"])
    assert (read.parallelism, read.file) == (2, "job.py")
    assert read.arguments == ["-p", "9", "--rate", "5"]

    assert main(["upgrade", JOB, "-p", "2"]) == Exit.USAGE
    assert main(["upgrade", JOB, str(tmp_path / "none.py")]) == Exit.USAGE
    assert "cannot be read" in capsys.readouterr().err
    assert not flink.asked


def test_versions_and_how_they_differ(flink: Flink, capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        "number": 2,
        "current": True,
        "created_at": "2026-03-01T06:00:00Z",
        "entry_name": "job.py",
        "artifact_sha256": "ab" * 32,
        "parallelism": 4,
        "created_by_name": "alice",
        "reason": "faster",
    }
    differs = {
        "code": "--- job.py\n+++ job.py\n",
        "arguments": None,
        "parallelism": [1, 4],
        "configuration": {"a": ["1", None]},
    }
    path = f"GET /api/jobs/{JOB}/versions/"
    flink.answers = {
        f"{path}?limit=1000&offset=0": [(200, {"results": [row], "next": None})],
        f"{path}difference/?before=1&after=2": [(200, differs)],
    }

    assert main(["versions", JOB]) == Exit.DONE
    said = capsys.readouterr().out
    assert said.startswith("*   2 : 2026-03-01 ")
    assert said.endswith(" : job.py abababababab, parallelism 4 (by alice, faster)\n")
    assert main(["versions", JOB, "--diff", "1", "2"]) == Exit.DONE
    words = ["--- job.py", "+++ job.py", "- parallelism: 1", "+ parallelism: 4", "- a: 1"]
    assert capsys.readouterr().out.splitlines() == words
