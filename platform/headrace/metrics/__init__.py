"""What functions measure of themselves; PyFlink's `pyflink.metrics`."""

from headrace.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
