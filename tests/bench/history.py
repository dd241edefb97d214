"""history.py - a master with a long past: jobs and returns made by the tool `history`, then its start, its files, the
runner `jobs`, and what goes on while old jobs are forgotten. See bench.py; `make bench-history` for a long one."""

import contextlib
import json
import os
import subprocess
import threading
import time

import fleet

DAYS = 30
STARTS = 5
QUIET_S = 5
LOOP_S = 1  # of the master: the first look at what is old comes so long after its start


def fill(bench, path, jobs, returns):
    tool = os.path.join(bench.site.tools, "history")
    made = subprocess.run([tool, "fill", path, str(jobs), str(returns), str(DAYS)], stdout=subprocess.PIPE, check=True)
    return json.loads(made.stdout)


def uncached(path):
    """Forget the file's pages: what is read comes from the disk."""
    with open(path, "rb") as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def starts(master, path=None):
    """Milliseconds of several starts."""
    values = []
    for _ in range(STARTS):
        if path:
            uncached(path)
        values.append(master.start())
        master.stop()
    return values


def newest(master, count):
    words = master.command("salt-run", "jobs.list_jobs_filter", str(count), "--out=json")
    jobs = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    if len(jobs) != count:
        raise fleet.BenchError(f"asked for the newest {count} jobs, got {len(jobs)}")
    return jobs


class Pings(threading.Thread):
    """test.ping of one minion again and again, and a look at a job: how long each takes, in milliseconds."""

    def __init__(self, master, minion, jid):
        super().__init__(daemon=True)
        self.commands = {
            "ping": master.command("salt", minion, "test.ping"),
            "look": master.command("salt-run", "jobs.lookup_jid", jid),
        }
        self.took, self.ended = {name: [] for name in self.commands}, threading.Event()

    def run(self):
        while not self.ended.is_set():
            for name, words in self.commands.items():
                ms, code = fleet.run_timed(words)
                self.took[name].append(ms if code == 0 else float("inf"))

    def stop(self, report, when):
        self.ended.set()
        self.join()
        report.add(f"the slowest salt m001 test.ping, {when}", [max(self.took["ping"])], "ms", note=f"of {len(self.took['ping'])}")
        report.add(f"the slowest jobs.lookup_jid, {when}", [max(self.took["look"])], "ms")


def forget(bench, master, what, jid, **options):
    """Restart with these options, and wait for the end of the forgetting; what is asked meanwhile makes new jobs."""
    master.stop()
    os.makedirs(os.path.join(master.conf_dir, "master.d"), exist_ok=True)
    with open(os.path.join(master.conf_dir, "master.d", "keep.conf"), "w") as f:
        f.writelines(f"{key}: {json.dumps(value)}\n" for key, value in {"loop_interval": LOOP_S, **options}.items())
    before, last = master.stored_jobs(), master.stored("SELECT max(num) FROM jobs")
    master.start()
    fleet.wait_for("the minion", 30, lambda: "m001" in master.connected()[0], 0.002)
    pings = Pings(master, "m001", jid)
    with master.client() as client:
        fleet.wait_for("the first that is forgotten", 60, lambda: client.call("status")["counters"]["store_expired"] > 0, 0.01)
        pings.start()
        start = time.monotonic()
        fleet.wait_for("the end of forgetting", 3600, lambda: not client.call("status")["expiring"], 0.01)
    s = time.monotonic() - start
    pings.stop(bench.report, f"while jobs are forgotten {what}")
    gone = before - master.stored("SELECT count(*) FROM jobs WHERE num <= ?", last)
    if gone <= 0:
        raise fleet.BenchError(f"{what}: nothing was forgotten")
    bench.report.add(f"jobs forgotten {what}, of {before}", [gone / s], "jobs/s", more=True, note=f"{gone} in {s:.1f} s")


def pause(bench, path, keep_seconds):
    """The writer alone: what a row waits for its commit while others are forgotten."""
    tool = os.path.join(bench.site.tools, "history")
    out = subprocess.run([tool, "forget", path, str(keep_seconds), "0"], stdout=subprocess.PIPE, check=True).stdout
    found = json.loads(out)
    note = f"{found['expired']} rows in {found['s']} s, {found['probes']} commits"
    bench.report.add("the longest wait for a commit while rows are forgotten", [found["longest_ms"]], "ms", target=50, base=("before", found["idle_ms"]), note=note)


def run(bench, jobs=20000, returns=10):
    master = bench.site.master(keep_jobs_seconds=0)
    bench.report.add("start of a master without a past", starts(master), "ms")
    cache = os.path.dirname(master.store_path)
    for name in os.listdir(cache):
        if name.startswith("jobs.db"):
            os.unlink(os.path.join(cache, name))
    made = fill(bench, master.store_path, jobs, returns)
    past = f"{jobs} jobs and {jobs * returns} returns"
    bench.report.add(f"{past}, made by the tool", [made["s"]], "s")
    bench.report.add(f"start of a master with {past}", starts(master, master.store_path), "ms")
    master.start()
    minion = bench.site.minion(master, "m001")
    minion.start()
    bench.accept(master, "m001")
    files = sum(len(names) for _, _, names in os.walk(cache))
    bench.report.add("files in the master's cache", [files], "files", target=10)
    bench.report.add("its size", [os.path.getsize(master.store_path) / 1e6], "MB")
    jid = newest(master, 50)[0]["JID"]
    runner = lambda *words: master.command("salt-run", *words)
    bench.command("jobs.list_jobs_filter 50", runner("jobs.list_jobs_filter", "50"), 20, None)
    bench.command("jobs.lookup_jid", runner("jobs.lookup_jid", jid), 5, None, expect="web")
    bench.command("jobs.list_job", runner("jobs.list_job", jid), 5, None, expect="web")
    bench.command("jobs.exit_success", runner("jobs.exit_success", jid), 5, None, expect="web")
    bench.command("jobs.active", runner("jobs.active"), 5, None)
    bench.command("jobs.last_run", runner("jobs.last_run"), 5, None)
    bench.command("jobs.last_run of a function that never ran", runner("jobs.last_run", "function=no.such"), 5, None)
    bench.command("jobs.last_run of a target that never was", runner("jobs.last_run", "target=no.such"), 5, None)
    bench.command("jobs.last_run of metadata that no job has", runner("jobs.last_run", "metadata={a: 1}"), None, None, full=4)
    bench.report.add("master's memory after it", [fleet.memory_kb(master.process.pid) / 1024], "MB")
    quiet = Pings(master, "m001", jid)
    quiet.start()
    time.sleep(QUIET_S)
    quiet.stop(bench.report, "while nothing is forgotten")
    forget(bench, master, "by age", jid, keep_jobs_seconds=DAYS * 86400 * 2 // 3)
    size = os.path.getsize(master.store_path)
    forget(bench, master, "by size", jid, keep_jobs_bytes=size // 8)
    bench.site.end()
    bench.pair = None
    pause(bench, master.store_path, DAYS * 86400 // 30)
    bench.report.add("its size after it", [os.path.getsize(master.store_path) / 1e6], "MB", note="what is free is used again")
    with contextlib.suppress(OSError):
        os.unlink(master.store_path)
