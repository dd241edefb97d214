"""instructions.py - what a job and a return cost the master, in instructions of its threads: a figure that is the same on
any day and under any load. The master runs below valgrind's callgrind, the minions are the swarm's.

    instructions.py --build DIR [--top N]    a table, and the N dearest functions of the front loop

Two fleets of different size do the same jobs; a return is the slope, a job is what is left without minions.
"""

import argparse
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import fleet

SIZES = (50, 250)
JOBS = 12
REST_S = 0.7  # between jobs: acknowledgements, commits
# A function that only this thread has on its stack.
THREADS = (("front loop", "zloop_start"), ("store's writer", "writer_main"), ("libzmq", "libzmq"))


class Callgrind:
    """A master below callgrind."""

    def __init__(self, master, folder):
        self.master, self.folder = master, folder

    def start(self):
        argv = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--instr-atstart=no",
                f"--callgrind-out-file={self.folder}/out", *self.master.command("salt-master")]
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.master.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        fleet.wait_for("the master below callgrind", 60, lambda: os.path.exists(self.master.socket_path), 0.05)

    @contextlib.contextmanager
    def counting(self):
        self._switch("on")
        yield
        self._switch("off")

    def _switch(self, word):
        subprocess.run(["callgrind_control", "-i", word, str(self.master.process.pid)], check=True, capture_output=True)

    def counts(self):
        """{thread: instructions}, once the master has ended."""
        found = {}
        for path in sorted(glob.glob(f"{self.folder}/out-*")):
            with open(path) as f:
                text = f.read()
            total = re.search(r"^totals: (\d+)", text, re.M)
            name = next((name for name, mark in THREADS if mark in text), "others")
            found[name] = found.get(name, 0) + (int(total.group(1)) if total else 0)
        return found

    def dearest(self, count):
        for path in sorted(glob.glob(f"{self.folder}/out-*")):
            with open(path) as f:
                if THREADS[0][1] in f.read():
                    done = subprocess.run(["callgrind_annotate", "--inclusive=yes", path], capture_output=True, text=True, check=True)
                    lines = [line for line in done.stdout.splitlines() if re.match(r"\s*[\d,]+ \(", line) and ":0x" not in line]
                    return lines[:count]
        return []


def measure(build, size, folder):
    os.mkdir(folder)
    with fleet.Site(os.path.join(build, "bin"), os.path.join(build, "tests/bench")) as site:
        master = site.master()
        swarm = site.swarm(master, size)
        swarm.make_keys(True)
        tool = Callgrind(master, folder)
        tool.start()
        swarm.start()
        fleet.wait_for("all connected", 120, lambda: swarm.poll()["ready"] == size, 0.05)
        fleet.wait_for("all subscribed", 120, lambda: master.connected()[1] == size, 0.3)
        ping = master.command("salt", "--out=txt", "*", "test.ping")
        fleet.run_timed(ping)
        time.sleep(REST_S)
        with tool.counting():
            for _ in range(JOBS):
                _, code = fleet.run_timed(ping)
                if code != 0:
                    raise fleet.BenchError(f"salt ended with {code}")
                time.sleep(REST_S)
        swarm.stop()
        master.stop()
        return tool


def report(few, many, top):
    a, b = few.counts(), many.counts()
    print(f"{'thread':<16}{'per return':>12}{'per job':>12}   instructions of the master, test.ping")
    for name in sorted(a, key=lambda n: -b.get(n, 0)):
        each = (b.get(name, 0) - a[name]) / JOBS / (SIZES[1] - SIZES[0])
        job = a[name] / JOBS - each * SIZES[0]
        print(f"{name:<16}{each:>12,.0f}{max(job, 0):>12,.0f}")
    for line in many.dearest(top):
        print(line[:120])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, metavar="DIR")
    parser.add_argument("--top", type=int, default=0, metavar="N")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions.py: valgrind is not installed (apt-get install valgrind)")
    with tempfile.TemporaryDirectory(prefix="salt-bench-") as folder:
        tools = [measure(os.path.abspath(args.build), size, os.path.join(folder, str(size))) for size in SIZES]
        report(*tools, args.top)


if __name__ == "__main__":
    try:
        main()
    except fleet.BenchError as why:
        sys.exit(f"instructions.py: {why}")
