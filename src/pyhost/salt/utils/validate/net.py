"""Whether texts are addresses."""
import re
import socket


def mac(addr):
    """Say whether a text is the address of a network card."""
    return re.match(r"^(?:[0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}$", addr) is not None


def __ip_addr(addr, family):
    address, _, mask = str(addr).partition("/")
    longest = 32 if family == socket.AF_INET else 128
    if "/" in str(addr) and not (mask.isdigit() and 1 <= int(mask) <= longest):
        return False
    try:
        socket.inet_pton(family, address)
        return True
    except OSError:
        return False


def ip_addr(addr):
    """Say whether a text is an address, with or without a prefix's length."""
    return ipv4_addr(addr) or ipv6_addr(addr)


def ipv4_addr(addr):
    """Say whether a text is an address of version 4."""
    return __ip_addr(addr, socket.AF_INET)


def ipv6_addr(addr):
    """Say whether a text is an address of version 6."""
    return __ip_addr(addr, socket.AF_INET6)


def netmask(mask):
    """Say whether a text is a mask such as 255.255.0.0."""
    if not isinstance(mask, str):
        return False
    parts = mask.split(".")
    if len(parts) != 4 or not all(part.isdigit() and int(part) < 256 for part in parts):
        return False
    bits = "".join(f"{int(part):08b}" for part in parts)
    return "01" not in bits
