"""Copies of functions, and calls as states make them."""
import functools
import types

from salt.exceptions import SaltInvocationError


def namespaced_function(function, global_dict, defaults=None, preserve_context=None):
    """Return a function of another file as one of this file, with this file's globals."""
    if defaults is None:
        defaults = function.__defaults__
    names = dict(function.__globals__)
    names.update(global_dict)
    copy = types.FunctionType(function.__code__, names, name=function.__name__, argdefs=defaults, closure=function.__closure__)
    copy.__dict__.update(function.__dict__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__doc__ = function.__doc__
    copy.__module__ = global_dict.get("__name__", function.__module__)
    return _late(copy, global_dict)


def _late(copy, global_dict):
    """Return a function that takes its file's dunders at each call, as they are set after the file was loaded."""

    @functools.wraps(copy)
    def called(*args, **kwargs):
        dunders = {name: value for name, value in global_dict.items() if name[:2] == name[-2:] == "__" and name != "__builtins__"}
        copy.__globals__.update(dunders)
        return copy(*args, **kwargs)

    called.__module__ = copy.__module__
    return called


def alias_function(fun, name, doc=None):
    """Return a copy of a function under another name."""
    alias = types.FunctionType(fun.__code__, fun.__globals__, str(name), fun.__defaults__, fun.__closure__)
    alias.__dict__.update(fun.__dict__)
    alias.__kwdefaults__ = fun.__kwdefaults__
    alias.__module__ = fun.__module__
    alias.__doc__ = doc if isinstance(doc, str) else f"\nThis function is an alias of ``{fun.__name__}``.\n{fun.__doc__}"
    return alias


def parse_function(function_arguments):
    """Split a list such as [1, {"a": 2}] into arguments and keyword arguments."""
    arguments, named = [], {}
    for one in function_arguments:
        if isinstance(one, dict):
            named.update(one)
        else:
            arguments.append(one)
    return {"args": arguments, "kwargs": named}


def call_function(salt_function, *args, **kwargs):
    """Call a function with the arguments that a state lists."""
    from salt.utils import args as salt_args

    spec = salt_args.get_function_argspec(salt_function)
    given = {key: value for key, value in kwargs.items() if not key.startswith("__")}
    positional, named = [], {}
    for one in args:
        named.update(one) if isinstance(one, dict) else positional.append(one)
    named.update(given)
    required = spec.args[: len(spec.args) - len(spec.defaults or ())]
    missing = [name for name in required[len(positional) :] if name not in named]
    if missing:
        raise SaltInvocationError("Missing arguments: {}".format(", ".join(missing)))
    return salt_function(*positional, **named)
