"""audit.py - after the faults: wait until nothing is under way, then compare what the master says with what the minions did.

CHECKS is the table: each yields texts of what is wrong.
"""

import json
import os
import re
import struct
import threading
import time
from collections import Counter

from halite import LocalClient, Trouble
from load import NONCE

QUIET_S = 100
SUNK_S = 60  # until a sink has what the journal has: a follower's pause after a failure is 30 s at most
GAP = "salt/event/gap"
TEMPORARY = re.compile(r"\.(part|tmp|new|bad)$|\.(?=[A-Za-z]*[0-9A-Z])[A-Za-z0-9]{6}$")
SEEN_TAGS = ("chaos/", "salt/job/", GAP)


def frames(blob):
    at = 0
    while at < len(blob):
        (n,) = struct.unpack_from(">I", blob, at)
        yield json.loads(blob[at + 4:at + 4 + n])
        at += 4 + n


def digest(event):
    """Of 64 bits: two of a hundred thousand events would have one of 32 in common."""
    return hash(json.dumps([event["tag"], event["data"]], sort_keys=True))


class Follower(threading.Thread):
    """A listener that connects again when its master went; `since` makes it go on behind the last event that it heard."""

    def __init__(self, world, since):
        super().__init__(daemon=True)
        self.world, self.since = world, since
        self.heard, self.last, self.missed, self.wrong, self.ended = {}, 0, [], [], False

    def run(self):
        while not self.ended:
            try:
                self._follow()
            except (OSError, Trouble, ValueError):
                time.sleep(0.02)

    def _follow(self):
        with LocalClient(self.world.socket_path, 1) as client:
            client.send("events", tag="*", **({"since_seq": self.last} if self.since else {}))
            while not self.ended:
                try:
                    said = client.next()
                except TimeoutError:
                    if not self.world.commands:
                        raise
                    continue
                if said.get("push") == "missed":
                    self.missed.append(said)
                elif said.get("push") == "event":
                    self._hear(said)

    def _hear(self, event):
        seq, mark = event["seq"], digest(event)
        if self.heard.setdefault(seq, mark) != mark:
            self.wrong.append(f"a listener heard two different events of the number {seq}, the second is {event['tag']}")
        if self.since and seq <= self.last:
            self.wrong.append(f"a listener heard number {seq} after {self.last}")
        self.last = max(self.last, seq)


class Auditor:
    """What was compared already, and what is new since."""

    def __init__(self, world):
        self.world = world
        self.job_num = self.event_seq = 0
        self.judged, self.finals, self.witness_at = set(), {}, {}
        self.witness = {m.name: Counter() for m in world.minions}
        self.followers = [Follower(world, True), Follower(world, False)]
        self.sockets, self.counts, self.killed = None, Counter(), False
        self.jobs, self.events, self.blocks, self.returns, self.live, self.commands = [], [], [], {}, {}, []
        self.told, self.ahead, self.hole = set(), {s.name: Counter() for s in world.sinks.events}, False
        self.sunk, self.cached = {}, Counter()
        for f in self.followers:
            f.start()

    # ---- quiet ----

    def busy(self):
        """Why it is not quiet yet; None when it is."""
        world = self.world
        for d in world.daemons:
            if d.pid is None:
                return f"{d.name} does not run"
        status = world.status()
        if not status:
            return "the master does not answer"
        missing = {m.name for m in world.minions} - world.connected()
        if missing:
            return f"not connected: {', '.join(sorted(missing))}"
        for m in world.minions:
            waiting = [name for name in m.spool() if name != "series" and not name.endswith(".bad")]
            if waiting:
                return f"in the spool of {m.name}: {', '.join(waiting)}"
            if m.children()[1]:
                return f"jobs run on {m.name}: {m.children()[1]}"
        reactor = status.get("reactor") or {}
        if reactor.get("waiting") or reactor.get("under_way"):
            return f"the reactor is at work: {reactor}"
        followers = status.get("followers") or {}
        late = {name: f for name, f in followers.items() if f.get("failed") or f.get("told") or not f.get("pid")}
        if late:
            return f"followers fail: {late}"
        strays = world.strays()
        if strays:
            return f"processes that belong to nobody: {strays}"
        open_jobs = self.open_jobs()
        if open_jobs:
            return f"no final verdict: {open_jobs}"
        seq, stored = status["seq"], self.stored_seq()
        if stored != seq:
            return f"the journal is at {stored}, the master at {seq}"
        if self.followers[0].last != seq:
            return f"the listener is at {self.followers[0].last}, the master at {seq}"
        return None

    def open_jobs(self):
        found = []
        for jid in self.jids_without_all():
            verdicts = (self.world.ask("verdicts", jid=jid) or {}).get("verdicts", {"?": {"verdict": "the master does not answer"}})
            found += [f"{jid} {i} {v['verdict']}" for i, v in verdicts.items() if v["verdict"] not in FINAL]
        return found

    def jids_without_all(self):
        db = self.world.database()
        try:
            return [r[0] for r in db.execute("SELECT jid FROM jobs WHERE n_returned < n_minions AND num > ?", (self.job_num,))]
        finally:
            db.close()

    def stored_seq(self):
        db = self.world.database()
        try:
            return db.execute("SELECT coalesce(max(last), 0) FROM event_blocks").fetchone()[0]
        finally:
            db.close()

    def quiet(self, look, limit=QUIET_S):
        """Seconds that it took; raises Trouble with the reason."""
        begun, why, times = time.monotonic(), "?", 0
        while time.monotonic() - begun < limit:
            look()
            try:
                why = self.busy()
            except Exception as e:  # the store is being replaced, a process ends while it is looked at
                why = f"{type(e).__name__}: {e}"
            times = times + 1 if why is None else 0
            if times == 2:
                return time.monotonic() - begun
            time.sleep(0.1)
        raise Trouble(f"not quiet after {limit} s: {why}")

    # ---- what is new ----

    def read(self, commands):
        """Everything since the last audit."""
        self.commands = commands
        for m in self.world.minions:
            with open(m.witness) as f:
                f.seek(self.witness_at.get(m.name, 0))
                for words in map(str.split, f):
                    self.witness[m.name][tuple(words)] += 1
                self.witness_at[m.name] = f.tell()
        db = self.world.database()
        try:
            self.jobs = list(db.execute("SELECT num, jid, fun, doc, minions FROM jobs WHERE num > ? ORDER BY num", (self.job_num,)))
            self.returns = {}
            for job in self.jobs:
                for r in db.execute("SELECT jid, id, retcode, success, doc FROM returns WHERE jid = ?", (job["jid"],)):
                    self.returns[r["jid"], r["id"]] = r
            self.blocks = list(db.execute("SELECT first, last, frames FROM event_blocks WHERE last > ? ORDER BY first", (self.event_seq,)))
        finally:
            db.close()
        self.events = [e for b in self.blocks for e in frames(b["frames"])]
        self.live = {job["jid"]: (self.world.ask("verdicts", jid=job["jid"]) or {}).get("verdicts", {}) for job in self.jobs}
        for sink in self.world.sinks.events:
            self.sunk[sink.name] = self._read_sink(sink, Counter(map(digest, self.events)))
        self._read_cache()
        self.counts["jobs"] += len(self.jobs)
        self.counts["returns"] += len(self.returns)
        self.counts["events"] += len(self.events)

    def _read_sink(self, sink, wanted):
        """How often each event came since the last audit; what the journal has is waited for."""
        got, until = Counter(self.ahead[sink.name]), time.monotonic() + SUNK_S
        while True:
            got.update(digest({"tag": tag, "data": data}) for tag, data in self.world.sinks.read(sink))
            if not wanted - got or time.monotonic() > until:
                return got
            time.sleep(0.1)

    def _read_cache(self):
        """How often each return is stored in the job cache."""
        cache, until = self.world.sinks.cache, time.monotonic() + SUNK_S
        while cache and self.returns:
            self.cached = Counter(cache.returns(sorted({jid for jid, _ in self.returns})))
            if not self.returns_for_cache() - self.cached.keys() or time.monotonic() > until:
                break
            time.sleep(0.1)

    def returns_for_cache(self):
        """What runners return is no job of minions."""
        runners = {job["jid"] for job in self.jobs if job["fun"].startswith("runner.")}
        return {pair for pair in self.returns if pair[0] not in runners}

    def done(self):
        """The next audit begins behind this one."""
        for job in self.jobs:
            for minion, live in self.live[job["jid"]].items():
                self.finals[nonce_of(job), minion] = f"{job['jid']} {live['verdict']}"
        if self.jobs:
            self.job_num = self.jobs[-1]["num"]
        if self.events:
            self.event_seq = self.events[-1]["seq"]
        here = {digest(e) for e in self.events}
        self.told |= here
        self.hole = any(e["tag"] == GAP for e in self.events)
        for name, got in self.sunk.items():
            self.ahead[name] = Counter({key: n for key, n in got.items() if key not in self.told and key not in self.ahead[name]})
            self.counts[f"events in {name}"] += sum(got.values())
            self.counts[f"events again in {name}"] += sum(n - 1 for key, n in got.items() if key in here) + sum(n for key, n in got.items() if key in self.told - here)
        self.killed = False
        self.judged |= {(nonce, minion) for minion, seen in self.witness.items() for nonce, _ in seen}
        for f in self.followers:
            f.heard.clear()
            f.missed.clear()
        for m in self.world.daemons:
            m.deaths.clear()
            m.disk_was_bad = m.files_were_short = False

    def lines(self, minion, nonce):
        seen = self.witness[minion]
        return seen[nonce, "begin"], seen[nonce, "end"]

    def all(self):
        for check in CHECKS:
            for text in check(self):
                yield f"{check.__name__.replace('_', ' ')}: {text}"


FINAL = {"returned", "not_connected", "not_delivered", "lost", "elsewhere"}
WITNESS_FUNCTIONS = {"cmd.run", "state.apply"}


def is_adopted(job):
    """The master only knows it by its returns: salt-call's, and one whose row was not on the disk when the master was killed."""
    return "start_us" not in json.loads(job["doc"])


def targets_of(self, job):
    return [i for jid, i in self.returns if jid == job["jid"]] if is_adopted(job) else json.loads(job["minions"])


def nonce_of(job):
    found = NONCE.search(json.dumps(json.loads(job["doc"]).get("arg")))
    return found.group() if found else None


def unmarked(self, minion):
    """A minion whose disk refused marks and returns, and that died, knows nothing of what it ran."""
    return any(m.name == minion and m.disk_was_bad and m.deaths for m in self.world.minions)


def every_target_has_one_true_verdict(self):
    for job in self.jobs:
        nonce = nonce_of(job) if job["fun"] in WITNESS_FUNCTIONS else None
        for minion in targets_of(self, job):
            row = self.returns.get((job["jid"], minion))
            live = self.live[job["jid"]].get(minion, {}).get("verdict")
            self.counts["targets"] += 1
            self.counts[f"verdict {'returned' if row else live or 'forgotten without a return'}"] += 1
            what = f"{job['jid']} ({job['fun']} {nonce or ''}) on {minion}"
            if live and (live == "returned") != (row is not None):
                yield f"{what}: the verdict is {live}, {'a' if row else 'no'} return is stored"
            if live and live not in FINAL:
                yield f"{what}: the verdict is {live}"
            if not nonce:
                continue
            begun, ended = self.lines(minion, nonce)
            if row is None and begun and not unmarked(self, minion):
                yield f"{what}: it has run ({begun} begun, {ended} ended), and there is no return; the verdict is {live}"
            if row is not None:
                whole = row["success"] and row["retcode"] == 0
                if whole and (begun, ended) != (1, 1) and not unmarked(self, minion):
                    yield f"{what}: it is told to have succeeded, and has begun {begun} and ended {ended} times"


def nothing_runs_twice(self):
    for minion, seen in self.witness.items():
        for key, count in seen.items():
            if count > 1 and not unmarked(self, minion):
                yield f"{' '.join(key)}: {count} times on {minion}"
            seen[key] = 1


def every_return_is_an_event(self):
    told = Counter(e["tag"] for e in self.events)
    runners = {job["jid"] for job in self.jobs if job["fun"].startswith("runner.")}  # kept as jobs when nobody waits for them
    for jid, minion in self.returns:
        n = told[f"salt/run/{jid}/ret" if jid in runners else f"salt/job/{jid}/ret/{minion}"]
        if n != 1:
            yield f"{jid} of {minion}: {n} events tell of it"
    for job in self.jobs:
        if told[f"salt/job/{job['jid']}/new"] != 1 and not is_adopted(job):
            yield f"{job['jid']} ({job['fun']}): {told['salt/job/' + job['jid'] + '/new']} events tell of its beginning"


def every_return_of_a_job_is_stored(self):
    nonces = {job["jid"]: nonce_of(job) for job in self.jobs}
    stored = {(nonces[jid], minion) for jid, minion in self.returns}
    for minion, seen in self.witness.items():
        for nonce, what in seen:
            if what == "end" and (nonce, minion) not in stored and (nonce, minion) not in self.judged:
                if not unmarked(self, minion):
                    before = self.finals.get((nonce, minion), "none")
                    yield f"{nonce} has ended on {minion}, and no return of it is stored; its verdict in an earlier audit: {before}"


def events_have_their_numbers(self):
    expected = self.event_seq + 1
    for b in self.blocks:
        if b["first"] != expected:
            first = next(frames(b["frames"]))
            told = first["tag"] == GAP and first["data"]["from"] == expected and first["data"]["to"] == b["first"] - 1
            if not told:
                yield f"the journal goes from {expected - 1} to {b['first']}, where {first['tag']} is"
            elif not self.killed and not self.world.master.disk_was_bad:
                yield f"a gap from {expected} to {b['first'] - 1}, and no master was killed"
        at = b["first"]
        for e in frames(b["frames"]):
            if e["seq"] != at:
                yield f"the block {b['first']} to {b['last']} holds {e['seq']} where {at} belongs"
            at = e["seq"] + 1
        if at != b["last"] + 1:
            yield f"the block {b['first']} to {b['last']} ends with {at - 1}"
        expected = b["last"] + 1


def listeners_heard_the_journal(self):
    journal = {e["seq"]: e for e in self.events}
    holes = [(e["data"]["from"], e["data"]["to"]) for e in self.events if e["tag"] == GAP]
    for follower in self.followers:
        yield from follower.wrong
        follower.wrong.clear()
        for seq, mark in follower.heard.items():
            if seq in journal:
                if digest(journal[seq]) != mark:
                    yield f"number {seq} is {journal[seq]['tag']} in the journal, and a listener heard something else"
            elif seq > self.event_seq and not any(a <= seq <= b for a, b in holes):
                yield f"a listener heard number {seq}, the journal does not have it"
        if follower.since:
            if follower.missed:
                yield f"a listener missed events: {follower.missed[:3]}"
            unheard = [s for s in journal if s not in follower.heard]
            if unheard:
                yield f"a listener did not hear {len(unheard)} events, the first is {unheard[0]} ({journal[unheard[0]]['tag']})"


def fired_events_are_there(self):
    """What exit code 0 or a return True promises; and no event twice."""
    told = Counter(e["tag"] for e in self.events if e["tag"].startswith("chaos/"))
    stored = Counter()
    for job in self.jobs:
        if job["fun"] == "event.send":
            tag = json.loads(job["doc"])["arg"][0]
            stored[tag] += sum(1 for i in targets_of(self, job) if (job["jid"], i) in self.returns and self.returns[job["jid"], i]["success"])
            if told[tag] < stored[tag]:
                yield f"{tag}: {stored[tag]} jobs say that it was fired, {told[tag]} are in the journal"
            if told[tag] > len(targets_of(self, job)):
                yield f"{tag}: {told[tag]} are in the journal, {len(targets_of(self, job))} minions fired it once"
    for c in self.commands:
        if c.kind.fires and not c.disturbed:
            n = told[f"{c.kind.fires}/{c.nonce}"]
            if c.process.returncode == 0 and n != 1:
                yield f"{c.kind.fires}/{c.nonce}: the command says that it was fired, {n} are in the journal"
            if n > 1:
                yield f"{c.kind.fires}/{c.nonce}: {n} are in the journal"


def sinks_have_the_journal(self):
    """Each event once where a follower's cursor is in the same transaction, at least once elsewhere; nothing else, but what the
    master had told its listeners and lost when it was killed."""
    events = {digest(e): e for e in self.events}
    hole = self.hole or any(e["tag"] == GAP for e in self.events)
    for sink in self.world.sinks.events:
        got = self.sunk[sink.name]
        for key, e in events.items():
            if got[key] == 0 or (sink.once and got[key] > 1):
                yield f"{sink.name}: number {e['seq']} ({e['tag']}) is there {got[key]} times"
        for key in got.keys() - events.keys():
            if key in self.told and sink.once:
                yield f"{sink.name}: an event of an earlier audit came again"
            elif key in self.ahead[sink.name] and not hole:
                yield f"{sink.name}: it has an event that the journal does not have"


def every_return_is_in_the_job_cache(self):
    cache = self.world.sinks.cache
    for jid, minion in self.returns_for_cache() if cache else []:
        if self.cached[jid, minion] != 1:
            yield f"{jid} of {minion}: {self.cached[jid, minion]} are in {cache.name}"


def every_event_has_one_reaction(self):
    wanted = Counter()
    for e in self.events:
        if e["tag"].startswith("chaos/react/"):
            wanted["r" + e["tag"].rpartition("/")[2][1:], e["data"]["id"]] += 1
    got = Counter((nonce_of(job), minion) for job in self.jobs if (nonce_of(job) or "").startswith("r") and job["fun"] == "cmd.run"
                  for minion in targets_of(self, job))
    for key in wanted | got:
        if wanted[key] != got[key]:
            yield f"{key[0]} on {key[1]}: {wanted[key]} events, {got[key]} reactions"


def commands_tell_the_truth(self):
    by_nonce = {}
    for job in self.jobs:
        nonce = nonce_of(job)
        for minion in targets_of(self, job) if nonce else []:
            by_nonce[nonce, minion] = self.returns.get((job["jid"], minion))
    for c in self.commands:
        code = c.process.returncode
        if code < 0 and not c.disturbed and code not in (-9,):
            yield f"{c.words[:120]}: ended by signal {-code}"
        if c.kind.name == "orchestrations" or not c.kind.witness:
            continue
        for minion, value in c.answers().items():
            shown = value if isinstance(value, str) else json.dumps(value)
            if c.nonce not in shown or minion not in {m.name for m in self.world.minions}:
                continue
            row = by_nonce.get((c.nonce, minion))
            if row is None:
                yield f"{c.words[:120]}: it shows a return of {minion} that is not stored"


def nothing_is_left(self):
    until = time.monotonic() + 5
    while self.world.strays() and time.monotonic() < until:
        time.sleep(0.1)
    for text in self.world.strays():
        yield f"a process: {text}"
    sockets = set()
    for d in self.world.daemons:
        for folder, _, names in os.walk(d.root):
            for name in names:
                path = os.path.join(folder, name)
                if TEMPORARY.search(name):
                    yield f"a file: {path}"
                elif os.path.exists(path) and (os.stat(path).st_mode & 0o170000) == 0o140000:
                    sockets.add(path)
        for name in os.listdir(d.temp):
            yield f"a file: {d.temp}/{name}"
    if self.sockets is not None and sockets - self.sockets:
        yield f"sockets: {sorted(sockets - self.sockets)}"
    self.sockets = self.sockets or sockets


def no_daemon_crashed(self):
    for d in self.world.daemons:
        for code in d.deaths:
            fine = code in (0, -9) or ((d.disk_was_bad or d.files_were_short) and 0 < code < 128)
            if not fine:
                yield f"{d.name} ended with {code}, see {d.log}"


CHECKS = [
    every_target_has_one_true_verdict,
    nothing_runs_twice,
    every_return_of_a_job_is_stored,
    every_return_is_an_event,
    events_have_their_numbers,
    listeners_heard_the_journal,
    fired_events_are_there,
    sinks_have_the_journal,
    every_return_is_in_the_job_cache,
    every_event_has_one_reaction,
    commands_tell_the_truth,
    nothing_is_left,
    no_daemon_crashed,
]
