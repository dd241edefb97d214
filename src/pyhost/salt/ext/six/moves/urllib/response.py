"""urllib.response of Python 3, under its name of both Pythons."""
import sys
import urllib.response

sys.modules[__name__] = urllib.response
