"""Dictionaries that differ for a while, and globals that do."""
import contextlib
import copy
from collections.abc import MutableMapping


@contextlib.contextmanager
def func_globals_inject(func, **overrides):
    """Give a function other globals for a while."""
    if hasattr(func, "im_func"):
        func = func.__func__
    names = getattr(func, "__wrapped__", func).__globals__
    before = {name: names[name] for name in overrides if name in names}
    names.update(overrides)
    try:
        yield
    finally:
        for name in overrides:
            if name in before:
                names[name] = before[name]
            else:
                names.pop(name, None)


class ContextDict(MutableMapping):
    """A dictionary of which a thread can have its own view, by clone()."""

    def __init__(self, threadsafe=False, **data):
        self.active = False
        self._data = self.global_data = dict(data)
        self._threadsafe = threadsafe

    def clone(self, **kwargs):
        """Return a view with other values."""
        return ChildContextDict(self, overrides=kwargs, threadsafe=self._threadsafe)

    def __setitem__(self, key, val):
        self._data[key] = val

    def __delitem__(self, key):
        del self._data[key]

    def __getitem__(self, key):
        return self._data[key]

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return iter(self._data)

    def __copy__(self):
        new = type(self)(self._threadsafe)
        new._data = new.global_data = copy.copy(self._data)
        return new


class ChildContextDict(MutableMapping):
    """A view of a ContextDict with values of its own, which `with` puts in force."""

    def __init__(self, parent, overrides=None, threadsafe=False):
        self.parent = parent
        self._data = dict(copy.deepcopy(parent.global_data) if threadsafe else parent.global_data)
        self._data.update(overrides or {})
        self._before = None

    def __setitem__(self, key, val):
        self._data[key] = val

    def __delitem__(self, key):
        del self._data[key]

    def __getitem__(self, key):
        return self._data[key]

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return iter(self._data)

    def __enter__(self):
        self._before, self.parent._data, self.parent.active = self.parent._data, self._data, True

    def __exit__(self, *exc):
        self.parent._data, self.parent.active = self._before, False


class NamespacedDictWrapper(MutableMapping, dict):
    """A dictionary inside of another one, by its keys; it is made when it is first read."""

    def __init__(self, d, pre_keys):
        super().__init__()
        self.__dict = d
        self.pre_keys = (pre_keys,) if isinstance(pre_keys, str) else tuple(pre_keys)
        super().__init__(self._dict())

    def _dict(self):
        inner = self.__dict
        for key in self.pre_keys:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else inner[key]
        return inner

    def __repr__(self):
        return repr(self._dict())

    def __setitem__(self, key, val):
        self._dict()[key] = val

    def __delitem__(self, key):
        del self._dict()[key]

    def __getitem__(self, key):
        return self._dict()[key]

    def __contains__(self, key):
        return key in self._dict()

    def __len__(self):
        return len(self._dict())

    def __iter__(self):
        return iter(self._dict())

    def __copy__(self):
        return type(self)(copy.copy(self.__dict), copy.copy(self.pre_keys))

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self.__dict, memo), copy.deepcopy(self.pre_keys, memo))
