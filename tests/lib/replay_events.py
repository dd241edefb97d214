#!/usr/bin/env python3
"""replay_events.py - recorded commands and the events that they set off, on a fleet of ours.

    replay_events.py FOLDER DIFFERENCES.md PATTERN...

FOLDER holds NAME.txt files: "$ salt-run state.event ...", "$ command" with what it printed, then what the listener wrote and
its exit code. Listener and command run as they stand there; an event of our own ends a listener that does not end itself.
Compared are the command's output, the listener's exit code, and its lines byte by byte, with times, jids, pids and keys made
equal, in any order: two of Salt's processes fire them. What Salt's listener says at its own end (None, or a traceback when it
was killed) is left out on Salt's side; ours must end without a word. Rows of DIFFERENCES.md count as in replay.py.
"""
import difflib
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import time

FLEET, TOOLS, SOCK_DIR = os.environ["FLEET"], os.environ["HALITE_TOOLS"], os.environ["SOCK_DIR"]
LIMIT = 30
END = "replay/end"

NORMAL = [
    (re.compile(r"\b20\d{18}\b"), "JID"),
    (re.compile(r"(\"_stamp\": )\"[\d:.T-]+\""), r"\1STAMP"),
    (re.compile(r"(\"__pub_pid\": )\d+"), r"\1PID"),
    (re.compile(r"\"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----(\\n)?\""), '"PEM"'),
    (re.compile(r"(\"start_time\": )\"[\d:.]+\""), r"\1TIME"),
    (re.compile(r"(\"duration\": )[\d.]+"), r"\1TIME"),
    (re.compile(r"(Started:) [\d:.]+"), r"\1 TIME"),
    (re.compile(r"(Duration:) [\d.]+ ms"), r"\1 TIME"),
    (re.compile(r"(Total run time:) +[\d.]+ (?:ms|s)"), r"\1 TIME"),
]
FORM = re.compile(
    r"\$ (?P<listen>[^\n]*?)   # listener[^\n]*\n\$ (?P<command>[^\n]*?)   # fired meanwhile[^\n]*\n(?P<out>(?:    [^\n]*\n)*)"
    r"--- listener stdout\n(?P<events>.*?)--- listener stderr\n.*--- listener exit (?P<code>\d+)", re.S)


def normal(text):
    for regex, to in NORMAL:
        text = regex.sub(to, text)
    return text


def wait_for(what, probe):
    until = time.monotonic() + LIMIT
    while not probe():
        if time.monotonic() > until:
            raise TimeoutError(what)


def ask(request):
    done = subprocess.run([TOOLS + "/local", SOCK_DIR, json.dumps(request)], capture_output=True, text=True, check=True, timeout=LIMIT)
    return json.loads(done.stdout)


def events(text):
    """One text for each, sorted: an event begins with its tag and a tab."""
    text = re.split(r"^(?:None|Exception occurred in runner [^\n]*)\n", text, flags=re.M)[0]
    return sorted(re.split(r"^(?=[^\s}][^\n]*\t\{)", text, flags=re.M)[1:])


class Run:
    """A listener, the command, and what both said."""

    def __init__(self, listen, command, ends_itself):
        env = dict(os.environ, COLUMNS="80", LC_ALL="C.UTF-8")
        before = ask({"op": "status"})["listeners"]
        with tempfile.TemporaryFile("w+") as out:
            ears = subprocess.Popen(["bash", "-c", "exec " + listen], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env)
            wait_for("the listener", lambda: ask({"op": "status"})["listeners"] > before or ears.poll() is not None)
            done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=LIMIT)
            self.out = done.stdout
            if not ends_itself:
                ask({"op": "fire", "tag": END, "data": {}})
                wait_for(END, lambda: END in os.pread(out.fileno(), 1 << 20, 0).decode())
                ears.terminate()
            self.code = ears.wait(LIMIT)
            out.seek(0)
            self.events = re.split(rf"^{END}\t", out.read(), flags=re.M)[0]


def show(what, want, got):
    lines = difflib.unified_diff("".join(want).splitlines(), "".join(got).splitlines(), "Salt", "Halite", lineterm="", n=2)
    print("\n".join("    " + line for line in [what] + list(lines)[2:60]))


def replay(path, verbose):
    t = FORM.match(open(path, encoding="utf-8").read())
    run = Run(t["listen"], t["command"], t["code"] == "0")
    want_out = normal(re.sub(r"^    ", "", t["out"], flags=re.M))
    want, got = events(normal(t["events"])), events(normal(run.events))
    quiet_end = not re.search(r"^(None|Traceback|Exception)", run.events, re.M)
    equal = want == got and want_out == normal(run.out) and quiet_end and (t["code"] != "0" or run.code == 0)
    if verbose and not equal:
        show(os.path.basename(path), want, got)
        show("the command's output", want_out, normal(run.out))
    return equal


def main():
    folder, listed_in, patterns = sys.argv[1], sys.argv[2], sys.argv[3:]
    listed = dict(re.findall(r"^\| `(\w+)` \| (differs|not yet|host) \|", open(listed_in, encoding="utf-8").read(), re.M))
    names = sorted(n[:-4] for n in os.listdir(folder) if n.endswith(".txt") and any(fnmatch.fnmatchcase(n[:-4], p) for p in patterns))
    bad = 0
    for name in names:
        mark = listed.get(name)
        equal = replay(f"{folder}/{name}.txt", "REPLAY_VERBOSE" in os.environ or mark is None)
        if equal == bool(mark):
            bad += 1
            print(f"FAIL {name}: " + (f"listed as '{mark}', but it is equal: take it off the list" if equal else "not equal"))
    print(f"{len(names)} transcripts, {bad} not as listed")
    return 1 if bad or not names else 0


sys.exit(main())
