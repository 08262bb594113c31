"""How long the pages take with a full database."""
