"""The example that `up` brings along: its topics and its job."""

from __future__ import annotations

from confluent_kafka import KafkaException
from django.conf import settings
from django.contrib.auth import get_user_model

from jobs import actions
from jobs.models import Job
from jobs.states import JobState
from workers.embedded import kafka
from workers.up import account, servers

NAME = "Flight delays"
FILE = "jobs/examples/flight_delays.py"
PARALLELISM = 2

#: A dozen records a second: a JVM that compiles quickly rather than well commits its first output
#: in half the time. (The stack size is what every job has.)
CONFIGURATION = {"spark.driver.extraJavaOptions": "-Xss8m -XX:TieredStopAtLevel=1"}

#: Name and partitions. The data set is read again from its beginning by whoever comes later.
TOPICS = {"flights": 3, "flight-delays": 1, "flights-dead-letter": 1}
TOPIC_SETTINGS = {"retention.ms": "-1"}


def ensure_topics() -> None:
    """Raises NotPossible when Kafka does not let them be made."""
    try:
        kafka.ensure_topics(settings.KAFKA_BOOTSTRAP_SERVERS, TOPICS, TOPIC_SETTINGS)
    except KafkaException as error:
        raise servers.kafka_failed(error) from error


def ensure_job() -> tuple[Job, bool]:
    """The newest example job, and whether it was submitted just now.

    One that was cancelled or has failed stays so: submitted anew it would read the flights from
    the beginning and answer everything twice."""
    path = settings.CLONE / FILE
    there = Job.objects.filter(entry_name=path.name).order_by("-created_at").first()
    if there is not None:
        return there, False
    user = get_user_model().objects.get(username=account.NAME)
    parallelism = min(PARALLELISM, settings.HEADRACE_SLOTS)
    job = actions.submit(
        NAME, path, parallelism=parallelism, configuration=CONFIGURATION, user=user
    )
    return job, True


def how_it_is(job: Job, submitted: bool) -> str:
    """What the summary says of it."""
    if submitted:
        return "submitted"
    state = JobState(job.state)
    if state is JobState.SUSPENDED:
        return "goes on from its checkpoint" if job.wanted == "running" else "suspended by you"
    return f"{state.label.lower()}; restart it on its page" if state.is_terminal else "runs on"
