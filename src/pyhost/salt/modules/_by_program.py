"""Execution modules that files import: their functions are the running program's."""
from salt import _loaders


def getter(module):
    """Return a module's __getattr__, which finds the functions of an execution module."""

    def get(name):
        if name.startswith("_"):
            raise AttributeError(f"module 'salt.modules.{module}' has no attribute {name!r}")

        def call(*args, **kwargs):
            return _loaders.functions("modules", f"salt.modules.{module}.{name}")[f"{module}.{name}"](*args, **kwargs)

        call.__name__ = name
        return call

    return get
