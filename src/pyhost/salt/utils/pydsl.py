"""The objects that files of the renderer pydsl write states with."""
import logging
from uuid import uuid4

from salt import _host
from salt.utils.odict import OrderedDict

log = logging.getLogger(__name__)

REQUISITES = set(
    "listen require watch prereq use listen_in require_in watch_in prereq_in use_in onchanges onfail".split())


class PyDslError(Exception):
    """A declaration that can't be."""


class Options(dict):
    """Options as attributes; one that is not set is None."""

    def __getattr__(self, name):
        return self.get(name)


class _Compilation:
    """What the files of one compilation share."""

    number = None
    decls, stack, modules = {}, [], {}

    @classmethod
    def begin(cls, number):
        """Forget the files of another compilation."""
        if cls.number != number or number is None:
            cls.number, cls.decls, cls.stack, cls.modules = number, {}, [], {}


class Functions:
    """Functions that cmd.call states call when they run; the states' data have names for them."""

    _known = {}

    @classmethod
    def keep(cls, function, args, kws):
        """Return the function's name."""
        name = f"<pydsl function {function.__name__} {len(cls._known) + 1}>"
        cls._known[name] = function, args, kws
        return name

    @classmethod
    def call(cls, name):
        """Call it with the arguments that were declared."""
        if name not in cls._known:
            raise PyDslError(f"{name} is not a function of a file that was rendered in this process")
        function, args, kws = cls._known[name]
        return function(*args, **kws)


class Sls:
    """One SLS file: __pydsl__."""

    def __init__(self, sls, saltenv, rendered_sls=None):
        self.name, self.saltenv = sls, saltenv
        self.rendered_sls = set() if rendered_sls is None else rendered_sls
        self.includes, self.extends, self.decls, self.funcs = [], [], [], []
        self.options = Options()

    @classmethod
    def get_all_decls(cls):
        """{ID: declaration} of all files."""
        return _Compilation.decls

    @classmethod
    def get_render_stack(cls):
        """The files that are being rendered, the innermost last."""
        return _Compilation.stack

    def set(self, **options):
        """Set options of this file."""
        self.options.update(options)

    def include(self, *sls_names, **kws):
        """Render other files now, and return their modules; or after this one."""
        saltenv = kws.get("saltenv", self.saltenv)
        if kws.get("delayed", False):
            self.includes += [(saltenv, name) for name in sls_names]
            return None
        for name in sls_names:
            _host.host().include(saltenv, name)
        found = [_Compilation.modules.get((saltenv, name)) for name in sls_names]
        return found[0] if len(found) == 1 else found or None

    def extend(self, *state_funcs):
        """Make extensions of declarations."""
        if self.options.ordered or self.last_func():
            raise PyDslError("Cannot extend() after the ordered option was turned on!")
        for function in state_funcs:
            declared = self.get_all_decls().pop(function.mod._state_id)
            self.extends.append(declared)
            if declared in self.decls:
                self.decls.remove(declared)

    def state(self, id=None):
        """Return the declaration of an ID."""
        if not id:
            id = f".{uuid4()}"
        known = self.get_all_decls()
        if id not in known:
            known[id] = StateDeclaration(id)
            self.decls.append(known[id])
        return known[id]

    def last_func(self):
        """The function that was created last, where their order counts."""
        return self.funcs[-1] if self.funcs else None

    def track_func(self, statefunc):
        """Remember a function that was created."""
        self.funcs.append(statefunc)

    def to_highstate(self, slsmod):
        """Return the file's data, with a state that stands for its module."""
        mark = f"_slsmod_{self.name}"
        self.state(mark).stateconf.set(slsmod=slsmod)
        del self.get_all_decls()[mark]
        data = OrderedDict()
        if self.includes:
            data["include"] = [{saltenv: name} for saltenv, name in self.includes]
        if self.extends:
            data["extend"] = OrderedDict((declared._id, declared._repr("extend")) for declared in self.extends)
        data.update((declared._id, declared._repr()) for declared in self.decls)
        return data

    def load_highstate(self, highstate):
        """Declare what an SLS file's data declare."""
        for id_, states in highstate.items():
            for name, args in states.items():
                module, dot, function = name.rpartition(".")
                if not dot:
                    module, function = name, next(arg for arg in args if isinstance(arg, str))
                named = dict(next(iter(arg.items())) for arg in args if isinstance(arg, dict))
                getattr(self.state(id_), module)(function, **named)


class StateDeclaration:
    """An ID; its attributes are state modules. A call runs its states now."""

    def __init__(self, id):
        self._id, self._mods = id, []

    def __getattr__(self, name):
        for module in self._mods:
            if module._name == name:
                return module
        self._mods.append(StateModule(name, self._id))
        return self._mods[-1]

    __getitem__ = __getattr__

    def __str__(self):
        return self._id

    def __iter__(self):
        return iter(self._mods)

    def _repr(self, context=None):
        return OrderedDict(module._repr(context) for module in self)

    def __call__(self, check=True):
        self._detach(Sls.get_render_stack()[-1])
        said = _host.functions("modules", "a call of a state of pydsl")["state.high"]({self._id: self._repr()})
        if not isinstance(said, dict):
            raise PyDslError("An error occurred while running highstate: {}".format("; ".join(said)))
        results = sorted(said.items(), key=lambda item: item[1]["__run_num__"])
        failed = next((dict([item]) for item in results if not item[1]["result"]), None)
        if check and failed:
            raise PyDslError(f"Failed executing low state at compile time:\n{failed}")
        return results

    def _detach(self, sls):
        """Take the ID out of the file."""
        if self._id not in sls.get_all_decls():
            return
        last = sls.last_func()
        if last and self._mods[-1]._func is not last:
            raise PyDslError(f"Cannot run state({self._mods[-1]._name}: {self._id}) that is required by a runtime "
                             f"state({last.mod}: {last.mod._state_id}), at compile time.")
        del sls.get_all_decls()[self._id]
        sls.decls.remove(self)
        self._mods[0]._func._remove_auto_require()
        own = [module._func for module in self._mods]
        sls.funcs[:] = [function for function in sls.funcs if function not in own]


class StateModule:
    """A state module of an ID; its attributes are the module's functions, of which it has one, and requisites."""

    def __init__(self, name, parent_decl):
        self._state_id, self._name, self._func = parent_decl, name, None

    def __getattr__(self, name):
        if self._func is None:
            self._func = StateFunction(None if name in REQUISITES else name, self)
            return getattr(self._func, name) if name in REQUISITES else self._func
        if name == self._func.name:
            return self._func
        if name in REQUISITES:
            return getattr(self._func, name)
        if self._func.name:
            raise PyDslError(f"Multiple state functions({name}) not allowed in a state module({self._name})!")
        self._func.name = name
        return self._func

    def __call__(self, _fname, *args, **kws):
        return getattr(self, _fname).configure(args, kws)

    def __str__(self):
        return self._name

    def _repr(self, context=None):
        if self._func is None:
            raise PyDslError(f"No state function specified for module: {self._name}")
        return self._name, self._func._repr(context)


class StateFunction:
    """A state function of an ID with its arguments and requisites."""

    def __init__(self, name, parent_mod):
        self.name, self.mod, self.args = name, parent_mod, []
        self.require_index = None  # of the requisite that keeps the order
        sls = Sls.get_render_stack()[-1]
        if sls.options.ordered:
            last = sls.last_func()
            if last:
                self.reference("require", last.mod, None)
                self.require_index = len(self.args) - 1
            sls.track_func(self)

    def __getattr__(self, name):
        if name not in REQUISITES:
            raise AttributeError(f"a state function has no attribute {name}")

        def refer(*args, **kws):
            for module in args:
                self.reference(name, module, None)
            for module, id_ in kws.items():
                self.reference(name, module, id_)
            return self

        return refer

    def _remove_auto_require(self):
        if self.require_index is not None:
            del self.args[self.require_index]
            self.require_index = None

    def __call__(self, *args, **kws):
        return self.configure(args, kws)

    def _repr(self, context=None):
        if self.name:
            return [self.name, *self.args]
        if context != "extend":
            raise PyDslError(f"No state function specified for module: {self.mod._name}")
        return self.args

    def configure(self, args, kws):
        """Add arguments; the first positional one is the name, or a function of Python's for cmd.call."""
        args = list(args)
        if args and self.mod._name == "cmd" and self.name in ("call", "wait_call") and callable(args[0]):
            function, *args = args
            kws = {"func": Functions.keep(function, args, kws), "args": args, "kws": kws}
            args = [function.__name__]
        if args:
            args[0] = {"name": args[0]}
        self.args += args + [{name: value} for name, value in kws.items()]
        return self

    def reference(self, req_type, mod, ref):
        """Add a requisite of a module of this file, or of a type and an ID."""
        if isinstance(mod, StateModule):
            ref = mod._state_id
        elif not (mod and ref):
            raise PyDslError(f"Invalid a requisite reference declaration! {mod}: {ref}")
        self.args.append({req_type: [{str(mod): str(ref)}]})
