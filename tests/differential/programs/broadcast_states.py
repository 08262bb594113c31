"""Several broadcast states, changed and cleared, in functions with timers and side outputs."""

# runs: whole 1, whole 2
from pyflink.common import Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

NUMBERS = MapStateDescriptor("numbers", Types.STRING(), Types.INT())
NAMES = MapStateDescriptor("names", Types.INT(), Types.STRING())
RULES = [("x", 1), ("y", 2), ("x", 3), ("clear", 0), ("z", 4), ("y", 5), ("z", -1)]


def changed(rule, ctx):
    name, number = rule
    numbers, names = ctx.get_broadcast_state(NUMBERS), ctx.get_broadcast_state(NAMES)
    if name == "clear":
        numbers.clear()
    elif number < 0:
        numbers.remove(name)
    else:
        numbers.put(name, number)
    names.put(number, name)
    return numbers, names


class Keyed(KeyedBroadcastProcessFunction):
    """What the rules are at the end, and one count for each key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(5)
        yield noticed(), f"{ctx.get_current_key()} {value[1]}"

    def process_broadcast_element(self, value, ctx):
        changed(value, ctx)

    def on_timer(self, timestamp, ctx):
        numbers, names = ctx.get_broadcast_state(NUMBERS), ctx.get_broadcast_state(NAMES)
        yield (
            ctx.get_current_key(),
            self.count.value(),
            sorted(numbers.items()),
            sorted(names.keys()),
            "x" in numbers,
            names.get(99),
        )


class Plain(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield "element", value

    def process_broadcast_element(self, value, ctx):
        numbers, names = changed(value, ctx)
        yield noticed(), f"{sorted(numbers.items())} {numbers.is_empty()} {sorted(names.values())}"


def noticed():
    return OutputTag("noticed", Types.STRING())


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4)], pair)
    rules = env.from_collection(RULES, pair).broadcast(NUMBERS, NAMES)
    keyed = pairs.key_by(lambda p: p[0], Types.STRING()).connect(rules).process(Keyed())
    plain = pairs.connect(rules).process(Plain())
    for name, stream in {"keyed": keyed, "plain": plain}.items():
        stream.print(name)
        stream.get_side_output(noticed()).print(f"{name} noticed")
    env.execute()


if __name__ == "__main__":
    main()
