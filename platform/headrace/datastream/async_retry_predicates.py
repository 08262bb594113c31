"""PyFlink's `pyflink.datastream.async_retry_predicates`: predicates for retry strategies."""

from __future__ import annotations


def empty_result_predicate(result: list[object] | None) -> bool:
    """A result without outputs."""
    return not result


def has_exception_predicate(error: Exception | None) -> bool:
    """Any exception."""
    return error is not None


def exception_type_predicate(
    error: Exception | None, expected_error_type: type[Exception] | tuple[type[Exception], ...]
) -> bool:
    """Exceptions of a type; a strategy takes it as
    `functools.partial(exception_type_predicate, expected_error_type=...)`."""
    return isinstance(error, expected_error_type)
