# loader.py - users' modules in this interpreter: the kinds of files, what each gets, and calls of their functions.
# It runs in host.py's namespace, after it, when the first such file is needed. Facts: Salt's loader as its
# documentation and behaviour show it.
#
#   here   {"setup": {"opts", "grains", "dirs": {KIND: [FOLDER, ...]}, "kind": KIND of __salt__, "level",
#                     "salt": folder that has Salt's package | null}}
#          {"describe": {"kind", "module" | null, "salt": bool}}
#          {"grains": true}
#          {"forget": {"grains"}}: files or what they see may have changed
#          {"invoke": {"kind", "stem", "fun", "bound", and unless false, empty or 0 "salt", "star", "keywords", "test", "globals",
#                      "umask", "memory": bytes}}
#          {"user": {"kind", "module", "fun", "find": bool, "args": [V, ...], "kwargs": {name: V}, "log": bool,
#                    "memory", "seconds", "packaged": bool}}
#          {"functions": {"kind"}}
#          {"extensions": {"options": {KIND: OPTION}}}: done are all folders then, as "dirs" of setup
#          {"check": {"kind", "stems": [NAME, ...]}}
#   there  {"done": V}, of grains a list of dicts, of functions {name: {"doc", "argspec"}}, of invoke {"done": V, "retcode": N}, of user {"done": V, "grains": bool}
#          {"failed": {"kind", "text", "trace"}}
#          {"find": [KIND, FUN]}: [its file's name, its own, Salt's file] where it is here, true where it is there, or null
#          {"call": [KIND, FUN, [V, ...], {name: V}]}
#          {"names": KIND}   {"include": [SALTENV, SLS]}   {"pillar": true}   {"fire": [TAG, DATA]}
#          {"jid_event": [TAG of the runner, SUFFIX, DATA]}
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import io
import os
import re
import zipimport

DEFAULT = tagged("default", [])


class Named(dict):
    """A dict that files may ask for its value(), as they do of Salt's."""

    def value(self):
        return self


# Name of a kind: its word in names of modules, and what its files get besides opts, grains, pillar and context.
KINDS = {
    "modules": ("module", ("salt", "utils", "proxy")),
    "states": ("states", ("salt", "utils", "states", "serializers", "proxy")),
    "grains": ("grains", ("utils", "proxy")),
    "utils": ("utils", ("utils", "salt", "proxy")),
    "runners": ("runners", ("salt", "utils")),
    "wheel": ("wheel", ()),
    "returners": ("returner", ("salt", "proxy")),
    "beacons": ("beacons", ("salt", "utils", "proxy")),
    "engines": ("engines", ("salt", "runners", "utils", "proxy")),
    "pillar": ("pillar", ("salt", "utils", "ext_pillar")),
    "tops": ("tops", ()),
    "renderers": ("render", ("salt", "states", "utils", "proxy")),
    "output": ("output", ("salt",)),
    "serializers": ("serializers", ()),
    "matchers": ("matchers", ()),
    "executors": ("executors", ("salt", "executors", "proxy")),
    "sdb": ("sdb", ("salt", "sdb", "utils")),
    "auth": ("auth", ("salt",)),
    "roster": ("roster", ("runner", "utils")),
    "clouds": ("clouds", ("salt", "utils")),
}
HERE = ("pillar", "tops", "renderers", "output", "returners", "beacons", "engines", "sdb", "auth")  # kinds whose functions are only called by name of the file, in the task "user"
DURING = ("low", "running", "instance_id", "lowstate", "env", "orchestration_jid", "jid", "user", "tag", "jid_event")


# ---- functions by name ---------------------------------------------------------------------------------------


class Far(Function):
    """A function of the other end."""

    def __init__(self, kind, name):
        super().__init__(name)
        self.kind = kind

    def __call__(self, *args, **kwargs):
        if callable(kwargs.get("log_callback")):
            # What makes lines fit for the log can't go along: there are none then.
            kwargs.update(log_callback=None, output_loglevel="quiet")
        plain = [to_wire(v, f"argument {i + 1} of {self.__name__}") for i, v in enumerate(args)]
        named = {name: to_wire(v, f"{name} of {self.__name__}") for name, v in kwargs.items()}
        return ask({"call": [self.kind, self.__name__, plain, named]})


class Loaded(Functions):
    """__salt__, __states__ and the like: the functions of a kind, from here and from the other end."""

    def __init__(self, kind):
        self._kind, self._own, self._known = kind, {}, {}

    def _find(self, name):
        """The function, or None; misses are asked for again, as a file that is being loaded may yet bring it."""
        found = self._own.get(name) or self._known.get(name)
        if found is None and isinstance(name, str):
            where = ask({"find": [self._kind, name]})
            if isinstance(where, list):
                stem, own, salts = where
                found = self._known[name] = world.kind(self._kind, salts).function(stem, own)
            elif where:
                found = self._known[name] = Far(self._kind, name)
        return found

    def __contains__(self, name):
        return self._find(name) is not None

    def __getitem__(self, name):
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __setitem__(self, name, function):
        self._own[name] = function

    def __delitem__(self, name):
        del self._own[name]

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def _names(self):
        return sorted(set(self._own).union(ask({"names": self._kind})))

    def _load_all(self):
        pass

    def missing_fun_string(self, name):
        return f"'{name}' is not available."


class Utils(Loaded):
    """__utils__: users' files in _utils, and the package salt.utils."""

    def _find(self, name):
        found = self._own.get(name) or world.kind("utils").find(name) or self._packaged(name)
        if found is not None:
            self._own[name] = found
        return found

    @staticmethod
    def _imported(word):
        """A file of salt.utils: of that name, else one that calls itself so (botomod is boto)."""
        try:
            return importlib.import_module("salt.utils." + word)
        except ModuleNotFoundError as e:
            stems = world.kind("utils", salts=True).virtual.get(word) if world.given["salt"] else None
            if not stems or e.name != "salt.utils." + word:
                raise
            return importlib.import_module("salt.utils." + stems[0])

    @classmethod
    def _packaged(cls, name):
        word, dot, function = name.partition(".")
        try:
            module = cls._imported(word) if dot else None
            if dot and module not in world.modules:
                inject(module, "utils")
            virtual = getattr(module, "__virtual__", None)
            said = virtual() if isinstance(virtual, types.FunctionType) else True
        except Exception as e:
            log.debug("salt.utils.%s cannot be used: %s", word, where_failed(e))
            return None
        usable = said[0] if isinstance(said, tuple) else said
        # salt.utils.vault says nothing where it has got __salt__ already.
        return getattr(module, function, None) if usable or usable is None else None

    def _names(self):
        return sorted(world.kind("utils").names())


class Here(Loaded):
    """__ext_pillar__ and the like: functions of a kind of which the other end has none."""

    def _find(self, name):
        if name not in self._own:
            self._own[name] = world.kind(self._kind).find(name) or salts_function(self._kind, name)
        return self._own[name]

    def _names(self):
        return world.kind(self._kind).names()


class Serializers(Loaded):
    """__serializers__: "json.serialize" of the package salt.serializers."""

    def _find(self, name):
        module, dot, function = name.partition(".")
        try:
            return getattr(importlib.import_module("salt.serializers." + module), function, None) if dot else None
        except ImportError:
            return None

    def _names(self):
        return []


# ---- one file ------------------------------------------------------------------------------------------------


class File:
    """A user's file of a kind, loaded: `why` says why its functions are not there."""

    def __init__(self, kind, stem, path):
        self.kind, self.stem, self.path = kind, stem, path
        self.names, self.why, self.broken = [stem], None, False
        self.functions, self.module, self.loading = {}, None, True
        self.full_name = f"halite.loaded.{kind.prefix}.{KINDS[kind.name][0]}.{stem}"

    def load(self):
        """Run the file. It counts as absent meanwhile, for it may ask whether functions are there, and look at all files by that."""
        try:
            self._load()
        except OutOfTime:
            raise
        except BaseException as e:
            self.broken, self.why = True, where_failed(e)
            self.names = names_in(text_of_file(self.path) or "") or [self.stem]
            level = logging.DEBUG if self.kind.prefix == "int" and isinstance(e, ImportError) else logging.ERROR
            log.log(level, "%s cannot be loaded: %s", self.path, self.why)
            log.debug("%s", whole_trace(e))
        self.loading = False

    def _load(self):
        folder = os.path.dirname(self.path)
        sys.path.append(folder)
        try:
            self.module = self._import()
        finally:
            sys.path.remove(folder)
        inject(self.module, self.kind.name)
        self._start()
        if self.why is None:
            self._ask_virtual()
        if self.why is None:
            self._collect()

    def _start(self):
        """The file's own __init__(opts), which Salt lets fail by a TypeError."""
        start = vars(self.module).get("__init__")
        try:
            if isinstance(start, types.FunctionType):
                start(world.opts)
        except TypeError as e:
            log.error("%s: __init__() failed: %s", self.path, where_failed(e))
        except Exception as e:
            self.why = f"__init__ failed: {where_failed(e)}"

    def _import(self):
        if self.path.endswith(".zip"):
            importer = zipimport.zipimporter(self.path)
            sys.path.insert(0, self.path)
            spec = importer.find_spec(self.full_name)
        else:
            inside = os.path.join(self.path, "__init__.py")
            package = os.path.isfile(inside)
            path = inside if package else self.path
            spec = importlib.util.spec_from_file_location(
                self.full_name, path, loader=Source(self.full_name, path) if path.endswith(".py") else None,
                submodule_search_locations=[self.path] if package else None)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.full_name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[self.full_name]
            raise
        return module

    def _ask_virtual(self):
        """Salt's __virtual__, __virtualname__ and __virtual_aliases__."""
        said, reason = self._said_virtual(), None
        if isinstance(said, tuple):
            said, reason = (*said, None, None)[:2]
        if said is None and reason is None:
            log.warning("%s: __virtual__() returned None, which counts as False", self.path)
        name = self._name(said)
        if said:
            self.names = [name, *getattr(self.module, "__virtual_aliases__", ())]
        else:
            self.names, self.why = [name], "" if reason is None else str(reason)

    def _name(self, said):
        named = getattr(self.module, "__virtualname__", said) if self._virtual() else self.stem
        if said == self.stem or not isinstance(named, str) or not named:
            return self.stem
        if isinstance(said, str) and said != named:
            log.error("%s: __virtual__() returned %r, and __virtualname__, which counts, is %r", self.path, said, named)
        return named

    def _virtual(self):
        """The file's function of that name, or None."""
        virtual = getattr(self.module, "__virtual__", None)
        return virtual if isinstance(virtual, types.FunctionType) else None

    def _said_virtual(self):
        virtual = self._virtual()
        try:
            return virtual() if virtual else True
        except Exception as e:
            name = self.full_name.replace("halite.", "salt.", 1)
            return False, f"Exception raised when processing __virtual__ function for {name}. Module will not be loaded: {e}"

    def _collect(self):
        aliases = getattr(self.module, "__func_alias__", {})
        listed = [vars(self.module)[word] for word in ("__load__", "__all__") if word in vars(self.module)]
        public = listed[0] if listed else dir(self.module)
        for name in public:
            function = getattr(self.module, name, None)
            if (not name.startswith("_") or name == "__call__") and is_own(function):
                self.functions[aliases.get(name, name)] = function
        self._keep_dependencies()

    def _keep_dependencies(self):
        """@depends of salt.utils.decorators takes functions away whose dependencies are missing."""
        decorators = sys.modules.get("salt.utils.decorators")
        if decorators is None or not hasattr(decorators, "Depends"):
            return
        full = {f"{self.stem}.{name}": function for name, function in self.functions.items()}
        decorators.Depends.enforce_dependencies(full, KINDS[self.kind.name][0], self.stem)
        self.functions = {name.partition(".")[2]: function for name, function in full.items()}


def is_own(function):
    """True for functions that a user's file defines: what it imports is not part of it, nor is a partial, unless that names
    the file as its __module__."""
    fit = isinstance(function, (types.FunctionType, functools.partial))
    return fit and str(function.__module__).startswith("halite.loaded.")


# ---- all files of a kind -------------------------------------------------------------------------------------


class Kind:
    prefix = "ext"

    def __init__(self, name, dirs):
        self.name, self.files = name, {}
        self.paths = {}
        for folder in reversed(dirs):
            self.paths.update(stems_of(folder))

    def file(self, stem):
        if stem not in self.files:
            self.files[stem] = File(self, stem, self.paths[stem])
            self.files[stem].load()
        return self.files[stem]

    def all(self):
        return [self.file(stem) for stem in sorted(self.paths)]

    def described(self, stem):
        return self.all() if stem is None else [self.file(stem)] if stem in self.paths else []

    def find(self, name):
        """The function "mod.fun", or None. A file of the module's name precedes others that give it functions."""
        module, dot, function = name.partition(".")
        first = [module] if module in self.paths else []
        for stem in first + sorted(self.paths):
            file = self.file(stem)
            if file.why is None and module in file.names and function in file.functions:
                return file.functions[function]
        return None

    def function(self, stem, name):
        return self.file(stem).functions[name]

    def names(self):
        return [f"{name}.{fun}" for file in self.all() if file.why is None for name in file.names
                for fun in file.functions]


def stems_of(folder):
    """{module's name: path} of a folder."""
    found = {}
    endings = [".zip", *importlib.machinery.EXTENSION_SUFFIXES, ".pyc", ".py"]
    for entry in sorted(os.scandir(folder), key=lambda one: one.name) if os.path.isdir(folder) else ():
        name, path = entry.name, entry.path
        ending = ".py" if name.endswith(".py") else next((e for e in endings if name.endswith(e)), None)
        package = entry.is_dir() and os.path.isfile(os.path.join(path, "__init__.py"))
        if name.startswith(("_", ".")) or not (ending or package):
            continue
        if text_of(name) != name:
            log.warning("%s is not used: its name is not UTF-8", path)
            continue
        stem = name if package else name[: -len(ending)]
        if package or stem not in found or ending == ".py":
            found[stem] = path
    return found


class World:
    """One job's files, and what they see."""

    def __init__(self, given):
        self.given, self.kinds, self.salts = given, {}, {}
        self.grains, self.context = Named(given["grains"]), Named()
        self.opts = given["opts"]
        self.opts["grains"] = self.grains
        self._add_own_grains()
        self.modules = []
        self.functions = {}
        self.during = {}  # what the running function's file is given by name
        self._pillar = None
        self.now = "print"  # the module that was called last
        self.calls = 0  # that are under way
        keep_bytecode(given["opts"].get("cachedir"))
        logging.getLogger().setLevel(given["level"])
        utils = given["dirs"].get("utils", [])
        sys.path.extend(folder for folder in utils if os.path.isdir(folder))

    def forget(self, grains):
        """Load files anew from here on, with these grains and the pillar of now; what runs goes on, and the context stays."""
        self.grains.clear()
        self.grains.update(grains)
        self._pillar = None
        folders = tuple(folder + "/" for folders in self.given["dirs"].values() for folder in folders)
        for name, module in list(sys.modules.items()):
            if name.startswith("halite.loaded.") or (getattr(module, "__file__", None) or "").startswith(folders):
                del sys.modules[name]
        self.kinds, self.salts, self.functions, self.modules = {}, {}, {}, []
        text_of_file.cache_clear()
        importlib.invalidate_caches()

    def _add_own_grains(self):
        """What an interpreter knows of itself, in place of what the minion told by the names of files."""
        own = {"pythonversion": list(sys.version_info), "pythonexecutable": sys.executable, "pythonpath": list(sys.path)}
        if self.given["salt"]:
            own["saltpath"] = os.path.join(self.given["salt"], "salt")
        self.grains.update(own)

    def kind(self, name, salts=False):
        if salts and name not in self.salts:
            self.salts[name] = SaltKind(name, [os.path.join(self.given["salt"], "salt", name)])
        if not salts and name not in self.kinds:
            self.kinds[name] = Kind(name, self.given["dirs"].get(name, []))
        return (self.salts if salts else self.kinds)[name]

    def pillar(self):
        if self._pillar is None:
            self._pillar = Named(ask({"pillar": True}))
        return self._pillar

    def loaded(self, kind):
        """The functions of a kind as files see them."""
        if kind not in self.functions:
            own = {"utils": Utils, "serializers": Serializers, **dict.fromkeys(HERE, Here)}
            self.functions[kind] = own.get(kind, Loaded)(kind)
        return self.functions[kind]

    def thing(self, word):
        """What __WORD__ is."""
        if word == "salt":
            return self.loaded(self.given["kind"])
        if word in ("proxy", "runner"):
            return Named()
        return self.loaded("pillar" if word == "ext_pillar" else word)


def inject(module, kind):
    """A file's own __opts__ are defaults below the real ones; each file has its own copy."""
    own = getattr(module, "__opts__", None)
    module.__opts__ = Named(own if isinstance(own, dict) else {})
    module.__opts__.update(world.opts)
    module.__grains__, module.__context__ = world.grains, world.context
    if mentions(module, "pillar") or mentions(module, "sdb"):  # salt.utils.sdb looks for profiles there
        module.__opts__["pillar"] = module.__pillar__ = world.pillar()
    for word in KINDS[kind][1]:
        setattr(module, f"__{word}__", world.loaded(kind) if kind == "output" else world.thing(word))
    give_during(module)
    world.modules.append(module)


def give_during(module):
    for word, value in world.during.items():
        setattr(module, f"__{word}__", value)


@functools.lru_cache(maxsize=None)
def text_of_file(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def mentions(module, word):
    """True when the file may use it; what has no source may use everything."""
    text = text_of_file(getattr(module, "__file__", None) or "")
    return text is None or word in text or "import" in text and hasattr(module, "__path__")


# ---- tasks ---------------------------------------------------------------------------------------------------


def lenient(value):
    """A return: what is no data becomes its text, as on Salt's wire."""
    try:
        return to_wire(value, "the return")
    except TypeError:
        pass
    if isinstance(value, dict):
        return tagged("dict", [[lenient(key), lenient(v)] for key, v in value.items()])
    if isinstance(value, (list, tuple)):
        return [lenient(v) for v in value]
    return text_of(str(value))


def row_of(parameter):
    """[name, default's wire form]; a parameter without default is [name]."""
    if parameter.default is parameter.empty:
        return [parameter.name]
    try:
        wire = to_wire(parameter.default, parameter.name)
    except TypeError:
        return [parameter.name, DEFAULT]
    return [parameter.name, wire if TAG not in json.dumps(wire) else DEFAULT]


def signature_of(function):
    rows = {"pos": [], "star": None, "only": [], "starstar": None}
    try:
        parameters = parameters_of(function)
    except (TypeError, ValueError):
        return dict(rows, star="args", starstar="kwargs")
    for p in parameters:
        if p.kind in PLAIN:
            rows["pos"].append(row_of(p))
        elif p.kind == KEYWORD_ONLY:
            rows["only"].append(row_of(p))
        else:
            rows["star" if p.kind == VAR_POSITIONAL else "starstar"] = p.name
    return rows


def outputter_of(file, function):
    """The outputter that the file says for a function's return, or None."""
    said = getattr(file.module, "__outputter__", None)
    name = said.get(getattr(function, "__name__", None)) if isinstance(said, dict) else None
    return name if isinstance(name, str) else None


def describe_file(file):
    functions = [
        dict(signature_of(function), name=name, doc=text_of(doc_of(function)), out=outputter_of(file, function))
        for name, function in sorted(file.functions.items())
    ]
    text = text_of_file(file.path)  # None of a package and of bytecode: they may use everything
    wants = [word for word in DURING if text is None or f"__{word}__" in text]
    return {"file": file.path, "stem": file.stem, "names": file.names, "why": file.why, "broken": file.broken,
            "doc": text_of(doc_of(file.module)) if file.module else "", "functions": functions,
            "wants": wants}


def describe(asked):
    files = world.kind(asked["kind"], asked["salt"]).described(asked["module"])
    send({"done": [describe_file(file) for file in files if not file.loading]})


def arguments_of(function, asked):
    """Positional and keyword arguments of what the other end has bound by the rows of signature_of()."""
    star, named = asked.get("star"), asked["bound"]
    if DEFAULT in named.values():
        named = {name: value for name, value in named.items() if value != DEFAULT}
    if "keywords" in asked:
        named.update(asked["keywords"])
    if not star:
        return (), named
    positions = []
    for p in parameters_of(function):
        if p.kind in PLAIN:
            positions.append(named.pop(p.name, p.default))
    return (*positions, *star), named


class JidEvent:
    """__jid_event__: events under the tag of the runner that runs."""

    def __init__(self, base):
        self.base = base

    def fire_event(self, data, tag):
        suffix = "/".join(tag) if isinstance(tag, (list, tuple)) else str(tag)
        return ask({"jid_event": [self.base, suffix.strip("/"), to_wire(data, "data")]})


def set_globals(asked):
    test, globals_ = asked.get("test", False), asked.get("globals", {})
    world.opts["test"] = test
    base = globals_.get("jid_event")
    if base is not None:
        globals_["jid_event"] = JidEvent(base)
    world.during = globals_
    for module in world.modules:
        module.__opts__["test"] = test
        if globals_:
            give_during(module)


@contextlib.contextmanager
def masked(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def called(function, args, kwargs, asked):
    """The return, within the umask of a state that has one, or the memory of a function of the master."""
    if "umask" in asked:
        with masked(asked["umask"]):
            return lenient(function(*args, **kwargs))
    if "memory" in asked:
        with limited(asked["memory"], 0):
            return lenient(function(*args, **kwargs))
    return lenient(function(*args, **kwargs))


def invoke(asked):
    try:
        set_globals(asked)
        function = world.kind(asked["kind"], asked.get("salt", False)).function(asked["stem"], asked["fun"])
        world.now = function.__module__
        args, kwargs = arguments_of(function, asked)
        with whole_lines:
            answer = called(function, args, kwargs, asked)
        retcode = world.context.get("retcode")
    except BaseException as e:
        if isinstance(e, SystemExit):
            e = RuntimeError(f"{asked['fun']} called sys.exit({e.code!r})").with_traceback(e.__traceback__)
        log.debug("%s", whole_trace(e))
        send({"failed": failure_of(e, asked["kind"])})
    else:
        send({"done": answer, "retcode": retcode if isinstance(retcode, int) else 0})


def set_up(given):
    global world
    choose_salt(given["salt"])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGXCPU])
    world = World(given)
    sys.modules["halite_host"] = host_module()
    send({"done": True})


def forget(asked):
    world.forget(asked["grains"])
    send({"done": True})


def include_sls(saltenv, sls):
    """Render another SLS file now, for the renderer pydsl."""
    return ask({"include": [saltenv, sls]})


def state_modules():
    """The names of all state modules; Salt's own files are not loaded for that."""
    found = {name.partition(".")[0] for name in ask({"names": "states"})}
    if world.given["salt"]:
        salts = world.kind("states", True)
        found.update(salts.paths, salts.virtual)
    return sorted(found)


def host_module():
    """What the package `salt` asks of this program."""
    module = types.ModuleType("halite_host")
    module.functions = module.loader = lambda kind: world.loaded(kind)
    module.opts, module.grains, module.pillar = (lambda: world.opts), (lambda: world.grains), world.pillar
    module.include, module.state_modules = include_sls, state_modules
    module.fire = lambda tag, data: ask({"fire": [tag, to_wire(data, "data")]})
    return module


world, chosen, salts_folder = None, False, None
log = logging.getLogger("loader")
TASKS.update(setup=set_up, describe=describe, invoke=invoke, forget=forget)
