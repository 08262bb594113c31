"""Python runs this at the start of every process whose PYTHONPATH names its folder: those that a
chaos run starts, and those that Spark starts for them. They halt at the step they are told to.

The protocol of the files in the folder is that of `tests.chaos.points`.
"""

import contextlib
import logging
import os
import signal
import time
from pathlib import Path

FOLDER = os.environ.get("HEADRACE_CHAOS_POINTS", "")


def at(step) -> None:  # type: ignore[no-untyped-def]
    for armed in Path(FOLDER).glob(f"armed-{step.value}-*"):
        skip = int(armed.name.rpartition("-")[2])
        # whoever renames the file has it; two threads or processes may come at once
        with contextlib.suppress(FileNotFoundError):
            if skip > 0:
                armed.rename(armed.with_name(f"armed-{step.value}-{skip - 1}"))
                continue
            linger = float(armed.read_text())
            armed.rename(armed.with_name(f"taking-{os.getpid()}"))
            time.sleep(linger)
            (armed.parent / f"taking-{os.getpid()}").rename(armed.parent / f"hit-{os.getpid()}")
            os.kill(os.getpid(), signal.SIGSTOP)


if FOLDER:
    from headrace.connectors.twophase import steps

    steps.listen(at)
    # what recovery did is told at INFO, also in Spark's own workers, whose stderr is the driver's
    told = logging.getLogger("headrace")
    told.addHandler(logging.StreamHandler())
    told.setLevel(logging.INFO)
