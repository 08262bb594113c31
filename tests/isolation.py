"""Loaded by pytest before Django's settings: tests share nothing with a running `make up`."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import uuid
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: Jars are verified by hash, so the tests may use the ones `make up` has fetched.
JARS = Path(os.environ.get("HEADRACE_HOME", ROOT / ".headrace")) / "jars"

#: In the environment of every process the tests start, whoever its parent is by then.
RUN_VARIABLE = "HEADRACE_TEST_RUN"
RUN = uuid.uuid4().hex

HOME = Path(tempfile.mkdtemp(prefix="headrace-test-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

os.environ["HEADRACE_HOME"] = str(HOME)
# Tests start many JVMs and keep none for long: compile quickly rather than well (half the CPU).
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
os.environ[RUN_VARIABLE] = RUN
for name in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "DATABASE_URL", "SPARK_MASTER"):
    os.environ.pop(name, None)
