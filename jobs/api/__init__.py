"""REST under /api/."""
