"""No page, answer or table shows the value of a secret setting; the driver gets it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs import attempts, masking, taskmanagers
from jobs.states import JobState, change_state
from tests.service.pages import make_job
from workers import specs

CONFIGURATION = {"spark.my.password": "very-secret", "a.b": "shown-<b>"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", ["/jobs/{}/configuration/", "/api/jobs/{}/", "/admin/jobs/job/{}/change/"]
)
def test_secret_is_not_shown(client: Client, address: str) -> None:
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    job = make_job(configuration=CONFIGURATION)

    answer = client.get(address.format(job.pk))

    assert answer.status_code == 200
    page = answer.content.decode()
    assert "very-secret" not in page
    assert masking.MASK in page
    assert "spark.my.password" in page
    assert "shown-" in page


@pytest.mark.django_db
def test_driver_gets_the_secret(settings: object) -> None:
    settings.HEADRACE_SPARK_JARS = []  # type: ignore[attr-defined]
    job = make_job(state=JobState.INITIALIZING, configuration=CONFIGURATION)
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])

    assert specs.of(attempt).configuration == CONFIGURATION
