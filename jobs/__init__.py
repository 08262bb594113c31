"""What is known about jobs: their tables, the only code that writes them, REST and admin."""
