"""Example jobs, and the data they run on."""
