"""Libraries that Salt brought along, for files of those years."""
