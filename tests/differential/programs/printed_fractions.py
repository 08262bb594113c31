"""Times finer than a millisecond, straight from the source."""

# runs: whole 1
import datetime

from pyflink.common import Instant, Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([Instant(5, 6)], Types.INSTANT()).print("instant")
    moment = datetime.datetime(2000, 1, 1, 0, 0, 0, 123456)
    env.from_collection([moment], Types.SQL_TIMESTAMP()).print("timestamp")
    env.execute()


if __name__ == "__main__":
    main()
