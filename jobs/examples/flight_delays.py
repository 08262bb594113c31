"""Departure delays per airport and hour, from real flights, exactly once.

flights (Kafka, JSON) -> hourly event-time windows per origin -> flight-delays (Kafka, JSON)

Each record of `flight-delays` is one window of one airport: window_start, window_end (ISO 8601,
UTC), origin, flights (scheduled), mean_delay and p95_delay (minutes, of the flights that left;
null when none did; the percentile is interpolated linearly) and cancelled. A flight that comes
after its window has fired, but within the allowed lateness, fires it again with the new figures.
Records that are no flights go to `flights-dead-letter` with the reason, in the same transaction.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from headrace.common import (
    Duration,
    Instant,
    Row,
    SerializationSchema,
    Time,
    TimestampAssigner,
    Types,
    WatermarkStrategy,
)
from headrace.datastream import (
    AggregateFunction,
    DeliveryGuarantee,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    TimeWindow,
    TumblingEventTimeWindows,
)
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    OnDeserializationError,
)
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

FLIGHT = Types.ROW_NAMED(
    ["event_time", "origin", "dep_delay"],
    [Types.NOT_NULL(Types.INSTANT()), Types.NOT_NULL(Types.STRING()), Types.DOUBLE()],
)
YEARS = range(2000, 2100)
DAYS_LATE = 30
DELAYS = Types.ROW_NAMED(
    ["window_start", "window_end", "origin", "flights", "mean_delay", "p95_delay", "cancelled"],
    [
        Types.STRING(),
        Types.STRING(),
        Types.STRING(),
        Types.LONG(),
        Types.DOUBLE(),
        Types.DOUBLE(),
        Types.LONG(),
    ],
)


def validate(flight: Row) -> None:
    """Raises ValueError for what no airport reports. One departure in the far future would make
    all that follow late; one absurd delay would spoil the mean."""
    departure = datetime.fromtimestamp(flight.event_time.seconds, UTC)
    if departure.year not in YEARS:
        raise ValueError(f"no flight departs in the year {departure.year}")
    if len(flight.origin) != 3:
        raise ValueError(f"{flight.origin[:20]!r} is no airport's code")
    if flight.dep_delay is not None and abs(flight.dep_delay) > DAYS_LATE * 1440:
        raise ValueError(f"no flight is {flight.dep_delay:g} minutes late")


class ScheduledDeparture(TimestampAssigner):
    def extract_timestamp(self, value: Row, record_timestamp: int) -> int:
        departure: Instant = value.event_time
        return departure.to_epoch_milli()


class Delays(AggregateFunction):
    """Accumulator: (flights that left by their delay, cancelled flights)."""

    def create_accumulator(self) -> tuple[Counter[float], int]:
        return Counter(), 0

    def add(
        self, value: Row, accumulator: tuple[Counter[float], int]
    ) -> tuple[Counter[float], int]:
        left, cancelled = accumulator
        if value.dep_delay is None:
            return left, cancelled + 1
        left[value.dep_delay] += 1
        return left, cancelled

    def get_result(self, accumulator: tuple[Counter[float], int]) -> dict[str, Any]:
        left, cancelled = accumulator
        delays = sorted(left.elements())
        return {
            "flights": len(delays) + cancelled,
            "mean_delay": sum(delays) / len(delays) if delays else None,
            "p95_delay": percentile(delays, 0.95),
            "cancelled": cancelled,
        }

    def merge(
        self, acc_a: tuple[Counter[float], int], acc_b: tuple[Counter[float], int]
    ) -> tuple[Counter[float], int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class WithWindow(ProcessWindowFunction[dict[str, Any], Row, str, TimeWindow]):
    """Puts the airport and the hour beside the figures."""

    def process(self, key: str, context: Any, elements: Iterable[dict[str, Any]]) -> Iterable[Row]:
        window = context.window()
        for figures in elements:
            yield Row(
                window_start=iso(window.start),
                window_end=iso(window.end),
                origin=key,
                **figures,
            )


def percentile(ordered: list[float], share: float) -> float | None:
    """Interpolated linearly between the two nearest ranks, as numpy's default."""
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def iso(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class OriginKey(SerializationSchema):
    """The Kafka key of a result: its airport."""

    def serialize(self, value: Row) -> bytes:
        return str(value.origin).encode()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--input", default="flights", help="topic to read")
    parser.add_argument("--output", default="flight-delays", help="topic to write")
    parser.add_argument("--dead-letters", default="flights-dead-letter")
    parser.add_argument("--interval", type=int, default=1000, help="checkpoint interval, ms")
    parser.add_argument(
        "--bounded", action="store_true", help="end with what is in the topic at the first start"
    )
    return parser.parse_args()


def flights(options: argparse.Namespace) -> KafkaSource:
    schema = (
        JsonRowDeserializationSchema.builder()
        .type_info(FLIGHT)
        .fail_on_missing_field()
        .validate(validate)
    )
    builder = (
        KafkaSource.builder()
        .set_topics(options.input)
        .set_group_id(options.output)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(schema.build())
        .on_deserialization_error(OnDeserializationError.dead_letter(options.dead_letters))
    )
    if options.bounded:
        builder.set_bounded(KafkaOffsetsInitializer.latest())
    return builder.build()


def delays(options: argparse.Namespace) -> KafkaSink:
    records = (
        KafkaRecordSerializationSchema.builder()
        .set_topic(options.output)
        .set_key_serialization_schema(OriginKey())
        .set_value_serialization_schema(
            JsonRowSerializationSchema.builder().with_type_info(DELAYS).build()
        )
    )
    return (
        KafkaSink.builder()
        .set_record_serializer(records.build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(options.output)
        .build()
    )


def main() -> None:
    options = arguments()
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(options.interval)
    watermarks = (
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(5))
        .with_timestamp_assigner(ScheduledDeparture())
        .with_idleness(Duration.of_seconds(10))
    )
    (
        env.from_source(flights(options), watermarks, "Flights", FLIGHT)
        .uid("flights")
        .key_by(lambda flight: flight.origin, Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .allowed_lateness(Time.minutes(30))
        .aggregate(Delays(), WithWindow(), output_type=DELAYS)
        .name("Hourly delays per airport")
        .uid("hourly-delays")
        .sink_to(delays(options))
        .name("flight-delays")
        .uid("flight-delays")
    )
    env.execute("Flight delays")


if __name__ == "__main__":
    main()
