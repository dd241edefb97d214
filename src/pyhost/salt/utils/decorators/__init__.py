"""Decorators for functions of modules."""
import functools
import logging
import time

from salt.exceptions import SaltInvocationError
from salt.utils._memoize import memoize  # noqa: F401
from salt.utils.decorators._deprecation import is_deprecated, with_deprecated  # noqa: F401
from salt.utils.decorators._depends import Depends, depends  # noqa: F401

log = logging.getLogger(__name__)


def timing(function):
    """Log how long each call of a function takes."""

    @functools.wraps(function)
    def timed(*args, **kwargs):
        start = time.time()
        ret = function(*args, **kwargs)
        place = function.__module__.replace("salt.loaded.int.", "")
        log.profile("Function %s.%s took %.20f seconds to execute", place, function.__name__, time.time() - start)
        return ret

    return timed


def _check_given(names, kwargs, some):
    given = [name for name in names if kwargs.get(name) is not None]
    if len(given) > 1:
        raise SaltInvocationError("Only one of the following is allowed: {}".format(", ".join(names)))
    if some and not given:
        raise SaltInvocationError("One of the following must be provided: {}".format(", ".join(names)))


def allow_one_of(*kwarg_names):
    """Refuse calls with more than one of these arguments."""

    def wrapper(func):
        @functools.wraps(func)
        def checked(*args, **kwargs):
            _check_given(kwarg_names, kwargs, some=False)
            return func(*args, **kwargs)

        return checked

    return wrapper


def require_one_of(*kwarg_names):
    """Refuse calls without exactly one of these arguments."""

    def wrapper(func):
        @functools.wraps(func)
        def checked(*args, **kwargs):
            _check_given(kwarg_names, kwargs, some=True)
            return func(*args, **kwargs)

        return checked

    return wrapper


def ignores_kwargs(*kwarg_names):
    """Drop these arguments before the function is called."""

    def wrapper(func):
        @functools.wraps(func)
        def without(*args, **kwargs):
            return func(*args, **{k: v for k, v in kwargs.items() if k not in kwarg_names})

        return without

    return wrapper


def ensure_unicode_args(function):
    """Call a function with text in place of bytes."""

    @functools.wraps(function)
    def with_text(*args, **kwargs):
        from salt.utils import data

        return function(*data.decode_list(list(args)), **data.decode_dict(kwargs))

    return with_text


def external(func):
    """Mark a function as one that may be called from outside."""
    func.external = True
    return func


def __getattr__(name):
    """Import a file of this folder when it is first named."""
    import importlib

    return importlib.import_module("salt._lazy").submodule(__name__, name)
