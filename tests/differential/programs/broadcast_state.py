"""The broadcast state pattern, keyed and not, whichever side comes first."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Buffered(KeyedBroadcastProcessFunction):
    """Elements wait for the end of input, and meet all rules."""

    def open(self, runtime_context):
        self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.INT()))

    def process_element(self, value, ctx):
        self.waiting.add(value[1])
        ctx.timer_service().register_event_time_timer(10)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        rules = sorted(ctx.get_broadcast_state(RULES).items())
        yield ctx.get_current_key(), sorted(self.waiting.get()), rules


class Marked(BroadcastProcessFunction):
    """Says what of the broadcast side it was given."""

    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        yield "element", value[1], all(state.contains(name) for name in list(state.keys()))

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        state.put(value[0], value[1])
        if value[0] == "y":
            state.remove("y")
        yield "rule", value[0], state.get(value[0]), state.contains("z")


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    pairs = env.from_collection(
        [("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()])
    )
    rules = env.from_collection(
        [("x", 10), ("y", 20), ("x", 11)], Types.TUPLE([Types.STRING(), Types.INT()])
    )
    pairs.key_by(lambda p: p[0]).connect(rules.broadcast(RULES)).process(Buffered()).print("keyed")
    pairs.connect(rules.broadcast(RULES)).process(Marked()).print("plain")
    env.execute()


if __name__ == "__main__":
    main()
