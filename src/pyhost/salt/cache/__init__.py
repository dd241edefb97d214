"""Values in banks, which the master keeps."""
import logging
import time

from salt import _host, _loaders

log = logging.getLogger(__name__)


def factory(opts, **kwargs):
    """Return a Cache; one that remembers what it read where the options ask for that."""
    kind = MemCache if opts.get("memcache_expire_seconds", 0) > 0 else Cache
    return kind(opts, **kwargs)


class Cache:
    """Banks of values. They are the master's: the runner cache reads and writes them."""

    def __init__(self, opts, cachedir=None, **kwargs):
        self.opts = opts
        self.cachedir = cachedir or opts.get("cachedir")
        self.driver = "localfs"
        self._kwargs = kwargs

    def _call(self, fun, *args):
        here = _host.host()
        if here is not None:
            runners = here.functions("runners")
            if f"cache.{fun}" in runners:
                return runners[f"cache.{fun}"](*args)
        return _loaders.functions("runners", f"salt.cache.{fun}", self.opts)[f"cache.{fun}"](*args)

    def cache(self, bank, key, fun, loop_fun=None, **kwargs):
        """Return a value, made by `fun` when it is not there or was made more than `expire` seconds ago."""
        expire = kwargs.pop("expire", 86400)
        kept = self.fetch(bank, key)
        if isinstance(kept, dict) and kept.get("__made", 0) > time.time() - expire:
            return kept["value"]
        value = fun(**kwargs)
        if loop_fun is not None:
            value = [loop_fun(one) for one in value]
        self.store(bank, key, {"__made": time.time(), "value": value})
        return value

    def store(self, bank, key, data):
        """Keep a value."""
        return self._call("store", bank, key, data)

    def fetch(self, bank, key):
        """Return a value; {} for one that is not there."""
        return self._call("fetch", bank, key)

    def updated(self, bank, key):
        """Raise: the master does not tell when a value was kept."""
        raise NotImplementedError("the master does not tell when a value was kept: keep the time beside the value")

    def flush(self, bank, key=None):
        """Forget a value, or a whole bank."""
        return self._call("flush", bank, key) if key is not None else self._call("flush", bank)

    def list(self, bank):
        """Return the names of a bank's values."""
        return self._call("list", bank)

    def contains(self, bank, key=None):
        """Say whether a value or a bank is there."""
        names = self.list(bank)
        return bool(names) if key is None else key in (names or [])


class MemCache(Cache):
    """A Cache that remembers what it read for some seconds."""

    data = {}

    def __init__(self, opts, **kwargs):
        super().__init__(opts, **kwargs)
        self.expire = opts.get("memcache_expire_seconds", 10)

    def fetch(self, bank, key):
        """Return a value."""
        now, place = time.time(), (self.cachedir, bank, key)
        if place in self.data and now - self.data[place][0] < self.expire:
            return self.data[place][1]
        value = super().fetch(bank, key)
        self.data[place] = (now, value)
        return value

    def store(self, bank, key, data):
        """Keep a value."""
        self.data[(self.cachedir, bank, key)] = (time.time(), data)
        return super().store(bank, key, data)

    def flush(self, bank, key=None):
        """Forget a value, or a whole bank."""
        for place in [place for place in self.data if place[1] == bank and key in (None, place[2])]:
            del self.data[place]
        return super().flush(bank, key)
