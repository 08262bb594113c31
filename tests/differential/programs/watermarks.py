"""Watermarks: strategies, out of orderness, re-assignment, what process functions see."""

# runs: each 1
# order: all
from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment

EVENTS = [("a", 1, 1000), ("b", 2, 500), ("c", 3, 3000), ("d", 4, 2500), ("e", 5, 9000)]


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Later(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 10


class Look(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp(), ctx.timer_service().current_watermark()


def main():
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])

    def run(*strategies):
        env = StreamExecutionEnvironment.get_execution_environment()
        events = env.from_collection(EVENTS, triple)
        for each in strategies:
            events = events.assign_timestamps_and_watermarks(each)
        events.key_by(lambda e: 0).process(Look()).print()
        env.execute()

    run()
    run(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird()))
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    run(bounded.with_timestamp_assigner(ByThird()))
    run(bounded.with_idleness(Duration.of_hours(1)).with_timestamp_assigner(ByThird()))
    run(WatermarkStrategy.no_watermarks().with_timestamp_assigner(ByThird()))
    run(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByThird()),
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(5)
        ).with_timestamp_assigner(Later()),
    )


if __name__ == "__main__":
    main()
