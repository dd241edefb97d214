"""Whether values are what they should be."""
