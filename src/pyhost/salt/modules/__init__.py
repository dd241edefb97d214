"""Execution modules that files import."""
