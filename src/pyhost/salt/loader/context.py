"""The dunders of modules as objects, where they are taken apart by their class."""


class NamedLoaderContext(dict):
    """A dunder such as __opts__: a dictionary with the method value()."""

    def __init__(self, name=None, loader_context=None, default=None):
        super().__init__(default or {})
        self.name, self.loader_context, self.default = name, loader_context, default

    def value(self):
        """Return the dictionary."""
        return self


class LoaderContext:
    """Makes dunders by their names."""

    def __init__(self, loader_ctxvar=None):
        self._names = {}

    def named_context(self, name, default=None, ctx_class=NamedLoaderContext):
        """Return the dunder of this name, the same one each time."""
        return self._names.setdefault(name, ctx_class(name, self, default))
