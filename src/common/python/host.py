# host.py - runs "#!py" files for a process at the other end of a socket. It is part of that program (see
# python.h) and needs nothing but Python's standard library.
#
# One JSON object per line. `lines` is where they come from; its descriptor is also where answers go. Values are
# those of common/py/py_wire.h. program(TEXT, NAME) is the code of a part of this program.
#
#   here   {"run": {"text", "file", "name", "vars", "memory", "seconds"}}
#          {"more": [{"text", "file"}, ...]}: more of this program
#          {"value": V}   {"error": [class, text]}
#          {"leave": true}: the end, answered by {"used": [names of modules that the zygote may import] | null: none needs to stay}
#          {"adopt": {"environ": [base64 of "NAME=value", ...]}}: of who asked the zygote for this interpreter
#   there  {"done": V}   {"failed": {"text", "frames": [[line, function], ...]}}, the innermost first
#          {"call": [function, [V, ...], {name: V}]}   {"has": function}   {"functions": true}
#          {"log": [level, text]}, which nobody answers
#
# While an answer is waited for, another file may have to be run: the function that was called rendered it.
import base64
import builtins
import collections
import collections.abc
import contextlib
import fcntl
import json
import logging
import math
import os
import resource
import signal
import sys
import time
import traceback
import types

TAG = "$py"
USED_MAX = 1000  # modules that an interpreter names at its end
MANY_TASKS = 100  # of an interpreter: where a job of as many came, another one is likely to
answers = open(lines.fileno(), "wb", closefd=False)


# ---- values --------------------------------------------------------------------------------------------------


def text_of(value):
    """Lone surrogates, which no other program takes, become U+FFFD."""
    if type(value) is str and value.isascii():
        return value
    try:
        value.encode()
        return str(value)
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def tagged(kind, content):
    return {TAG: [kind, content]}


def place_of(where):
    """Words for a place, which is a word or (the place around it, key)."""
    return where if isinstance(where, str) else f"{place_of(where[0])}[{where[1]!r}]"


def wire_of_number(value):
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else tagged("float", str(float(value)))
    return int(value) if -(2**63) <= value < 2**63 else tagged("int", str(int(value)))


SAME = frozenset((str, bool, type(None)))  # kinds whose values stay: send() sees to lone surrogates


def wire_of_pairs(value, where, made):
    """Of a dict of which some key is no plain text; `made` has what came before it."""
    pairs = list(made.items())
    pairs += [(key, to_wire(v, (where, key))) for key, v in list(value.items())[len(pairs):]]
    for key, _ in pairs:
        if not isinstance(key, str) or "\0" in key or key == TAG:
            return tagged("dict", [[to_wire(key, where), v] for key, v in pairs])
    return {text_of(key): v for key, v in pairs}


def wire_of_dict(value, where):
    made = {}
    for key, v in value.items():
        if type(key) is not str or "\0" in key or key == TAG:
            return wire_of_pairs(value, where, made)
        made[key] = v if type(v) in SAME else to_wire(v, (where, key))
    return made


def wire_of_items(value, where):
    return [to_wire(v, (where, i)) for i, v in enumerate(value)]


def to_wire(value, where):
    kind = type(value)
    if kind in SAME:
        return value
    if kind is dict:
        return wire_of_dict(value, where)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, (int, float)):
        return wire_of_number(value)
    if isinstance(value, (bytes, bytearray)):
        return tagged("bytes", base64.b64encode(value).decode())
    if isinstance(value, (dict, collections.abc.Mapping)):
        return wire_of_dict(value, where)
    for kind in tuple, frozenset, set:
        if isinstance(value, kind):
            return tagged(kind.__name__, wire_of_items(value, where))
    if isinstance(value, collections.abc.Iterable):
        return wire_of_items(value, where)
    raise TypeError(f"{place_of(where)} is of the class {type(value).__name__}, which is not data")


FROM_TAG = {
    "dict": lambda content: {key: value for key, value in content},
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "int": int,
    "float": float,
    "bytes": base64.b64decode,
}


def from_object(pairs):
    if len(pairs) == 1 and pairs[0][0] == TAG and isinstance(pairs[0][1], list) and len(pairs[0][1]) == 2:
        kind, content = pairs[0][1]
        if kind in FROM_TAG:
            return FROM_TAG[kind](content)
    return dict(pairs)


# ---- the line ------------------------------------------------------------------------------------------------


def writer():
    """The function that writes JSON. Python makes its encoder anew in each call of encode(), which takes longer than to write
    what a state returns; where its own one can be had, it is made once."""
    encoder = json.JSONEncoder(allow_nan=False, ensure_ascii=False)
    try:
        once = json.encoder.c_make_encoder(None, encoder.default, json.encoder.encode_basestring, None, ": ", ", ", False, False, False)
        "".join(once({"done": [1.5, None]}, 0))
    except (AttributeError, TypeError):
        return encoder.encode
    return lambda message: "".join(once(message, 0))


written = writer()
read_plain, read_tagged = json.JSONDecoder().raw_decode, json.JSONDecoder(object_pairs_hook=from_object).raw_decode


def send(message):
    text = written(message)
    try:
        line = text.encode()
    except UnicodeEncodeError:
        line = text_of(text).encode()
    answers.write(line + b"\n")
    answers.flush()


def receive():
    """The next answer to a question; runs what it is asked to run meanwhile. None at the end."""
    global tasks
    while True:
        line = lines.readline()
        if not line:
            return None
        text = line.decode()
        message, _ = read_tagged(text) if TAG in text else read_plain(text)
        task = next(filter(TASKS.__contains__, message), None)
        if task is None:
            return message
        tasks += 1
        TASKS[task](message[task])


def ask(question):
    send(question)
    answer = receive()
    if answer is None:
        raise SystemExit
    if "error" in answer:
        raise_here(*answer["error"])
    return answer["value"]


# ---- what files see ------------------------------------------------------------------------------------------


# The package `salt` of ours stands in for Salt's own, where that is not installed.
sys.path.extend(folder for folder in sys.argv[1:2] if folder)


def raise_here(name, text):
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        raise builtin(text)
    import salt.exceptions

    raise getattr(salt.exceptions, name, Exception)(text)


class Function:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        plain = [to_wire(v, f"argument {i + 1} of {self.__name__}") for i, v in enumerate(args)]
        named = {name: to_wire(v, f"{name} of {self.__name__}") for name, v in kwargs.items()}
        return ask({"call": [self.__name__, plain, named]})


class Functions(collections.abc.Mapping):
    """__salt__"""

    def __contains__(self, name):
        return isinstance(name, str) and ask({"has": name})

    def __getitem__(self, name):
        if name not in self:
            raise KeyError(name)
        return Function(name)

    def __iter__(self):
        return iter(ask({"functions": True}))

    def __len__(self):
        return len(ask({"functions": True}))

    def __getattr__(self, module):
        if module.startswith("__"):
            raise AttributeError(module)
        return FunctionsOf(self, module)


class FunctionsOf:
    """__salt__.test, as in __salt__.test.ping()"""

    def __init__(self, functions, module):
        self._functions, self._module = functions, module

    def __getattr__(self, name):
        try:
            return self._functions[f"{self._module}.{name}"]
        except KeyError:
            raise AttributeError(f"'{self._module}' has no function '{name}'") from None


class LogHandler(logging.Handler):
    def emit(self, record):
        send({"log": [record.levelno, text_of(self.format(record))]})


# ---- running -------------------------------------------------------------------------------------------------


class OutOfTime(BaseException):
    def __str__(self):
        return "the time for it is over"


def out_of_time(signum, frame):
    raise OutOfTime


def limit(what, most):
    hard = resource.getrlimit(what)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(what, (most, hard))


@contextlib.contextmanager
def limited(memory, seconds):
    """The other end watches the clock; the limit of the processor's time is for when that end has died. 0: no limit."""
    before = [(what, resource.getrlimit(what)) for what in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]
    try:
        if memory:
            limit(resource.RLIMIT_AS, memory)
        if seconds:
            limit(resource.RLIMIT_CPU, int(time.process_time()) + seconds)
        yield
    finally:
        for what, limits in before:
            resource.setrlimit(what, limits)


def frames_of(exception, file):
    """Lines of the file on the way to the exception, the innermost first."""
    if isinstance(exception, SyntaxError) and exception.filename == file:
        return [[exception.lineno or 0, ""]]
    found = [f for f in traceback.extract_tb(exception.__traceback__) if f.filename == file]
    return [[f.lineno or 0, "" if f.name == "<module>" else f.name] for f in reversed(found)]


def word_for(exception):
    said = exception.msg if isinstance(exception, SyntaxError) else str(exception)
    name = type(exception).__name__
    return text_of(f"{name}: {said}" if said else name)


def tell_failure(exception, file):
    send({"failed": {"text": word_for(exception), "frames": frames_of(exception, file)}})


def variables(given):
    grains, pillar, opts = given["grains"], given["pillar"], given["opts"]
    opts["grains"], opts["pillar"] = grains, pillar
    functions = Functions()
    saltenv, sls = given["saltenv"], given["sls"]
    context = given["context"]
    seen = dict(context, context=context) if context else {}
    seen.update(salt=functions, grains=grains, pillar=pillar, opts=opts, saltenv=saltenv, sls=sls)
    seen.update(__salt__=functions, __grains__=grains, __pillar__=pillar, __opts__=opts, __env__=saltenv, __sls__=sls)
    return seen


def run_file(asked, file):
    module = types.ModuleType(asked["name"])
    module.__file__ = file
    vars(module).update(variables(asked["vars"]))
    exec(compile(asked["text"], file, "exec", dont_inherit=True), vars(module))
    if not callable(getattr(module, "run", None)):
        raise AttributeError("it defines no function run()")
    return to_wire(module.run(), "what run() returned")


def run(asked):
    file = asked["file"]
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGXCPU])
        with limited(asked["memory"], asked["seconds"]):
            answer = run_file(asked, file)
    except BaseException as e:
        tell_failure(e, file)
    else:
        send({"done": answer})


def more(asked):
    for part in asked:
        exec(program(part["text"], part["file"]), globals())
    send({"done": True})


def used():
    """Modules of Python's library and of the package `salt` that were imported here. None: no interpreter needs to stay, as that
    package was not, and few tasks came."""
    library = os.path.dirname(os.__file__) + "/"

    def is_librarys(module):
        file = getattr(module, "__file__", None) or ""
        return file.startswith(library) and "-packages/" not in file

    if "salt" not in sys.modules and tasks < MANY_TASKS:
        return None
    new = {name: module for name, module in list(sys.modules.items()) if name not in at_start}
    return [name for name, module in new.items() if name.partition(".")[0] == "salt" or is_librarys(module)][:USED_MAX]


def leave(asked):
    names = used()
    if life is not None:
        # What runs in the background goes on. Before the answer, after which the other end lets go of the pipe.
        fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) & ~os.O_ASYNC)
    send({"used": names})
    os._exit(0)


def adopt(given):
    os.environ.clear()
    for one in map(base64.b64decode, given["environ"]):
        name, equals, value = one.partition(b"=")
        os.environb[name] = value


TASKS = {"run": run, "more": more, "leave": leave, "adopt": adopt}
life = None  # in the zygote's children: a pipe that they end with
tasks = 0  # that came
at_start = frozenset(sys.modules)
signal.signal(signal.SIGXCPU, out_of_time)
logging.basicConfig(handlers=[LogHandler()], level=logging.NOTSET, format="%(message)s")
receive()
