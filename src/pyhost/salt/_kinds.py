"""Modules of the running program as files import them: salt.modules.network, salt.states.git.

A name below these packages that has no file here, and of which the program has functions, is a module of those functions. Without
a running program such a name can't be imported.
"""
import importlib.machinery
import sys
import types

from salt import _host

# Packages and the kinds of functions below them.
KINDS = {"modules": "modules", "states": "states", "runners": "runners", "returners": "returners", "beacons": "beacons"}


class _Functions(types.ModuleType):
    """A module whose functions are the program's."""

    def __getattr__(self, name):
        _, kind, module = self.__name__.split(".")
        functions = _host.functions(KINDS[kind], self.__name__)
        if not name.startswith("_") and f"{module}.{name}" in functions:
            return functions[f"{module}.{name}"]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class Finder:
    """Finds such modules, after all others, and makes them. Its methods are those of importlib.abc, whose import is dear."""

    def find_spec(self, name, path=None, target=None):
        """Return a spec when the program has functions of the module."""
        parts = name.split(".")
        if len(parts) != 3 or parts[0] != "salt" or parts[1] not in KINDS or parts[2].startswith("_") or _host.host() is None:
            return None
        functions = _host.host().functions(KINDS[parts[1]])
        known = any(fun.startswith(parts[2] + ".") for fun in functions)
        return importlib.machinery.ModuleSpec(name, self) if known else None

    def create_module(self, spec):
        """Return the module."""
        return _Functions(spec.name)

    def exec_module(self, module):
        """Do nothing: its functions are looked up when they are named."""


sys.meta_path.append(Finder())
