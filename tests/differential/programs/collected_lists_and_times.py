"""Lists and timestamps from execute_and_collect."""

# runs: whole 1
import datetime

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

VALUES = {
    "list": (Types.LIST(Types.INT()), [[1, 2]]),
    "timestamp": (Types.SQL_TIMESTAMP(), [datetime.datetime(2024, 2, 29, 12, 30, 15, 123000)]),
}


def main():
    for name, (type_info, values) in VALUES.items():
        env = StreamExecutionEnvironment.get_execution_environment()
        try:
            with env.from_collection(values, type_info).execute_and_collect() as results:
                print(name, [repr(value) for value in results])
        except Exception:
            print(name, "fails")


if __name__ == "__main__":
    main()
