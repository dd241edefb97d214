#!/usr/bin/env python3
"""chaos.py - a master and its minions at work while processes die, disks fill up and networks break; after each round an audit.

    chaos.py BUILD [--rounds N] [--seed N] [--only ROUND] [--minions N] [--faults PATTERN] [--seconds N] [--quick] [--keep] [--lies]

BUILD holds bin/ and tests/preload/. What is wrong is printed with seed, round and faults, the folder stays, exit 1;
--seed and --only do that round's faults again. As root everything is in namespaces of its own.
"""

import argparse
import collections
import fnmatch
import heapq
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from audit import Auditor  # noqa: E402
from faults import FAULTS, POINTS, ROOT, at_points  # noqa: E402
from halite import Trouble  # noqa: E402
from lies import LIES, unseen  # noqa: E402
from load import Command, pick  # noqa: E402
from world import World  # noqa: E402

COMMAND_S = 60  # a command that takes longer is wrong,
LONG_S = 150  # unless heartbeats must notice first


def arguments():
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("build")
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int, help="this round")
    p.add_argument("--minions", type=int, default=3)
    p.add_argument("--faults", default="*", help="names that fit this pattern")
    p.add_argument("--seconds", type=float, default=3.0, help="of faults in a round")
    p.add_argument("--quick", action="store_true", help="without faults that only heartbeats notice")
    p.add_argument("--keep", action="store_true", help="the folder stays")
    p.add_argument("--go-on", action="store_true", help="after a round that was wrong")
    p.add_argument("--lies", action="store_true", help="instead: does the audit see what is wrong?")
    return p.parse_args()


def namespaces():
    """As root: go on inside of a network, mounts and processes of our own; all ends with us."""
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "/bin/bash", "-c", '"$@"; exit $?', "chaos"]
    os.environ["CHAOS_INSIDE"] = "1"
    os.execvp(words[0], words + [sys.executable, "-B", *sys.argv])


class Round:
    """The plan of one round: a function of seed and number alone."""

    def __init__(self, number, options, table, rooted):
        self.number, self.rng = number, random.Random(f"{options.seed}/{number}")
        rng = self.rng
        points, others = table
        chosen = []
        if points:
            chosen.append(points[number % len(points)])
        usable = [f for f in others if (rooted or f.needs != ROOT) and not (options.quick and f.long)]
        if usable:
            count = rng.choice([0, 1, 1, 2]) if points else rng.choice([1, 1, 2])
            chosen += rng.choices(usable, [f.weight for f in usable], k=count)
        self.faults = []
        for fault in chosen:
            begin = rng.uniform(0, options.seconds / 2)
            minion = rng.randrange(options.minions)
            self.faults.append((fault, minion, begin, begin + rng.uniform(0.1, options.seconds)))
        self.commands = sorted(rng.uniform(0, options.seconds) for _ in range(rng.randint(5, 9)))

    def name(self):
        return ", ".join(f"{f.name} [{'m%d' % (m + 1) if f.whom == 'minion' else f.whom} {b:.2f}-{e:.2f}s]" for f, m, b, e in self.faults) or "no fault"


class Program:
    def __init__(self, options, rooted):
        self.options, self.rooted = options, rooted
        self.folder = tempfile.mkdtemp(prefix="chaos-", dir="/tmp")
        library = os.path.abspath(f"{options.build}/tests/preload/chaos.so")
        self.world = World(self.folder, os.path.abspath(f"{options.build}/bin"), library, options.minions, rooted, options.seed)
        self.world.commands = []
        points = [f for f in at_points() if fnmatch.fnmatch(f.name, options.faults)]
        random.Random(options.seed).shuffle(points)
        self.table = points, [f for f in FAULTS if fnmatch.fnmatch(f.name, options.faults)]
        self.used = collections.Counter()
        self.wrong = 0

    def run(self):
        options, world = self.options, self.world
        numbers = [options.only] if options.only is not None else range(1, options.rounds + 1)
        world.start()
        self.auditor = Auditor(world)
        self.auditor.quiet(lambda: None, 30)
        for number in numbers:
            self.round(Round(number, options, self.table, self.rooted))
            if self.wrong and not options.go_on:
                break
        codes = world.stop()
        for name, code in codes.items():
            if code != 0:
                self.say_wrong(f"at the end: {name} ended with {code}")
        left = world.processes()
        if left:
            self.say_wrong(f"at the end: processes {left}")

    def say_wrong(self, text):
        self.wrong += 1
        print(f"    WRONG {text}", flush=True)

    def round(self, this):
        world, rng = self.world, this.rng
        world.round = this.number
        agenda = [(b, i, "begin", f, m, e) for i, (f, m, b, e) in enumerate(this.faults)]
        agenda += [(t, 100 + i, "command", pick(rng), f"n{this.number}x{i}", None) for i, t in enumerate(this.commands)]
        heapq.heapify(agenda)
        begun, commands, ends = time.monotonic(), world.commands, {}
        while agenda:
            at, order, what, *rest = heapq.heappop(agenda)
            self.pass_time(begun + at)
            if what == "command":
                commands.append(Command(world, *rest[:2], rng))
            elif what == "begin":
                fault, minion, end = rest
                daemon = world.master if fault.whom == "master" else world.minions[minion]
                self.used[fault.name] += 1
                ends[order] = fault.begin(world, daemon, rng)
                heapq.heappush(agenda, (end, order, "end", None, None, None))
            else:
                ends.pop(order)()
        wrong = list(self.audit(LONG_S if any(f.long for f, *_ in this.faults) else COMMAND_S))
        if self.options.lies:
            wrong += [f"the audit does not see that {name}" for name in unseen(self.auditor)]
            print(f"{len(LIES)} lies", flush=True)
        self.auditor.done()
        took = time.monotonic() - begun
        print(f"{'WRONG' if wrong else 'ok'} round {this.number} ({took:.1f} s, {len(commands)} commands): {this.name()}", flush=True)
        for text in wrong:
            self.say_wrong(text)
        if not wrong:
            for c in commands:
                os.unlink(c.path)
        world.commands = []

    def pass_time(self, until):
        while True:
            self.look()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.02))

    def look(self):
        was = self.world.master.process
        self.world.look(random)
        if was is not None and self.world.master.process is None and self.world.master.deaths[-1] == -signal.SIGKILL:
            self.auditor.killed = True

    def answer(self, seconds):
        """All daemons do their work again."""
        world, silent, until = self.world, "nobody was asked", time.monotonic() + seconds
        while silent:
            if time.monotonic() > until:
                raise Trouble(f"after {seconds} s not every minion answers: {silent}")
            self.look()
            argv = [f"{world.bins}/salt", "-c", world.master.conf_dir, "-t", "5", "--out=json", "--static", "*", "test.ping"]
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
            try:
                said = json.loads(done.stdout)
            except ValueError:
                said = {}
            silent = [m.name for m in world.minions if said.get(m.name) is not True]
            time.sleep(0.05)

    def audit(self, seconds):
        world, auditor = self.world, self.auditor
        until = time.monotonic() + seconds
        for c in world.commands:
            while c.process.poll() is None and time.monotonic() < until:
                self.look()
                time.sleep(0.02)
            if c.process.poll() is None:
                yield f"no end after {seconds} s: {c.words[:200]}"
                c.disturbed = True
                c.process.kill()
                c.process.wait()
        try:
            self.answer(seconds)
            auditor.quiet(self.look)
            auditor.read(world.commands)
            yield from auditor.all()
        except Trouble as why:
            yield str(why)

    def report(self):
        c = self.auditor.counts
        for name, count in sorted(self.used.items()):
            print(f"  {count:4d}  {name}")
        points = self.table[0]
        hit = {f.point.name for f in points if f.hits}
        print(f"  points of a job's life that were hit: {len(hit)} of {len(POINTS)}"
              + (f"; never: {', '.join(p.name for p in POINTS if p.name not in hit)}" if len(points) > len(POINTS) and len(hit) < len(POINTS) else ""))
        print("  " + ", ".join(f"{n} {k}" for k, n in sorted(c.items())))

    def close(self):
        self.auditor.followers[0].ended = self.auditor.followers[1].ended = True
        self.world.close()
        if self.wrong or self.options.keep:
            print(f"the folder stays: {self.folder}")
        else:
            self.world.remove()


def main():
    options = arguments()
    if options.lies:
        options.rounds, options.faults = 1, ""
    rooted = os.getuid() == 0 and os.path.exists("/dev/net/tun")
    if rooted and "CHAOS_INSIDE" not in os.environ:
        namespaces()
    if not rooted:
        print("not root, or no /dev/net/tun: on loopback, without the faults of networks and mounts", flush=True)
    program = Program(options, rooted)
    try:
        program.run()
    finally:
        program.auditor = getattr(program, "auditor", None) or Auditor(program.world)
        program.report()
        program.close()
    if program.wrong:
        print(f"{program.wrong} wrong, seed {options.seed}")
        sys.exit(1)
    print(f"0 wrong after {options.rounds if options.only is None else 1} rounds, seed {options.seed}")


main()
