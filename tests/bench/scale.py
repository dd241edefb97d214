"""scale.py - what thousands of minions ask of a master beside speed: targets resolved, restarts without loss, keys by the thousand."""

import contextlib
import os
import re
import statistics
import subprocess
import time

import fleet
from fleet import BenchError

AWAY_S = 20
TARGETS = (
    ("os:Rocky", "grain"),
    ("rack:7", "grain"),
    ("G@os:Rocky and G@rack:10", "compound"),
    ("G@os:Debian and not swarm0001*", "compound"),
    ("E@swarm.*[05] or G@roles:web", "compound"),
    ("P@kernelrelease:6\\.1.* and L@swarm00001,swarm00002", "compound"),
)


def targeting(swarm):
    """Compound and grain targets, as every job's; the slowest kind counts."""
    fleet.wait_for("grains of all", 60, lambda: len(resolved(swarm.master, "os:*", "grain")) == swarm.count, 0.2)
    worst = []
    for target, kind in TARGETS:
        times = []
        with swarm.master.client() as client:
            for _ in range(swarm.bench.runs(20)):
                start = time.monotonic_ns()
                reply = client.call("match", tgt=target, tgt_type=kind)
                times.append((time.monotonic_ns() - start) / 1e6)
        if not reply["minions"]:
            raise BenchError(f"{target}: nobody")
        worst = max(worst, times, key=lambda t: statistics.median(t) if t else 0)
    swarm.report.add(swarm.name("grain and compound targets, the slowest of six"), worst, "ms", target=20, note="asked and answered")


def resolved(master, target, kind):
    with master.client() as client:
        return client.call("match", tgt=target, tgt_type=kind)["minions"]


# ---- restart ----------------------------------------------------------------------------------------------------------


def overflows():
    """How many connections the kernel has dropped because a queue was full."""
    with open("/proc/net/netstat") as f:
        lines = f.read().split("\n")
    for names, values in zip(lines[::2], lines[1::2]):
        if names.startswith("TcpExt:"):
            return int(dict(zip(names.split(), values.split()))["ListenDrops"])
    return 0


def stored(master, jids):
    """How many returns of these jobs are in the store."""
    marks = ",".join("?" * len(jids))
    return master.stored(f"SELECT count(*) FROM returns WHERE jid IN ({marks})", *jids)


def restart(swarm):
    """The master goes with jobs under way and comes back: when all are usable, who was refused, what was lost."""
    master, count = swarm.master, swarm.count
    with master.client() as client:
        jids = [client.call("publish", tgt="*", fun="test.ping")["jid"] for _ in range(3)]
    down = master.stop()
    before = fleet.cpu_s(swarm.swarm.process.pid)
    time.sleep(2)
    away = (fleet.cpu_s(swarm.swarm.process.pid) - before) / 2 / count * 100
    dropped, start = overflows(), time.monotonic()
    answers = master.start()
    for attempt in range(1, 100):
        _, code = fleet.run_timed(master.command("salt", "*", "test.ping"), swarm.out)
        n = swarm.returned()
        swarm.report.progress(swarm.name(f"restart, ping {attempt}: {n} returned"))
        if code == 0 and n == count:
            break
        if time.monotonic() - start > 180:
            raise BenchError(f"{n} of {count} returned after 180 s")
    took = (time.monotonic() - start) * 1e3
    note = f"ping number {attempt}; it ended in {down:.0f} ms and answered after {answers:.0f} ms"
    swarm.report.add(swarm.name("restart to all answered a ping"), [took], "ms", target=10000, base=("bare libzmq connect", swarm.floor.get("connect_ms")), note=note)
    with master.client() as client:
        status = client.call("status")["counters"]
    refused = status["refused"] + status["handshakes_failed"]
    note = f"{overflows() - dropped} dropped by the kernel, {refused} by the master"
    swarm.report.add(swarm.name("connections refused after the restart"), [overflows() - dropped + refused], "", target=0, note=note)
    with contextlib.suppress(BenchError):
        fleet.wait_for("the returns of jobs under way", 30, lambda: stored(master, jids) == count * len(jids), 0.05)
    swarm.report.add(swarm.name("returns lost over the restart"), [count * len(jids) - stored(master, jids)], "", target=0, note=f"of {count * len(jids)} under way")
    swarm.report.add(swarm.name("each minion's processor while it is away"), [away], "%", target=0.1)
    for _ in range(3):
        swarm.one_ping()


def delete_one(swarm):
    """One key is deleted: nobody else's connection changes."""
    master = swarm.master

    def since():
        with master.client() as client:
            return {i: m.get("since") for i, m in client.call("minions")["minions"].items() if m["connected"]}

    before = since()
    gone = f"swarm{swarm.count // 2:05d}"
    _, code = fleet.run_timed(master.command("salt-key", "-y", "-d", gone), swarm.out)
    if code != 0:
        raise BenchError(f"salt-key -d: exit code {code}")
    # An answer of everybody is time enough to have come back.
    _, code = fleet.run_timed(master.command("salt", "swarm*", "test.ping"), swarm.out)
    after = since()
    moved = [i for i in before if i != gone and after.get(i) != before[i]]
    if code != 0 or gone in after or swarm.returned() != swarm.count - 1:
        raise BenchError(f"exit code {code}, {swarm.returned()} returned, {gone} {'is' if gone in after else 'is not'} connected")
    swarm.report.add(swarm.name("others that reconnect when one key is deleted"), [len(moved)], "", target=0)


def away(bench):
    """A real minion's processor time while its master is not there."""
    master, minion = bench.small_fleet()
    master.stop()
    try:
        # Each look for the master takes memory that it gives back.
        bench.settle(minion.process.pid, moves=2)
        before = fleet.cpu_ns(minion.process.pid)
        time.sleep(AWAY_S)
        used = (fleet.cpu_ns(minion.process.pid) - before) / (AWAY_S * 1e9) * 100
    finally:
        master.start()
    bench.report.add("a minion's processor while its master is away", [used], "%", target=0.1)
    files = [len(os.listdir(f"/proc/{pid}/fd")) for pid in fleet.process_tree(minion.process.pid)]
    bench.report.add("a minion's descriptors, all its processes", [sum(files)], "", note=" + ".join(map(str, files)))


# ---- many at once -----------------------------------------------------------------------------------------------------


def concurrent(bench, new_swarm, count=2000, calls=200):
    """So many `salt '*' test.ping` at the same time; every return in every output, and in the store."""
    swarm = new_swarm(count)
    master = swarm.master
    swarm.one_ping()
    outs = [os.path.join(bench.site.root, f"call-{i}") for i in range(calls)]
    # Four hundred thousand returns take longer than a call waits for the first sign of a minion.
    argv = master.command("salt", "-t", "120", "*", "test.ping")
    with master.client() as client:
        seq = client.call("status")["counters"]["jobs"]
    start = time.monotonic()
    processes = []
    for path in outs:
        with open(path, "wb") as out:
            processes.append(subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL))
    codes = [p.wait(300) for p in processes]
    took = (time.monotonic() - start) * 1e3
    printed = []
    for path in outs:
        with open(path) as f:
            printed.append(len(re.findall(r"^swarm\d+:\n    True$", f.read(), re.M)))
        os.unlink(path)
    with master.client() as client:
        began = client.call("status")["counters"]["jobs"] - seq
    with contextlib.suppress(BenchError):
        fleet.wait_for("the store", 60, lambda: master.stored_returns(calls) == count * calls, 0.2)
    kept = master.stored_returns(calls)
    lost = sum(count - n for n in printed) + (count * calls - kept)
    note = f"{count * calls / took * 1e3:.0f} returns a second; {sum(c != 0 for c in codes)} calls failed, {began} jobs"
    bench.report.add(f"{calls} salt '*' test.ping at once, {count} minions", [took], "ms", note=note)
    bench.report.add(f"{calls} salt '*' test.ping at once: returns lost", [lost], "", target=0, note=f"of {count * calls}, printed and stored")
    bench.site.end()
    bench.pair = None


def accept(bench, count=9500):
    """salt-key -A of thousands of keys that wait in their folder."""
    master = bench.site.master()
    swarm = bench.site.swarm(master, count)
    swarm.make_keys(accepted=True)
    os.rename(os.path.join(master.pki, "minions"), os.path.join(master.pki, "minions_pre"))
    master.start()
    took, code = fleet.run_timed(master.command("salt-key", "-A", "-y"), os.path.join(bench.site.root, "keys"))
    there = len(os.listdir(os.path.join(master.pki, "minions")))
    if code != 0 or there != count:
        raise BenchError(f"salt-key -A: exit code {code}, {there} of {count} accepted")
    bench.report.add(f"salt-key -A of {count}, whole process", [took], "ms", target=2000)
    bench.site.end()
    bench.pair = None
