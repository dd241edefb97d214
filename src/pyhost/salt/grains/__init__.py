"""The minion's own grains."""
