"""`manage.py replay`: put the example flights into a topic, in order of event time."""

from __future__ import annotations

import signal
from argparse import ArgumentParser, ArgumentTypeError
from itertools import islice
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from jobs.examples.flights import flights
from workers.replay import Pace, Replay, ReplayFailed, only_one

#: An hour of event time, one window of the example job, passes in three seconds.
DEFAULT_SPEED = 1200.0


class Command(BaseCommand):
    help = (
        "Put the flights of 2013 into a Kafka topic as JSON, in order of scheduled departure. "
        "Started again, it goes on behind the last flight in the topic."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        pace = parser.add_mutually_exclusive_group()
        pace.add_argument(
            "--speed",
            type=_positive,
            default=DEFAULT_SPEED,
            help="seconds of event time in a second (%(default)g)",
        )
        pace.add_argument("--all", action="store_true", help="as fast as possible")
        parser.add_argument("--topic", default="flights", help="an existing topic (%(default)s)")
        parser.add_argument("--bootstrap-servers", default=settings.KAFKA_BOOTSTRAP_SERVERS)
        parser.add_argument("--limit", type=int, help="only the first N flights of the data set")

    def handle(self, *args: Any, **options: Any) -> None:
        # Ends the loop from within, so that what was handed to the producer is still sent.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        topic = options["topic"]
        try:
            with only_one(settings.HEADRACE_HOME, topic):
                replay = Replay(options["bootstrap_servers"], topic, self.stdout.write)
                pace = Pace(None if options["all"] else options["speed"])
                count = replay.run(islice(flights(), options["limit"]), pace)
        except ReplayFailed as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stdout.write("stopped; the next replay goes on behind the last flight")
            return
        self.stdout.write(f"{count} flights put into {topic}; it now holds all that was asked for")


def _positive(text: str) -> float:
    if (speed := float(text)) <= 0:
        raise ArgumentTypeError(f"{text} is not above 0")
    return speed
