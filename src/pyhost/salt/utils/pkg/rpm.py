"""Packages of RPM."""
import collections
import datetime
import platform

ARCHES_64 = ("x86_64", "athlon", "amd64", "ia32e", "ia64", "geode")
ARCHES_32 = ("i386", "i486", "i586", "i686")
ARCHES_PPC = ("ppc", "ppc64", "ppc64le", "ppc64iseries", "ppc64pseries")
ARCHES_S390 = ("s390", "s390x")
ARCHES_SPARC = ("sparc", "sparcv8", "sparcv9", "sparcv9v", "sparc64", "sparc64v")
ARCHES_ALPHA = ("alpha", "alphaev4", "alphaev45", "alphaev5", "alphaev56", "alphapca56", "alphaev6", "alphaev67", "alphaev68", "alphaev7")
ARCHES_ARM_32 = ("armv5tel", "armv5tejl", "armv6l", "armv6hl", "armv7l", "armv7hl", "armv7hnl")
ARCHES_ARM_64 = ("aarch64",)
ARCHES_SH = ("sh3", "sh4", "sh4a")
ARCHES = (ARCHES_64 + ARCHES_32 + ARCHES_PPC + ARCHES_S390 + ARCHES_ALPHA + ARCHES_ARM_32 + ARCHES_ARM_64 + ARCHES_SH)
QUERYFORMAT = "%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-%{REPOID}_|-%{INSTALLTIME}"

_PkgInfo = collections.namedtuple("PkgInfo", "name version arch repoid install_date install_date_time_t")


def get_osarch():
    """Return the architecture of the system's packages."""
    return platform.machine() or "unknown"


def check_32(arch, osarch=None):
    """Say whether an architecture is one of 32 bits on a system of 32 bits."""
    return (osarch or get_osarch()) in ARCHES_32 and arch in ARCHES_32


def pkginfo(name, version, arch, repoid, install_date=None, install_date_time_t=None):
    """Return facts of a package as a named tuple."""
    return _PkgInfo(name, version, arch, repoid, install_date, install_date_time_t)


def resolve_name(name, arch, osarch=None):
    """Return a package's name, with the architecture where it is another than the system's."""
    osarch = osarch or get_osarch()
    return name if check_32(arch, osarch) or arch in (osarch, "noarch") else f"{name}.{arch}"


def parse_pkginfo(line, osarch=None):
    """Return facts of a package of a line in QUERYFORMAT, or None for another line."""
    parts = line.split("_|-")
    if len(parts) != 7:
        return None
    name, epoch, version, release, arch, repoid, installed = parts
    version = f"{epoch}:{version}" if epoch not in ("(none)", "0") else version
    version += f"-{release}" if release else ""
    seconds = int(installed) if installed.isdigit() and installed != "0" else None
    date = None
    if seconds is not None:
        date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return pkginfo(resolve_name(name, arch, osarch), version, arch, repoid, date, seconds)


def combine_comments(comments):
    """Return lines as comments of a configuration."""
    lines = comments if isinstance(comments, list) else [comments]
    return "".join(f"{line if line.startswith('#') else '# ' + line}".rstrip("\n") + "\n" for one in lines for line in one.splitlines())


def version_to_evr(verstring):
    """Return (epoch, version, release) of a text."""
    if verstring in (None, ""):
        return "0", "", ""
    epoch, sep, rest = verstring.partition(":")
    epoch, rest = (epoch, rest) if sep and epoch.isdigit() else ("0", verstring if not sep else rest)
    version, sep, release = rest.partition("-")
    return epoch, version, release
