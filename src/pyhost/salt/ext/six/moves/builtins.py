"""builtins of Python 3, under its name of both Pythons."""
import sys

import builtins

sys.modules[__name__] = sys.modules["builtins"]
