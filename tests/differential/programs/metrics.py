"""Metrics of functions: counters, gauges, meters and distributions can be used."""

# runs: whole 1
from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Measured(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group().add_group("mine").add_group("kind", "value")
        self.counter = group.counter("counter")
        self.meter = group.meter("meter", 120)
        self.distribution = group.distribution("distribution")
        group.gauge("gauge", lambda: 5)

    def map(self, value):
        self.counter.inc(value)
        self.counter.dec()
        self.meter.mark_event(value)
        self.distribution.update(value)
        return value


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1, 2, 3], Types.INT()).map(Measured()).print()
    env.execute()


if __name__ == "__main__":
    main()
