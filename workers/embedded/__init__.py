"""Servers that `manage.py up` brings along: Kafka, Redis, and the jars that Java needs.

No Django here: the tests use these modules without settings, and so may anything else.
"""
