"""Questions about files in memory."""
import io

readable_types = writable_types = (io.StringIO,)


def is_stringio(obj):
    """Say whether something is a text file in memory."""
    return isinstance(obj, readable_types)


def is_readable(obj):
    """Say whether something is a text file in memory that can be read."""
    return isinstance(obj, readable_types) and obj.readable()


def is_writable(obj):
    """Say whether something is a text file in memory that can be written."""
    return isinstance(obj, writable_types) and obj.writable()
