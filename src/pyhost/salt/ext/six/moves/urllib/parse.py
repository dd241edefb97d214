"""urllib.parse of Python 3, under its name of both Pythons."""
import sys
import urllib.parse

sys.modules[__name__] = urllib.parse
