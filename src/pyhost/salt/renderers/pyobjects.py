"""The renderer pyobjects: an SLS file in Python, whose classes are the state modules."""
import os
import re

from salt import _host
from salt.utils.pyobjects import Map, Registry, SaltObject, StateFactory

_IMPORT = re.compile(r"^\s*import\s+(salt://.*)$")
_FROM = re.compile(r"^\s*from\s+(salt://.*)\s+import (.*)$")
_AS = re.compile(r"^(.*) as (.*)$")


class PyobjectsModule:
    """A file that was imported whole."""

    def __init__(self, name, attrs):
        self.name = name
        self.__dict__ = attrs

    def __repr__(self):
        return f"<module '{self.name}' (pyobjects)>"


def _class_name(module):
    return "".join(part.capitalize() for part in module.split("_"))


def _states():
    """{"PostgresUser": StateFactory("postgres_user"), ...}"""
    known = _host.functions("states", "the renderer pyobjects")
    return {_class_name(module): StateFactory(module, known.__contains__) for module in _host.host().state_modules()}


def _variables(saltenv, sls):
    """What a file sees."""
    here = _host.host()
    functions = here.functions("modules")
    Map.__salt__ = functions
    return dict(
        _states(), include=Registry.include, extend=Registry.make_extend, Map=Map, salt=SaltObject(functions),
        pillar=functions["pillar.get"], grains=functions["grains.get"], mine=functions["mine.get"], config=functions["config.get"],
        __salt__=functions, __pillar__=here.pillar(), __grains__=here.grains(), __opts__=here.opts(), __sls__=sls, __env__=saltenv)


class _File:
    """A file, and those that it imports by their place on the file server. Lines keep their numbers."""

    def __init__(self, text, path, saltenv, variables):
        self.path, self.saltenv, self.variables = path, saltenv, variables
        self.globals = dict(variables)
        self.lines = ["" if self._imports(line) else line for line in text.split("\n")]

    def run(self):
        """Run it in its own globals."""
        exec(compile("\n".join(self.lines), self.path, "exec", dont_inherit=True), self.globals)
        return self.globals

    def _imports(self, line):
        """True for a line that imports from the file server, which was done."""
        whole, some = _IMPORT.match(line), _FROM.match(line)
        if whole:
            url = whole.group(1).strip()
            name = os.path.splitext(os.path.basename(url))[0]
            self.globals[name] = PyobjectsModule(name, self._other(url))
        elif some:
            url = some.group(1).strip()
            self._take(some.group(2).split(","), self._other(url), url)
        return bool(whole or some)

    def _other(self, url):
        path = self.variables["__salt__"]["cp.cache_file"](url, self.saltenv)
        if not path:
            raise ImportError(f"Could not find the file '{url}'")
        with open(path, encoding="utf-8") as file:
            return _File(file.read(), path, self.saltenv, self.variables).run()

    def _take(self, names, found, url):
        for name in names:
            renamed = _AS.match(name.strip())
            name, alias = (part.strip() for part in renamed.groups()) if renamed else (name.strip(), name.strip())
            if name not in found:
                raise ImportError(f"'{name}' was not found in '{url}'")
            self.globals[alias] = found[name]


def render(template, saltenv="base", sls="", salt_data=True, tmplpath=None, **kwargs):
    """Return the data of the file's declarations; without `salt_data`, what such a file sees."""
    variables = _variables(saltenv, sls)
    if not salt_data:
        return variables
    text = template if isinstance(template, str) else template.read()
    Registry.empty()
    Registry.enabled = False  # states of imported files are not this one's
    try:
        file = _File(text.replace("\r\n", "\n"), tmplpath or ":string:", saltenv, variables)
    finally:
        Registry.enabled = True
    file.run()
    return Registry.salt_data()
