"""Window join, coGroup and interval join beside the same written out: PyFlink has none of them."""

# runs: whole 1, whole 2
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    DataStream,
    KeyedCoProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor
from pyflink.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

try:
    from pyflink.datastream.functions import CoGroupFunction, ProcessJoinFunction
except ImportError:
    CoGroupFunction = ProcessJoinFunction = object

LEFT = [("a", 1, 0), ("b", 2, 500), ("a", 3, 999), ("a", 4, 1000), ("b", 5, 2500), ("c", 6, 3000)]
RIGHT = [("a", 10, 100), ("b", 20, 2400), ("a", 30, 1500), ("a", 40, 3000), ("d", 50, 3000)]
LOWER, UPPER = -500, 600


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Sides(ProcessWindowFunction):
    """Of pairs (side, element): all left with all right ones, or both sides as they are."""

    def __init__(self, grouped):
        self.grouped = grouped

    def process(self, key, context, elements):
        sides = [], []
        for side, element in elements:
            sides[side].append(element[1])
        if self.grouped:
            yield sorted(sides[0]), sorted(sides[1])
        else:
            yield from ((left, right) for left in sides[0] for right in sides[1])


class Near(KeyedCoProcessFunction):
    def open(self, runtime_context):
        triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
        self.sides = [
            runtime_context.get_list_state(ListStateDescriptor(name, triple))
            for name in ("left", "right")
        ]

    def process_element1(self, value, ctx):
        self.sides[0].add(value)
        for other in self.sides[1].get() or []:
            if LOWER <= other[2] - value[2] <= UPPER:
                yield value[1], other[1]

    def process_element2(self, value, ctx):
        self.sides[1].add(value)
        for other in self.sides[0].get() or []:
            if LOWER <= value[2] - other[2] <= UPPER:
                yield other[1], value[1]


class Groups(CoGroupFunction):
    def co_group(self, first, second):
        yield sorted(each[1] for each in first), sorted(each[1] for each in second)


class Pairs(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left[1], right[1]


def written_out(left, right, windows, grouped):
    both = left.map(lambda e: (0, e)).union(right.map(lambda e: (1, e)))
    return both.key_by(lambda pair: pair[1][0]).window(windows).process(Sides(grouped))


def joined(left, right, windows):
    if not hasattr(DataStream, "join"):
        return written_out(left, right, windows, False)
    keyed = left.join(right).where(lambda e: e[0]).equal_to(lambda e: e[0])
    return keyed.window(windows).apply(lambda x, y: (x[1], y[1]))


def grouped(left, right, windows):
    if not hasattr(DataStream, "co_group"):
        return written_out(left, right, windows, True)
    keyed = left.co_group(right).where(lambda e: e[0]).equal_to(lambda e: e[0])
    return keyed.window(windows).apply(Groups())


def near(left, right):
    left, right = left.key_by(lambda e: e[0]), right.key_by(lambda e: e[0])
    if not hasattr(type(left), "interval_join"):
        return left.connect(right).process(Near())
    bounded = left.interval_join(right).between(LOWER, UPPER)
    return bounded.process(Pairs())


def main():
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(
        Duration.of_millis(0)
    ).with_timestamp_assigner(ByThird())
    left, right = (
        env.from_collection(events, triple).assign_timestamps_and_watermarks(strategy)
        for events in (LEFT, RIGHT)
    )
    tumbling = TumblingEventTimeWindows.of(Time.seconds(1))
    sliding = SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1))
    sessions = EventTimeSessionWindows.with_gap(Time.milliseconds(600))
    for name, windows in {"tumbling": tumbling, "sliding": sliding, "sessions": sessions}.items():
        joined(left, right, windows).print(f"{name} join")
        grouped(left, right, windows).print(f"{name} coGroup")
    near(left, right).print("interval join")
    env.execute()


if __name__ == "__main__":
    main()
