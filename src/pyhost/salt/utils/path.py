"""Paths, and programs in PATH."""
import os
import posixpath
import re

from salt.exceptions import CommandNotFoundError
from salt.utils import files, stringutils

FILE_OPEN_REPARSE_POINT = 0


def islink(path):
    """Say whether a path is a symbolic link."""
    return os.path.islink(path)


def readlink(path):
    """Return what a symbolic link points to."""
    return os.readlink(path)


def expand(path):
    """Return a path with ~ and variables replaced."""
    return os.path.expandvars(os.path.expanduser(path))


def _runnable(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def which(exe=None):
    """Return the path of a program in PATH, or None."""
    if not exe:
        return None
    exe = stringutils.to_str(exe)
    if _runnable(exe) and os.path.dirname(exe):
        return exe
    more = "/bin:/sbin:/usr/bin:/usr/sbin:/usr/local/bin"
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders += [folder for folder in more.split(":") if folder not in folders]
    if os.path.isabs(exe):
        return None
    for folder in folders:
        path = os.path.join(os.path.abspath(folder), exe)
        if _runnable(path):
            return path
    return None


def which_bin(exes):
    """Return the path of the first of these programs that is there, or None."""
    if isinstance(exes, str):
        exes = [exes]
    if not hasattr(exes, "__iter__"):
        return None
    return next((path for path in map(which, exes) if path is not None), None)


def check_or_die(command):
    """Raise CommandNotFoundError when a program is not in PATH."""
    if command is None:
        raise CommandNotFoundError("'None' is not a valid command.")
    if not which(command):
        raise CommandNotFoundError(f"'{command}' is not in the path")


def join(*parts, **kwargs):
    """Return parts as one path; a slash at the start of a later part does not begin anew."""
    root, *rest = (stringutils.to_str(part) for part in parts)
    if kwargs.pop("use_posixpath", False):
        return posixpath.normpath(posixpath.join(root, *(part.lstrip("/") for part in rest)))
    if not rest:
        return os.path.normpath(root)
    return os.path.normpath(os.path.join(root, *(part.lstrip(os.sep) for part in rest)))


def sanitize_win_path(winpath):
    """Return a path without the characters that Windows refuses."""
    return re.sub(r"[<>|*?:]", "_", winpath) if isinstance(winpath, str) else winpath


def safe_path(path, allow_path=None):
    """Say whether a path is none that Windows itself needs."""
    return bool(allow_path and allow_path in path) or not re.match(r"[A-Za-z]:\\?$", path)


def os_walk(top, *args, **kwargs):
    """Walk a folder as os.walk does, with text for names."""
    for root, dirs, names in os.walk(stringutils.to_str(top), *args, **kwargs):
        yield root, dirs, names


safe_walk = files.safe_walk
