"""Text."""
import difflib
import errno
import fnmatch
import logging
import os
import random as _random
import re
import shlex
import time
import unicodedata

log = logging.getLogger(__name__)


# ---- text and bytes -----------------------------------------------------------------------------------------


def _encodings(encoding):
    if encoding is None:
        return ("utf-8",)
    return tuple(encoding) if isinstance(encoding, (list, tuple)) else (encoding,)


def _decoded(value, encoding, errors):
    """Decode by the first encoding that fits; the last one's error is raised."""
    names = _encodings(encoding)
    if not names:
        raise ValueError("encoding cannot be empty")
    for name in names[:-1]:
        try:
            return bytes(value).decode(name, errors)
        except UnicodeDecodeError:
            continue
    return bytes(value).decode(names[-1], errors)


def to_bytes(s, encoding=None, errors="strict"):
    """Return text as bytes, UTF-8 by default."""
    if isinstance(s, (bytes, bytearray)):
        return bytes(s)
    if not isinstance(s, str):
        raise TypeError(f"expected str, bytes, or bytearray not {type(s)}")
    names = _encodings(encoding)
    if not names:
        raise ValueError("encoding cannot be empty")
    for name in names[:-1]:
        try:
            return s.encode(name, errors)
        except UnicodeEncodeError:
            continue
    return s.encode(names[-1], errors)


def to_str(s, encoding=None, errors="strict", normalize=False):
    """Return bytes as text; `normalize` composes accents."""
    if isinstance(s, (bytes, bytearray)):
        s = _decoded(s, encoding, errors)
    elif not isinstance(s, str):
        raise TypeError(f"expected str, bytes, or bytearray not {type(s)}")
    return unicodedata.normalize("NFC", s) if normalize else s


def to_unicode(s, encoding=None, errors="strict", normalize=False):
    """Return bytes as text."""
    return to_str(s, encoding, errors, normalize)


def is_binary(data):
    """Say whether data looks like no text."""
    if not data or not isinstance(data, (str, bytes)):
        return False
    if isinstance(data, bytes):
        if b"\0" in data:
            return True
        odd = data.translate(None, bytes(range(32, 127)) + b"\n\r\t\f\b")
        return len(odd) / len(data) > 0.3
    if "\0" in data:
        return True
    plain = set("".join(map(chr, range(32, 127))) + "\n\r\t\f\b")
    return sum(c not in plain for c in data) / len(data) > 0.3


# ---- questions about text -----------------------------------------------------------------------------------


def to_num(text):
    """Return a number where the text is one, else the text."""
    for kind in int, float:
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def to_none(text):
    """Return None for blank text."""
    return text if str(text).strip() else None


def is_quoted(value):
    """Return the quotation mark around a text, or an empty text."""
    same = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[0] if same else ""


def dequote(value):
    """Return a text without the quotation marks around it."""
    return value[1:-1] if is_quoted(value) else value


def is_hex(value):
    """Say whether a text is a hexadecimal number."""
    try:
        int(value, 16)
        return True
    except (TypeError, ValueError):
        return False


def contains_whitespace(text):
    """Say whether a text has a blank."""
    return any(c.isspace() for c in text)


def random(size=32):
    """Return random bytes as text of hexadecimal digits, `size` characters long."""
    return "".join(_random.SystemRandom().choice("0123456789abcdef") for _ in range(size))


def human_to_bytes(size, default_unit="B", handle_metric=False):
    """Return the bytes of a size such as "2G" or "2 GiB"; with handle_metric "2GB" counts by thousands."""
    found = re.match(r"(?P<value>[0-9.]*)(?P<unit>.*)$", str(size).strip())
    try:
        value = float(found.group("value")) if "." in found.group("value") else int(found.group("value"))
    except ValueError:
        return 0
    unit = re.sub(r"^B$", "", found.group("unit").strip().upper() or default_unit.upper())
    power = "KMGTPEZY".find(unit[:1]) + 1 if unit else 0
    rest = unit[1:]
    if unit and (not power or rest not in ("", "B", "IB")):
        return 0
    base = 1000 if handle_metric and rest == "B" else 1024
    return int(value * base**power)


# ---- patterns -----------------------------------------------------------------------------------------------


def build_whitespace_split_regex(text):
    """Return a pattern that fits a text whatever blanks part its words."""
    blanks = r"(?:[\s]+)?"
    pattern = "(?m)^"
    for line in text.splitlines():
        words = shlex.shlex(line)
        words.quotes, words.whitespace_split, words.commenters = '"', True, ""
        pattern += blanks + blanks.join(re.escape(word) for word in words) + blanks
    return pattern + "$"


def expr_match(line, expr):
    """Say whether a text equals an expression, or fits it as a glob or as a regular expression."""
    try:
        if fnmatch.fnmatch(line, expr):
            return True
        try:
            if re.match(rf"\A{expr}\Z", line):
                return True
        except re.error:
            pass
    except TypeError:
        log.exception("Value %r or expression %r is not a string", line, expr)
    return False


def _any_match(value, expressions, name):
    if isinstance(expressions, str):
        expressions = [expressions]
    if not hasattr(expressions, "__iter__"):
        raise TypeError(f"Expecting iterable {name}, but got {type(expressions).__name__} ({expressions})")
    return any(expr_match(value, expression) for expression in expressions)


def check_whitelist_blacklist(value, whitelist=None, blacklist=None):
    """Say whether a list allows a value and no other list forbids it."""
    if blacklist is not None and _any_match(value, blacklist, "blacklist"):
        return False
    return not whitelist or _any_match(value, whitelist, "whitelist")


def _path_matches(path, pattern):
    return re.search(pattern[2:], path) if pattern.startswith("E@") else fnmatch.fnmatch(path, pattern)


def check_include_exclude(path_str, include_pat=None, exclude_pat=None):
    """Say whether a path is included and not excluded; a pattern is a glob, or a regular expression after E@."""
    included = not include_pat or bool(_path_matches(path_str, include_pat))
    excluded = bool(exclude_pat) and bool(_path_matches(path_str, exclude_pat))
    return included and not excluded


# ---- for people ---------------------------------------------------------------------------------------------


def print_cli(msg, retries=10, step=0.01):
    """Print a text, trying again while the terminal is not ready."""
    while retries:
        try:
            try:
                print(msg)
            except UnicodeEncodeError:
                print(msg.encode("utf-8"))
            return
        except OSError as exc:
            if exc.errno != errno.EAGAIN:
                raise
        time.sleep(step)
        retries -= 1
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def get_context(template, line, num_lines=5, marker=None):
    """Return the lines around a line of a text, with a mark at it."""
    lines = template.splitlines()
    if line > len(lines):
        return template
    first = max(0, line - num_lines - 1)
    shown = lines[first : line + num_lines]
    if marker:
        shown[line - 1 - first] += marker
    # Text that was left out is told by dots.
    before = ["[...]"] if first else []
    after = ["[...]"] if line + num_lines < len(lines) else []
    return "---\n{}\n---".format("\n".join(before + shown + after))


def get_diff(a, b, *args, **kwargs):
    """Return the unified diff of two lists of lines, or of two texts."""

    def lines(value):
        return [to_str(one) for one in value.splitlines(True)] if isinstance(value, (str, bytes)) else [to_str(one) for one in value]

    return "".join(difflib.unified_diff(lines(a), lines(b), *args, **kwargs))


def camel_to_snake_case(camel_input):
    """Return FooBar as foo_bar."""
    step = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", camel_input)
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", step).lower()


def snake_to_camel_case(snake_input, uppercamel=False):
    """Return foo_bar as fooBar, or as FooBar."""
    words = snake_input.split("_")
    first = words[0].capitalize() if uppercamel else words[0]
    return first + "".join(word.capitalize() for word in words[1:])
