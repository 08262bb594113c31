"""Alerts: `conditions` decides, `watch` reads rows and writes what was decided, `messages` and
`sending` tell people."""
