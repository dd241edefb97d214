"""The decorator @depends: a function is there only when what it depends on is."""
import collections
import logging
import sys

log = logging.getLogger(__name__)


def _call_place():
    """Return (kind, module, globals) of the file whose function is decorated."""
    frame = sys._getframe(2)
    own = __name__
    while frame.f_globals.get("__name__") == own:
        frame = frame.f_back
    parts = frame.f_globals["__name__"].rsplit(".", 2)
    if len(parts) < 2:
        parts = ["", parts[0]]
    return parts[-2], parts[-1], frame.f_globals


class Depends:
    """Keep a function only while its dependencies hold; enforce_dependencies() is called when a file was loaded."""

    # {kind: {dependency: {(module, function name): (globals, fallback function, params)}}}
    dependency_dict = collections.defaultdict(lambda: collections.defaultdict(dict))

    def __init__(self, *dependencies, **kwargs):
        self.dependencies = dependencies
        self.params = kwargs
        self.kind, self.module, self.globals = _call_place()

    def __call__(self, function):
        name = getattr(function, "__name__", str(function))
        for dependency in self.dependencies:
            row = (self.globals, self.params.get("fallback_function"), self.params)
            self.dependency_dict[self.kind][dependency][(self.module, name)] = row
        return function

    @staticmethod
    def run_command(dependency, mod_name, func_name):
        """Return the exit code of a command that a function depends on."""
        import shlex
        import subprocess

        log.trace("Running '%s' for '%s.%s'", dependency, mod_name, func_name)
        full = dependency.replace("{module}", mod_name)
        return subprocess.run(
            shlex.split(full), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        ).returncode

    @classmethod
    def _holds(cls, dependency, row, module, name, opts):
        """Say whether one dependency of one function holds."""
        where, _, params = row
        if "retcode" in params or "nonzero_retcode" in params:
            try:
                code = cls.run_command(dependency, module, name)
            except OSError:
                return False
            return code == params["retcode"] if "retcode" in params else bool(code) == bool(params["nonzero_retcode"])
        if isinstance(dependency, bool):
            return dependency
        if dependency in where or dependency in where.get("__salt__", {}):
            return True
        return any(key.endswith(":" + str(dependency)) for key in (opts or {}).get("depends", ()))

    @classmethod
    def enforce_dependencies(cls, functions, kind, tgt_mod):
        """Take away what lacks a dependency from the functions {"module.name": function} of one module."""
        for dependency, rows in cls.dependency_dict[kind].items():
            for (module, name), row in list(rows.items()):
                if module == tgt_mod and not cls._holds(dependency, row, module, name, row[0].get("__opts__")):
                    cls._withdraw(functions, module, name, row)

    @staticmethod
    def _withdraw(functions, module, name, row):
        where, fallback, _ = row
        virtual = where.get("__virtualname__", module)
        alias = where.get("__func_alias__", {}).get(name, name)
        for key in {f"{place}.{alias}" for place in (module, virtual)}:
            if key in functions:
                if fallback is not None:
                    functions[key] = fallback
                else:
                    del functions[key]


class depends(Depends):
    """As Depends; the name that files use."""
