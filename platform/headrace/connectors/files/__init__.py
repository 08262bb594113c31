"""Files: hidden until their batch is committed, then renamed.

`sink.FileSink` is a `twophase.sink.TwoPhaseCommitSink`; `staging` has its states on disk, `formats`
what is in a file, `buckets` the folder of a record.
"""
