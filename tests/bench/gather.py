"""gather.py - a file of grains in Python for a fleet of real minions on one machine: how long until the master has the grains of
all, how many interpreters there are at once, and how long the master's answers take meanwhile. The minions have the lowest
priority, as they would be on machines of their own."""

import os
import resource
import threading
import time

import fleet
from fleet import BenchError

COUNT = 200
GRAINS = '''
def gathered():
    return {"gathered": "yes"}
'''
DESCRIPTORS = 8  # of a process, for a minion: its place at the master, its log here
PAUSE_S = 0.02
START_S, GATHER_S = 600, 900


class Watch(threading.Thread):
    """Until it is stopped: the time of a question to the master, and interpreters below the minions."""

    def __init__(self, master, minions):
        super().__init__(daemon=True)
        self.master, self.pids = master, {minion.process.pid for minion in minions}
        self.times, self.interpreters, self.over = [], 0, threading.Event()
        self.start()

    def run(self):
        with self.master.client() as client:
            while not self.over.wait(PAUSE_S):
                start = time.monotonic_ns()
                client.call("status")
                self.times.append((time.monotonic_ns() - start) / 1e6)
                self.interpreters = max(self.interpreters, self.count())

    def count(self):
        above = fleet.parents()
        return sum(1 for pid, parent in above.items() if (parent in self.pids or above.get(parent) in self.pids) and name_of(pid).startswith("python3"))

    def stop(self):
        self.over.set()
        self.join()


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read()
    except OSError:
        return ""


def run(bench, count):
    report, site = bench.report, bench.site
    site.end()
    bench.pair = None
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if soft < count * DESCRIPTORS:
        raise BenchError(f"{count} minions need {count * DESCRIPTORS} descriptors, and there are {soft}")
    roots = os.path.join(site.root, "gather")
    os.makedirs(os.path.join(roots, "_grains"))
    with open(os.path.join(roots, "_grains", "own.py"), "w") as f:
        f.write(GRAINS)
    master = site.master(file_roots={"base": [roots]}, auto_accept=True)
    master.start()
    minions = [site.minion(master, f"m{i:04}", grains_refresh_every=0) for i in range(count)]
    for minion in minions:
        minion.start(lowest=True)
    fleet.wait_for("all minions", START_S, lambda: len(matching(master, "*", "glob")) == count and master.connected()[1] == count, 0.5)
    idle = measured(master, minions, lambda: time.sleep(2))
    before = fleet.cpu_s(master.process.pid)
    start = time.monotonic()
    sync = master.command("salt", "*", "saltutil.sync_grains", "-t", str(GATHER_S), "--out=quiet")
    busy = measured(master, minions, lambda: gather(master, sync, count))
    took, used = time.monotonic() - start, fleet.cpu_s(master.process.pid) - before
    report.add(f"{count} minions: a file of grains fetched, loaded, its grains at the master", [took], "s")
    report.add("the master's processor time of that, per minion", [used / count * 1e3], "ms")
    report.add("interpreters of Python at once", [busy.interpreters], "processes")
    report.add("an answer of the idle master", idle.times, "ms")
    report.add("an answer of the master meanwhile", busy.times, "ms", base=("idle", sorted(idle.times)[len(idle.times) // 2]))
    site.end()


def gather(master, sync, count):
    _, code = fleet.run_timed(sync)
    if code != 0:
        raise BenchError(f"saltutil.sync_grains: exit code {code}")
    fleet.wait_for("the grains of all", GATHER_S, lambda: len(matching(master, "gathered:yes", "grain")) == count, 0.05)


def measured(master, minions, what):
    watch = Watch(master, minions)
    try:
        what()
    finally:
        watch.stop()
    return watch


def matching(master, target, kind):
    with master.client() as client:
        return client.call("match", tgt=target, tgt_type=kind)["minions"]
