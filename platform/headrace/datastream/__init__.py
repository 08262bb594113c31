"""PyFlink's `pyflink.datastream`.

Names are imported when they are first asked for: the runtime needs the function classes of this
package without the environment, which itself needs the runtime.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.datastream.async_data_stream import AsyncDataStream
    from headrace.datastream.checkpoint_config import (
        CheckpointConfig,
        ExternalizedCheckpointCleanup,
    )
    from headrace.datastream.checkpoint_storage import (
        CheckpointStorage,
        CustomCheckpointStorage,
        FileSystemCheckpointStorage,
        JobManagerCheckpointStorage,
    )
    from headrace.datastream.checkpointing_mode import CheckpointingMode
    from headrace.datastream.connectors.base import DeliveryGuarantee
    from headrace.datastream.data_stream import (
        AllWindowedStream,
        BroadcastConnectedStream,
        BroadcastStream,
        CachedDataStream,
        CloseableIterator,
        ConnectedStreams,
        DataStream,
        DataStreamSink,
        KeyedStream,
        WindowedStream,
    )
    from headrace.datastream.execution_mode import RuntimeExecutionMode
    from headrace.datastream.externalized_checkpoint_retention import (
        ExternalizedCheckpointRetention,
    )
    from headrace.datastream.functions import (
        AggregateFunction,
        AllWindowFunction,
        AsyncFunction,
        AsyncRetryPredicate,
        AsyncRetryStrategy,
        BroadcastProcessFunction,
        CoFlatMapFunction,
        CoGroupFunction,
        CoMapFunction,
        CoProcessFunction,
        FilterFunction,
        FlatJoinFunction,
        FlatMapFunction,
        Function,
        JoinFunction,
        KeyedBroadcastProcessFunction,
        KeyedCoProcessFunction,
        KeyedProcessFunction,
        KeySelector,
        MapFunction,
        NullByteKeySelector,
        Partitioner,
        ProcessAllWindowFunction,
        ProcessFunction,
        ProcessJoinFunction,
        ProcessWindowFunction,
        ReduceFunction,
        RuntimeContext,
        TimerService,
        WindowFunction,
    )
    from headrace.datastream.output_tag import OutputTag
    from headrace.datastream.sink_function import SinkFunction, SourceFunction
    from headrace.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
    from headrace.datastream.state_backend import (
        CustomStateBackend,
        EmbeddedRocksDBStateBackend,
        HashMapStateBackend,
        PredefinedOptions,
        StateBackend,
    )
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.time_characteristic import TimeCharacteristic
    from headrace.datastream.time_domain import TimeDomain
    from headrace.datastream.window import (
        CountWindow,
        EventTimeTrigger,
        GlobalWindow,
        MergingWindowAssigner,
        SlidingEventTimeWindows,
        TimeWindow,
        Trigger,
        TriggerResult,
        TumblingEventTimeWindows,
        Window,
        WindowAssigner,
    )

_MODULES = {
    "headrace.datastream.async_data_stream": ("AsyncDataStream",),
    "headrace.datastream.checkpoint_config": ("CheckpointConfig", "ExternalizedCheckpointCleanup"),
    "headrace.datastream.checkpoint_storage": (
        "CheckpointStorage",
        "CustomCheckpointStorage",
        "FileSystemCheckpointStorage",
        "JobManagerCheckpointStorage",
    ),
    "headrace.datastream.checkpointing_mode": ("CheckpointingMode",),
    "headrace.datastream.connectors.base": ("DeliveryGuarantee",),
    "headrace.datastream.data_stream": (
        "AllWindowedStream",
        "BroadcastConnectedStream",
        "BroadcastStream",
        "CachedDataStream",
        "CloseableIterator",
        "ConnectedStreams",
        "DataStream",
        "DataStreamSink",
        "KeyedStream",
        "WindowedStream",
    ),
    "headrace.datastream.execution_mode": ("RuntimeExecutionMode",),
    "headrace.datastream.externalized_checkpoint_retention": ("ExternalizedCheckpointRetention",),
    "headrace.datastream.functions": (
        "AggregateFunction",
        "AllWindowFunction",
        "AsyncFunction",
        "AsyncRetryPredicate",
        "AsyncRetryStrategy",
        "BroadcastProcessFunction",
        "CoFlatMapFunction",
        "CoGroupFunction",
        "CoMapFunction",
        "CoProcessFunction",
        "FilterFunction",
        "FlatJoinFunction",
        "FlatMapFunction",
        "Function",
        "JoinFunction",
        "KeySelector",
        "KeyedBroadcastProcessFunction",
        "KeyedCoProcessFunction",
        "KeyedProcessFunction",
        "MapFunction",
        "NullByteKeySelector",
        "Partitioner",
        "ProcessAllWindowFunction",
        "ProcessFunction",
        "ProcessJoinFunction",
        "ProcessWindowFunction",
        "ReduceFunction",
        "RuntimeContext",
        "TimerService",
        "WindowFunction",
    ),
    "headrace.datastream.output_tag": ("OutputTag",),
    "headrace.datastream.sink_function": ("SinkFunction", "SourceFunction"),
    "headrace.datastream.slot_sharing_group": ("MemorySize", "SlotSharingGroup"),
    "headrace.datastream.state_backend": (
        "CustomStateBackend",
        "EmbeddedRocksDBStateBackend",
        "HashMapStateBackend",
        "PredefinedOptions",
        "StateBackend",
    ),
    "headrace.datastream.stream_execution_environment": ("StreamExecutionEnvironment",),
    "headrace.datastream.time_characteristic": ("TimeCharacteristic",),
    "headrace.datastream.time_domain": ("TimeDomain",),
    "headrace.datastream.window": (
        "CountWindow",
        "EventTimeTrigger",
        "GlobalWindow",
        "MergingWindowAssigner",
        "SlidingEventTimeWindows",
        "TimeWindow",
        "Trigger",
        "TriggerResult",
        "TumblingEventTimeWindows",
        "Window",
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
    "AllWindowFunction",
    "AllWindowedStream",
    "AsyncDataStream",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BroadcastConnectedStream",
    "BroadcastProcessFunction",
    "BroadcastStream",
    "CachedDataStream",
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "CloseableIterator",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "ConnectedStreams",
    "CountWindow",
    "CustomCheckpointStorage",
    "CustomStateBackend",
    "DataStream",
    "DataStreamSink",
    "DeliveryGuarantee",
    "EmbeddedRocksDBStateBackend",
    "EventTimeTrigger",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "FileSystemCheckpointStorage",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "Function",
    "GlobalWindow",
    "HashMapStateBackend",
    "JobManagerCheckpointStorage",
    "JoinFunction",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "MemorySize",
    "MergingWindowAssigner",
    "NullByteKeySelector",
    "OutputTag",
    "Partitioner",
    "PredefinedOptions",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "SinkFunction",
    "SlidingEventTimeWindows",
    "SlotSharingGroup",
    "SourceFunction",
    "StateBackend",
    "StreamExecutionEnvironment",
    "TimeCharacteristic",
    "TimeDomain",
    "TimeWindow",
    "TimerService",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "Window",
    "WindowAssigner",
    "WindowFunction",
    "WindowedStream",
]
