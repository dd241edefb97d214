"""Functions of a kind: of the running program, or in a script through it."""
import collections.abc

from salt import _host


def functions(kind, why, opts=None):
    """Return the functions of a kind as a mapping; a script has those that a program runs for it."""
    if _host.host() is not None:
        return _host.functions(kind, why)
    if kind == "modules":
        return ByProgram(opts)
    if kind == "runners":
        from salt import runner

        return runner.RunnerClient(opts).functions
    return _host.functions(kind, why)


class ByProgram(collections.abc.Mapping):
    """Execution functions that salt-call runs."""

    def __init__(self, opts=None):
        from salt import client

        self._caller = client.Caller(mopts=opts)
        self._names = None

    def _all(self):
        if self._names is None:
            self._names = self._caller.cmd("sys.list_functions")
        return self._names

    def __getitem__(self, name):
        if name not in self._all():
            raise KeyError(name)
        return lambda *args, **kwargs: self._caller.function(name, *args, **kwargs)

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def missing_fun_string(self, name):
        """Return the text that tells that a function is not there."""
        return f"'{name}' is not available."


class LazyLoader:
    """Salt's loader of folders, which the running program is here."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("modules are loaded by the program itself: salt.loader's functions return them by their kinds")
