"""configparser of Python 3, under its name of both Pythons."""
import sys

import configparser

sys.modules[__name__] = sys.modules["configparser"]
