"""Why drivers end by themselves, and which of these ends the next start overcomes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

#: After these an operator has to look: none of the faults may lead there.
FATAL = {
    "ChangedRecords",
    "OutcomeUnknown",
    "InvalidSettings",
    "CommitRefused",
    "CheckpointReplaced",
    "MarkersBlocked",
    "InvalidRecord",
    "PrefixInUse",
    "UnknownTopic",
    "DataLost",
    # Spark's own Kafka source
    "KAFKA_DATA_LOSS",
    "KafkaIllegalStateException",
}
#: What a driver that was replaced ends with, though another attempt would meet it again.
REPLACED = "SecondDriver"
UNKNOWN = "unknown"
#: Those that the next start overcomes.
OVERCOME = {
    "SecondDriver",
    "CommitIncomplete",
    "WriteFailed",
    "ProducerUnavailable",
    "ClusterUnreachable",
    "TransactionLost",
    "CONCURRENT_STREAM_LOG_UPDATE",
}
#: What Spark makes of any of them.
_WRAPPING = {
    "EOFException",
    "Py4JError",
    "Py4JNetworkError",
    "PythonException",
    "SparkException",
    "StreamingQueryException",
}
_ERROR = re.compile(rf"\b({'|'.join(sorted(FATAL | OVERCOME | _WRAPPING))})\b")


@dataclass(frozen=True)
class End:
    """Why an attempt ended by itself."""

    error: str
    #: Whether the next start overcomes it. Otherwise an operator has to look.
    overcome: bool


def error_in(log: str) -> str:
    """The class of the error that an attempt ended with, as its log tells: the sink's own rather
    than those that Spark wraps it in."""
    found = _ERROR.findall(log)
    fatal = [each for each in found if each in FATAL]
    own = [each for each in found if each not in _WRAPPING]
    for candidates in (fatal, own, found):
        if candidates:
            return str(Counter(candidates).most_common(1)[0][0])
    return UNKNOWN
