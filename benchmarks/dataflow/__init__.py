"""The DataStream runtime on Spark: what a record costs in programs of several kinds."""
