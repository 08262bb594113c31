"""Timers of both kinds in connected keyed streams: which fire, and what they find."""

# runs: each 1
import time

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

EVENTS = [("a", 1, 100), ("b", 2, 200), ("a", 4, 300), ("b", 3, 50), ("c", 5, 700), ("d", 6, 650)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Both(KeyedCoProcessFunction):
    """Each element has a timer of either kind; each key's first element waits for its second."""

    def open(self, runtime_context):
        self.sides = runtime_context.get_list_state(ListStateDescriptor("sides", Types.STRING()))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", Types.LONG()))

    def process_element1(self, value, ctx):
        yield from self.take("odd", value, ctx)

    def process_element2(self, value, ctx):
        yield from self.take("even", value, ctx)

    def take(self, side, value, ctx):
        service = ctx.timer_service()
        now = service.current_processing_time()
        self.sides.add(side)
        service.register_event_time_timer(10_000 + value[2])
        service.register_event_time_timer(20_000)
        if self.due.value() is None:
            service.register_processing_time_timer(now + 3_600_000)
            self.due.update(now + 3_600_000)
        else:
            service.delete_processing_time_timer(self.due.value())
            service.delete_event_time_timer(20_000)
        service.register_processing_time_timer(now + 1)
        yield ctx.get_current_key(), "element", side
        time.sleep(0.1)

    def on_timer(self, timestamp, ctx):
        kind = ctx.time_domain().name
        if kind == "EVENT_TIME":
            yield ctx.get_current_key(), kind, timestamp, sorted(self.sides.get())
        else:
            now = ctx.timer_service().current_processing_time()
            yield ctx.get_current_key(), kind, timestamp <= now


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(0)
        ).with_timestamp_assigner(ByThird())
    )
    odd, even = events.filter(lambda e: e[1] % 2), events.filter(lambda e: e[1] % 2 == 0)
    both = odd.connect(even).key_by(lambda e: e[0], lambda e: e[0], Types.STRING())
    both.process(Both()).print()
    env.execute()


if __name__ == "__main__":
    main()
