"""Helpers, each kind in a file of its own; the names that stood here before 2018 are found as well."""
from salt.utils._flat import OLD_NAMES


def __getattr__(name):
    """Return a helper by its old name, or import one of the files."""
    import importlib

    lazy = importlib.import_module("salt._lazy")
    place = OLD_NAMES.get(name)
    if place is not None:
        return lazy.member(*place)
    return lazy.submodule(__name__, name)
