#!/usr/bin/python3
"""returners.py [NAME...] - jobs that Halite and Salt keep in real databases, each read by both.

HALITE_SALT names the folder that has Salt's package, HALITE_SALT_PYTHON its interpreter (/usr/bin/python3); BUILD is the folder of our
build. Each of the two runs a master with ext_job_cache, a minion, and the same jobs: Halite once for each returner, Salt once for all of
them. Then both read both databases: the functions of the returner, and the runner jobs. Prints what the readers of one database do not
tell alike, what is told of the two writers not alike, and a line of figures; exit code 1 when something differs that is not in KNOWN.
A returner whose server or client is not here is named, and left out.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HERE / "tests/chaos"), str(HERE / "tests/lib")]

import sinks  # noqa: E402
from halite import Trouble, free_ports, process_tree, wait_for  # noqa: E402

SALT = os.environ.get("HALITE_SALT", "")
PYTHON = os.environ.get("HALITE_SALT_PYTHON", "/usr/bin/python3")
BUILD = os.path.join(HERE, os.environ.get("BUILD", "build"))
SALTS = [PYTHON, "-B", "-W", "ignore", "-c"]
ENV = {**os.environ, "PYTHONPATH": SALT, "LC_ALL": "C.UTF-8"}
ANSWERS = 6  # that are asked for of each job
SECONDS = 300  # until a daemon of Salt's answers, on a machine that has other work

# Arguments of every kind, failures, targets, metadata.
JOBS = [
    ["m1", "test.arg", "ä", "k=1", "l=[1, 2.5, null, true]", '--metadata={"x": 1}'],
    ["m1", "test.echo", "a \"quoted\" 'word' \\ and %s"],
    ["-L", "m1,nosuch", "test.ping", "-t", "2"],
    ["*", "test.false"],
    ["-G", "site:here", "test.kwarg", "a={b: [c]}"],
    ["-C", "m1 or E@m.*", "test.nosuch"],
    ["m1", "state.single", "test.succeed_without_changes", "name=x"],
    ["m1", "state.single", "test.fail_without_changes", "name=x"],
    ["m1", "test.ping"],
]
# What may differ, as the beginning of a line of the report, and why.
KNOWN = [
    (r"(pgjsonb|postgres) get_fun:", "Salt's statement has MySQL's quotes, and is an error"),
    (r"redis get_fun:", "Salt's function reads keys that its returner does not write"),
    (r"postgres_local_cache (get_minions|get_fun):", "Salt's function fails"),
    (r"postgres_local_cache jobs\..*(Arguments|raised AttributeError)", "Salt's runner takes the text of a column for a list of letters, and for a dictionary"),
    (r"postgres_local_cache .* of Salt's \| of Halite's: .*\.(kwargs|return|m1|Result)", "columns are texts of Python's values, in another order"),
    (r".* jobs\.exit_success: .* \| Halite: .*\"\(none\)\" \| false$", "Salt leaves out a minion whose return is false"),
    (r".* of Salt's \| of Halite's: .*\.(ret|timeout|kwargs\.(delimiter|show_jid|show_timeout)):", "members of the load that tell of the command line"),
    (r".* of Salt's \| of Halite's: .*\.out(putter)?:", "Salt's minion gives a returner no outputter but that of errors"),
]
# What is another thing for each run, or each writer.
VOLATILE = {"jid", "StartTime", "start_time", "duration", "user", "User", "username", "__pub_jid", "__pub_pid", "__pub_user", "__pub_ret", "_stamp"}

# Runs Salt's command lines, each in a process that has its modules loaded already: lines of JSON, [words, file].
COMMANDS = """
import json, os, sys
import salt.scripts, salt.cli.salt, salt.client, salt.output
for line in sys.stdin:
    words, file = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
        os.dup2(1, 2)
        sys.argv = ["/usr/bin/salt", *words]
        salt.scripts.salt_main()
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
"""
# Salt's returner and runner functions, by its loaders: a line of JSON, [configuration, returner, calls], is answered by one.
CALLS = """
import json, sys
import salt.config, salt.loader, salt.minion
for line in sys.stdin:
    conf, name, calls = json.loads(line)
    opts = salt.config.master_config(conf)
    opts["file_client"], opts["pillar"], opts["grains"] = "local", {}, {}
    returners = salt.loader.returners(opts, salt.loader.minion_mods(opts))
    salt.minion.MasterMinion = lambda opts, **more: type("Mminion", (), {"returners": returners})
    runners, said = salt.loader.runner(opts), []
    for fun, kwargs in calls:
        try:
            said.append(runners[fun](**kwargs) if "." in fun else returners[name + "." + fun](*kwargs.values()))
        except Exception as error:
            said.append("raised " + type(error).__name__)
    print(json.dumps(said), flush=True)
"""
# Stores into all of Salt's returners at once: so one master and one minion of Salt's do for all.
EVERY = """
import salt.loader
NAMES, FOUND = {names}, []


def _each(name, *args, **kwargs):
    if not FOUND:
        FOUND.append(salt.loader.returners(dict(__opts__), __salt__))
    return [FOUND[0][one + "." + name](*args, **kwargs) for one in NAMES][-1]


def prep_jid(nocache=False, passed_jid=None):
    return _each("prep_jid", nocache=nocache, passed_jid=passed_jid)


def save_load(jid, load, minions=None):
    _each("save_load", jid, load, minions)


def returner(ret):
    _each("returner", ret)
"""
CACHE_TABLES = """
CREATE TABLE jids (jid varchar(20) PRIMARY KEY, started TIMESTAMP WITH TIME ZONE DEFAULT now(), tgt_type text NOT NULL, cmd text NOT NULL,
  tgt text NOT NULL, kwargs text NOT NULL, ret text NOT NULL, username text NOT NULL, arg text NOT NULL, fun text NOT NULL);
CREATE TABLE salt_returns (added TIMESTAMP WITH TIME ZONE DEFAULT now(), fun text NOT NULL, jid varchar(20) NOT NULL, return text NOT NULL,
  id text NOT NULL, success boolean);
"""


class Postgres(sinks.Postgres):
    """A server with a database NAME_WRITER for each of its three returners."""

    client = "psycopg2"

    def made(self):
        """Tables come with a database."""

    def sql(self, text, db="postgres"):
        return self._run("psql", "-h", self.folder, "-U", "salt", "-d", db, "-qAtv", "ON_ERROR_STOP=1", text=text)

    def database(self, name, writer):
        self.sql(f"CREATE DATABASE {name}_{writer}")
        kind = "text" if name == "postgres" else "jsonb"
        own = sinks.TABLES.format(load="load", ret="return", json=kind, serial="bigserial PRIMARY KEY")
        self.sql(CACHE_TABLES if name == "postgres_local_cache" else own, f"{name}_{writer}")

    def config(self, name, writer):
        values = {"host": self.folder, "user": "salt", "db": f"{name}_{writer}", "port": 5432}
        if name == "postgres_local_cache":
            return {f"master_job_cache.postgres.{key}": value for key, value in {**values, "passwd": "none"}.items()}
        return {f"returner.{name}": {**values, "pass": "none"}}

    def stored(self, name, writer):
        """The jids of the jobs, and the number of returns."""
        return [self.sql(f"SELECT jid FROM {table} ORDER BY jid", f"{name}_{writer}").split() for table in ("jids", "salt_returns")]


class Maria(sinks.Maria):
    client = "MySQLdb"

    def made(self):
        self.sql("CREATE USER salt IDENTIFIED BY 'salt'; GRANT ALL ON *.* TO salt", "mysql")

    def database(self, name, writer):
        self.sql(f"CREATE DATABASE {name}_{writer} DEFAULT CHARACTER SET utf8", "mysql")
        self.sql(sinks.TABLES.format(load="`load`", ret="`return`", json="mediumtext", serial="BIGINT AUTO_INCREMENT PRIMARY KEY"), f"{name}_{writer}")

    def config(self, name, writer):
        return {"mysql": {"host": "localhost", "unix_socket": f"{self.folder}/sock", "user": "salt", "pass": "salt", "db": f"{name}_{writer}"}}

    def stored(self, name, writer):
        return [self.sql(f"SELECT jid FROM {table} ORDER BY jid", f"{name}_{writer}").split() for table in ("jids", "salt_returns")]


class Redis(sinks.Redis):
    client = "redis"
    NUMBERS = {"halite": "0", "salt": "1"}

    def made(self):
        """There are no tables."""

    def database(self, name, writer):
        """All numbers are there."""

    def config(self, name, writer):
        return {"redis.unix_socket_path": f"{self.folder}/sock", "redis.db": self.NUMBERS[writer]}

    def stored(self, name, writer):
        keys = [re.sub("^(load|ret):", r"\1 ", k).split(" ") for k in self.ask("-n", self.NUMBERS[writer], "--scan").split()]
        return [sorted(k[1] for k in keys if k[0] == kind and k[1].isdigit()) for kind in ("load", "ret")]


RETURNERS = {"pgjsonb": Postgres, "postgres": Postgres, "postgres_local_cache": Postgres, "mysql": Maria, "redis": Redis}


def folders(top):
    return {"root_dir": top, "pki_dir": f"{top}/pki", "cachedir": f"{top}/cache", "sock_dir": f"{top}/s", "log_file": f"{top}/log", "pidfile": f"{top}/pid"}


class Fleet:
    """A master and a minion, Halite's or Salt's, that store jobs by one returner."""

    def __init__(self, conf, kind, cache, options, names=()):
        self.kind, self.procs, self.conf = kind, [], conf
        os.makedirs(f"{conf}/returners")
        ports = free_ports(3)
        self.port = ports[1]
        common = {"user": "root", "publish_port": ports[0], "log_level_logfile": "warning", "ext_job_cache": cache, "returner_dirs": [f"{conf}/returners"],
                  **options}
        master = {**folders(f"{conf}/m"), **common, "id": "keeper", "interface": "127.0.0.1", "ret_port": ports[1], "auto_accept": True, "worker_threads": 2}
        minion = {**folders(f"{conf}/w"), **common, "id": "m1", "master": "127.0.0.1", "master_port": ports[1], "grains": {"site": "here"}}
        if kind == "halite":
            master["hello_port"] = minion["hello_port"] = ports[2]
        for name, text in ("master", json.dumps(master)), ("minion", json.dumps(minion)), ("returners/every.py", EVERY.format(names=list(names))):
            pathlib.Path(f"{conf}/{name}").write_text(text)

    def argv(self, program):
        if self.kind == "halite":
            return [f"{BUILD}/bin/{program}", "-c", self.conf]
        main = program.replace("-", "_")
        return [*SALTS, f"import sys; sys.argv[0] = '/usr/bin/{program}'; from salt.scripts import {main}; sys.exit({main}())", "-c", self.conf]

    def begin(self, program):
        with open(f"{self.conf}/{program}.out", "ab") as out:
            self.procs.append(subprocess.Popen(self.argv(program), env=ENV, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True))

    def up(self):
        self.begin("salt-master")
        self.begin("salt-minion")
        # One question at a time, and none before the master's workers are there: each of Salt's takes seconds.
        wait_for(f"the master of {self.kind} listens", SECONDS, self.listens, 0.1)
        wait_for(f"the minion of {self.kind} answers", SECONDS, lambda: "3006" in self.run([["m1", "test.version", "-t", "30"]]), 0.3)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def run(self, lines):
        """Jobs by command lines; what these say."""
        lines = [["-c", self.conf, *words, "--out=json"] for words in lines]
        if self.kind == "halite":
            return "".join(subprocess.run([f"{BUILD}/bin/salt", *words], env=ENV, capture_output=True, text=True, timeout=SECONDS).stdout for words in lines)
        file = pathlib.Path(f"{self.conf}/said")
        file.write_text("")
        text = "".join(json.dumps([words, str(file)]) + "\n" for words in lines)
        subprocess.run([*SALTS, COMMANDS], input=text, env=ENV, text=True, check=True, timeout=SECONDS * 2)
        return file.read_text()

    def down(self):
        for proc in self.procs:
            for pid in process_tree(proc.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            proc.wait()


def write(fleet, stores):
    """The jobs, until each of the stores has them; the jids."""
    try:
        fleet.up()
        before = {name: server.stored(name, fleet.kind)[0] for name, server in stores.items()}
        fleet.run(JOBS)
        for name, server in stores.items():
            wait_for(f"{fleet.kind}: {name} has {len(JOBS)} jobs and returns more", SECONDS,
                     lambda: all(len(set(now) - set(before[name])) >= len(JOBS) for now in server.stored(name, fleet.kind)), 0.1)
        return {name: sorted(set(server.stored(name, fleet.kind)[0]) - set(before[name])) for name, server in stores.items()}
    finally:
        fleet.down()


def calls_of(jids):
    """What is asked of a database with these jobs: functions of the returner, and of the runner."""
    found = [(fun, {"jid": jid}) for jid in jids for fun in ("get_load", "get_jid", "jobs.list_job", "jobs.print_job", "jobs.lookup_jid", "jobs.exit_success")]
    found += [("get_jids", {}), ("get_minions", {}), ("get_fun", {"fun": "test.ping"}), ("get_load", {"jid": "1"}), ("get_jid", {"jid": "1"})]
    found += [("jobs.list_jobs", kwargs) for kwargs in (
        {}, {"search_metadata": {"x": 1}}, {"search_metadata": {"x": 2}}, {"search_function": "test.*"}, {"search_function": "state.*,test.echo"},
        {"search_target": "m*"}, {"search_target": "*site*"}, {"start_time": "2020-01-01"}, {"end_time": "2020-01-01"})]
    found += [("jobs.last_run", kwargs) for kwargs in ({}, {"function": "state.single"}, {"metadata": {"x": 1}}, {"target": "nosuch"})]
    return found + [("jobs.lookup_jid", {"jid": jids[2], "missing": True}), ("jobs.list_job", {"jid": "20200101000000000000"})]


def by_halite(fleet, name, calls):
    """The answers of our programs; what is none is a text."""
    said = []
    fleet.begin("salt-master")
    try:
        wait_for("the master listens", SECONDS, fleet.listens, 0.1)
        for fun, kwargs in calls:
            if "." in fun:
                words, text = [f"{BUILD}/bin/salt-run", "-c", fleet.conf, fun, *(f"{k}={json.dumps(v)}" for k, v in kwargs.items()), "--out=json"], None
            else:
                words = [f"{BUILD}/tests/unit/plugins/test_returner_cases", name, pathlib.Path(f"{fleet.conf}/master").read_text()]
                text = json.dumps([fun, *kwargs.values()])
            done = subprocess.run(words, input=text, env=ENV, capture_output=True, text=True, timeout=SECONDS)
            try:
                said.append(json.loads(done.stdout))
            except ValueError:
                said.append(f"exit {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
    finally:
        fleet.down()
    return said


def differ(path, a, b, found):
    """Where two values differ, as lines."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            differ(f"{path}.{key}", a.get(key, "(none)"), b.get(key, "(none)"), found)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for n, (x, y) in enumerate(zip(a, b)):
            differ(f"{path}[{n}]", x, y, found)
    elif a != b:
        found.append(f"{path}: {json.dumps(a)[:300]} | {json.dumps(b)[:300]}")
    return found


def common(value, jids, path=""):
    """A value without what is of one run: jids are numbers, and other jobs than those are left out."""
    if isinstance(value, dict):
        numbers = {jid: f"job{n}" for n, jid in enumerate(jids)}
        return {numbers.get(k, k): common(v, jids) for k, v in value.items() if k not in VOLATILE and (k in numbers or not re.fullmatch("[0-9]{20}", k))}
    if isinstance(value, list):
        return [common(v, jids) for v in value]
    return value


def shown(value):
    """What salt-run shows of a runner's return: without the name of the outputter."""
    return value["data"] if isinstance(value, dict) and value.keys() == {"outputter", "data"} else value


class Report:
    def __init__(self):
        self.wrong = self.same = 0
        self.known = set()

    def take(self, what, lines):
        for line in lines:
            why = next((why for pattern, why in KNOWN if re.match(pattern, what + line)), None)
            if why:
                self.known.add(why)
            else:
                self.wrong += 1
                print(what + line, flush=True)
        self.same += not lines


def chosen(words):
    """The returners that are asked for and can be tried here."""
    for name in words or RETURNERS:
        kind = RETURNERS[name]
        if not kind.here():
            print(f"{name} is left out: its server is not here")
        elif subprocess.run([*SALTS, f"import {kind.client}"], capture_output=True).returncode != 0:
            print(f"{name} is left out: {PYTHON} has no {kind.client}")
        else:
            yield name


def compare(top, names, servers):
    stores = {name: servers[RETURNERS[name]] for name in names}
    for name, server in stores.items():
        for writer in ("halite", "salt"):
            server.database(name, writer)
    options = {k: v for name, server in stores.items() for k, v in server.config(name, "salt").items()}
    jids = {"salt": write(Fleet(f"{top}/salt", "salt", "every", options, names), stores), "halite": {}}
    for name, server in stores.items():
        jids["halite"].update(write(Fleet(f"{top}/{name}", "halite", name, server.config(name, "halite")), {name: server}))
    asked = [(name, writer, Fleet(f"{top}/{name}-{writer}", "halite", name, server.config(name, writer)), calls_of(jids[writer][name]))
             for name, server in stores.items() for writer in ("halite", "salt")]
    text = "".join(json.dumps([f"{fleet.conf}/master", name, calls]) + "\n" for name, _, fleet, calls in asked)
    done = subprocess.run([*SALTS, CALLS], input=text, env=ENV, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"Salt's functions: {done.stderr[-2000:]}")
    told, report = {}, Report()
    for (name, writer, fleet, calls), line in zip(asked, done.stdout.splitlines(), strict=True):
        told[name, writer] = json.loads(line)
        for (fun, kwargs), salts, ours in zip(calls, told[name, writer], by_halite(fleet, name, calls)):
            report.take(f"{name} {fun}: {kwargs} of {writer}'s: Salt | Halite: ", differ("", shown(salts), ours, []))
    for name in names:
        # Salt's command asks for a job that takes long by another job.
        own = {w: [(jid, told[name, w][n * ANSWERS:(n + 1) * ANSWERS]) for n, jid in enumerate(jids[w][name])
                   if told[name, w][n * ANSWERS].get("fun") != "saltutil.find_job"] for w in ("salt", "halite")}
        for (jid, ones), (other, others) in zip(own["salt"], own["halite"], strict=True):
            for (fun, _), one, two in zip(calls_of([jid] * 3), ones, others):
                lines = differ("", common(shown(one), [jid]), common(shown(two), [other]), [])
                report.take(f"{name} {fun}: of Salt's | of Halite's: ", lines)
    return report


def main():
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(1))
    if not SALT:
        return print("HALITE_SALT names no folder with Salt's package: nothing is compared")
    names = list(chosen(sys.argv[1:]))
    top = tempfile.mkdtemp(prefix="ret.", dir=os.environ.get("BATS_RUN_TMPDIR") or None)
    os.chmod(top, 0o711)  # for servers of another user
    place = type("Place", (), {"folder": top})
    servers = {kind: kind(place) for kind in {RETURNERS[name] for name in names}}
    try:
        for server in servers.values():
            server.make()
            server.start()
            server.made()
        report = compare(top, names, servers)
    finally:
        for server in servers.values():
            server.kill()
        shutil.rmtree(top, ignore_errors=True)
    print(f"{len(names)} returners, {report.same} answers alike, {report.wrong} differences, known: {'; '.join(sorted(report.known)) or 'none'}")
    return 1 if report.wrong else 0


sys.exit(main())
