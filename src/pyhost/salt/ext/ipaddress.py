"""ipaddress of Python 3, under the name of its copy."""
import ipaddress
import sys

sys.modules[__name__] = ipaddress
