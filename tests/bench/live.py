#!/usr/bin/env python3
"""live.py - what a process holds of allocated memory, which the library tests/preload/live.so counts in it.

  LD_PRELOAD=build/tests/preload/live.so LIVE_DEPTH=8 salt-minion ... &
  live.py PID [--seconds 60] [--most 10]      what has grown meanwhile, by the places that allocated it
"""

import argparse
import os
import struct
import subprocess
import time

# As in live.c.
AT, MAGIC, CALLS, PLACES = 0x600000000000, 0x4C495645, 12, 8192
HEAD, PLACE = struct.Struct("<Qqqq32x"), struct.Struct(f"<Qqqq{CALLS}Q")


def held(pid):
    """(bytes, blocks, how many were ever allocated); None: the library is not in it, or it has ended."""
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as f:
            f.seek(AT)
            head = f.read(HEAD.size)
    except OSError:
        return None
    if len(head) < HEAD.size:  # it has ended since
        return None
    magic, *counts = HEAD.unpack(head)
    return tuple(counts) if magic == MAGIC else None


def places(pid):
    """{callers: (bytes, blocks, how many were ever allocated)}"""
    with open(f"/proc/{pid}/mem", "rb", 0) as f:
        f.seek(AT + HEAD.size)
        table = f.read(PLACE.size * PLACES)
    rows = (PLACE.unpack_from(table, i * PLACE.size) for i in range(PLACES))
    return {tuple(c for c in callers if c): tuple(counts) for hash_, *counts, callers in ((*r[:4], r[4:]) for r in rows) if counts[2]}


class Names:
    """Of functions by their addresses, out of the files that the process maps."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/maps") as f:
            lines = [line.split() for line in f]
        self.maps = [(*(int(x, 16) for x in words[0].split("-")), words[5]) for words in lines if len(words) > 5 and words[5][0] == "/"]
        self.known = {}

    def of(self, address):
        if address not in self.known:
            self.known[address] = next((self._ask(path, address) for begin, end, path in self.maps if begin <= address < end), hex(address))
        return self.known[address]

    def _ask(self, path, address):
        offset = address - min(begin for begin, _, other in self.maps if other == path)
        said = subprocess.run(["addr2line", "-fse", path, hex(offset - 1)], capture_output=True, text=True, check=False).stdout.split()
        return "@".join(said[:2]) if said and said[0] != "??" else f"{os.path.basename(path)}+{offset:#x}"


def main():
    parser = argparse.ArgumentParser(description="What has grown of a process's allocated memory, by place.")
    parser.add_argument("pid", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--most", type=int, default=10, help="places that are shown")
    args = parser.parse_args()
    first, names = places(args.pid), Names(args.pid)
    time.sleep(args.seconds)
    none = (0, 0, 0)
    grown = [([now - was for now, was in zip(counts, first.get(callers, none))], callers) for callers, counts in places(args.pid).items()]
    for (size, blocks, allocated), callers in sorted(grown, key=lambda row: -row[0][0])[: args.most]:
        print(f"{size:+10d} bytes {blocks:+7d} of {allocated} blocks: " + " < ".join(names.of(c) for c in callers))
    print("altogether: %d bytes in %d blocks" % held(args.pid)[:2])


if __name__ == "__main__":
    main()
