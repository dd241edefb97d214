"""Data as text for people."""
import contextlib
import json
import logging
import os
import pprint
import re
import sys

from salt import _host
from salt.output import nested
from salt.utils import files, stringutils

log = logging.getLogger(__name__)


def _json(data, opts):
    indent = opts.get("output_indent", "pretty")
    if indent == "pretty":
        return json.dumps(data, indent=4, ensure_ascii=False, default=repr, sort_keys=True)
    if isinstance(indent, int) and not isinstance(indent, bool) and indent >= 0:
        return json.dumps(data, indent=indent, ensure_ascii=False, default=repr)
    return json.dumps(data, ensure_ascii=False, default=repr)


def _yaml(data, opts):
    from salt.utils import yaml

    indent = opts.get("output_indent", "pretty")
    more = {"indent": indent} if isinstance(indent, int) and indent >= 0 else {}
    return yaml.safe_dump(data, default_flow_style=indent if isinstance(indent, bool) else False, **more)


def _txt(data, opts):
    if not isinstance(data, dict):
        return str(data) + "\n"
    lines = []
    for key, value in data.items():
        try:
            lines += [f"{key}: {line}" for line in value.splitlines()] or [f"{key}: {value}"]
        except AttributeError:
            lines.append(f"{key}: {value}")
    return "\n".join(lines) + "\n"


def _values(data):
    if isinstance(data, dict):
        return [one for value in data.values() for one in _values(value)]
    if isinstance(data, list):
        return [one for value in data for one in _values(value)]
    return [str(data)]


_OUTPUTTERS = {
    "json": _json,
    "nested": lambda data, opts: nested.output(data, opts),
    "newline_values_only": lambda data, opts: "\n".join(_values(data)),
    "pprint": lambda data, opts: pprint.pformat(data) if isinstance(data, dict) else repr(data),
    "quiet": lambda data, opts: "",
    "raw": lambda data, opts: f"{data}\n",
    "txt": _txt,
    "yaml": _yaml,
}


def get_printout(out, opts=None, **kwargs):
    """Return the function that makes text of data; the nested one for an outputter that there is not."""
    opts = dict(opts or {}, **kwargs)
    out = opts.get("output") if out is None else out
    out = {"text": "txt", None: "nested", "": "nested"}.get(out, out)
    here = _host.host()
    own = here.functions("output") if here is not None else {}
    for name in (f"{out}.output", out):
        if name in own:
            return own[name]
    if out not in _OUTPUTTERS:
        log.error("Invalid outputter %s specified, falling back to nested", out)
    return lambda data, **more: _OUTPUTTERS.get(out, _OUTPUTTERS["nested"])(data, opts)


def try_printout(data, out, opts, **kwargs):
    """Return data as text; as nested when the outputter fails."""
    try:
        text = get_printout(out, opts)(data, **kwargs)
    except (KeyError, AttributeError, TypeError):
        log.debug("the outputter %s can't show this", out, exc_info=True)
        text = get_printout("nested", opts)(data)
    return text.rstrip() if isinstance(text, str) else text


def string_format(data, out, opts=None, **kwargs):
    """Return data as text, without colours unless the options ask for them."""
    return try_printout(data, out, {} if opts is None else opts, **kwargs)


def out_format(data, out, opts=None, **kwargs):
    """Return data as text."""
    return try_printout(data, out, {} if opts is None else opts, **kwargs)


def html_format(data, out, opts=None, **kwargs):
    """Raise: there is no program that makes HTML of colours."""
    raise NotImplementedError("html_format needs the program ansi2html: use out_format and escape its text")


def display_output(data, out=None, opts=None, **kwargs):
    """Print data, or write it to the file that the options name."""
    opts = opts or {}
    text = try_printout(data, out, opts, **kwargs)
    name = opts.get("output_file")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if name and name != os.devnull:
        with files.fopen(name, "a" if opts.get("output_file_append") else "w") as file:
            if text:
                file.write(strip_esc_sequence(text) if not opts.get("force_color") else text)
                file.write("\n")
        return
    if text:
        with contextlib.suppress(BrokenPipeError):
            stringutils.print_cli(text)
            sys.stdout.flush()


def strip_esc_sequence(txt):
    """Return a text whose colours are told rather than shown."""
    if isinstance(txt, bytes):
        return txt.replace(b"\033", b"?")
    return txt.replace("\033", "?") if isinstance(txt, str) else txt


def strip_colors(txt):
    """Return a text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", txt)
