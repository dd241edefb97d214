"""The renderer pydsl: an SLS file in Python that declares states by calls."""
import functools
import types

from salt import _host
from salt.exceptions import SaltRenderError
from salt.utils import pydsl

PyDslError = pydsl.PyDslError


class _Module(types.ModuleType):
    """A file's module; in data it is its name."""

    def __repr__(self):
        return f"<module '{self.__name__}'>"


def _of_innermost(name):
    """The method of the file that is being rendered: functions of an included file declare in the one that calls them."""

    @functools.wraps(getattr(pydsl.Sls, name))
    def call(*args, **kws):
        try:
            return getattr(pydsl.Sls.get_render_stack()[-1], name)(*args, **kws)
        except PyDslError as exc:
            raise SaltRenderError(str(exc)) from exc

    return call


def render(template, saltenv="base", sls="", tmplpath=None, rendered_sls=None, compilation=None, **kws):
    """Return the data of the file's declarations."""
    here = _host.host()
    functions = _host.functions("modules", "the renderer pydsl")
    pydsl._Compilation.begin(compilation)
    file = pydsl.Sls(sls, saltenv, rendered_sls)
    module = _Module(sls)
    vars(module).update(
        __pydsl__=file, include=_of_innermost("include"), extend=_of_innermost("extend"), state=_of_innermost("state"),
        __salt__=functions, __grains__=here.grains(), __opts__=here.opts(), __pillar__=here.pillar(), __env__=saltenv, __sls__=sls,
        __file__=tmplpath)
    text = template if isinstance(template, str) else template.read()
    stack = file.get_render_stack()
    stack.append(file)
    try:
        exec(compile(text, tmplpath or ":string:", "exec", dont_inherit=True), vars(module))
        data = file.to_highstate(module)
    finally:
        stack.pop()
    pydsl._Compilation.modules[saltenv, sls] = module
    return data


def call(name):
    """Call a function for a cmd.call state."""
    return pydsl.Functions.call(name)
