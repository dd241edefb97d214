"""Whether paths can be used."""
import os


def is_writeable(path, check_parent=False):
    """Say whether a path can be written; with check_parent also whether it could be made."""
    if os.access(path, os.F_OK) and os.access(path, os.W_OK):
        return True
    if os.access(path, os.F_OK) or not check_parent:
        return False
    parent = os.path.dirname(path) or os.getcwd()
    return os.access(parent, os.F_OK) and os.access(parent, os.W_OK)


def is_readable(path):
    """Say whether a path can be read."""
    return os.access(path, os.F_OK) and os.access(path, os.R_OK)


def is_executable(path):
    """Say whether a path can be run."""
    return os.access(path, os.F_OK) and os.access(path, os.X_OK)
