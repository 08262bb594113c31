"""What runs at the nodes of a job: operators that know nothing of Spark."""
