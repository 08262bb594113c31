"""Processing-time timers and windows at the end of a bounded input: what is not due is dropped."""

# order: key
from pyflink.common import Time, Types
from pyflink.datastream import (
    KeyedProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import (
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    ProcessingTimeSessionWindows,
    TumblingProcessingTimeWindows,
)

PAIRS = [("a", 1), ("b", 2), ("a", 3)]


class Far(KeyedProcessFunction):
    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 3_600_000)
        yield value[0], "element", now > 1_600_000_000_000, ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "never"


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, sorted(each[1] for each in elements)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    keyed = env.from_collection(PAIRS, Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        lambda p: p[0]
    )
    keyed.process(Far()).print("timers")
    days = Time.days(10000)
    keyed.window(TumblingProcessingTimeWindows.of(days)).process(Numbers()).print("tumbling")
    keyed.window(ProcessingTimeSessionWindows.with_gap(days)).process(Numbers()).print("session")
    keyed.window(TumblingProcessingTimeWindows.of(days)).trigger(CountTrigger.of(2)).process(
        Numbers()
    ).print("count")
    continuous = ContinuousProcessingTimeTrigger.of(days)
    keyed.window(TumblingProcessingTimeWindows.of(days)).trigger(continuous).process(
        Numbers()
    ).print("continuous")
    env.execute()


if __name__ == "__main__":
    main()
