"""Whether reading state makes it live longer: read when more than half of its time is over."""

# runs: each 1
# order: key
import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor

SECONDS = 24
STEPS = ["write", "read", "read"]
UPDATES = StateTtlConfig.UpdateType


class Kept(KeyedProcessFunction):
    """Its state lives longer than from one step to the next, and not as long as two of them."""

    def open(self, runtime_context):
        self.states = {}
        for update in (UPDATES.OnCreateAndWrite, UPDATES.OnReadAndWrite):
            value = ValueStateDescriptor(f"value {update.name}", Types.STRING())
            mapped = MapStateDescriptor(f"map {update.name}", Types.STRING(), Types.STRING())
            for each in (value, mapped):
                each.enable_time_to_live(
                    StateTtlConfig.new_builder(Time.seconds(SECONDS))
                    .set_update_type(update)
                    .build()
                )
            states = runtime_context.get_state(value), runtime_context.get_map_state(mapped)
            self.states[update.name] = states

    def process_element(self, step, ctx):
        for name, (value, mapped) in self.states.items():
            if step == "write":
                value.update("kept")
                mapped.put("key", "kept")
            yield name, step, value.value(), mapped.get("key")
        time.sleep(SECONDS * 0.55)


def main():
    configuration = Configuration()
    configuration.set_integer("python.state.cache-size", 0)  # else PyFlink does not see it expire
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    steps = env.from_collection(STEPS, Types.STRING())
    steps.key_by(lambda step: 0).process(Kept()).print()
    env.execute()


if __name__ == "__main__":
    main()
