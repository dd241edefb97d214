"""Comparing and updating configurations."""


def compare_and_update_config(config, update_config, changes, namespace=""):
    """Return `update_config` with what `config` has, and tell {"new", "old"} of each change in `changes`."""
    if isinstance(config, dict) and isinstance(update_config, dict):
        return _dicts(config, update_config, changes, namespace)
    if isinstance(config, list) and isinstance(update_config, list):
        return _lists(config, update_config, changes, namespace)
    if config != update_config:
        changes[namespace] = {"new": config, "old": update_config}
    return config


def _dicts(config, update_config, changes, namespace):
    out = dict(update_config)
    for key, value in config.items():
        name = f"{namespace}.{key}" if namespace else str(key)
        out[key] = compare_and_update_config(value, out.get(key), changes, name)
    return out


def _lists(config, update_config, changes, namespace):
    out = []
    for i in range(max(len(config), len(update_config))):
        name = f"{namespace}[{i}]"
        old = update_config[i] if i < len(update_config) else None
        if i < len(config):
            out.append(compare_and_update_config(config[i], old, changes, name))
        else:
            changes[name] = {"new": None, "old": old}
    return out
