"""The keys of minions, through the master."""
import fnmatch

from salt import wheel

_STATES = {"minions": "acc", "minions_pre": "pre", "minions_rejected": "rej", "minions_denied": "den"}


def get_key(opts):
    """Return a Key."""
    return Key(opts)


class Key:
    """Keys by their states: "minions", "minions_pre", "minions_rejected" and "minions_denied"."""

    ACC, PEND, REJ, DEN = "minions", "minions_pre", "minions_rejected", "minions_denied"

    def __init__(self, opts, io_loop=None):
        self.opts = opts
        self._wheel = wheel.WheelClient(opts)

    def _call(self, fun, **kwargs):
        return self._wheel.call_func(f"key.{fun}", **kwargs)

    def all_keys(self):
        """Return {state: [id]}, and {"local": [...]} of the master's own."""
        return self._call("list_all")

    def list_keys(self):
        """Return {state: [id]}."""
        return {state: ids for state, ids in self.all_keys().items() if state in _STATES}

    def local_keys(self):
        """Return {"local": [name]} of the master's own keys."""
        return {"local": self.all_keys().get("local", [])}

    def list_status(self, match):
        """Return {state: [id]} of one state, named as "accepted", "pre", "un", "rejected" or "all"."""
        keys = self.list_keys()
        if match.startswith("all"):
            return self.all_keys()
        names = (("acc", self.ACC), ("pre", self.PEND), ("un", self.PEND), ("rej", self.REJ), ("den", self.DEN))
        state = next((state for start, state in names if match.startswith(start)), None)
        return {state: sorted(keys.get(state, []))} if state else {}

    def name_match(self, match, full=False):
        """Return {state: [id]} of the ids that fit a glob."""
        keys = self.all_keys() if full else self.list_keys()
        globs = [one.strip() for one in match.split(",")] if isinstance(match, str) else list(match)
        found = {state: [id_ for id_ in ids if any(fnmatch.fnmatch(id_, one) for one in globs)] for state, ids in keys.items()}
        return {state: ids for state, ids in found.items() if ids}

    def dict_match(self, match_dict):
        """Return {state: [id]} of ids and globs by their state."""
        keys = self.list_keys()
        found = {}
        for state, wanted in match_dict.items():
            globs = [wanted] if isinstance(wanted, str) else wanted
            ids = [id_ for id_ in keys.get(state, []) if any(fnmatch.fnmatch(id_, one) for one in globs)]
            if ids:
                found[state] = ids
        return found

    def _change(self, fun, match, match_dict, **kwargs):
        if match_dict is not None:
            return self._call(f"{fun}_dict", match=match_dict, **kwargs)
        return self._call(fun, match=match, **kwargs)

    def accept(self, match=None, match_dict=None, include_rejected=False, include_denied=False):
        """Accept keys and return {state: [id]} as it is then."""
        return self._change("accept", match, match_dict, include_rejected=include_rejected, include_denied=include_denied)

    def accept_all(self):
        """Accept all keys that wait."""
        return self.accept("*")

    def reject(self, match=None, match_dict=None, include_accepted=False, include_denied=False):
        """Reject keys and return {state: [id]} as it is then."""
        return self._change("reject", match, match_dict, include_accepted=include_accepted, include_denied=include_denied)

    def reject_all(self):
        """Reject all keys that wait."""
        return self.reject("*")

    def delete_key(self, match=None, match_dict=None, preserve_minions=None, revoke_auth=False):
        """Delete keys and return {state: [id]} as it is then."""
        return self._change("delete", match, match_dict)

    def delete_all(self):
        """Delete all keys."""
        return self.delete_key("*")

    def finger(self, match, hash_type=None):
        """Return {state: {id: fingerprint}}."""
        return self._call("finger", match=match)

    def finger_all(self, hash_type=None):
        """Return {state: {id: fingerprint}} of all keys."""
        return self.finger("*")

    def key_str(self, match):
        """Return {state: {id: key}}."""
        return self._call("key_str", match=match)

    def key_str_all(self):
        """Return {state: {id: key}} of all keys."""
        return self.key_str("*")
