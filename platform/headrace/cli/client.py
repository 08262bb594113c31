"""The REST API as the command sees it; every error becomes a Failure with its exit code."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from headrace.cli.configuration import Server
from headrace.cli.exits import Exit, Failure

TIMEOUT_SECONDS = 30
PAGE = 1000


class Unreachable(Failure):
    """Nothing answers; another try may be worth it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Exit.UNREACHABLE)


class Client:
    """Speaks to one server."""

    def __init__(self, server: Server) -> None:
        #: Whether anything answered yet.
        self.reached = False
        self._server = server
        host = urlsplit(server.url).hostname
        # A proxy of the network knows nothing of this machine's own ports.
        local = host in ("localhost", "127.0.0.1", "::1")
        proxies = [urllib.request.ProxyHandler({})] if local else []
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)

    # --- what is asked

    def job(self, job_id: str) -> dict[str, Any]:
        return self._object("GET", f"/api/jobs/{job_id}/")

    def jobs(self, states: Sequence[str]) -> Iterator[dict[str, Any]]:
        yield from self._rows("/api/jobs/", {"state": list(states)})

    def submit(self, file: tuple[str, bytes], values: Mapping[str, object]) -> dict[str, Any]:
        content, kind = _multipart(file, values)
        return self._object("POST", "/api/jobs/", content, kind)

    def steer(self, job_id: str, verb: str) -> dict[str, Any]:
        return self._object("POST", f"/api/jobs/{job_id}/{verb}/")

    def checkpoints(self, job_id: str, limit: int) -> list[dict[str, Any]]:
        return self._some(f"/api/jobs/{job_id}/checkpoints/?limit={limit}")

    def schedule(self, file: tuple[str, bytes], values: Mapping[str, object]) -> dict[str, Any]:
        content, kind = _multipart(file, values)
        return self._object("POST", "/api/schedules/", content, kind)

    def schedules(self) -> Iterator[dict[str, Any]]:
        yield from self._rows("/api/schedules/", {})

    def scheduled_runs(self, schedule_id: str) -> list[dict[str, Any]]:
        return self._some(f"/api/schedules/{schedule_id}/runs/")

    def steer_schedule(self, schedule_id: str, verb: str) -> dict[str, Any]:
        return self._object("POST", f"/api/schedules/{schedule_id}/{verb}/")

    def delete_schedule(self, schedule_id: str) -> None:
        self._answer("DELETE", f"/api/schedules/{schedule_id}/", None, "")

    def taskmanagers(self) -> Iterator[dict[str, Any]]:
        yield from self._rows("/api/taskmanagers/", {})

    def taskmanager(self, name: str) -> dict[str, Any]:
        return self._object("GET", f"/api/taskmanagers/{quote(name, safe='')}/")

    def steer_taskmanager(self, name: str, verb: str) -> dict[str, Any]:
        return self._object("POST", f"/api/taskmanagers/{quote(name, safe='')}/{verb}/")

    def failures(self, job_id: str, limit: int) -> list[dict[str, Any]]:
        return self._some(f"/api/jobs/{job_id}/events/?kind=failure&limit={limit}")

    def log(self, job_id: str, attempt: int | None, offset: int | None) -> dict[str, Any]:
        query = {"attempt": attempt, "offset": offset}
        given = urlencode({name: value for name, value in query.items() if value is not None})
        return self._object("GET", f"/api/jobs/{job_id}/log/?{given}")

    def versions(self, job_id: str) -> Iterator[dict[str, Any]]:
        yield from self._rows(f"/api/jobs/{job_id}/versions/", {})

    def version_difference(self, job_id: str, before: int, after: int) -> dict[str, Any]:
        query = urlencode({"before": before, "after": after})
        return self._object("GET", f"/api/jobs/{job_id}/versions/difference/?{query}")

    def upgrade(self, job_id: str, values: Mapping[str, object]) -> dict[str, Any]:
        return self._asked(f"/api/jobs/{job_id}/upgrades/", values)

    def upgrade_to(
        self, job_id: str, file: tuple[str, bytes], values: Mapping[str, object]
    ) -> dict[str, Any]:
        content, kind = _multipart(file, values)
        return self._object("POST", f"/api/jobs/{job_id}/upgrades/", content, kind)

    def rescale(self, job_id: str, parallelism: int) -> dict[str, Any]:
        return self._asked(f"/api/jobs/{job_id}/rescale/", {"parallelism": parallelism})

    def upgrade_state(self, job_id: str, upgrade: int) -> dict[str, Any]:
        return self._object("GET", f"/api/jobs/{job_id}/upgrades/{upgrade}/")

    # --- Flink's own routes

    def trigger_savepoint(self, job_id: str, wishes: Mapping[str, object]) -> str:
        return self._triggered(f"/jobs/{job_id}/savepoints", wishes)

    def stop(self, job_id: str, wishes: Mapping[str, object]) -> str:
        return self._triggered(f"/jobs/{job_id}/stop", wishes)

    def trigger_checkpoint(self, job_id: str, wishes: Mapping[str, object]) -> str:
        return self._triggered(f"/jobs/{job_id}/checkpoints", wishes)

    def dispose(self, path: str) -> str:
        return self._triggered("/savepoint-disposal", {"savepoint-path": path})

    def savepoint(self, job_id: str, trigger: str) -> dict[str, Any]:
        return self._object("GET", f"/jobs/{job_id}/savepoints/{quote(trigger)}")

    def checkpoint(self, job_id: str, trigger: str) -> dict[str, Any]:
        return self._object("GET", f"/jobs/{job_id}/checkpoints/{quote(trigger)}")

    def disposal(self, trigger: str) -> dict[str, Any]:
        return self._object("GET", f"/savepoint-disposal/{quote(trigger)}")

    def _triggered(self, path: str, wishes: Mapping[str, object]) -> str:
        given = {name: value for name, value in wishes.items() if value is not None}
        return str(self._asked(path, given)["request-id"])

    # --- how

    def _asked(self, path: str, values: Mapping[str, object]) -> dict[str, Any]:
        return self._object("POST", path, json.dumps(values).encode(), "application/json")

    def _rows(self, path: str, query: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
        offset = 0
        while True:
            given = urlencode({**query, "limit": PAGE, "offset": offset}, doseq=True)
            answer = self._object("GET", f"{path}?{given}")
            yield from answer["results"]
            offset += PAGE
            if answer["next"] is None:
                return

    def _some(self, path: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._object("GET", path)["results"]
        return rows

    def _object(
        self, method: str, path: str, content: bytes | None = None, kind: str = ""
    ) -> dict[str, Any]:
        answer = self._answer(method, path, content, kind)
        try:
            values = json.loads(answer)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise Unreachable(f"what answers at {self._server.url} is no Headrace")
        return values

    def _answer(self, method: str, path: str, content: bytes | None, kind: str) -> bytes:
        url = self._server.url
        headers = {"Accept": "application/json", **({"Content-Type": kind} if kind else {})}
        if self._server.token:
            headers["Authorization"] = f"Token {self._server.token}"
        try:
            request = urllib.request.Request(url + path, content, headers, method=method)
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                body: bytes = answer.read()
            self.reached = True
            return body
        except urllib.error.HTTPError as error:
            raise self._refused(error.code, error.read()) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = getattr(error, "reason", None) or error
            raise Unreachable(
                f"nothing answers at {url} ({said}). Start Headrace there, or name another "
                "address with --url or HEADRACE_URL"
            ) from None

    def _refused(self, status: int, body: bytes) -> Failure:
        try:
            said = " ".join(json.loads(body)["errors"])
        except (ValueError, KeyError, TypeError):
            said = ""
        match status:
            case 401:
                had = "the token is not accepted" if self._server.token else "no token was given"
                return Failure(
                    f"{had}. Make one on the page of your account ({self._server.url}/account/) "
                    "and give it by HEADRACE_TOKEN, by --token-file or in the configuration file",
                    Exit.NOT_PERMITTED,
                )
            case 403:
                return Failure(said or "this is not permitted", Exit.NOT_PERMITTED)
            case 404:
                return Failure(said or f"{self._server.url} has no such thing", Exit.NO_SUCH_JOB)
            case 502 | 503 | 504:
                return Unreachable(f"{self._server.url} answers {status}: {said or 'try again'}")
            case _ if said:
                return Failure(said, Exit.REFUSED)
            case _:
                return Failure(
                    f"{self._server.url} answers {status}; its log says why", Exit.REFUSED
                )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token goes to the address that was given and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _multipart(file: tuple[str, bytes], values: Mapping[str, object]) -> tuple[bytes, str]:
    """A form with a file; a list is a field for each of its items."""
    mark = uuid.uuid4().hex
    parts = []
    for name, value in values.items():
        for item in value if isinstance(value, list) else [value]:
            parts.append(_part(mark, f'name="{name}"', str(item).encode()))
    name = file[0].replace("\\", "_").replace('"', "_").replace("\n", "_").replace("\r", "_")
    parts.append(_part(mark, f'name="file"; filename="{name}"', file[1]))
    content = b"".join([*parts, f"--{mark}--\r\n".encode()])
    return content, f"multipart/form-data; boundary={mark}"


def _part(mark: str, disposition: str, content: bytes) -> bytes:
    head = f"--{mark}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"
