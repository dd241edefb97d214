"""Data with bytes as data with text, and back: the functions decode and encode of salt.utils.data."""
from collections.abc import Mapping

from salt.utils import stringutils


def _walk(data, leaf, same_class, tuples, seen=()):
    """Return a copy of data with `leaf` applied to all that is no container; a cycle becomes None."""
    if id(data) in seen:
        return None
    if isinstance(data, Mapping):
        below = seen + (id(data),)
        kind = type(data) if same_class else dict
        pairs = [(_walk_key(k, leaf, below), _walk(v, leaf, same_class, tuples, below)) for k, v in data.items()]
        if same_class and hasattr(data, "default_factory"):
            return kind(data.default_factory, pairs)
        return kind(pairs)
    if isinstance(data, list) or isinstance(data, tuple) and not tuples:
        return [_walk(one, leaf, same_class, tuples, seen + (id(data),)) for one in data]
    if isinstance(data, tuple):
        return tuple(_walk(one, leaf, same_class, tuples, seen + (id(data),)) for one in data)
    return leaf(data)


def _walk_key(key, leaf, seen):
    """Return a key's copy; a tuple stays one, as a list can't be a key."""
    return tuple(_walk(one, leaf, False, True, seen) for one in key) if isinstance(key, tuple) else leaf(key)


def _decoder(encoding, errors, keep, normalize):
    def leaf(value):
        if not isinstance(value, (str, bytes, bytearray)):
            return value
        try:
            return stringutils.to_str(value, encoding, errors, normalize)
        except UnicodeDecodeError:
            if not keep:
                raise
            return value

    return leaf


def decode(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False, preserve_tuples=False,
           to_str=False):
    """Return data with text in place of bytes; with `keep` what can't be decoded stays."""
    return _walk(data, _decoder(encoding, errors, keep, normalize), preserve_dict_class, preserve_tuples)


def decode_dict(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False,
                preserve_tuples=False, to_str=False):
    """Return a dictionary with text in place of bytes."""
    return decode(data, encoding, errors, keep, normalize, preserve_dict_class, preserve_tuples)


def decode_list(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False,
                preserve_tuples=False, to_str=False):
    """Return a list with text in place of bytes."""
    return decode(list(data), encoding, errors, keep, normalize, preserve_dict_class, preserve_tuples)


def decode_tuple(data, encoding=None, errors="strict", keep=False, normalize=False, preserve_dict_class=False, to_str=False):
    """Return a tuple with text in place of bytes."""
    return tuple(decode_list(data, encoding, errors, keep, normalize, preserve_dict_class, True))


def encode(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False, preserve_tuples=False):
    """Return data with bytes in place of text; with `keep` what can't be encoded stays."""

    def leaf(value):
        if not isinstance(value, (str, bytes, bytearray)):
            return value
        try:
            return stringutils.to_bytes(value, encoding, errors)
        except UnicodeEncodeError:
            if not keep:
                raise
            return value

    return _walk(data, leaf, preserve_dict_class, preserve_tuples)


def encode_dict(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False, preserve_tuples=False):
    """Return a dictionary with bytes in place of text."""
    return encode(data, encoding, errors, keep, preserve_dict_class, preserve_tuples)


def encode_list(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False, preserve_tuples=False):
    """Return a list with bytes in place of text."""
    return encode(list(data), encoding, errors, keep, preserve_dict_class, preserve_tuples)


def encode_tuple(data, encoding=None, errors="strict", keep=False, preserve_dict_class=False):
    """Return a tuple with bytes in place of text."""
    return tuple(encode_list(data, encoding, errors, keep, preserve_dict_class, True))
