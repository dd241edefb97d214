"""daemons.py - scenarios of a running master and minion: every call of a kind fails once in one of them.

The rig is what systemd is on a machine: a daemon that ended is started again. After each fault the two must find together
again by themselves, and what was asked for meanwhile has one verdict that is true.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from halite import LocalClient, Trouble, ended, free_ports, process_tree, strays, wait_for  # noqa: E402
from outcome import judge  # noqa: E402
from page import Page  # noqa: E402

PATIENCE = 30  # seconds for anything
# Until a connection that libzmq no longer writes to is noticed by its heartbeat, and made again; what was sent and has no
# acknowledgement goes out again before that, after 30 s.
HEALS = 75
ENDS = 5  # from the last words of a process to its end
SOON = 0.5  # from the end of a process to that of all it has started
FINAL = ("returned", "not_connected", "not_delivered", "lost", "elsewhere")


class Daemon:
    """A program of ours that may be started many times; its output in one file."""

    def __init__(self, rig, name, prog, words):
        self.rig, self.name, self.process, self.mark = rig, name, None, 0
        self.ends = []  # exit codes since `mark`, of those in whose place another was started
        self.argv = [f"{rig.bins}/{prog}", *words]
        self.page, self.log = Page(f"{rig.work}/{name}.page"), f"{rig.work}/{name}.log"
        self.env = dict(os.environ, TMPDIR=rig.tmp, LD_PRELOAD=rig.library, INJECT=self.page.path, INJECT_PROG=prog, HALITE_INJECT=rig.work)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env, start_new_session=True)

    def code(self):
        """None while it runs."""
        return self.process.poll() if self.process else 0

    def codes(self):
        """The exit codes since `mark`, in order."""
        code = self.code() if self.process else None
        return self.ends + ([code] if code is not None else [])

    def again(self):
        """What ended is started again; what was stopped is not."""
        if self.process and self.code() is not None:
            self.ends = self.codes()
            self.start()

    def stop(self, seconds=PATIENCE):
        """Its exit code; None when it had to be killed."""
        if self.process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            for pid in process_tree(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            return None
        finally:
            self.process = None

    def said(self):
        """What it wrote since `mark`."""
        with open(self.log, "rb") as f:
            f.seek(self.mark)
            return f.read().decode(errors="replace")

    def forget(self):
        self.ends = []
        self.mark = os.path.getsize(self.log) if os.path.exists(self.log) else 0


class Rig:
    """A master and the minion m1, in a folder of their own."""

    def __init__(self, bins, library):
        self.bins, self.library = bins, library
        self.work = tempfile.mkdtemp(prefix="halite-inject-")
        self.tmp, self.place = f"{self.work}/tmp", f"{self.work}/place"
        ports = free_ports(3)
        for folder in ("etc", "m1/etc", "srv/orch", "pillar", "tmp", "place"):
            os.makedirs(f"{self.work}/{folder}")
        self.write("etc/master", {
            "interface": "127.0.0.1", "publish_port": ports[0], "ret_port": ports[1], "hello_port": ports[2], "root_dir": f"{self.work}/master",
            "log_level": "info", "file_roots": {"base": [f"{self.work}/srv"]},
            "pillar_roots": {"base": [f"{self.work}/pillar"]}, "reactor": [{"inject/react": [f"{self.work}/srv/react.sls"]}]})
        self.write("m1/etc/minion", {
            "id": "m1", "master": "127.0.0.1", "publish_port": ports[0], "master_port": ports[1], "hello_port": ports[2],
            "root_dir": f"{self.work}/m1/root", "log_level": "info", "acceptance_wait_time": 1, "random_reauth_delay": 0, "job_memory_max": 0})
        self.text("srv/big", "line of a file\n" * 40000)
        self.text("srv/conf", "{{ pillar.colour }} of {{ grains.id }}\n" + "line\n" * 200)
        self.text("pillar/top.sls", "base: {'*': [data]}\n")
        self.text("pillar/data.sls", "colour: red\n")
        self.text("srv/web.sls", f"conf:\n  file.managed: [{{name: {self.place}/conf}}, {{source: 'salt://conf'}}, {{template: jinja}}]\n")
        self.text("srv/orch/two.sls", "one:\n  salt.function: [{name: test.ping}, {tgt: m1}]\n"
                  "two:\n  salt.state: [{tgt: m1}, {sls: [web]}, {require: [{salt: one}]}]\n")
        self.text("srv/react.sls", f"do:\n  local.cmd.run: [{{tgt: m1}}, {{args: ['echo {{{{ data.token }}}} >>{self.place}/reacted']}}]\n")
        self.master = Daemon(self, "master", "salt-master", ["-c", f"{self.work}/etc"])
        self.minion = Daemon(self, "minion", "salt-minion", ["-c", f"{self.work}/m1/etc"])
        self.daemons = (self.master, self.minion)

    def up(self):
        self.master.start()
        self.wait("the master", self.answers)
        self.mend()

    def text(self, name, text):
        with open(f"{self.work}/{name}", "w") as f:
            f.write(text)

    def write(self, name, options):
        self.text(name, "".join(f"{k}: {json.dumps(v)}\n" for k, v in options.items()))

    def close(self):
        for d in reversed(self.daemons):
            d.page.off()
            d.stop()
            d.page.close()
        if not os.environ.get("INJECT_KEEP"):
            shutil.rmtree(self.work, ignore_errors=True)

    def wait(self, what, probe, seconds=PATIENCE):
        return wait_for(what, seconds, probe, 0.02)

    def ask(self, op, **request):
        with LocalClient(f"{self.work}/master/var/run/salt/master/master.sock", PATIENCE) as c:
            return c.call(op, **request)

    def answers(self):
        with contextlib.suppress(OSError, Trouble):
            return self.ask("status")["ok"]
        return False

    def connected(self):
        with contextlib.suppress(OSError, Trouble):
            one = self.ask("minions")["minions"].get("m1", {})
            return one.get("connected") and one.get("subscribed") and self.ask("grains", tgt="m1", tgt_type="glob")["grains"].get("m1")
        return False

    def key(self, folder):
        return os.path.exists(f"{self.work}/master/etc/salt/pki/master/{folder}/m1")

    def accepted(self):
        if self.key("minions_pre"):
            self.cli("salt-key", "-y", "-a", "m1")
        return self.key("minions")

    def standing(self, probe):
        """What the probe says, with daemons that run: one may end of its fault only after it has answered."""
        for d in self.daemons:
            d.again()
        return probe()

    def strays(self):
        """Processes of daemons that have ended, those that end at this moment left out: {pid: words}; none is left behind."""
        mark = f"HALITE_INJECT={self.work}"

        def found():
            return strays(mark, {d.process.pid for d in self.daemons if d.process})

        with contextlib.suppress(Trouble):
            self.wait("no stray", lambda: not found(), SOON)
        left = found()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left

    def cli(self, prog, *words, seconds=HEALS):
        """An operator's command: (exit code, what it said); None when it did not end. Meanwhile what ends is started again."""
        with tempfile.TemporaryFile(dir=self.tmp) as said:
            p = subprocess.Popen([f"{self.bins}/{prog}", "-c", f"{self.work}/etc", *words], stdout=said, stderr=said, stdin=subprocess.DEVNULL)
            code = None
            try:
                code = self.wait(prog, lambda: self.standing(lambda: [p.poll()] if p.poll() is not None else None), seconds)[0]
            except Trouble:
                pass
            finally:
                if p.poll() is None:
                    p.kill()
                    p.wait()
            said.seek(0)
            return code, said.read().decode(errors="replace")

    def mend(self):
        """What was stopped or ended is started again; then the two find together by themselves."""
        for d in self.daemons:
            if d.process is None:
                d.start()
        self.wait("the master answers", lambda: self.standing(self.answers))
        self.wait("m1 is accepted", lambda: self.standing(self.accepted))
        self.wait("m1 is connected", lambda: self.standing(self.connected))

    def jobs(self, token):
        """Jobs that name the token: [(jid, {id: (success, what was returned)})] as they are stored."""
        db = sqlite3.connect(f"file:{self.work}/master/var/cache/salt/master/jobs.db?mode=ro", uri=True, timeout=10)
        try:
            found = [r[0] for r in db.execute("SELECT jid FROM jobs WHERE instr(doc, ?) ORDER BY num", (token,))]
            return [(jid, {r[0]: (r[1], json.loads(r[2])) for r in db.execute("SELECT id, success, doc FROM returns WHERE jid = ?", (jid,))}) for jid in found]
        finally:
            db.close()

    def eventually(self, *words):
        """A job that is asked for until it comes back well: (exit code, what it said)."""
        last = [1, ""]

        def well():
            last[:] = self.standing(lambda: self.cli("salt", "-t", "10", "m1", *words))
            return last[0] == 0

        with contextlib.suppress(Trouble):
            self.wait("a job", well, HEALS)
        return last

    def lines(self, name, token):
        with contextlib.suppress(OSError), open(f"{self.place}/{name}") as f:
            return f.read().split().count(token)
        return 0


# ---- what is asked for, and what must hold afterwards: do(rig, token) -> result, audit(rig, token, result) -> [wrong]


def verdict_of(rig, jid):
    reply = rig.ask("verdicts", jid=jid)
    return (reply.get("verdicts") or {}).get("m1", {}).get("verdict") if reply.get("ok") else None


def audit_ran(rig, token, result, name="ran"):
    """Each job that names the token has one true verdict."""
    wrong = []

    def settled():
        jobs = rig.jobs(token)
        if result and result[0] == 0 and not any("m1" in returns for _, returns in jobs):
            return False  # what was shown is on the disk as soon as that takes it
        if rig.lines(name, token) and not any("m1" in returns for _, returns in jobs):
            return False  # what ran has a job and returns, be it late
        for jid, returns in jobs:
            if "m1" not in returns and verdict_of(rig, jid) not in (*FINAL, None):
                return False
        return True

    try:
        rig.wait("verdicts", settled, HEALS)
    except Trouble:
        wrong.append(f"no verdict: {[(j, verdict_of(rig, j)) for j, r in rig.jobs(token)]}")
    ran = None
    while ran != rig.lines(name, token):  # an event of before may be reacted to at any moment
        ran = rig.lines(name, token)
        if ran:  # begun since, or before: its return comes
            with contextlib.suppress(Trouble):
                rig.wait("the return", lambda: any("m1" in returns for _, returns in rig.jobs(token)), HEALS)
        jobs = rig.jobs(token)
    if len(jobs) > 1:
        wrong.append(f"{len(jobs)} jobs for one request")
    if ran > 1:
        wrong.append(f"it ran {ran} times")
    good = [jid for jid, returns in jobs if returns.get("m1", (0,))[0]]
    if good and ran != 1:
        wrong.append(f"its return says done, and it ran {ran} times")
    if not jobs and ran:
        wrong.append("it ran, and there is no job")
    if jobs and not any(returns for _, returns in jobs) and ran:
        wrong.append(f"it ran, and there is no return: {verdict_of(rig, jobs[0][0])}")
    if result and result[0] is None:
        wrong.append(f"the command does not end: {result[1][-200:]}")
    if result and result[0] == 0 and not good:
        wrong.append(f"the command says done, and no return says so: {result[1][-200:]}")
    return wrong


def do_job(rig, token):
    return rig.cli("salt", "-t", "5", "m1", "cmd.run", f"echo {token} >>{rig.place}/ran; echo {token}")


def do_file(rig, token):
    shutil.rmtree(f"{rig.work}/m1/root/var/cache/salt/minion/files", ignore_errors=True)
    return rig.cli("salt", "-t", "5", "m1", "cp.get_file", "salt://big", f"{rig.place}/{token}")


def whole(rig, path, text):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [] if f.read() == text else [f"half-written: {os.path.relpath(path, rig.work)}"]


def audit_file(rig, token, result):
    text = "line of a file\n" * 40000
    path, cached = f"{rig.place}/{token}", f"{rig.work}/m1/root/var/cache/salt/minion/files/base/big"
    wrong = whole(rig, path, text) + whole(rig, cached, text)
    if result[0] is None:
        wrong.append("the command does not end")
    if result[0] == 0 and token in result[1] and not os.path.exists(path):
        wrong.append(f"said to be there, and is not: {result[1]}")
    code, said = rig.eventually("cp.get_file", "salt://big", f"{path}.again")
    if code != 0 or not os.path.exists(f"{path}.again"):
        wrong.append(f"the next run fails: {said}")
    for p in (path, f"{path}.again"):
        with contextlib.suppress(OSError):
            os.unlink(p)
    return wrong


def do_pillar(rig, token):
    rig.text("pillar/data.sls", f"colour: {token}\n")
    first = rig.cli("salt", "-t", "5", "m1", "saltutil.refresh_pillar")
    return rig.cli("salt", "-t", "5", "m1", "pillar.item", "colour") if first[0] == 0 else first


def audit_pillar(rig, token, result):
    if result[0] is None:
        return ["the command does not end"]
    rig.eventually("saltutil.refresh_pillar")
    code, said = rig.eventually("pillar.items")
    return [] if code == 0 and token in said else [f"the next run has another pillar: {said}"]


def do_state(rig, token):
    rig.text("srv/conf", f"{token} {{{{ pillar.colour }}}}\n" + "line\n" * 200)
    return rig.cli("salt", "-t", "10", "m1", "state.apply", "web")


def audit_state(rig, token, result):
    path, wrong = f"{rig.place}/conf", []
    if result[0] is None:
        return ["the command does not end"]
    try:
        with open(path) as f:
            text = f.read()
    except FileNotFoundError:
        text = None
    if text is not None and (not text.endswith("line\n") or text.count("line\n") != 200):
        wrong.append("half-written: place/conf")
    if result[0] == 0 and (text is None or token not in text):
        wrong.append(f"said to be done, and is not: {result[1][-300:]}")
    left = [n for n in os.listdir(rig.place) if n.startswith(".conf") or n.startswith("conf.")]
    for name in left:
        with contextlib.suppress(FileNotFoundError):  # of a run that goes on
            os.unlink(f"{rig.place}/{name}")
    said = rig.eventually("state.apply", "web")  # the first run may still wait for its pillar, which the next connection brings
    if said[0] != 0 or token not in open(path).read():
        wrong.append(f"the next run fails: {said[1][-300:]}")
    return wrong


def do_list(rig, token):
    del token
    return rig.cli("salt-run", "jobs.list_jobs")


def audit_said(rig, token, result):
    del rig, token
    if result[0] is None:
        return [f"the command does not end: {result[1][-200:]}"]
    return ["an error without a word"] if result[0] != 0 and not result[1].strip() else []


def do_orch(rig, token):
    rig.text("srv/conf", f"{token} {{{{ pillar.colour }}}}\n" + "line\n" * 200)
    return rig.cli("salt-run", "state.orchestrate", "orch.two", seconds=60)


def do_react(rig, token):
    fired = rig.ask_fire("inject/react", {"token": token})
    with contextlib.suppress(Trouble):
        rig.wait("the reaction", lambda: rig.master.code() is not None or rig.lines("reacted", token), 5)
    return fired


def audit_react(rig, token, result):
    """An event that was taken is reacted to once; one that was not, at most once."""
    if result[0] == 0:
        with contextlib.suppress(Trouble):
            rig.wait("the reaction", lambda: rig.lines("reacted", token) > 0, 20)
    wrong = audit_ran(rig, token, None, "reacted")
    if result[0] == 0 and not rig.jobs(token) and "react.sls" not in rig.master.said():  # nor told as an error
        wrong.append("the event was taken, and set off nothing")
    return wrong


def do_event(rig, token):
    return rig.cli("salt", "-t", "5", "m1", "event.send", "inject/event", f"token={token}")


def audit_event(rig, token, result):
    wrong = audit_said(rig, token, result)

    def seen():
        reply = rig.ask("journal", **{"from": rig.since + 1, "tags": ["inject/event"]})
        return sum(token in json.dumps(e) for e in reply.get("events", []))

    if result[0] == 0:
        with contextlib.suppress(Trouble):
            rig.wait("the event", seen, HEALS)
    n = seen()
    if n > 1 or (result[0] == 0 and "True" in result[1] and n != 1):
        wrong.append(f"the event is there {n} times: {result[1]}")
    return wrong


class Row:
    """`target`: the daemon with the fault; `who`: in which of its processes (see inject.c)."""

    def __init__(self, name, target, do, audit, who=""):
        self.name, self.target, self.do, self.audit, self.who = name, target, do, audit, who


def ask_fire(self, tag, data):
    try:
        reply = self.ask("fire", tag=tag, data=data, kept=True)
        return (0 if reply.get("ok") else 1), json.dumps(reply)
    except (OSError, Trouble, ValueError) as e:
        return 1, str(e)


Rig.ask_fire = ask_fire


# ---- starts and stops: the fault is there from the first call of main() on -------------------------------------------


def start_master(empty):
    def do(rig, token):
        del token
        rig.master.stop()
        if empty:
            rig.minion.stop()
            shutil.rmtree(f"{rig.work}/master", ignore_errors=True)
            shutil.rmtree(f"{rig.work}/m1/root", ignore_errors=True)
        rig.begin()
        rig.master.start()
        with contextlib.suppress(Trouble):
            rig.wait("the master", lambda: rig.master.code() is not None or rig.answers(), 15)
        return 0, ""

    return do


def start_minion(fresh):
    def do(rig, token):
        del token
        rig.minion.stop()
        if fresh:
            rig.cli("salt-key", "-y", "-d", "m1")
            shutil.rmtree(f"{rig.work}/m1/root", ignore_errors=True)
        rig.begin()
        rig.minion.start()
        with contextlib.suppress(Trouble):
            rig.wait("m1", lambda: rig.minion.code() is not None or (rig.key("minions_pre") if fresh else rig.connected()), 5)
        if fresh and rig.key("minions_pre"):
            rig.cli("salt-key", "-y", "-a", "m1")
            with contextlib.suppress(Trouble):
                rig.wait("m1", lambda: rig.minion.code() is not None or rig.connected(), 5)
        return 0, ""

    return do


def stop_daemon(name):
    def do(rig, token):
        del token
        daemon = getattr(rig, name)
        rig.begin()
        with contextlib.suppress(ProcessLookupError):
            daemon.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.process.wait(15)
        return 0, ("" if daemon.code() is not None else "hang")

    return do


def audit_stop(rig, token, result):
    del rig, token
    return ["it does not end"] if result[1] == "hang" else []


def audit_start(rig, token, result):
    del rig, token, result
    return []


ROWS = [
    Row("job-master", "master", do_job, audit_ran),
    Row("job-server", "minion", do_job, audit_ran, "main"),
    Row("job-net", "minion", do_job, audit_ran, "net"),
    Row("job-child", "minion", do_job, audit_ran, "job"),
    Row("file-master", "master", do_file, audit_file),
    Row("file-net", "minion", do_file, audit_file, "net"),
    Row("file-child", "minion", do_file, audit_file, "job"),
    Row("pillar-master", "master", do_pillar, audit_pillar),
    Row("pillar-server", "minion", do_pillar, audit_pillar, "main"),
    Row("pillar-net", "minion", do_pillar, audit_pillar, "net"),
    Row("state-master", "master", do_state, audit_state),
    Row("state-child", "minion", do_state, audit_state, "job"),
    Row("list-master", "master", do_list, audit_said),
    Row("orch-master", "master", do_orch, audit_state),
    Row("react-master", "master", do_react, audit_react),
    Row("event-master", "master", do_event, audit_event),
    Row("event-server", "minion", do_event, audit_event, "main"),
    Row("event-net", "minion", do_event, audit_event, "net"),
    Row("start-empty", "master", start_master(True), audit_start),
    Row("start-used", "master", start_master(False), audit_start),
    Row("start-minion", "minion", start_minion(False), audit_start),
    Row("start-fresh", "minion", start_minion(True), audit_start),
    Row("stop-master", "master", stop_daemon("master"), audit_stop),
    Row("stop-minion", "minion", stop_daemon("minion"), audit_stop),
]


class Trial:
    """A scenario on a rig that several share."""

    def __init__(self, rig, row):
        self.rig, self.row, self.n = rig, row, 0
        self.target = getattr(rig, row.target)
        self.page = self.target.page
        self.own_begin = row.name.startswith(("start-", "stop-"))

    def close(self):
        self.page.off()

    def _run(self, **arms):
        self.n += 1
        token = f"{self.row.name}-{os.getpid()}-{self.n}-{time.monotonic_ns()}"
        for d in self.rig.daemons:
            d.forget()
        self.rig.begin = lambda: self.page.arm(who=self.row.who, **arms)
        if not self.own_begin:
            self.rig.since = self.rig.ask("status")["seq"]
            self.rig.begin()
        result = self.row.do(self.rig, token)
        return token, result

    def look(self, kind):
        self.rig.mend()
        self._run(kind=kind, error=0, look=True)
        self.page.off()
        self.rig.mend()
        return self.page.calls, self.page.places()

    def once(self, kind, error, **point):
        """One run with one fault: (name of the outcome, [what is wrong], whether it was reached)."""
        token, result = self._run(kind=kind, error=error, **point)
        self.page.off()
        reached, wrong = self.page.hits > 0, []
        # Who has said why it ends is not always gone yet, and its other threads still answer.
        if reached and not self.target.codes() and "bytes were refused" in self.target.said():
            with contextlib.suppress(Trouble):
                self.rig.wait("its end", self._gone, ENDS)
        codes = self.target.codes()
        name, bad = self._judge(kind, codes[0] if codes else None)
        if bad and reached:
            wrong.append(bad)
        self._alone(wrong)
        try:
            self.rig.mend()
            if reached:
                wrong += self.row.audit(self.rig, token, result)
            if self.rig.eventually("test.ping")[0] != 0:
                wrong.append("nothing works afterwards")
                self._again()
            self._alone(wrong)
        except Trouble as e:
            wrong.append(f"it does not mend: {e}: {self.target.said()[-400:]}")
            self._again()
        for late in self.target.codes()[len(codes[:1]) :]:
            name, bad = self._judge(kind, late)
            if bad and reached:
                wrong.append(f"later: {bad}")
        wrong += [f"the {d.name} ended too: {d.codes()}: {d.said()[-200:]}" for d in self.rig.daemons if d is not self.target and d.codes()]
        text = self.target.said()
        if reached and name == "carried on" and "bytes were refused" in text:
            name = "a child ended"
        if reached and "broken invariant" in text and not bad:
            wrong.append([t for t in text.splitlines() if "broken invariant" in t][0])
        return name, wrong, reached

    def _gone(self):
        """Whether the process with the fault has ended: the daemon's first one, or a child of its."""
        pid = self.page.pid
        return self.target.code() is not None if self.target.process and pid == self.target.process.pid else ended(pid)

    def _alone(self, wrong):
        left = self.rig.strays()
        if left:
            wrong.append(f"left behind: {left}, beside {[(d.name, d.process and d.process.pid, d.codes()) for d in self.rig.daemons]}")

    def _judge(self, kind, code):
        """A daemon's exit code; None while it runs."""
        asked = code == 0 and self.row.name.startswith("stop-")
        name, bad = judge(code or 0, self.target.said(), kind, self.page)
        return name, "it ended with exit code 0" if code == 0 and not asked else bad

    def _again(self):
        for d in self.rig.daemons:
            d.stop(5)
        self.rig.mend()
