"""hub.py - an Ethernet of taps: every frame passes through here, and is delayed, reordered, lost or held back.

The kernel needs no netem for that. One process; the program tells it by lines of JSON what happens at which port.
"""

import fcntl
import heapq
import json
import os
import random
import selectors
import socket
import struct
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
FRAME = 65536


def open_tap(name):
    """A tap in this network namespace; it lives as long as the descriptor."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return fd


class Hub:
    """The program's side: ports by name."""

    def __init__(self, taps, seed):
        self.line, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.line.close()
            try:
                _run(taps, theirs, random.Random(seed))
            finally:
                os._exit(0)
        theirs.close()
        for fd in taps.values():
            os.close(fd)

    def set(self, port, **what):
        """down: bool; delay: [least, most] seconds, so that what differs enough is reordered; loss: share."""
        self.line.sendall(json.dumps({"port": port, **what}).encode() + b"\n")

    def clear(self, port):
        self.set(port, down=False, delay=None, loss=0)

    def close(self):
        self.line.close()
        os.waitpid(self.pid, 0)


def _run(taps, line, rng):
    watch = selectors.DefaultSelector()
    rules = {name: {} for name in taps}
    for name, fd in taps.items():
        watch.register(fd, selectors.EVENT_READ, name)
    watch.register(line, selectors.EVENT_READ, None)
    where, waiting, count, rest = {}, [], 0, b""

    def out(name, frame):
        if not rules[name].get("down"):
            try:
                os.write(taps[name], frame)
            except OSError:
                pass  # the interface is down or its queue is full: lost, as on any wire

    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for key, _ in watch.select(pause):
            if key.data is None:
                data = line.recv(65536)
                if not data:
                    return
                *texts, rest = (rest + data).split(b"\n")
                for text in texts:
                    said = json.loads(text)
                    rules[said.pop("port")].update(said)
                continue
            name = key.data
            try:
                frame = os.read(key.fd, FRAME)
            except OSError:
                continue
            where[frame[6:12]] = name
            if rules[name].get("down"):
                continue
            to = where.get(frame[:6]) if not frame[0] & 1 else None
            for other in [to] if to else [n for n in taps if n != name]:
                late = 0
                for rule in (rules[name], rules[other]):
                    if rule.get("loss") and rng.random() < rule["loss"]:
                        late = None
                        break
                    late += rng.uniform(*rule["delay"]) if rule.get("delay") else 0
                if late is None:
                    continue
                if late == 0:
                    out(other, frame)
                else:
                    count += 1
                    heapq.heappush(waiting, (time.monotonic() + late, count, other, frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, name, frame = heapq.heappop(waiting)
            out(name, frame)
