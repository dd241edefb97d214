#!/usr/bin/env python3
"""coverage.py TABLES FILE [SALT_CALL] [--also LIST] - how many state functions of public trees are built in: uses, files, repositories.

TABLES is tests/lint/tables of a build. FILE has a line per SLS file: corpus, repository, number, and the state functions that it
declares as "FUNCTION=USES ...", all of them functions of Salt 3006 on Linux; lines with # are comments. Custom modules of the trees are not
counted.

The second table has Salt's own files too, which Halite calls in Python: HALITE_SALT is a folder with Salt's package, HALITE_SALT_PYTHON
an interpreter that has its libraries (else /usr/bin/python3). Of those files a function counts when SALT_CALL lists it on this machine:
then the file is loaded, and its __virtual__ has found the libraries and programs that it asks for. LIST is what `salt-call
sys.list_state_functions --out=json` said on another machine, and counts likewise."""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

TIMEOUT_S = 600  # a salt-call that loads all of Salt's files on a busy machine
MISSING = 25  # how many functions are named that would complete most


def rows(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                corpus, repository, _, declared = line.rstrip("\n").split("\t")
                yield corpus, repository, {name: int(uses) for name, uses in (one.rsplit("=", 1) for one in declared.split())}


def share(have, of):
    return f"{have} of {of} ({100 * have / of:.1f} %)" if of else "none"


def listed_here(salt_call):
    """The state functions that this machine has with Salt's package; None without one."""
    salt = os.environ.get("HALITE_SALT")
    if not salt_call or not salt:
        return None
    with tempfile.TemporaryDirectory(prefix="salt-coverage-") as folder:
        options = {"root_dir": os.path.join(folder, "root"), "file_client": "local", "id": "coverage", "python_salt": os.path.abspath(salt),
                   "python": os.environ.get("HALITE_SALT_PYTHON") or "/usr/bin/python3"}
        with open(os.path.join(folder, "minion"), "w", encoding="utf-8") as file:
            json.dump(options, file)
        done = subprocess.run([salt_call, "-c", folder, "--local", "-l", "quiet", "--out=json", "sys.list_state_functions"], check=True,
                              capture_output=True, text=True, timeout=TIMEOUT_S)
    return listed(done.stdout)


def listed(text):
    return set(json.loads(text)["local"])


def table(corpora, have):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", metavar="TABLES")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("salt_call", metavar="SALT_CALL", nargs="?")
    parser.add_argument("--also", metavar="LIST")
    args = parser.parse_args()
    if not os.path.exists(args.file):
        print(f"coverage: skipped: {args.file} is not there (COVERAGE=FILE names another list)")
        return 0
    have = set(subprocess.run([args.tables, "states"], check=True, capture_output=True, text=True).stdout.split())
    corpora = collections.defaultdict(list)
    for corpus, repository, declared in rows(args.file):
        for name in (corpus, "all"):
            corpora[name].append((repository, declared))
    corpora["all"] = corpora.pop("all", [])
    print("built in:")
    table(corpora, have)
    here = listed_here(args.salt_call)
    if here is None:
        print("\nwith Salt's own files on this machine: skipped: HALITE_SALT names no folder with Salt's package")
    else:
        print("\nwith Salt's own files on this machine:")
        table(corpora, have | here)
    if args.also:
        with open(args.also, encoding="utf-8") as file:
            elsewhere = listed(file.read())
        print(f"\nwith Salt's own files where {args.also} is from:")
        table(corpora, have | elsewhere)
    return 0


if __name__ == "__main__":
    sys.exit(main())
