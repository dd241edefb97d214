#!/usr/bin/python3
"""inject.py - the n-th allocation, write, send, fsync, fork, open ... fails, for every n until a scenario passes.

inject.py BUILD [--scenario GLOB] [--kind GLOB] [--way GLOB] [--places] [--sample N --seed S] [--part K/OF] [--wrapped] [--list] [-v]

Without options it is every n of every scenario. --places takes one call from each place in the code (as the innermost
callers tell) instead, --sample so many of them; --part 2/5 is the second fifth of either, for several that run side by
side. What is wrong is printed once for each place, with what called it; the last lines count, also of a run that is ended.
"""

import argparse
import collections
import fnmatch
import os
import random
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands  # noqa: E402
import daemons  # noqa: E402
from page import KINDS, Page  # noqa: E402


def points(options, trial, kind):
    """Where to fail: arguments of Page.arm."""
    calls, places = trial.look(kind)
    every = [{"place": p} for _, p in places] if options.places else [{"at": n} for n in range(1, calls + 1)]
    if options.sample and len(every) > options.sample:
        some = random.Random(f"{options.seed} {kind}").sample(range(len(every)), options.sample)
        every = [every[i] for i in sorted(some)]
    k, of = options.part
    return every[k - 1 :: of]


def part(text):
    """2/5: (2, 5)"""
    k, of = map(int, text.split("/"))
    if not 1 <= k <= of:
        raise ValueError(text)
    return k, of


class Report:
    def __init__(self, verbose):
        self.verbose, self.outcomes, self.tried, self.wrong, self.known = verbose, collections.Counter(), 0, 0, set()

    def add(self, scenario, kind, way, point, outcome, wrong, page):
        self.tried += 1
        self.outcomes[outcome] += 1
        if not wrong and not self.verbose:
            return
        call, frames = page.where()
        ours = [f for f in frames if "@" in f]
        if self.verbose:
            print(f"{scenario} {kind}/{way} {point}: {outcome}: {call} < {' < '.join(ours[:4])}")
        self.wrong += bool(wrong)
        for text in wrong:
            key = (scenario, kind, way, text[:40], tuple(ours[1:4]))
            if key in self.known:
                continue
            self.known.add(key)
            print(f"WRONG {scenario} {kind}/{way} {point}: {outcome}: {text}\n      {call} < {' < '.join((ours or frames)[:9])}", flush=True)


def run_row(options, row, trial, report):
    page = trial.page
    try:
        for kind, (_, ways) in KINDS.items():
            if not fnmatch.fnmatch(kind, options.kind):
                continue
            start, tried = time.monotonic(), 0
            at = points(options, trial, kind)
            runs = [(way, error, point) for way, error in ways if fnmatch.fnmatch(way, options.way) for point in at]
            done = 0
            try:
                for way, error, point in runs:
                    outcome, wrong, reached = trial.once(kind, error, **point)
                    done += 1
                    if not reached:
                        report.outcomes[outcome] += 1
                        continue
                    tried += 1
                    report.add(row.name, kind, way, point, outcome, wrong, page)
            finally:
                print(f"  {row.name} {kind}: {tried} faults in {done} of {len(runs)} runs, {time.monotonic() - start:.1f} s", flush=True)
    finally:
        trial.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--scenario", default="*")
    parser.add_argument("--kind", default="*")
    parser.add_argument("--way", default="*")
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--part", type=part, default=(1, 1))
    parser.add_argument("--wrapped", action="store_true", help="programs of make WRAP=1")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-v", action="store_true", dest="verbose")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    build = os.path.abspath(options.build)
    bins, library = f"{build}/bin", "" if options.wrapped else f"{build}/tests/preload/inject.so"
    rows = [r for r in commands.ROWS if fnmatch.fnmatch(r.name, options.scenario)]
    fleet_rows = [r for r in daemons.ROWS if fnmatch.fnmatch(r.name, options.scenario)]
    if options.list:
        print("\n".join(r.name for r in rows + fleet_rows))
        return
    folder, report = tempfile.mkdtemp(prefix="halite-inject-page-"), Report(options.verbose)
    try:
        page = Page(f"{folder}/page")
        for row in rows:
            run_row(options, row, commands.Trial(bins, library, page, row), report)
        if fleet_rows:
            rig = daemons.Rig(bins, library)
            try:
                rig.up()
                for row in fleet_rows:
                    run_row(options, row, daemons.Trial(rig, row), report)
            finally:
                rig.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        print(", ".join(f"{n} {what}" for what, n in report.outcomes.most_common()))
        print(f"{report.wrong} wrong of {report.tried} faults in {len(rows) + len(fleet_rows)} scenarios")
    sys.exit(report.wrong > 0)


main()
