"""fleet.py - what bench.py starts and asks: masters, minions and swarms in one temporary root, on free loopback ports.

Everything that is started here is ended here, by its own process id. Python's standard library only.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from halite import LocalClient, Trouble as BenchError, free_ports, parents, process_tree, wait_for  # noqa: E402

GRAINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grains.json")
OPEN_FILES = 20000  # asked for; the hard limit of the machine may be lower


def run_timed(argv, out_path="/dev/null", env=os.environ):
    """Spawn, wait: (milliseconds, exit code)."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, out_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, out_path + ".err" if out_path != "/dev/null" else out_path, os.O_WRONLY | os.O_CREAT, 0o600),
    ]
    start = time.monotonic_ns()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    _, status, _ = os.wait4(pid, 0)
    return (time.monotonic_ns() - start) / 1e6, os.waitstatus_to_exitcode(status)


def age_s(pid):
    """Seconds since the process began."""
    with open(f"/proc/{pid}/stat") as f, open("/proc/uptime") as up:
        began = int(f.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(up.read().split()[0]) - began


def memory_kb(pid, field="Pss", older_s=0):
    """A field of smaps_rollup, added up over the process and its children, or those that have lived so long."""
    total = 0
    for one in process_tree(pid):
        with contextlib.suppress(OSError):
            if older_s and age_s(one) < older_s:
                continue
        with contextlib.suppress(OSError), open(f"/proc/{one}/smaps_rollup") as f:
            total += int(re.search(rf"^{field}:\s+(\d+) kB", f.read(), re.M).group(1))
    return total


def cpu_s(pid, ended=False):
    """Processor seconds of the process and its children so far; with `ended`, of those too that have ended."""
    ticks = 0
    for one in process_tree(pid):
        with contextlib.suppress(OSError), open(f"/proc/{one}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11 : 15 if ended else 13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def cpu_ns(pid):
    """The same in nanoseconds, of processes that live on."""
    total = 0
    for one in process_tree(pid):
        for task in os.listdir(f"/proc/{one}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{one}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
    return total


class Master:
    """One master with its own folders and ports. It may be started and stopped several times."""

    def __init__(self, bins, root, **options):
        self.bins, self.root, self.process = bins, root, None
        self.conf_dir = os.path.join(root, "etc")
        os.makedirs(self.conf_dir)
        self.publish_port, self.ret_port, self.hello_port = free_ports(3)
        options = {
            "interface": "127.0.0.1",
            "publish_port": self.publish_port,
            "ret_port": self.ret_port,
            "hello_port": self.hello_port,
            "root_dir": root,
            "sock_dir": os.path.join(root, "sock"),
            "log_level": "warning",
            "max_open_files": OPEN_FILES,
            **options,
        }
        with open(os.path.join(self.conf_dir, "master"), "w") as f:
            f.writelines(f"{key}: {json.dumps(value)}\n" for key, value in options.items())
        self.socket_path = os.path.join(root, "sock", "master.sock")
        self.pki = os.path.join(root, "etc/salt/pki/master")
        self.store_path = os.path.join(root, "var/cache/salt/master/jobs.db")

    def command(self, name, *words):
        return [os.path.join(self.bins, name), "-c", self.conf_dir, *words]

    def start(self):
        """Until it answers a local request: milliseconds."""
        log = open(os.path.join(self.root, "master.log"), "ab")
        start = time.monotonic_ns()
        self.process = subprocess.Popen(self.command("salt-master"), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        wait_for("the master's answer", 60, self._answers, 0.0005)
        return (time.monotonic_ns() - start) / 1e6

    def _answers(self):
        if self.process.poll() is not None:
            raise BenchError(f"salt-master ended with {self.process.returncode}; see {self.root}/master.log")
        with contextlib.suppress(OSError), self.client() as client:
            return client.call("status")["ok"]
        return False

    def client(self):
        return LocalClient(self.socket_path)

    def stop(self):
        """Milliseconds until it has ended."""
        if self.process is None:
            return 0.0
        start = time.monotonic_ns()
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            raise BenchError("salt-master did not end within 30 s after SIGTERM")
        self.process = None
        return (time.monotonic_ns() - start) / 1e6

    def connected(self):
        """Ids that are connected, and how many of them are subscribed."""
        with self.client() as client:
            minions = client.call("minions")["minions"]
        return {i for i, m in minions.items() if m["connected"]}, sum(1 for m in minions.values() if m.get("subscribed"))

    def stored_returns(self, jobs=1):
        """How many returns of the newest jobs are in the store."""
        return self.stored("SELECT count(*) FROM returns WHERE jid IN (SELECT jid FROM jobs ORDER BY start_us DESC LIMIT ?)", jobs)

    def stored_jobs(self):
        """How many jobs are in the store."""
        return self.stored("SELECT count(*) FROM jobs")

    def stored(self, query, *values):
        """The number that the store answers."""
        db = sqlite3.connect(f"file:{self.store_path}?mode=ro", uri=True)
        try:
            return db.execute(query, values).fetchone()[0]
        finally:
            db.close()


class Minion:
    """One real minion."""

    def __init__(self, bins, root, master, name, **options):
        self.name, self.process, self.bins, self.root = name, None, bins, root
        self.conf_dir = os.path.join(root, "etc")
        os.makedirs(self.conf_dir)
        options = {
            "master": "127.0.0.1",
            "master_port": master.ret_port,
            "publish_port": master.publish_port,
            "hello_port": master.hello_port,
            "id": name,
            "root_dir": root,
            "log_level": "warning",
            "acceptance_wait_time": 1,
            **options,
        }
        with open(os.path.join(self.conf_dir, "minion"), "w") as f:
            f.writelines(f"{key}: {json.dumps(value)}\n" for key, value in options.items())

    def command(self, name, *words):
        return [os.path.join(self.bins, name), "-c", self.conf_dir, *words]

    def start(self, lowest=False):
        log = open(os.path.join(self.root, "minion.log"), "ab")
        argv = ["nice", "-n", "19"] * lowest + self.command("salt-minion")
        self.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process = None


class Swarm:
    """Sessions of thousands of minions, in a few processes. With `grains` they send some, as real minions do."""

    def __init__(self, tools, root, master, count, grains=True, name="swarm"):
        self.tool, self.grains = os.path.join(tools, "swarm"), [GRAINS] if grains else []
        self.env = {**os.environ, "SWARM_NAME": name}
        self.keys, self.master, self.count, self.process = os.path.join(root, "keys"), master, count, None
        self.counts = {"ready": 0, "pending": 0, "jobs": 0}

    def make_keys(self, accepted):
        words = [self.tool, "keys", str(self.count), self.keys] + ([self.master.pki] if accepted else [])
        subprocess.run(words, check=True, env=self.env)

    def start(self):
        ports = [str(p) for p in (self.master.ret_port, self.master.publish_port, self.master.hello_port)]
        argv = [self.tool, "run", str(self.count), str(swarm_processes(self.count)), self.keys, self.master.pki, "127.0.0.1"]
        self.process = subprocess.Popen(argv + ports + self.grains, env=self.env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        # A swarm whose counts nobody reads would stand still when the pipe is full.
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def _read(self, lines):
        for line in lines:
            if line.endswith(b"\n"):
                self.counts = json.loads(line)

    def poll(self):
        """The newest counts."""
        if self.process.poll() is not None:
            raise BenchError(f"the swarm ended with {self.process.returncode}")
        return self.counts

    def stop(self):
        if self.process is None:
            return
        self.end(signal.SIGTERM)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process = None


def swarm_processes(count):
    """Each minion has six descriptors, and its place in lists of libzmq that are searched from the beginning."""
    return max(2, -(-count // 1200))


class Site:
    """The temporary root and all that runs in it."""

    def __init__(self, bins, tools):
        self.bins, self.tools, self.number = bins, tools, 0
        self.root = tempfile.mkdtemp(prefix="salt-bench-")
        self.open = []

    def __enter__(self):
        # Who ends the program ends what it started.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
        return self

    def __exit__(self, *unused):
        self.end()
        shutil.rmtree(self.root, ignore_errors=True)

    def end(self):
        """Stop what runs, newest first."""
        while self.open:
            with contextlib.suppress(BenchError):
                self.open.pop().stop()

    def folder(self):
        self.number += 1
        path = os.path.join(self.root, str(self.number))
        os.mkdir(path)
        return path

    def master(self, **options):
        self.open.append(Master(self.bins, self.folder(), **options))
        return self.open[-1]

    def minion(self, master, name, **options):
        self.open.append(Minion(self.bins, self.folder(), master, name, **options))
        return self.open[-1]

    def swarm(self, master, count, **options):
        self.open.append(Swarm(self.tools, self.folder(), master, count, **options))
        return self.open[-1]
