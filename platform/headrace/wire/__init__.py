"""What the driver and the control plane say to each other. Standard library only.

Everything of one attempt lives in its *run directory* (see `rundir`): the `spec` the control
plane writes before it launches the driver, the `journal` of `events` the driver appends to, and
the `commands` the control plane puts down for the driver to pick up.
"""
