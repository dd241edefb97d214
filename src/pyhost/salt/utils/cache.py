"""Values that are kept for a while."""
import re
import time


class CacheDict(dict):
    """A dictionary whose values are gone after so many seconds."""

    def __init__(self, ttl, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._ttl = ttl
        self._times = {key: time.time() for key in self}

    def _enforce(self, key):
        if key in self._times and time.time() - self._times[key] > self._ttl:
            del self._times[key]
            super().__delitem__(key)

    def __contains__(self, key):
        self._enforce(key)
        return super().__contains__(key)

    def __getitem__(self, key):
        self._enforce(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        """Return a value."""
        self._enforce(key)
        return super().get(key, default)

    def __setitem__(self, key, val):
        self._times[key] = time.time()
        super().__setitem__(key, val)


class CacheRegex:
    """Patterns that are compiled once."""

    def __init__(self, prepend="", append="", size=1000, keep_fraction=0.8, max_age=3600):
        self.prepend, self.append, self.size = prepend, append, size
        self.cache = {}

    def clear(self):
        """Forget all of them."""
        self.cache.clear()

    def get(self, pattern):
        """Return a pattern, compiled."""
        if pattern not in self.cache:
            if len(self.cache) >= self.size:
                self.clear()
            self.cache[pattern] = re.compile(f"{self.prepend}{pattern}{self.append}")
        return self.cache[pattern]


def context_cache(func):
    """Return the function: its file's __context__ lives as long as the job, and keeps what it puts there."""
    return func
