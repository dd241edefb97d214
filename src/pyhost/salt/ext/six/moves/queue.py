"""queue of Python 3, under its name of both Pythons."""
import sys

import queue

sys.modules[__name__] = sys.modules["queue"]
