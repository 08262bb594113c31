"""PyFlink's `pyflink.datastream.formats`."""
