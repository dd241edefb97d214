"""Users and groups."""
import getpass
import grp
import logging
import os
import pwd

from salt.exceptions import CommandExecutionError
from salt.utils import files

log = logging.getLogger(__name__)
HAS_PWD = HAS_GRP = True


def get_user():
    """Return the name of the user of this process."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return getpass.getuser()


def get_uid(user=None):
    """Return a user's number, by default this process's; None for a user that there is not."""
    if user is None:
        return os.geteuid()
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_specific_user():
    """Return the name of the user, with sudo_ before that of the one who called sudo."""
    user = get_user()
    if user == "root" and os.environ.get("SUDO_USER", "root") != "root":
        return "sudo_" + os.environ["SUDO_USER"]
    return user


def get_gid(group=None):
    """Return a group's number, by default this process's; None for a group that there is not."""
    if group is None:
        return os.getegid()
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def get_default_group(user):
    """Return the name of a user's own group."""
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def get_group_list(user, include_default=True):
    """Return the names of a user's groups, in order."""
    try:
        own = pwd.getpwnam(user).pw_gid
    except KeyError:
        return []
    names = {grp.getgrgid(gid).gr_name for gid in os.getgrouplist(user, own) if _has_name(gid)}
    if not include_default:
        names.discard(grp.getgrgid(own).gr_name)
    return sorted(names)


def _has_name(gid):
    try:
        grp.getgrgid(gid)
        return True
    except KeyError:
        return False


def get_group_dict(user=None, include_default=True):
    """Return {group: number} of a user's groups, or of all groups."""
    if user is None:
        return {one.gr_name: one.gr_gid for one in grp.getgrall()}
    return {name: grp.getgrnam(name).gr_gid for name in get_group_list(user, include_default)}


def get_gid_list(user, include_default=True):
    """Return the numbers of a user's groups, in order."""
    return sorted(get_group_dict(user, include_default).values())


def chugid(runas, group=None):
    """Become another user, with that user's groups."""
    record = pwd.getpwnam(runas)
    gid = grp.getgrnam(group).gr_gid if group else record.pw_gid
    try:
        if os.geteuid() == 0 or sorted(os.getgroups()) != sorted(os.getgrouplist(runas, gid)):
            os.setgroups(os.getgrouplist(runas, gid))
        if os.getgid() != gid:
            os.setgid(gid)
        if os.getuid() != record.pw_uid:
            os.setuid(record.pw_uid)
    except OSError as exc:
        raise CommandExecutionError(f"Failed to change to the user {runas}. {exc}") from exc


def chugid_and_umask(runas, umask, group=None):
    """Become another user and have another umask; either may be None."""
    if runas is not None and runas != get_user() or group is not None:
        chugid(runas or get_user(), group)
    if umask is not None:
        os.umask(umask)


get_umask = files.get_umask
