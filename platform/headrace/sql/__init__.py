"""SQL scripts in Flink's dialect, run by Spark: `statements` reads them, `dialect` turns their
queries into Spark's, `sources` and `sinks` are the tables they name."""
