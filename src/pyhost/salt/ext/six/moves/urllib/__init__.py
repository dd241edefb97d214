"""The parts of urllib."""
from urllib import error, parse, request, response, robotparser  # noqa: F401
