"""halite.py - what programs around running daemons share: a line to the master, waiting, processes. Standard library only."""

import contextlib
import json
import os
import socket
import struct
import time


class Trouble(Exception):
    """What had to happen did not; says what."""


_held = []


def free_ports(count):
    """Ports for daemons of ours. They stay bound, without listening, until this program ends: so the kernel gives them to no client, but to
    whoever listens with SO_REUSEADDR, as libzmq does."""
    holders = []
    for _ in range(count):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        holders.append(s)
    _held.extend(holders)
    return [s.getsockname()[1] for s in holders]


def wait_for(what, seconds, probe, pause=0.001):
    """The first true value of probe(); Trouble when there is none in time."""
    until = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > until:
            raise Trouble(f"{what}: not within {seconds} s")
        time.sleep(pause)


def parents():
    """{pid: its parent's} of all processes."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as f:
                found[int(name)] = int(f.read().rpartition(")")[2].split()[1])
    return found


def ended(pid):
    """Whether this process has ended, taken leave of by its parent or not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def process_tree(pid):
    """The process and all that descend from it."""
    of = parents()
    found = [pid]
    for one in found:
        found += [child for child, parent in of.items() if parent == one]
    return found


def marked(mark):
    """{pid: words} of the processes that have this NAME=VALUE in their environment, this one left out."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/environ", "rb") as f:
                if mark.encode() not in f.read().split(b"\0"):
                    continue
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read().replace(b"\0", b" ").decode(errors="replace").strip()
            if words:  # else it has ended
                found[int(name)] = words
    return found


def strays(mark, ours):
    """Marked processes that descend from none of these: {pid: words}."""
    found, of = marked(mark), parents()
    for pid in list(found):
        at = pid
        while at in of and at not in ours:
            at = of[at]
        if at in ours or pid not in of:  # it has ended meanwhile
            del found[pid]
    return found


class LocalClient:
    """The master's local socket: frames of 4 bytes of length and JSON."""

    def __init__(self, path, timeout=60):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout)
        self.sock.connect(path)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.sock.close()

    def _take(self, size):
        parts = []
        while size > 0:
            part = self.sock.recv(min(size, 1 << 20))
            if not part:
                raise Trouble("the master closed the local socket")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def next(self):
        """The next message: a reply or a push."""
        return json.loads(self._take(struct.unpack(">I", self._take(4))[0]))

    def send(self, op, **request):
        self.number += 1
        text = json.dumps({"op": op, "n": self.number, **request}).encode()
        self.sock.sendall(struct.pack(">I", len(text)) + text)

    def call(self, op, **request):
        self.send(op, **request)
        while True:
            reply = self.next()
            if reply.get("n") == self.number:
                return reply

    def job(self, tgt, fun, *arg, tgt_type="glob", **request):
        """{id: return} of those that have returned when the job is done; the ids of its targets. The jid is in `jid`."""
        reply = self.call("publish", tgt=tgt, tgt_type=tgt_type, fun=fun, arg=list(arg), follow=True, **request)
        self.jid, returns, push = reply.get("jid"), {}, {}
        while reply.get("jid") and push.get("push") != "done":
            push = self.next()
            if push.get("push") == "ret":
                returns[push["id"]] = push["return"]
        return returns, reply.get("minions", [])
