"""The settings of clouds, as drivers of salt-cloud look them up."""
import logging

from salt.defaults import NOT_SET

log = logging.getLogger(__name__)


def _provider(vm_, opts):
    """Return the section of the provider that a machine names, as ALIAS:DRIVER or ALIAS."""
    named = vm_.get("provider") or vm_.get("driver") or ""
    if not isinstance(named, str):
        return {}
    alias, _, driver = named.partition(":")
    providers = opts.get("providers", {})
    if driver:
        return providers.get(alias, {}).get(driver, {})
    drivers = providers.get(alias, {})
    return next(iter(drivers.values()), {}) if len(drivers) == 1 else {}


def get_cloud_config_value(name, vm_, opts, default=NOT_SET, search_global=True):
    """Return a setting of a machine, its profile, its provider or the options, in this order."""
    value = NOT_SET
    places = [opts] if search_global else []
    if vm_:
        places.append(_provider(vm_, opts))
        if vm_.get("profile"):
            places.append(opts.get("profiles", {}).get(vm_["profile"], {}))
        places.append(vm_)
    for place in places:
        found = place.get(name, NOT_SET)
        if found is NOT_SET or found is None:
            continue
        if isinstance(value, dict) and isinstance(found, dict):
            value = dict(value, **found)
        else:
            value = found
    return default if value is NOT_SET else value


def is_provider_configured(opts, provider, required_keys=(), log_message=True, aliases=()):
    """Return the first section of a provider that has all of these keys, or False."""
    alias, _, driver = provider.partition(":")
    if driver:
        sections = [(alias, opts.get("providers", {}).get(alias, {}).get(driver))]
    else:
        names = (provider, *aliases)
        sections = [(alias, section) for alias, drivers in opts.get("providers", {}).items() for driver, section in drivers.items()
                    if driver in names]
    for alias, section in sections:
        if section is None:
            continue
        missing = [key for key in required_keys if section.get(key) is None]
        if not missing:
            return section
        if log_message:
            log.warning("The required '%s' configuration setting is missing from the '%s' driver, which is configured under the '%s' alias.",
                        missing[0], provider, alias)
    return False


def is_profile_configured(opts, provider, profile_name, vm_=None):
    """Say whether a profile has what the program asks of each: an image and a size."""
    profile = dict(opts.get("profiles", {}).get(profile_name, {}), **(vm_ or {}))
    missing = [key for key in ("provider",) if key not in profile and "driver" not in profile]
    if missing:
        log.error("The required '%s' configuration setting is missing from the '%s' profile.", ", ".join(missing), profile_name)
    return not missing


def check_driver_dependencies(driver, dependencies):
    """Say whether all libraries of a driver are there, {name: whether it is}."""
    missing = [name for name, there in dependencies.items() if not there]
    for name in missing:
        log.warning("Missing dependency: '%s'. The %s driver requires '%s' to be installed.", name, driver, name)
    return not missing
