"""The execution module network, as files import it."""
from salt.modules._by_program import getter

__getattr__ = getter("network")
