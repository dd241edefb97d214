"""The outputter nested: keys and values, indented."""
from collections.abc import Mapping

_COLORS = {"CYAN": "\033[0;36m", "GREEN": "\033[0;32m", "LIGHT_YELLOW": "\033[0;1;33m", "RED": "\033[0;31m", "ENDC": "\033[0;0m"}


class NestDisplay:
    """Collects the lines of data."""

    def __init__(self, retcode=0, color=False, indent=0):
        self._retcode, self._color, self._base = retcode, color, indent

    def _line(self, indent, color, before, text, after=""):
        if not self._color:
            return f"{' ' * indent}{before}{text}{after}"
        return f"{' ' * indent}{_COLORS[color]}{before}{text}{after}{_COLORS['ENDC']}"

    def display(self, ret, indent, prefix, out):
        """Append the lines of a value to `out` and return it."""
        if ret is None or ret is True or ret is False:
            out.append(self._line(indent, "LIGHT_YELLOW", prefix, ret))
        elif isinstance(ret, (int, float)) and not isinstance(ret, str):
            out.append(self._line(indent, "LIGHT_YELLOW", prefix, repr(ret)))
        elif isinstance(ret, str):
            color = "RED" if self._retcode else "GREEN"
            first = prefix
            for line in ret.splitlines() or [""]:
                out.append(self._line(indent, color, first, line))
                first = " " * len(prefix)
        elif isinstance(ret, bytes):
            self.display(ret.decode("utf-8", "replace"), indent, prefix, out)
        elif isinstance(ret, (list, tuple)):
            self._list(ret, indent, out)
        elif isinstance(ret, Mapping):
            self._mapping(ret, indent, prefix, out)
        else:
            out.append(self._line(indent, "GREEN", prefix, str(ret)))
        return out

    def _list(self, ret, indent, out):
        for one in ret:
            if isinstance(one, (list, tuple, Mapping)):
                out.append(self._line(indent, "GREEN", "", "|_"))
                self.display(one, indent + 2, "" if isinstance(one, Mapping) else "- ", out)
            else:
                self.display(one, indent, "- ", out)

    def _mapping(self, ret, indent, prefix, out):
        if indent:
            out.append(self._line(indent, "CYAN", "", "----------"))
        keys = ret if hasattr(ret, "move_to_end") else sorted(ret, key=lambda key: (not isinstance(key, str), str(key)))
        for key in keys:
            out.append(self._line(indent, "CYAN", prefix, key, ":"))
            value = ret[key]
            if value == "":
                continue
            self.display(value, indent + 4, "", out)


def output(ret, opts=None, **kwargs):
    """Return data as text."""
    opts = opts or {}
    show = NestDisplay(kwargs.get("_retcode", 0), bool(opts.get("color")))
    return "\n".join(show.display(ret, opts.get("nested_indent", 0), "", []))
