"""Versions of packages as states name them."""
import os
import re

from salt.utils import data, files
from salt.utils.versions import compare

_OPERATORS = {"": "==", "=": "==", ">>": ">", "<<": "<", "<>": "!="}


def rtag(opts):
    """Return the path of the file that says that packages were listed anew in this run."""
    return os.path.join(opts["cachedir"], "pkg_refresh")


def clear_rtag(opts):
    """Remove that file."""
    files.remove(rtag(opts))


def write_rtag(opts):
    """Write that file."""
    with files.fopen(rtag(opts), "w"):
        pass


def check_refresh(opts, refresh=None):
    """Say whether packages are to be listed anew."""
    return bool(data.is_true(refresh) or (os.path.isfile(rtag(opts)) and refresh is not False))


def split_comparison(version):
    """Return (operator, version) of a text such as ">=1.2"."""
    found = re.match(r"^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$", version)
    if found is None:
        return "", version
    return found.group(1) or "", found.group(2)


def match_version(desired, available, cmp_func=None, ignore_epoch=False):
    """Return the first of several versions that fits one that is wanted, or None."""
    oper, version = split_comparison(desired)
    for candidate in available:
        if compare(candidate, _OPERATORS.get(oper, oper), version, cmp_func=cmp_func, ignore_epoch=ignore_epoch):
            return candidate
    return None


def check_bundled():
    """Say whether this program brings its own Python, which it does not."""
    return False
