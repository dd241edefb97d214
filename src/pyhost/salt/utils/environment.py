"""Variables of the environment that the configuration gives to modules."""


def get_module_environment(env=None, function=None):
    """Return {variable: value} of system-environment, in the options and the pillar, for the module whose globals `env` are."""
    result = {}
    if not env:
        return result
    module = env.get("__name__", "").split(".")[-1]
    for place in env.get("__opts__", {}), env.get("__pillar__", {}):
        section = (place or {}).get("system-environment", {}).get("modules", {}).get(env.get("__virtualname__") or module, {})
        for name in ["_"] + ([function] if function else []):
            result.update((section or {}).get(name) or {})
    return result
