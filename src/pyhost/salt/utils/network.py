"""Addresses, names and interfaces of this machine and others."""
import fnmatch
import ipaddress
import logging
import random
import re
import socket

from salt.exceptions import SaltClientError, SaltSystemExit
from salt.utils._interfaces import _interfaces_ifconfig, _interfaces_ip, interfaces, linux_interfaces  # noqa: F401
from salt.utils._ports import active_tcp, local_port_tcp, remote_port_tcp  # noqa: F401
from salt.utils.zeromq import ip_bracket as _bracket

log = logging.getLogger(__name__)


# ---- names --------------------------------------------------------------------------------------------------


def sanitize_host(host):
    """Return a host's name without what none has."""
    return "".join(c for c in str(host).strip() if c.isascii() and (c.isalnum() or c in "-._"))


def get_fqhostname():
    """Return the full name of this machine."""
    name = socket.gethostname()
    try:
        found = socket.getaddrinfo(name, None, socket.AF_UNSPEC, socket.SOCK_DGRAM, socket.SOL_UDP, socket.AI_CANONNAME)
    except OSError:
        return name
    names = [row[3] for row in found if row[3]]
    return next((one for one in names if "." in one), names[0] if names else name).lower()


def is_fqdn(hostname):
    """Say whether a name is a full one."""
    if not isinstance(hostname, str) or "." not in hostname or len(hostname.rstrip(".")) > 253:
        return False
    return all(re.match(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)$", label) for label in hostname.rstrip(".").split("."))


def generate_minion_id():
    """Return an id for this machine: its full name, else its name, else an address."""
    names = [get_fqhostname(), socket.gethostname()]
    good = [name for name in names if name and not name.startswith("localhost")]
    return next(iter(good), None) or next(iter(ip_addrs()), "localhost")


def host_to_ips(host):
    """Return the addresses of a name, or None."""
    try:
        found = socket.getaddrinfo(host, 0, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except OSError:
        return None
    return list(dict.fromkeys(row[4][0] for row in found)) or None


def ip_to_host(ip):
    """Return the name of an address, or None."""
    try:
        return socket.gethostbyaddr(ip)[0]
    except OSError:
        return None


def is_reachable_host(entity_name):
    """Say whether a name has an address."""
    return host_to_ips(entity_name) is not None


def refresh_dns():
    """Do nothing: the system's resolver looks into its files at each question."""


def dns_check(addr, port, safe=False, ipv6=None):
    """Return the address of a name at which something listens, else the first one; SaltSystemExit without any."""
    family = {True: socket.AF_INET6, False: socket.AF_INET, None: socket.AF_UNSPEC}[ipv6]
    try:
        found = [row[4][0] for row in socket.getaddrinfo(addr, port, family, socket.SOCK_STREAM)]
    except OSError:
        found = []
    if not found:
        text = f"DNS lookup or connection check of '{addr}' failed."
        if safe:
            log.error(text)
            raise SaltClientError(text)
        raise SaltSystemExit(42, text)
    return ip_bracket(next((one for one in found if isportopen(one, port) == 0), found[0]))


# ---- addresses ----------------------------------------------------------------------------------------------


def ip_bracket(addr, strip=False):
    """Return an address of version 6 in brackets, or without them."""
    bare = str(addr).strip("[]")
    return bare if strip or not is_ipv6(bare) else _bracket(bare)


def _is_ip(text, version=None):
    try:
        return version in (None, ipaddress.ip_address(text).version)
    except ValueError:
        return False


def is_ip(ip_addr):
    """Say whether a text is an address."""
    return _is_ip(ip_addr)


def is_ipv4(ip_addr):
    """Say whether a text is an address of version 4."""
    return _is_ip(ip_addr, 4)


def is_ipv6(ip_addr):
    """Say whether a text is an address of version 6."""
    return _is_ip(ip_addr, 6)


def _is_subnet(cidr, version=None):
    try:
        return "/" in cidr and version in (None, ipaddress.ip_network(cidr, strict=False).version)
    except (ValueError, TypeError):
        return False


def is_subnet(cidr):
    """Say whether a text is a network."""
    return _is_subnet(cidr)


def is_ipv4_subnet(cidr):
    """Say whether a text is a network of version 4."""
    return _is_subnet(cidr, 4)


def is_ipv6_subnet(cidr):
    """Say whether a text is a network of version 6."""
    return _is_subnet(cidr, 6)


def is_loopback(ip_addr):
    """Say whether an address is this machine's own alone."""
    return ipaddress.ip_address(ip_addr).is_loopback


def cidr_to_ipv4_netmask(cidr_bits):
    """Return the mask of a prefix's length, or an empty text."""
    try:
        bits = int(cidr_bits)
        return str(ipaddress.ip_network(f"0.0.0.0/{bits}").netmask) if 1 <= bits <= 32 else ""
    except ValueError:
        return ""


def get_net_size(mask):
    """Return the prefix's length of a mask."""
    return len("".join(f"{int(part):08b}" for part in mask.split(".")).rstrip("0"))


def get_net_start(ipaddr, netmask):
    """Return a network's first address."""
    return str(ipaddress.ip_network(f"{ipaddr}/{netmask}", strict=False).network_address)


def calc_net(ipaddr, netmask=None):
    """Return the network of an address, as in "10.0.0.0/24"."""
    return str(ipaddress.ip_network(ipaddr if netmask is None else f"{ipaddr}/{netmask}", strict=False))


def natural_ipv4_netmask(ip_addr, fmt="prefixlen"):
    """Return the mask that addresses had by their classes, as "/24" or as a mask."""
    first = int(ip_addr.split(".")[0])
    bits = 8 if first < 128 else 16 if first < 192 else 24
    return cidr_to_ipv4_netmask(bits) if fmt == "netmask" else f"/{bits}"


def rpad_ipv4_network(ip_addr):
    """Return a short network's address with all of its four parts."""
    return ".".join((ip_addr.split(".") + ["0"] * 4)[:4])


def in_subnet(cidr, addr=None):
    """Say whether any of the addresses, or of this machine's, is in a network."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        log.error("Invalid CIDR '%s'", cidr)
        return False
    addresses = ip_addrs() + ip_addrs6() if addr is None else [addr] if not isinstance(addr, (list, tuple)) else addr
    return any(ipaddress.ip_address(one) in network for one in addresses)


def filter_by_networks(values, networks):
    """Return the addresses that are in any of the networks; of a dictionary those of each key."""
    if networks is None:
        return values
    wanted = [ipaddress.ip_network(one) for one in networks]

    def kept(addresses):
        return [one for one in addresses if any(ipaddress.ip_address(one) in network for network in wanted)]

    if isinstance(values, dict):
        return {key: kept(addresses) for key, addresses in values.items()}
    if isinstance(values, (list, tuple, set)):
        return kept(values)
    raise ValueError("Do not know how to filter a {}".format(type(values)))


def parse_host_port(host_port):
    """Return (host, port) of a text such as "[::1]:80"; the port is None where there is none."""
    found = re.match(r"^\[([^\]]+)\](?::(\d+))?$", host_port)
    if found:
        host, port = found.groups()
    elif host_port.count(":") == 1:
        host, port = host_port.split(":")
    else:
        host, port = host_port, None
    if port is not None and (not str(port).isdigit() or not 0 <= int(port) <= 65535):
        raise ValueError(f"bad port in {host_port}")
    if not is_ip(host) and host != sanitize_host(host):
        raise ValueError(f"bad hostname: \"{host}\"")
    return (str(ipaddress.ip_address(host)) if is_ip(host) else host), None if port is None else int(port)


def hex2ip(hex_ip, invert=False):
    """Return the address that hexadecimal digits of the kernel tell; an empty text for none."""
    if len(hex_ip) == 32:
        words = [hex_ip[i : i + 8] for i in range(0, 32, 8)]
        words = ["".join(reversed([word[i : i + 2] for i in range(0, 8, 2)])) if invert else word for word in words]
        try:
            address = ipaddress.IPv6Address(int("".join(words), 16))
        except ValueError:
            return ""
        return str(address.ipv4_mapped or address)
    try:
        raw = int(hex_ip, 16).to_bytes(4, "little" if invert else "big")
    except (ValueError, OverflowError):
        return ""
    return ".".join(map(str, raw))


def mac_str_to_bytes(mac_str):
    """Return the bytes of a network card's address."""
    digits = mac_str if len(mac_str) == 12 else mac_str.replace(mac_str[2], "") if len(mac_str) == 17 else None
    if digits is None:
        raise ValueError("Invalid MAC address")
    return bytes.fromhex(digits)


def mac2eui64(mac, prefix=None):
    """Return the last 64 bits that a network card's address makes, with a prefix the whole address."""
    eui64 = re.sub(r"[.:-]", "", mac).lower()
    eui64 = eui64[0:6] + "fffe" + eui64[6:]
    eui64 = f"{int(eui64[0:2], 16) ^ 2:02x}" + eui64[2:]
    if prefix is None:
        return ":".join(re.findall(r".{4}", eui64))
    try:
        return f"{ipaddress.ip_network(prefix, strict=False)[int(eui64, 16)]}/{ipaddress.ip_network(prefix, strict=False).prefixlen}"
    except (ValueError, IndexError):
        return None


def gen_mac(prefix="AC:DE:48"):
    """Return an address for a network card at random, behind a prefix."""
    return "{}:{:02X}:{:02X}:{:02X}".format(prefix, *(random.randint(0, 255) for _ in range(3)))


# ---- interfaces ---------------------------------------------------------------------------------------------


def _chosen(interface, interface_data):
    data = interface_data if isinstance(interface_data, dict) else interfaces()
    if interface is None:
        return data
    names = [interface] if isinstance(interface, str) else list(interface)
    found = {name: row for name, row in data.items() if any(fnmatch.fnmatch(name, one) for one in names)}
    if not found:
        log.error("Interface %s not found.", interface)
    return found


def _ip_addrs(interface=None, include_loopback=False, interface_data=None, proto="inet"):
    found = set()
    for name, row in _chosen(interface, interface_data).items():
        rows = row.get(proto, []) + [one for one in row.get("secondary", []) if one.get("type") == proto]
        for one in rows:
            address = ipaddress.ip_address(one["address"].split("%")[0])
            if include_loopback or not address.is_loopback:
                found.add(address)
    return [str(address) for address in sorted(found)]


def ip_addrs(interface=None, include_loopback=False, interface_data=None):
    """Return this machine's addresses of version 4."""
    return _ip_addrs(interface, include_loopback, interface_data, "inet")


def ip_addrs6(interface=None, include_loopback=False, interface_data=None):
    """Return this machine's addresses of version 6."""
    return _ip_addrs(interface, include_loopback, interface_data, "inet6")


def _ip_networks(interface=None, include_loopback=False, verbose=False, interface_data=None, proto="inet"):
    found = {}
    for row in _chosen(interface, interface_data).values():
        for one in row.get(proto, []) + [one for one in row.get("secondary", []) if one.get("type") == proto]:
            mask = one.get("netmask") or one.get("prefixlen")
            network = ipaddress.ip_network("{}/{}".format(one["address"].split("%")[0], mask), strict=False)
            if include_loopback or not network.is_loopback:
                found[network] = network
    if not verbose:
        return [str(network) for network in sorted(found)]
    return {
        str(network): {
            "prefixlen": network.prefixlen, "netmask": str(network.netmask), "num_addresses": network.num_addresses,
            "address": str(network.network_address),
        }
        for network in sorted(found)
    }


def ip_networks(interface=None, include_loopback=False, verbose=False, interface_data=None):
    """Return this machine's networks of version 4."""
    return _ip_networks(interface, include_loopback, verbose, interface_data, "inet")


def ip_networks6(interface=None, include_loopback=False, verbose=False, interface_data=None):
    """Return this machine's networks of version 6."""
    return _ip_networks(interface, include_loopback, verbose, interface_data, "inet6")


def subnets(interfaces=None):
    """Return this machine's networks of version 4, the loopback's left out."""
    return _ip_networks(interface_data=interfaces)


def subnets6():
    """Return this machine's networks of version 6, the loopback's left out."""
    return _ip_networks(proto="inet6")


def _no_interface(iface):
    names = '", "'.join(interfaces())
    text = f'Interface "{iface}" not in available interfaces: "{names}"'
    log.error(text)
    return text


def interface(iface):
    """Return the addresses of version 4 of an interface, or a text that tells why there are none."""
    found = interfaces().get(iface)
    if found is None:
        return _no_interface(iface)
    return found.get("inet", "")


def interface_ip(iface):
    """Return the first address of version 4 of an interface, or a text that tells why there is none."""
    found = interface(iface)
    return found if isinstance(found, str) else next((row["address"] for row in found), "")


def hw_addr(iface):
    """Return the address of an interface's card, or a text that tells why there is none."""
    found = interfaces().get(iface)
    if found is None:
        return _no_interface(iface)
    return found.get("hwaddr", "")


# ---- connections --------------------------------------------------------------------------------------------


def get_socket(addr, type=socket.SOCK_STREAM, proto=0):
    """Return a socket for the kind of an address."""
    version = ipaddress.ip_address(addr).version
    return socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, type, proto)


def isportopen(host, port):
    """Return 0 when something listens at a port, else an error's number; False for a port that there is not."""
    if not 1 <= int(port) <= 65535:
        return False
    family = socket.AF_INET6 if is_ipv6(host) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            return probe.connect_ex((sanitize_host(host) if family == socket.AF_INET else host, int(port)))
        except OSError as exc:
            return exc.errno or 1


def _generate_minion_id():
    """Return names and addresses that could be this machine's id, the best first."""
    return list(dict.fromkeys([get_fqhostname(), socket.gethostname(), *ip_addrs(include_loopback=True)]))
