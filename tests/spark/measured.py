"""A program of orders and payments whose functions count and measure what they see."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from typing import Any

from headrace.datastream import (
    DataStream,
    KeyedCoProcessFunction,
    MapFunction,
    RuntimeContext,
    SinkFunction,
    StreamExecutionEnvironment,
)
from tests.spark.programs import ORDERS, PAYMENTS, UNPAID, Events, Unpaid, in_order


class Measuring:
    """Counts and measures what it sees, in all the ways that there are."""

    def open(self, runtime_context: RuntimeContext) -> None:
        super().open(runtime_context)  # type: ignore[misc]
        name = type(self).__name__
        self.accumulated = runtime_context.get_long_counter(f"{name} accumulated")
        self.histogram = runtime_context.get_histogram(f"{name} histogram")
        metrics = runtime_context.get_metrics_group()
        self.counter = metrics.counter(f"{name} counted")
        self.meter = metrics.meter(f"{name} metered")
        self.distribution = metrics.distribution(f"{name} distribution")
        self.largest = 0
        metrics.gauge(f"{name} gauge", lambda: self.largest)

    def measure(self, amount: int) -> None:
        self.accumulated.add(amount)
        self.histogram.add(amount)
        self.counter.inc()
        self.meter.mark_event(amount)
        self.distribution.update(amount)
        self.largest = max(amount, self.largest)


class Seen(Measuring, MapFunction):
    def map(self, value: Any) -> Any:
        self.measure(value[2])
        return value


class Watched(Measuring, Unpaid):
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any]:
        self.measure(value[2])
        return super().process_element1(value, ctx)

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any]:
        self.measure(timestamp // 1000)
        return super().on_timer(timestamp, ctx)


class Told(Measuring, SinkFunction):
    def invoke(self, value: Any, context: Any) -> None:
        self.measure(len(value))


def payments(env: StreamExecutionEnvironment) -> DataStream:
    """As "co_process" of `double`, with what is unpaid: the functions in front of the key and
    behind it measure."""
    orders = env.from_source(Events(ORDERS), in_order(), "orders").map(Seen())
    paying = env.from_source(Events(PAYMENTS), in_order(), "payments").map(Seen())
    both = orders.connect(paying)
    paid = both.key_by(lambda order: order[0], lambda payment: payment[0]).process(Watched())
    return paid.union(paid.get_side_output(UNPAID))


class Killing(MapFunction):
    """Kills the driver of the job's first attempt in the middle of the micro-batch in which the
    first timers fire."""

    def __init__(self, driver: int) -> None:
        self.driver = driver

    def open(self, runtime_context: RuntimeContext) -> None:
        self.kills = runtime_context.get_attempt_number() == 0

    def map(self, value: Any) -> Any:
        if self.kills and value[0] != "paid":
            os.kill(self.driver, signal.SIGKILL)
            time.sleep(600)  # until Spark has seen that, and ends this process
        return value
