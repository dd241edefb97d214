"""Data as bytes, by msgpack where it is installed."""


def _msgpack():
    try:
        import msgpack
    except ImportError:
        raise ImportError("the module msgpack is missing: install the package python3-msgpack") from None
    return msgpack


def dumps(msg, use_bin_type=False):
    """Return data as bytes."""
    return _msgpack().packb(msg, use_bin_type=use_bin_type, default=_plain)


def loads(msg, encoding=None, raw=False):
    """Return what bytes say."""
    return _msgpack().unpackb(msg, raw=raw, strict_map_key=False)


def dump(msg, fn_):
    """Write data to an open file."""
    fn_.write(dumps(msg, use_bin_type=True))
    fn_.close()


def load(fn_):
    """Read data from an open file."""
    data = fn_.read()
    fn_.close()
    return loads(data) if data else None


def package(payload):
    """Return data as bytes."""
    return dumps(payload)


def unpackage(package_):
    """Return what bytes say."""
    return loads(package_)


def _plain(value):
    """Return a set as a list, and all else that msgpack has not as text."""
    return list(value) if isinstance(value, (set, frozenset)) else str(value)


class Serial:
    """The same as functions of an object."""

    def __init__(self, *args, **kwargs):
        self.loads, self.dumps, self.load, self.dump = loads, dumps, load, dump
