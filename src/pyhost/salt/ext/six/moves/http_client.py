"""http.client of Python 3, under its name of both Pythons."""
import sys

import http.client

sys.modules[__name__] = sys.modules["http.client"]
