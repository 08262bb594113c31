"""Differences that are meant, and PyFlink's own mistakes: program -> why.

A program is here as a whole: what it holds beside the difference belongs into another one."""

INTENDED = {
    "batch_windows": "PyFlink drops the first record of each key but the first one's: it takes it "
    "for late, by the watermark at which the key before it ended",
    "big_ints": "PyFlink fails: it writes a BIG_INT in 64 bits",
    "collected_lists_and_times": "PyFlink fails on both",
    "conversions_refused": "PyFlink fails; here a sequence of another kind is taken, if its values "
    "fit",
    "key_errors": "a function that keeps nothing by key is not partitioned for, so its key is not "
    "asked for",
    "metric_counts": "PyFlink's counters begin anew with each bundle",
    "operator_parallelism": "a job has one parallelism; an operator's own shows in plans and "
    "prints only",
    "plan": "PyFlink shows operators of its own (keys are computed by one), the sink's kind before "
    "its name and always the second side; here nodes have uid, chain and level beside",
    "printed_arrays": "PyFlink prints where the array is in memory",
    "printed_bytes": "PyFlink fails",
    "printed_fractions": "PyFlink cuts what comes straight from a collection to milliseconds",
    "printed_source_lists": "PyFlink fails",
    "row_equality": "here rows are equal by their values, and types of rows by names as well; in "
    "PyFlink it is the other way round",
    "schemas_taken": "PyFlink cuts 1.5 to a whole number, takes for false what is no Boolean and "
    "passes over what follows the JSON; here these fail, and more ways to write times and empty "
    "cells are taken",
    "state_put_all": "PyFlink fails on a dict and takes pairs; here both are taken",
    "stream_names": "here a source's name begins with what it is, as in plans; a stream without a "
    "declared type has none, and that of a keyed stream has no key in it",
    "timers_at_the_end": "PyFlink loses timers that timers register at the end of input; Flink "
    "fires them",
    "triggers_continuous_jumps": "PyFlink fires a timer that a timer registers for a time that is "
    "over with the next watermark, or never; Flink fires it at once",
    "watermarks_before_keys": "in front of the first exchange functions do not know the watermark",
    "windows_session_between": "PyFlink loses values where a record makes two sessions one",
    "wrong_programs_taken": "refused here where they are said, not when the job runs; `iterate` is "
    "there",
    "wrong_types_taken": "PyFlink cuts it to a whole number",
}

#: As INTENDED, of one executor alone.
ALONE: dict[str, dict[str, str]] = {"spark": {}, "in-process": {}}


def reason(program: str, executor: str) -> str | None:
    """Why the program's results differ, where it is known."""
    return INTENDED.get(program) or ALONE[executor].get(program)


def listed(executor: str) -> set[str]:
    """Programs that are expected to differ."""
    return {*INTENDED, *ALONE[executor]}
