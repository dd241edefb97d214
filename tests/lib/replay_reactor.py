#!/usr/bin/env python3
"""replay_reactor.py - send the events of Salt's recorded reactor (re_*.txt) and compare what the bus shows after them.

    replay_reactor.py FOLDER DIFFERENCES.md

The fleet runs with the reference's reactor files (tests/t/6100-reactor.bats); FLEET, SOCK_DIR and HALITE_TOOLS name it. An
event's order among those of other reactions is not compared; stamps and jids are not, and fields of ours that Salt's events
do not have. DIFFERENCES.md lists what differs on purpose: see replay.py.
"""
import json
import os
import re
import select
import subprocess
import sys

FLEET, SOCK_DIR, TOOLS = os.environ["FLEET"], os.environ["SOCK_DIR"], os.environ["HALITE_TOOLS"]
PATIENCE_S = 10 * int(os.environ.get("SLOW", "1"))
JID = re.compile(r"\b20\d{18}\b")
EVENT = re.compile(r"^(\S+)\t(\{\n.*?^\}$)", re.S | re.M)
# What is there because salt-call connects, and its own return.
NOISE = re.compile(r"^(salt/auth|salt/key|salt/stats.*|minion/refresh/.*|minion_start|salt/minion/.*/start|salt/event/.*)$")


def normal(tag, data):
    data = {k: v for k, v in data.items() if k != "_stamp"}
    text = JID.sub("JID", json.dumps([tag, data], sort_keys=True)).replace(FLEET + "/out", "REF/out")
    return json.loads(text)


def wanted(text):
    """The reaction's events: what follows the custom event, but for the return of event.send."""
    seen, found = False, []
    for tag, data in EVENT.findall(text):
        data = json.loads(data)
        if seen and not NOISE.match(tag) and data.get("fun") != "event.send":
            found.append(normal(tag, data))
        seen = seen or tag.startswith("anchors/")
    return found


def fits(want, got):
    """Every field of Salt's is there and equal; ours may have more of them."""
    return want[0] == got[0] and all(k in got[1] and got[1][k] == v for k, v in want[1].items())


class Bus:
    def __init__(self):
        argv = [TOOLS + "/local", "--follow", "0", "0", SOCK_DIR, '{"op":"events","tag":"*"}']
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.rest = b""
        self.line(PATIENCE_S)

    def line(self, seconds):
        """The next event; None when there is none in that time."""
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], seconds)[0]:
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                raise EOFError("the master closed the line")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.communicate()


def replay(name, text, bus, differs):
    """How it differs from the transcript; None: not at all."""
    command = re.match(r"\$ ([^;\n]*)", text)[1]
    want, got, errors, mark = wanted(text), [], [], "replayed/" + name
    subprocess.run(["bash", "-c", command], check=True, stdout=subprocess.DEVNULL, timeout=60)
    missing = list(want)
    while missing:
        event = bus.line(PATIENCE_S)
        if event is None:
            return f"these did not come: {json.dumps(missing)}; but {json.dumps(got)}"
        tag, data = event.get("tag", ""), event.get("data", {})
        if tag == "salt/reactor/error":
            errors.append(data["error"])
        elif tag and not NOISE.match(tag) and data.get("fun") not in ("event.send", "runner.event.send"):
            one = normal(tag, data)
            got.append(one)
            missing = next((missing[:i] + missing[i + 1 :] for i, w in enumerate(missing) if fits(w, one)), missing)
    surplus, marked = [], False
    # What has been set off by now is before this one on the bus; an error of a file that is still rendered is not, and is waited for.
    subprocess.run(["salt-run", "event.send", mark], check=True, stdout=subprocess.DEVNULL)
    while (not marked or (differs and not (errors or surplus))) and (event := bus.line(PATIENCE_S)):
        marked = marked or event.get("tag") == mark
        if event.get("tag") == "salt/reactor/error":
            errors.append(event["data"]["error"])
        elif str(event.get("tag", "")).endswith("/new") and event["data"].get("fun") != "runner.event.send":
            surplus.append(event["data"]["fun"])
    return f"said to be wrong: {errors}; begun beside: {surplus}" if errors or surplus else None


def main():
    folder, listed = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
    listed = dict(re.findall(r"^\| `(re_\w+)` \| (differs) \|", listed, re.M))
    names = sorted(n[:-4] for n in os.listdir(folder) if n.startswith("re_"))
    bad = 0
    with Bus() as bus:
        for name in names:
            with open(f"{folder}/{name}.txt", encoding="utf-8") as f:
                text = f.read()
            if not text.startswith("$ "):
                continue  # a masterless minion's: a test of its own
            why = replay(name, text, bus, name in listed)
            if (why is None) == (name in listed):
                bad += 1
                print(f"{name}: {why or 'listed as different, but it is equal: take it off the list'}")
    print(f"{len(names)} transcripts, {bad} not as listed")
    return 1 if bad or not names else 0


sys.exit(main())
