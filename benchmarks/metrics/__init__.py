"""What metrics cost: being recorded, kept, and asked for."""
