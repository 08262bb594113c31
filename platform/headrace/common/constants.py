"""PyFlink's `pyflink.common.constants`."""

#: Of a `long`: the watermark behind which nothing comes, and the one before anything has come.
MAX_LONG_VALUE = (1 << 63) - 1
MIN_LONG_VALUE = -(1 << 63)
