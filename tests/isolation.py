"""Loaded by pytest before Django's settings: tests share nothing with a running `make up`."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

from tests import jvm

ROOT = Path(__file__).parent.parent

#: Jars are verified by hash, so the tests may use the ones `make up` has fetched. A worker of
#: pytest-xdist finds in its environment where they are: its parent's home is empty.
JARS_VARIABLE = "HEADRACE_TEST_JARS"
_USUAL = Path(os.environ.get("HEADRACE_HOME", ROOT / ".headrace")) / "jars"
JARS = Path(os.environ.setdefault(JARS_VARIABLE, str(_USUAL)))

#: In the environment of every process the tests start, whoever its parent is by then.
RUN_VARIABLE = "HEADRACE_TEST_RUN"
RUN = uuid.uuid4().hex

HOME = Path(tempfile.mkdtemp(prefix="headrace-test-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

os.environ["HEADRACE_HOME"] = str(HOME)
os.environ.setdefault("JAVA_TOOL_OPTIONS", jvm.TOOL_OPTIONS)
if options := jvm.submit_options():
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)
# Where bytecode is not kept, each of a job's many Python processes compiles pandas anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ[RUN_VARIABLE] = RUN
for name in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "DATABASE_URL", "SPARK_MASTER"):
    os.environ.pop(name, None)
