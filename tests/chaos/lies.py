"""lies.py - does the audit see what is wrong? After a round without faults each lie is told to it, and the check named must see it."""

import copy
import json
import os
import struct
import subprocess

from audit import FINAL, digest


def first_return(a):
    """Of a job that has written its lines."""
    for job in a.jobs:
        if job["fun"] == "cmd.run":
            for jid, minion in a.returns:
                if jid == job["jid"]:
                    return jid, minion
    raise LookupError("the round has no return of cmd.run")


def lost_return(a):
    a.returns.pop(first_return(a))


def other_verdict(a):
    jid, minion = first_return(a)
    a.live[jid] = {minion: {"verdict": "not_connected"}}


def open_verdict(a):
    jid, minion = first_return(a)
    a.live[jid] = {minion: {"verdict": "running"}}
    assert "running" not in FINAL


def ran_twice(a):
    _, minion = first_return(a)
    key = next(k for k in a.witness[minion] if k[1] == "begin")
    a.witness[minion][key] += 1


def not_ended(a):
    for seen in a.witness.values():
        for key in [k for k in seen if k[1] == "end"]:
            del seen[key]


def told_twice(a):
    jid, minion = first_return(a)
    a.events += [e for e in a.events if e["tag"] == f"salt/job/{jid}/ret/{minion}"]


def other_event(a):
    heard = a.followers[0].heard
    heard[max(heard)] ^= 1


def unheard_event(a):
    a.followers[0].heard.pop(a.events[0]["seq"])


def event_of_nowhere(a):
    a.followers[1].heard[a.events[-1]["seq"] + 1] = 0


def lost_block(a):
    del a.blocks[1]


def other_number(a):
    block = dict(a.blocks[0])
    text = json.dumps({"push": "event", "seq": block["first"] + 7, "tag": "x", "data": {}}).encode()
    block["frames"] = struct.pack(">I", len(text)) + text
    a.blocks[0] = block


class NotHere(Exception):
    """The lie is about a server that this machine does not have."""


def any_once(a):
    """The counts of a sink that promises each event once."""
    for sink in a.world.sinks.events:
        if sink.once:
            return a.sunk[sink.name]
    raise NotHere("no database is installed")


def unsunk_event(a):
    del any_once(a)[digest(a.events[0])]


def unsunk_in_file(a):
    del a.sunk["rawfile_json"][digest(a.events[0])]


def sunk_twice(a):
    any_once(a)[digest(a.events[0])] += 1


def uncached_return(a):
    if a.world.sinks.cache is None:
        raise NotHere("nothing is installed that keeps jobs")
    del a.cached[first_return(a)]


def stray_process(a):
    env = {**os.environ, "HALITE_CHAOS": a.world.folder}
    subprocess.Popen(["/bin/sh", "-c", "sleep 6 & exit 0"], env=env, start_new_session=True).wait()


def stray_file(a):
    open(f"{a.world.minions[0].root}/x.part", "w").close()


def crash(a):
    a.world.minions[0].deaths.append(-11)


LIES = [
    ("a return is not in the store", "every_return_of_a_job_is_stored", lost_return),
    ("a return is not in the store, the job has begun", "every_target_has_one_true_verdict", lost_return),
    ("a minion that returned is said not to be connected", "every_target_has_one_true_verdict", other_verdict),
    ("a verdict is not final", "every_target_has_one_true_verdict", open_verdict),
    ("a job has run twice", "nothing_runs_twice", ran_twice),
    ("a job that succeeded has not ended", "every_target_has_one_true_verdict", not_ended),
    ("a return is told twice", "every_return_is_an_event", told_twice),
    ("a listener heard another event", "listeners_heard_the_journal", other_event),
    ("a listener did not hear an event", "listeners_heard_the_journal", unheard_event),
    ("a listener heard what is not in the journal", "listeners_heard_the_journal", event_of_nowhere),
    ("a block of the journal is lost", "events_have_their_numbers", lost_block),
    ("an event has another number", "events_have_their_numbers", other_number),
    ("an event is not in a file", "sinks_have_the_journal", unsunk_in_file),
    ("an event is not in a database", "sinks_have_the_journal", unsunk_event),
    ("an event is in a database twice", "sinks_have_the_journal", sunk_twice),
    ("a return is not in the job cache", "every_return_is_in_the_job_cache", uncached_return),
    ("a process is left", "nothing_is_left", stray_process),
    ("a file is left", "nothing_is_left", stray_file),
    ("a daemon has crashed", "no_daemon_crashed", crash),
]


COUNTS = ("witness", "sunk", "cached")


def unseen(auditor):
    """Names of lies that the audit did not see."""
    kept = {n: copy.copy(getattr(auditor, n)) for n in ("returns", "live", "events", "blocks")}
    kept |= {n: copy.deepcopy(getattr(auditor, n)) for n in COUNTS}
    heard = [dict(f.heard) for f in auditor.followers]
    for name, check, tell in LIES:
        try:
            tell(auditor)
        except NotHere as why:
            print(f"not told: {name}: {why}", flush=True)
            continue
        if not any(text.startswith(check.replace("_", " ")) for text in auditor.all()):
            yield name
        for attribute, value in kept.items():
            setattr(auditor, attribute, copy.deepcopy(value) if attribute in COUNTS else copy.copy(value))
        for follower, before in zip(auditor.followers, heard):
            follower.heard = dict(before)
        for daemon in auditor.world.daemons:
            daemon.deaths.clear()
