"""urllib.request of Python 3, under its name of both Pythons."""
import sys
import urllib.request

sys.modules[__name__] = urllib.request
