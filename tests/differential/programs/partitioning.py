"""Partitioners: nothing is lost or doubled, whatever the way."""

from pyflink.common import Types
from pyflink.datastream import KeySelector, Partitioner, StreamExecutionEnvironment


class Modulo(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


class Key(KeySelector):
    def get_key(self, value):
        return value * 3


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection(list(range(8)), Types.INT()).map(lambda n: n, Types.INT())
    numbers.shuffle().print("shuffle")
    numbers.rebalance().map(lambda n: n + 1).print("rebalance")
    numbers.rescale().map(lambda n: n + 2).print("rescale")
    numbers.forward().map(lambda n: n + 3).print("forward")
    numbers.partition_custom(Modulo(), Key()).map(lambda n: n + 4).print("custom")
    numbers.partition_custom(lambda key, n: key % n, lambda n: n).map(lambda n: n + 5).print(
        "lambdas"
    )
    numbers.key_by(Key()).map(lambda n: n + 6).print("key selector")
    numbers.map(
        lambda n: (n, n % 3, "x"), Types.TUPLE([Types.INT(), Types.INT(), Types.STRING()])
    ).project(1, 0).print("project")
    env.execute()


if __name__ == "__main__":
    main()
