"""Functions that raise: the job fails, and nothing else does."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Bad(ProcessFunction):
    def process_element(self, value, ctx):
        yield value["no such"]


class BadOpen(KeyedProcessFunction):
    def open(self, runtime_context):
        raise RuntimeError("cannot open")

    def process_element(self, value, ctx):
        yield value


class BadTimer(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        raise ValueError(timestamp)


def try_out(name, build):
    env = StreamExecutionEnvironment.get_execution_environment()
    try:
        build(env.from_collection([0, 1], Types.INT())).print(name)
        env.execute()
        print(name, "runs")
    except Exception as error:
        text = str(error)
        kinds = (
            "ZeroDivisionError",
            "TypeError",
            "RuntimeError: cannot open",
            "ValueError",
            "AttributeError",
        )
        print(name, "fails with", [kind for kind in kinds if kind in text][:1])


def main():
    try_out("map", lambda s: s.map(lambda n: 1 // n if n < 1 else n))
    try_out("process", lambda s: s.process(Bad()))
    try_out("open", lambda s: s.key_by(lambda n: n).process(BadOpen()))
    try_out("timer", lambda s: s.key_by(lambda n: n).process(BadTimer()))
    try_out("key", lambda s: s.key_by(lambda n: 1 // n).reduce(lambda a, b: a))
    try_out("attribute", lambda s: s.map(lambda n: n.missing))


if __name__ == "__main__":
    main()
