"""State modules."""
