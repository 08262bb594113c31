"""PyFlink's `pyflink.datastream`.

Names are imported when they are first asked for: the runtime needs the function classes of this
package without the environment, which itself needs the runtime.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.datastream.checkpointing_mode import CheckpointingMode
    from headrace.datastream.connectors.base import DeliveryGuarantee
    from headrace.datastream.data_stream import (
        DataStream,
        DataStreamSink,
        KeyedStream,
        WindowedStream,
    )
    from headrace.datastream.functions import (
        AggregateFunction,
        FilterFunction,
        FlatMapFunction,
        Function,
        KeyedProcessFunction,
        KeySelector,
        MapFunction,
        ProcessFunction,
        ProcessWindowFunction,
        ReduceFunction,
        RuntimeContext,
        TimerService,
        WindowFunction,
    )
    from headrace.datastream.output_tag import OutputTag
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.window import (
        EventTimeTrigger,
        SlidingEventTimeWindows,
        TimeWindow,
        Trigger,
        TriggerResult,
        TumblingEventTimeWindows,
        WindowAssigner,
    )

_MODULES = {
    "headrace.datastream.checkpointing_mode": ("CheckpointingMode",),
    "headrace.datastream.connectors.base": ("DeliveryGuarantee",),
    "headrace.datastream.data_stream": (
        "DataStream",
        "DataStreamSink",
        "KeyedStream",
        "WindowedStream",
    ),
    "headrace.datastream.functions": (
        "AggregateFunction",
        "FilterFunction",
        "FlatMapFunction",
        "Function",
        "KeyedProcessFunction",
        "KeySelector",
        "MapFunction",
        "ProcessFunction",
        "ProcessWindowFunction",
        "ReduceFunction",
        "RuntimeContext",
        "TimerService",
        "WindowFunction",
    ),
    "headrace.datastream.output_tag": ("OutputTag",),
    "headrace.datastream.stream_execution_environment": ("StreamExecutionEnvironment",),
    "headrace.datastream.window": (
        "EventTimeTrigger",
        "SlidingEventTimeWindows",
        "TimeWindow",
        "Trigger",
        "TriggerResult",
        "TumblingEventTimeWindows",
        "WindowAssigner",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    try:
        module = _HOME[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return getattr(importlib.import_module(module), name)


__all__ = [
    "AggregateFunction",
    "CheckpointingMode",
    "DataStream",
    "DataStreamSink",
    "DeliveryGuarantee",
    "EventTimeTrigger",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "OutputTag",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SlidingEventTimeWindows",
    "StreamExecutionEnvironment",
    "TimeWindow",
    "TimerService",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "WindowAssigner",
    "WindowFunction",
    "WindowedStream",
]
