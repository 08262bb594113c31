"""Windows, assigners, triggers and evictors, by kind; `headrace.datastream.window` has them all
under PyFlink's path."""
