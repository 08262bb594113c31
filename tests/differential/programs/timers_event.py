"""Event-time timers: order, doubles, deletion, timers of timers, times that are past."""

# runs: each 1
# order: key
from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment, TimeDomain

EVENTS = [
    ("a", 1, 1000),
    ("b", 2, 1500),
    ("a", 3, 2000),
    ("a", 4, 500),
    ("b", 5, 4000),
    ("a", 6, 8000),
    ("b", 7, 9000),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        key, number, at = value
        yield key, "element", number, ctx.timestamp(), ctx.get_current_key()
        timers.register_event_time_timer(at + 3000)
        timers.register_event_time_timer(at + 3000)
        timers.register_event_time_timer(at + 1000)
        timers.register_event_time_timer(at + 2000)
        timers.delete_event_time_timer(at + 2000)
        timers.delete_event_time_timer(at + 77)
        if number == 6:
            timers.register_event_time_timer(100)

    def on_timer(self, timestamp, ctx):
        assert ctx.time_domain() is TimeDomain.EVENT_TIME
        yield ctx.get_current_key(), "timer", timestamp, ctx.timestamp()
        if timestamp % 1000 == 0 and timestamp < 5000:
            ctx.timer_service().register_event_time_timer(timestamp + 10001)


class Watermarks(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[2])
        ctx.timer_service().register_event_time_timer(2**63 - 1)
        yield value[0], value[1], ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield (
            ctx.get_current_key(),
            "at",
            timestamp,
            ctx.timer_service().current_watermark() >= timestamp,
        )


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    keyed = (
        env.from_collection(EVENTS, triple)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird())
        )
        .key_by(lambda e: e[0], Types.STRING())
    )
    keyed.process(Timers()).print("timers")
    keyed.process(Watermarks()).print("watermarks")
    env.execute()


if __name__ == "__main__":
    main()
