"""Addresses of sockets."""
import ipaddress

from salt.exceptions import SaltSystemExit


def ip_bracket(addr):
    """Return an address of version 6 in brackets."""
    address = ipaddress.ip_address(str(addr).strip("[]"))
    return f"[{address.compressed}]" if address.version == 6 else address.compressed


def check_ipc_path_max_len(uri):
    """Raise SaltSystemExit for a socket's path that is longer than the system takes."""
    if len(uri) > 107:
        raise SaltSystemExit(msg=f"The socket path is longer than allowed by OS. '{uri}' is longer than 107 characters.")
