#!/usr/bin/env python3
"""reach.py - what comes in and what goes out, for long or fast.

  reach.py --build DIR soak  [--minutes 60]     beacons, followers, engines and jobs at once: is memory flat?
  reach.py --build DIR live  [--minutes 6]      the same as fast as it goes: does a process hold more the more was done?
  reach.py --build DIR idle  [--minutes 5]      what eleven beacons cost at their default intervals while nothing happens
  reach.py --build DIR quiet [--minutes 2]      what followers cost for which nothing comes, beside ten events a second
  reach.py --build DIR rates [--returns 12000]  returns a second of followers into PostgreSQL and Redis, beside bare loops

soak: a master with followers (a file, and Redis where redis-server is installed), engines and a schedule, two minions with beacons
(one in Python), engines, a schedule and a returner; memory is that of each process that stays, without the pages of files, judged as in
soak.py, of the last third. Early on every follower is killed. What is before is a warm-up: the C library keeps free blocks
for the next ones, of each size as many as were free at one time, and a load without a pause takes most of an hour to touch the last
of those pages. In an hour the pages of a job server grew by 15 % (1.70 to 1.96 MB) and of a networking process by 12 % (1.89 to 2.13 MB)
in 40 minutes, and no more; what they held was the same to the byte (660 kB, 2,576 blocks) after a quarter of an hour and at the end.
On a machine with much else to do, one job server had its last pages (2.02 MB) after 21 minutes and the other (2.05 MB) after 50.
live: that is what is measured here, by tests/preload/live.so: the bytes that each process holds at rest after each of six rounds (the least in
a while), in which an hour's work passes in minutes; from the third on daemons are reloaded as well. What a job, an event or a reload
left behind would show as a multiple of them.
rates: the journal is full when the follower begins, so that its own speed shows; the bare loops (bareloop.c, built here with libpq's
and hiredis's headers) write the same rows, 500 in a transaction or in a pipeline. One JSON line at the end; exit code 1 when memory
grows, something is missing, or a follower takes more than RATIO_MAX times as long.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import fleet
import live
from fleet import BenchError
from soak import STAYS_S, Load, Samples, judge

RATIO_MAX = 1.5
IDLE_PERCENT_MAX, IDLE_KB_MAX = 0.1, 512  # of a processor, and beside a minion without beacons
SOAK_WARM_UP = 2 / 3
QUIET_WRITES_MAX = 0.1  # a second, of a follower for which nothing comes
PG_BIN = "/usr/lib/postgresql/15/bin"
TABLES = """CREATE TABLE jids (jid varchar(255) NOT NULL PRIMARY KEY, load jsonb NOT NULL);
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, return jsonb NOT NULL, id varchar(255) NOT NULL,
  success varchar(10) NOT NULL, full_ret jsonb NOT NULL, alter_time TIMESTAMP WITH TIME ZONE DEFAULT NOW());
CREATE SEQUENCE seq_salt_events_id;
CREATE TABLE salt_events (id BIGINT NOT NULL UNIQUE DEFAULT nextval('seq_salt_events_id'), tag varchar(255) NOT NULL, data jsonb NOT NULL,
  alter_time TIMESTAMP WITH TIME ZONE DEFAULT NOW(), master_id varchar(255) NOT NULL);
CREATE INDEX idx_salt_returns_jid ON salt_returns (jid);"""


def redis_here():
    return shutil.which("redis-server") and shutil.which("redis-cli")


SERVERS = []  # that run


def with_servers(what, site, args):
    """What it finds; servers end, whatever comes."""
    try:
        return what(site, args).run()
    finally:
        for one in list(SERVERS):
            one.stop()


class Redis:
    """A server of our own on a Unix socket."""

    def __init__(self, folder, begin=True):
        self.folder, self.sock, self.line = folder, os.path.join(folder, "redis.sock"), None
        if begin:
            self.start()

    @classmethod
    def later(cls, folder):
        return cls(folder, False)

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.sock, "--dir", self.folder, "--save", ""], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        SERVERS.append(self)
        fleet.wait_for("redis", 20, lambda: self.ask("ping") == "PONG", 0.05)

    def returns(self):
        """How many are stored, by a connection that costs the server little."""
        if self.line is None:
            self.line = socket.socket(socket.AF_UNIX)
            self.line.connect(self.sock)
        count = "local n = 0 for _, k in ipairs(redis.call('keys', 'ret:*')) do n = n + redis.call('hlen', k) end return n"
        self.line.sendall(b"".join([b"*3\r\n"] + [b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in ("eval", count, "0")]))
        return int(self.line.recv(64)[1:])

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-s", self.sock, *words], capture_output=True, text=True).stdout.strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class Postgres:
    """A server of our own on a Unix socket."""

    def __init__(self, folder):
        self.folder, self.root, self.line = folder, os.geteuid() == 0, None
        if self.root:
            os.chmod(folder, 0o711)
            shutil.chown(folder, "postgres")
        self._run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "salt", "--no-sync")
        self.start()
        self.sql(TABLES)

    def start(self):
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", f"-c listen_addresses= -k {self.folder}", "start")
        SERVERS.append(self)

    def _run(self, program, *words):
        argv = [f"{PG_BIN}/{program}", *words]
        subprocess.run(["runuser", "-u", "postgres", "--", *argv] if self.root else argv, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def returns(self):
        """How many are stored, by one session: a psql for each question would take a core of its own."""
        if self.line is None:
            self.line = subprocess.Popen(["psql", "-qAt", "-h", self.folder, "-U", "salt", "-d", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.line.stdin.write("SELECT count(*) FROM salt_returns;\n")
        self.line.stdin.flush()
        return int(self.line.stdout.readline())

    def sql(self, text):
        return subprocess.run(["psql", "-qAt", "-h", self.folder, "-U", "salt", "-d", "postgres", "-c", text], check=True, capture_output=True, text=True).stdout.strip()

    def stop(self):
        if self in SERVERS:
            SERVERS.remove(self)
        if self.line is not None:
            self.line.communicate()
            self.line = None
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", "fast", "stop")


# ---- soak -------------------------------------------------------------------------------------------------------------


class Reach:
    """What comes in and goes out of a master and two minions."""

    TELL = ("counts", "diskusage", "load", "memusage", "status")  # beacons that find something at each look

    def __init__(self, site, args):
        self.site, self.args, self.load = site, args, Load()
        self.folder = site.folder()
        self.watched = os.path.join(self.folder, "watched")
        os.makedirs(self.watched)
        self.kept = os.path.join(self.folder, "events")
        self.redis = Redis(self.folder) if redis_here() else None
        if self.redis is None:
            print("no redis-server: there is no follower to Redis", file=sys.stderr)
        line = os.path.join(self.folder, "line")
        with open(line, "w") as f:
            f.write('{"tag": "soak/script", "data": {"n": 1}}\n')
        more = {"redis.unix_socket_path": self.redis.sock, "master_job_cache": "redis"} if self.redis else {}
        engine = {"script": {"cmd": f"cat {line}", "interval": 0.5}}
        self.master = site.master(auto_accept=True, keep_jobs_seconds=120, event_return="rawfile_json", engines=[engine], **more,
                                  **{"rawfile_json.filename": self.kept}, schedule={"note": {"function": "event.send", "args": ["soak/scheduled"], "seconds": 1}},
                                  file_roots={"base": [self._states()]})
        fast = {"interval": self.LOOKS_S}
        beacons = {"load": [{"averages": {a: [0.0, 0.0] for a in ("1m", "5m", "15m")}}, fast], "memusage": [{"percent": "0%"}, fast],
                   "diskusage": [{"/": "0%"}, fast], "status": [{"interval": 2}], "ps": [{"processes": {"init": "stopped"}}, {"interval": 1}],
                   "inotify": [{"files": {self.watched: {"mask": ["create", "modify", "delete"]}}}], "counts": [fast]}
        self.minions = [site.minion(self.master, name, beacons=beacons, engines=[engine], schedule={"ping": {"function": "test.ping", "seconds": 1}},
                                    **{"return": "rawfile_json", "rawfile_json.filename": os.path.join(self.folder, name)}) for name in ("real1", "real2")]

    def _states(self):
        folder = self.site.folder()
        with open(os.path.join(folder, "some.sls"), "w") as f:
            f.write("{% for i in range(20) %}\nnop_{{ i }}:\n  test.nop:\n    - name: nop {{ i }}\n{% endfor %}\n")
        os.mkdir(os.path.join(folder, "_beacons"))
        with open(os.path.join(folder, "_beacons", "counts.py"), "w") as f:
            f.write("def beacon(config):\n    __context__['n'] = __context__.get('n', 0) + 1\n    return [{'n': __context__['n'], 'tag': 'many'}]\n")
        return folder

    def begin(self):
        self.master.start()
        for one in self.minions:
            one.start()
        fleet.wait_for("both minions", 60, lambda: len(self.master.connected()[0]) == 2, 0.05)
        with self.master.client() as client:
            client.job("*", "saltutil.sync_beacons")
        self._beacons_tell()
        self.daemons = [("master", self.master.process.pid)] + [(m.name, m.process.pid) for m in self.minions]

    def _beacons_tell(self):
        """One that fails at each look would be no load, and nobody would see it."""
        left = {f"salt/beacon/{m.name}/{name}/" for m in self.minions for name in self.TELL}
        end = time.monotonic() + 60
        with self.master.client() as ears:
            ears.call("events", tags=["salt/beacon/*"])
            ears.sock.settimeout(60)
            while left and time.monotonic() < end:
                push = ears.next()
                if "error" not in push.get("data", {"error": "no event"}):
                    left -= {tag for tag in left if push["tag"].startswith(tag)}
        if left:
            raise BenchError(f"beacons tell nothing: {', '.join(sorted(left))}")

    def _job(self):
        with self.master.client() as client:
            returns, _ = client.job("*", "test.echo", "x" * 200)
        if len(returns) != 2:
            raise BenchError(f"{2 - len(returns)} returns of test.echo are missing")

    def _states_run(self):
        with self.master.client() as client:
            client.job("*", "state.apply", "some")

    def _files(self):
        path = os.path.join(self.watched, f"f{int(time.time() * 1000) % 50}")
        with open(path, "w") as f:
            f.write("x")
        os.unlink(path)

    def _events(self):
        with self.master.client() as client:
            if not client.call("fire", events=[{"tag": f"soak/{i}", "data": {"number": i, "text": "x" * 200}} for i in range(50)])["ok"]:
                raise BenchError("the master does not take events")

    def _shorten(self):
        """As a log's rotation does."""
        if os.path.exists(self.kept) and os.path.getsize(self.kept) > 1 << 26:
            os.rename(self.kept, self.kept + ".1")

    def _followers(self):
        with self.master.client() as client:
            return client.call("status")["followers"]

    def stop_load(self):
        self.load.stop()
        if self.load.wrong:
            raise BenchError("".join(self.load.wrong))


class ReachSoak(Reach):
    LOOKS_S = 1

    def run(self):
        self.begin()
        for fn, pause in ((self._job, 0.25), (self._states_run, 5), (self._files, 0.1), (self._events, 0.5), (self._shorten, 5)):
            self.load.begin(fn, pause)
        samples, killed = [Samples(*one, each=True) for one in self.daemons], False
        end = time.monotonic() + self.args.minutes * 60
        while time.monotonic() < end and not self.load.wrong:
            for one in samples:
                one.take()
            # Before the part that is judged: the followers that take their places need a warm-up of their own.
            if not killed and time.monotonic() > end - self.args.minutes * 50:
                killed = True
                for follower in self._followers().values():
                    if follower["pid"]:
                        os.kill(follower["pid"], signal.SIGKILL)
            time.sleep(1)
        self.stop_load()
        found = {one.what: {**judge(one.own, SOAK_WARM_UP), "with_files_kb": one.all[-1][1]} for one in samples}
        found["rounds"] = self.load.rounds
        fleet.wait_for("followers that have all", 60, lambda: all(f["behind"] < 1000 and not f.get("failed") for f in self._followers().values()))
        found["followers"] = self._followers()
        found["beacons"] = self.master.stored("SELECT coalesce(max(last), 0) FROM event_blocks")
        return {**found, "good": all(found[one.what]["flat"] for one in samples)}


# ---- live -------------------------------------------------------------------------------------------------------------


class Live(Reach):
    """The same as fast as it goes, in rounds; in the second half daemons are reloaded, too."""

    LOOKS_S = 0.1
    ROUNDS, RESTS_S, RESTS_MAX_S = 6, 8, 60
    # What is left behind is blocks; tables grow in steps until they have the most that there was at one time.
    BLOCKS_MAX, BYTES_MAX = (0.01, 32), (0.01, 64 * 1024)

    def _changes(self):
        with self.master.client() as client:
            for fn, args in (("beacons.list", ()), ("no.such", ()), ("cmd.run", ("echo some text",)), ("saltutil.refresh_pillar", ()),
                             ("beacons.add", ("swapusage", [{"percent": 0}])), ("beacons.delete", ("swapusage",))):
                client.job("*", fn, *args)

    def _reloads(self):
        for _, pid in self.daemons:
            os.kill(pid, signal.SIGHUP)

    def _grown(self, now, was):
        """True when that is more than tables that grow."""
        size, blocks = now[0] - was[0], now[1] - was[1]
        return blocks > max(self.BLOCKS_MAX[0] * now[1], self.BLOCKS_MAX[1]) or size > max(self.BYTES_MAX[0] * now[0], self.BYTES_MAX[1])

    def _rest(self, before):
        """The least that each process holds for a while: {pid: (bytes, blocks, allocated)}. Looks of beacons go on: on a machine that does
        other things too, it takes longer until none is under way."""
        least, start = {}, time.monotonic()
        while (took := time.monotonic() - start) < self.RESTS_S or (took < self.RESTS_MAX_S and any(self._grown(least[pid], was) for pid, was in before.items() if pid in least)):
            for what, top in self.daemons:
                for pid in fleet.process_tree(top):
                    now = live.held(pid)
                    if now is not None:
                        least[pid] = min(now, least.get(pid, now))
                        self.names.setdefault(pid, self._name(what, pid))
            time.sleep(0.1)
        return least

    def _name(self, what, pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as f:
            words = f.read().split("\0")
            told = json.loads(words[1]) if words[1:2] and words[1].startswith("{") else {}
            return " ".join([what, os.path.basename(words[0]), str(told.get("name") or told.get("returner") or ""), str(pid)])
        return f"{what} {pid}"

    def run(self):
        self.names, rounds, counts = {}, [], {}
        counter = os.path.join(self.args.build, "tests/preload/live.so")
        if not os.path.exists(counter):
            raise fleet.BenchError(f"{counter} is not there: make {os.path.relpath(counter)}")
        os.environ["LD_PRELOAD"] = counter
        try:
            self.begin()
        finally:
            del os.environ["LD_PRELOAD"]
        fast = [(self._job, 0), (self._states_run, 1), (self._files, 0.02), (self._events, 0.1), (self._shorten, 5), (self._changes, 2)]
        for i in range(self.ROUNDS):
            self.load = Load()
            for fn, pause in fast + ([(self._reloads, 3)] if i >= self.ROUNDS / 2 else []):
                self.load.begin(fn, pause)
            self.load.end.wait(self.args.minutes * 60 / self.ROUNDS)
            self.stop_load()
            counts = {name: counts.get(name, 0) + n for name, n in self.load.rounds.items()}
            rounds.append(self._rest(rounds[1] if i > 1 else {}))
            print(f"round {i + 1} of {self.ROUNDS}: {self.load.rounds}", file=sys.stderr, flush=True)
        found, good = {}, True
        for pid in rounds[1]:
            last = next(one[pid] for one in reversed(rounds) if pid in one)
            if last is rounds[1][pid]:
                continue
            size, blocks = (now - was for now, was in zip(last[:2], rounds[1][pid]))
            flat = not self._grown(last, rounds[1][pid])
            good = good and flat
            found[self.names[pid]] = {"bytes": last[0], "blocks": last[1], "allocated": last[2], "grown_bytes": size, "grown_blocks": blocks, "flat": flat}
        return {"processes": found, "rounds": counts, "good": good and len(found) > 0}


# ---- quiet ------------------------------------------------------------------------------------------------------------


class Quiet:
    """Two followers: one wants none of the events that come, the other none of their kind."""

    def __init__(self, site, args):
        self.args, self.load, self.seconds = args, Load(), args.minutes * 60
        kept = os.path.join(site.folder(), "events")
        self.master = site.master(event_return="rawfile_json", event_return_whitelist=["wanted/*"], ext_job_cache="syslog", **{"rawfile_json.filename": kept})

    def _events(self):
        with self.master.client() as client:
            client.call("fire", events=[{"tag": f"other/{i}", "data": {"number": i, "text": "x" * 200}} for i in range(5)])

    def _figures(self, pid):
        with open(f"/proc/{pid}/io") as f:
            io = dict(line.split(": ") for line in f.read().splitlines())
        return {"cpu_ns": fleet.cpu_ns(pid), "writes": int(io["syscw"]), "written": int(io["write_bytes"])}

    def run(self):
        self.master.start()
        status = lambda: self.master.client().call("status")["followers"]  # noqa: E731
        fleet.wait_for("both followers", 20, lambda: all(f["pid"] for f in status().values()))
        self.load.begin(self._events, 0.5)
        time.sleep(5)
        pids = {name: f["pid"] for name, f in status().items()}
        first, start = {name: self._figures(pid) for name, pid in pids.items()}, time.monotonic()
        highest = dict.fromkeys(pids, 0)
        while time.monotonic() < start + self.seconds:
            time.sleep(min(1.0, self.seconds / 10))
            for name, f in status().items():
                highest[name] = max(highest[name], f["behind"])
        took, found = time.monotonic() - start, {}
        for name, pid in pids.items():
            now = {key: value - first[name][key] for key, value in self._figures(pid).items()}
            found[name] = {"cpu_percent": round(now["cpu_ns"] / took / 1e7, 3), "writes_a_second": round(now["writes"] / took, 3),
                           "bytes_a_second": round(now["written"] / took), "highest_behind": highest[name]}
        self.load.stop()
        return {**found, "good": all(one["writes_a_second"] <= QUIET_WRITES_MAX and one["highest_behind"] == 0 for one in found.values())}


# ---- idle -------------------------------------------------------------------------------------------------------------

JOURNAL_REMOTE, JOURNALS = "/lib/systemd/systemd-journal-remote", "/var/log/journal"


def with_journal():
    """Goes on in a mount namespace with a journal of its own, so that each machine has the same one: 20,000 entries that nobody adds to."""
    if os.environ.get("REACH_JOURNAL") or os.geteuid() != 0 or not os.path.exists(JOURNAL_REMOTE) or not os.path.isdir(JOURNALS):
        return
    with open("/etc/machine-id") as f:
        machine = f.read().strip()
    folder = tempfile.mkdtemp(prefix="halite-journal.")
    os.mkdir(os.path.join(folder, machine))
    text = "".join(f"__REALTIME_TIMESTAMP={1764000000000000 + i}\n__MONOTONIC_TIMESTAMP={i}\n_BOOT_ID={1:032x}\nMESSAGE=entry {i}\nSYSLOG_IDENTIFIER=p{i % 50}\n\n" for i in range(1, 20001))
    subprocess.run([JOURNAL_REMOTE, f"--output={folder}/{machine}/system.journal", "-"], input=text, text=True, check=True, stderr=subprocess.DEVNULL)
    mounted = 'mount --bind "$0" "$1" && shift && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", mounted, folder, JOURNALS, sys.executable, *sys.argv]
    code = subprocess.run(words, check=False, env={**os.environ, "REACH_JOURNAL": folder}).returncode
    shutil.rmtree(folder)
    sys.exit(code)


class Idle:
    """Two minions for which nothing happens: one has beacons at their default intervals."""

    def __init__(self, site, args):
        self.site, self.seconds, self.folder = site, args.minutes * 60, site.folder()

    def _beacons(self):
        files, cert = {}, os.path.join(self.folder, "cert.pem")
        for i in range(10):
            files[os.path.join(self.folder, f"f{i}")] = {"mask": ["modify"]}
            open(os.path.join(self.folder, f"f{i}"), "w").close()
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-days", "400", "-keyout", "/dev/null", "-out", cert]
        subprocess.run(words, check=True, capture_output=True)
        return {"inotify": [{"files": files}], "diskusage": [{"/": "99%"}], "load": [{"averages": {"1m": [0.0, 9999.0]}}], "memusage": [{"percent": "99%"}],
                "service": [{"services": {"nosuch": {"onchangeonly": True}}}], "ps": [{"processes": {"nosuch": "running"}}], "network_info": [{"interfaces": {"lo": {"type": "equal", "errin": 1}}}],
                "journald": [{"services": {"nosuch": {"SYSLOG_IDENTIFIER": "nosuch"}}}], "wtmp": [], "status": [{"loadavg": ["1-min"]}], "cert_info": [{"files": [cert]}]}

    def run(self):
        master = self.site.master(auto_accept=True)
        master.start()
        minions = [self.site.minion(master, "plain"), self.site.minion(master, "looks", beacons=self._beacons())]
        for one in minions:
            one.start()
        fleet.wait_for("both minions", 60, lambda: len(master.connected()[0]) == 2)
        time.sleep(60)  # starts, first looks, and the grains that take long
        first, start = [fleet.cpu_s(m.process.pid, ended=True) for m in minions], time.monotonic()
        memory = [[], []]
        while time.monotonic() < start + self.seconds:
            time.sleep(1)
            for kept, m in zip(memory, minions):
                kept.append(fleet.memory_kb(m.process.pid, "Anonymous", STAYS_S))
        took = time.monotonic() - start
        plain, looks = (100 * (fleet.cpu_s(m.process.pid, ended=True) - was) / took for m, was in zip(minions, first))
        more_kb = sorted(memory[1])[len(memory[1]) // 2] - sorted(memory[0])[len(memory[0]) // 2]
        found = {"plain_percent": round(plain, 3), "beacons_percent": round(looks - plain, 3), "beacons_kb": more_kb}
        return {**found, "good": found["beacons_percent"] <= IDLE_PERCENT_MAX and more_kb <= IDLE_KB_MAX}


# ---- rates ------------------------------------------------------------------------------------------------------------


class Rates:
    def __init__(self, site, args):
        self.site, self.args, self.folder = site, args, site.folder()
        os.chmod(os.path.dirname(self.folder), 0o711)
        self.bare = os.path.join(self.folder, "bareloop")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bareloop.c")
        built = subprocess.run(["cc", "-O2", "-std=gnu17", "-I/usr/include/postgresql", source, "-o", self.bare, "-lpq", "-lhiredis"], capture_output=True, text=True)
        if built.returncode != 0 or not redis_here() or not os.path.isdir(PG_BIN):
            raise BenchError("the rates need redis-server, PostgreSQL, and the headers of libpq and hiredis (libpq-dev, libhiredis-dev)")

    def _follow(self, returner, up, count, **options):
        """Fills the journal while the server is away, then lets it come: (returns a second, seconds)."""
        minions = 200
        master = self.site.master(auto_accept=True, master_job_cache=returner, **options)
        swarm = self.site.swarm(master, minions)
        swarm.make_keys(accepted=True)
        master.start()
        swarm.start()
        fleet.wait_for("all minions", 120, lambda: swarm.poll()["ready"] == minions, 0.1)
        total = 0
        with master.client() as client:
            while total < self.args.returns:
                total += len(client.job("*", "test.ping")[0])
        swarm.stop()
        up()
        first = last = None
        while last is None:
            now, n = time.monotonic(), count()
            if n > 0 and first is None:
                first = now, n
            if n >= total:
                last = now, n
            if first is not None and now - first[0] > 300:
                raise BenchError(f"{returner}: {n} of {total} returns after 300 s")
            time.sleep(0.02)
        master.stop()
        if last[1] != total:
            raise BenchError(f"{returner}: {last[1]} returns, and {total} were made")
        return (last[1] - first[1]) / (last[0] - first[0])

    def _bare(self, kind, where, rows):
        with open(rows) as f:
            n = sum(1 for _ in f)
        return n / float(subprocess.run([self.bare, kind, where, rows], check=True, capture_output=True, text=True).stdout)

    def run(self):
        pg_folder = self.site.folder()
        postgres = Postgres(pg_folder)
        postgres.stop()
        found = {"postgres": self._follow("pgjsonb", postgres.start, postgres.returns,
                                          **{"returner.pgjsonb": {"host": pg_folder, "user": "salt", "db": "postgres", "sslmode": "disable"}})}
        rows = os.path.join(self.folder, "rows")
        with open(rows, "w") as f:
            f.write(postgres.sql("COPY (SELECT fun, jid, return, id, success, full_ret FROM salt_returns) TO STDOUT") + "\n")
        postgres.sql("TRUNCATE salt_returns")
        found["libpq"] = self._bare("pg", f"host={pg_folder} user=salt dbname=postgres", rows)
        server = Redis.later(self.folder)
        found["redis"] = self._follow("redis", server.start, server.returns,
                                      **{"redis.unix_socket_path": server.sock})
        server.ask("flushall")
        found["hiredis"] = self._bare("redis", server.sock, rows)
        found = {name: round(rate) for name, rate in found.items()}
        ratios = {"postgres_ratio": round(found["libpq"] / found["postgres"], 2), "redis_ratio": round(found["hiredis"] / found["redis"], 2)}
        return {**found, **ratios, "good": max(ratios.values()) <= RATIO_MAX}


def main():
    parser = argparse.ArgumentParser(description="What comes in and what goes out, for long or fast.")
    parser.add_argument("--build", default="build", help="where make put bin/ and tests/bench/ (default: build)")
    parser.add_argument("what", choices=("soak", "live", "idle", "quiet", "rates"))
    parser.add_argument("--minutes", type=float, default=60, help="of all but the rates")
    parser.add_argument("--returns", type=int, default=12000, help="of the rates")
    args = parser.parse_args()
    build = args.build = os.path.abspath(args.build)
    if args.what == "idle":
        with_journal()
    with fleet.Site(os.path.join(build, "bin"), os.path.join(build, "tests/bench")) as site:
        try:
            found = with_servers({"soak": ReachSoak, "live": Live, "idle": Idle, "quiet": Quiet, "rates": Rates}[args.what], site, args)
        except (BenchError, OSError, subprocess.CalledProcessError) as why:
            print(json.dumps({"what": args.what, "failed": str(why)}))
            return 1
    print(json.dumps({"what": args.what, **found}))
    return 0 if found["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
