"""load.py - the jobs that run meanwhile: a row for each kind. Each says by lines of its own what it did on the minion.

A job's name (nonce) is in its arguments, so that the job can be found in the master's store whatever became of the command.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Callable

NONCE = re.compile(r"[nrot]\d+x\d+")


def line(nonce, pause, more=""):
    """A shell command that writes "NONCE begin" and "NONCE end" into the minion's file."""
    return f'echo {nonce} begin >>"$CHAOS_WITNESS"; sleep {pause:.2f}; {more}echo {nonce} end >>"$CHAOS_WITNESS"; echo {nonce}'


@dataclass
class Kind:
    name: str
    weight: int
    argv: Callable  # (world, nonce, target, rng) -> (words, minion in whose network or None)
    witness: bool = True  # its jobs write those lines
    fires: str = ""  # exit code 0 says that an event with this tag and "/NONCE" was fired


def salt(words):
    return lambda world, nonce, tgt, rng: (["salt", "-t", "3", "--out=json", "--static", *words(world, nonce, tgt, rng)], None)


def asynchronous(world, nonce, tgt, rng):
    return ["salt", "--async", tgt, "cmd.run", line(nonce, rng.uniform(0, 1))], None


def call_event(world, nonce, tgt, rng):
    minion = rng.choice(world.minions)
    return ["salt-call", "event.send", f"chaos/call/{nonce}", json.dumps({"n": nonce})], minion


def orchestration(world, nonce, tgt, rng):
    other = "t" + nonce[1:]
    pillar = {"line": line("o" + nonce[1:], rng.uniform(0, 0.3)), "then": line(other, 0)}
    return ["salt-run", "state.orchestrate", "orch", f"pillar={json.dumps(pillar)}", "--out=json"], None


KINDS = [
    Kind("test.ping", 3, salt(lambda w, n, t, r: [t, "test.ping"]), witness=False),
    Kind("test.echo", 3, salt(lambda w, n, t, r: [t, "test.echo", n]), witness=False),
    Kind("cmd.run", 8, salt(lambda w, n, t, r: [t, "cmd.run", line(n, r.uniform(0, 1.5))])),
    Kind("large returns", 3, salt(lambda w, n, t, r: [t, "cmd.run", line(n, 0, "head -c 100000 /dev/zero | tr '\\0' x; ")])),
    Kind("failing functions", 3, salt(lambda w, n, t, r: [t, "cmd.run", line(n, r.uniform(0, 0.3)) + "; exit 3"])),
    Kind("unknown functions", 1, salt(lambda w, n, t, r: [t, "no.such", n]), witness=False),
    Kind("state.apply", 3, salt(lambda w, n, t, r: [t, "state.apply", "state", f"pillar={json.dumps({'line': line(n, r.uniform(0, 0.5))})}"])),
    Kind("async", 5, asynchronous),
    Kind("batch", 2, salt(lambda w, n, t, r: ["-b", "1", "*", "cmd.run", line(n, r.uniform(0, 0.3))])),
    Kind("events of jobs", 3, salt(lambda w, n, t, r: [t, "event.send", f"chaos/job/{n}", json.dumps({"n": n})]), witness=False),
    Kind("salt-call event.send", 2, call_event, witness=False, fires="chaos/call"),
    Kind("orchestrations", 2, orchestration, witness=False),
    Kind("reactions", 3, salt(lambda w, n, t, r: [t, "event.send", f"chaos/react/{n}", json.dumps({"line": line("r" + n[1:], r.uniform(0, 0.3))})]),
         witness=False),
]


class Command:
    """One command under way; its output is a file."""

    def __init__(self, world, kind, nonce, rng):
        self.kind, self.nonce, self.disturbed = kind, nonce, False
        target = rng.choice(["*", "*", *(m.name for m in world.minions)])
        words, minion = kind.argv(world, nonce, target, rng)
        conf = minion.conf_dir if minion else world.master.conf_dir
        argv = [f"{world.bins}/{words[0]}", "-c", conf, *words[1:]]
        self.path, self.words = f"{world.folder}/out/{nonce}", " ".join(argv)
        env = {**os.environ, "HALITE_CHAOS": world.folder, "CHAOS_PAGE": f"{world.folder}/pages/cli", "TMPDIR": f"{world.folder}/tmp"}
        argv = ["env", f"LD_PRELOAD={world.library}", *argv]
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(minion.inside(argv) if minion else argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                                            start_new_session=True)

    def answers(self):
        """{minion: return} of a command that printed such."""
        with open(self.path, errors="replace") as f:
            text = f.read()
        try:
            found = json.loads(text[text.index("{"):text.rindex("}") + 1])
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def pick(rng):
    return rng.choices(KINDS, [k.weight for k in KINDS])[0]
