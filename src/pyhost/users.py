# users.py - tasks about users' files whose functions no registry has: external pillars, renderers, grains, a look at what a sync
# brought. A part of loader.py's program.


def salts_function(kind, name):
    """The function "mod.fun" of Salt's own files, or None."""
    module, dot, function = name.partition(".")
    files = world.kind(kind, True).described(module) if world.given["salt"] else ()
    return next((f.functions[function] for f in files if f.why is None and function in f.functions), None)


def packaged_function(kind, name):
    """The function "mod.fun" of a file of the package `salt` that is part of this program, or None."""
    module, dot, function = name.partition(".")
    whole = f"salt.{kind}.{module}"
    try:
        return getattr(importlib.import_module(whole), function, None)
    except ModuleNotFoundError as e:
        if e.name != whole:  # the file is there, and imports what is not
            raise
        return None


def why_not(kind, name):
    """Why no file gives the function: the reasons of those that may have meant to."""
    module = name.partition(".")[0]
    files = world.kind(kind).all() + (world.kind(kind, True).described(module) if world.given["salt"] else [])
    return "; ".join(f.why for f in files if f.why is not None and module in (f.stem, *f.names))


def render_with(function, args, kwargs):
    """A renderer's call: it gets a template's output as a stream, and may give one."""
    if kwargs.pop("stream"):
        args = [io.StringIO(args[0]), *args[1:]]
    made = function(*args, renderers=world.loaded("renderers"), **kwargs)
    return made.read() if hasattr(made, "read") else made


def login_with(function, args, kwargs):
    """A call of a system for log-ins: it gets of the log-in what it names, and all of it with **kwargs."""
    taken = parameters_of(function)
    if not any(p.kind == VAR_KEYWORD for p in taken):
        kwargs = {word: value for word, value in kwargs.items() if any(p.name == word for p in taken)}
    return function(*args, **kwargs)


def said_of(exception, name, kind, file):
    """A failure in one line; of a renderer with its place, as its text is all that a user gets to see."""
    if isinstance(exception, SystemExit):
        return f"{name} called sys.exit({exception.code!r})"
    lines = frames_of(exception, file)
    if lines and type(exception).__name__ == "SaltRenderError":
        return text_of(f"{exception}; line {lines[0][0]}")
    if lines:
        return text_of(f"line {lines[0][0]}: {word_for(exception)}")
    if kind == "renderers":
        return f"{name}: {where_failed(exception)}"
    return str(exception) or type(exception).__name__


def call_user(asked):
    kind, name = asked["kind"], f"{asked['module']}.{asked['fun']}"
    try:
        with whole_lines, limited(asked["memory"], asked["seconds"]):
            function = world.kind(kind).find(name) or (packaged_function if asked["packaged"] else salts_function)(kind, name)
            if function is None:
                send({"failed": {"kind": "unavailable", "text": why_not(kind, name)}})
                return
            world.now = function.__module__
            call = (login_with if kind == "auth" else render_with if "stream" in asked["kwargs"]
                    else lambda call, args, kwargs: call(*args, **kwargs))
            answer = asked["find"] or lenient(call(function, asked["args"], asked["kwargs"]))
    except BaseException as e:
        said = said_of(e, name, kind, asked["kwargs"].get("tmplpath"))
        log.log(logging.ERROR if asked["log"] else logging.DEBUG, "%s failed:\n%s", name, trace_of(e))
        send({"failed": {"kind": "generic", "text": text_of(said)}})
    else:
        send({"done": answer, "grains": any(mentions(module, "grains") for module in world.modules)})


def argspec_of(function):
    """What sys.argspec tells of a function."""
    parameters = parameters_of(function)
    plain = [p for p in parameters if p.kind in PLAIN]
    defaults = [lenient(p.default) for p in plain if p.default is not p.empty]
    return {"args": [p.name for p in plain], "defaults": defaults or None,
            "varargs": any(p.kind == VAR_POSITIONAL for p in parameters) or None,
            "kwargs": any(p.kind == VAR_KEYWORD for p in parameters) or None}


def list_functions(asked):
    """All functions of a kind: users', and Salt's where no user's file has the name."""
    kind, found = world.kind(asked["kind"]), {}
    salts = world.kind(asked["kind"], True) if world.given["salt"] else None
    files = kind.all() + [salts.file(stem) for stem in sorted(salts.paths if salts else ()) if stem not in kind.paths]
    for file in files:
        for word, function in sorted(file.functions.items()) if file.why is None else ():
            told = {"doc": text_of(doc_of(function)), "argspec": argspec_of(function)}
            for name in file.names:
                found.setdefault(f"{name}.{word}", told)
    send({"done": found})


# The function that a file of the kind is there for.
ENTRIES = {"beacons": "beacon", "engines": "start", "pillar": "ext_pillar", "tops": "top", "renderers": "render", "output": "output", "sdb": "get", "auth": "auth"}


def check(asked):
    """Load files that a sync brought: their failures are lines of the log."""
    kind = world.kind(asked["kind"])
    entry = ENTRIES.get(asked["kind"])
    try:
        for stem in dict.fromkeys(asked["stems"]):
            file = kind.file(stem) if stem in kind.paths else None  # logs that it can't be loaded
            if file is not None and file.why is not None and not file.broken:
                log.warning("%s is not loaded: %s", file.path, file.why)
            elif file is not None and file.why is None and entry is not None and entry not in file.functions:
                log.warning("%s is of no use: it defines no function %s()", file.path, entry)
    except OutOfTime:
        send({"failed": {"kind": "generic", "text": "loading them takes too long"}})
    else:
        send({"done": True})


def gather_grains(asked):
    """Each function's grains, in the order of files and names; later ones see earlier ones."""
    found = []
    for file in world.kind("grains").all():
        for name, function in sorted(file.functions.items()):
            try:
                taken = {p.name for p in parameters_of(function)}
                extra = {word: value for word, value in (("grains", world.grains), ("proxy", Named())) if word in taken}
                said = function(**extra)
            except Exception as e:
                log.error("grains of %s are missing: %s(): %s", file.path, name, where_failed(e))
                continue
            if isinstance(said, dict):
                world.grains.update(said)
                found.append(lenient(said))
            elif said is not None:
                log.error("grains of %s are missing: %s() returned no dict", file.path, name)
    send({"done": found})


TASKS.update(grains=gather_grains, user=call_user, functions=list_functions, check=check)
