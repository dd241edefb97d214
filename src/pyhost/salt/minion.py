"""What modules use of a minion: its functions, and options with a master's."""
import os

from salt import _host, config
from salt.defaults import DEFAULT_TARGET_DELIM  # noqa: F401
from salt.utils import args as salt_args


def get_proc_dir(cachedir, **kwargs):
    """Return the folder of running jobs, which is made when it is not there."""
    path = os.path.join(cachedir, "proc")
    os.makedirs(path, mode=kwargs.get("mode") or 0o755, exist_ok=True)
    return path


def load_args_and_kwargs(func, args, data=None, ignore_invalid=False):
    """Return (arguments, keyword arguments) of a job's list, as a function takes them."""
    spec = salt_args.get_function_argspec(func)
    positional, named = salt_args.parse_input(args, condition=False)
    if spec.keywords is None:
        wrong = {name: value for name, value in named.items() if name not in spec.args}
        if wrong and not ignore_invalid:
            salt_args.invalid_kwargs(wrong)
        named = {name: value for name, value in named.items() if name not in wrong}
    elif isinstance(data, dict):
        named.update((f"__pub_{name}", value) for name, value in data.items())
    return positional, named


def master_event(type, master=None):
    """Return the tag of an event about the connection to a master."""
    tags = {"connected": "__master_connected", "disconnected": "__master_disconnected", "failback": "__master_failback", "alive": "__master_alive"}
    if type == "alive" and master is not None:
        return f"{tags[type]}_{master}"
    return tags.get(type)


class _Functions:
    """Base of minions: functions of the running program."""

    def __init__(self, opts):
        self.opts = opts

    @property
    def functions(self):
        """The execution modules' functions."""
        return _host.functions("modules", type(self).__name__)

    @property
    def states(self):
        """The state modules' functions."""
        return _host.functions("states", type(self).__name__)

    @property
    def returners(self):
        """The returners' functions."""
        return _host.functions("returners", type(self).__name__)

    @property
    def rend(self):
        """The renderers' functions."""
        return _host.functions("renderers", type(self).__name__)

    def gen_modules(self, initial_load=False, context=None):
        """Do nothing: functions are loaded when they are called."""


class MinionBase(_Functions):
    """Base of minions."""


class SMinion(MinionBase):
    """A minion without a connection."""

    def __init__(self, opts, context=None):
        super().__init__(opts)


class MasterMinion(_Functions):
    """The functions that the master has of execution modules and others."""

    def __init__(self, opts, returners=True, states=True, rend=True, matcher=True, whitelist=None, ignore_config_errors=True):
        super().__init__(opts if opts is not None else config.master_config(None))
        self.whitelist = whitelist


class Minion(MinionBase):
    """A minion that serves a master, which is a program here: salt-minion."""

    def tune_in(self, start=True):
        """Raise: the program is to be started."""
        raise NotImplementedError("a minion can't be run inside of Python here: start the program salt-minion")


def Caller(*args, **kwargs):
    """Return a salt.client.Caller."""
    from salt import client

    return client.Caller(*args, **kwargs)
