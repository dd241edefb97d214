#!/usr/bin/env python3
"""soak.py - whether memory stays flat: of a master under every kind of load at once, or of one minion in fast motion.

  soak.py --build DIR fleet  [--minutes 60] [--swarm 300] [--events 5000]
  soak.py --build DIR minion [--jobs 100000]

Memory is the PSS of all processes of the daemon; of a minion, at rest between a thousand jobs and the next. What must stay
flat of a minion is its own memory without the pages of files: its share of a library's rises when another program that maps
it ends. After a warm-up (the first third) a line is laid through the samples. Flat means: the line rises less than 2 % from
its beginning to its end, and no more than its noise or half a percent, where the noise is that of the means of ten equal
pieces (samples side by side are alike, pieces hardly). One JSON line at the end; exit code 1 when it is not flat, or when
something was lost meanwhile.
"""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time
import traceback

import fleet
from fleet import BenchError

WARM_UP = 1 / 3
GROWTH_MAX = 0.02
GROWTH_NOISE = 0.005  # of a line that is surer than its noise
T_MAX = 3.36  # of eight degrees of freedom: one in a hundred flat lines looks like a rising one
PIECES = 10
MINION_MAX_KB = 6 * 1024
# libzmq keeps room for so many messages each way of a connection, and touches all of it one after the other.
PIPE_MESSAGES = 512
READY_S, READY_EACH_S = 120, 1 / 50  # until a swarm is connected, on a machine that does other things too
STAYS_S = 3  # a job's process has ended by then
REST_S = 1.5  # a minion gives back what it does not use a second after its last job


class Told:
    """Lines about how far something is, each at least half a minute after the one before."""

    def __init__(self):
        self.start, self.next = time.monotonic(), 0.0

    def say(self, text):
        now = time.monotonic() - self.start
        if now >= self.next:
            self.next = now + 30
            print(f"[{now:7.0f} s] {text}", file=sys.stderr, flush=True)


# ---- flat, or not -----------------------------------------------------------------------------------------------------


def line_of(points):
    """Least squares: (slope, its standard error, value in the middle)."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    sxx = sum((x - mx) ** 2 for x, _ in points)
    slope = sum((x - mx) * (y - my) for x, y in points) / sxx
    rest = sum((y - my - slope * (x - mx)) ** 2 for x, y in points)
    return slope, (rest / (n - 2) / sxx) ** 0.5, my


def judge(samples, warm_up=WARM_UP):
    """Of (seconds, kB): what is to be printed, with `flat`."""
    start, end = samples[0][0], samples[-1][0]
    kept = [s for s in samples if s[0] >= start + (end - start) * warm_up]
    if len(kept) < 5 * PIECES:
        raise BenchError(f"{len(kept)} samples are too few to judge")
    size = len(kept) / PIECES
    pieces = [kept[int(i * size) : int((i + 1) * size)] for i in range(PIECES)]
    slope, error, mean = line_of([(sum(x for x, _ in p) / len(p), sum(y for _, y in p) / len(p)) for p in pieces])
    seconds = kept[-1][0] - kept[0][0]
    growth = slope * seconds / mean
    sure = slope > T_MAX * error
    return {
        "first_kb": samples[0][1],
        "mean_kb": round(mean),
        "last_kb": samples[-1][1],
        "highest_kb": max(kb for _, kb in kept),
        "samples": len(kept),
        "seconds": round(seconds),
        "slope_kb_per_hour": round(slope * 3600, 1),
        "slope_noise": round(error * 3600, 1),
        "growth_percent": round(growth * 100, 3),
        "flat": growth < GROWTH_MAX and not (sure and growth > GROWTH_NOISE),
    }


class Samples:
    """The memory of a daemon, as it goes: all of it, and its own without the pages of files. `each`: the latter is added up over its
    processes that stay, shared pages too. As PSS it would rise when one of two forked processes writes to a page that both had."""

    def __init__(self, what, pid, each=False):
        self.what, self.pid, self.all, self.own, self.told = what, pid, [], [], Told()
        self.own_is = ("Anonymous", STAYS_S) if each else ("Pss_Anon",)

    def take(self):
        now = time.monotonic() - self.told.start
        self.all.append((now, fleet.memory_kb(self.pid)))
        self.own.append((now, fleet.memory_kb(self.pid, *self.own_is)))
        self.told.say(f"{self.what}: {self.all[-1][1]} kB")


# ---- a fleet ----------------------------------------------------------------------------------------------------------


class Load:
    """Threads that each do one thing again and again until the end; what went wrong, and how often each went round."""

    def __init__(self):
        self.end, self.wrong, self.rounds, self.threads = threading.Event(), [], {}, []

    def begin(self, fn, pause):
        name = fn.__name__.strip("_")
        self.rounds[name] = 0

        def run():
            due = time.monotonic()
            try:
                while not self.end.wait(max(0.0, due - time.monotonic())):
                    fn()
                    self.rounds[name] += 1
                    due = max(due + pause, time.monotonic() - 10 * pause)
            except Exception:  # whatever it is, the run has failed and says why
                if not self.end.is_set():
                    self.wrong.append(f"{name}: {traceback.format_exc()}")

        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def stop(self):
        self.end.set()
        for thread in self.threads:
            thread.join(60)


class FleetSoak:
    """A master with a swarm that stays, one that comes and goes, and two real minions of which one restarts."""

    def __init__(self, site, args):
        self.site, self.args, self.load, self.stalled = site, args, Load(), []
        self.asked = self.late = 0
        # What is kept of the past is bounded too, so that a run of an hour forgets most of it.
        self.master = site.master(keep_jobs_seconds=300, auto_accept=True, file_roots={"base": [self._states()]})
        self.swarm = site.swarm(self.master, args.swarm)
        self.guests = site.swarm(self.master, max(10, args.swarm // 5), name="guest")

    def _states(self):
        self.folder = self.site.folder()
        with open(os.path.join(self.folder, "some.sls"), "w") as f:
            f.write("{% for i in range(50) %}\nnop_{{ i }}:\n  test.nop:\n    - name: nop {{ i }}\n{% endfor %}\n")
        return self.folder

    def begin(self):
        told = Told()
        told.say(f"keys of {self.swarm.count + self.guests.count} minions")
        for swarm in (self.swarm, self.guests):
            swarm.make_keys(accepted=True)
        self.master.start()
        self.real = [self.site.minion(self.master, name) for name in ("real1", "real2")]
        for one in [self.swarm, self.guests, *self.real]:
            one.start()

        def ready():
            here = self.swarm.poll()["ready"]
            told.say(f"{here} of {self.args.swarm} minions are connected")
            return here == self.args.swarm and len(self._here()) == 2

        fleet.wait_for("all minions", READY_S + READY_EACH_S * self.args.swarm, ready, 0.1)
        for n in range(PIPE_MESSAGES):
            told.say(f"jobs to all, to fill libzmq's pipes once: {n} of {PIPE_MESSAGES}")
            self._returns("*", "test.ping")
        load = self.load
        # A job to thousands takes a while: who asks again at once would never let them rest.
        for fn, pause in ((self._job_to_all, max(1, self.args.swarm / 1000)), (self._states_to_some, 2), (self._events, 0.1), (self._api, 0.05), (self._ask_runner, 2),
                          (self._stall, 7), (self._come_and_go, 20), (self._restart_real, 60)):
            load.begin(fn, pause)

    def _here(self):
        return self.master.connected()[0] & {"real1", "real2"}

    def _returns(self, tgt, fun, *arg, **more):
        with self.master.client() as client:
            returns, minions = client.job(tgt, fun, *arg, **more)
            jid = client.jid
        # A guest may leave before it has answered; and real2.
        stay = {m for m in minions if m.startswith("swarm") or m == "real1"}
        self.asked += len(stay)
        self._await_late(f"{fun}, job {jid}", jid, stay - returns.keys())

    def _await_late(self, what, jid, missing):
        """On a machine with too much to do the master may give a minion up that has not begun yet; its return comes all the same."""
        self.late += len(missing)
        out = os.path.join(self.folder, jid)

        def there():
            fleet.run_timed(self.master.command("salt-run", "jobs.lookup_jid", jid, "--out=json"), out)
            with open(out) as f:
                return not missing - json.load(f).keys()

        if missing:
            fleet.wait_for(f"{what}: returns of {sorted(missing)[:5]}", 120, there, 1)

    def _job_to_all(self):
        # Who leaves in the middle of a job keeps it open: those that stay are a target of their own.
        self._returns("swarm*", "test.ping")
        with self.master.client() as client:
            client.call("publish", tgt="*", fun="test.ping")

    def _states_to_some(self):
        self._returns("swarm*", "state.apply", subset=10)
        self._returns("real1", "state.apply", "some")
        self._returns("os:Rocky", "grains.items", tgt_type="grain", subset=20)

    def _events(self):
        n = self.args.events // 10
        with self.master.client() as client:
            fired = [{"tag": f"soak/{i}", "data": {"number": i, "text": "x" * 200}} for i in range(n)]
            if not client.call("fire", events=fired)["ok"]:
                raise BenchError("the master does not take events")

    def _api(self):
        with self.master.client() as client:
            for op, request in (("status", {}), ("minions", {}), ("active", {}), ("match", {"tgt": "G@os:Debian and *1", "tgt_type": "compound"}),
                                ("grains", {"tgt": "swarm0000*", "tgt_type": "glob"})):
                if not client.call(op, **request)["ok"]:
                    raise BenchError(f"{op} is refused")

    def _ask_runner(self):
        for words in (("jobs.list_jobs",), ("manage.up",)):
            _, code = fleet.run_timed(self.master.command("salt-run", *words))
            if code != 0:
                raise BenchError(f"salt-run {words[0]}: exit code {code}")

    def _stall(self):
        """One more listener to everything that never reads; the oldest goes."""
        client = self.master.client()
        client.send("events")
        self.stalled.append(client)
        if len(self.stalled) > 5:
            self.stalled.pop(0).sock.close()

    def _come_and_go(self):
        if self.guests.process and random.random() < 0.5:
            self.guests.end(signal.SIGKILL)
        else:
            self.guests.stop()
        self.guests.start()

    def _restart_real(self):
        self.real[1].stop()
        self.real[1].start()

    def run(self):
        self.begin()
        samples = Samples("master", self.master.process.pid)
        while samples.all[-1:] == [] or samples.all[-1][0] < self.args.minutes * 60:
            samples.take()
            time.sleep(min(2.0, self.args.minutes / 5))
            if self.load.wrong or self.master.process.poll() is not None:
                break
        self.load.stop()
        while self.stalled:
            self.stalled.pop().sock.close()
        found = {"rounds": self.load.rounds, "returns": self.asked, "late": self.late, "events": self.load.rounds["events"] * (self.args.events // 10)}
        if self.load.wrong or self.master.process.poll() is not None:
            raise BenchError("".join(self.load.wrong) or "the master ended")
        judged = judge(samples.all)
        found["mean_kb_per_minion"] = round(judged["mean_kb"] / (self.swarm.count + self.guests.count), 1)
        return {**judged, **found}


# ---- a minion ---------------------------------------------------------------------------------------------------------


def minion_soak(site, args):
    """A day's jobs, as fast as they go."""
    roots = site.folder()
    with open(os.path.join(roots, "some.sls"), "w") as f:
        f.write("some:\n  test.nop: []\nthere:\n  file.managed:\n    - name: " + os.path.join(roots, "there") + "\n    - contents: text\n")
    master = site.master(file_roots={"base": [roots]}, auto_accept=True, keep_jobs_seconds=300)
    master.start()
    minion = site.minion(master, "real1")
    minion.start()
    fleet.wait_for("the minion", 30, lambda: "real1" in master.connected()[0], 0.01)
    mixed = (("cmd.run", ["echo some text"]), ("grains.items", []), ("state.apply", ["some"]), ("test.echo", ["x" * 10000]), ("no.such", []))
    pid = minion.process.pid
    rest, busy, done, staying = Samples("minion at rest", pid), Samples("minion at work", pid), 0, fleet.process_tree(pid)

    def at_rest():
        return abs(fleet.memory_kb(pid) - (time.sleep(0.3) or fleet.memory_kb(pid))) <= 8

    def sample():
        # A job's own process is no part of what must stay flat.
        fleet.wait_for("the end of the job's process", 10, lambda: fleet.process_tree(pid) == staying)
        busy.take()
        time.sleep(REST_S)
        fleet.wait_for("rest", 20, at_rest, 0.2)
        rest.take()

    with master.client() as client:
        while done < args.jobs:
            fun, arg = mixed[done // 20 % len(mixed)] if done % 20 == 0 else ("test.ping", [])
            returns, _ = client.job("real1", fun, *arg)
            if "real1" not in returns:
                raise BenchError(f"job {done}: {fun} did not return")
            done += 1
            if done % max(1, args.jobs // 100) == 0:
                sample()
    found = {**judge(rest.own), "jobs": done}
    found["highest_with_files_kb"], found["highest_at_work_kb"] = (max(kb for _, kb in s.all) for s in (rest, busy))
    found["small"] = max(found["highest_with_files_kb"], found["highest_at_work_kb"]) <= MINION_MAX_KB
    return found


def main():
    parser = argparse.ArgumentParser(description="Whether memory stays flat.")
    parser.add_argument("--build", default="build", help="where make put bin/ and tests/bench/ (default: build)")
    parser.add_argument("what", choices=("fleet", "minion"), nargs="?", default="fleet")
    parser.add_argument("--minutes", type=float, default=60, help="of a fleet")
    parser.add_argument("--swarm", type=int, default=300, help="minions that stay; a fifth more come and go")
    parser.add_argument("--events", type=int, default=5000, help="a second")
    parser.add_argument("--jobs", type=int, default=100000, help="of a minion")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    with fleet.Site(os.path.join(build, "bin"), os.path.join(build, "tests/bench")) as site:
        try:
            found = FleetSoak(site, args).run() if args.what == "fleet" else minion_soak(site, args)
        except (BenchError, OSError) as why:
            print(json.dumps({"what": args.what, "failed": str(why)}))
            return 1
    print(json.dumps({"what": args.what, **found}))
    return 0 if found["flat"] and found.get("small", True) else 1


if __name__ == "__main__":
    sys.exit(main())
