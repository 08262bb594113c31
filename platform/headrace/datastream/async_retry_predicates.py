"""PyFlink's `pyflink.datastream.async_retry_predicates`: predicates for retry strategies."""

from __future__ import annotations

from headrace.datastream.async_functions import ExceptionPredicate, ResultPredicate


def _is_empty(result: list[object]) -> bool:
    return not result


def _has_failed(exception: Exception | None) -> bool:
    return exception is not None


#: True for a result without outputs.
empty_result_predicate: ResultPredicate = _is_empty
#: True for any exception.
has_exception_predicate: ExceptionPredicate = _has_failed


def exception_type_predicate(exception_type: type[Exception]) -> ExceptionPredicate:
    """True for exceptions of a type."""
    return lambda exception: isinstance(exception, exception_type)
