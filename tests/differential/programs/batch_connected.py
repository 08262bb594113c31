"""BATCH mode: connected, united and broadcast streams, timers and state of both sides."""

# runs: whole 1
# order: key
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor

LEFT = [("b", 1, 900), ("a", 2, 100), ("b", 3, 50), ("c", 4, 10)]
RIGHT = [("a", 5, 700), ("b", 6, 40), ("a", 7, 30)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Both(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.STRING()))

    def process_element1(self, value, ctx):
        self.seen.add(f"left {value[1]}")
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.seen.add(f"right {value[1]}")
        ctx.timer_service().register_event_time_timer(2000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, sorted(self.seen.get())


class Ended(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        ctx.timer_service().register_event_time_timer(value[2] + 5000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, sorted(self.seen.get())


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    left, right = (
        env.from_collection(events, triple).assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(
                Duration.of_millis(0)
            ).with_timestamp_assigner(ByThird())
        )
        for events in (LEFT, RIGHT)
    )
    both = left.connect(right).key_by(lambda e: e[0], lambda e: e[0], Types.STRING())
    both.process(Both()).print("connected")
    united = left.union(right).key_by(lambda e: e[0], Types.STRING())
    united.process(Ended()).print("united")
    united.reduce(lambda x, y: (x[0], x[1] + y[1], max(x[2], y[2]))).print("reduced")
    united.count_window(2).reduce(lambda x, y: (x[0], x[1] * y[1], 0)).map(lambda e: e[0]).print(
        "pairs"
    )
    env.execute()


if __name__ == "__main__":
    main()
