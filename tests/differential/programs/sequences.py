"""Number sequences as a source."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    source = NumberSequenceSource(1, 10)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    numbers.print("numbers")
    numbers.map(lambda n: n * n, Types.LONG()).print("squares")
    numbers.key_by(lambda n: n % 2 == 0).reduce(lambda a, b: a + b).map(lambda n: n > 0).print(
        "sum"
    )
    env.execute()


if __name__ == "__main__":
    main()
