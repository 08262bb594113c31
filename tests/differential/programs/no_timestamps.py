"""Event-time windows without timestamps."""

# runs: whole 1
from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2], Types.INT())
    numbers.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(
        lambda a, b: a + b
    ).print()
    try:
        env.execute()
        print("runs")
    except Exception:
        print("fails")


if __name__ == "__main__":
    main()
