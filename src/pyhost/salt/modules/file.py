"""The execution module file, as files import it."""
from salt.modules._by_program import getter

__getattr__ = getter("file")
