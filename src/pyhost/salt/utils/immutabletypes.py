"""Data that can't be changed."""
from collections.abc import Mapping, Sequence, Set


class ImmutableDict(Mapping):
    """A dictionary."""

    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter(self._obj)

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def __repr__(self):
        return f"<{type(self).__name__} {self._obj!r}>"

    def __hash__(self):
        return hash(frozenset(self.items()))

    def copy(self):
        """Return a dictionary that can be changed."""
        return self._obj.copy()


class ImmutableList(Sequence):
    """A list."""

    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter([freeze(one) for one in self._obj])

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def __add__(self, other):
        return freeze(list(self._obj) + list(other))

    def __eq__(self, other):
        return list(self._obj) == list(other)

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return f"<{type(self).__name__} {self._obj!r}>"

    def copy(self):
        """Return a list that can be changed."""
        return list(self._obj)


class ImmutableSet(Set):
    """A set."""

    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter(self._obj)

    def __contains__(self, key):
        return key in self._obj

    def __hash__(self):
        return hash(frozenset(self._obj))

    def __repr__(self):
        return f"<{type(self).__name__} {self._obj!r}>"

    def copy(self):
        """Return a set that can be changed."""
        return set(self._obj)


def freeze(obj):
    """Return data that can't be changed."""
    for kinds, frozen in ((dict, ImmutableDict), ((list, tuple), ImmutableList), (set, ImmutableSet)):
        if isinstance(obj, kinds):
            return frozen(obj)
    return obj
