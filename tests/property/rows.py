"""The table's types: a world, the states that are tried in it, and why a state is not."""
import json
import re
from dataclasses import dataclass, field

# Why a state function has no row of a world.
REASONS = {
    "service": "a server that tests play alone, or that needs a network of machines",
    "kernel": "changes what no namespace keeps apart: block devices, swap, /sys",
    "minion": "asks the minion that runs; salt-call alone has none",
    "model": "a program that is played in the recorded cases alone, without keeping what it was told",
    "hook": "called by requisites and the state engine; has no run of its own",
    "registry": "fetches from a registry of packages",
    "nothing": "waits, fires, asks or fails as it is told: nothing of the machine is foretold",
}


@dataclass
class When:
    """A reason that holds where `holds`, of a trial, is true."""

    why: str
    holds: object

    def __call__(self, trial):
        return self.holds(trial)


def said(words, why):
    """The run failed with one of these words (a pattern) in its comment."""
    return When(why, lambda trial: re.search(words, json.dumps(trial.done)) is not None)


def given(why, *args):
    """One of these arguments was given, and is not false."""
    return When(why, lambda trial: any(trial.args.get(arg) for arg in args))


@dataclass
class Row:
    """One state function. Generators are as draw.value takes them."""

    must: dict = field(default_factory=dict)  # arguments of each call
    may: dict = field(default_factory=dict)   # arguments of some calls; others come from the recorded cases
    never: tuple = ()                         # arguments that are not drawn
    tame: tuple = ()                          # arguments that get no nasty value
    nasty: float = 0.15                       # how often one argument is a value that nobody means
    weight: int = 1
    # Where Salt foretells otherwise: a reason, or some with their conditions. What the property leaves out.
    untold: str | When | tuple = ""      # the changes of test mode are in other words, or not known before
    unforeseen: str | When | tuple = ""  # the program's own refusal, which test mode can't ask for
    again: str | When | tuple = ""       # a second run changes something
    vague: str | When | tuple = ""       # test mode says None whatever is there
    silent: str | When | tuple = ""      # changes something without telling it
    hollow: str | When | tuple = ""      # tells changes, and none are seen in the sandbox
    errs: str | When | tuple = ""        # test mode fails where the run does not


@dataclass
class World:
    """A sandbox as states find it."""

    rows: dict
    setup: str = ""    # shell commands, once; what they leave lies under every sandbox of this world
    start: str = ""    # shell commands in each sandbox, before its first state
    look: str = ""     # shell commands whose output is a part of the world
    needs: str = ""    # programs, with blanks between
    played: str = ""   # a file of tests/cases/world whose programs are models that keep a state, and what they need
    ignored: tuple = ()
    pillar: dict = field(default_factory=dict)
    minion: dict = field(default_factory=dict)  # options beside the sandbox's own
    steps: int = 6     # states in one sandbox
