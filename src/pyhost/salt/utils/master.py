"""What the master keeps of its minions."""
from salt import _local, runner
from salt.client import _request


class MasterPillarUtil:
    """Grains, pillar and mine of the minions that a target matches."""

    def __init__(self, tgt="", tgt_type="glob", saltenv=None, use_cached_grains=True, use_cached_pillar=True, grains_fallback=True,
                 pillar_fallback=True, opts=None):
        if opts is None:
            raise ValueError("opts are missing: they say where the master's socket is")
        self.opts, self.saltenv = opts, saltenv
        self._target = _request.target(tgt, tgt_type, {})

    def _ask(self, op, **fields):
        with _local.connect(self.opts) as line:
            return line.call(op, **self._target, **fields)

    def get_minion_grains(self):
        """Return {id: grains}."""
        return self._ask("grains")["grains"]

    def get_minion_pillar(self):
        """Return {id: pillar}, compiled anew."""
        client = runner.RunnerClient(self.opts)
        more = {"saltenv": self.saltenv} if self.saltenv else {}
        return {id_: client.cmd("pillar.show_pillar", [id_], kwarg=more) for id_ in self._ask("match")["minions"]}

    def get_cached_mine_data(self):
        """Return {id: {function: value}} of the mine."""
        client = runner.RunnerClient(self.opts)
        return client.cmd("cache.mine", kwarg={"tgt": self._target["tgt"], "tgt_type": self._target["tgt_type"]})

    def clear_cached_minion_data(self, clear_pillar=False, clear_grains=False, clear_mine=False, clear_mine_func=None):
        """Have the master forget what it keeps; says whether anything was asked for."""
        wanted = {"pillar": clear_pillar, "grains": clear_grains, "mine": clear_mine or clear_mine_func}
        what = [name for name, yes in wanted.items() if yes]
        if not what:
            return False
        more = {"mine_function": clear_mine_func} if clear_mine_func else {}
        self._ask("forget", what=what, **more)
        return True


def get_running_jobs(opts):
    """Return the jobs that this machine's minion runs."""
    from salt import _loaders

    return _loaders.functions("modules", "salt.utils.master.get_running_jobs", opts)["saltutil.running"]()
