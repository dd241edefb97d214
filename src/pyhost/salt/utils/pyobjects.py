"""The objects that files of the renderer pyobjects write states with."""
import inspect
import logging

from salt.utils.odict import OrderedDict

log = logging.getLogger(__name__)

_WORDS = ("listen", "onchanges", "onfail", "require", "watch", "use")
REQUISITES = _WORDS + tuple(word + "_in" for word in _WORDS)


class StateException(Exception):
    """A state that can't be declared."""


class DuplicateState(StateException):
    """A function of a module that an ID has already."""


class InvalidFunction(StateException):
    """A function that no state module has."""


class Registry:
    """What the file that is being rendered has declared."""

    states, extends = OrderedDict(), OrderedDict()
    requisites, includes = [], []
    enabled = True

    @classmethod
    def empty(cls):
        """Forget all declarations."""
        cls.states, cls.extends = OrderedDict(), OrderedDict()
        cls.requisites, cls.includes = [], []

    @classmethod
    def include(cls, *args):
        """Include SLS files."""
        if cls.enabled:
            cls.includes = cls.includes + list(args)

    @classmethod
    def salt_data(cls):
        """Return the declarations as an SLS file's data, and forget them."""
        data = OrderedDict(cls.states)
        if cls.includes:
            data["include"] = cls.includes
        if cls.extends:
            data["extend"] = cls.extends
        cls.empty()
        return data

    @classmethod
    def add(cls, id_, state, extend=False):
        """Declare a state, with the requisites of the `with` blocks around it."""
        if not cls.enabled:
            return
        declared = (cls.extends if extend else cls.states).setdefault(id_, OrderedDict())
        if state.full_func in declared:
            raise DuplicateState(f"A state with id ''{id_}'', type ''{state.full_func}'' exists")
        for requisite in cls.requisites:
            state.kwargs.setdefault(requisite.requisite, []).append(requisite())
        declared.update(state())

    @classmethod
    def extend(cls, id_, state):
        """Declare an extension of another file's ID."""
        cls.add(id_, state, extend=True)

    @classmethod
    def make_extend(cls, name):
        """Return what stands for an ID that is extended."""
        return StateExtend(name)

    @classmethod
    def push_requisite(cls, requisite):
        """Enter a `with` block."""
        if cls.enabled:
            cls.requisites.append(requisite)

    @classmethod
    def pop_requisite(cls):
        """Leave a `with` block."""
        if cls.enabled:
            cls.requisites.pop()


class StateExtend:
    """extend("ID")"""

    def __init__(self, name):
        self.name = name


class StateRequisite:
    """Pkg("nginx"): a reference to a state, which may be the requisite of a `with` block."""

    def __init__(self, requisite, module, id_):
        self.requisite, self.module, self.id_ = requisite, module, id_

    def __call__(self):
        return {self.module: self.id_}

    def __enter__(self):
        Registry.push_requisite(self)

    def __exit__(self, type, value, traceback):
        Registry.pop_requisite()


class StateFactory:
    """A state module: Pkg.installed("nginx") declares a state, and Pkg("nginx") refers to one."""

    def __init__(self, module, valid_funcs=None):
        self.module = module
        self.valid_funcs = [] if valid_funcs is None else valid_funcs

    def __getattr__(self, func):
        if not self._is_valid(func):
            raise InvalidFunction(f"The function '{func}' does not exist in the StateFactory for '{self.module}'")

        def declare(id_, **kwargs):
            return State(id_, self.module, func, **kwargs)

        return declare

    def _is_valid(self, func):
        """`valid_funcs` are names, or a function that tells of one; without any every name is."""
        if callable(self.valid_funcs):
            return self.valid_funcs(f"{self.module}.{func}")
        return not self.valid_funcs or func in self.valid_funcs

    def __call__(self, id_, requisite="require"):
        return StateRequisite(requisite, self.module, id_)


class State:
    """A state that was declared; in a `with` statement, what the states of the block require."""

    def __init__(self, id_, module, func, **kwargs):
        self.module, self.func, self.kwargs = module, func, kwargs
        for word in REQUISITES:
            if word in kwargs and not hasattr(kwargs[word], "__iter__"):
                kwargs[word] = [kwargs[word]]
        extends = isinstance(id_, StateExtend)
        self.id_ = id_.name if extends else id_
        Registry.add(self.id_, self, extend=extends)
        self.requisite = StateRequisite("require", module, self.id_)

    @property
    def attrs(self):
        """The arguments as an SLS file has them, in the order of their names."""
        for word in REQUISITES:
            if word in self.kwargs:
                self.kwargs[word] = [item() if isinstance(item, StateRequisite) else item for item in self.kwargs[word]]
        return [{name: self.kwargs[name]} for name in sorted(self.kwargs)]

    @property
    def full_func(self):
        """The function's name."""
        return f"{self.module}.{self.func}"

    def __str__(self):
        return f"{self.id_} = {self.full_func}:{self.attrs}"

    def __call__(self):
        return {self.full_func: self.attrs}

    def __enter__(self):
        Registry.push_requisite(self.requisite)

    def __exit__(self, type, value, traceback):
        Registry.pop_requisite()


class _Module:
    """salt.cmd of salt.cmd.run(...)"""

    def __init__(self, functions, name):
        self._functions, self._name = functions, name

    def __getattr__(self, func):
        try:
            return self._functions[f"{self._name}.{func}"]
        except KeyError:
            raise AttributeError(f"there is no function {self._name}.{func}") from None


class SaltObject:
    """The execution functions as attributes: salt.cmd.run(...)."""

    def __init__(self, salt):
        self._salt = salt

    def __getattr__(self, mod):
        return _Module(self._salt, mod)


def need_salt(*a, **k):
    """Stand for a function of Map's before a file is rendered."""
    log.error("Map needs __salt__ set before it can be used!")
    return {}


class MapMeta(type):
    """Gives a Map the attributes of those of its inner classes that fit the minion's grains."""

    def __init__(cls, name, bases, nmspc):
        super().__init__(name, bases, nmspc)
        for attribute, value in cls._chosen(nmspc).items():
            setattr(cls, attribute, value)

    def _chosen(cls, nmspc):
        """{name: value} of the classes that fit, later ones over earlier ones, and the pillar's over all of them."""
        cases = [cls._case(name, inner) for name, inner in nmspc.items() if not name.startswith("_") and inspect.isclass(inner)]
        chosen, grains = {}, {}
        if cases:
            grains = Map.__salt__["grains.item"](*sorted({grain for grain, _, _ in cases}))
        for grain, match, attributes in cls._in_order(cases):
            if grain in grains and grains[grain] == match:
                chosen.update(attributes)
        if hasattr(cls, "merge"):
            chosen.update(Map.__salt__["pillar.get"](cls.merge) or {})
        return chosen

    @staticmethod
    def _case(name, inner):
        attributes = {word: value for word, value in vars(inner).items() if not word.startswith("_")}
        return getattr(inner, "__grain__", "os_family"), getattr(inner, "__match__", name), attributes

    def _in_order(cls, cases):
        """Cases of the grains of `priority` in its order, then the others."""
        priority = getattr(cls, "priority", ())
        if not hasattr(priority, "__iter__"):
            log.error("pyobjects: priority must be an iterable")
            return cases
        order = list(priority)
        return sorted(cases, key=lambda case: order.index(case[0]) if case[0] in order else len(order))


class Map(metaclass=MapMeta):
    """The base of classes whose attributes depend on grains."""

    __salt__ = {"grains.filter_by": need_salt, "pillar.get": need_salt, "grains.item": need_salt}
