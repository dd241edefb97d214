"""Ordered dictionaries."""
import collections


class OrderedDict(collections.OrderedDict):
    """An ordered dictionary."""

    __hash__ = None


class DefaultOrderedDict(OrderedDict):
    """An ordered dictionary that makes the value of a key it does not have."""

    def __init__(self, default_factory=None, *a, **kw):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable")
        super().__init__(*a, **kw)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self[key] = self.default_factory()
        return value

    def copy(self):
        """Return a copy with the same factory."""
        return self.__copy__()

    def __copy__(self):
        return type(self)(self.default_factory, self)

    def __deepcopy__(self, memo):
        import copy

        return type(self)(self.default_factory, copy.deepcopy(list(self.items()), memo))

    def __reduce__(self):
        return type(self), (self.default_factory,) if self.default_factory else (), None, None, iter(self.items())
