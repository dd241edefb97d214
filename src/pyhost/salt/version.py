"""The version of Salt that this program speaks as, and versions of Salt in general."""
import functools
import platform
import re
import sys

from salt import _host


def _spoken():
    """Return the version, which the build writes beside this file; without it the running program tells."""
    try:
        from salt import _built

        return _built.VERSION
    except ImportError:
        here = _host.host()
        if here is None:
            raise ImportError("salt/_built.py is missing: use the package that `make` writes or that is installed") from None
        return here.grains()["saltversion"]


# Names of releases: (major, minor) while a release was called by its month, then numbers from 3000 on.
_BY_MONTH = {
    "Hydrogen": (2014, 1),
    "Helium": (2014, 7),
    "Lithium": (2015, 5),
    "Beryllium": (2015, 8),
    "Boron": (2016, 3),
    "Carbon": (2016, 11),
    "Nitrogen": (2017, 7),
    "Oxygen": (2018, 3),
    "Fluorine": (2019, 2),
}
_FROM_3000 = (
    "Neon Sodium Magnesium Aluminium Silicon Phosphorus Sulfur Chlorine Argon Potassium Calcium Scandium Titanium Vanadium Chromium "
    "Manganese Iron Cobalt Nickel Copper Zinc Gallium Germanium Arsenic Selenium Bromine Krypton Rubidium Strontium Yttrium Zirconium "
    "Niobium Molybdenum Technetium Ruthenium Rhodium Palladium Silver Cadmium Indium Tin Antimony Tellurium Iodine Xenon"
).split()
_NAMES = dict(_BY_MONTH, **{name: (number,) for number, name in enumerate(_FROM_3000, 3000)})


@functools.total_ordering
class SaltStackVersion:
    """A version of Salt, such as 3006.0, 2019.2.4 or 3006.0rc1+12.gabcdef0."""

    NAMES = _NAMES
    LNAMES = {name.lower(): info for name, info in _NAMES.items()}
    VNAMES = {info: name for name, info in _NAMES.items()}
    RMATCH = {info[:2]: name for name, info in _NAMES.items()}

    git_describe_regex = re.compile(
        r"(?:[^\d]+)?(?P<major>\d{1,4})(?:\.(?P<minor>\d{1,2}))?(?:\.(?P<bugfix>\d{0,2}))?(?:\.(?P<mbugfix>\d{0,2}))?"
        r"(?:(?P<pre_type>rc|a|b|alpha|beta|nb)(?P<pre_num>\d+))?"
        r"(?:(?:.*)(?:\+|-)(?P<noc>(?:\d+|n/a))(?:-|\.)(?P<sha>g?[a-z0-9]{6,40}))?"
    )

    def __init__(self, major, minor=None, bugfix=None, mbugfix=0, pre_type=None, pre_num=None, noc=0, sha=None):
        whole = [None if part in (None, "") else int(part) for part in (major, minor, bugfix)]
        self.major, self.minor, self.bugfix = whole
        if self.bugfix is None and not self.new_version(self.major):
            self.bugfix = 0
        if self.minor is None and self.new_version(self.major) and self.can_have_dot_zero(self.major):
            self.minor = 0
        self.mbugfix = int(mbugfix or 0)
        self.pre_type = pre_type or ""
        self.pre_num = int(pre_num or 0)
        self.noc = -1 if noc == "n/a" else int(noc or 0)
        self.sha = sha

    @staticmethod
    def new_version(major):
        """Say whether a release is called by a number from 3000 on."""
        return bool(major and int(major) >= 3000)

    @staticmethod
    def can_have_dot_zero(major):
        """Say whether a release's first version ends in .0."""
        return bool(major and int(major) >= 3006)

    @classmethod
    def parse(cls, version_string):
        """Return the version that a text tells; ValueError when it tells none."""
        text = version_string.decode() if isinstance(version_string, bytes) else version_string
        if text.startswith("v"):
            text = text[1:]
        found = cls.git_describe_regex.match(text)
        if not found:
            raise ValueError(f"Unable to parse version string: '{version_string}'")
        return cls(*found.groups())

    @classmethod
    def from_name(cls, name):
        """Return the first version of a named release; ValueError for a name that there is not."""
        if name.lower() not in cls.LNAMES:
            raise ValueError(f"Named version '{name}' is not known")
        return cls(*cls.LNAMES[name.lower()])

    @classmethod
    def from_last_named_version(cls):
        """Return the first version of the running release."""
        return cls.from_name(__saltstack_version__.name)

    @classmethod
    def next_release(cls):
        """Return the first version of the release after the running one."""
        return cls(__saltstack_version__.major + 1)

    @property
    def info(self):
        """The numbers, as a tuple."""
        if self.new_version(self.major):
            return (self.major,) if self.minor is None else (self.major, self.minor)
        return (self.major, self.minor, self.bugfix, self.mbugfix)

    def min_info(self):
        """Return the numbers, as a list."""
        return list(self.info)

    @property
    def pre_info(self):
        """The numbers, and the kind and number of a version before the release."""
        return self.info + (self.pre_type, self.pre_num)

    @property
    def noc_info(self):
        """As pre_info, and the commits since."""
        return self.pre_info + (self.noc,)

    @property
    def full_info(self):
        """As noc_info, and the commit."""
        return self.noc_info + (self.sha,)

    @property
    def full_info_all_versions(self):
        """As full_info, with a place for each part."""
        return (self.major, self.minor, self.bugfix, self.mbugfix, self.pre_type, self.pre_num, self.noc, self.sha)

    @property
    def string(self):
        """The version as text."""
        if self.new_version(self.major):
            text = str(self.major) if self.minor is None else f"{self.major}.{self.minor}"
        else:
            text = f"{self.major}.{self.minor}.{self.bugfix}" + (f".{self.mbugfix}" if self.mbugfix else "")
        if self.pre_type:
            text += f"{self.pre_type}{self.pre_num}"
        if self.noc and self.sha:
            text += "+{}.{}".format("0na" if self.noc < 0 else self.noc, self.sha)
        return text

    @property
    def formatted_version(self):
        """The version as text, with the release's name."""
        return f"{self.string} ({self.name})" if self.name else self.string

    @property
    def sse(self):
        """The version as text, with "Enterprise" for one of those."""
        return self.string

    @property
    def name(self):
        """The release's name, or None."""
        return self.RMATCH.get((self.major,) if self.new_version(self.major) else (self.major, self.minor))

    @property
    def released(self):
        """Say whether the release is out, as far as this program knows."""
        return self.info[:1] <= __saltstack_version__.info[:1]

    def __str__(self):
        return self.string

    def _rank(self):
        """Return what versions are ordered by: one before a release is below it."""
        numbers = (self.major, self.minor or 0, self.bugfix or 0, self.mbugfix)
        return numbers, (0, self.pre_type, self.pre_num) if self.pre_type else (1, "", 0), self.noc

    @staticmethod
    def _of(other):
        if isinstance(other, SaltStackVersion):
            return other
        if isinstance(other, (str, bytes)):
            return SaltStackVersion.parse(other)
        if isinstance(other, (list, tuple)):
            return SaltStackVersion(*other)
        raise ValueError(f"Cannot instantiate Version from type '{type(other)}'")

    def __eq__(self, other):
        return self._rank() == self._of(other)._rank()

    def __lt__(self, other):
        return self._rank() < self._of(other)._rank()

    def __hash__(self):
        return hash(self._rank())

    def __repr__(self):
        name = f"name='{self.name}' " if self.name else ""
        parts = [f"{part}={getattr(self, part)}" for part in ("major", "minor", "bugfix") if getattr(self, part) is not None]
        return "<{} {}{}>".format(type(self).__name__, name, " ".join(parts))


class _Releases(type):
    """Releases by their names in capitals, as SaltVersionsInfo.SULFUR."""

    def __getattr__(cls, name):
        if name.lower() in SaltStackVersion.LNAMES:
            return SaltStackVersion.from_name(name)
        raise AttributeError(f"no release has the name {name!r}")

    def versions(cls):
        """Return all releases in their order."""
        return sorted(map(SaltStackVersion.from_name, SaltStackVersion.NAMES))

    def current_release(cls):
        """Return the running release."""
        return SaltStackVersion.from_name(__saltstack_version__.name)

    def next_release(cls):
        """Return the release after the running one."""
        return SaltStackVersion.next_release()

    def previous_release(cls):
        """Return the release before the running one."""
        return SaltStackVersion(__saltstack_version__.major - 1)


class SaltVersionsInfo(metaclass=_Releases):
    """The releases of Salt."""


__saltstack_version__ = SaltStackVersion.parse(_spoken())
__version_info__ = __saltstack_version__.info
__version__ = __saltstack_version__.string


def salt_information():
    """Yield the name and number of this program."""
    yield "Salt", __version__


def system_information():
    """Yield facts about the system, as (name, value)."""
    yield "system", platform.system()
    yield "release", platform.release()
    yield "machine", platform.machine()
    yield "version", platform.version()


def dependency_information(include_salt_cloud=False):
    """Yield names and versions of what this program runs on."""
    yield "Python", sys.version.rsplit("\n", 1)[0]


def versions_information(include_salt_cloud=False, include_extensions=True):
    """Return names and versions of program, libraries and system."""
    return {
        "Salt Version": dict(salt_information()),
        "Dependency Versions": dict(dependency_information()),
        "System Versions": dict(system_information()),
    }


def versions_report(include_salt_cloud=False, include_extensions=True):
    """Yield lines that tell all versions."""
    for title, rows in versions_information().items():
        yield f"{title}:"
        width = max(map(len, rows))
        for name, value in rows.items():
            yield f"{name:>{width + 2}}: {value}"
        yield ""
