"""The Kafka sink beside Spark's own: throughput, CPU, cost of small batches, latency."""
