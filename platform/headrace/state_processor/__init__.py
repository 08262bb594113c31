"""State of checkpoints, read offline; after Flink's State Processor API
(`org.apache.flink.state.api`), which PyFlink does not have."""

from headrace.state_processor.savepoint_reader import OperatorState, SavepointReader

__all__ = ["OperatorState", "SavepointReader"]
