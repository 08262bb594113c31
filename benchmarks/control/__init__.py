"""The control plane at scale: many jobs, many TaskManagers, drivers without Spark."""
