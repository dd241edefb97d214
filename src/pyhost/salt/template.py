"""Files of state trees, rendered by the running program."""
import io

from salt import _host
from salt.utils import files


def template_shebang(template, renderers, default, blacklist, whitelist, input_data):
    """Return [(renderer, argument)] that a file's first line names, or the default's."""
    text = input_data
    if template and template != ":string:":
        with files.fopen(template) as source:
            text = source.read()
    first = (text or "").splitlines()[0] if text else ""
    line = first[2:].strip() if first.startswith("#!") and not first.startswith("#!/") else default
    return check_render_pipe_str(line, renderers, blacklist, whitelist)


def check_render_pipe_str(pipestr, renderers, blacklist, whitelist):
    """Return [(renderer's function, argument)] of a text such as "jinja|yaml"; those of the blacklist are left out."""
    if not pipestr:
        return []
    found = []
    for part in pipestr.split("|"):
        name, _, argument = part.strip().partition(" ")
        if name in renderers and not (blacklist and name in blacklist) and not (whitelist and name not in whitelist):
            found.append((renderers[name], argument.strip()))
    return found


def compile_template(template, renderers, default, blacklist, whitelist, saltenv="base", sls="", input_data="", context=None, **kwargs):
    """Return what a file says, after each of its renderers."""
    text = input_data
    if template != ":string:":
        with files.fopen(template) as source:
            text = source.read()
    if not text or not text.strip():
        return {}
    if not renderers:
        render = _host.functions("modules", "salt.template.compile_template")["slsutil.renderer"]
        return render(string=text, default_renderer=default, saltenv=saltenv, **dict(context or {}, **kwargs))
    data = io.StringIO(text)
    for render, argument in template_shebang(":string:", renderers, default, blacklist, whitelist, text):
        more = dict(kwargs, context=context) if context else dict(kwargs)
        data = render(data, saltenv=saltenv, sls=sls, argline=argument, **more)
    return data.read() if hasattr(data, "read") else data


def compile_template_str(template, renderers, default, blacklist, whitelist):
    """Return what a text says, after each of its renderers."""
    return compile_template(":string:", renderers, default, blacklist, whitelist, input_data=template)
