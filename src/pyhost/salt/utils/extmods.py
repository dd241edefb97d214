"""Users' modules, as the program fetches them."""
from salt import _loaders


def sync(opts, form, saltenv=None, extmod_whitelist=None, extmod_blacklist=None):
    """Fetch modules of a kind and return (names of those that are new or changed, whether there are any)."""
    fetch = _loaders.functions("modules", "salt.utils.extmods.sync", opts)[f"saltutil.sync_{form}"]
    limits = {"extmod_whitelist": extmod_whitelist, "extmod_blacklist": extmod_blacklist}
    found = fetch(saltenv=saltenv, **{name: value for name, value in limits.items() if value})
    return found, bool(found)
