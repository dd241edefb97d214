"""Decorators for functions that need a program."""
import functools

from salt.exceptions import CommandNotFoundError


def _refuse_without(find, what):
    def wrapper(function):
        def checked(*args, **kwargs):
            if find(what) is None:
                raise CommandNotFoundError(f"The '{what}' binary was not found in $PATH." if isinstance(what, str)
                                           else "None of provided binaries ({}) was found in $PATH.".format([str(w) for w in what]))
            return function(*args, **kwargs)

        return functools.wraps(function)(checked)

    return wrapper


def which(exe):
    """Refuse calls while a program is not in PATH."""
    from salt.utils import path

    return _refuse_without(path.which, exe)


def which_bin(exes):
    """Refuse calls while none of these programs is in PATH."""
    from salt.utils import path

    return _refuse_without(path.which_bin, exes)
