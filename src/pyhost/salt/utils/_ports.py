"""Connections of this machine, as the kernel's files tell them."""
import ipaddress
import os


def _place(text):
    """Return (address, port) of "0100007F:1F90"."""
    digits, port = text.split(":")
    words = [digits[i : i + 8] for i in range(0, len(digits), 8)]
    raw = b"".join(bytes.fromhex(word)[::-1] for word in words)
    address = ipaddress.ip_address(raw)
    return str(getattr(address, "ipv4_mapped", None) or address), int(port, 16)


def _established():
    """Yield (local, remote) of each connection that stands."""
    for path in "/proc/net/tcp", "/proc/net/tcp6":
        if not os.path.exists(path):
            continue
        with open(path, encoding="ascii") as lines:
            for line in list(lines)[1:]:
                words = line.split()
                if words[3] == "01":
                    yield _place(words[1]), _place(words[2])


def active_tcp():
    """Return {number: {"local_addr", "local_port", "remote_addr", "remote_port"}} of connections."""
    return {
        i: {"local_addr": here[0], "local_port": str(here[1]), "remote_addr": there[0], "remote_port": str(there[1])}
        for i, (here, there) in enumerate(_established())
    }


def local_port_tcp(port):
    """Return the addresses that are connected with a port of this machine."""
    return {there[0] for here, there in _established() if here[1] == int(port)}


def remote_port_tcp(port):
    """Return the addresses that this machine is connected with at a port of theirs."""
    return {there[0] for _, there in _established() if there[1] == int(port)}
