"""page.py - what can fail, and the page that tells tests/preload/inject.c which call is to.

Python's standard library only.
"""

import errno
import mmap
import os
import re
import struct
import subprocess

HEAD = struct.Struct("<IiQQQIIQi12s32s")
SLOT = struct.Struct("<QQ")
PLACES = 65536

# name: number in inject.c, and the ways it fails: name, errno (0: half is done)
KINDS = {
    "alloc": (1, [("no-memory", errno.ENOMEM)]),
    "write": (2, [("full", errno.ENOSPC), ("broken", errno.EIO), ("interrupted", errno.EINTR), ("short", 0)]),
    "send": (3, [("no-buffers", errno.ENOBUFS), ("gone", errno.EPIPE), ("interrupted", errno.EINTR), ("busy", errno.EAGAIN), ("short", 0)]),
    "sync": (4, [("broken", errno.EIO), ("full", errno.ENOSPC)]),
    "fork": (5, [("too-many", errno.EAGAIN), ("no-memory", errno.ENOMEM)]),
    "fd": (6, [("too-many", errno.EMFILE), ("no-memory", errno.ENOMEM)]),
    "open": (7, [("too-many", errno.EMFILE), ("broken", errno.EIO), ("full", errno.ENOSPC), ("interrupted", errno.EINTR)]),
    "name": (8, [("full", errno.ENOSPC), ("broken", errno.EIO)]),
    "epoll": (9, [("no-memory", errno.ENOMEM), ("full", errno.ENOSPC)]),
    "meta": (10, [("broken", errno.EIO), ("no-memory", errno.ENOMEM)]),
    "read": (11, [("broken", errno.EIO), ("interrupted", errno.EINTR), ("short", 0)]),
}


class Page:
    """The page of one program under test."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.truncate(HEAD.size + SLOT.size * PLACES)
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.off()

    def close(self):
        self.map.close()
        self.file.close()

    def off(self):
        struct.pack_into("<I", self.map, 0, 0)

    def arm(self, kind, error, at=0, place=0, again=0, look=False, who=""):
        """From now on calls are counted, and the n-th or the first one from that place fails."""
        self.off()
        if os.path.exists(self.path + ".hit"):
            os.unlink(self.path + ".hit")
        if look:
            self.map[HEAD.size :] = bytes(SLOT.size * PLACES)
        HEAD.pack_into(self.map, 0, 0, error, at, again, place, look, 0, 0, 0, who.encode(), b"")
        struct.pack_into("<I", self.map, 0, KINDS[kind][0])

    def _head(self):
        return HEAD.unpack_from(self.map, 0)

    @property
    def hits(self):
        return self._head()[6]

    @property
    def calls(self):
        return self._head()[7]

    @property
    def pid(self):
        """Who was hit first."""
        return self._head()[8]

    def places(self):
        """Number of the first call from each place, in order: [(n, place)]."""
        found = [SLOT.unpack_from(self.map, HEAD.size + SLOT.size * i) for i in range(PLACES)]
        return sorted((first, place) for place, first in found if place)

    def where(self):
        """The call that failed and who called it, innermost first: ("write", ["fs_write_all", ...])."""
        name = self._head()[10].rstrip(b"\0").decode()
        try:
            with open(self.path + ".hit") as f:
                lines = f.read().splitlines()
        except OSError:
            return name, []
        frames, by_file = [], {}
        for line in lines:
            m = re.match(r"(.*)\((.*?)\+?(0x[0-9a-f]+)?\) ?\[", line)
            if m and not m.group(1).endswith("inject.so"):
                frames.append([m.group(1), m.group(2), m.group(3) or "0"])
                by_file.setdefault(m.group(1), []).append(frames[-1])
        for path, of_it in by_file.items():
            plain = [f for f in of_it if not f[1]]
            if not plain:
                continue
            addresses = [hex(int(f[2], 16) - 1) for f in plain]
            out = subprocess.run(["addr2line", "-f", "-s", "-e", path] + addresses, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            text = out.stdout.decode(errors="replace").split("\n")
            for f, fun, line in zip(plain, text[0::2], text[1::2]):
                f[1] = f"{fun}@{line.split(' ')[0]}" if "?" not in line else fun
        return name, [f"{f[1]}" if f[1] and f[1] != "??" else os.path.basename(f[0]) for f in frames]
