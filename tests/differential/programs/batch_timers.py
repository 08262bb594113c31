"""BATCH mode: timers, whatever the order of records."""

# runs: whole 1
# order: key
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ValueStateDescriptor

EVENTS = [
    ("a", 1, 9000),
    ("b", 2, 500),
    ("a", 3, 100),
    ("a", 4, 1000),
    ("b", 5, 2500),
    ("a", 6, 50),
]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Timers(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(value[2] + 1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.count.value()


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
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
    keyed.process(Timers()).print("timers")
    env.execute()


if __name__ == "__main__":
    main()
