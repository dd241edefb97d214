"""What holds for a state in test mode, for real, and both again."""
import json
from typing import NamedTuple

CRASHES = ("Traceback", "assertion", "internal error", "Internal error")


class State(NamedTuple):
    """A machine at one time."""

    seen: dict
    times: dict
    look: str

    def less(self):
        return self.seen, self.look


class Trial(NamedTuple):
    """What the four applies returned, and the machine before the first, and after the first, second and last."""

    fun: str
    args: dict
    told: dict
    done: dict
    told_again: dict
    again: dict
    states: tuple


def outcome(trial):
    if "crash" in trial.done:
        return "crash"
    if trial.done["result"] is False:
        return "failed"
    return "changed" if trial.done["changes"] else "in place"


def moved(a, b):
    """Paths in which two machines differ."""
    paths = sorted(p for p in a.seen.keys() | b.seen.keys() if a.seen.get(p) != b.seen.get(p))
    if a.look != b.look:
        before, after = a.look.splitlines(), b.look.splitlines()
        paths += [f"-{line}" for line in before if line not in after][:3] + [f"+{line}" for line in after if line not in before][:3]
    return paths[:8]


def excused(reasons, trial):
    """Whether a row has a reason for this trial."""
    if isinstance(reasons, (tuple, list)):
        return any(excused(reason, trial) for reason in reasons)
    return reasons(trial) if callable(reasons) else bool(reasons)


def faults(trial, row, nasty):
    """Texts, one for each property that does not hold."""
    first, foretold, second, last = trial.states
    wrong = []
    for name, ret in (("test mode", trial.told), ("the run", trial.done), ("test mode afterwards", trial.told_again),
                      ("the second run", trial.again)):
        text = json.dumps(ret)
        if "crash" in ret or any(word in text for word in CRASHES):
            wrong.append(f"{name} crashed")
    if wrong:
        return wrong
    if first.less() != foretold.less():
        wrong.append(f"test mode changed {moved(first, foretold)}")
    elif first.times != foretold.times and any(p in first.times and first.times[p] != t for p, t in foretold.times.items()):
        wrong.append("test mode wrote a file again")
    wrong += ran(trial, row, nasty)
    if trial.done["result"] is True:
        wrong += twice(trial, row, second, last)
    changed = foretold.less() != second.less()
    if trial.done["result"] is not False:
        if changed and not trial.done["changes"] and not excused(row.silent, trial):
            wrong.append(f"changed without telling {moved(foretold, second)}")
        if not changed and trial.done["changes"] and not excused(row.hollow, trial):
            wrong.append("told changes, and nothing changed")
    return wrong


def ran(trial, row, nasty):
    """Test mode against the run."""
    told, done = trial.told, trial.done
    if done["result"] is False:
        if told["result"] is True and not excused(row.unforeseen, trial):
            return ["foretold that it is in place, and failed"]
        if told["result"] is None and not nasty and not excused(row.unforeseen, trial):
            return ["foretold a change, and failed"]
        return []
    if told["result"] is False:
        return [] if excused(row.errs, trial) else ["foretold to fail, and did not"]
    if done["result"] is not True:
        return [f"the run's result is {done['result']}"]
    if done["changes"] and told["result"] is not None:
        return [f"foretold {told['result']}, and changed"]
    if not done["changes"] and (told["result"] is not True or told["changes"]) and not excused(row.vague, trial):
        return [f"foretold {told['result']} {json.dumps(told['changes'])}, and changed nothing"]
    if done["changes"] and told["changes"] != done["changes"] and not excused(row.untold, trial):
        return [f"foretold {json.dumps(told['changes'])}, did {json.dumps(done['changes'])}"]
    return []


def twice(trial, row, second, last):
    """The same again."""
    wrong = []
    if excused(row.again, trial):
        return wrong
    if trial.again["result"] is not True or trial.again["changes"]:
        wrong.append(f"the second run: {trial.again['result']} {json.dumps(trial.again['changes'])}")
    elif second.less() != last.less():
        wrong.append(f"the second run changed without telling {moved(second, last)}")
    if (trial.told_again["result"] is not True or trial.told_again["changes"]) and not excused(row.vague, trial):
        wrong.append(f"foretold after the run: {trial.told_again['result']} {json.dumps(trial.told_again['changes'])}")
    return wrong
