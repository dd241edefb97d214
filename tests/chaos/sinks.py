"""sinks.py - where followers of the journal store events and returns: a row for each, with a server of its own that dies and stands still.

Each is there when its programs are. What it has stored is read by its own client, never by Halite.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from halite import Trouble, ended, parents, process_tree, wait_for

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TABLES = """
CREATE TABLE jids (jid varchar(255) PRIMARY KEY, {load} {json} NOT NULL);
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, {ret} {json} NOT NULL, id varchar(255) NOT NULL,
  success varchar(10) NOT NULL, full_ret {json} NOT NULL, alter_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE salt_events (id {serial}, tag varchar(255) NOT NULL, data {json} NOT NULL, alter_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  master_id varchar(255) NOT NULL);
"""
COLLECTOR = """
import http.server, sys

class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[2], "ab", buffering=0) as f:
            f.write(body + b"\\n")
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *unused):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Collector).serve_forever()
"""


class Sink:
    """Events and returns of one returner. `once`: each event comes exactly once, else at least once."""

    name, once, events, jobs = "", True, True, False

    def __init__(self, world):
        self.world, self.process, self.folder = world, None, f"{world.folder}/sinks/{self.name}"
        os.makedirs(self.folder)
        if self.private:
            shutil.chown(self.folder, 65534, 65534)

    @property
    def private(self):
        """Whether the server is another user's, as it refuses to be root's."""
        return False

    @staticmethod
    def here():
        return True

    def make(self):
        """What is done once, before the first start."""

    def argv(self):
        """None: there is no server."""
        return None

    def is_up(self):
        return True

    def _run(self, *argv, text=None):
        words = [*NOBODY, *argv] if self.private else argv
        done = subprocess.run(words, input=text, capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise Trouble(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def start(self):
        if self.argv() and self.process is None:
            words = [*NOBODY, *self.argv()] if self.private else self.argv()
            with open(f"{self.folder}/log", "ab") as log:
                self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True)
            wait_for(f"{self.name} is up", 60, self.is_up, 0.05)

    def kill(self):
        """Without a word to anyone, as when the power goes."""
        if self.process is not None:
            tree = process_tree(self.process.pid)
            for pid in tree:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            wait_for(f"{self.name} is gone", 20, lambda: all(map(ended, tree)), 0.01)
            self.process = None

    def signal(self, number):
        for pid in process_tree(self.process.pid) if self.process else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def options(self):
        """Of the master."""
        return {}

    def read_events(self, since):
        """([(tag, data)] that came after the place `since`, the place now). None is the beginning."""
        raise NotImplementedError

    def returns(self, jids):
        """[(jid, minion)] of all rows of these jobs; a job that is not stored itself has none."""
        raise NotImplementedError


class File(Sink):
    """Lines of JSON at the end of a file."""

    name, once = "rawfile_json", False

    def path(self):
        return f"{self.folder}/events"

    def options(self):
        return {"rawfile_json.filename": self.path()}

    def of_line(self, line):
        return json.loads(line)

    def read_events(self, since):
        with contextlib.suppress(FileNotFoundError), open(self.path(), "rb") as f:
            f.seek(since or 0)
            lines = f.read()
            found = [self.of_line(line) for line in lines.splitlines()]
            return [(e["tag"], e["data"]) for e in found], (since or 0) + len(lines)
        return [], since


class Web(File):
    """A collector of Splunk's kind, in the master's network."""

    name = "splunk"

    def __init__(self, world):
        super().__init__(world)
        self.port = world.sink_port

    def argv(self):
        return self.world.master.inside([sys.executable, "-B", "-c", COLLECTOR, str(self.port), self.path()])

    def is_up(self):
        words = self.world.master.inside(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{self.port}"])
        return subprocess.run(words, capture_output=True).returncode == 0

    def options(self):
        return {"splunk_http_forwarder": {"token": "t", "url": f"http://127.0.0.1:{self.port}/services/collector/event"}}

    def of_line(self, line):
        return json.loads(line)["event"]


class Database(Sink):
    """Salt's tables; rows of the client are lines of JSON."""

    jobs = True

    @property
    def private(self):
        return os.getuid() == 0

    def read_events(self, since):
        rows = [json.loads(line) for line in self.sql(f"SELECT {self.event} FROM salt_events WHERE id > {since or 0} ORDER BY id").splitlines()]
        return [(r["tag"], r["data"]) for r in rows], rows[-1]["id"] if rows else since

    def returns(self, jids):
        names = ", ".join(f"'{jid}'" for jid in jids)
        rows = self.sql(f"SELECT r.jid, r.id FROM salt_returns r JOIN jids j ON j.jid = r.jid WHERE r.jid IN ({names})")
        return [tuple(re.split(r"[|\t]", row)) for row in rows.splitlines()]


class Postgres(Database):
    name = "pgjsonb"
    event = "json_build_object('id', id, 'tag', tag, 'data', data)"

    @staticmethod
    def programs():
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        return found[-1] if found else ""

    @classmethod
    def here(cls):
        return os.path.exists(f"{cls.programs()}/initdb") and shutil.which("psql")

    def make(self):
        self._run(f"{self.programs()}/initdb", "-D", f"{self.folder}/data", "-U", "salt", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")

    def made(self):
        self.sql(TABLES.format(load="load", ret="return", json="jsonb", serial="bigserial PRIMARY KEY"))

    def argv(self):
        return [f"{self.programs()}/postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-c", "listen_addresses="]

    def is_up(self):
        return subprocess.run([f"{self.programs()}/pg_isready", "-q", "-h", self.folder]).returncode == 0

    def sql(self, text):
        return self._run("psql", "-h", self.folder, "-U", "salt", "-d", "postgres", "-qAtv", "ON_ERROR_STOP=1", text=text)

    def options(self):
        return {"returner.pgjsonb": {"host": self.folder, "user": "salt", "db": "postgres", "sslmode": "disable"}}


class Maria(Database):
    name = "mysql"
    event = "JSON_OBJECT('id', id, 'tag', tag, 'data', JSON_COMPACT(data))"

    @staticmethod
    def here():
        return shutil.which("mariadbd") and shutil.which("mariadb-install-db") and shutil.which("mariadb")

    def make(self):
        self._run("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", "--auth-root-authentication-method=normal", "--skip-test-db")

    def made(self):
        self.sql("CREATE DATABASE salt DEFAULT CHARACTER SET utf8mb4", "mysql")
        self.sql("CREATE USER salt IDENTIFIED BY 'salt'; GRANT ALL ON salt.* TO salt", "mysql")
        self.sql(TABLES.format(load="`load`", ret="`return`", json="mediumtext", serial="BIGINT AUTO_INCREMENT PRIMARY KEY"))

    def argv(self):
        return ["mariadbd", "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/sock", "--skip-networking",
                f"--pid-file={self.folder}/pid"]

    def is_up(self):
        return subprocess.run(["mariadb", "--no-defaults", "-S", f"{self.folder}/sock", "-u", "root", "-e", "select 1"], capture_output=True).returncode == 0

    def sql(self, text, db="salt"):
        return self._run("mariadb", "--no-defaults", "-S", f"{self.folder}/sock", "-u", "root", "--default-character-set=utf8mb4", "-rN", db, text=text)

    def options(self):
        return {"mysql": {"host": "localhost", "unix_socket": f"{self.folder}/sock", "pass": "salt"}}


class Redis(Sink):
    """Keys of Salt's: a repeat is the same write."""

    name, events, jobs = "redis", False, True

    @staticmethod
    def here():
        return shutil.which("redis-server") and shutil.which("redis-cli")

    def argv(self):
        return ["redis-server", "--port", "0", "--unixsocket", f"{self.folder}/sock", "--dir", self.folder, "--save", "", "--appendonly", "yes",
                "--appendfsync", "always"]

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-s", f"{self.folder}/sock", *words], capture_output=True, text=True).stdout.strip()

    def is_up(self):
        return self.ask("ping") == "PONG"

    def options(self):
        return {"redis.unix_socket_path": f"{self.folder}/sock"}

    def returns(self, jids):
        return [(jid, minion) for jid in jids if self.ask("exists", f"load:{jid}") == "1" for minion in self.ask("hkeys", f"ret:{jid}").split()]


KINDS = [Postgres, Maria, Redis, File, Web]


class Sinks:
    """All that are there, and the options that make the master feed them; one of those that keep jobs is its job cache."""

    def __init__(self, world, rng):
        os.chmod(world.folder, 0o711)  # for servers of another user
        self.all = [kind(world) for kind in KINDS if kind.here()]
        self.cache = rng.choice([s for s in self.all if s.jobs] or [None])
        self.events = [s for s in self.all if s.events]
        self.place = {s.name: None for s in self.events}
        self.options = {"event_return": [s.name for s in self.events]}
        for one in self.all:
            self.options.update(one.options())
        if self.cache:
            self.options["master_job_cache"] = self.cache.name

    def read(self, one):
        """The events of one that are new since it was asked before: [(tag, data)]."""
        found, self.place[one.name] = one.read_events(self.place[one.name])
        return found

    def servers(self):
        return [s for s in self.all if s.argv()]

    def start(self):
        for one in self.all:
            one.make()
            one.start()
            getattr(one, "made", lambda: None)()

    def close(self):
        for one in self.all:
            one.kill()


def follower_pids(world):
    """Of the master that runs."""
    found = []
    for pid, parent in parents().items():
        with contextlib.suppress(OSError):
            if parent == world.master.pid and os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "salt-follower":
                found.append(pid)
    return sorted(found)
