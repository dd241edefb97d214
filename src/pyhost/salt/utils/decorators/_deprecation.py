"""Decorators for functions that will go, or have gone."""
import functools
import logging

from salt.exceptions import CommandExecutionError, SaltInvocationError

log = logging.getLogger(__name__)


def _version_info(version):
    """Return (a version's number as a tuple, the running version's)."""
    from salt import version as versions

    return versions.SaltStackVersion.from_name(version).info, versions.__saltstack_version__.info


class _Deprecation:
    """Base of the decorators: until `version` a call is warned of, from then on refused."""

    def __init__(self, globals, version):
        self._globals = globals
        self._version = version

    @property
    def _expired(self):
        goal, now = _version_info(self._version)
        return now >= goal

    def _call(self, function, args, kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as exc:
            raise SaltInvocationError(f'Unhandled exception occurred in function "{function.__name__}": {exc}') from exc


class is_deprecated(_Deprecation):
    """A function that will go: its name stays until the version."""

    def __init__(self, globals, version, with_successor=None):
        super().__init__(globals, version)
        self._successor = with_successor

    def __call__(self, function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            name = function.__name__
            if self._expired:
                text = f'The lifetime of the function "{name}" expired.'
                if self._successor:
                    text += f' Please use its successor "{self._successor}" instead.'
                log.warning(text)
                raise CommandExecutionError(text)
            text = f'The function "{name}" is deprecated and will expire in version "{self._version}".'
            if self._successor:
                text += f' Use its successor "{self._successor}" instead.'
            log.warning(text)
            return self._call(function, args, kwargs)

        return called


class with_deprecated(_Deprecation):
    """A new function that stands beside the old one; the option use_deprecated or use_superseded chooses."""

    OPT_IN, OPT_OUT = 1, 2
    MODULE_NAME = "__virtualname__"
    CFG_USE_DEPRECATED = "use_deprecated"
    CFG_USE_SUPERSEDED = "use_superseded"

    def __init__(self, globals, version, with_name=None, policy=OPT_OUT):
        super().__init__(globals, version)
        self._name = with_name
        self._policy = policy

    def _old_is_wanted(self, name):
        opts = self._globals.get("__opts__", {})
        pillar = self._globals.get("__pillar__", {})
        module = self._globals.get("__virtualname__") or self._globals["__name__"].rsplit(".", 1)[-1]
        full = f"{module}.{name}"

        def lists(option):
            return full in (opts.get(option) or ()) or full in (pillar.get(option) or ())

        return lists(self.CFG_USE_DEPRECATED) if self._policy == self.OPT_OUT else not lists(self.CFG_USE_SUPERSEDED)

    def __call__(self, function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            name = function.__name__
            old = self._globals.get(self._name or f"_{name}")
            if self._old_is_wanted(name):
                if self._expired or old is None:
                    raise CommandExecutionError(f'The lifetime of the function "{self._name or name}" expired.')
                log.warning('The function "%s" is using its deprecated version and will expire in version "%s".', name, self._version)
                return self._call(old, args, kwargs)
            return self._call(function, args, kwargs)

        return called
