"""Kafka: a sink whose micro-batches are distributed transactions.

One micro-batch is one transaction across all partitions and all sinks of a job:

    task     begin, write, prepare   `writer.TransactionalWriter`
    driver   manifest, commit        `committer.Committer`
    driver   recover                 `committer.Committer.recover`, steps in `recovery`

Tasks and driver exchange the small values of `messages`. `settings.SinkSettings` says what a
sink is. Everything is constructible from these values and the checkpoint directory, because
Spark runs commits in a Python worker that lives from batch to batch but keeps no objects.
"""
