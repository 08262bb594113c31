"""The servers that the user runs, named by variable: asked before anything starts."""

from __future__ import annotations

import redis
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection

from workers.up import summary
from workers.up.machine import NotPossible

ANSWER_SECONDS = 10


def check() -> None:
    """All that were named. Raises NotPossible, in one sentence, with the name of the variable."""
    check_database()
    if not settings.HEADRACE_EMBEDS_REDIS:
        check_redis()
    if not settings.HEADRACE_EMBEDS_KAFKA:
        check_kafka()


def check_database() -> None:
    try:
        connection.ensure_connection()
    except (Error, ImproperlyConfigured, OSError) as error:
        raise database_failed(error) from error


def check_redis() -> None:
    try:
        with redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
        ) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise _silent("Redis", "REDIS_URL", summary.address(settings.REDIS_URL), error) from error


def check_kafka() -> None:
    servers = settings.KAFKA_BOOTSTRAP_SERVERS
    try:
        AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(
            timeout=ANSWER_SECONDS
        )
    except KafkaException as error:
        raise kafka_failed(error) from error


def database_failed(error: Exception) -> NotPossible:
    return _silent("database", "DATABASE_URL", _database(), error)


def kafka_failed(error: KafkaException) -> NotPossible:
    """What a request that Kafka refused or did not answer means for the start."""
    said = error.args[0].str()
    return _silent("Kafka", "KAFKA_BOOTSTRAP_SERVERS", settings.KAFKA_BOOTSTRAP_SERVERS, said)


def _database() -> str:
    values = connection.settings_dict
    return f"{values['HOST']}:{values['PORT']}" if values.get("HOST") else str(values["NAME"])


def _silent(what: str, variable: str, where: str, error: object) -> NotPossible:
    said = " ".join(str(error).split())
    return NotPossible(
        f"the {what} at {where} cannot be used ({said}); start it, or correct {variable}."
    )
