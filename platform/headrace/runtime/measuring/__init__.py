"""What a job does, from the tasks that do it to the figures that the platform keeps.

`counts` is filled in the tasks, a part for each stage and subtask, and travels in the batch's own
frames; `batch_counts` merges the parts when the batch is committed. In the driver `job_measures`
makes figures of them: `shape` knows the job's vertices, `totals` adds up, `pressure` tells busy
from idle and held back, `watermark_figures`, `latencies` and `lags` follow time.
"""
