"""Flink's own dashboard, served beside the REST API that it asks: `/flink/`.

Its files do not come with Headrace. HEADRACE_FLINK_DASHBOARD names the jar `flink-runtime-web` as
Maven Central has it, or a folder with what is in its `web/`.
"""

from __future__ import annotations

import mimetypes
import zipfile
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

_INDEX = "index.html"
_IN_JAR = "web/"
#: The scripts are its own; the one thing inline is what switches its style sheet on. Its editor
#: makes workers of blobs and styles as it goes.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-hashes' 'sha256-MhtPZXr7+LpJUY5qtMutB+qWfQtMaPccfe7QXtCcEYc='",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "frame-ancestors 'none'",
    )
)
_NOT_THERE = (
    "Flink's dashboard is not set up here: HEADRACE_FLINK_DASHBOARD names its files. This "
    "cluster's own pages are at /."
)


@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    """GET /flink/…: whatever of the REST API it is not."""
    if not request.user.is_authenticated:
        if path in ("", _INDEX):
            return redirect_to_login(request.get_full_path())
        return _told(401, "Log in first.")
    source = settings.HEADRACE_FLINK_DASHBOARD
    if not source:
        return _told(404, _NOT_THERE)
    content = read(Path(source), path or _INDEX)
    if content is None:
        return _told(404, f"Unable to load requested file {request.path}.")
    answer = HttpResponse(content, content_type=_kind(path or _INDEX))
    answer["Content-Security-Policy"] = POLICY
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "private, max-age=300"
    return answer


def read(source: Path, path: str) -> bytes | None:
    """A file of the bundle; None for what is none."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\x00" in path or "\\" in path:
        return None
    try:
        if source.is_dir():
            found = (source / path).resolve()
            return found.read_bytes() if found.is_relative_to(source.resolve()) else None
        with zipfile.ZipFile(source) as jar:
            return jar.read(_IN_JAR + path)
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


def _kind(path: str) -> str:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _told(status: int, sentence: str) -> HttpResponse:
    return JsonResponse({"errors": [sentence]}, status=status)
