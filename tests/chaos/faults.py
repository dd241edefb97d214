"""faults.py - the table of faults: each has a name, what it needs, whom it hits, how it begins and how it ends.

Begin gets the world, the daemon that is hit and a source of randomness, and gives the function that ends the fault.
Faults that a process may not outlive leave it to the supervisor (Daemon.look) to start it again.
"""

import contextlib
import errno
import os
import resource
import signal
import time
from dataclasses import dataclass
from typing import Callable

from sinks import follower_pids

ROOT = "root"
TEN_YEARS = 10 * 365 * 86400


@dataclass
class Fault:
    name: str
    needs: str  # "" or ROOT
    whom: str  # "master", "minion" or "cli"
    begin: Callable
    long: bool = False  # what it breaks is noticed by heartbeats only
    weight: int = 4


# ---- every named point of a job's life: see src/master/jobs/README.md ------------------------------------------


@dataclass
class Point:
    """At a call of this name, on a file that ends so or a socket of this kind, in a process of this role."""

    name: str
    whom: str
    role: str
    call: str
    of: str
    after: bool
    most: int = 3  # it happens at one of the first so many
    thread: str = ""


BEFORE, AFTER = False, True
POINTS = [
    Point("a command's request is sent", "cli", "", "send", "unix", AFTER, 2),
    Point("a command is answered", "cli", "", "recv", "unix", AFTER, 3),
    Point("a request reaches the master", "master", "first", "recv", "unix", AFTER, 12),
    Point("the master answers on its local socket", "master", "first", "send", "unix", BEFORE, 20),
    Point("the master has answered on its local socket", "master", "first", "send", "unix", AFTER, 20),
    Point("rows are in the log, not on the disk", "master", "first", "sync", "-wal", BEFORE, 20, "store"),
    Point("rows are on the disk, nobody knows", "master", "first", "sync", "-wal", AFTER, 20, "store"),
    Point("rows are being written", "master", "first", "write", "-wal", BEFORE, 60, "store"),
    Point("the master sends to minions", "master", "first", "send", "tcp", BEFORE, 20),
    Point("the master has sent to minions", "master", "first", "send", "tcp", AFTER, 20),
    Point("the master hears minions", "master", "first", "recv", "tcp", AFTER, 40),
    Point("the minion hears the master", "minion", "net", "recv", "tcp", AFTER, 20),
    Point("a job is handed to the job server", "minion", "net", "send", "unix", BEFORE, 10),
    Point("a job was handed to the job server", "minion", "net", "send", "unix", AFTER, 10),
    Point("the job server hears of a job or a return", "minion", "first", "recv", "unix", AFTER, 20),
    Point("a job is to be marked", "minion", "first", "open", ".run", BEFORE),
    Point("a job's mark is empty", "minion", "first", "open", ".run", AFTER),
    Point("a job is marked, not forked", "minion", "first", "fork", "", BEFORE),
    Point("a job is forked", "minion", "first", "fork", "", AFTER),
    Point("a job's child begins", "minion", "job", "setsid", "", AFTER),
    Point("a job's child is to say its return", "minion", "job", "send", "unix", BEFORE),
    Point("a job's child has said its return", "minion", "job", "send", "unix", AFTER),
    Point("a return is to be spooled", "minion", "first", "rename", ".ret", BEFORE),
    Point("a return is spooled, its mark is there", "minion", "first", "rename", ".ret", AFTER),
    Point("a mark is gone, the return not sent", "minion", "first", "unlink", ".run", AFTER),
    Point("a return is to be sent", "minion", "net", "send", "tcp", BEFORE, 10),
    Point("a return is sent, not acknowledged", "minion", "net", "send", "tcp", AFTER, 10),
    Point("an acknowledged return is to be forgotten", "minion", "first", "unlink", ".ret", BEFORE),
    Point("an acknowledged return is forgotten", "minion", "first", "unlink", ".ret", AFTER),
]


def arm(page, point, rng, number, to_first):
    page.left = 0
    page.hit = 0
    page.signal, page.to_first, page.after = number, to_first, point.after
    page.call, page.of, page.role, page.thread = (t.encode() for t in (point.call, point.of, point.role, point.thread))
    page.left = rng.randint(1, point.most)


class AtPoint:
    """One of POINTS as a fault; `hits` counts how often it happened."""

    def __init__(self, point, what, number, to_first):
        self.point, self.number, self.to_first = point, number, to_first
        self.name, self.needs, self.whom = f"{what}: {point.name}", "", point.whom
        self.long, self.hits = False, 0

    def begin(self, world, daemon, rng):
        page = world.cli_page if self.whom == "cli" else daemon.page
        arm(page, self.point, rng, self.number, self.to_first)

        def end():
            page.left = 0
            if page.hit:
                self.hits += 1
                if self.number == signal.SIGSTOP:
                    pid = page.first if self.to_first else page.hit
                    if pid in world.processes():
                        os.kill(pid, signal.SIGCONT)
            page.hit = 0

        return end


def at_points():
    """Each point: the process dies; where it is a child, the daemon's first process dies too; the process stands still."""
    kill = [AtPoint(p, "kill -9", signal.SIGKILL, False) for p in POINTS]
    kill += [AtPoint(p, "kill -9 of the job server", signal.SIGKILL, True) for p in POINTS if p.role in ("net", "job")]
    return kill + [AtPoint(p, "SIGSTOP", signal.SIGSTOP, False) for p in POINTS]


# ---- signals at random moments ------------------------------------------------------------------------------------------


def _nothing():
    pass


def kill_first(world, daemon, rng):
    daemon.signal(daemon.pid, signal.SIGKILL)
    return _nothing


def stop_first(world, daemon, rng):
    pid = daemon.pid
    daemon.signal(pid, signal.SIGSTOP)
    return lambda: daemon.pid == pid and daemon.signal(pid, signal.SIGCONT)


def term_first(world, daemon, rng):
    daemon.signal(daemon.pid, signal.SIGTERM)
    return _nothing


def kill_net(world, daemon, rng):
    daemon.signal(daemon.children()[0], signal.SIGKILL)
    return _nothing


def stop_net(world, daemon, rng):
    pid = daemon.children()[0]
    daemon.signal(pid, signal.SIGSTOP)
    return lambda: pid in world.processes() and daemon.signal(pid, signal.SIGCONT)


def kill_job(world, daemon, rng):
    jobs = daemon.children()[1]
    daemon.signal(rng.choice(jobs) if jobs else None, signal.SIGKILL)
    return _nothing


def stop_job(world, daemon, rng):
    jobs = daemon.children()[1]
    pid = rng.choice(jobs) if jobs else None
    daemon.signal(pid, signal.SIGSTOP)
    return lambda: pid in world.processes() and daemon.signal(pid, signal.SIGCONT)


def kill_cli(world, daemon, rng):
    for command in world.commands:
        if command.process.poll() is None and rng.random() < 0.5:
            command.process.kill()
            command.disturbed = True
    return _nothing


def stop_cli(world, daemon, rng):
    stopped = [c for c in world.commands if c.process.poll() is None and rng.random() < 0.5]
    for command in stopped:
        command.process.send_signal(signal.SIGSTOP)
        command.disturbed = True

    def end():
        for command in stopped:
            command.process.send_signal(signal.SIGCONT)

    return end


# ---- followers of the journal, and the servers that they write to -------------------------------------------------------


def many_events(world, rng):
    """So many that followers are in the middle of them for a moment."""
    events = [{"tag": f"chaos/many/{i}", "data": {"n": rng.getrandbits(60), "text": "x" * 300}} for i in range(rng.choice([10, 300, 1500]))]
    world.ask("fire", 1, kept=True, events=events)
    time.sleep(rng.uniform(0, 0.05))


def kill_follower(world, daemon, rng):
    many_events(world, rng)
    pids = follower_pids(world)
    daemon.signal(rng.choice(pids) if pids else None, signal.SIGKILL)
    return _nothing


def stop_follower(world, daemon, rng):
    pids = follower_pids(world)
    pid = rng.choice(pids) if pids else None
    daemon.signal(pid, signal.SIGSTOP)
    return lambda: pid in world.processes() and daemon.signal(pid, signal.SIGCONT)


def kill_server(world, daemon, rng):
    server = rng.choice(world.sinks.servers())
    many_events(world, rng)
    server.kill()
    return server.start


def stop_server(world, daemon, rng):
    server = rng.choice(world.sinks.servers())
    server.signal(signal.SIGSTOP)
    return lambda: server.signal(signal.SIGCONT)


# ---- the network --------------------------------------------------------------------------------------------------------


def hole(world, daemon, rng):
    world.hub.set(daemon.name, down=True)
    return lambda: world.hub.clear(daemon.name)


def link_down(world, daemon, rng):
    os.system(f"ip -n {daemon.name} link set net0 down")
    return lambda: os.system(f"ip -n {daemon.name} link set net0 up")


def late(world, daemon, rng):
    most = rng.choice([0.02, 0.1, 0.4])
    world.hub.set(daemon.name, delay=[0, most])
    return lambda: world.hub.clear(daemon.name)


def lossy(world, daemon, rng):
    world.hub.set(daemon.name, loss=rng.choice([0.05, 0.3]), delay=[0, 0.01])
    return lambda: world.hub.clear(daemon.name)


def other_address(world, daemon, rng):
    daemon.has_address(daemon.number + 100 if daemon.address.endswith(f".{daemon.number}") else daemon.number)
    if daemon is world.master:
        world.name_master()
    return _nothing


# ---- the disk -----------------------------------------------------------------------------------------------------------


def full_disk(world, daemon, rng):
    daemon.disk_was_bad = True
    ballast = f"{daemon.root}/ballast"
    with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as f:
        while True:
            f.write(bytes(rng.choice([65536, 4096])))

    def end():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(ballast)

    return end


def refusing(code):
    def begin(world, daemon, rng):
        daemon.disk_was_bad = True
        daemon.page.disk_errno = code

        def end():
            daemon.page.disk_errno = 0

        return end

    return begin


def slow_disk(world, daemon, rng):
    daemon.page.sync_ms, daemon.page.write_ms = rng.choice([(500, 0), (50, 5), (1500, 1)])

    def end():
        daemon.page.sync_ms = daemon.page.write_ms = 0

    return end


# ---- clock and descriptors ----------------------------------------------------------------------------------------------


def clock(seconds):
    def begin(world, daemon, rng):
        daemon.page.shift_s = seconds

        def end():
            daemon.page.shift_s = 0

        return end

    return begin


def few_files(world, daemon, rng):
    pids = [daemon.pid]
    if daemon is not world.master:
        pids.append(daemon.children()[0])
    pid = rng.choice([p for p in pids if p] or [None])
    if pid is None:
        return _nothing
    daemon.files_were_short = True
    with contextlib.suppress(OSError):
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        n = len(os.listdir(f"/proc/{pid}/fd")) + rng.randint(0, 3)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (n, before[1]))

        def end():
            with contextlib.suppress(OSError):
                if pid in world.processes():
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

        return end
    return _nothing


FAULTS = [
    Fault("kill -9 of the master", "", "master", kill_first, weight=8),
    Fault("SIGTERM of the master", "", "master", term_first),
    Fault("the master stands still", "", "master", stop_first),
    Fault("kill -9 of a job server", "", "minion", kill_first, weight=8),
    Fault("SIGTERM of a minion", "", "minion", term_first),
    Fault("a job server stands still", "", "minion", stop_first),
    Fault("kill -9 of a networking process", "", "minion", kill_net, weight=8),
    Fault("a networking process stands still", "", "minion", stop_net),
    Fault("kill -9 of a job", "", "minion", kill_job),
    Fault("a job stands still", "", "minion", stop_job),
    Fault("kill -9 of commands", "", "cli", kill_cli),
    Fault("commands stand still", "", "cli", stop_cli),
    Fault("kill -9 of a follower", "", "master", kill_follower, weight=8),
    Fault("a follower stands still", "", "master", stop_follower),
    Fault("kill -9 of a follower's server", "", "master", kill_server, weight=8),
    Fault("a follower's server stands still", "", "master", stop_server),
    Fault("a hole in a minion's network", ROOT, "minion", hole),
    Fault("a hole in the master's network", ROOT, "master", hole),
    Fault("a minion's link is down", ROOT, "minion", link_down),
    Fault("frames to and from a minion are late and in another order", ROOT, "minion", late),
    Fault("frames to and from the master are late and in another order", ROOT, "master", late),
    Fault("frames to and from a minion are lost", ROOT, "minion", lossy),
    Fault("a minion's address changes", ROOT, "minion", other_address, long=True, weight=1),
    Fault("the master's address changes", ROOT, "master", other_address, long=True, weight=1),
    Fault("the master's disk is full", ROOT, "master", full_disk),
    Fault("a minion's disk is full", ROOT, "minion", full_disk),
    Fault("the master's disk has no room (as the system says)", "", "master", refusing(errno.ENOSPC), weight=2),
    Fault("the master's disk is read-only", "", "master", refusing(errno.EROFS)),
    Fault("a minion's disk is read-only", "", "minion", refusing(errno.EROFS)),
    Fault("the master's disk is broken", "", "master", refusing(errno.EIO), weight=2),
    Fault("the master's disk is slow", "", "master", slow_disk),
    Fault("a minion's disk is slow", "", "minion", slow_disk),
    Fault("the master's clock is ten years ahead", "", "master", clock(TEN_YEARS), weight=2),
    Fault("the master's clock is ten years behind", "", "master", clock(-TEN_YEARS), weight=2),
    Fault("a minion's clock is ten years ahead", "", "minion", clock(TEN_YEARS), weight=2),
    Fault("a minion's clock is ten years behind", "", "minion", clock(-TEN_YEARS), weight=2),
    Fault("the master has no descriptor left", "", "master", few_files),
    Fault("a minion has no descriptor left", "", "minion", few_files),
]
