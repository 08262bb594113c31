"""PostgreSQL: a partition of a micro-batch is a prepared transaction.

`sink.PostgresSink` is a `twophase.sink.TwoPhaseCommitSink`; `statement` reads JDBC's SQL, `server`
holds the connections and asks about prepared transactions and the marker table. Needs psycopg 3:
the extra `headrace[postgres]`.
"""
