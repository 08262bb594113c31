"""What runs jobs: JobManager, TaskManagers, the launcher of drivers."""
