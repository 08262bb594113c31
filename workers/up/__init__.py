"""`manage.py up`: everything on one machine, started, watched, and stopped in order.

machine     one `up` at a time, ports that are free or ours
servers     the user's own database, Kafka and Redis answer
account     the admin account and its password
services    which processes there are and how each starts
watch       starts again what has died
example     topics, replay and the example job
shutdown    jobs first, then the processes
terminal    what the user sees meanwhile
"""
