"""Arguments of functions, as users type them and as functions take them."""
import collections
import importlib
import json
import logging
import re
import shlex

from salt.exceptions import SaltInvocationError
from salt.utils import data

log = logging.getLogger(__name__)

_ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
_KWARG = re.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$", re.UNICODE | re.DOTALL)


# ---- as users type them -------------------------------------------------------------------------------------


def yamlify_arg(arg):
    """Return what a word of a command line means."""
    if not isinstance(arg, str) or not arg.strip():
        return arg
    if arg == "None":
        return None
    original = arg
    if "#" in arg and (arg.startswith("#") or "\n" not in arg and not arg.lstrip().startswith(("{", "[", "'", '"'))):
        return original
    try:
        value = _loaded(arg)
    except ValueError:
        return original
    if isinstance(value, dict):
        return value if arg.lstrip().startswith("{") else original
    if isinstance(value, list):
        return value if arg.lstrip().startswith("[") else original
    if value is None:
        return None if original in ("null", "~") else original
    if isinstance(value, int) and "_" in original or isinstance(value, str) and "\n" in original:
        return original
    return value if isinstance(value, (int, float, str)) else original


def _loaded(text):
    """Return what a word of YAML means; ValueError when it means nothing. Plain values and JSON need no library."""
    try:
        from salt.utils import yaml
    except ImportError:
        return _without_yaml(text)
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise ValueError(str(exc)) from exc


_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~"), None),
}


def _without_yaml(text):
    """Return the value of a plain scalar or of JSON; ImportError for other YAML."""
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    if re.match(r"[-+]?[0-9]+$", word):
        return int(word)
    if re.match(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?$", word):
        return float(word)
    if word[:1] not in ("[", "{", "'", '"'):
        return text
    try:
        return json.loads(word)
    except ValueError:
        if word[0] == "'" and word[-1] == "'" and len(word) > 1:
            return word[1:-1].replace("''", "'")
        importlib.import_module("salt.utils.yaml")  # raises what names the library
        raise


def condition_input(args, kwargs):
    """Return one list of arguments as a job carries it, keyword arguments last."""
    ret = list(args)
    if kwargs:
        ret.append(dict(kwargs, __kwarg__=True))
    return ret


def parse_kwarg(string_):
    """Return (name, value) of a text such as "name=value", or (None, None)."""
    found = _KWARG.match(string_)
    return found.groups() if found else (None, None)


def parse_input(args, condition=True, no_parse=None):
    """Return (arguments, keyword arguments) of a command line's words; with `condition` one list."""
    no_parse = no_parse or ()
    positional, named = [], {}
    for word in args:
        if isinstance(word, str):
            name, value = parse_kwarg(word)
            if name:
                named[name] = value if name in no_parse else yamlify_arg(value)
            else:
                positional.append(yamlify_arg(word))
        elif isinstance(word, dict):
            if word.pop("__kwarg__", False) is True:
                named.update(word)
            else:
                positional.append(word)
        else:
            positional.append(word)
    return condition_input(positional, named) if condition else (positional, named)


def parse_function(s):
    """Return (name, arguments, keyword arguments) of a text such as "fun(1, b=2)", or (None, None, None)."""
    found = re.match(r"^\s*([\w.]+)\((.*)\)\s*$", s, re.DOTALL)
    if found is None or "." not in found.group(1) and not found.group(1):
        return None, None, None
    words = shlex.shlex(found.group(2), posix=True)
    words.whitespace_split, words.whitespace, words.commenters = True, ",", ""
    positional, named = [], {}
    try:
        for word in words:
            name, sep, value = word.strip().partition("=")
            if sep:
                named[name.strip()] = value.strip()
            else:
                positional.append(word.strip())
    except ValueError:
        return None, None, None
    return found.group(1), positional, named


def shlex_split(s, **kwargs):
    """Split a text as a shell does; what is no text stays."""
    return shlex.split(s, **kwargs) if isinstance(s, str) else s


def split_input(val, mapper=None):
    """Return a list, made of a text by its commas."""
    mapper = mapper or (lambda word: word)
    if isinstance(val, list):
        return list(map(mapper, val))
    words = val.split(",") if isinstance(val, str) else str(val).split(",")
    return [mapper(word.strip()) for word in words]


def test_mode(**kwargs):
    """Say whether one of the arguments asks for test mode."""
    return any("test" in name.lower() and not name.startswith("__") and data.is_true(value) for name, value in kwargs.items())


# ---- as functions take them ---------------------------------------------------------------------------------


def clean_kwargs(**kwargs):
    """Return keyword arguments without those that begin with two underscores."""
    return {name: value for name, value in kwargs.items() if not name.startswith("__")}


def invalid_kwargs(invalid_kwargs, raise_exc=True):
    """Raise SaltInvocationError that names arguments, or return its text."""
    if not invalid_kwargs:
        return "" if not raise_exc else None
    names = [f"{name}={value}" for name, value in invalid_kwargs.items()] if isinstance(invalid_kwargs, dict) else invalid_kwargs
    text = "The following keyword arguments are not valid: {}".format(", ".join(names))
    if raise_exc:
        raise SaltInvocationError(text)
    return text


def get_function_argspec(func, is_class_method=None):
    """Return (args, varargs, keywords, defaults) of a function."""
    import inspect  # dear, and not every module asks

    if not callable(func):
        raise TypeError(f"{func} is not a callable")
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except ValueError:
        raise TypeError(f"Cannot inspect argument list for '{func}'") from None
    if is_class_method and not inspect.ismethod(func) and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    args, defaults, varargs, keywords = [], [], None, None
    for one in parameters:
        if one.kind == one.VAR_POSITIONAL:
            varargs = one.name
        elif one.kind == one.VAR_KEYWORD:
            keywords = one.name
        elif one.kind != one.KEYWORD_ONLY:
            args.append(one.name)
            if one.default is not one.empty:
                defaults.append(one.default)
    return _ArgSpec(args, varargs, keywords, tuple(defaults) or None)


def arg_lookup(fun, aspec=None):
    """Return {"args": [name], "kwargs": {name: default}} of a function."""
    spec = aspec or get_function_argspec(fun)
    n = len(spec.defaults or ())
    split = len(spec.args) - n
    return {"kwargs": dict(zip(spec.args[split:], spec.defaults or ())), "args": spec.args[:split]}


def argspec_report(functions, module=""):
    """Return what functions take, {name: {"args", "defaults", "varargs", "kwargs"}}."""
    ret = {}
    name = module + "." if module and "." not in module else module
    for fun, func in sorted(functions.items()):
        if fun == module or fun.startswith(name):
            try:
                spec = get_function_argspec(func)
            except TypeError:
                continue
            ret[fun] = {
                "args": spec.args or None,
                "defaults": spec.defaults,
                "varargs": True if spec.varargs else None,
                "kwargs": True if spec.keywords else None,
            }
    return ret


def format_call(fun, data, initial_ret=None, expected_extra_kws=(), is_class_method=None):
    """Return {"args": [...], "kwargs": {...}} with which `data` calls a function; what it does not take is refused."""
    ret = dict(initial_ret or {})
    ret.update(args=[], kwargs={})
    spec = get_function_argspec(fun, is_class_method)
    n_required = len(spec.args) - len(spec.defaults or ())
    given = dict(data)
    missing = [name for name in spec.args[:n_required] if name not in given]
    if missing:
        noun = "argument" if n_required == 1 else "arguments"
        raise SaltInvocationError(f"{fun.__name__} takes at least {n_required} {noun} ({n_required - len(missing)} given)")
    ret["args"] = [given.pop(name) for name in spec.args[:n_required]]
    for name, default in zip(spec.args[n_required:], spec.defaults or ()):
        ret["kwargs"][name] = given.pop(name, default)
    if spec.keywords:
        ret["kwargs"].update(given)
        return ret
    extra = [f"'{name}'" for name in given if name not in expected_extra_kws]
    if extra:
        where = ret.get("full", f"{fun.__module__}.{fun.__name__}")
        if len(extra) == 1:
            raise SaltInvocationError(f"{extra[0]} is an invalid keyword argument for '{where}'")
        names = "{} and {}".format(", ".join(extra[:-1]), extra[-1])
        raise SaltInvocationError(f"{names} are invalid keyword arguments for '{where}'")
    return ret


def prepare_kwargs(all_kwargs, class_init_kwargs):
    """Return (those that a class takes, the others)."""
    ours = {name: value for name, value in all_kwargs.items() if name in class_init_kwargs}
    return ours, {name: value for name, value in all_kwargs.items() if name not in class_init_kwargs}
