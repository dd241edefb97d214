"""Values behind addresses such as sdb://profile/key."""
import random

from salt import _host
from salt.exceptions import SaltInvocationError


def _parts(uri, opts):
    """Return (profile, key, driver), or None for what is no such address."""
    if not isinstance(uri, str) or not uri.startswith("sdb://"):
        return None
    name, sep, key = uri[len("sdb://") :].partition("/")
    if not sep:
        return None
    profile = opts.get(name) or (opts.get("pillar") or {}).get(name) or {}
    return profile, key, profile.get("driver")


def _call(verb, uri, opts, *args):
    parts = _parts(uri, opts)
    profile, key, driver = parts
    functions = _host.functions("sdb", f"salt.utils.sdb.sdb_{verb}")
    if f"{driver}.{verb}" not in functions:
        raise SaltInvocationError(f"{uri}: the driver '{driver}' has no function {verb}")
    return functions[f"{driver}.{verb}"](key, *args, profile=profile)


def sdb_get(uri, opts, utils=None, strict=False):
    """Return the value of an address; the text itself when it is no address."""
    if _parts(uri, opts) is None:
        if strict:
            raise SaltInvocationError(f'SDB uri must start with "sdb://" and name a profile and a key: {uri}')
        return uri
    return _call("get", uri, opts)


def sdb_set(uri, value, opts, utils=None):
    """Set the value of an address; False when it is none."""
    return _call("set", uri, opts, value) if _parts(uri, opts) is not None else False


def sdb_delete(uri, opts, utils=None):
    """Delete the value of an address; False when it is none."""
    return _call("delete", uri, opts) if _parts(uri, opts) is not None else False


def sdb_get_or_set_hash(uri, opts, length=8, chars="abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", utils=None):
    """Return the value of an address, which is made at random when there is none."""
    if _parts(uri, opts) is None:
        return False
    value = sdb_get(uri, opts)
    if value is None:
        value = "".join(random.SystemRandom().choice(chars) for _ in range(length))
        sdb_set(uri, value, opts)
    return value
