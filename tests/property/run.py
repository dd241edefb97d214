#!/usr/bin/python3
"""Every state function over random inputs: test mode tells what the run does, and a second run changes nothing.

run.py BUILD [--only WORLD[,WORLD]|MODULE.FUNCTION] [--inputs N] [--seed N] [--jobs N] [-v]

Each state of a world (worlds_*.py) is tried in a sandbox (sandbox.py) with arguments at random (draw.py): in test mode, for real,
and both again. What holds is in judge.py. N is how many inputs each function gets at least.
The same seed and inputs draw the same; what failed is printed with the command that tries it alone.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

import draw
import judge
import sandbox
import worlds

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "cases", "state")


class Machine:
    """A sandbox with salt-call in it."""

    def __init__(self, box, build, world):
        self.box, self.build, self.world = box, build, world

    def apply(self, fun, args, test):
        tree = {"x": {fun: [{key: arg} for key, arg in args.items()]}}
        with open(f"{self.box.root}/run/property/x.sls", "w", encoding="utf-8") as f:
            f.write("#!json\n" + json.dumps(tree))
        try:
            code, out = self.box.run([f"{self.build}/bin/salt-call", "--local", "-l", "quiet", "--out=json", "state.apply", "x", f"test={test}"], 60)
        except subprocess.TimeoutExpired:
            return {"crash": "no answer within a minute", "result": "crash", "changes": {}}
        try:
            chunks = json.loads(out)["local"]
            return next(iter(chunks.values())) if isinstance(chunks, dict) else {"error": json.dumps(chunks), "result": False, "changes": {}}
        except ValueError:
            return {"crash": f"exit code {code}: {out}", "result": "crash", "changes": {}}

    def look(self):
        if not self.world.look:
            return ""
        return self.box.run(["/bin/bash", "-c", self.world.look])[1]

    def state(self):
        seen, times = self.box.world(self.world.ignored)
        return judge.State(seen, {} if self.world.played else times, self.look())  # a model may touch what it keeps

    def trial(self, fun, args):
        first = self.state()
        told = self.apply(fun, args, True)
        foretold = self.state()
        done = self.apply(fun, args, False)
        second = self.state()
        told_again = self.apply(fun, args, True)
        again = self.apply(fun, args, False)
        return judge.Trial(fun, args, told, done, told_again, again, (first, foretold, second, self.state()))


def minion_config(world):
    return json.dumps({"id": "m", "file_client": "local", "file_roots": {"base": ["/run/property", "/srv/salt"]},
                       "pillar_roots": {"base": ["/srv/pillar"]},
                       **world.minion})


def played(box, name):
    """Puts a world of the recorded cases into the sandbox: its folder is /srv/played."""
    with open(f"{CASES}/../world/{name}.json", encoding="utf-8") as f:
        case = json.loads(f.read().replace("{T}", "/srv/played"))
    files = {f"srv/played/{path}": (text, 0o644) for path, text in case.get("files", {}).items()}
    files.update({f"usr/local/sbin/{path}": (text, 0o755) for path, text in case.get("programs", {}).items()})
    for path, (text, mode) in files.items():
        at = f"{box.root}/{path}"
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(at, mode)
    box.shell("mkdir -p /srv/played; cd /srv/played; ln -s /usr/local/sbin bin\n" + case.get("setup", ""))
    for at, what in case.get("over", {}).items():
        what = what.lstrip("+")
        box.shell(f"if [ -d {what} ]; then mkdir -p {at}; cp -a {what}/. {at}/; else cp -a {what} {at}; fi; rm -rf {what}; ln -s {at} {what}")


def prepare(base, build, name, world):
    """The layer of a world: what its setup leaves. Runs in a process of its own, since its mounts go with it."""
    box = sandbox.Sandbox(f"{base}/layers/{name}.made", [], build)
    box.shell("rm -rf /etc/salt /srv/salt /srv/pillar; mkdir -p /etc/salt /srv/salt /srv/pillar; ip link set lo up")
    with open(f"{box.root}/etc/salt/minion", "w", encoding="utf-8") as f:
        f.write(minion_config(world))
    if world.pillar:
        with open(f"{box.root}/srv/pillar/top.sls", "w", encoding="utf-8") as f:
            f.write(json.dumps({"base": {"*": ["x"]}}))
        with open(f"{box.root}/srv/pillar/x.sls", "w", encoding="utf-8") as f:
            f.write(json.dumps(world.pillar))
    if world.played:
        played(box, world.played)
    if world.setup:
        box.shell(world.setup)


def in_process(work, flags=sandbox.NEW_MOUNTS | sandbox.NEW_NET | sandbox.NEW_IPC | sandbox.NEW_HOST | sandbox.NEW_PIDS):
    """Runs `work` as the first process of namespaces of its own; its exit code."""
    outer = os.fork()
    if outer == 0:
        code = 1
        try:
            sandbox.apart(flags)
            inner = os.fork()
            if inner == 0:
                try:
                    os._exit(work())
                except BaseException:
                    traceback.print_exc()
                    sys.stderr.flush()
                    os._exit(1)
            code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        finally:
            os._exit(code if code >= 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(outer, 0)[1])


class Sequence:
    """States that run one after the other in one sandbox."""

    def __init__(self, name, number, seed):
        self.name, self.number, self.world = name, number, worlds.WORLDS[name]
        self.rng = random.Random(zlib.crc32(f"{name} {number} {seed}".encode()))

    def steps(self, funs, known, specs):
        for fun in funs:
            row = self.world.rows[fun]
            yield fun, *draw.arguments(self.rng, row, known.get(fun, {}), specs[fun])


def run_sequence(opts, base, sequence, funs, out):
    """Tries the functions one after the other, and writes a line of JSON for each."""
    name, world = sequence.name, sequence.world
    box = sandbox.Sandbox(f"{base}/boxes/{name}.{sequence.number}", [f"{base}/layers/{name}.made/upper"], opts.build)
    os.makedirs(f"{box.root}/run/property")
    box.shell("ip link set lo up")
    if world.start:
        box.shell(world.start)
    machine = Machine(box, opts.build, world)
    for fun, args, nasty in sequence.steps(funs, opts.known, opts.specs):
        trial = machine.trial(fun, args)
        line = {"fun": fun, "args": args, "nasty": nasty, "world": name, "number": sequence.number,
                "faults": judge.faults(trial, world.rows[fun], nasty),
                "outcome": judge.outcome(trial), "told": trial.told, "done": trial.done, "again": trial.again}
        out.write(json.dumps(line) + "\n")
        out.flush()
    return 0


def state_functions(build):
    """{function: names of its arguments} of all that salt-call has."""
    with tempfile.TemporaryDirectory() as conf:
        with open(f"{conf}/minion", "w", encoding="ascii") as f:
            f.write(f"root_dir: {conf}\nfile_client: local\n")
        with os.popen(f"'{build}/bin/salt-call' --local -c '{conf}' --out=json sys.state_argspec '*'") as p:
            specs = json.load(p)["local"]
    listed = {fun: spec["args"] for fun, spec in specs.items()}
    for name in os.listdir(CASES):
        listed.setdefault(name[:-5], [])
    return listed


def plan(only, inputs):
    """[(world, number of the sequence, functions)]: each function comes `inputs` times."""
    for name, world in worlds.WORLDS.items():
        funs = [fun for fun in world.rows if not only or name in only or fun in only or fun.split(".")[0] in only]
        missing = [p for p in world.needs.split() if not any(os.access(f"{d}/{p}", os.X_OK) for d in ("/usr/bin", "/usr/sbin", "/bin", "/sbin",
            "/usr/local/bin"))]
        if funs and missing:
            print(f"skipped: {name}: no {' '.join(missing)} here")
            continue
        rng = random.Random(name)
        deck = []
        for _ in range(inputs):
            turn = [fun for fun in funs for _ in range(world.rows[fun].weight)]
            rng.shuffle(turn)
            deck += turn
        for i in range(0, len(deck), world.steps):
            yield name, i // world.steps, deck[i:i + world.steps]


def run_plan(opts, base, todo, report):
    """Runs sequences, `jobs` at a time."""
    running = {}

    def reap():
        pid, status = os.wait()
        path, what = running.pop(pid)
        report.read(path, what, os.waitstatus_to_exitcode(status))

    def start(what, work):
        if len(running) >= opts.jobs:
            reap()
        path = f"{base}/out.{len(os.listdir(base))}.{random.random()}"
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            with open(path, "w", encoding="utf-8") as out:
                os._exit(in_process(lambda: work(out)))
        running[pid] = (path, what)

    names = list(dict.fromkeys(name for name, _, _ in todo))
    for name in names:
        start(f"setup of {name}", lambda out, name=name: prepare(base, opts.build, name, worlds.WORLDS[name]) or 0)
    while running:
        reap()
    for name, number, funs in todo:
        if name in report.broken:
            continue
        sequence = Sequence(name, number, opts.seed)
        start(f"{name} {number}", lambda out, s=sequence, f=funs: run_sequence(opts, base, s, f, out))
    while running:
        reap()


class Report:
    """What came of it."""

    def __init__(self, opts):
        self.opts, self.inputs, self.faults, self.outcomes, self.broken = opts, {}, 0, {}, set()

    def read(self, path, what, code):
        with open(path, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        os.unlink(path)
        if code != 0:
            print(f"{what}: ended with {code}")
            self.faults += 1
            if what.startswith("setup of "):
                self.broken.add(what.rpartition(" ")[2])
        for line in lines:
            self.line(line)

    def line(self, line):
        fun = line["fun"]
        self.inputs[fun] = self.inputs.get(fun, 0) + 1
        tally = self.outcomes.setdefault(fun, {})
        tally[line["outcome"]] = tally.get(line["outcome"], 0) + 1
        if line["faults"] or self.opts.verbose:
            print(f"{fun} {json.dumps(line['args'], ensure_ascii=False)}: {'; '.join(line['faults']) or line['outcome']}")
            print(f"  sequence {line['number']} of {line['world']}, seed {self.opts.seed}")
            for key in ("told", "done", "again"):
                kept = {k: line[key].get(k) for k in ("result", "comment", "changes", "error", "crash") if k in line[key]}
                print(f"  {key}: {json.dumps(kept, ensure_ascii=False)}")
        self.faults += bool(line["faults"])

    def end(self):
        if self.opts.tally:
            for fun, tally in sorted(self.outcomes.items()):
                print(f"{fun}: {', '.join(f'{n} {what}' for what, n in sorted(tally.items()))}")
        # A function whose inputs never get it to change something was not tried.
        idle = [fun for fun, tally in self.outcomes.items() if "changed" not in tally and self.inputs[fun] >= 12]
        if idle:
            print(f"never changed anything: {' '.join(sorted(idle))}")
        total = sum(self.inputs.values())
        print(f"{total - self.faults} of {total} inputs of {len(self.inputs)} functions foretold exactly")
        return 1 if self.faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", type=lambda s: s.split(","), default=[])
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tally", action="store_true")
    parser.add_argument("--check", action="store_true", help="only: has each function a row or a reason?")
    parser.add_argument("--can", action="store_true", help="only: can a sandbox be made here? The last line says why not")
    parser.add_argument("-v", "--verbose", action="store_true")
    opts = parser.parse_args()
    opts.build = os.path.abspath(opts.build)
    opts.specs = state_functions(opts.build)
    if opts.check:
        lacking = list(worlds.lacking(opts.specs))
        print("\n".join(lacking), end="\n" if lacking else "")
        return 1 if lacking else 0
    opts.known = draw.Dictionary(CASES).values
    sandbox.apart(sandbox.NEW_MOUNTS)
    base = tempfile.mkdtemp(prefix="halite-property-")
    report = Report(opts)
    try:
        sandbox.mount("tmpfs", base, "tmpfs")
        if opts.can:
            sandbox.apart(sandbox.NEW_NET | sandbox.NEW_HOST | sandbox.NEW_IPC)
            sandbox.Sandbox(base, [], opts.build)
            return 0
        os.makedirs(f"{base}/layers")
        began = time.monotonic()
        run_plan(opts, base, list(plan(opts.only, opts.inputs)), report)
        if opts.verbose:
            print(f"{time.monotonic() - began:.1f} s")
    finally:
        sandbox.LIBC.umount2(base.encode(), 2)
        os.rmdir(base)
    return report.end()


sys.exit(main())
