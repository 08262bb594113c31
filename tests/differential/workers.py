"""PyFlink's Python workers without a process each: imports of its own only, for PyFlink's Python.

PyFlink starts a process for each worker, even where functions run as threads of the program
("loopback"): it imports apache-beam, which takes seconds, to pass one request on. RUNNER takes its
place in this suite's environment and passes the request on by a socket."""

import json
import os
import socket
import tempfile
import threading
from pathlib import Path

ADDRESS = "DIFFERENTIAL_WORKERS"

#: pyflink/bin/pyflink-udf-runner.sh. It lives as long as the worker: PyFlink watches it.
RUNNER = f'''#!/usr/bin/env bash
exec python -S -E - "$@" <<'EOF'
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect(os.environ["{ADDRESS}"])
    to.sendall(json.dumps([sys.argv[1:], dict(os.environ)]).encode())
    to.shutdown(socket.SHUT_WR)
    to.recv(1)
EOF
'''


def serve():
    """Start workers of this process as threads, for as long as it lives."""
    path = str(Path(tempfile.mkdtemp(prefix="differential-"), "workers"))
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    os.environ[ADDRESS] = path

    def accept():
        while True:
            threading.Thread(target=_work, args=server.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _work(asker):
    from apache_beam.portability.api import beam_fn_api_pb2, endpoints_pb2
    from pyflink.fn_execution.beam.beam_worker_pool_service import BeamFnLoopbackWorkerPoolServicer

    with asker, asker.makefile() as text:
        arguments, environment = json.load(text)
        said = dict(each.removeprefix("--").split("=", 1) for each in arguments)
        request = beam_fn_api_pb2.StartWorkerRequest(
            worker_id=said["id"],
            provision_endpoint=endpoints_pb2.ApiServiceDescriptor(url=said["provision_endpoint"]),
            params={**environment, "SEMI_PERSISTENT_DIRECTORY": tempfile.gettempdir()},
        )
        BeamFnLoopbackWorkerPoolServicer()._start_sdk_worker_main(request)
