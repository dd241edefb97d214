"""Walking through texts and files by pieces."""
import fnmatch
import re

from salt.utils import files


def split(orig, sep=None):
    """Yield the parts of a text, as its method split returns them."""
    if sep == "":
        raise ValueError("empty separator")
    if not orig:
        return
    pattern = re.compile(r"\s+" if sep is None else re.escape(sep))
    at = 0
    for found in pattern.finditer(orig):
        if at < found.start() or sep is not None:
            yield orig[at : found.start()]
        at = found.end()
    if at < len(orig) or sep is not None:
        yield orig[at:]


def read_file(fh_, chunk_size=1048576):
    """Yield the pieces of a file, which is named or open."""
    file = fh_ if hasattr(fh_, "read") else files.fopen(fh_, "rb")
    try:
        chunk = file.read(chunk_size)
        while chunk:
            yield chunk
            chunk = file.read(chunk_size)
    finally:
        file.close()


def fnmatch_multiple(candidates, pattern):
    """Return the first of several names that fits a glob, or None."""
    try:
        return next((name for name in candidates if fnmatch.fnmatch(name, pattern)), None)
    except (TypeError, AttributeError):
        return None
