"""Timers that timers register at the end of input."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Chain(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)

    def on_timer(self, timestamp, ctx):
        yield timestamp
        if timestamp < 3:
            ctx.timer_service().register_event_time_timer(timestamp + 1)


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1], Types.INT()).key_by(lambda n: 0).process(Chain()).print()
    env.execute()


if __name__ == "__main__":
    main()
