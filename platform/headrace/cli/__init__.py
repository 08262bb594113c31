"""The command `headrace`: Flink's verbs over the REST API. Standard library only."""
