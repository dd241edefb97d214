"""world.py - one master and its minions as real processes, each in a network of its own when the program is root.

What is started carries HALITE_CHAOS=FOLDER in its environment, and so does all that it starts in turn.
"""

import contextlib
import ctypes
import json
import mmap
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time

from halite import LocalClient, Trouble, free_ports, marked, parents, strays, wait_for
from hub import Hub, open_tap
from sinks import Sinks

MASTER_NAME = "master.chaos"
NETWORK = "10.99.0."
DISK = {"salt-master": "256m", "salt-minion": "48m"}
FILES = {
    "state.sls": "it:\n  cmd.run:\n    - name: {{ pillar['line'] | yaml_dquote }}\n",
    "orch.sls": "first:\n  salt.function:\n    - name: cmd.run\n    - tgt: '*'\n    - arg: [{{ pillar['line'] | yaml_dquote }}]\n"
    "    - timeout: 5\n"
    "second:\n  salt.function:\n    - name: cmd.run\n    - tgt: m1\n    - arg: [{{ pillar['then'] | yaml_dquote }}]\n"
    "    - timeout: 5\n    - require:\n      - salt: first\n",
    "react.sls": "it:\n  local.cmd.run:\n    - tgt: {{ data['id'] }}\n    - arg: [{{ data['data']['line'] | yaml_dquote }}]\n",
}


class Page(ctypes.Structure):
    """See tests/preload/chaos.c."""

    _fields_ = [(n, ctypes.c_int32) for n in "left signal hit first to_first after sync_ms write_ms disk_errno unused".split()] + [
        ("shift_s", ctypes.c_int64),
        ("call", ctypes.c_char * 16),
        ("of", ctypes.c_char * 32),
        ("role", ctypes.c_char * 16),
        ("thread", ctypes.c_char * 16),
        ("root", ctypes.c_char * 256),
    ]


def open_page(path):
    size = ctypes.sizeof(Page)
    with open(path, "wb") as f:
        f.truncate(size)
    with open(path, "r+b") as f:
        return Page.from_buffer(mmap.mmap(f.fileno(), size))


def write_conf(path, options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.writelines(f"{key}: {json.dumps(value)}\n" for key, value in options.items())


def run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(argv)}: {done.stdout.decode(errors='replace').strip()}")


class Daemon:
    """The master or a minion: its folders, its network, and the process while there is one."""

    def __init__(self, world, name, number, program):
        self.world, self.name, self.program = world, name, program
        self.root = f"{world.folder}/{name}"
        self.conf_dir, self.log = f"{world.folder}/etc/{name}", f"{world.folder}/log/{name}"
        self.witness = f"{world.folder}/witness/{name}"
        self.temp = f"{world.folder}/tmp/{name}"
        self.process, self.start_at, self.address, self.number = None, None, NETWORK + str(number), number
        self.disk_was_bad = self.files_were_short = False
        self.deaths = []
        for path in (self.root, self.temp):
            os.makedirs(path)
        open(self.witness, "w").close()
        self.page = open_page(f"{world.folder}/pages/{name}")
        self.page.root = f"{self.root}/".encode()
        if world.rooted:
            run("mount", "-t", "tmpfs", "-o", f"size={DISK[program]},mode=0755", "chaos", self.root)

    def environment(self):
        return {
            **os.environ,
            "HALITE_CHAOS": self.world.folder,
            "CHAOS_PAGE": f"{self.world.folder}/pages/{self.name}",
            "CHAOS_WITNESS": self.witness,
            "LD_PRELOAD": self.world.library,
            "TMPDIR": self.temp,
            "SHELL": "/bin/sh",
        }

    def inside(self, argv):
        """The same command in this daemon's network."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *argv] if self.world.rooted else argv

    def start(self):
        env = self.environment()
        # nsenter would take the library to be meant for itself.
        words = ["env", f"LD_PRELOAD={env.pop('LD_PRELOAD')}", f"{self.world.bins}/{self.program}", "-c", self.conf_dir]
        with open(self.log, "ab") as log:
            log.write(f"---- round {self.world.round}\n".encode())
            log.flush()
            self.process = subprocess.Popen(self.inside(words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True)
        self.start_at = None

    @property
    def pid(self):
        """Of the running daemon; None."""
        return self.process.pid if self.process and self.process.poll() is None else None

    def look(self, now, pause):
        """Note its end, and start it again after a pause, as a supervisor does."""
        if self.process and self.process.poll() is not None:
            self.deaths.append(self.process.returncode)
            self.process, self.start_at = None, now + pause
        if self.process is None and self.start_at is not None and now >= self.start_at:
            self.start()

    def children(self):
        """(networking process or None, [jobs])."""
        net, jobs = None, []
        for pid, parent in parents().items():
            if parent != self.pid:
                continue
            with contextlib.suppress(OSError):
                if any("eventpoll" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")):
                    net = pid
                elif os.getsid(pid) == pid:
                    jobs.append(pid)
        return net, jobs

    def signal(self, pid, number):
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def spool(self):
        """What waits for a master on a minion's disk."""
        with contextlib.suppress(FileNotFoundError):
            return sorted(os.listdir(f"{self.root}/var/cache/salt/minion/spool"))
        return []

    def has_address(self, number):
        """Another address from now on."""
        run("ip", "-n", self.name, "address", "flush", "dev", "net0")
        self.address = NETWORK + str(number)
        run("ip", "-n", self.name, "address", "add", f"{self.address}/24", "dev", "net0")


class World:
    """The folder and all that runs in it."""

    def __init__(self, folder, bins, library, minions, rooted, seed):
        self.folder, self.bins, self.library, self.rooted, self.round = folder, bins, library, rooted, 0
        for name in "etc log witness pages tmp srv out sinks".split():
            os.mkdir(f"{folder}/{name}")
        self.cli_page = open_page(f"{folder}/pages/cli")
        self.hub = None
        if rooted:
            os.makedirs("/run/netns", exist_ok=True)
            run("mount", "-t", "tmpfs", "chaos", "/run/netns")
        self.master = Daemon(self, "master", 1, "salt-master")
        self.minions = [Daemon(self, f"m{i + 1}", 11 + i, "salt-minion") for i in range(minions)]
        self.daemons = [self.master, *self.minions]
        *self.ports, self.sink_port = (4505, 4506, 4507, 8088) if rooted else free_ports(4)
        if rooted:
            self._networks(seed)
        self.sinks = Sinks(self, random.Random(seed))
        self._configure()
        self.socket_path = f"{self.master.root}/sock/master.sock"
        self.store = f"{self.master.root}/var/cache/salt/master/jobs.db"

    def _networks(self, seed):
        taps = {}
        for d in self.daemons:
            run("ip", "netns", "add", d.name)
            taps[d.name] = open_tap(f"tap{d.number}")
            run("ip", "link", "set", f"tap{d.number}", "netns", d.name, "name", "net0")
            run("ip", "-n", d.name, "link", "set", "lo", "up")
            run("ip", "-n", d.name, "address", "add", f"{d.address}/24", "dev", "net0")
            run("ip", "-n", d.name, "link", "set", "net0", "up")
        self.hub = Hub(taps, seed)
        self.name_master()
        run("mount", "--bind", f"{self.folder}/hosts", "/etc/hosts")

    def name_master(self):
        with open(f"{self.folder}/hosts", "w") as f:
            f.write(f"127.0.0.1 localhost\n{self.master.address} {MASTER_NAME}\n")

    def _configure(self):
        publish, ret, hello = self.ports
        for name, text in FILES.items():
            with open(f"{self.folder}/srv/{name}", "w") as f:
                f.write(text)
        common = {"publish_port": publish, "hello_port": hello, "log_level": "info", "log_level_logfile": "quiet"}
        options = {
            **common,
            "interface": "0.0.0.0" if self.rooted else "127.0.0.1",
            "ret_port": ret,
            "root_dir": self.master.root,
            "sock_dir": f"{self.master.root}/sock",
            "file_roots": {"base": [f"{self.folder}/srv"]},
            "reactor": [{"chaos/react/*": [f"{self.folder}/srv/react.sls"]}],
            "auto_accept": True,
            **self.sinks.options,
        }
        write_conf(f"{self.master.conf_dir}/master", options)
        for m in self.minions:
            options = {
                **common,
                "id": m.name,
                "master": MASTER_NAME if self.rooted else "127.0.0.1",
                "master_port": ret,
                "root_dir": m.root,
                "acceptance_wait_time": 1,
                "random_reauth_delay": 0,
            }
            write_conf(f"{m.conf_dir}/minion", options)

    def start(self):
        self.sinks.start()
        self.master.start()
        wait_for("the master's answer", 20, self.status, 0.02)
        for m in self.minions:
            m.start()
        wait_for("connected minions", 20, lambda: self.connected() == {m.name for m in self.minions}, 0.05)

    def ask(self, op, seconds=10, **request):
        """The master's reply; None while there is none."""
        with contextlib.suppress(OSError, Trouble), LocalClient(self.socket_path, seconds) as client:
            return client.call(op, **request)
        return None

    def status(self):
        return self.ask("status")

    def connected(self):
        reply = self.ask("minions") or {}
        return {i for i, m in reply.get("minions", {}).items() if m["connected"] and m.get("subscribed", True)}

    def database(self):
        db = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=20)
        db.row_factory = sqlite3.Row
        return db

    def look(self, rng):
        now = time.monotonic()
        for d in self.daemons:
            d.look(now, rng.uniform(0, 0.5))

    def processes(self):
        """{pid: words} of all that was started here, and what that started."""
        return marked(f"HALITE_CHAOS={self.folder}")

    def strays(self):
        """Processes that belong to no daemon and no command."""
        found = strays(f"HALITE_CHAOS={self.folder}", {d.pid for d in self.daemons})
        return [f"{pid} {words[:150]}" for pid, words in found.items()]

    def stop(self):
        """Minions first. {name: exit code}."""
        codes = {}
        for d in [*self.minions, self.master]:
            if d.pid is None:
                continue
            d.signal(d.pid, signal.SIGCONT)
            d.signal(d.pid, signal.SIGTERM)
            try:
                codes[d.name] = d.process.wait(20)
            except subprocess.TimeoutExpired:
                d.process.kill()
                codes[d.name] = f"no end 20 s after SIGTERM, {d.process.wait()}"
            d.process = d.start_at = None
        return codes

    def close(self):
        for d in self.daemons:
            if d.pid:
                d.process.kill()
                d.process.wait()
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.sinks.close()
        if self.hub:
            self.hub.close()
        if self.rooted:
            run("umount", "/etc/hosts")
            for d in self.daemons:
                with contextlib.suppress(Trouble):
                    run("cp", "-a", d.root, f"{d.root}.kept")
                    run("umount", "-l", d.root)
                    os.rmdir(d.root)
                    os.rename(f"{d.root}.kept", d.root)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
