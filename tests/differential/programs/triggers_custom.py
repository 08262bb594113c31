"""A trigger of one's own with each of the four results, state and timers of its own."""

# runs: each 1
# order: key
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)

EVENTS = [
    ("a", "c", 100),
    ("a", "f", 200),
    ("b", "c", 300),
    ("a", "c", 1100),
    ("a", "p", 1200),
    ("b", "x", 1300),
    ("a", "c", 1400),
    ("b", "c", 2500),
    ("a", "x", 3300),
    ("a", "c", 5500),
    ("b", "f", 5600),
    ("a", "c", 10000),
    ("b", "c", 10001),
]
RESULTS = {
    "c": TriggerResult.CONTINUE,
    "f": TriggerResult.FIRE,
    "p": TriggerResult.PURGE,
    "x": TriggerResult.FIRE_AND_PURGE,
}


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class AsTold(Trigger[tuple, TimeWindow]):
    """What the element says; at the end FIRE_AND_PURGE; in the middle of a window FIRE."""

    def __init__(self):
        self.count = ValueStateDescriptor("count", Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        state = ctx.get_partitioned_state(self.count)
        state.update((state.value() or 0) + 1)
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.register_event_time_timer(window.start + 1500)
        if state.value() == 4:
            ctx.delete_event_time_timer(window.start + 1500)
        return RESULTS[element[1]]

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        if time == window.max_timestamp():
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.count).clear()


class Add:
    def reduce(self, a, b):
        return a + b


class MergingCount(Trigger[tuple, TimeWindow]):
    """Every third element of a session, counted over what merged."""

    def __init__(self):
        self.count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.INT())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        if count.get() >= 3:
            count.clear()
            return TriggerResult.FIRE
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return (
            TriggerResult.FIRE_AND_PURGE
            if time == window.max_timestamp()
            else TriggerResult.CONTINUE
        )

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.count)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.count).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        said = [f"{each[1]}{each[2]}" for each in elements]
        yield key, context.window().start, context.window().end, said, context.current_watermark()

    def clear(self, context):
        pass


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    tumbling = TumblingEventTimeWindows.of(Time.seconds(5))
    keyed.window(tumbling).trigger(AsTold()).process(Span()).print("told")
    keyed.window(tumbling).trigger(AsTold()).allowed_lateness(2000).process(Span()).print(
        "told late"
    )
    keyed.window(tumbling).trigger(AsTold()).reduce(lambda x, y: (x[0], x[1] + y[1], y[2])).print(
        "told reduce"
    )
    sessions = EventTimeSessionWindows.with_gap(Time.milliseconds(1200))
    keyed.window(sessions).trigger(MergingCount()).process(Span()).print("merging")
    env.execute()


if __name__ == "__main__":
    main()
