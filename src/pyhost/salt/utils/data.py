"""Data: reading by path, comparing, converting."""
import copy
import fnmatch
import logging
import random
import re
from collections.abc import Mapping, MutableMapping, Sequence

from salt.defaults import DEFAULT_TARGET_DELIM
from salt.exceptions import SaltException
from salt.utils import dictupdate
from salt.utils._coding import (  # noqa: F401
    decode,
    decode_dict,
    decode_list,
    decode_tuple,
    encode,
    encode_dict,
    encode_list,
    encode_tuple,
)
from salt.utils.odict import OrderedDict

log = logging.getLogger(__name__)


class CaseInsensitiveDict(MutableMapping):
    """A dictionary whose keys do not depend on case; each is shown as it was written last."""

    def __init__(self, init=None, **kwargs):
        self._values, self._written = {}, {}
        self.update(init or {}, **kwargs)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._written.values())

    def __getitem__(self, key):
        return self._values[to_lowercase(key)]

    def __setitem__(self, key, value):
        low = to_lowercase(key)
        self._values[low], self._written[low] = value, key

    def __delitem__(self, key):
        low = to_lowercase(key)
        del self._values[low], self._written[low]

    def __eq__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        return self._values == {to_lowercase(key): value for key, value in other.items()}

    def __repr__(self):
        return repr({key: self[key] for key in self})

    def items_lower(self):
        """Return pairs of lower-case keys and values."""
        return iter(self._values.items())

    def copy(self):
        """Return a copy."""
        return CaseInsensitiveDict(self)


# ---- by a path of keys --------------------------------------------------------------------------------------


def traverse_dict(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """Return the value at a path such as "a:b"."""
    try:
        for part in key.split(delimiter):
            data = data[part]
    except (KeyError, IndexError, TypeError):
        return default
    return data


def traverse_dict_and_list(data, key, default=None, delimiter=DEFAULT_TARGET_DELIM):
    """Return the value at a path such as "a:b:0"; in a list a name is looked for in its dictionaries."""
    parts = key.split(delimiter) if isinstance(key, str) else [key]
    for part in parts:
        if isinstance(data, list):
            if isinstance(part, int) or str(part).lstrip("-").isdigit():
                try:
                    data = data[int(part)]
                    continue
                except IndexError:
                    return default
            data = _in_list(data, part)
        elif part == "*":
            return default
        else:
            data = _in_mapping(data, part)
        if data is _ABSENT:
            return default
    return data


_ABSENT = object()


def _in_list(data, part):
    for one in data:
        if isinstance(one, dict) and part in one:
            return one[part]
    return _ABSENT


def _in_mapping(data, part):
    if isinstance(data, (str, bytes)):
        return _ABSENT
    try:
        return data[part]
    except (KeyError, TypeError, IndexError):
        pass
    try:
        return data[int(part)]
    except (KeyError, TypeError, IndexError, ValueError):
        return _ABSENT


def _all_below(value):
    """Return (name, value) of all that a value holds."""
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []


def get_value(obj, path, default=None):
    """Return [{"value": V}, ...] at a path; where it has {name} every key is meant, and told under that name."""
    found = [{"value": obj}]
    for key in path.split(DEFAULT_TARGET_DELIM) if path else []:
        if key.startswith("{") and key.endswith("}"):
            found = [dict(row, value=inner, **{key[1:-1]: name}) for row in found for name, inner in _all_below(row["value"])]
        else:
            found = [dict(row, value=traverse_dict_and_list(row["value"], key, default)) for row in found]
    return found


def subdict_match(data, expr, delimiter=DEFAULT_TARGET_DELIM, regex_match=False, exact_match=False):
    """Say whether the value at a path fits a pattern, as in "os:Deb*"."""

    def fits(value, pattern):
        text = str(value).lower()
        if regex_match:
            try:
                return re.match(pattern.lower(), text) is not None
            except re.error:
                log.error("Invalid regex '%s' in match", pattern)
                return False
        return text == pattern.lower() if exact_match else fnmatch.fnmatch(text, pattern.lower())

    def fits_any(value, pattern):
        if isinstance(value, (list, tuple, set)):
            return any(fits_dict(one, pattern) if isinstance(one, dict) else fits(one, pattern) for one in value)
        if isinstance(value, dict):
            return fits_dict(value, pattern)
        return fits(value, pattern)

    def fits_dict(value, pattern):
        if pattern == "*":
            return True
        return any(fits(name, pattern) for name in value) or subdict_match(value, pattern, delimiter, regex_match, exact_match)

    parts = expr.split(delimiter)
    for at in range(1, len(parts)):
        key, pattern = delimiter.join(parts[:at]), delimiter.join(parts[at:])
        if key == "*":
            return any(fits_any(value, pattern) for value in data.values()) if isinstance(data, dict) else False
        value = traverse_dict_and_list(data, key, _ABSENT, delimiter)
        if value is not _ABSENT and (pattern == "*" or fits_any(value, pattern)):
            return True
    return False


# ---- choosing -----------------------------------------------------------------------------------------------


def filter_by(lookup_dict, lookup, traverse, merge=None, default="default", base=None):
    """Return the entry of a dictionary that fits the value at a path, merged with `base` and `merge`."""
    value = traverse_dict_and_list(traverse, lookup, None)
    values = value if isinstance(value, list) else [value]
    ret = None
    for one in values:
        found = next((key for key in lookup_dict if one is not None and fnmatch.fnmatchcase(str(one), str(key))), None)
        if found is not None:
            ret = lookup_dict[found]
            break
    if ret is None:
        ret = lookup_dict.get(default)
    if base and base in lookup_dict:
        base_values = copy.deepcopy(lookup_dict[base])
        if ret is None:
            ret = base_values
        elif isinstance(base_values, Mapping):
            if not isinstance(ret, Mapping):
                raise SaltException("filter_by default and look-up values must both be dictionaries.")
            ret = dictupdate.update(base_values, copy.deepcopy(ret))
    if merge:
        if not isinstance(merge, Mapping):
            raise SaltException("filter_by merge argument must be a dictionary.")
        ret = copy.deepcopy(merge) if ret is None else dictupdate.update(copy.deepcopy(ret), copy.deepcopy(merge))
    return ret


def filter_falsey(data, recurse_depth=None, ignore_types=()):
    """Return a list or dictionary without its false values."""

    def inner(value):
        if recurse_depth and isinstance(value, (dict, list, tuple, set)):
            return filter_falsey(value, recurse_depth - 1, ignore_types)
        return value

    def kept(value):
        return bool(value) or isinstance(value, tuple(ignore_types)) and type(value) in tuple(ignore_types)

    if isinstance(data, dict):
        pairs = ((key, inner(value)) for key, value in data.items())
        return type(data)((key, value) for key, value in pairs if kept(value))
    if isinstance(data, (list, tuple, set)):
        return type(data)(value for value in map(inner, data) if kept(value))
    return data


def exactly_n(iterable, amount=1):
    """Say whether exactly so many values are true."""
    return sum(bool(value) for value in iterable) == amount


def exactly_one(iterable):
    """Say whether exactly one value is true."""
    return exactly_n(iterable)


def substr_in_list(string_to_search_for, list_to_search):
    """Say whether a text is part of any text of a list."""
    return any(string_to_search_for in text for text in list_to_search)


def sample(value, size, seed=None):
    """Return some elements at random, the same ones for the same seed."""
    return random.Random(_seed(seed)).sample(value, size)


def shuffle(value, seed=None):
    """Return the elements in a random order, the same one for the same seed."""
    return sample(value, len(value), seed)


def _seed(seed):
    """Return a seed as random takes it, a hash for what is none."""
    return seed if seed is None or isinstance(seed, (int, float, str, bytes, bytearray)) else hash(seed)


# ---- comparing ----------------------------------------------------------------------------------------------


def compare_dicts(old=None, new=None):
    """Return {key: {"old", "new"}} of what differs."""
    old, new = old or {}, new or {}
    return {
        key: {"old": old.get(key, ""), "new": new.get(key, "")}
        for key in [*new, *(key for key in old if key not in new)]
        if key not in old or key not in new or old[key] != new[key]
    }


def compare_lists(old=None, new=None):
    """Return {"old": [...], "new": [...]} of what only one of two lists has."""
    ret = {}
    added, gone = [x for x in new or [] if x not in (old or [])], [x for x in old or [] if x not in (new or [])]
    if added:
        ret["new"] = added
    if gone:
        ret["old"] = gone
    return ret


def _without(value, ignore):
    return {key: inner for key, inner in value.items() if key not in ignore}


def _diff_mappings(old, new, ignore_keys, ignore_order, ignore_missing_keys):
    ret_old, ret_new = {}, {}
    for key in [*old, *(key for key in new if key not in old)]:
        if ignore_missing_keys and (key not in old or key not in new):
            continue
        if key not in old or key not in new:
            (ret_new if key not in old else ret_old)[key] = (new if key not in old else old)[key]
            continue
        inner = recursive_diff(old[key], new[key], ignore_keys, ignore_order, ignore_missing_keys)
        if inner:
            ret_old[key], ret_new[key] = inner["old"], inner["new"]
    return {"old": ret_old, "new": ret_new} if ret_old or ret_new else {}


def _diff_sequences(old, new, ignore_keys, ignore_order, ignore_missing_keys):
    if ignore_order:
        left = [x for x in old if not any(recursive_diff(x, y, ignore_keys, ignore_order, ignore_missing_keys) == {} for y in new)]
        right = [y for y in new if not any(recursive_diff(x, y, ignore_keys, ignore_order, ignore_missing_keys) == {} for x in old)]
        return {"old": left, "new": right} if left or right else {}
    same = len(old) == len(new) and all(
        recursive_diff(x, y, ignore_keys, ignore_order, ignore_missing_keys) == {} for x, y in zip(old, new)
    )
    return {} if same else {"old": old, "new": new}


def recursive_diff(old, new, ignore_keys=None, ignore_order=False, ignore_missing_keys=False):
    """Return {"old", "new"} with what differs at any depth, or {}."""
    ignore_keys = ignore_keys or []
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        if isinstance(old, OrderedDict) and isinstance(new, OrderedDict) and not ignore_order:
            if list(_without(old, ignore_keys)) != list(_without(new, ignore_keys)) and not ignore_missing_keys:
                return {"old": _without(old, ignore_keys), "new": _without(new, ignore_keys)}
        return _diff_mappings(_without(old, ignore_keys), _without(new, ignore_keys), ignore_keys, ignore_order, ignore_missing_keys)
    if isinstance(old, (list, tuple, set)) and isinstance(new, (list, tuple, set)):
        return _diff_sequences(old, new, ignore_keys, ignore_order, ignore_missing_keys)
    return {} if old == new else {"old": old, "new": new}


# ---- what something is --------------------------------------------------------------------------------------


def is_dictlist(data):
    """Say whether data is a list of dictionaries with one key each."""
    return isinstance(data, list) and all(isinstance(one, dict) and len(one) == 1 for one in data)


def is_list(value):
    """Say whether something is a list."""
    return isinstance(value, list)


def is_iter(thing, ignore=(str,)):
    """Say whether something can be walked through, texts aside."""
    if ignore and isinstance(thing, ignore):
        return False
    try:
        iter(thing)
        return True
    except TypeError:
        return False


def is_true(value=None):
    """Say whether a value means yes: a number above 0, or the text "true"."""
    for kind in int, float:
        try:
            value = kind(value)
            break
        except (ValueError, TypeError):
            continue
    if isinstance(value, (int, float)):
        return value > 0
    if isinstance(value, str):
        return value.lower() == "true"
    return bool(value)


# ---- converting ---------------------------------------------------------------------------------------------


def repack_dictlist(data, strict=False, recurse=False, key_cb=None, val_cb=None):
    """Return a list such as [{"a": 1}, "b"] as one dictionary; {} for data that is no such list."""
    if isinstance(data, str):
        from salt.utils import yaml

        try:
            data = yaml.safe_load(data)
        except yaml.YAMLError as exc:
            log.error(exc)
            return {}
    key_cb = key_cb or (lambda key: key)
    val_cb = val_cb or (lambda key, value: value)
    if not isinstance(data, list):
        log.error("Invalid input for repack_dictlist, data passed is not a list (%s)", data)
        return {}
    ret = {}
    for one in data:
        if isinstance(one, dict) and len(one) != 1 or not isinstance(one, (str, int, float, dict)):
            log.error("Invalid input for repack_dictlist: key/value pairs must contain only one element (data passed: %s).", one)
            return {}
        if not isinstance(one, dict):
            ret[key_cb(one)] = None
            continue
        key, value = next(iter(one.items()))
        if recurse and is_dictlist(value):
            value = repack_dictlist(value, recurse=recurse)
            if not value:
                log.error("Invalid nested dictlist found")
                return {}
        ret[key_cb(key)] = val_cb(key, value)
    return ret


def mysql_to_dict(data, key):
    """Return the table that the program mysql prints as {row's key: {column: value}}."""
    ret, headers = {}, None
    for line in data:
        if not line or line.startswith("+"):
            continue
        columns = [column.strip() for column in line.split("|")[1:-1]]
        if headers is None:
            headers = columns
            continue
        row = {name: int(value) if value.isdigit() else value for name, value in zip(headers, columns)}
        if row.get(key):
            ret[row[key]] = row
    return ret


def simple_types_filter(data):
    """Return data with text in place of what JSON and YAML do not have."""
    if data is None:
        return data
    simple = (str, int, float, bool, type(None))
    if isinstance(data, (list, tuple)):
        return [one if isinstance(one, simple) else simple_types_filter(one) for one in data]
    if isinstance(data, dict):
        return {
            key if isinstance(key, simple) else repr(key): value if isinstance(value, simple) else simple_types_filter(value)
            for key, value in data.items()
        }
    return data if isinstance(data, simple) else repr(data)


def stringify(data):
    """Return a list with a text for each element."""
    return [one if isinstance(one, str) else str(one.decode("utf-8") if isinstance(one, bytes) else one) for one in data]


def json_query(data, expr):
    """Return what a JMESPath expression finds."""
    try:
        import jmespath
    except ImportError:
        raise RuntimeError("json_query requires jmespath library: install the package python3-jmespath") from None
    return jmespath.search(expr, data)


def flatten(data, levels=None, preserve_nulls=False, _ids=None):
    """Return a list of lists as one list, down to a number of levels."""
    seen = (_ids or ()) + (id(data),)
    ret = []
    for one in data:
        if isinstance(one, (list, tuple)) and (levels is None or levels > 0):
            if id(one) in seen:
                raise RuntimeError("Reference cycle detected. Check input list.")
            ret += flatten(one, None if levels is None else levels - 1, preserve_nulls, seen)
        elif preserve_nulls or one not in (None, "None", "null"):
            ret.append(one)
    return ret


def hash(value, algorithm="sha512"):
    """Return the digest of a text."""
    import hashlib

    from salt.utils import stringutils

    if not isinstance(value, (str, bytes)):
        value = str(value)
    if algorithm not in hashlib.algorithms_available:
        raise SaltException(f"You cannot hash with algorithm {algorithm}")
    return hashlib.new(algorithm, stringutils.to_bytes(value)).hexdigest()


def sorted_ignorecase(to_sort):
    """Return texts in order, whatever their case."""
    return sorted(to_sort, key=lambda text: text.lower())


def _change_case(data, attr, preserve_dict_class=False):
    if isinstance(data, str):
        return getattr(data, attr)()
    if isinstance(data, Mapping):
        kind = type(data) if preserve_dict_class else dict
        return kind((_change_case(k, attr, preserve_dict_class), _change_case(v, attr, preserve_dict_class)) for k, v in data.items())
    if isinstance(data, (Sequence, set)) and not isinstance(data, bytes):
        return type(data)(_change_case(one, attr, preserve_dict_class) for one in data)
    return data


def to_lowercase(data, preserve_dict_class=False):
    """Return data with all text in lower case."""
    return _change_case(data, "lower", preserve_dict_class)


def to_uppercase(data, preserve_dict_class=False):
    """Return data with all text in upper case."""
    return _change_case(data, "upper", preserve_dict_class)
