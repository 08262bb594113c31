"""Connected streams: CoMap, CoFlatMap and CoProcess functions, keyed and not."""

from pyflink.common import Types
from pyflink.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor


class CoMap(CoMapFunction):
    def map1(self, value):
        return f"one {value}"

    def map2(self, value):
        return f"two {value}"


class CoFlat(CoFlatMapFunction):
    def flat_map1(self, value):
        yield value, 1
        yield value, 1

    def flat_map2(self, value):
        for each in value[1:]:
            yield value[0], each


class CoProcess(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield "left", value, ctx.timestamp()

    def process_element2(self, value, ctx):
        yield "right", value, ctx.timestamp()


class Collect(KeyedCoProcessFunction):
    """All of both sides of a key, when the input ends."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.INT()))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", Types.STRING()))

    def process_element1(self, value, ctx):
        self.left.add(value)
        ctx.timer_service().register_event_time_timer(1000)

    def process_element2(self, value, ctx):
        self.right.add(value[1])
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), sorted(self.left.get()), sorted(self.right.get()), timestamp


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3, 4], Types.INT())
    words = env.from_collection(
        [(0, "even"), (1, "odd"), (1, "uneven"), (5, "none")],
        Types.TUPLE([Types.INT(), Types.STRING()]),
    )
    numbers.connect(words).map(CoMap(), Types.STRING()).print("map")
    numbers.connect(words).flat_map(CoFlat()).print("flat_map")
    numbers.connect(words).process(CoProcess()).print("process")
    numbers.connect(words).key_by(lambda n: n % 2, lambda w: w[0]).map(CoMap()).print("keyed map")
    keyed = numbers.key_by(lambda n: n % 2, Types.INT()).connect(
        words.key_by(lambda w: w[0], Types.INT())
    )
    keyed.process(Collect()).print("keyed process")
    keyed.flat_map(CoFlat()).print("keyed flat_map")
    env.execute()


if __name__ == "__main__":
    main()
