#!/usr/bin/python3
"""Calls and states in a booted system, with the answers of Salt's own modules: steps.py [--record] SALT_CALL FILE SECTION...

FILE is a dict of sections, whose steps go on where the one before ended; its member "configuration" has the minion's options:
  {"sh": COMMAND, "says": TEXT}             of sh -e; what it prints
  {"call": "FUNCTION WORD...", "answer": V} of salt-call --local; "only" keeps these members of a list or dict. An error is {"error": TEXT}
  {"state": "FUNCTION WORD...", "answer": [V, V, V]}  state.single in test mode, for real and again: [result, changes, comment]
  {"sls": SLS, "answer": {"ID": V}}         state.apply of it; "test": True for test mode
Ids and times are replaced by words (MASKS). With "ours" in a step, which says why, the answer is Halite's. --record writes what SALT_CALL
answers into FILE, but for those.
"""
import json
import os
import re
import shlex
import subprocess
import sys

CONFIG = "/run/steps"
SLS = CONFIG + "/srv/it.sls"
MASKS = [
    (r"\b[0-9a-f]{64}\b", "<id>"),
    (r"\b[0-9a-f]{12}\b", "<short id>"),
    (r"\bsha256:[0-9a-f]{5}\b", "sha256:<begin>"),
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.0-9]*( ?[-+Z][0-9:]*)?", "<time>"),
    (r"Running scope as unit: .*\n", ""),
    (r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b", "<hardware address>"),
]
WORDS = {"Time_Elapsed": "<seconds>", "pid": "<pid>"}


def masked(value):
    if isinstance(value, dict):
        return {masked(k): WORDS.get(k) or masked(v) for k, v in value.items()}
    if isinstance(value, list):
        return [masked(v) for v in value]
    if isinstance(value, str):
        for pattern, word in MASKS:
            value = re.sub(pattern, word, value)
    return value


def salt(program, words):
    run = subprocess.run([program, "-c", CONFIG, "--local", "--out=json", "--log-level=error"] + words, capture_output=True, text=True)
    try:
        return json.loads(run.stdout)["local"]
    except (ValueError, KeyError):
        # Behind what the log says, and warnings of Python.
        said = re.split(r"^(?=Error running )", run.stderr, maxsplit=1, flags=re.M)
        if len(said) > 1:
            return {"error": said[1].strip()}
        lines = [line for line in (run.stderr or run.stdout).split("\n") if line.strip() and "Warning" not in line and line[0] not in " ["]
        return {"error": lines[0] if lines else ""}


def told(answer):
    """What a state says of itself."""
    if isinstance(answer, list) or "error" in answer:
        return answer
    return {v["__id__"]: [v["result"], v["changes"], v["comment"]] for v in answer.values()}


def single(program, words, test):
    answer = told(salt(program, ["state.single"] + words + (["test=True"] if test else [])))
    return next(iter(answer.values())) if isinstance(answer, dict) and "error" not in answer else answer


def only(answer, members):
    if isinstance(answer, dict):
        return {k: v for k, v in answer.items() if k in members}
    return [v for v in answer if v in members]


def do(program, step):
    if "sh" in step:
        run = subprocess.run(["sh", "-ec", step["sh"]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.stdout.strip() + ("" if run.returncode == 0 else " (%d)" % run.returncode)
    if "call" in step:
        answer = salt(program, shlex.split(step["call"]))
        return only(answer, step["only"]) if "only" in step and "error" not in answer else answer
    if "state" in step:
        words = shlex.split(step["state"])
        return [single(program, words, test) for test in (True, False, False)]
    with open(SLS, "w") as f:
        f.write(step["sls"])
    return told(salt(program, ["state.apply", "it"] + (["test=True"] if step.get("test") else [])))


def main():
    record = sys.argv[1] == "--record"
    program, path, *names = sys.argv[2:] if record else sys.argv[1:]
    os.makedirs(os.path.dirname(SLS), exist_ok=True)
    with open(path) as f:
        sections = json.load(f)
    with open(CONFIG + "/minion", "w") as f:
        roots = {"base": [os.path.dirname(SLS)]}
        json.dump({"id": "here", "file_client": "local", "root_dir": CONFIG, "file_roots": roots, **sections["configuration"]}, f)
    bad = 0
    for name in names or [n for n in sections if n != "configuration"]:
        for step in sections[name]:
            got, key = masked(do(program, step)), "says" if "sh" in step else "answer"
            if record and "ours" not in step:
                step[key] = got
            elif got != step.get(key):
                bad += 1
                print("%s: %s\n  wanted %s\n  got    %s" % (name, step.get("sh") or step.get("call") or step.get("state") or step["sls"],
                                                             json.dumps(step.get(key)), json.dumps(got)))
    if record:
        with open(path, "w") as f:
            f.write(text_of(sections))
    sys.exit(1 if bad else 0)


def text_of(sections):
    """One step, one line."""
    lines = ['"configuration": %s' % json.dumps(sections["configuration"])]
    for name, steps in sections.items():
        if name != "configuration":
            lines.append('"%s": [\n%s\n]' % (name, ",\n".join("    " + json.dumps(step, ensure_ascii=False) for step in steps)))
    return "{\n%s\n}\n" % ",\n".join(lines)


main()
