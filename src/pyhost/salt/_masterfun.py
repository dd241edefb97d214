"""Runners and wheel functions, through the master's local socket."""
from salt import _local
from salt.exceptions import SaltClientTimeout
from salt.utils import args as salt_args

# Keys of a call as data that are none of the function's arguments.
_OWN_KEYS = frozenset("fun arg kwarg client eauth token username password user full_return print_event metadata timeout jid".split())


class Client:
    """Base of RunnerClient and WheelClient."""

    op = client = tag_prefix = None
    _following = {}

    def __init__(self, opts, context=None):
        self.opts = opts
        self.context = context or {}

    def _fields(self, fun, arg, kwarg):
        return {"fun": fun, "arg": salt_args.condition_input(salt_args.parse_input(arg or []), kwarg)}

    def _run(self, fun, arg=None, kwarg=None, timeout=None):
        """Run a function and return the push that tells its end."""
        with _local.connect(self.opts) as line:
            reply = line.call(self.op, **self._following, **self._fields(fun, arg, kwarg))
            while True:
                push = line.next(timeout)
                if push is None:
                    raise SaltClientTimeout(f"{fun} did not end within {timeout} s; it goes on as {reply['jid']}", jid=reply["jid"])
                if push.get("push") == "runner" and push.get("jid") == reply["jid"]:
                    return push

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, print_event=True, full_return=False):
        """Run a function and return what it returns; a failure is told as text. With full_return {"return", "success", "jid", ...}."""
        push = self._run(fun, arg, kwarg)
        return _whole(push, fun) if full_return else push.get("return")

    def cmd_sync(self, low, timeout=None, full_return=False):
        """Run what {"fun", "arg", "kwarg", ...} says and return what it returns."""
        push = self._run(low["fun"], low.get("arg"), _named(low), timeout)
        return _whole(push, low["fun"]) if full_return else push.get("return")

    def cmd_async(self, low):
        """Begin what {"fun", "arg", "kwarg", ...} says and return {"tag", "jid"}."""
        with _local.connect(self.opts) as line:
            reply = line.call(self.op, **self._fields(low["fun"], low.get("arg"), _named(low)))
        return {"tag": reply["tag"], "jid": reply["jid"]}

    def asynchronous(self, fun, low, user="UNKNOWN", pub=None, local=True):
        """Begin a function with the arguments of `low` and return {"tag", "jid"}."""
        return self.cmd_async(dict(low, fun=fun))

    def low(self, fun, low, print_event=True, full_return=False):
        """Run a function with the arguments of `low` and return what it returns."""
        return self.cmd_sync(dict(low, fun=fun), full_return=full_return)

    def master_call(self, **kwargs):
        """Run what the arguments say, as cmd_sync."""
        return self.cmd_sync(kwargs)

    def get_docs(self, arg=None):
        """Return {function: documentation} of those whose name begins so, or of all."""
        docs = self._docs()
        return {fun: text for fun, text in docs.items() if not arg or fun == arg or fun.startswith(arg.rstrip(".") + ".")}

    def _docs(self):
        raise NotImplementedError("the master has no documentation of this kind of functions")


def _named(low):
    return dict({name: value for name, value in low.items() if name not in _OWN_KEYS and not name.startswith("__")},
                **low.get("kwarg") or {})


def _whole(push, fun):
    return dict({name: push[name] for name in ("jid", "return", "success", "retcode") if name in push}, fun=fun)
