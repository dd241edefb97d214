"""Clients of the master and of the minion's functions."""
from salt.client._caller import Caller, ProxyCaller  # noqa: F401
from salt.client._local_client import LocalClient, get_local_client  # noqa: F401
