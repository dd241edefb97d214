"""Network devices by NAPALM, of which there are no proxy minions here."""
import functools


def is_proxy(opts):
    """Say whether this is a proxy minion for a device."""
    return False


def is_minion(opts):
    """Say whether the options name a device for an ordinary minion."""
    return bool(opts.get("napalm"))


def virtual(opts, virtualname, filename):
    """Return (False, reason), as a module's __virtual__ does."""
    return False, f'"{virtualname}" ({filename}) cannot be loaded: devices by NAPALM are not supported'


def proxy_napalm_wrap(func):
    """Return a function that says that it can't be called."""

    @functools.wraps(func)
    def refused(*args, **kwargs):
        raise NotImplementedError(f"{func.__name__} needs a device by NAPALM, which is not supported")

    return refused


def default_ret(name):
    """Return the beginning of a state's result."""
    return {"name": name, "changes": {}, "result": False, "comment": ""}


def loaded_ret(ret, loaded, test, debug, compliance_report=False, opts=None):
    """Return the result of a state of what was loaded into a device."""
    ret = dict(ret, comment=loaded.get("comment", ""))
    changes = {name: loaded[name] for name in ("diff",) if loaded.get(name)}
    if debug and loaded.get("loaded_config"):
        changes["loaded_config"] = loaded["loaded_config"]
    if not loaded.get("result"):
        return dict(ret, result=False)
    if not loaded.get("already_configured", True):
        ret["result"] = None if test else True
        ret["changes"] = changes
        return ret
    return dict(ret, result=True)
