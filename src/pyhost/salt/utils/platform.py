"""Which system this is."""
import os
import sys

from salt.utils._memoize import memoize as real_memoize


@real_memoize
def is_proxy():
    """Say whether this is a proxy minion, of which there are none."""
    return False


@real_memoize
def is_windows():
    """Say whether this is Windows."""
    return sys.platform.startswith(("win32", "cygwin"))


@real_memoize
def is_linux():
    """Say whether this is Linux."""
    return sys.platform.startswith("linux")


@real_memoize
def is_darwin():
    """Say whether this is macOS."""
    return sys.platform.startswith("darwin")


@real_memoize
def is_sunos():
    """Say whether this is a Solaris."""
    return sys.platform.startswith("sunos")


def _uname_says(word):
    return is_sunos() and word in os.uname().version


@real_memoize
def is_smartos():
    """Say whether this is SmartOS."""
    return _uname_says("joyent_")


def _zone():
    if not is_smartos():
        return ""
    import subprocess

    return subprocess.run(["zonename"], stdout=subprocess.PIPE, check=False).stdout.decode().strip()


@real_memoize
def is_smartos_globalzone():
    """Say whether this is the global zone of SmartOS."""
    return _zone() == "global"


@real_memoize
def is_smartos_zone():
    """Say whether this is a zone of SmartOS."""
    return _zone() not in ("", "global")


@real_memoize
def is_junos():
    """Say whether this is Junos."""
    return os.uname().release.startswith("JNPR")


@real_memoize
def is_freebsd():
    """Say whether this is FreeBSD."""
    return sys.platform.startswith("freebsd")


@real_memoize
def is_netbsd():
    """Say whether this is NetBSD."""
    return sys.platform.startswith("netbsd")


@real_memoize
def is_openbsd():
    """Say whether this is OpenBSD."""
    return sys.platform.startswith("openbsd")


@real_memoize
def is_aix():
    """Say whether this is AIX."""
    return sys.platform.startswith("aix")


def _os_release():
    """Return /etc/os-release as a dictionary."""
    for path in "/etc/os-release", "/usr/lib/os-release":
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                pairs = [line.strip().split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
            return {name: value.strip("\"'") for name, value in pairs}
    return {}


@real_memoize
def is_fedora():
    """Say whether this is Fedora."""
    return _os_release().get("ID") == "fedora"


@real_memoize
def is_photonos():
    """Say whether this is Photon OS."""
    return _os_release().get("ID") == "photon"


@real_memoize
def is_aarch64():
    """Say whether the processor is a 64-bit ARM."""
    return os.uname().machine.startswith("aarch64")


def linux_distribution(full_distribution_name=True):
    """Return (name, version, code name) of a Linux distribution."""
    release = _os_release()
    name = release.get("NAME" if full_distribution_name else "ID", "")
    return name, release.get("VERSION_ID", ""), release.get("VERSION_CODENAME", "")


def spawning_platform():
    """Say whether new processes begin anew rather than as forks."""
    import multiprocessing

    return multiprocessing.get_start_method(allow_none=False) == "spawn"
