"""What the module mount keeps of fstab's settings."""
import os

from salt.utils import files, yaml


def get_cache(opts):
    """Return the path of the file."""
    return os.path.join(opts["cachedir"], "mounts")


def read_cache(opts):
    """Return what the file says."""
    path = get_cache(opts)
    if not os.path.isfile(path):
        return {}
    with files.fopen(path) as text:
        return yaml.safe_load(text) or {}


def write_cache(cache, opts):
    """Write the file; says whether that worked."""
    try:
        with files.fopen(get_cache(opts), "w") as out:
            yaml.safe_dump(cache, out)
    except OSError:
        return False
    return True
