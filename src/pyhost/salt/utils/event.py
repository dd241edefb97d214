"""The event buses of master and minion."""
import collections
import copy
import fnmatch
import logging
import os
import re
import time

from salt import _host, _local, config
from salt.exceptions import SaltClientError, SaltException

log = logging.getLogger(__name__)

SALT = "salt"
TAGPARTER = "/"
TAGEND = "\n\n"
SUB_EVENT = ("state.highstate", "state.sls")
TAGS = {
    "auth": "salt/auth", "cloud": "salt/cloud", "fileserver": "salt/fileserver", "job": "salt/job", "key": "salt/key",
    "minion": "salt/minion", "presence": "salt/presence", "queue": "salt/queue", "run": "salt/run", "syndic": "syndic", "wheel": "salt/wheel",
}


def tagify(suffix="", prefix="", base=SALT):
    """Return the parts of a tag as one."""
    parts = [base, TAGS.get(prefix, prefix)]
    parts += list(suffix) if hasattr(suffix, "append") else [suffix]
    if TAGS.get(prefix, prefix).startswith(SALT):
        parts = parts[1:]
    return TAGPARTER.join(str(part) for part in parts if part)


def _fits_find(event_tag, search_tag):
    return search_tag in event_tag


_MATCHES = {
    "startswith": str.startswith,
    "endswith": str.endswith,
    "find": _fits_find,
    "regex": lambda tag, pattern: re.search(pattern, tag) is not None,
    "fnmatch": lambda tag, pattern: fnmatch.fnmatch(tag, pattern),
}


def get_event(node, sock_dir=None, transport=None, opts=None, listen=True, io_loop=None, keep_loop=False, raise_errors=False):
    """Return the bus of this machine's "master" or "minion"; with `listen` events are kept from now on."""
    kind = MasterEvent if node == "master" else MinionEvent if node == "minion" else None
    if kind is None:
        return SaltEvent(node, sock_dir, opts, listen=listen, raise_errors=raise_errors)
    if kind is MasterEvent:
        return MasterEvent(sock_dir, opts, listen=listen, raise_errors=raise_errors)
    return MinionEvent(opts or {"sock_dir": sock_dir}, listen=listen, raise_errors=raise_errors)


def get_master_event(opts, sock_dir, listen=True, io_loop=None, raise_errors=False):
    """Return the master's bus."""
    return MasterEvent(sock_dir, opts, listen=listen, raise_errors=raise_errors)


def fire_args(opts, jid, tag_data, prefix=""):
    """Fire the arguments of a job, where the options ask for that."""
    if not opts.get("cli_summary") and not opts.get("fire_args"):
        return
    with get_event("master", opts=opts, listen=False) as bus:
        bus.fire_event(tag_data, tagify([jid, "args"], prefix))


class SaltEvent:
    """A bus: events of others, and events of one's own."""

    def __init__(self, node, sock_dir=None, opts=None, listen=True, io_loop=None, keep_loop=False, raise_errors=False):
        self.node = "minion" if node == "minion" else "master"
        self.opts = opts if opts is not None else {}
        self.sock_dir = sock_dir or self.opts.get("sock_dir") or config.client_config(None)["sock_dir"]
        self.raise_errors = raise_errors
        self.pending_tags = []
        self.pending_events = collections.deque()
        self._line = None
        self.cpub = False
        if listen:
            self.connect_pub()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.destroy()

    def destroy(self):
        """Close the bus."""
        self.close_pub()

    # ---- listening ------------------------------------------------------------------------------------------

    def connect_pub(self, timeout=None):
        """Begin to listen; says whether that worked."""
        if self._line is not None:
            return True
        try:
            self._line = _local.Line(self.sock_dir, self.node)
            self._line.call("events", tags=["*"])
        except (SaltException, OSError) as exc:
            self.close_pub()
            if self.raise_errors:
                raise
            log.error("the bus of the %s can't be listened to: %s", self.node, exc)
            return False
        self.cpub = True
        return True

    def close_pub(self):
        """End listening."""
        if self._line is not None:
            self._line.close()
        self._line, self.cpub = None, False

    def connect_pull(self, timeout=1):
        """Say whether events can be fired."""
        return os.path.exists(os.path.join(self.sock_dir, _local.SOCKETS[self.node]))

    def close_pull(self):
        """Do nothing: events are fired over a line of their own."""

    def _match(self, match_type):
        kind = match_type or self.opts.get("event_match_type") or "startswith"
        return kind if callable(kind) else _MATCHES.get(kind, str.startswith)

    def subscribe(self, tag=None, match_type=None):
        """Keep events of this tag that come while others are waited for."""
        if tag is not None:
            self.pending_tags.append((tag, self._match(match_type)))

    def unsubscribe(self, tag, match_type=None):
        """Take subscribe back."""
        row = (tag, self._match(match_type))
        if row in self.pending_tags:
            self.pending_tags.remove(row)
        kept = [event for event in self.pending_events if any(fits(event["tag"], wanted) for wanted, fits in self.pending_tags)]
        self.pending_events = collections.deque(kept)

    def _next(self, until):
        """Return the next event, or None when `until` has passed."""
        while True:
            push = self._line.next(None if until is None else max(until - time.monotonic(), 0))
            if push is None:
                return None
            if push.get("push") == "event":
                return {"tag": push["tag"], "data": push["data"]}
            if push.get("push") == "missed":
                log.warning("%s events were missed, as they were not read in time", push.get("count"))

    def _kept(self, tag, fits):
        for event in list(self.pending_events):
            if fits(event["tag"], tag):
                self.pending_events.remove(event)
                return event
        return None

    def _wait(self, tag, fits, until):
        event = self._kept(tag, fits)
        while event is None:
            event = self._next(until)
            if event is None:
                return None
            if not fits(event["tag"], tag):
                if any(other(event["tag"], wanted) for wanted, other in self.pending_tags):
                    self.pending_events.append(event)
                event = None
        return event

    def get_event(self, wait=5, tag="", full=False, match_type=None, no_block=False, auto_reconnect=False):
        """Return the data of the next event whose tag fits, or {"tag", "data"}; None after `wait` seconds, 0 and None wait for ever."""
        if not self.connect_pub():
            return None
        until = time.monotonic() if no_block else None if not wait else time.monotonic() + wait
        while True:
            try:
                event = self._wait(tag or "", self._match(match_type), until)
                break
            except SaltClientError:
                self.close_pub()
                if not auto_reconnect:
                    if self.raise_errors:
                        raise
                    return None
                self._reconnect(until)
                if self._line is None:
                    return None
        return event if event is None or full else event["data"]

    def _reconnect(self, until):
        """Try to listen again until that works or `until` has passed."""
        while self._line is None and (until is None or time.monotonic() < until):
            try:
                self._line = _local.Line(self.sock_dir, self.node)
                self._line.call("events", tags=["*"])
                self.cpub = True
            except (SaltException, OSError):
                self.close_pub()
                time.sleep(0.1)

    def get_event_noblock(self):
        """Return {"tag", "data"} of an event that is here, or None."""
        return self.get_event(full=True, no_block=True)

    def get_event_block(self):
        """Return {"tag", "data"} of the next event."""
        return self.get_event(wait=0, full=True)

    def iter_events(self, tag="", full=False, match_type=None, auto_reconnect=False):
        """Yield events as they come."""
        while True:
            event = self.get_event(0, tag, full, match_type, auto_reconnect=auto_reconnect)
            if event is None:
                if self._line is None and not auto_reconnect:
                    return
                continue
            yield event

    # ---- firing ---------------------------------------------------------------------------------------------

    def fire_event(self, data, tag, timeout=1000):
        """Fire an event; says whether that worked."""
        if not str(tag):
            raise ValueError("Empty tag.")
        if not isinstance(data, dict):
            raise ValueError(f"Dict object expected, not '{data}'.")
        # The master's bus has the operation "fire", a minion's own "event".
        op = "event" if self.node == "minion" else "fire"
        try:
            with _local.Line(self.sock_dir, self.node) as line:
                line.call(op, tag=str(tag), data=copy.copy(data))
            return True
        except SaltException as exc:
            if self.raise_errors:
                raise
            log.error("the event %s can't be fired: %s", tag, exc)
            return False

    def fire_event_async(self, data, tag, cb=None, timeout=1000):
        """Fire an event; says whether that worked."""
        return self.fire_event(data, tag, timeout)

    def fire_master(self, data, tag, timeout=1000):
        """Fire an event on the master's bus; says whether that worked."""
        if self.node == "master":
            return self.fire_event(data, tag, timeout)
        here = _host.host()
        if here is None:
            raise NotImplementedError("fire_master works in modules that the minion runs; a script calls event.send by salt.client.Caller")
        return here.fire(tag, data)


class MasterEvent(SaltEvent):
    """The master's bus."""

    def __init__(self, sock_dir, opts=None, listen=True, io_loop=None, keep_loop=False, raise_errors=False):
        super().__init__("master", sock_dir, opts, listen, raise_errors=raise_errors)


class LocalClientEvent(MasterEvent):
    """The master's bus, as clients have it."""


class MinionEvent(SaltEvent):
    """The minion's own bus."""

    def __init__(self, opts, listen=True, io_loop=None, raise_errors=False):
        super().__init__("minion", opts.get("sock_dir"), opts, listen, raise_errors=raise_errors)


class NamespacedEvent:
    """A bus on which all tags begin alike."""

    def __init__(self, event, base, print_func=None):
        self.event, self.base, self.print_func = event, base, print_func

    def fire_event(self, data, tag):
        """Fire an event below the common tag."""
        if self.print_func is not None:
            self.print_func(tag, data)
        self.event.fire_event(data, tagify(tag, base=self.base))

    def destroy(self):
        """Close the bus."""
        if self.event is not None:
            self.event.destroy()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.destroy()


class StateFire:
    """Events of a state run."""

    def __init__(self, opts, auth=None):
        self.opts = opts

    def fire_master(self, data, tag, preload=None):
        """Fire an event on the master's bus."""
        here = _host.host()
        if here is None:
            raise NotImplementedError("StateFire works in modules that the minion runs")
        return here.fire(tag, data)

    def fire_running(self, running):
        """Fire an event for each result of a run."""
        for key, result in running.items():
            name = "state_result" if result.get("result") else "state_fail"
            self.fire_master(result, f"{name}.{key}")
