"""The Celery app. Its tasks launch, ask or reconcile and end in seconds; none is a job."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

app = Celery("headrace")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=2,
    broker_transport_options={
        "socket_connect_timeout": 2,
        "socket_timeout": 10,
        "global_keyprefix": "headrace:",
    },
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_publish_retry=False,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    worker_prefetch_multiplier=1,
    timezone="UTC",
)
app.conf.imports = ["workers.tasks"]
