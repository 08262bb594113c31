"""Window assigners of one's own, for time windows and for keys of windows."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    CountWindow,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    TimeWindow,
    WindowAssigner,
)
from pyflink.datastream.window import (
    CountTrigger,
    CountWindowSerializer,
    EventTimeTrigger,
    PurgingTrigger,
    TimeWindowSerializer,
)

EVENTS = [
    ("a", 1, 100),
    ("a", 2, 900),
    ("b", 3, 1000),
    ("a", 4, 1700),
    ("a", 5, 2500),
    ("b", 6, 2600),
    ("a", 7, 3900),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Cumulating(WindowAssigner[tuple, TimeWindow]):
    """From the start of each two seconds to the end of the first and of the second."""

    def assign_windows(self, element, timestamp, context):
        start = timestamp - timestamp % 2000
        windows = [TimeWindow(start, start + 2000)]
        if timestamp < start + 1000:
            windows.append(TimeWindow(start, start + 1000))
        return windows

    def get_default_trigger(self, env):
        return EventTimeTrigger()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class Parity(WindowAssigner[tuple, CountWindow]):
    """Window 0 for even numbers, 1 for odd ones."""

    def assign_windows(self, element, timestamp, context):
        return [CountWindow(element[1] % 2)]

    def get_default_trigger(self, env):
        return PurgingTrigger.of(CountTrigger.of(2))

    def get_window_serializer(self):
        return CountWindowSerializer()

    def is_event_time(self):
        return False


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, [each[1] for each in elements]


class Id(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().id, [each[1] for each in elements]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_millis(0)
            ).with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0])
    )
    keyed.window(Cumulating()).process(Span()).print("cumulating")
    keyed.window(Parity()).process(Id()).print("parity")
    env.execute()


if __name__ == "__main__":
    main()
