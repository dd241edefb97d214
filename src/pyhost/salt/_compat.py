"""Libraries that moved between versions of Python."""
import importlib.metadata as importlib_metadata  # noqa: F401
import ipaddress  # noqa: F401
import subprocess  # noqa: F401
import sys  # noqa: F401
import xml.etree.ElementTree as ElementTree  # noqa: F401
from io import StringIO  # noqa: F401

metadata = importlib_metadata
entry_points = importlib_metadata.entry_points
version = importlib_metadata.version
string_types, text_type = (str,), str
