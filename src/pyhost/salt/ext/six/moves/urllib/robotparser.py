"""urllib.robotparser of Python 3, under its name of both Pythons."""
import sys
import urllib.robotparser

sys.modules[__name__] = urllib.robotparser
