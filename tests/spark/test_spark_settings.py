"""A job's own Spark settings arrive, and stand in no command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

OWN = {
    "spark.some.password": "s3cr=t: \\ü 😀\nline",
    "spark.sql.session.timeZone": "Europe/Berlin",
    "spark.driver.memory": "600m",
    "not.of.spark": "kept away",
}
#: Starts a session, and prints the settings and the command lines of its children.
PROGRAM = """
import json, sys
from pathlib import Path
import psutil
from headrace.runtime import context, spark_session

with context.laptop("settings", 2) as run:
    run.run_dir = Path(sys.argv[1])
    run.configuration = json.loads(sys.argv[2])
    spark = spark_session.start(run, 2)
    children = psutil.Process().children(recursive=True)
    commands = [" ".join(c.as_dict(["cmdline"])["cmdline"] or ()) for c in children]
    conf = {name: spark.conf.get(name, None) for name in [*run.configuration, "spark.app.name"]}
    print(json.dumps({"conf": conf, "commands": [each for each in commands if each]}))
    spark.stop()
"""


def test_own_settings_arrive_by_a_file_that_only_this_user_may_read(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), json.dumps(OWN)],
        env={**os.environ, "SPARK_MASTER": ""},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])

    assert said["conf"] == {**OWN, "not.of.spark": None, "spark.app.name": "settings"}
    [java] = [command for command in said["commands"] if "SparkSubmit" in command]
    assert "-Xmx600m" in java
    assert "spark.properties" in java
    assert "s3cr" not in " ".join(said["commands"])
    assert "Berlin" not in " ".join(said["commands"])
    assert stat.S_IMODE((tmp_path / "spark.properties").stat().st_mode) == 0o600
