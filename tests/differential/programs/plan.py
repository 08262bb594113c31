"""The execution plan as JSON: its nodes, what they are called and how they are connected."""

import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(["a", "b"], Types.STRING())
    pairs = (
        words.map(lambda w: (w, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .name("Pair")
        .uid("pair")
    )
    counts = pairs.key_by(lambda p: p[0]).reduce(lambda x, y: (x[0], x[1] + y[1])).name("Count")
    counts.filter(lambda p: p[1] > 1).set_parallelism(1).print().name("Out")
    plan = json.loads(env.get_execution_plan())
    print(sorted(plan))
    nodes = {node["id"]: node for node in plan["nodes"]}
    print(sorted({key for node in plan["nodes"] for key in node}))
    for node in plan["nodes"]:
        inputs = [
            (nodes[p["id"]]["type"], p["ship_strategy"], p["side"])
            for p in node.get("predecessors", [])
        ]
        print(node["type"], node["pact"], node["contents"], node["parallelism"], inputs)


if __name__ == "__main__":
    main()
