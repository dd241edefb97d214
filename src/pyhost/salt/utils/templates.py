"""Templates, by the running program or by Jinja2."""
import os

from salt import _host
from salt.exceptions import SaltRenderError
from salt.utils import files, stringutils

SLS_ENCODING = "utf-8"
TEMPLATE_DIRNAME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")


def _text_of(tmplsrc, from_str):
    if from_str:
        return stringutils.to_unicode(tmplsrc)
    if hasattr(tmplsrc, "read"):
        text = tmplsrc.read()
        return stringutils.to_unicode(text)
    with files.fopen(tmplsrc) as source:
        return source.read()


def _variables(context, kws):
    names = ("salt", "grains", "pillar", "opts", "saltenv", "sls", "__env__", "proxy", "name", "env")
    found = {name: kws[name] for name in names if name in kws}
    found.update(context or {})
    found.update((name, value) for name, value in kws.items() if name not in found)
    return found


def _by_program(engine, text, variables, saltenv):
    """Return a text that the running program rendered, with its functions, grains, pillar and options."""
    given = {name: value for name, value in variables.items() if name not in ("salt", "grains", "pillar", "opts", "saltenv", "proxy")}
    render = _host.functions("modules", "salt.utils.templates")["file.apply_template_on_contents"]
    return render(text, engine, given, {}, saltenv or "base")


def _by_jinja2(text, variables):
    try:
        import jinja2
    except ImportError:
        raise NotImplementedError("templates are rendered in modules that the minion or the master runs; a script needs the package "
                                  "python3-jinja2") from None
    try:
        return jinja2.Environment(undefined=jinja2.Undefined, keep_trailing_newline=True, extensions=["jinja2.ext.do"]).from_string(
            text
        ).render(variables)
    except jinja2.TemplateError as exc:
        raise SaltRenderError(f"Jinja error: {exc}", getattr(exc, "lineno", None), text) from exc


def render_jinja_tmpl(tmplstr, context, tmplpath=None):
    """Return a template of Jinja as text."""
    variables = dict(context)
    if _host.host() is None:
        return _by_jinja2(tmplstr, variables)
    return _by_program("jinja", tmplstr, variables, variables.get("saltenv"))


def _engine(name):
    """Return the renderer of an engine that the running program may have."""

    def render(tmplstr, context, tmplpath=None):
        if _host.host() is None:
            raise NotImplementedError(f"templates of {name} are rendered in modules that the minion or the master runs")
        return _by_program(name, tmplstr, dict(context), context.get("saltenv"))

    return render


render_mako_tmpl = _engine("mako")
render_wempy_tmpl = _engine("wempy")
render_genshi_tmpl = _engine("genshi")
render_cheetah_tmpl = _engine("cheetah")


def wrap_tmpl_func(render_str):
    """Return a function that renders a file or a text and returns {"result", "data"}: the text, or a path of a file with it."""

    def render_tmpl(tmplsrc, from_str=False, to_str=False, context=None, tmplpath=None, **kws):
        try:
            text = render_str(_text_of(tmplsrc, from_str), _variables(context, kws), tmplpath)
        except (SaltRenderError, OSError) as exc:
            return {"result": False, "data": str(exc)}
        if to_str:
            return {"result": True, "data": text}
        path = files.mkstemp()
        with files.fopen(path, "wb") as out:
            out.write(stringutils.to_bytes(text))
        return {"result": True, "data": path}

    render_tmpl.render_str = render_str
    return render_tmpl


def py(sfn, string=False, **kwargs):
    """Run a file's function run() with its dunders and return {"result", "data"}."""
    import runpy
    import traceback

    if not os.path.isfile(sfn):
        return {}
    names = {f"__{name}__" if name in ("salt", "grains", "pillar", "opts") else name: value for name, value in kwargs.items()}
    try:
        data = runpy.run_path(sfn, names)["run"]()
    except Exception:
        return {"result": False, "data": traceback.format_exc()}
    if string:
        return {"result": True, "data": data}
    path = files.mkstemp()
    with files.fopen(path, "w") as out:
        out.write(data)
    return {"result": True, "data": path}


JINJA = wrap_tmpl_func(render_jinja_tmpl)
MAKO = wrap_tmpl_func(render_mako_tmpl)
WEMPY = wrap_tmpl_func(render_wempy_tmpl)
GENSHI = wrap_tmpl_func(render_genshi_tmpl)
CHEETAH = wrap_tmpl_func(render_cheetah_tmpl)
TEMPLATE_REGISTRY = {"jinja": JINJA, "mako": MAKO, "py": py, "wempy": WEMPY, "genshi": GENSHI, "cheetah": CHEETAH}


def generate_sls_context(tmplpath, sls):
    """Return the variables that tell a state file's name and place."""
    dots = sls.replace("/", ".")
    parts = dots.split(".")
    is_init = tmplpath.replace(os.sep, "/").endswith("/init.sls") or tmplpath == "init.sls"
    folder = parts if is_init else parts[:-1]
    path = "/".join(folder)
    return {
        "slspath": path,
        "slsdotpath": path.replace("/", "."),
        "slscolonpath": path.replace("/", ":"),
        "sls_path": path.replace("/", "_"),
        "tplpath": tmplpath,
        "tplfile": "/".join(folder + ["init.sls"]) if is_init else "/".join(parts) + ".sls",
        "tpldir": path or ".",
        "tpldot": path.replace("/", "."),
    }
