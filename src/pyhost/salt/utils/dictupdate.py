"""Merging of dictionaries, in place or as copies."""
import collections.abc
import copy
import logging

from salt.defaults import DEFAULT_TARGET_DELIM
from salt.utils.odict import OrderedDict

log = logging.getLogger(__name__)


def update(dest, upd, recursive_update=True, merge_lists=False):
    """Merge `upd` into `dest` and return it; lists are replaced, or joined with merge_lists."""
    if not isinstance(dest, collections.abc.Mapping) or not isinstance(upd, collections.abc.Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key in list(upd):
        new = upd[key]
        old = dest.get(key) if recursive_update else None
        if isinstance(old, collections.abc.Mapping) and isinstance(new, collections.abc.Mapping):
            dest[key] = update(old, new, merge_lists=merge_lists)
        elif merge_lists and isinstance(old, list) and isinstance(new, list):
            dest[key] = copy.deepcopy(old) + [one for one in new if one not in old]
        else:
            dest[key] = new
    return dest


def merge_list(obj_a, obj_b):
    """Return both values of each key as a list."""
    return {key: [value, obj_b[key]] if key in obj_b else value for key, value in obj_a.items()}


def merge_recurse(obj_a, obj_b, merge_lists=False):
    """Return a deep merge."""
    return update(copy.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


def _aggregated(a, b):
    """Join two values of the yamlex renderer's aggregates."""
    if isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping):
        return merge_recurse(a, b)
    return b


def merge_aggregate(obj_a, obj_b):
    """Return a deep merge in which marks of the yamlex renderer are joined."""
    return _aggregated(obj_a, obj_b)


def merge_overwrite(obj_a, obj_b, merge_lists=False):
    """Return a merge in which the second one's keys replace the first one's."""
    for key in obj_b:
        if key in obj_a:
            obj_a[key] = obj_b[key]
    return merge_recurse(obj_a, obj_b, merge_lists=merge_lists)


def merge(obj_a, obj_b, strategy="smart", renderer="yaml", merge_lists=False):
    """Return a merge by a strategy: smart, aggregate, recurse, list, overwrite or none."""
    if strategy == "smart":
        strategy = "aggregate" if renderer.split("|")[-1] == "yamlex" or renderer.startswith("yamlex_") else "recurse"
    if strategy == "list":
        return merge_list(obj_a, obj_b)
    if strategy == "aggregate":
        return merge_aggregate(obj_a, obj_b)
    if strategy == "overwrite":
        return merge_overwrite(obj_a, obj_b, merge_lists)
    if strategy == "none":
        return merge_recurse(obj_a, obj_b)
    if strategy != "recurse":
        log.warning("Unknown merging strategy '%s', fallback to recurse", strategy)
    return merge_recurse(obj_a, obj_b, merge_lists)


# ---- by a path of keys --------------------------------------------------------------------------------------


def ensure_dict_key(in_dict, keys, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Make the dictionaries of a path such as "a:b" and return the outermost."""
    inner = in_dict
    for key in keys.split(delimiter):
        if not isinstance(inner.get(key), dict):
            inner[key] = OrderedDict() if ordered_dict else {}
        inner = inner[key]
    return in_dict


def _last(in_dict, keys, delimiter, ordered_dict):
    """Return (dictionary, key) of a path."""
    before, _, key = keys.rpartition(delimiter)
    inner = in_dict
    if before:
        ensure_dict_key(in_dict, before, delimiter, ordered_dict)
        for part in before.split(delimiter):
            inner = inner[part]
    return inner, key


def set_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Set the value at a path and return the dictionary."""
    inner, key = _last(in_dict, keys, delimiter, ordered_dict)
    inner[key] = value
    return in_dict


def _joined(in_dict, keys, delimiter, ordered_dict, kind, verb, value):
    from salt.exceptions import SaltInvocationError

    inner, key = _last(in_dict, keys, delimiter, ordered_dict)
    if inner.get(key) is None:
        inner[key] = kind()
    try:
        getattr(inner[key], verb)(value)
    except AttributeError:
        raise SaltInvocationError(f"The last key contains a {type(inner[key])}, which cannot {verb}.") from None
    except (TypeError, ValueError):
        raise SaltInvocationError(f"Cannot {verb} {type(inner[key])} with a {type(value)}.") from None
    return in_dict


def update_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Update the dictionary at a path and return the outermost."""
    kind = OrderedDict if ordered_dict else dict
    return _joined(in_dict, keys, delimiter, ordered_dict, kind, "update", value)


def append_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Append to the list at a path and return the dictionary."""
    return _joined(in_dict, keys, delimiter, ordered_dict, list, "append", value)


def extend_dict_key_value(in_dict, keys, value, delimiter=DEFAULT_TARGET_DELIM, ordered_dict=False):
    """Extend the list at a path and return the dictionary."""
    return _joined(in_dict, keys, delimiter, ordered_dict, list, "extend", value)
