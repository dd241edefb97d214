"""systemd."""
import logging
import os
import re
import subprocess

from salt.exceptions import SaltInvocationError
from salt.utils import path

log = logging.getLogger(__name__)


def _kept(context, key, find):
    """Return a value that __context__ keeps."""
    name = f"salt.utils.systemd.{key}"
    if isinstance(context, dict) and name in context:
        return context[name]
    value = find()
    if isinstance(context, dict):
        context[name] = value
    return value


def _check(context):
    if context is not None and not isinstance(context, dict) and not hasattr(context, "__getitem__"):
        raise SaltInvocationError("context must be a dictionary if passed")


def booted(context=None):
    """Say whether the system was booted with systemd."""
    _check(context)
    return _kept(context, "booted", lambda: os.path.isdir("/run/systemd/system"))


def offline(context=None):
    """Say whether systemd can only be configured, as in a chroot."""
    _check(context)

    def find():
        if os.environ.get("SYSTEMD_OFFLINE", "").lower() in ("1", "yes", "true", "on"):
            return True
        try:
            ours, first = os.stat("/"), os.stat("/proc/1/root/.")
            return (ours.st_dev, ours.st_ino) != (first.st_dev, first.st_ino)
        except OSError:
            return False

    return _kept(context, "offline", find)


def version(context=None):
    """Return systemd's version as a number, or None."""
    _check(context)

    def find():
        try:
            said = subprocess.run(["systemctl", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()
            return int(re.search(r"\w+ ([0-9]+)", said).group(1))
        except (OSError, AttributeError):
            log.error("Unable to determine systemd version from systemctl --version")
            return None

    found = _kept(context, "version", find)
    if found is None and isinstance(context, dict):
        context.pop("salt.utils.systemd.version", None)
    return found


def has_scope(context=None):
    """Say whether systemd-run has the option --scope."""
    if not booted(context):
        return False
    found = version(context)
    return found is not None and found >= 205


def pid_to_service(pid):
    """Return the name of the service that a process belongs to, or None."""
    if not path.which("systemctl"):
        return None
    said = subprocess.run(["systemctl", "--output", "json", "status", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode(errors="replace")
    found = re.search(r"^\S*\s*(\S+?)\.service\b", said)
    return found.group(1) if found else None
