"""urllib.error of Python 3, under its name of both Pythons."""
import sys
import urllib.error

sys.modules[__name__] = urllib.error
