"""pythons.py - users' modules in Python: a job's first call, the next ones, files that import the package salt, a thousand states.

Where HALITE_SALT names a folder with Salt's package (HALITE_SALT_PYTHON its interpreter), Salt's own modules are called, too, and
Salt itself runs the same states."""

import json
import os
import resource
import statistics
import subprocess
import time

import fleet
import salts
from salts import PACKAGE as SALT, PYTHON

PLAIN = '''
def hello():
    return "hello"


def memory():
    """Bytes that this interpreter alone uses."""
    with open("/proc/self/smaps_rollup") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith(("Private_Clean:", "Private_Dirty:")))
'''
IMPORTING = '''
import salt.utils.files
import salt.utils.path
import salt.utils.stringutils
from salt.exceptions import CommandExecutionError


def hello():
    return "hello"
'''
STATE = '''
def done(name):
    return {"name": name, "result": True, "changes": {}, "comment": "there"}
'''
REPEATED = "{%% for i in range(%d) %%}{{ salt['plain.hello']() }}{%% endfor %%}\n"
THOUSAND = "{% for i in range(1000) %}\nown_{{ i }}:\n  own.done: []\n{% endfor %}\n"
NEXT_CALLS = 1000
REST_S = 0.5  # until the children of a job have been waited for

# Calls into Salt's modules that only look (tests/oracle/python_calls.py compares these functions' answers).
SALTS = (
    "salt_version.equal Sodium", "salt_version.less_than Neon", "salt_version.get_release_number Neon", "dnsutil.check_ip 10.0.0.1",
    "dnsutil.parse_hosts /etc/hosts", "aliases.list_aliases", "aliases.get_target nosuch", "sqlite3.version", "sqlite3.sqlite_version",
    "xml.get_value /nosuch a", "logrotate.show_conf /nosuch", "incron.list_tab root", "pam.read_file /nosuch", "dnsmasq.version",
)


def tree(folder):
    files = {
        "_modules/plain.py": PLAIN, "_modules/importing.py": IMPORTING, "_states/own.py": STATE, "thousand.sls": THOUSAND,
        "one.jinja": REPEATED % 1, "many.jinja": REPEATED % (NEXT_CALLS + 1),
    }
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)


class Jobs:
    """Jobs of one minion, through the master's socket."""

    def __init__(self, master, minion):
        self.master, self.minion = master, minion

    def run(self, fun, *arg):
        """Milliseconds, and the return."""
        start = time.monotonic_ns()
        said = subprocess.run(self.master.command("salt", self.minion, fun, *arg, "--out=json", "--static"), capture_output=True, text=True, check=False)
        took = (time.monotonic_ns() - start) / 1e6
        try:
            return took, json.loads(said.stdout)[self.minion]
        except (ValueError, KeyError):
            raise fleet.BenchError(f"{fun}: {said.stdout[:200]!r} {said.stderr[:200]!r}") from None

    def above_native(self, fun, *arg, count):
        """Milliseconds over a function in C, pair by pair."""
        self.run(fun, *arg)
        return [self.run(fun, *arg)[0] - self.run("test.ping")[0] for _ in range(count)]


def run(bench):
    roots = os.path.join(bench.site.root, "pythons")
    tree(roots)
    plain_jobs(bench, roots)
    thousand(bench, roots)
    thousand_jobs(bench, roots)
    if SALT:
        salts_modules(bench, roots)
    else:
        bench.report.progress("HALITE_SALT is not set: Salt's own modules are not called")


def jobs_of(bench, roots, **options):
    bench.site.end()
    bench.pair = None
    master = bench.site.master(file_roots={"base": [roots]})
    master.start()
    minion = bench.site.minion(master, "m001", **options)
    minion.start()
    bench.accept(master, "m001")
    jobs = Jobs(master, "m001")
    jobs.run("saltutil.sync_all")
    return jobs, minion


def plain_jobs(bench, roots):
    jobs, minion = jobs_of(bench, roots, python=PYTHON, extmod_blacklist={"modules": ["importing"]})
    add, count = bench.report.add, bench.runs(40)
    add("job of a plain module in Python, above a native one", jobs.above_native("plain.hello", count=count), "ms", target=45)
    add("its interpreter's own memory", [jobs.run("plain.memory")[1] / 1e6 for _ in range(3)], "MB", target=16)
    took = []
    for _ in range(bench.runs(8)):
        once, many = (jobs.run("cp.get_template", f"salt://{name}.jinja", "/dev/null")[0] for name in ("one", "many"))
        took.append((many - once) / NEXT_CALLS)
    add("each further call in the same job", took, "ms", target=0.3)

    jobs, minion = jobs_of(bench, roots, python=PYTHON)
    add("job of a module that imports salt", jobs.above_native("importing.hello", count=count), "ms", target=15)
    add("job of a plain module, forked", jobs.above_native("plain.hello", count=count), "ms")


def salts_modules(bench, roots):
    jobs, minion = jobs_of(bench, roots, python_salt=SALT, python=PYTHON)
    medians = []
    for call in SALTS:
        try:
            took = jobs.above_native(*call.split(), count=bench.runs(9))
        except fleet.BenchError as why:
            bench.report.progress(str(why))
            continue
        bench.report.progress(f"{call}: {statistics.median(took):.1f} ms")
        medians.append(statistics.median(took))
    bench.report.add(f"job of Salt's own modules, {len(medians)} functions", medians, "ms", target=15)


def thousand(bench, roots):
    """Wall and processor time beside Salt's, each in turn."""
    _, minion = jobs_of(bench, roots, python=PYTHON)
    words = ["--local", f"--file-root={roots}", "state.apply", "thousand", "--out=quiet"]
    ours = minion.command("salt-call", *words)
    sync = minion.command("salt-call", "--local", f"--file-root={roots}", "saltutil.sync_all")
    fleet.run_timed(sync)
    wall, cpu = [], []
    for _ in range(bench.runs(8)):
        took, used, code = timed(ours)
        if code != 0:
            raise fleet.BenchError(f"state.apply: exit code {code}")
        wall.append(took)
        cpu.append(used)
    base = (None, None)
    if SALT:
        seen = [timed(salts.command("salt-call", "-c", minion.conf_dir, *words), salts.ENVIRON) for _ in range(3)]
        if any(code for _, _, code in seen):
            raise fleet.BenchError("Salt's state.apply failed")
        base = [("real Salt", min(s[i] for s in seen)) for i in (0, 1)]
    bench.report.add("state.apply of 1000 states in Python", wall, "ms", base=base[0])
    bench.report.add("its processor time", cpu, "ms", base=base[1])


def thousand_jobs(bench, roots):
    """The same as a job: the first one of a minion, and those that follow it, beside jobs of Salt's minion, each in turn."""
    first, second, theirs = [], [], []
    for _ in range(bench.runs(8)):
        jobs, minion = jobs_of(bench, roots, python=PYTHON)
        jobs.run("test.ping")
        pids = minion.process.pid, jobs.master.process.pid
        first.append(job(jobs.run, *pids))
    pair = salts.SaltPair(bench.site, "m001", roots) if SALT else None
    if pair:
        pair.start()
        pair.run("saltutil.sync_states")
    for _ in range(bench.runs(20)):
        second.append(job(jobs.run, *pids))
        theirs += [job(pair.run, pair.pid, pair.running[0].pid)] if pair else []
    for what, i in (("its time", 0), ("its processor time", 1), ("the minion's part of it", 2)):
        base = ("real Salt", statistics.median(one[i] for one in theirs)) if theirs else None
        bench.report.add(f"job of 1000 states in Python, the minion's first: {what}", [one[i] for one in first], "ms", base=base)
        target = base[1] / 10 if base and i < 2 else None
        bench.report.add(f"the next ones: {what}", [one[i] for one in second], "ms", base=base, target=target)
        bench.report.add(f"the next ones beside the first: {what}", [one[i] / statistics.median(f[i] for f in first) for one in second], "times")


def job(run, minion, master):
    """Milliseconds as a user sees them, those of processor time that the command, the master and the minion take until they rest, and the minion's."""
    before = [fleet.cpu_s(pid, ended=True) for pid in (minion, master)]
    commands = resource.getrusage(resource.RUSAGE_CHILDREN)
    took, _ = run("state.apply", "thousand")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    time.sleep(REST_S)
    parts = [fleet.cpu_s(pid, ended=True) - at for pid, at in zip((minion, master), before)]
    command = after.ru_utime + after.ru_stime - commands.ru_utime - commands.ru_stime
    return took, (sum(parts) + command) * 1e3, parts[0] * 1e3


def timed(argv, env=None):
    """Milliseconds of wall and processor time, and the exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic_ns()
    code = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=False).returncode
    took = (time.monotonic_ns() - start) / 1e6
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, used * 1e3, code
