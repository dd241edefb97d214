#!/usr/bin/python3
"""rules.py [COUNT [SEED]] - random rules and requests: common/rules against Salt's own checker, CkMinions. HALITE_SALT names the
folder that has Salt's package, HALITE_SALT_PYTHON its interpreter (/usr/bin/python3); without the first, nothing is compared, which
is said. HALITE_RULES is our side: the unit test's program (build/tests/unit/common/test_who_may).

Left out, as Halite differs there on purpose (tests/DIFFERENCES.md): several functions, of which Salt allows all for one; a
request for no minion; words NAME=VALUE among arguments. Prints what differs and a line of figures; exit code 1 for a difference."""

import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[2]
SALT = os.environ.get("HALITE_SALT", "")
PYTHON = os.environ.get("HALITE_SALT_PYTHON", "/usr/bin/python3")
OURS = os.environ.get("HALITE_RULES", str(HERE / "build/tests/unit/common/test_who_may"))
IDS = ["w1", "w2", "w3", "d1", "d2"]
TARGETS = {"*": IDS, "w*": IDS[:3], "w1": ["w1"], "d*": IDS[3:], "w1 or d1": ["w1", "d1"], "nosuch": []}
MODULES = ["test", "cmd", "jobs", "key", "state"]
FUNS = ["ping", "run", "active", "list_jobs", "accept", "apply", "r"]
PATTERNS = [".*", "test.*", "test.ping", "cmd.run$", "^key\\..*", "jobs", "ping", "active", "list_.*", "(", "*", "[", "", "state.(apply|sls)", "r"]
VALUES = ["a", "abc", "b", 1, 7, True, None, 1.5, ["a"], {"x": 1}, ""]


def condition(r):
    made = {}
    if r.random() < 0.7:
        made["args"] = [r.choice([None, "a", "b.*", "True", "None", "1", "7", "\\['a", ".", "("]) for _ in range(r.randrange(3))]
    if r.random() < 0.5:
        made["kwargs"] = {r.choice("klm"): r.choice([None, "a", "1", "b", ".*"]) for _ in range(r.randrange(3))}
    return made


def call(r):
    if r.random() < 0.6:
        return r.choice(PATTERNS)
    conditions = [condition(r) for _ in range(r.randrange(1, 3))]
    made = {r.choice(PATTERNS): conditions if r.random() < 0.4 else conditions[0]}
    if r.random() < 0.05:
        made["other"] = {}
    return made


def rule(r):
    kind = r.random()
    special = r.choice(["@runner", "@runners", "@wheel", "@wheels", "@jobs", "@key", "@test", "@"])
    if kind < 0.3:
        return r.choice(PATTERNS)
    if kind < 0.45:
        return special
    calls = [call(r) for _ in range(r.randrange(4))]
    if r.random() < 0.1 and calls:
        calls = calls[0]
    made = {special if kind > 0.8 else r.choice(list(TARGETS)): calls}
    if r.random() < 0.05:
        made["w1"] = [".*"]
    return made


def question(r):
    asked = {"rules": [rule(r) for _ in range(r.randrange(5))], "form": r.randrange(3), "targets": TARGETS}
    asked["fun"] = r.choice(MODULES) + "." + r.choice(FUNS)
    if r.random() < 0.03:
        asked["fun"] = r.choice(["test", "a.b.c"])
    asked["minions"] = r.sample(IDS, r.randrange(1, 4))
    asked["arg"] = [r.choice(VALUES) for _ in range(r.randrange(3))]
    if r.random() < 0.5:
        asked["arg"].append(dict({k: r.choice(VALUES) for k in r.sample("klm", r.randrange(3))}, __kwarg__=True))
    return asked


# What Salt answers, in its own interpreter. A rule that is an empty text raises IndexError there, which ends the request.
THEIRS = """
import json, sys, logging
import salt.utils.minions
logging.disable(logging.CRITICAL)
class Check(salt.utils.minions.CkMinions):
    def __init__(self): self.opts = {}
    def check_minions(self, expr, tgt_type="glob", *args, **kwargs):
        return {"minions": list(self.targets.get(expr, [])), "missing": []}
check = Check()
for line in sys.stdin:
    asked = json.loads(line)
    check.targets = asked["targets"]
    arg = asked["arg"]
    try:
        if asked["form"] == 0:
            answer = check.auth_check(asked["rules"], asked["fun"], arg, "?", "glob", minions=asked["minions"])
        else:
            keywords = None
            if arg and isinstance(arg[-1], dict) and "__kwarg__" in arg[-1]:
                arg, keywords = arg[:-1], arg[-1]
            answer = check.spec_check(asked["rules"], asked["fun"], {"arg": arg, "kwarg": keywords}, ["", "runner", "wheel"][asked["form"]])
            answer = answer is True
    except IndexError:
        answer = None
    print(json.dumps(answer))
"""


def main():
    count, seed = int((sys.argv[1:] or ["20000"])[0]), int((sys.argv[2:] or ["1"])[0])
    if not SALT:
        print("rules.py: HALITE_SALT names no package of Salt: nothing is compared")
        return 0
    r = random.Random(seed)
    lines = [json.dumps(question(r)) for _ in range(count)]
    text = "\n".join(lines) + "\n"
    ours = subprocess.run([OURS, "--answer"], input=text, capture_output=True, text=True, check=True).stdout.split()
    env = dict(os.environ, PYTHONPATH=SALT)
    theirs = subprocess.run([PYTHON, "-c", THEIRS], input=text, capture_output=True, text=True, check=True, env=env).stdout.splitlines()
    assert len(ours) == len(theirs) == count, (len(ours), len(theirs))
    differ = allowed = raised = 0
    for line, we, they in zip(lines, ours, theirs):
        allowed += we == "1"
        raised += they == "null"
        if they != "null" and (we == "1") != (they == "true"):
            differ += 1
            if differ <= 10:
                print("Salt %s, Halite %s: %s" % (they, we, line))
    print("%d requests, %d allowed, %d on which Salt raises, %d differ" % (count, allowed, raised, differ))
    return 1 if differ else 0


sys.exit(main())
