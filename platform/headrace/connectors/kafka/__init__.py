"""Kafka: a sink whose micro-batches are distributed transactions.

It takes part in the two-phase commit of `headrace.connectors.twophase`:

    task     begin, write, prepare   `writer.TransactionalWriter`
    driver   commit, abort, recover  `participant.KafkaParticipant`, through `committer.Committer`

Tasks and driver exchange the small values of `messages`. `settings.SinkSettings` says what a
sink is.
"""
