"""Names and paths that come from others."""
import os
import re

_DOTS = re.compile(r"^\.*$")


def valid_id(opts, id_):
    """Say whether a text can be a minion's id."""
    if not isinstance(id_, str) or not id_ or "/" in id_ or "\\" in id_ or "\0" in id_ or _DOTS.match(id_):
        return False
    return bool(clean_path(opts.get("pki_dir") or "/", id_))


def clean_path(root, path, subdir=False):
    """Return a path when it is below a folder, else an empty text."""
    root = os.path.realpath(root)
    if not os.path.isabs(root):
        return ""
    whole = os.path.normpath(path if os.path.isabs(path) else os.path.join(root, path))
    real = os.path.realpath(whole)
    if subdir:
        return real if real.startswith(root.rstrip("/") + "/") else ""
    return real if os.path.dirname(real) == root else ""


def check_user(user):
    """Say whether this process runs as a user, which it becomes when it can."""
    from salt.utils import user as salt_user

    if user == salt_user.get_user():
        return True
    if os.getuid() != 0:
        return False
    salt_user.chugid(user)
    return True


def safe_py_code(code):
    """Say whether a text has none of the words by which Python reaches the system."""
    words = ("import", "pytest.", "subprocess", "exec(", "eval(", "compile(", "open(", "__")
    return not any(word in code for word in words)


def verify_env(dirs, user, permissive=False, pki_dir="", skip_extra=False, root_dir="/"):
    """Make folders of a user's."""
    import pwd

    record = pwd.getpwnam(user)
    for path in dirs:
        if path:
            os.makedirs(path, mode=0o750, exist_ok=True)
            if os.getuid() == 0:
                os.chown(path, record.pw_uid, record.pw_gid)
