"""The platform as a user sees it: by REST. What it refuses is a Failure of `headrace.cli`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.cli.client import Client, Unreachable

Row = dict[str, Any]

RETRY_SECONDS = 0.5
#: What a web may take to start, or to answer, on a slow machine.
AWAY_SECONDS = 600.0


class Rest(Client):
    """Questions are asked again while nothing answers: a web may just be being started."""

    def overview(self) -> Row:
        return self._object("GET", "/api/overview/")

    def all_jobs(self) -> dict[str, Row]:
        """By id."""
        return {row["id"]: row for row in self._some("/api/jobs/?limit=1000")}

    def attempts(self, job_id: str) -> list[Row]:
        """Newest first."""
        return self._some(f"/api/jobs/{job_id}/attempts/?limit=1000")

    def taskmanagers_by_name(self) -> dict[str, Row]:
        """By name."""
        return {row["name"]: row for row in self._some("/api/taskmanagers/")}

    def send(self, name: str, program: Path, arguments: list[str], settings: object) -> str:
        """Submit a job; its id."""
        values: Mapping[str, object] = {
            "name": name,
            "arguments": arguments,
            "parallelism": 1,
            "configuration": json.dumps(settings),
        }
        return str(self.submit((program.name, program.read_bytes()), values)["id"])

    def _object(
        self, method: str, path: str, content: bytes | None = None, kind: str = ""
    ) -> dict[str, Any]:
        deadline = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return super()._object(method, path, content, kind)
            except Unreachable:
                if method != "GET" or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_SECONDS)
