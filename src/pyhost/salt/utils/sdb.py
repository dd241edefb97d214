"""Values behind addresses such as sdb://profile/key."""
import random

from salt import _host
from salt.exceptions import SaltInvocationError


def _parts(uri, opts):
    """Return (profile, key), or a text that says why it is no address."""
    if not isinstance(uri, str) or not uri.startswith("sdb://"):
        return 'SDB uri must start with "sdb://"'
    name, _, key = uri[len("sdb://") :].partition("/")
    if not key:
        return "SDB uri must have a profile name as a first part of the uri before the /"
    profile = opts.get(name) or (opts.get("pillar") or {}).get(name) or {}
    return (profile, key) if "driver" in profile else f'SDB profile "{name}" wasnt found in the minion configuration'


def _call(verb, parts, *args):
    (profile, key), driver = parts, parts[0]["driver"]
    functions = _host.functions("sdb", f"salt.utils.sdb.sdb_{verb}")
    if f"{driver}.{verb}" not in functions:
        raise SaltInvocationError(f"the sdb driver '{driver}' has no function {verb}")
    return functions[f"{driver}.{verb}"](key, *args, profile=profile)


def sdb_get(uri, opts, utils=None, strict=False):
    """Return the value of an address; the text itself when it is no address."""
    parts = _parts(uri, opts)
    if isinstance(parts, str):
        if strict:
            raise SaltInvocationError(parts)
        return uri
    return _call("get", parts)


def sdb_set(uri, value, opts, utils=None):
    """Set the value of an address; False when it is none."""
    parts = _parts(uri, opts)
    return False if isinstance(parts, str) else _call("set", parts, value)


def sdb_delete(uri, opts, utils=None):
    """Delete the value of an address; False when it is none."""
    parts = _parts(uri, opts)
    return False if isinstance(parts, str) else _call("delete", parts)


def sdb_get_or_set_hash(uri, opts, length=8, chars="abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", utils=None):
    """Return the value of an address, which is made at random when there is none."""
    if not isinstance(uri, str) or not uri.startswith("sdb://"):
        return False
    value = sdb_get(uri, opts)
    if value is None:
        value = "".join(random.SystemRandom().choice(chars) for _ in range(length))
        sdb_set(uri, value, opts)
    return value
