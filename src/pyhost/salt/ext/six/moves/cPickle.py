"""pickle of Python 3, under its name of both Pythons."""
import sys

import pickle

sys.modules[__name__] = sys.modules["pickle"]
