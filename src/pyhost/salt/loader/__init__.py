"""The functions of the running program, by their kinds, as Salt's loader returns them."""
from salt import _host, _loaders
from salt.loader.context import LoaderContext, NamedLoaderContext  # noqa: F401

LazyLoader = _loaders.LazyLoader
LOADED_BASE_NAME = "salt.loaded"


def _of(kind, name, opts=None):
    return _loaders.functions(kind, f"salt.loader.{name}", opts)


def minion_mods(opts, context=None, utils=None, whitelist=None, initial_load=False, loaded_base_name=None, notify=False,
                static_modules=None, proxy=None):
    """Return the execution modules' functions."""
    return _of("modules", "minion_mods", opts)


def raw_mod(opts, name, functions, mod="modules", loaded_base_name=None):
    """Return the functions of one module, {name: function}."""
    found = _of(mod, "raw_mod", opts)
    return {fun: found[fun] for fun in found if fun.split(".", 1)[0] == name}


def utils(opts, whitelist=None, context=None, proxy=None, pack_self=None, loaded_base_name=None):
    """Return the functions of _utils."""
    return _of("utils", "utils", opts)


def states(opts, functions, utils, serializers, whitelist=None, proxy=None, context=None, loaded_base_name=None):
    """Return the state modules' functions."""
    return _of("states", "states", opts)


def render(opts, functions, states=None, proxy=None, context=None, loaded_base_name=None):
    """Return the renderers, {name: function}."""
    return _of("renderers", "render", opts)


def returners(opts, functions, whitelist=None, context=None, proxy=None, loaded_base_name=None):
    """Return the returners' functions."""
    return _of("returners", "returners", opts)


def runner(opts, utils=None, context=None, whitelist=None, loaded_base_name=None):
    """Return the runners' functions."""
    return _of("runners", "runner", opts)


def wheels(opts, whitelist=None, context=None, loaded_base_name=None):
    """Return the wheel functions."""
    return _of("wheel", "wheels", opts)


def pillars(opts, functions, context=None, loaded_base_name=None):
    """Return the functions of external pillars."""
    return _of("pillar", "pillars", opts)


def beacons(opts, functions, context=None, proxy=None, loaded_base_name=None):
    """Return the beacons' functions."""
    return _of("beacons", "beacons", opts)


def outputters(opts, loaded_base_name=None):
    """Return the outputters' functions."""
    return _of("output", "outputters", opts)


def serializers(opts, loaded_base_name=None):
    """Return the serializers' functions."""
    return _of("serializers", "serializers", opts)


def matchers(opts, loaded_base_name=None):
    """Return the matchers' functions."""
    return _of("matchers", "matchers", opts)


def engines(opts, functions, runners, utils, proxy=None, loaded_base_name=None):
    """Return the engines' functions."""
    return _of("engines", "engines", opts)


def executors(opts, functions=None, context=None, proxy=None, loaded_base_name=None):
    """Return the executors' functions."""
    return _of("executors", "executors", opts)


def sdb(opts, functions=None, whitelist=None, utils=None, loaded_base_name=None):
    """Return the functions of secret stores."""
    return _of("sdb", "sdb", opts)


def tops(opts, loaded_base_name=None):
    """Return the functions of master_tops."""
    return _of("tops", "tops", opts)


def auth(opts, whitelist=None, loaded_base_name=None):
    """Return the functions of external authentication."""
    return _of("auth", "auth", opts)


def roster(opts, runner=None, utils=None, whitelist=None, loaded_base_name=None, context=None):
    """Return the rosters' functions."""
    return _of("roster", "roster", opts)


def clouds(opts, loaded_base_name=None):
    """Return the functions of clouds."""
    return _of("clouds", "clouds", opts)


def cache(opts, loaded_base_name=None):
    """Return the functions of caches."""
    return _of("cache", "cache", opts)


def queues(opts, loaded_base_name=None):
    """Return the functions of queues."""
    return _of("queues", "queues", opts)


def fileserver(opts, backends, loaded_base_name=None):
    """Return the functions of the file server's backends."""
    return _of("fileserver", "fileserver", opts)


def proxy(opts, functions=None, returners=None, whitelist=None, utils=None, context=None, pack_self="__proxy__", loaded_base_name=None):
    """Return the functions of proxy modules."""
    return _of("proxy", "proxy", opts)


def thorium(opts, functions, runners, loaded_base_name=None):
    """Return the functions of thorium."""
    return _of("thorium", "thorium", opts)


def ssh_wrapper(opts, functions=None, context=None, loaded_base_name=None):
    """Return the functions of salt-ssh's wrappers."""
    return _of("wrapper", "ssh_wrapper", opts)


def log_handlers(opts, loaded_base_name=None):
    """Return the functions of log handlers."""
    return _of("log_handlers", "log_handlers", opts)


def grain_funcs(opts, proxy=None, context=None, loaded_base_name=None):
    """Return the functions that gather grains."""
    return _of("grains", "grain_funcs", opts)


def grains(opts, force_refresh=False, proxy=None, context=None, loaded_base_name=None):
    """Return the grains of this machine."""
    here = _host.host()
    if here is not None:
        return dict(here.grains())
    from salt import client

    return client.Caller(mopts=dict(opts, file_client="local")).cmd("grains.items")


def call(fun, **kwargs):
    """Run an execution function with {"args": [...]} and return what it returns."""
    return _of("modules", "call")[fun](*kwargs.get("args", []))
