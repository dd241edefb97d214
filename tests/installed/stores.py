"""stores.py - in a booted Debian: events and jobs for its master, and whether its databases have what the journal and the store have.

    python3 stores.py load STOP     fires events and runs jobs until the file STOP is there; prints how many were taken
    python3 stores.py tables NAME   Salt's tables for pgjsonb or mysql, as SQL
    python3 stores.py audit         what is lost or doubled, a line each, then a line of counts

The files of tests/chaos and tests/lib/halite.py are beside it: the audit is the chaos program's.
"""

import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import audit
import sinks
from halite import LocalClient, Trouble

SOCKET = "/run/salt/master/master.sock"
MINION = "web1"
STORE = "/var/cache/salt/master/jobs.db"
PAUSE_S = 0.05  # between batches: a thousand events and twenty jobs a second
audit.SUNK_S = 300
TABLES = {"pgjsonb": sinks.TABLES.format(load="load", ret="return", json="jsonb", serial="bigserial PRIMARY KEY"),
          "mysql": sinks.TABLES.format(load="`load`", ret="`return`", json="mediumtext", serial="BIGINT AUTO_INCREMENT PRIMARY KEY")}


class Postgres(sinks.Postgres):
    def __init__(self):
        """A server of the system's."""

    def sql(self, text):
        words = ["runuser", "-u", "salt", "--", "psql", "-d", "salt", "-qAtv", "ON_ERROR_STOP=1"]
        return subprocess.run(words, input=text, capture_output=True, text=True, check=True, cwd="/").stdout


class Maria(sinks.Maria):
    def __init__(self):
        """A server of the system's."""

    def sql(self, text, db="salt"):
        words = ["mariadb", "--default-character-set=utf8mb4", "-rN", db]
        return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


class Redis(sinks.Redis):
    def __init__(self):
        """A server of the system's."""

    def returns(self, jids):
        """By one client for all: two answers a job, of the one minion that there is."""
        asked = "".join(f"exists load:{jid}\nhexists ret:{jid} {MINION}\n" for jid in jids)
        said = subprocess.run(["redis-cli"], input=asked, capture_output=True, text=True, check=True).stdout.split()
        return [(jid, MINION) for n, jid in enumerate(jids) if said[2 * n:2 * n + 2] == ["1", "1"]]


class World:
    """What an Auditor asks for: one that never audited before."""

    def __init__(self):
        self.sinks, self.minions, self.socket_path = self, [], SOCKET
        self.events, self.cache, self.place = [Postgres(), Maria()], Redis(), {}

    def read(self, one):
        found, self.place[one.name] = one.read_events(self.place.get(one.name))
        return found

    def database(self):
        db = sqlite3.connect(f"file:{STORE}?mode=ro", uri=True, timeout=20)
        db.row_factory = sqlite3.Row
        return db


class Auditor(audit.Auditor):
    """The part of it that asks followers' databases."""

    def __init__(self, world):
        self.world, self.hole, self.told = world, False, set()
        self.ahead, self.sunk = {s.name: Counter() for s in world.events}, {}
        db = world.database()
        db.execute("BEGIN")  # one moment: beacons go on
        blocks = db.execute("SELECT frames FROM event_blocks ORDER BY first").fetchall()
        self.events = [e for b in blocks for e in audit.frames(b["frames"])]
        self.jobs = db.execute("SELECT jid, fun, doc FROM jobs").fetchall()
        self.returns = {(r["jid"], r["id"]): r for r in db.execute("SELECT jid, id FROM returns")}
        db.close()


def load(stop):
    """Events in batches, each of which is on the disk when its answer comes; between them a job. Whoever dies is spoken to again."""
    taken, number, jobs = 0, 0, 0
    while not os.path.exists(stop):
        try:
            with LocalClient(SOCKET, 20) as client:
                while not os.path.exists(stop):
                    batch = [{"tag": f"stores/{n}", "data": {"n": n}} for n in range(number, number + 50)]
                    number += len(batch)
                    client.call("fire", kept=True, events=batch)
                    taken += len(batch)
                    client.job(MINION, "test.echo", number)
                    jobs += 1
                    time.sleep(PAUSE_S)
        except (OSError, Trouble):
            time.sleep(0.1)
    print(f"{taken} events and {jobs} jobs")


def main():
    if sys.argv[1] == "load":
        return load(sys.argv[2])
    if sys.argv[1] == "tables":
        return print(TABLES[sys.argv[2]])
    world = World()
    auditor = Auditor(world)
    wanted = Counter(map(audit.digest, auditor.events))
    for sink in world.events:
        auditor.sunk[sink.name] = auditor._read_sink(sink, wanted)
    auditor._read_cache()
    checks = audit.every_return_is_an_event, audit.sinks_have_the_journal, audit.every_return_is_in_the_job_cache
    wrong = [line for check in checks for line in check(auditor)]
    functions = {job["jid"]: job["fun"] for job in auditor.jobs}
    wrong = [f"{line} {functions.get(line.split()[0], '')}" for line in wrong]
    print("\n".join([*wrong[:20], f"{len(auditor.events)} events, {len(auditor.returns_for_cache())} returns, {len(wrong)} wrong"]))
    return 1 if wrong else 0


sys.exit(main())
