"""The same programs on PyFlink and on Headrace, and how their results differ."""
