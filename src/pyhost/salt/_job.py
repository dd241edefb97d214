"""A published job: its returns as they come, and when to stop waiting for more."""
import time

from salt import _local
from salt.exceptions import PublishError, SaltClientError

# Verdicts after which no return comes.
_FINAL = frozenset(("not_connected", "not_delivered", "lost", "elsewhere", "not_begun"))
_AWAY_SECONDS = 3
# A master that restarts is waited for so long.
_RECONNECT_SECONDS = 30
_PAUSE_SECONDS = 0.1


class Job:
    """The targets of a job on a line to the master, and what is known of each. A line that breaks is opened again by `opts`."""

    def __init__(self, line, reply, timeout, opts=None):
        self.line = line
        self.opts = opts
        self.jid = reply["jid"]
        self.minions = list(reply.get("minions", ()))
        self.missing = list(reply.get("missing", ()))
        self.timeout = timeout
        self.returned = set()
        self._verdict = dict.fromkeys(self.minions)
        self._away = set()
        self._news = time.monotonic()
        self._done = not self.minions

    def _waits_for(self):
        return [id_ for id_ in self.minions if id_ not in self.returned and self._verdict[id_] not in _FINAL]

    def _end(self):
        """Return when silence ends the wait, or None while a connected minion is at work."""
        waits = self._waits_for()
        running = [id_ for id_ in waits if self._verdict[id_] == "running"]
        if any(id_ not in self._away for id_ in running):
            return None
        only_away = len(running) == len(waits)
        return self._news + (min(self.timeout, _AWAY_SECONDS) if only_away else self.timeout)

    def over(self):
        """Say whether all returned that can, or silence lasted too long."""
        if self._done or not self._waits_for():
            return True
        end = self._end()
        return end is not None and time.monotonic() >= end

    def step(self, timeout=None):
        """Wait for news, up to `timeout` seconds and the end of the job; return a new return's push, or None."""
        end = self._end()
        left = None if end is None else max(end - time.monotonic(), 0)
        if timeout is not None:
            left = timeout if left is None else min(left, timeout)
        try:
            push = self.line.next(left)
        except SaltClientError:
            self._reopen()
            return None
        if push is None or push.get("jid") != self.jid:
            return None
        self._news = time.monotonic()
        return self._take(push)

    def _reopen(self):
        """Connect to a master that restarted, and follow the job anew; one that the master has forgotten is over."""
        self.line.close()
        until = time.monotonic() + _RECONNECT_SECONDS
        while True:
            try:
                self.line = _local.connect(self.opts)
                self.line.call("follow", jid=self.jid)
                break
            except PublishError:
                self._done = True
                break
            except SaltClientError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_SECONDS)
        self._news = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.line.close()

    def _take(self, push):
        kind, id_ = push.get("push"), push.get("id")
        if kind == "done":
            self._done = True
        elif kind == "verdict" and id_ in self._verdict and push["verdict"] != "returned":
            self._verdict[id_] = push["verdict"]
            (self._away.discard if push.get("connected", True) else self._away.add)(id_)
        elif kind == "ret" and id_ in self._verdict and id_ not in self.returned:
            self.returned.add(id_)
            return push
        return None

    def returns(self):
        """Yield the pushes of returns until the job is over."""
        while not self.over():
            push = self.step()
            if push is not None:
                yield push

    def silent(self):
        """Return the targets without a return, and ids that no accepted key has."""
        return [id_ for id_ in self.minions if id_ not in self.returned] + self.missing


def told(push):
    """Return a return's push as Salt's clients tell it."""
    one = {"ret": push.get("return")}
    for name in "retcode", "jid", "success", "out":
        if name in push:
            one[name] = push[name]
    return one
