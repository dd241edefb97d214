"""How dictionaries differ."""
import copy
from collections.abc import Mapping


def diff(current_dict, past_dict):
    """Return a DictDiffer of two dictionaries."""
    return DictDiffer(current_dict, past_dict)


class DictDiffer:
    """The keys by which two dictionaries differ."""

    def __init__(self, current_dict, past_dict):
        self.current_dict, self.past_dict = current_dict, past_dict
        self.set_current, self.set_past = set(current_dict), set(past_dict)
        self.intersect = self.set_current & self.set_past

    def __same(self, key):
        return self.past_dict[key] == self.current_dict[key]

    def added(self):
        """Return keys that only the current one has."""
        return self.set_current - self.intersect

    def removed(self):
        """Return keys that only the past one has."""
        return self.set_past - self.intersect

    def changed(self):
        """Return keys whose values differ."""
        return {key for key in self.intersect if not self.__same(key)}

    def unchanged(self):
        """Return keys whose values are the same."""
        return {key for key in self.intersect if self.__same(key)}


def deep_diff(old, new, ignore=None):
    """Return {"old": ..., "new": ...} with what differs at any depth."""
    ignore = ignore or []
    ret_old, ret_new = {}, {}
    for key in [*old, *(key for key in new if key not in old)]:
        if key in ignore:
            continue
        a, b = old.get(key), new.get(key)
        if key in old and key in new and isinstance(a, dict) and isinstance(b, dict):
            inner = deep_diff(a, b, ignore)
            if "old" in inner:
                ret_old[key] = inner["old"]
            if "new" in inner:
                ret_new[key] = inner["new"]
        elif key not in old or key not in new or a != b:
            if key in old:
                ret_old[key] = copy.deepcopy(a)
            if key in new:
                ret_new[key] = copy.deepcopy(b)
    return {name: value for name, value in (("old", ret_old), ("new", ret_new)) if value}


def recursive_diff(past_dict, current_dict, ignore_missing_keys=True):
    """Return a RecursiveDictDiffer of two dictionaries."""
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)


class RecursiveDictDiffer(DictDiffer):
    """What differs between dictionaries at any depth; inner keys are told as a.b.c."""

    NONE_VALUE = "<_null_>"

    def __init__(self, past_dict, current_dict, ignore_missing_keys):
        super().__init__(current_dict, past_dict)
        self._diffs = self._get_diffs(current_dict, past_dict, ignore_missing_keys)
        self.ignore_unset_values = True

    @classmethod
    def _get_diffs(cls, new, old, ignore_missing):
        diffs = {}
        for key in set(new) | set(old):
            if key not in new and ignore_missing:
                continue
            a, b = old.get(key, cls.NONE_VALUE), new.get(key, cls.NONE_VALUE)
            if isinstance(a, Mapping) and isinstance(b, Mapping):
                inner = cls._get_diffs(b, a, ignore_missing)
                if inner:
                    diffs[key] = inner
            elif key not in old or key not in new or a != b:
                diffs[key] = {"old": a, "new": b}
        return diffs

    @classmethod
    def _is_leaf(cls, one):
        return set(one) == {"old", "new"}

    def _values(self, kind, diffs):
        ret = {}
        for key, one in diffs.items():
            if not self._is_leaf(one):
                ret[key] = self._values(kind, one)
            else:
                ret[key] = one[kind]
        return ret

    def _keys(self, wanted, diffs, prefix="", separator="."):
        found = []
        for key, one in diffs.items():
            name = f"{prefix}{key}"
            if self._is_leaf(one):
                if wanted(one):
                    found.append(name)
            else:
                found += self._keys(wanted, one, name + separator, separator)
        return found

    def added(self, include_nested=False, separator="."):
        """Return keys that only the current one has."""
        found = self._keys(lambda one: one["old"] == self.NONE_VALUE, self._diffs, separator=separator)
        return sorted(found + self._below(found, "new", separator) if include_nested else found)

    def removed(self, include_nested=False, separator="."):
        """Return keys that only the past one has."""
        found = self._keys(lambda one: one["new"] == self.NONE_VALUE, self._diffs, separator=separator)
        return sorted(found + self._below(found, "old", separator) if include_nested else found)

    def changed(self, separator="."):
        """Return keys whose values differ."""

        def wanted(one):
            if not self.ignore_unset_values:
                return True
            return self.NONE_VALUE not in (one["old"], one["new"])

        return sorted(self._keys(wanted, self._diffs, separator=separator))

    def unchanged(self, separator="."):
        """Return keys whose values are the same."""

        def walk(current, diffs, prefix):
            found = []
            for key, value in current.items():
                if key not in diffs:
                    found.append(f"{prefix}{key}")
                elif isinstance(value, Mapping) and not self._is_leaf(diffs[key]):
                    found += walk(value, diffs[key], f"{prefix}{key}{separator}")
            return found

        return sorted(walk(self.current_dict, self._diffs, ""))

    def _below(self, found, kind, separator):
        """Return the keys inside of dictionaries that only one side has."""

        def walk(value, prefix):
            names = []
            for key, inner in value.items() if isinstance(value, Mapping) else ():
                names += [f"{prefix}{separator}{key}"] + walk(inner, f"{prefix}{separator}{key}")
            return names

        names = []
        for name in found:
            one = self._diffs
            for part in name.split(separator):
                one = one[part]
            names += walk(one[kind], name)
        return names

    @property
    def diffs(self):
        """All that differs, with {"old", "new"} at each place."""
        return self._diffs

    @property
    def new_values(self):
        """The current values of what differs."""
        return self._values("new", self._diffs)

    @property
    def old_values(self):
        """The past values of what differs."""
        return self._values("old", self._diffs)

    @property
    def changes_str(self):
        """All that differs, as text."""
        return "\n".join(self._lines(self._diffs))

    def _lines(self, diffs, indent=""):
        lines = []
        for key, one in diffs.items():
            if self._is_leaf(one):
                lines.append(f"{indent}{key} from {self._said(one['old'])} to {self._said(one['new'])}")
            else:
                lines += [f"{indent}{key}:"] + self._lines(one, indent + "  ")
        return lines

    def _said(self, value):
        return "nothing" if value == self.NONE_VALUE else f"'{value}'" if isinstance(value, str) else value
