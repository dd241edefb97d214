"""The execution module test, as files import it."""
from salt.modules._by_program import getter

__getattr__ = getter("test")
