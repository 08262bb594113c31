"""A job graph on Spark: compiled, run, checkpointed, reported.

`transformations` is what the API builds; `compiler` makes a `program` of it; `host` and
`operators` run it (without knowing Spark); `spark_query` puts it on Spark; `driver` is the
process the platform launches.
"""
