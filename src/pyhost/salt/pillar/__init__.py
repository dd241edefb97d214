"""The pillar, through the running program."""
from salt import _host, _loaders


def get_pillar(opts, grains, minion_id, saltenv=None, ext=None, funcs=None, pillar_override=None, pillarenv=None,
               extra_minion_data=None, clean_cache=False, context=None):
    """Return an object whose compile_pillar() returns a minion's pillar."""
    return Pillar(opts, grains, minion_id, saltenv, ext, funcs, pillar_override, pillarenv)


def get_async_pillar(*args, **kwargs):
    """Return the same."""
    return get_pillar(*args, **kwargs)


class Pillar:
    """Compiles a pillar: the minion's own in a module, that of any minion on the master."""

    def __init__(self, opts, grains, minion_id, saltenv, ext=None, functions=None, pillar_override=None, pillarenv=None,
                 extra_minion_data=None, context=None):
        self.opts, self.grains, self.minion_id = opts, grains, minion_id
        self.saltenv, self.pillarenv, self.pillar_override = saltenv, pillarenv, pillar_override

    def compile_pillar(self, ext=True):
        """Return the pillar."""
        here = _host.host()
        own = here.opts().get("id") if here is not None else None
        if here is not None and own == self.minion_id and here.opts().get("__role") != "master":
            more = {"pillar": self.pillar_override} if self.pillar_override else {}
            return here.functions("modules")["pillar.items"](saltenv=self.saltenv or "base", pillarenv=self.pillarenv, **more)
        show = _loaders.functions("runners", "salt.pillar.Pillar.compile_pillar", self.opts)["pillar.show_pillar"]
        return show(self.minion_id, saltenv=self.saltenv or "base", pillarenv=self.pillarenv)


RemotePillar = AsyncRemotePillar = AsyncPillar = PillarCache = Pillar
