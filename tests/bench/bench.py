#!/usr/bin/env python3
"""bench.py - how fast, how small, how many: a table on the terminal, the same figures in BUILD/bench.json.

  bench.py --build DIR [--quick] [--swarm N ...] [--only NAME ...]

Times of commands are whole processes (spawn to wait), paired in turn with an empty one (`true`); the difference is shown.
Ratios compare with real Salt where a table of its figures is at hand (../shared/reference/FIGURES.md, or beside
$HALITE_REFERENCE), and with a bare libzmq round trip of the same size made in the same run.
"""

import argparse
import fnmatch
import json
import math
import os
import re
import select
import statistics
import subprocess
import sys
import time

import api
import beacons
import files
import fleet
import gather
import history
import pythons
import scale
import states
from fleet import BenchError

TRUE = "/bin/true"
IDLE_S = 5
REST_S = 1  # before a ping: acknowledgements and commits of the one before
PAIRS = 9
LARGE = 9500


# ---- rows ---------------------------------------------------------------------------------------------------------


class Report:
    """Rows as they are made, and the table at the end."""

    def __init__(self, reference):
        self.rows, self.reference, self.started = [], reference, time.monotonic()

    def progress(self, text):
        line = f"[{time.monotonic() - self.started:6.1f} s] {text}"
        print(f"\r\033[K{line}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    def add(self, name, values, unit, target=None, more=False, like=None, base=None, note=""):
        """`more`: larger is better. `like`: a row of the reference. `base`: (what, value) to show a ratio against."""
        values = sorted(values)
        row = {"name": name, "unit": unit, "n": len(values), "median": statistics.median(values), "min": values[0], "max": values[-1]}
        if target is not None:
            row["target"] = target
            row["met"] = row["median"] >= target if more else row["median"] <= target
        known = self.reference.get(like)
        if known and known[1] == unit and row["median"] > 0:
            row["salt"] = known[0]
            row["times_better"] = row["median"] / known[0] if more else known[0] / row["median"]
        if base and base[1]:
            row["base"], row["base_value"], row["base_ratio"] = base[0], base[1], row["median"] / base[1]
        if note:
            row["note"] = note
        self.rows.append(row)
        self.progress(f"{name}: {shown(row['median'], unit)}")

    def failed(self, name, why):
        self.rows.append({"name": name, "failed": str(why)})
        self.progress(f"{name}: FAILED: {why}")

    def table(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        head = ("measure", "median", "min", "max", "n", "target", "real Salt", "beside")
        lines = [head] + [cells(row) for row in self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        for line in lines:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        missed = [r["name"] for r in self.rows if r.get("met") is False or "failed" in r]
        print(f"\n{len(self.rows)} measures; " + (f"MISSED: {', '.join(missed)}" if missed else "all targets met"))
        return not missed


def shown(value, unit):
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    return f"{value:.{digits}f} {unit}"


def cells(row):
    if "failed" in row:
        return (row["name"], "FAILED", "", "", "", row["failed"], "", "")
    unit = row["unit"]
    target = salt = beside = ""
    if "target" in row:
        target = shown(row["target"], unit) + (" met" if row["met"] else " MISSED")
    if "salt" in row:
        salt = f"{shown(row['salt'], unit)}: {row['times_better']:.0f}x better"
    if "base" in row:
        beside = f"{row['base_ratio']:.2f} x {row['base']} ({shown(row['base_value'], unit)})"
    beside = ", ".join(part for part in (beside, row.get("note", "")) if part)
    return (row["name"], shown(row["median"], unit), shown(row["min"], unit), shown(row["max"], unit), str(row["n"]), target, salt, beside)


def read_reference():
    """{measure: (value, unit)} of the reference's table; milliseconds for times."""
    home = os.environ.get("HALITE_REFERENCE")
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
    path = os.path.join(home, "..", "FIGURES.md") if home else os.path.join(here, "shared/reference/FIGURES.md")
    figures = {}
    try:
        with open(path) as f:
            text = f.read()
    except OSError:
        return figures
    for name, value, unit in re.findall(r"^\| (.+?) \| ([\d.]+) (\S+) \|", text, re.M):
        figures[name] = (float(value) * 1000, "ms") if unit == "s" else (float(value), unit)
    for name, pss in re.findall(r"^\| ([^|]+?) \|[^|]+\|[^|]+\| (\d+)", text, re.M):
        figures.setdefault(name, (float(pss), "MB"))
    return figures


# ---- one minion -----------------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, site, report, quick):
        self.site, self.report, self.quick = site, report, quick
        self.pair = None

    def runs(self, full):
        return max(3, full // 4) if self.quick else full

    def small_fleet(self):
        """A master and one minion that is accepted and connected; made once."""
        if self.pair:
            return self.pair
        master = self.site.master()
        master.start()
        minion = self.site.minion(master, "m001")
        minion.start()
        self.accept(master, "m001")
        self.pair = master, minion
        self.settle(minion.process.pid)
        return self.pair

    def accept(self, master, name):
        def pending():
            with master.client() as client:
                return client.call("key_apply", action="accept", ids=[name], **{"from": ["minions_pre"]})["done"]

        fleet.wait_for(f"the key of {name}", 20, pending, 0.01)
        fleet.wait_for(f"the connection of {name}", 20, lambda: name in master.connected()[0], 0.002)

    def settle(self, pid, moves=1.002):
        """Until its memory has moved by no more than this for a second, and hardly any processor time was used."""
        seen = []

        def quiet():
            seen.append((fleet.memory_kb(pid), fleet.cpu_s(pid)))
            last = seen[-6:]
            sizes = [kb for kb, _ in last]
            return len(last) == 6 and max(sizes) <= moves * min(sizes) and last[-1][1] - last[0][1] <= 0.05

        fleet.wait_for("quiet", 30, quiet, 0.2)

    def command(self, name, argv, target, like, full=20, expect=None):
        """A whole process, and how much longer it takes than an empty one."""
        out = os.path.join(self.site.root, "out")
        _, code = fleet.run_timed(argv, out)
        with open(out) as f:
            text = f.read()
        if code != 0 or (expect and expect not in text):
            raise BenchError(f"exit code {code}, {text[:200]!r}")
        whole, over = [], []
        for _ in range(self.runs(full)):
            empty, _ = fleet.run_timed([TRUE])
            took, code = fleet.run_timed(argv)
            if code != 0:
                raise BenchError(f"exit code {code}")
            whole.append(took)
            over.append(took - empty)
        self.report.add(f"{name}, whole process", whole, "ms", like=like)
        self.report.add(f"{name}, above an empty process", over, "ms", target=target)

    def commands(self):
        master, minion = self.small_fleet()
        salt = master.command("salt", "*", "test.ping")
        self.command("salt '*' test.ping, 1 minion", salt, 6, "salt '*' test.ping M=1", 40, "True")
        self.command("salt --version", master.command("salt", "--version"), 3, "salt --version")
        call = minion.command("salt-call", "--local", "test.ping")
        self.command("salt-call --local test.ping", call, 7, "salt-call --local test.ping", expect="True")
        self.command("salt-key -L", master.command("salt-key", "-L"), None, "salt-key -L", expect="m001")
        self.command("salt-run test.arg 1", master.command("salt-run", "test.arg", "1"), None, "salt-run test.arg 1")
        call = minion.command("salt-call", "test.ping")
        self.command("salt-call test.ping", call, None, "salt-call test.ping (with master)", expect="True")

    def jobs(self):
        master, _ = self.small_fleet()
        argv = [os.path.join(self.site.tools, "seqjobs"), os.path.dirname(master.socket_path), "*", "glob"]
        count = 300 if self.quick else 1000
        results = []
        for _ in range(3):
            done = subprocess.run(argv + [str(count)], check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout))
        if any(r["returns"] != count for r in results):
            raise BenchError(f"returns: {[r['returns'] for r in results]}, expected {count} each")
        like = "LocalClient sequential test.ping (200), third run, quiet"
        per_second = [r["per_second"] for r in results]
        self.report.add(f"{count} jobs one after the other", per_second, "jobs/s", target=1000, more=True, like=like)

    def memory(self):
        # As those of the reference: nothing was asked of them yet.
        self.site.end()
        self.pair = None
        master, minion = self.small_fleet()
        self.settle(minion.process.pid)
        self.settle(master.process.pid)
        pss = fleet.memory_kb(minion.process.pid) / 1024
        self.report.add("idle minion, PSS of its processes", [pss], "MB", target=4, like="one minion")
        pss = fleet.memory_kb(master.process.pid) / 1024
        self.report.add("idle master, PSS of its processes", [pss], "MB", target=12, like="fresh master, with / without reactor")

    def ready(self):
        times = []
        master = self.site.master()
        for _ in range(self.runs(12)):
            times.append(master.start())
            master.stop()
        self.report.add("master start to answer", times, "ms", target=40, like="master start -> answers a request")
        master.start()
        times = []
        minion = self.site.minion(master, "m002")
        minion.start()
        self.accept(master, "m002")
        for _ in range(self.runs(12)):
            minion.stop()
            fleet.wait_for("the end of m002", 10, lambda: "m002" not in master.connected()[0])
            start = time.monotonic_ns()
            minion.start()
            fleet.wait_for("m002", 20, lambda: "m002" in master.connected()[0], 0.0005)
            times.append((time.monotonic_ns() - start) / 1e6)
        self.report.add("minion start to connected, key accepted", times, "ms", like="minion start -> first return (key accepted)")
        minion.stop()
        master.stop()


# ---- thousands --------------------------------------------------------------------------------------------------------


class SwarmBench:
    """One size of swarm: every measure starts from what the one before left running."""

    def __init__(self, bench, count):
        self.site, self.report, self.bench, self.count = bench.site, bench.report, bench, count
        self.out = os.path.join(self.site.root, "swarm.out")
        self.floor, self.prompt, self.bare = {}, 0, None

    def run(self):
        for name, step in (("bare libzmq", self.raw), ("connect", self.connect), ("ping", self.ping), ("ten targets", self.ten),
                           ("targeting", lambda: scale.targeting(self)), ("loss", self.loss), ("restart", lambda: scale.restart(self)),
                           ("deleted key", lambda: scale.delete_one(self))):
            self.report.progress(f"{self.count} minions: {name}")
            try:
                step()
            except (BenchError, subprocess.SubprocessError, OSError) as why:
                self.report.failed(f"{self.count} minions: {name}", why)
                if name == "connect":
                    break
        self.end_raw()
        self.site.end()
        self.bench.pair = None

    def name(self, what):
        return f"{self.count} minions: {what}"

    def goal(self, value):
        """Targets are of the largest fleet that descriptors allow."""
        return value if self.count >= LARGE else None

    def raw(self):
        argv = [os.path.join(self.site.tools, "rawloop"), str(self.count), str(fleet.swarm_processes(self.count)), "21",
                *map(str, fleet.free_ports(2))]
        self.bare = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.floor = json.loads(self.raw_line())
        note = f"{self.floor['router_ms']:.0f} ms when each is told by itself"
        self.report.add(self.name("bare libzmq, published and answered"), [self.floor["round_ms"]], "ms", note=note)

    def raw_line(self):
        ready, _, _ = select.select([self.bare.stdout], [], [], 300)
        line = self.bare.stdout.readline() if ready else ""
        if not line:
            self.end_raw()
            raise BenchError("the loop of bare libzmq ended")
        return line

    def raw_round(self):
        """Milliseconds of one more round of bare libzmq."""
        self.bare.stdin.write("\n")
        self.bare.stdin.flush()
        return float(self.raw_line())

    def end_raw(self):
        bare, self.bare = self.bare, None
        if not bare:
            return
        bare.stdin.close()
        try:
            bare.wait(30)
        except subprocess.TimeoutExpired:
            bare.kill()
            bare.wait()
        bare.stdout.close()

    def connect(self):
        self.master = self.site.master()
        self.swarm = self.site.swarm(self.master, self.count)
        self.swarm.make_keys(accepted=True)
        ready = self.master.start()
        self.report.add(self.name("master start to answer"), [ready], "ms")
        empty = fleet.memory_kb(self.master.process.pid)
        start = time.monotonic()
        self.swarm.start()
        self.await_counts("ready", 180)
        self.report.add(self.name("all connected"), [(time.monotonic() - start) * 1e3], "ms", base=("bare libzmq", self.floor.get("connect_ms")))
        fleet.wait_for("all subscribed", 180, lambda: self.master.connected()[1] == self.count, 0.5)
        self.report.add(self.name("all subscribed too"), [(time.monotonic() - start) * 1e3], "ms")
        self.bench.settle(self.master.process.pid)
        for field, what in (("Rss", "RSS"), ("Pss", "PSS")):
            kb = fleet.memory_kb(self.master.process.pid, field)
            note = f"{kb / 1024:.0f} MB in all, {empty / 1024:.0f} MB before the first came"
            self.report.add(self.name(f"master's {what} per minion"), [kb / self.count], "kB", target=self.goal(90), note=note)

        before = fleet.cpu_s(self.master.process.pid)
        time.sleep(IDLE_S)
        used = (fleet.cpu_s(self.master.process.pid) - before) / IDLE_S * 100
        self.report.add(self.name("idle master's processor"), [used], "%")

    def started(self):
        """Connected, without measuring it."""
        self.master = self.site.master()
        self.swarm = self.site.swarm(self.master, self.count)
        self.swarm.make_keys(accepted=True)
        self.master.start()
        self.swarm.start()
        self.await_counts("ready", 180)
        return self

    def await_counts(self, what, seconds):
        last = time.monotonic()

        def there():
            nonlocal last
            n = self.swarm.poll()[what]
            if time.monotonic() - last > 2:
                last = time.monotonic()
                self.report.progress(f"{self.count} minions: {n} {what}")
            return n == self.count

        fleet.wait_for(f"{self.count} minions {what}", seconds, there, 0.005)

    def returned(self):
        with open(self.out) as f:
            lines = f.read().split("\n")
        return sum(1 for a, b in zip(lines, lines[1:]) if a.startswith("swarm") and b == "    True")

    def one_ping(self):
        """Milliseconds until the command has ended and every return is in the store; self.prompt: until it has ended."""
        start = time.monotonic_ns()
        self.prompt, code = fleet.run_timed(self.master.command("salt", "*", "test.ping"), self.out)
        fleet.wait_for("the store", 10, lambda: self.master.stored_returns() == self.count, 0.002)
        took = (time.monotonic_ns() - start) / 1e6
        if code != 0 or self.returned() != self.count:
            raise BenchError(f"exit code {code}, {self.returned()} of {self.count} returned")
        return took

    def ping(self):
        self.one_ping()
        before = fleet.cpu_s(self.master.process.pid)
        times, prompts, floors = [], [], []
        # Machines have faster and slower seconds: each ping beside a round of its own, both from rest.
        for _ in range(PAIRS):
            time.sleep(REST_S)
            floors.append(self.raw_round() if self.bare else math.nan)
            time.sleep(REST_S)
            times.append(self.one_ping())
            prompts.append(self.prompt)
        cpu = (fleet.cpu_s(self.master.process.pid) - before) / PAIRS / self.count * 1e6
        base = ("bare libzmq", statistics.median(floors) if self.bare else None)
        self.end_raw()
        self.report.add(self.name("salt '*' test.ping, until the prompt"), prompts, "ms", base=base)
        self.report.add(self.name("salt '*' test.ping, printed and stored"), times, "ms", target=self.goal(1000), base=base, note=f"master {cpu:.0f} us of processor each")
        if base[1]:
            self.report.add(self.name("bare libzmq, a round before each of these"), floors, "ms")
            for what, took in (("until the prompt", prompts), ("printed and stored", times)):
                ratios = [t / floor for t, floor in zip(took, floors)]
                self.report.add(self.name(f"{what}, in rounds of bare libzmq"), ratios, "", target=self.goal(1.5))

    def ten(self):
        ids = ",".join(f"swarm{i:05d}" for i in range(0, self.count, self.count // 10))
        argv = self.master.command("salt", "-L", ids, "test.ping")
        times = []
        for _ in range(self.bench.runs(20)):
            took, code = fleet.run_timed(argv, self.out)
            if code != 0 or self.returned() != len(ids.split(",")):
                raise BenchError(f"exit code {code}, {self.returned()} returned")
            times.append(took)
        self.report.add(self.name("salt -L of ten, whole process"), times, "ms", target=self.goal(10), base=("bare libzmq", self.floor.get("ten_ms")))

    def loss(self):
        times = []
        for _ in range(self.bench.runs(20)):
            times.append(self.one_ping())
        self.report.add(self.name(f"{len(times)} pings in a row, none lost"), times, "ms")


TOUCH = """touchit:
  local.cmd.run:
    - tgt: {{ data['id'] }}
    - arg:
      - touch %s/react-{{ data['n'] }}
"""
PING = """pinged:
  local.test.ping:
    - tgt: {{ data['id'] }}
"""


def reactor(bench, minions=20):
    """An event to the end of the job that reacts to it; events at once."""
    site, root = bench.site, bench.site.folder()
    sls = os.path.join(root, "react.sls")

    def reactions(master, *words):
        argv = [os.path.join(site.tools, "reactions"), os.path.dirname(master.socket_path), *words]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def react(text):
        with open(sls, "w") as f:
            f.write(text)

    def latency(what, like=None):
        reactions(master, "one", "20", "m001")
        found = [reactions(master, "one", str(bench.runs(100)), "m001")["median_ms"] for _ in range(3)]
        bench.report.add(f"event to the end of its reaction on a minion ({what})", found, "ms", target=7, like=like)

    react(PING)
    master = site.master(reactor=[{"bench/react": [sls]}])
    master.start()
    minion = site.minion(master, "m001")
    minion.start()
    bench.accept(master, "m001")
    latency("test.ping")
    react(TOUCH % root)
    latency("cmd.run touch", like="reactor latency: event -> file touched")
    site.end()
    bench.pair = None
    react(PING)
    master = site.master(reactor=[{"bench/react": [sls]}])
    swarm = SwarmBench(bench, minions)
    swarm.swarm, swarm.master = site.swarm(master, minions), master
    swarm.swarm.make_keys(accepted=True)
    master.start()
    swarm.swarm.start()
    swarm.await_counts("ready", 60)
    reactions(master, "many", "500", "swarm", str(minions))
    found = [reactions(master, "many", str(bench.runs(10000)), "swarm", str(minions))["per_second"] for _ in range(3)]
    bench.report.add("reactions that publish a job, until all returns", found, "/s", target=2000, more=True)
    site.end()


def orchestrate(bench):
    """Ten steps, each a job of its own."""
    site = bench.site
    root = site.folder()
    with open(os.path.join(root, "ten.sls"), "w") as f:
        f.write("{% for i in range(10) %}\nstep{{ i }}:\n  salt.function:\n    - name: test.ping\n    - tgt: m001\n{% endfor %}\n")
    master = site.master(file_roots={"base": [root]})
    master.start()
    minion = site.minion(master, "m001")
    minion.start()
    bench.accept(master, "m001")
    command = master.command("salt-run", "state.orchestrate", "ten")
    bench.command("orchestrate 10 salt.function test.ping", command, 2940 / 30, "orchestrate 10 salt.function test.ping", expect="Succeeded: 10")
    site.end()
    bench.pair = None


def bus(bench):
    """Events through the bus, without loss: to one listener; to five of whom one is stopped, while others ask the master."""
    master = bench.site.master()
    master.start()
    like = "event bus 5000 events, 1 firer 1 listener"
    events, directory = 300000 if bench.quick else 900000, os.path.dirname(master.socket_path)

    def fire(count, listeners, stopped):
        argv = [os.path.join(bench.site.tools, "bus_bench"), directory, str(count), "500", str(listeners), str(stopped)]
        answers = []
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            start = time.monotonic()
            with master.client() as client:
                client.call("status")
            answers.append((time.monotonic() - start) * 1e3)
            time.sleep(0.01)
        out, err = process.communicate()
        if process.returncode != 0:
            raise BenchError(err)
        found = json.loads(out)
        if found["heard"] != [count] * (listeners - stopped):
            raise BenchError(f"lost: heard {found['heard']} of {count}, missed {found['missed']}")
        return found["per_second"], max(answers)

    one = [fire(events, 1, 0) for _ in range(3)]
    bench.report.add("events from one who fires to one listener", [n for n, _ in one], "ev/s", target=300000, more=True, like=like)
    five = [fire(events // 3, 5, 1) for _ in range(3)]
    bench.report.add("the same to five listeners, one of them stopped", [n for n, _ in five], "ev/s", target=100000, more=True, like=like)
    bench.report.add("the slowest answer to another operator meanwhile", [ms for _, ms in one + five], "ms", target=100)
    bench.report.add("master's memory after it", [fleet.memory_kb(master.process.pid) / 1024], "MB", target=128)
    master.stop()


def pending(bench, count=1000):
    """salt-key -A of many keys that wait."""
    master = bench.site.master()
    master.start()
    swarm = SwarmBench(bench, count)
    swarm.swarm, swarm.master = bench.site.swarm(master, count), master
    swarm.swarm.make_keys(accepted=False)
    start = time.monotonic()
    swarm.swarm.start()
    swarm.await_counts("pending", 120)
    bench.report.add(f"{count} new minions until all wait for acceptance", [(time.monotonic() - start) * 1e3], "ms")
    start = time.monotonic()
    took, code = fleet.run_timed(master.command("salt-key", "-A", "-y"), swarm.out)
    if code != 0:
        raise BenchError(f"salt-key: exit code {code}")
    bench.report.add(f"salt-key -A of {count}, whole process", [took], "ms")
    swarm.await_counts("ready", 60)
    bench.report.add(f"salt-key -A of {count} until all are connected", [(time.monotonic() - start) * 1e3], "ms")
    bench.site.end()
    bench.pair = None


# ---- main ---------------------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description="Figures of this build, beside real Salt's and a bare libzmq round trip.")
    parser.add_argument("--build", default="build", help="where make put bin/ and tests/bench/ (default: build)")
    parser.add_argument("--quick", action="store_true", help="fewer runs, and a swarm of 1000 only")
    parser.add_argument("--swarm", type=int, action="append", metavar="N", help="sizes of swarms (default: 1000, 5000 and 9500)")
    parser.add_argument("--minions", type=int, default=gather.COUNT, metavar="N", help="real minions that gather grains in Python")
    parser.add_argument("--history", type=int, nargs=2, metavar=("JOBS", "RETURNS"), default=[20000, 10], help="how long a past; returns of each job")
    parser.add_argument("--only", action="append", metavar="NAME", help="commands, jobs, memory, away, ready, pending, accept, concurrent, bus, reactor, beacons, orchestrate, states, python, gather, files, api, history, swarm-N; patterns too")
    args = parser.parse_args()
    sizes = args.swarm or ([1000] if args.quick else [1000, 5000, LARGE])
    report = Report(read_reference())
    build = os.path.abspath(args.build)
    with fleet.Site(os.path.join(build, "bin"), os.path.join(build, "tests/bench")) as site:
        bench = Bench(site, report, args.quick)
        steps = {"ready": bench.ready, "commands": bench.commands, "jobs": bench.jobs, "memory": bench.memory}
        steps["away"] = lambda: scale.away(bench)
        steps["pending"] = lambda: pending(bench)
        steps["accept"] = lambda: scale.accept(bench)
        steps["concurrent"] = lambda: scale.concurrent(bench, lambda n: SwarmBench(bench, n).started())
        steps["bus"] = lambda: bus(bench)
        steps["reactor"] = lambda: reactor(bench)
        steps["beacons"] = lambda: beacons.run(bench)
        steps["orchestrate"] = lambda: orchestrate(bench)
        steps["states"] = lambda: states.run(bench)
        steps["python"] = lambda: pythons.run(bench)
        steps["gather"] = lambda: gather.run(bench, args.minions)
        steps["files"] = lambda: files.run(bench)
        steps["api"] = lambda: api.run(bench)
        steps["history"] = lambda: history.run(bench, *args.history)
        steps.update({f"swarm-{n}": SwarmBench(bench, n).run for n in sizes})
        for name, step in steps.items():
            if args.only and not any(fnmatch.fnmatch(name, pattern) for pattern in args.only):
                continue
            report.progress(name)
            try:
                step()
            except (BenchError, subprocess.SubprocessError, OSError) as why:
                report.failed(name, why)
    met = report.table()
    with open(os.path.join(build, "bench.json"), "w") as f:
        json.dump({"when": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "processors": os.cpu_count(), "rows": report.rows}, f, indent=1)
        f.write("\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
