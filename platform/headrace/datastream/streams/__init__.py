"""The kinds of stream, a module each; `headrace.datastream.data_stream` has all their names."""
