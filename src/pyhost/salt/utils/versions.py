"""Versions, and warnings of what will change with one."""
import datetime
import functools
import inspect
import logging
import re
import sys
import warnings

from salt.version import SaltStackVersion, SaltVersionsInfo, __saltstack_version__

log = logging.getLogger(__name__)


@functools.total_ordering
class _Version:
    """Base of versions that can be compared with each other and with texts."""

    def __init__(self, *args, **kwargs):
        vstring = args[0] if args else kwargs.get("vstring")
        if vstring is not None:
            self.parse(str(vstring))

    def _key(self):
        raise NotImplementedError("a kind of version says how it compares")

    def _of(self, other):
        if isinstance(other, (str, bytes)):
            other = type(self)(other if isinstance(other, str) else other.decode())
        return other._key() if isinstance(other, _Version) else None

    def __eq__(self, other):
        theirs = self._of(other)
        return NotImplemented if theirs is None else self._key() == theirs

    def __lt__(self, other):
        theirs = self._of(other)
        return NotImplemented if theirs is None else self._key() < theirs

    def _cmp(self, other):
        theirs, ours = self._of(other), self._key()
        return NotImplemented if theirs is None else (ours > theirs) - (ours < theirs)

    def __hash__(self):
        return hash(str(self))

    def __repr__(self):
        return f"{type(self).__name__} ('{self}')"


class LooseVersion(_Version):
    """A version of any form: numbers compare as numbers, other parts as text after them."""

    def parse(self, vstring):
        """Take a version apart: `version` are its parts."""
        self.vstring = vstring
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]
        self._str_version = [str(part).zfill(8) if isinstance(part, int) else f"*{part}" for part in self.version]

    def _key(self):
        return self._str_version

    def __str__(self):
        return self.vstring


class StrictVersion(_Version):
    """A version such as 1.2, 1.2.3 or 1.2a1."""

    version_re = re.compile(r"^(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?$", re.ASCII)

    def parse(self, vstring):
        """Take a version apart; ValueError when it is none."""
        found = self.version_re.match(vstring)
        if not found:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, patch, kind, number = found.groups()
        self.version = (int(major), int(minor), int(patch or 0))
        self.prerelease = (kind, int(number)) if kind else None

    def _key(self):
        return self.version, self.prerelease or ("z", 0)

    def __str__(self):
        text = ".".join(map(str, self.version if self.version[2] else self.version[:2]))
        return text + ("" if self.prerelease is None else f"{self.prerelease[0]}{self.prerelease[1]}")


class Version(StrictVersion):
    """As StrictVersion, and any other number of parts."""

    def parse(self, vstring):
        """Take a version apart."""
        found = re.match(r"^v?(\d+(?:\.\d+)*)", vstring)
        if not found:
            raise ValueError(f"invalid version number '{vstring}'")
        self.vstring = vstring
        self.version = tuple(int(part) for part in found.group(1).split("."))
        self.prerelease = None if found.end() == len(vstring) else (vstring[found.end() :], 0)

    def __str__(self):
        return self.vstring


# ---- comparing ----------------------------------------------------------------------------------------------


def _without_epoch(version):
    return version.split(":", 1)[-1]


def version_cmp(pkg1, pkg2, ignore_epoch=False):
    """Return -1, 0 or 1 as a version is below, equal to or above another one; None when they can't be compared."""
    first, second = (_without_epoch(str(one)) if ignore_epoch else str(one) for one in (pkg1, pkg2))
    a, b = LooseVersion(first), LooseVersion(second)
    try:
        return a._cmp(b)
    except TypeError as exc:
        log.exception(exc)
        return None


def compare(ver1="", oper="==", ver2="", cmp_func=None, ignore_epoch=False):
    """Say whether ver1 stands to ver2 as an operator says."""
    rows = {"<": (-1,), "<=": (-1, 0), "==": (0,), ">=": (0, 1), ">": (1,), "!=": (-1, 1)}
    if oper not in rows:
        return False
    if cmp_func is None:
        cmp_func = version_cmp
    result = cmp_func(ver1, ver2, ignore_epoch=ignore_epoch)
    return result in rows[oper] if result is not None else False


# ---- warnings -----------------------------------------------------------------------------------------------


def warn_until(version, message, category=DeprecationWarning, stacklevel=None, _version_info_=None, _dont_call_warnings=False):
    """Warn until a version; from then on the call itself is a fault."""
    if isinstance(version, int):
        version = SaltStackVersion(version)
    elif isinstance(version, (tuple, list)):
        version = SaltStackVersion(*version)
    elif isinstance(version, str):
        version = SaltStackVersion.from_name(version) if version.lower() in SaltStackVersion.LNAMES else SaltStackVersion.parse(version)
    elif not isinstance(version, SaltStackVersion):
        raise RuntimeError("The 'version' argument should be passed as a tuple, integer, string or an instance of SaltStackVersion")
    now = __saltstack_version__ if _version_info_ is None else SaltStackVersion(*_version_info_)
    stacklevel = 2 if stacklevel is None else stacklevel
    if now >= version:
        frame = inspect.getframeinfo(sys._getframe(stacklevel - 1))
        raise RuntimeError(
            f"The warning triggered on filename '{frame.filename}', line number {frame.lineno}, is supposed to be shown until version "
            f"{version.formatted_version} is released. Current version is now {now.formatted_version}. Please remove the warning."
        )
    if not _dont_call_warnings:
        warnings.warn(message.format(version=version.formatted_version), category, stacklevel=stacklevel + 1)


def warn_until_date(date, message, category=DeprecationWarning, stacklevel=None, _current_date=None, _dont_call_warnings=False):
    """Warn until a day; from then on the call itself is a fault."""
    if isinstance(date, str):
        date = datetime.datetime.strptime(date, "%Y%m%d")
    day = date.date() if isinstance(date, datetime.datetime) else date
    if not isinstance(day, datetime.date):
        raise RuntimeError("The 'date' argument should be passed as a 'datetime.date()' or 'datetime.datetime()' objects or as string "
                           "parserable by 'datetime.datetime.strptime()' with the following format '%Y%m%d'.")
    today = _current_date or datetime.date.today()
    today = today.date() if isinstance(today, datetime.datetime) else today
    stacklevel = 2 if stacklevel is None else stacklevel
    if today >= day:
        frame = inspect.getframeinfo(sys._getframe(stacklevel - 1))
        raise RuntimeError(f"{message.format(date=day.isoformat(), today=today.isoformat())} This warning(now exception) triggered on filename "
                           f"'{frame.filename}', line number {frame.lineno}, is supposed to be shown until {day.isoformat()}. "
                           f"Today is {today.isoformat()}. Please remove the warning.")
    if not _dont_call_warnings:
        warnings.warn(message.format(date=day.isoformat(), today=today.isoformat()), category, stacklevel=stacklevel + 1)


def kwargs_warn_until(kwargs, version, category=DeprecationWarning, stacklevel=None, _version_info_=None, _dont_call_warnings=False):
    """Warn, until a version, of arguments that are not looked at."""
    if not kwargs:
        return
    names = ", ".join(f"'{name}'" for name in sorted(kwargs) if not name.startswith("__"))
    if names:
        warn_until(version, f"The following parameter(s) have been deprecated and will be removed in '{{version}}': {names}.",
                   category, (stacklevel or 2) + 1, _version_info_, _dont_call_warnings)


def check_boto_reqs(boto_ver=None, boto3_ver=None, botocore_ver=None, check_boto=True, check_boto3=True):
    """Say whether the libraries for Amazon's services are there, and new enough."""
    import importlib

    wanted = [("boto", boto_ver or "2.0.0")] if check_boto else []
    wanted += [("boto3", boto3_ver or "1.2.6"), ("botocore", botocore_ver or "1.3.24")] if check_boto3 else []
    for name, least in wanted:
        try:
            have = importlib.import_module(name)
        except ImportError:
            return False, f"Missing library: {name}"
        if version_cmp(have.__version__, least) == -1:
            return False, f"{name} {have.__version__} is too old, it must be at least {least}"
    return True


__all__ = ["LooseVersion", "StrictVersion", "Version", "compare", "version_cmp", "warn_until", "warn_until_date", "kwargs_warn_until",
           "check_boto_reqs", "SaltStackVersion", "SaltVersionsInfo"]
