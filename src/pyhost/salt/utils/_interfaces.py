"""The interfaces of this machine, by the program ip or by ifconfig."""
import ipaddress
import os
import re
import subprocess

from salt.utils import path


def _said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode("utf-8", "replace")


def _address(words):
    """Return (kind, row) of a line "inet 10.0.0.1/8 brd 10.255.255.255 scope global eth0"."""
    kind = words[0]
    address, _, bits = words[1].partition("/")
    after = dict(zip(words[2:], words[3:]))
    if "peer" in after:
        bits = after["peer"].partition("/")[2]
    if kind == "inet":
        mask = str(ipaddress.ip_network(f"0.0.0.0/{bits or 32}").netmask)
        row = {"address": address, "netmask": mask, "broadcast": after.get("brd"), "label": words[-1]}
    else:
        row = {"address": address, "prefixlen": bits or "128", "scope": after.get("scope")}
    return kind, row, "secondary" in words


def _interfaces_ip(out):
    """Return the interfaces that the output of `ip link show; ip addr show` tells."""
    found = {}
    for block in re.compile(r"^[0-9]+:\s", re.MULTILINE).split(out):
        head = re.match(r"(?P<name>[^:@\s]+)(?:@(?P<parent>[^:\s]+))?:\s+<(?P<flags>[^>]*)>", block)
        if not head:
            continue
        one = found.setdefault(head.group("name"), {"up": False})
        one["up"] = "UP" in head.group("flags").split(",")
        if head.group("parent"):
            one["parent"] = head.group("parent")
        for line in block.splitlines()[1:]:
            words = line.split()
            if not words:
                continue
            if words[0].startswith("link/") and len(words) > 1 and re.match(r"[0-9A-Fa-f:]+$", words[1]):
                one["hwaddr"] = words[1]
            elif words[0] in ("inet", "inet6"):
                kind, row, second = _address(words)
                if second:
                    one.setdefault("secondary", []).append(dict(row, type=kind))
                else:
                    one.setdefault(kind, []).append(row)
    return found


def _ifconfig_address(line):
    """Return the row of a line "inet 10.0.0.1 netmask 255.0.0.0 broadcast 10.255.255.255", or as older programs print it."""
    mask = re.search(r"(?:Mask:|netmask )(\S+)", line)
    mask = mask.group(1) if mask else "255.255.255.255"
    row = {
        "address": re.search(r"inet (?:addr:)?\s*([\d.]+)", line).group(1),
        "netmask": str(ipaddress.IPv4Address(int(mask, 16))) if mask.startswith("0x") else mask,
    }
    broadcast = re.search(r"(?:Bcast:|broadcast )([\d.]+)", line)
    return dict(row, broadcast=broadcast.group(1)) if broadcast else row


def _interfaces_ifconfig(out):
    """Return the interfaces that the output of ifconfig tells."""
    found = {}
    for block in re.compile(r"\r?\n(?=\S)").split(out):
        head = re.match(r"([^:\s]+):?\s", block)
        if not head:
            continue
        one = found.setdefault(head.group(1), {"up": bool(re.search(r"\bUP\b", block))})
        card = re.search(r"(?:HWaddr|ether|lladdr)\s+([0-9A-Fa-f:]+)", block)
        if card:
            one["hwaddr"] = card.group(1)
        for line in re.findall(r"inet (?!6).*", block):
            one.setdefault("inet", []).append(_ifconfig_address(line))
        for row in re.finditer(r"inet6 (?:addr: ?)?([0-9A-Fa-f:]+)(?:%\S+)?(?:/|\s+prefixlen )(\d+)(?:.*?(?:Scope:|scopeid \S+<)(\w+))?", block):
            one.setdefault("inet6", []).append({"address": row.group(1), "prefixlen": row.group(2), "scope": (row.group(3) or "").lower()})
    return found


def linux_interfaces():
    """Return {name: {"up", "hwaddr", "inet": [...], "inet6": [...]}} of this machine."""
    ip = path.which("ip")
    if ip:
        links, addresses = _interfaces_ip(_said(ip, "link", "show")), _interfaces_ip(_said(ip, "addr", "show"))
        return {name: dict(links.get(name, {}), **row) for name, row in addresses.items()}
    ifconfig = path.which("ifconfig")
    return _interfaces_ifconfig(_said(ifconfig, "-a")) if ifconfig else _by_kernel()


def _by_kernel():
    """Return the names and cards of interfaces as the kernel's files tell them, where no program is installed."""
    found = {}
    for name in sorted(os.listdir("/sys/class/net")):
        with open(f"/sys/class/net/{name}/address", encoding="ascii") as text:
            found[name] = {"hwaddr": text.read().strip()}
        with open(f"/sys/class/net/{name}/flags", encoding="ascii") as text:
            found[name]["up"] = bool(int(text.read(), 16) & 1)
    return found


def interfaces():
    """Return {name: {"up", "hwaddr", "inet": [...], "inet6": [...]}} of this machine."""
    return linux_interfaces()
