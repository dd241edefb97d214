"""Caller: the minion's functions, in the running job or by salt-call."""
import json
import os

from salt import _host, _program, config, syspaths
from salt.exceptions import CommandExecutionError, SaltClientError
from salt.utils import args as salt_args


class Caller:
    """Runs functions of this machine's minion."""

    def __init__(self, c_path=os.path.join(syspaths.CONFIG_DIR, "minion"), mopts=None):
        self._folder = os.path.dirname(c_path) or "."
        self._opts = mopts
        self._local = bool(mopts) and mopts.get("file_client") == "local"

    @property
    def opts(self):
        """The minion's options."""
        if self._opts is None:
            self._opts = config.minion_config(os.path.join(self._folder, "minion"))
        return self._opts

    def cmd(self, fun, *args, **kwargs):
        """Run a function and return what it returns; words such as "a=1" are keyword arguments."""
        here = _host.host()
        positional, named = salt_args.parse_input(args, condition=False)
        named.update(kwargs)
        if here is not None:
            return here.functions("modules")[fun](*positional, **named)
        return self._by_program(fun, positional, named)

    def function(self, fun, *args, **kwargs):
        """Run a function with arguments as they are."""
        here = _host.host()
        if here is not None:
            return here.functions("modules")[fun](*args, **kwargs)
        return self._by_program(fun, args, kwargs)

    def _by_program(self, fun, args, kwargs):
        folder = os.path.dirname(self._opts["conf_file"]) if self._opts and self._opts.get("conf_file") else self._folder
        words = ["--out=json", "-c", folder] + (["--local"] if self._local else [])
        words += ["--", fun] + [_word(value) for value in args] + [f"{name}={_word(value)}" for name, value in kwargs.items()]
        code, out, err = _program.output_of("salt-call", *words)
        try:
            return json.loads(out)["local"]
        except (ValueError, KeyError, TypeError):
            text = err.strip() or out.strip() or f"salt-call ended with {code}"
        raise (CommandExecutionError if code == 1 else SaltClientError)(text)


def _word(value):
    """Return a value as salt-call reads it again: JSON, which is YAML; a text that means no other value as it is."""
    if isinstance(value, str):
        return value if salt_args.yamlify_arg(value) == value else json.dumps(value)
    return json.dumps(value, default=str)


class ProxyCaller(Caller):
    """Runs functions of a proxy minion, of which there are none."""

    def __init__(self, c_path=os.path.join(syspaths.CONFIG_DIR, "proxy"), mopts=None):
        raise NotImplementedError("there are no proxy minions here: use Caller on the machine itself")
