#!/usr/bin/env python3
"""coverage.py TABLES FILE - how many state functions of public trees are built in: uses, files, repositories.

TABLES is tests/lint/tables of a build. FILE has a line per SLS file: corpus, repository, number, and the state functions that it
declares as "FUNCTION=USES ...", all of them functions of Salt 3006 on Linux; lines with # are comments. Custom modules of the trees are not
counted, nor is Python's way to Salt's own files."""

import collections
import os
import subprocess
import sys

MISSING = 25  # how many functions are named that would complete most


def rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                corpus, repository, _, declared = line.rstrip("\n").split("\t")
                yield corpus, repository, {name: int(uses) for name, uses in (one.rsplit("=", 1) for one in declared.split())}


def share(have, of):
    return f"{have} of {of} ({100 * have / of:.1f} %)" if of else "none"


def main():
    tables, path = sys.argv[1:]
    if not os.path.exists(path):
        print(f"coverage: skipped: {path} is not there (COVERAGE=FILE names another list)")
        return 0
    have = set(subprocess.run([tables, "states"], check=True, capture_output=True, text=True).stdout.split())
    corpora = collections.defaultdict(list)
    for corpus, repository, declared in rows(path):
        for name in (corpus, "all"):
            corpora[name].append((repository, declared))
    print("corpus     functions            uses                       files                      repositories whole")
    for corpus, files in corpora.items():
        uses = collections.Counter()
        lacking = collections.defaultdict(set)
        for repository, declared in files:
            uses.update(declared)
            lacking[repository].update(set(declared) - have)
        whole = sum(not missing for missing in lacking.values())
        there = sum(n for name, n in uses.items() if name in have)
        complete = sum(not set(declared) - have for _, declared in files)
        print(f"{corpus:10} {share(len(set(uses) & have), len(uses)):20} {share(there, sum(uses.values())):26} {share(complete, len(files)):26} "
              f"{share(whole, len(lacking))}")
    wanted = collections.Counter(name for missing in lacking.values() for name in missing)
    print("\nmissing in most repositories: " + ", ".join(f"{name} ({n})" for name, n in wanted.most_common(MISSING)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
