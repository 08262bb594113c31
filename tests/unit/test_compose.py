"""docker-compose.yml against the code: commands that exist, variables that something reads."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.isolation import ROOT
from workers import taskmanager
from workers.up import account

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service.get("build")}
TASKMANAGERS = ("taskmanager-1", "taskmanager-2")

KEYS = {
    *("image", "build", "init", "restart", "volumes", "environment", "command", "ports"),
    *("depends_on", "healthcheck", "deploy", "hostname", "container_name", "stop_grace_period"),
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


def test_every_part_of_the_design_is_there() -> None:
    assert set(SERVICES) == {
        *("kafka", "postgres", "valkey", "spark-master", "spark-worker"),
        *("prepare", "web", "jobmanager", "replay", *TASKMANAGERS),
    }


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_known_keys_and_refers_to_what_exists(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= KEYS
    assert "image" in service
    for other, how in service.get("depends_on", {}).items():
        assert how["condition"] in CONDITIONS
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in COMPOSE["volumes"]


@pytest.mark.parametrize("name", OURS)
def test_a_command_of_ours_exists(name: str) -> None:
    words = shlex.split(OURS[name]["command"])
    match words:
        case ["python", "manage.py", command, *options]:
            parser = load_command_class(get_commands()[command], command).create_parser(
                "manage.py", command
            )
            parser.parse_args(options)
        case ["uvicorn", application, *_]:
            module, _, attribute = application.partition(":")
            spec = importlib.util.find_spec(module)
            assert spec is not None and spec.origin is not None
            assert re.search(rf"^{attribute} = ", (ROOT / spec.origin).read_text(), re.MULTILINE)
        case ["spark-class", main, *_]:
            assert main in {
                "org.apache.spark.deploy.master.Master",
                "org.apache.spark.deploy.worker.Worker",
            }
        case _:
            pytest.fail(f"{name} runs {words}")


@pytest.mark.parametrize("name", OURS)
def test_variables_of_ours_are_read_by_something(name: str) -> None:
    settings = (ROOT / "platform" / "config" / "settings.py").read_text()
    read = {*re.findall(r'env\.\w+\(\s*"(\w+)"', settings), account.VARIABLE}
    assert set(OURS[name]["environment"]) <= read


@pytest.mark.parametrize("name", TASKMANAGERS)
def test_a_taskmanager_comes_back_under_its_name(name: str) -> None:
    service = SERVICES[name]
    words = shlex.split(service["command"])
    assert words[words.index("--name") + 1] == service["hostname"] == name
    assert service["container_name"] == f"headrace-{name}"  # which compose refuses to scale
    assert "deploy" not in service
    assert int(service["stop_grace_period"].removesuffix("s")) > taskmanager.STOP_SECONDS


def test_addresses_name_services() -> None:
    environment = COMPOSE["x-headrace"]["environment"]
    hosts = [
        urlsplit(re.sub(r"\$\{.*?\}", "x", environment[name])).hostname
        for name in ("DATABASE_URL", "REDIS_URL", "SPARK_MASTER")
    ]
    hosts.append(environment["KAFKA_BOOTSTRAP_SERVERS"].partition(":")[0])
    assert set(hosts) <= set(SERVICES)
    assert environment["SPARK_MASTER"] in SERVICES["spark-worker"]["command"]
    assert "--host spark-master --port 7077" in SERVICES["spark-master"]["command"]


def test_state_is_where_all_of_ours_share_it() -> None:
    home = COMPOSE["x-headrace"]["environment"]["HEADRACE_HOME"]
    assert all(f"headrace:{home}" in service["volumes"] for service in OURS.values())


def published() -> Iterator[str]:
    for service in SERVICES.values():
        yield from service.get("ports", [])


def test_what_is_shared_is_said_to_be_shared() -> None:
    for name in (*TASKMANAGERS, "jobmanager"):
        environment = SERVICES[name]["environment"]
        shared = environment["HEADRACE_SHARED_STORAGE"]
        assert environment["HEADRACE_HOME"] == shared
        assert f"headrace:{shared}" in SERVICES[name]["volumes"]


def test_ports_are_open_to_this_machine_only() -> None:
    assert all(port.startswith("127.0.0.1:") for port in published())


def test_the_image_has_the_locked_packages_and_all_sources() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "pip install --no-cache-dir --require-hashes -r requirements.lock" in dockerfile
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not {"platform", "jobs", "workers", "dashboard", "manage.py"} & set(ignored)
