"""The options of returners."""
import logging

log = logging.getLogger(__name__)


def _function(salt, name):
    """Return a function of __salt__, or None."""
    return salt[name] if name in salt else None


def _chosen(ret):
    """Return the alternative configuration that a job asks for."""
    return str(ret["ret_config"]) if ret and ret.get("ret_config") else ""


def _lookup(cfg, name, default):
    """Return a setting by config.option or of the options."""
    if isinstance(cfg, dict):
        return cfg.get(name, default)
    value = cfg(name, default) if default is not None else cfg(name)
    return value


def _option(cfg, chosen, virtualname, attr):
    """Return one option: of the alternative, of the returner's dictionary, or by its dotted name."""
    for prefix in ([f"{chosen}.{virtualname}"] if chosen else []) + [virtualname]:
        whole = _lookup(cfg, prefix, {})
        if isinstance(whole, dict) and attr in whole:
            return whole[attr]
        value = _lookup(cfg, f"{prefix}.{attr}", None)
        if value not in (None, ""):
            return value
    return None


def get_returner_options(virtualname=None, ret=None, attrs=None, **kwargs):
    """Return a returner's options {name: value}, of the configuration, of a profile and of the job."""
    ret_config = _chosen(ret)
    attrs = attrs or {}
    profile_attr, profile_attrs = kwargs.get("profile_attr"), kwargs.get("profile_attrs") or {}
    defaults = kwargs.get("defaults") or {}
    salt, opts = kwargs.get("__salt__", {}), kwargs.get("__opts__", {})
    cfg = _function(salt, "config.option") or opts
    options = {}
    for option, attr in attrs.items():
        value = _option(cfg, ret_config, virtualname, attr)
        if value is None or value == "":
            value = defaults.get(option, "" if not isinstance(cfg, dict) else None)
        if value is not None:
            options[option] = value
    if profile_attr and options.get(profile_attr):
        log.info("Using profile %s", options[profile_attr])
        profile = _lookup(cfg, options[profile_attr], {}) or {}
        options.update({option: profile[attr] for option, attr in profile_attrs.items() if attr in profile})
    if ret and "ret_kwargs" in ret:
        options.update(ret["ret_kwargs"])
    return options
