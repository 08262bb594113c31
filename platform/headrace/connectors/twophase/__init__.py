"""The two-phase commit of a job's micro-batches, whatever systems its sinks write to.

One micro-batch is one distributed transaction across all partitions and all sinks of a job:

    task     begin, write, prepare    a `SinkWriter` of each sink
    driver   manifest, commit         `committer.Committer`
    driver   recover                  `committer.Committer.recover`, steps in `recovery`

Tasks and driver exchange the small values of `messages`. What differs from system to system is
behind `participant.Participant` (the driver's side) and `participant.SinkWriter` (the task's).
Kafka has its own; files, PostgreSQL and what users write are `sink.TwoPhaseCommitSink`s.
Everything is constructible from small values and the checkpoint directory, because Spark runs
commits in a Python worker that lives from batch to batch but keeps no objects.
"""
