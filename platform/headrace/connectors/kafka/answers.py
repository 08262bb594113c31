"""What a broker's answer to EndTxn or InitProducerId asks of the driver."""

from __future__ import annotations

from enum import Enum, auto


class Answer(Enum):
    """By what must be done next."""

    #: The transaction ended as asked (or had before).
    DONE = auto()
    #: As DONE, and it was asked for once: no request is on its way any more.
    DONE_ONCE = auto()
    #: The coordinator moves, loads or is busy, or nobody answered: ask again.
    RETRY = auto()
    #: This producer's transaction is no longer open under this id and epoch: ended before, timed
    #: out, or fenced. Only its batch marker tells which.
    GONE = auto()
    #: Asking again changes nothing.
    REFUSED = auto()


#: Kafka's error codes by name; a code that is not listed is REFUSED.
_ANSWERS: dict[int, tuple[str, Answer]] = {
    -2: ("NOT_OPEN", Answer.RETRY),
    0: ("NONE", Answer.DONE),
    6: ("NOT_LEADER_OR_FOLLOWER", Answer.RETRY),
    7: ("REQUEST_TIMED_OUT", Answer.RETRY),
    13: ("NETWORK_EXCEPTION", Answer.RETRY),
    14: ("COORDINATOR_LOAD_IN_PROGRESS", Answer.RETRY),
    15: ("COORDINATOR_NOT_AVAILABLE", Answer.RETRY),
    16: ("NOT_COORDINATOR", Answer.RETRY),
    19: ("NOT_ENOUGH_REPLICAS", Answer.RETRY),
    20: ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", Answer.RETRY),
    29: ("TOPIC_AUTHORIZATION_FAILED", Answer.REFUSED),
    31: ("CLUSTER_AUTHORIZATION_FAILED", Answer.REFUSED),
    47: ("INVALID_PRODUCER_EPOCH", Answer.GONE),
    48: ("INVALID_TXN_STATE", Answer.GONE),
    49: ("INVALID_PRODUCER_ID_MAPPING", Answer.GONE),
    50: ("INVALID_TRANSACTION_TIMEOUT", Answer.REFUSED),
    51: ("CONCURRENT_TRANSACTIONS", Answer.RETRY),
    53: ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", Answer.REFUSED),
    59: ("UNKNOWN_PRODUCER_ID", Answer.GONE),
    89: ("THROTTLING_QUOTA_EXCEEDED", Answer.RETRY),
    90: ("PRODUCER_FENCED", Answer.GONE),
    105: ("TRANSACTIONAL_ID_NOT_FOUND", Answer.GONE),
    120: ("TRANSACTION_ABORTABLE", Answer.GONE),
}

#: Not a code of Kafka's: no connection, or no answer in time.
UNANSWERED = 13
#: Nor is this: NONE, though no transaction of this producer id and epoch was open. Ours was
#: committed earlier; or the one before it was, and a deposed coordinator has not heard of ours.
NOT_OPEN = -2


def classify(code: int, *, again: bool = True) -> Answer:
    """`again`: it was asked for before, and the answer may be to that."""
    known = _ANSWERS[code][1] if code in _ANSWERS else Answer.REFUSED
    return Answer.DONE_ONCE if known is Answer.DONE and not again else known


def name(code: int) -> str:
    return _ANSWERS[code][0] if code in _ANSWERS else f"error code {code}"
