#!/usr/bin/python3
"""Random templates with Jinja2's own answers, as a case file (see tests/lib/jinja_cases.h).

jinja_random.py COUNT [SEED]          writes COUNT cases to stdout; the same ones for the same seed
jinja_random.py --check CASES COUNT [SEED]
                                      makes them in parts and runs the program CASES on each part
jinja_random.py --case NAME           writes that one

A template is grown from a grammar: statements, expressions, every filter and test, methods, macros, other
templates. One in ten is damaged afterwards, for the errors. What is left out, and why:
  sets, hash(), addresses of objects    Python prints them differently each time
  lipsum, random                        chance
  large powers, repetitions and ranges  our limits of memory and time come first; a range ends at 63 bits
  filter blocks that give no text       Jinja2 says "sequence item 0: expected str instance"; ours prints it
  slices of numbers in the source       Jinja2's optimizer makes them undefined, at run time they are errors
  errors while constants are folded     Jinja2 then has no line and looks at no other error
  unknown filters in folded constants   are not looked at: {{ 1 or ''|nosuch }}; ours are always told
  autoescape by a variable              Jinja2 leaves constants in it as they are, which is unsafe
  attributes of a namespace             Jinja2 says the name alone, "items"
  include without context               turns a macro or recursive loop of Jinja2 3.1.2 into a generator
  {% for a, in x %}                     Jinja2 3.1.2 refuses it by mistake
  inf and nan where constants are folded   Jinja2 writes them into its code as names
  names that its compiler loses         an AssertionError of Jinja2 about a name that is unknown to the frame
  a text that never ends, in another template     Jinja2 forgets which one
Where we differ, Python is asked again in a new process: what it then says otherwise is its own chance.
"""
import json
import math
import random
import re
import signal
import subprocess
import sys
import tempfile
import warnings

import jinja2
import jinja2.nodes
import jinja2.sandbox
import jinja2.utils
from markupsafe import Markup

warnings.simplefilter("ignore")
# No line of ours may depend on the machine.
sys.setrecursionlimit(1000)

PART = 5000  # cases in a file of --check
SECONDS = 2  # for one template

CONTEXT = {
    "i": 7, "n": -3, "z": 0, "big": 123456789012345678901234567890, "f": 2.5, "tiny": 1e-7, "s": "Hello World",
    "u": "naïve Ünicode ẞ", "h": "<b>bold & 'q'</b>", "empty": "", "lines": "one\ntwo  words\n\nfour\n",
    "url": "see http://example.com/a?b=c&d or mail me@example.com", "nul": None, "yes": True, "no": False,
    "l": [3, 1, 2, 1], "names": ["beta", "Alpha", "gamma", "alpha"], "mixed": [1, "a", None, 2.5, [1, 2]],
    "t": (1, "two"), "d": {"a": 1, "b": [1, 2, {"c": "deep"}], "items": "shadow", "z z": None},
    "users": [{"name": "ada", "age": 36, "tags": ["x", "y"]}, {"name": "bob", "age": 7, "tags": []},
              {"name": "Cyd", "age": 36, "tags": ["y"]}],
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3, "kids": [{"v": 4, "kids": []}]}]}],
    "m": Markup("<i>safe</i>"), "pairs": [["k1", 1], ["k2", 2]], "words": "the quick brown fox jumps over the dog",
    "nested": [[1, 2], [3, [4, 5]]], "num": "42", "hexa": "0x1f", "emptyl": [], "emptyd": {},
}
TEXTS = ["a", " b ", "x\n", "\n", "  ", "<p>", "é", "{", "}}", "%", "#", "-", "text\n  ", "\t", "&amp;"]
WORDS = ["a", "b", "name", "age", "x", "Hello", "<b>", "é", "", " ", "0", "12", "1.5", "k1", "two words", "l", ",", "%s",
         "a\\n", "\\u00e9", "it\\'s", "{}", "{0}", "{a}", "%d", "%(a)s", "o"]
ATTRS = ["a", "b", "name", "age", "tags", "items", "keys", "real", "missing", "v", "upper", "c", "_x", "0"]
PIECES = ["{% for a in l %}", "{% if i %}", "{# c #}", "{# c\n c #}", "{#- c -#}\n", "x", "\n", "  \n", "a ## gone\n", "## k\n", "{{ i }}", "\n\n",
          "{% raw %}r\n{{ x }}{% endraw %}", "{% raw %}{% endraw %}", "{% endfor %}", "{% endif %}", "{% raw %}\n", "{#", "{% set v", "%% if i\n",
          "%% endif", "{% block q %}", "{{", "{%- endif -%}", "{% else %}\n"]
TEXT_FILTERS = ["upper", "lower", "title", "capitalize", "trim", "indent", "indent(2, true)", "replace('a', 'b')", "e", "forceescape", "string",
                "center(20)", "wordwrap(10)", "truncate(8)", "truncate(5, true, '..', 0)", "urlize", "striptags", "safe", "tojson", "urlencode",
                "pprint", "default('x', true)", "format(1)", "join('-')", "reverse", "trim('x ')|upper", "nosuch", "replace('b', '<')|e"]
UNKNOWN = ["missing", "nope", "undefined_name"]


class Grammar:
    def __init__(self, rnd):
        self.rnd = rnd
        self.names = list(CONTEXT)
        self.macros = []
        self.loops = 0
        self.templates = []
        self.options = {}

    def pick(self, *options):
        return self.rnd.choice(options)()

    def one(self, *values):
        return self.rnd.choice(values)

    def chance(self, p):
        return self.rnd.random() < p

    def many(self, low, high, make):
        return [make() for _ in range(self.rnd.randint(low, high))]

    # ---- expressions
    def number(self):
        return str(self.one(0, 1, 2, 3, 5, 10, 100, 255, "1_000", "0x1F", "0b101", "0o17", "1.5", "2.0", "0.1", "1e3", "3.14159",
                            "1e-5", "12345678901234567890"))

    def text(self):
        quote = self.one("'", '"')
        word = self.one(*WORDS)
        if quote == '"':
            word = word.replace("\\'", "'")
        return quote + word + quote

    def name(self):
        return self.one(*UNKNOWN) if self.chance(0.03) else self.rnd.choice(self.names)

    def literal(self, d):
        kind = self.rnd.randrange(9)
        if kind < 3:
            return self.number()
        if kind < 5:
            return self.text()
        if kind == 5:
            return self.one("true", "false", "none", "True", "None")
        if kind == 6:
            return "[" + ", ".join(self.many(0, 3, lambda: self.expr(d - 1))) + "]"
        if kind == 7:
            inside = self.many(0, 3, lambda: self.expr(d - 1))
            return "(" + ", ".join(inside) + ("," if len(inside) == 1 else "") + ")"
        key = lambda: self.text() if self.chance(0.8) else self.number()
        return "{" + ", ".join(self.many(0, 3, lambda: key() + ": " + self.expr(d - 1))) + "}"

    def postfix(self, d):
        kind = self.rnd.randrange(7)
        base = self.name() if kind == 4 else self.primary(d - 1)
        if kind < 2:
            return base + "." + self.one(*ATTRS[:-1])
        if kind == 2:
            return base + "[" + self.expr(d - 1) + "]"
        if kind == 3:
            return base + "[" + self.one("0", "-1", "1", "'a'", "'name'", "99") + "]"
        if kind == 4:
            part = lambda: self.one("", "", "1", "-1", "2", self.number())
            return base + "[" + part() + ":" + part() + (":" + self.one("", "2", "-1", "0") if self.chance(0.3) else "") + "]"
        return self.method(base, d)

    def percent(self, d):
        """Texts with values by %, as an operator or a filter."""
        spec = lambda: "%" + self.one("", "", "-", "0", "+", " ", "#", "-0") + self.one("", "", "8", "12", "3") + \
            self.one("", "", ".2", ".0", ".5") + self.one(*"sdifeEgGxXorac%su")
        a = lambda: self.expr(d - 2)
        specs = self.many(1, 3, spec)
        text = "'" + self.one("", "a ", "<") + " ".join(specs) + "'"
        kind = self.rnd.randrange(4)
        if kind == 0:
            return "'%(a)" + spec()[1:] + " %(b)s' % {'a': " + a() + ", 'b': " + a() + "}"
        if kind == 1:
            return text + "|format(" + ", ".join(a() for _ in specs) + ")"
        values = [a() for _ in specs] if self.chance(0.85) else self.many(0, 3, a)
        return text + " % (" + ", ".join(values) + ("," if len(values) == 1 else "") + ")"

    def braces(self, d):
        """Texts with values by str.format."""
        spec = lambda: ":" + self.one("", "", "*", " ", "0", "é") + self.one("<", ">", "^", "=", "") + self.one("", "+", "-", " ") + \
            self.one("", "", "#") + self.one("", "0", "8", "12") + self.one("", "", ",", "_") + self.one("", "", ".2", ".0", ".4") + \
            self.one("", "", *"sdfeEgGxXobcn%")
        field = lambda: "{" + self.one("", "", "0", "a", "a.real", "a[0]", "0[name]", "1") + self.one("", "", "", "!r", "!s", "!a") + \
            self.one("", spec(), spec()) + "}"
        a = lambda: self.expr(d - 2)
        return "'" + self.one("", "{{", "b ") + self.one("", " ").join(self.many(1, 2, field)) + "'.format(" + a() + ", " + a() + ", a=" + a() + ")"

    def big(self, d):
        """Numbers at the edges."""
        whole = lambda: self.one("9223372036854775807", "-9223372036854775808", "4611686018427387904", "big", "(big * big)", "(i ** 40)",
                                 "99999999999999999999", "i", "n", "2147483648", "1", "0", "-1", "true")
        real = lambda: self.one("1e308", "1.5", "-0.0", "0.1", "1e16", "123456789.987654321", "1e-10", "5e-324", "1e22", "f", "tiny", "2.0",
                                "('inf'|float)", "('nan'|float)", "1e15", "0.5", "2.675", "1e100")
        x = lambda: self.one(whole, whole, real)()
        kind = self.rnd.randrange(6)
        if kind < 3:
            return x() + " " + self.one("+", "-", "*", "/", "//", "%", "==", "<", ">=", "~") + " " + x()
        if kind == 3:
            return x() + "|" + self.one("round", "round(2)", "round(-2)", "int", "float", "abs", "string", "filesizeformat", "round(1, 'floor')",
                                        "round(0, 'ceil')", "round(20)", "pprint", "tojson", "length")
        if kind == 4:
            return x() + " is " + self.one("odd", "even", "divisibleby 3", "number", "integer", "float", "sameas 1", "eq 1.0", "in [1, 2.0]")
        return "(" + x() + ")." + self.one("bit_length()", "real", "imag", "is_integer()", "as_integer_ratio()", "hex()", "conjugate()", "numerator",
                                           "bit_count()", "denominator", "__class__.__name__")

    def method(self, base, d):
        a = lambda: self.expr(d - 2)
        w = self.text
        k = lambda: self.one("0", "1", "2", "3", "-1", "10")
        table = [
            ("upper",), ("lower",), ("title",), ("capitalize",), ("swapcase",), ("strip",), ("strip", w), ("lstrip", w), ("rstrip",),
            ("split",), ("split", w), ("split", w, k), ("rsplit", w, k), ("splitlines",), ("replace", w, w), ("replace", w, w, k),
            ("startswith", w), ("endswith", w), ("find", w), ("rfind", w), ("index", w), ("count", w), ("join", a), ("center", k),
            ("ljust", k, w), ("rjust", k), ("zfill", k), ("format", a), ("format", a, a), ("isdigit",), ("isalpha",), ("isspace",),
            ("islower",), ("isupper",), ("istitle",), ("isalnum",), ("isnumeric",), ("partition", w), ("rpartition", w), ("encode",),
            ("expandtabs", k), ("removeprefix", w), ("removesuffix", w), ("casefold",), ("isidentifier",), ("append", a), ("pop",),
            ("pop", k), ("insert", k, a), ("extend", a), ("index", a), ("count", a), ("remove", a), ("reverse",), ("sort",), ("copy",),
            ("clear",), ("keys",), ("values",), ("items",), ("get", w), ("get", w, a), ("update", a), ("setdefault", w, a), ("pop", w),
            ("pop", w, a), ("popitem",), ("bit_length",), ("is_integer",), ("conjugate",), ("as_integer_ratio",), ("hex",),
        ]
        m = self.one(*table)
        return base + "." + m[0] + "(" + ", ".join(f() for f in m[1:]) + ")"

    def call(self, d):
        a = lambda: self.expr(d - 1)
        if self.macros and self.chance(0.7):
            name, parameters = self.one(*self.macros)
            args = self.many(0, len(parameters), a)
            if self.chance(0.3) and parameters:
                args.append(self.one(*parameters) + "=" + a())
            if self.chance(0.05):
                args.append(self.one("*l", "**d", "*t", "**{'q': 1}"))
            return name + "(" + ", ".join(args) + ")"
        return self.one(lambda: "range(" + self.one("3", "1, 4", "5, 0, -2", "i", "0") + ")", lambda: "dict(a=" + a() + ")",
                        lambda: "dict(" + a() + ")", lambda: "namespace(x=" + a() + ").x", lambda: "cycler(1, 'b').next()",
                        lambda: "joiner('; ')()", lambda: a() + "()")()

    def loop_name(self):
        return "loop." + self.one("index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem",
                                  "nextitem", "cycle('a', 'b')", "changed(" + self.name() + ")", "nope")

    def primary(self, d):
        if d <= 0:
            return self.pick(self.name, self.name, self.number, self.text)
        return self.pick(self.name, self.name, lambda: self.literal(d), lambda: self.postfix(d), lambda: self.call(d),
                         lambda: "(" + self.expr(d - 1) + ")", lambda: self.loop_name() if self.loops else self.name())

    def arg(self, name, d):
        return (name + "=" if name and self.chance(0.4) else "") + self.expr(d - 1)

    def filter(self, d):
        a = lambda: self.expr(d - 2)
        k = lambda: self.one("0", "1", "2", "3", "5", "20", "-1")
        at = lambda: self.one("'name'", "'age'", "'tags.0'", "'missing'", "0", "'v'", "'1'")
        b = lambda: self.one("true", "false")
        test = lambda: self.one("'odd'", "'even'", "'string'", "'number'", "'none'", "'defined'", "'equalto', 1", "'in', [1, 2]", "'lower'",
                                "'gt', 1", "'divisibleby', 2", "'nosuch'")
        mapped = lambda: self.one("'upper'", "'string'", "'length'", "'int'", "'default', 'x'", "attribute=" + at(),
                                  "attribute=" + at() + ", default='d'", "'join', '-'", "'first'", "'abs'", "'nosuch'", "'list'",
                                  "'replace', 'a', 'b'", "'title'")
        table = [
            ("abs",), ("attr", lambda: self.text()), ("batch", k), ("batch", k, a), ("capitalize",), ("center",), ("center", k),
            ("default", a), ("default", a, b), ("d", a), ("dictsort",), ("dictsort", b), ("dictsort", lambda: "by='value'"),
            ("dictsort", lambda: "reverse=true"), ("escape",), ("e",), ("filesizeformat",), ("filesizeformat", b), ("first",), ("float",),
            ("float", a), ("forceescape",), ("format", a), ("format", a, a), ("groupby", at), ("groupby", at, lambda: "default='z'"),
            ("indent",), ("indent", k), ("indent", lambda: self.one("first=true", "blank=true", "'>'", "2, true, true")), ("int",),
            ("int", a), ("int", lambda: "0", lambda: self.one("16", "8", "2", "0")), ("items",), ("join",), ("join", self.text),
            ("join", self.text, lambda: "attribute=" + at()), ("last",), ("length",), ("count",), ("list",), ("lower",), ("map", mapped),
            ("max",), ("min",), ("max", lambda: "attribute=" + at()), ("min", b), ("pprint",), ("reject", test), ("reject",),
            ("rejectattr", at), ("rejectattr", at, test), ("replace", self.text, self.text), ("replace", self.text, self.text, k),
            ("reverse",), ("round",), ("round", k), ("round", k, lambda: self.one("'ceil'", "'floor'", "'common'", "'up'")), ("safe",),
            ("select", test), ("select",), ("selectattr", at), ("selectattr", at, test), ("slice", k), ("slice", k, a), ("sort",),
            ("sort", b), ("sort", lambda: "attribute=" + at()), ("sort", lambda: self.one("attribute='age,name'", "case_sensitive=true")),
            ("string",), ("striptags",), ("sum",), ("sum", lambda: "attribute=" + at()), ("sum", lambda: "start=10"), ("title",), ("tojson",),
            ("tojson", lambda: "indent=2"), ("trim",), ("trim", self.text), ("truncate", k), ("truncate", k, b),
            ("truncate", k, b, self.text), ("truncate", k, b, self.text, k), ("unique",), ("unique", b),
            ("unique", lambda: "attribute=" + at()), ("upper",), ("urlencode",), ("urlize",), ("urlize", k),
            ("urlize", lambda: self.one("nofollow=true", "target='_blank'", "rel='x'", "extra_schemes=['tel:']")), ("wordcount",),
            ("wordwrap",), ("wordwrap", lambda: self.one("5", "10", "20")), ("wordwrap", lambda: "10", b), ("xmlattr",), ("xmlattr", b),
        ]
        f = self.one(*table)
        args = [g() for g in f[1:]]
        return f[0] + ("(" + ", ".join(args) + ")" if args or self.chance(0.1) else "")

    def test(self, d):
        k = lambda: self.one("2", "3", "0")
        table = [
            ("boolean",), ("callable",), ("defined",), ("undefined",), ("divisibleby", k), ("eq", k), ("equalto", k), ("escaped",),
            ("even",), ("odd",), ("false",), ("true",), ("filter",), ("float",), ("integer",), ("ge", k), ("gt", k), ("greaterthan", k),
            ("in", lambda: self.expr(d - 2)), ("iterable",), ("le", k), ("lt", k), ("lessthan", k), ("lower",), ("upper",), ("mapping",),
            ("ne", k), ("none",), ("number",), ("sameas", lambda: self.one("none", "true")), ("sequence",), ("string",), ("test",),
        ]
        t = self.one(*table)
        args = [g() for g in t[1:]]
        if not args:
            return t[0]
        return t[0] + (" " + args[0] if self.chance(0.3) and re.fullmatch(r"\w+", args[0]) else "(" + args[0] + ")")

    def expr(self, d):
        if d <= 0:
            return self.primary(0)
        e = lambda: self.expr(d - 1)
        op = lambda *ops: self.primary(d - 1) + " " + self.one(*ops) + " " + self.primary(d - 1)
        return self.pick(
            lambda: self.primary(d), lambda: self.primary(d), lambda: self.primary(d), lambda: op("+", "-", "*", "/", "//", "%"),
            lambda: op("+", "-", "*"), lambda: op("~"), lambda: self.name() + " ** " + self.one("2", "0", "-1"),
            lambda: op("==", "!=", "<", "<=", ">", ">="), lambda: op("<", ">") + self.one(" < ", " == ") + self.primary(0),
            lambda: op("in", "not in"), lambda: e() + self.one(" and ", " or ") + e(), lambda: self.one("not ", "-", "+", "- ") + e(),
            lambda: self.primary(d - 1) + " if " + e() + (" else " + e() if self.chance(0.7) else ""),
            lambda: self.primary(d - 1) + "|" + self.filter(d), lambda: self.primary(d - 1) + "|" + self.filter(d),
            lambda: self.primary(d - 1) + "|" + self.filter(d) + "|" + self.filter(d), lambda: self.name() + "|" + self.filter(d),
            lambda: self.primary(d - 1) + self.one(" is ", " is not ") + self.test(d),
            lambda: self.one(self.percent, self.braces, self.big)(d))

    # ---- statements
    def mark(self, start, inside, end):
        left = self.one("", "", "", "", "", "", "-", "+") if start != "{{" else self.one("", "", "", "", "", "-")
        right = self.one("", "", "", "", "", "", "-", "+") if end == "%}" else self.one("", "", "", "", "", "-")
        return start + left + " " + inside + " " + right + end

    def tag(self, inside):
        return self.mark("{%", inside, "%}")

    def scoped(self, names, d, loops=0):
        """A body that sees more names."""
        before, macros = self.names, list(self.macros)
        self.names = before + names * 3
        self.loops += loops
        body = self.body(d)
        self.loops -= loops
        self.names, self.macros = before, macros
        return body

    def s_output(self, d):
        return self.mark("{{", self.expr(3), "}}")

    def s_text(self, d):
        return self.one(*TEXTS)

    def s_if(self, d):
        out = self.tag("if " + self.expr(2)) + self.body(d - 1)
        for _ in range(self.rnd.choice([0, 0, 0, 1, 2])):
            out += self.tag("elif " + self.expr(2)) + self.body(d - 1)
        if self.chance(0.4):
            out += self.tag("else") + self.body(d - 1)
        return out + self.tag("endif")

    def iterable(self):
        return self.one("l", "names", "users", "d", "range(3)", "t", "mixed", "words", "pairs", "d.items()", "emptyl", "users|sort(attribute='name')",
                        "l|batch(2)", "names|reverse", "d|dictsort", "nested", self.expr(2))

    def s_for(self, d):
        name = self.one("x", "y", "item")
        target, names = (name, [name]) if self.chance(0.8) else ("a, b", ["a", "b"])
        source = "pairs" if target == "a, b" and self.chance(0.8) else self.iterable()
        condition = " if " + self.one(name + " is odd", self.expr(2), name) if self.chance(0.2) else ""
        out = self.tag("for " + target + " in " + source + condition)
        out += self.scoped(names, d - 1, 1)
        if "loopcontrols" in str(self.options.get("extensions")) and self.chance(0.3):
            out += self.tag("if " + self.expr(1)) + self.tag(self.one("break", "continue")) + self.tag("endif") + self.s_text(0)
        if self.chance(0.2):
            out += self.tag("else") + self.body(d - 1)
        return out + self.tag("endfor")

    def s_recursive(self, d):
        if self.chance(0.5):
            kids = self.one("node.kids", "node.kids|reverse", "node.kids if node.v < 3 else []", "[]", "node.kids|list")
            head = "for node in tree" + self.one("", " if node.v is odd or node.kids", " if node.v < 3") + " recursive"
            call = self.mark("{{", self.one("loop(" + kids + ")", "loop(" + kids + ")|upper", "loop(" + kids + ")|length"), "}}")
            inner = self.one("{% set w = loop.index %}{{ w }}", "{{ loop.depth0 }}{{ loop.last }}", "{{ loop.previtem.v }}", "")
            otherwise = self.tag("else") + self.body(0) if self.chance(0.4) else ""
            return self.tag(head) + "{{ node.v }}" + inner + self.scoped(["node"], d - 1, 1) + call + otherwise + self.tag("endfor")
        return (self.tag("for node in tree recursive") + "{{ node.v }}{{ loop.depth }}" + self.scoped(["node"], d - 1, 1)
                + "({{ loop(node.kids) }})" + self.tag("endfor"))

    def s_set(self, d):
        name = self.one("v1", "v2", "i", "x")
        kind = self.rnd.randrange(8)
        if kind == 0:
            out = self.tag("set " + name + (" | " + self.one(*TEXT_FILTERS) if self.chance(0.3) else "")) + self.body(d - 1) + self.tag("endset")
        elif kind == 1:
            out = self.tag("set v1, v2 = " + self.one("1, 2", "pairs[0]", "t", "names", self.expr(2)))
            name = "v2"
        elif kind == 2:
            out = self.tag("set ns = namespace(c=0)") + self.tag("set ns.c = ns.c + 1") + "{{ ns.c }}"
            name = "ns"
        else:
            out = self.tag("set " + name + " = " + self.expr(3))
        self.names = self.names + [name]
        return out

    def s_macro(self, d):
        name = "m%d" % self.rnd.randrange(4)
        parameters = self.one([], ["p"], ["p", "q"], ["p", "q", "r"])
        defaults = self.rnd.randint(0, len(parameters))
        head = [p if i < len(parameters) - defaults else p + "=" + self.expr(1) for i, p in enumerate(parameters)]
        extra = self.one([], [], ["varargs"], ["kwargs"], ["caller"])
        shown = {"varargs": "{{ varargs }}", "kwargs": "{{ kwargs }}", "caller": "{{ caller() if caller }}"}
        loops, self.loops = self.loops, 0
        body = self.scoped(parameters, d - 1)
        self.loops = loops
        body += "".join(shown[x] for x in extra)
        self.macros.append((name, parameters))
        return self.tag("macro " + name + "(" + ", ".join(head) + ")") + body + self.tag("endmacro")

    def s_call(self, d):
        if not self.macros:
            return self.s_output(d)
        name, parameters = self.one(*self.macros)
        signature = self.one("", "", "(w)", "(w=1)")
        args = ", ".join(self.many(0, len(parameters), lambda: self.expr(1)))
        return self.tag("call" + signature + " " + name + "(" + args + ")") + self.scoped(["w"] if signature else [], d - 1) + self.tag("endcall")

    def s_self_calling(self, d):
        """A macro that calls itself, its caller, or another one in its body."""
        kind = self.rnd.randrange(4)
        if kind == 0:
            return (self.tag("macro down(k)") + "{{ k }}" + self.body(0) + "{% if k > 0 %}{{ down(k - 1) }}{% endif %}" + self.tag("endmacro")
                    + "{{ down(" + self.one("3", "0", "i", "'x'") + ") }}")
        if kind == 1:
            return (self.tag("macro each(xs)") + "{% for x in xs %}{{ caller(x, loop.index) }}{% endfor %}" + self.tag("endmacro")
                    + self.tag("call(a, b) each(" + self.one("l", "names", "users", self.expr(1)) + ")") + self.scoped(["a", "b"], d - 1)
                    + self.tag("endcall"))
        if kind == 2:
            return (self.tag("macro outer(p)") + self.tag("macro inner(q)") + "{{ p }}{{ q }}" + self.scoped(["q"], 0) + self.tag("endmacro")
                    + "{{ inner(p) }}{{ inner.name }}{{ inner.arguments }}{{ inner.catch_varargs }}" + self.tag("endmacro")
                    + "{{ outer(" + self.expr(1) + ") }}{{ inner is defined }}")
        return (self.tag("macro wrap()") + "<{{ caller() }}>" + self.tag("endmacro") + self.tag("call wrap()") + self.tag("call wrap()")
                + self.body(d - 1) + self.tag("endcall") + self.tag("endcall"))

    def s_counting(self, d):
        """A namespace across scopes, and names that do not cross them."""
        step = self.one("ns.c + 1", "ns.c ~ x", "loop.index + ns.c", "ns.c * 2", "[ns.c]")
        out = self.tag("set ns = namespace(" + self.one("c=0", "c=i, t='a'", "{'c': 1}", "d, c=2") + ")") + self.tag("set seen = 0")
        out += self.tag("for x in " + self.iterable()) + self.tag("set ns.c = " + step) + self.tag("set seen = seen + 1")
        return out + self.scoped(["x"], d - 1, 1) + "{{ seen }}" + self.tag("endfor") + "{{ ns.c }}{{ seen }}{{ ns.t }}"

    def s_filter(self, d):
        name = self.one(*TEXT_FILTERS)
        return self.tag("filter " + name) + self.body(d - 1) + self.tag("endfilter")

    def s_with(self, d):
        names = self.one(["w1"], ["w1", "w2"])
        return self.tag("with " + ", ".join(n + " = " + self.expr(2) for n in names)) + self.scoped(names, d - 1) + self.tag("endwith")

    def s_autoescape(self, d):
        return self.tag("autoescape " + self.one("true", "false")) + self.body(d - 1) + self.tag("endautoescape")

    def s_raw(self, d):
        return self.tag("raw") + self.one("{{ x }}", "{% if %}", "a\n", "{# #}") + self.tag("endraw")

    def s_comment(self, d):
        return self.one("{# note #}", "{#- note -#}", "{#\n#}\n")

    def s_do(self, d):
        if "do" not in str(self.options.get("extensions")):
            return self.s_output(d)
        return self.tag("do " + self.one("l.append(" + self.expr(1) + ")", "d.update(k=" + self.expr(1) + ")", self.expr(2)))

    def s_include(self, d):
        if not self.templates:
            return self.s_text(d)
        name = self.one(*self.templates)
        context = self.one("", "", " with context", " without context")
        kind = self.rnd.randrange(4)
        if kind == 0:
            return self.tag("include " + self.one("'%s'" % name, "['none', '%s']" % name, "'none' ignore missing", "'none'"))
        if kind == 1:
            return self.tag("import '%s' as lib" % name + context) + "{{ lib.%s }}" % self.one("shared('p')", "value", "nope", "shared()")
        if kind == 2:
            return self.tag("from '%s' import %s" % (name, self.one("shared", "shared as sh, value", "nope", "value")) + context) + \
                self.one("{{ shared('q') }}", "{{ value }}", "{{ sh is defined }}", "")
        return self.tag("include '%s'" % name + context.replace(" without context", ""))

    def body(self, d):
        makers = [self.s_output] * 6 + [self.s_text] * 4
        if d > 0:
            makers += [self.s_if] * 2 + [self.s_for] * 3 + [self.s_set] * 3 + [self.s_macro, self.s_call, self.s_filter, self.s_with,
                       self.s_autoescape, self.s_raw, self.s_comment, self.s_do, self.s_include, self.s_recursive, self.s_self_calling,
                       self.s_counting]
        return "".join(self.one(*makers)(d) for _ in range(self.rnd.choice([1, 1, 2, 2, 3])))

    # ---- whole templates
    def library(self):
        return ("{% set value = " + self.expr(2) + " %}{% macro shared(p, q=2) %}[{{ p }}{{ q }}" + self.body(0)
                + "]{% endmacro %}" + self.body(1))

    def parent(self):
        return "<" + self.tag("block one") + self.body(1) + self.tag("endblock") + self.body(1) + self.tag("block two scoped") + "2" + \
            self.tag("endblock two") + ">"

    def child(self, name):
        out = self.tag("extends " + self.one("'%s'" % name, "'%s' if yes else 'none'" % name)) + self.body(1)
        for block in self.one(["one"], ["one", "two"], ["two"], ["other"]):
            out += self.tag("block " + block) + self.one("", "{{ super() }}", "{{ self.two() }}", "{{ super.super() }}") + self.body(1) + self.tag("endblock")
        return out

    def damage(self, source):
        i = self.rnd.randrange(len(source))
        piece = self.one("", "", "{%", "%}", "{{", "}}", "|", "(", ")", "[", "'", "endif", "{% endfor %}", "{% else %}", "is", ",", ".", "=",
                         "if", "\n", "~", ":", "{% nosuch %}", "**", "!", "|nosuch", "is nosuch", "$", "{#", "-%}")
        return source[:i] + piece + source[i + self.rnd.choice([0, 0, 1, 3]):]

    def case(self):
        rnd = self.rnd
        options = {}
        for name, p in (("trim_blocks", .2), ("lstrip_blocks", .2), ("keep_trailing_newline", .2), ("autoescape", .25), ("sandboxed", .3)):
            if rnd.random() < p:
                options[name] = True
        if rnd.random() < .3:
            options["extensions"] = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
        if rnd.random() < .4:
            options["undefined"] = rnd.choice(["StrictUndefined", "ChainableUndefined", "DebugUndefined"])
        if rnd.random() < .05:
            options["line_statement_prefix"] = "%%"
        if rnd.random() < .03:
            options["line_comment_prefix"] = "##"
        if rnd.random() < .03:
            options["newline_sequence"] = rnd.choice(["\r\n", "\r"])
        self.options = options
        templates = {}
        if rnd.random() < .25:
            templates["lib"] = self.library()
            self.templates = ["lib"]
            self.macros = []
        if rnd.random() < .1:
            templates["base"] = self.parent()
            self.macros = []
            source = self.child("base")
        else:
            source = self.body(rnd.choice([1, 2, 2, 3]))
        if rnd.random() < .05:
            source = "".join(self.many(1, 9, lambda: self.one(*PIECES)))
            options.setdefault("line_comment_prefix", "##")
        if rnd.random() < .1 and source:
            source = self.damage(source)
        if options.get("line_statement_prefix") and rnd.random() < .7:
            source += rnd.choice(["\n%% for q in l\n{{ q }}\n%% endfor", "\n  %% set q = 3\n{{ q }}", "\n%% if i:\nyes\n%% else\nno\n%% endif\n"])
        if options.get("line_comment_prefix"):
            source += rnd.choice(["\n## gone\nthere", "a ## gone\n", "{{ i }}## {{ i }}\n\n"])
        return options, source, templates


# ---- Jinja2's answer


class TooSlow(BaseException):
    pass


def too_slow(*_):
    raise TooSlow


UNDEFINED = {"StrictUndefined": jinja2.StrictUndefined, "ChainableUndefined": jinja2.ChainableUndefined,
             "DebugUndefined": jinja2.DebugUndefined}


def environment(options, templates):
    kw = dict(options)
    cls = jinja2.sandbox.SandboxedEnvironment if kw.pop("sandboxed", False) else jinja2.Environment
    if "undefined" in kw:
        kw["undefined"] = UNDEFINED[kw["undefined"]]
    return cls(loader=jinja2.DictLoader(templates) if templates else None, **kw)


def unknown(env, texts):
    """Whether a filter or test in these texts does not exist."""
    for text in texts:
        try:
            tree = env.parse(text)
        except jinja2.TemplateError:
            return False
        if any(n.name not in env.filters for n in tree.find_all(jinja2.nodes.Filter)):
            return True
        if any(n.name not in env.tests for n in tree.find_all(jinja2.nodes.Test)):
            return True
    return False


def place(error):
    """The line and the template of the innermost frame that is a template's."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno, error.name
    found = None, None
    tb = error.__traceback__
    while tb is not None:
        template = tb.tb_frame.f_globals.get("__jinja_template__")
        if template is not None and tb.tb_frame.f_code not in jinja2.utils.internal_code:
            found = template.get_corresponding_lineno(tb.tb_lineno), template.name
        tb = tb.tb_next
    return found


def breaks_folding(env, texts):
    """Whether some text fails while its constants are folded, also where the failure is caught."""
    for text in texts:
        try:
            env.compile(text)
        except Exception as e:
            if folding(e):
                return True
    return False


def folding(error):
    """Whether it happened while constants were folded."""
    tb = error.__traceback__
    while tb is not None and not tb.tb_frame.f_code.co_filename.endswith("optimizer.py"):
        tb = tb.tb_next
    return tb is not None


def answer(options, source, templates):
    env = environment(options, templates)
    context = json.loads(json.dumps({k: v for k, v in CONTEXT.items() if k not in ("t", "m")}))
    context.update(t=CONTEXT["t"], m=CONTEXT["m"])
    if breaks_folding(env, templates.values()):
        return None
    try:
        template = env.from_string(source)
        output = env.concat(template.root_render_func(template.new_context(context)))
        return None if unknown(env, [source, *templates.values()]) else {"output": output}
    except TooSlow:
        return None
    except (MemoryError, RecursionError):
        return None
    except Exception as e:
        if folding(e):
            return None
        line, name = place(e)
        if not str(e).startswith("No ") and unknown(env, [source, *templates.values()]):
            return None
        out = {"class": type(e).__name__, "message": str(e), "lineno": line}
        if isinstance(e, jinja2.TemplateSyntaxError):
            out["message"] = e.message
        if name is not None:
            out["template"] = name
        return {"error": out}


def tagged(v):
    if isinstance(v, Markup):
        return {"__markup__": str(v)}
    if isinstance(v, tuple):
        return {"__tuple__": [tagged(x) for x in v]}
    if isinstance(v, int) and not isinstance(v, bool) and abs(v) >= 1 << 63:
        return {"__int__": str(v)}
    if isinstance(v, list):
        return [tagged(x) for x in v]
    if isinstance(v, dict):
        return {k: tagged(x) for k, x in v.items()}
    return v


# What no two runs of Python agree on, or what is about Python's insides.
UNSTABLE = re.compile(r" at 0x|o.?b.?j.?e.?c.?t.? .?a.?t|<(bound |built-in |)method|<function|_MappingAttr|<class|__|Exceeds the limit|"
                      r"range\([^)]*\d{19}|^maximum recursion|g.?e.?n.?e.?r.?.?.?t.?o.?r.? .?o|0x[57]|tcejbo|jinja2\.|<Cycler|<Macro|<TemplateReference|\bset\(|dict_(keys|values|items)", re.I)
LEFT_OUT = re.compile(r"^(items|keys|values|splitlines)$|^Tried to resolve a name|^sequence item \d+: expected str|complex|^name '(inf|nan)' is not")


def usable(expect, templates):
    if expect is None:
        return False
    text = expect.get("output")
    if text is None:
        e = expect["error"]
        if e["class"] in ("RecursionError", "MemoryError"):
            return False
        text = e["message"]
        if len(text) > 300 or LEFT_OUT.search(text) or (e["lineno"] is None and e["class"] != "TemplateSyntaxError"):
            return False
        if text.startswith("Missing end of") and templates:
            return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return len(text) < 20000 and not UNSTABLE.search(text)


def used(source, templates):
    """The part of the context that these texts may look at."""
    words = set(re.findall(r"\w+", source + " ".join(templates.values())))
    return {k: tagged(v) for k, v in CONTEXT.items() if k in words}


def make(seed, number):
    """That case, or None if it can't be one."""
    grammar = Grammar(random.Random("%s/%d" % (seed, number)))
    options, source, templates = grammar.case()
    if len(source) > 2000 or re.search(r"(,|for)\s*in\b", source):
        return None
    signal.alarm(SECONDS)
    try:
        expect = answer(options, source, templates)
    except TooSlow:
        expect = None
    signal.alarm(0)
    if not usable(expect, templates):
        return None
    case = {"name": "random-%s-%d" % (seed, number), "env": options, "source": source,
            "context": used(source, templates), "expect": expect}
    if templates:
        case["templates"] = templates
    return case


def cases(count, seed):
    made = number = 0
    while made < count:
        number += 1
        case = make(seed, number)
        if case is not None:
            made += 1
            yield case


def agrees(case):
    """Whether Python says the same in another process: addresses and the order of sets are others there."""
    again = subprocess.run([sys.executable, "-B", __file__, "--case", case["name"]], stdout=subprocess.PIPE, text=True)
    return again.stdout == json.dumps(case) + "\n"


def write(out, some):
    out.write("[\n" + ",\n".join(json.dumps(c) for c in some) + "\n]\n")


def check(program, count, seed):
    part, done, failed = [], 0, 0
    for case in cases(count, seed):
        part.append(case)
        done += 1
        if len(part) < PART and done < count:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            write(f, part)
            f.flush()
            ran = subprocess.run([program, f.name], stdout=subprocess.PIPE, text=True)
        lines = ran.stdout.splitlines()
        if ran.returncode not in (0, 1) or not lines:
            print("%s ended with %d" % (program, ran.returncode))
            return 1
        sources = {c["name"]: c for c in part}
        shown = True
        for line in lines[:-1]:
            name = re.match(r"\S+: (random-\S+)$", line)
            if name:
                shown = agrees(sources[name.group(1)])
                failed += shown
            if shown:
                print(line + ("\n" + json.dumps(sources[name.group(1)], ensure_ascii=False) if name else ""), flush=True)
        print("# %d of %d, %d differ" % (done, count, failed), file=sys.stderr)
        part = []
    print("%d passed, %d failed" % (done - failed, failed))
    return failed > 0


def main(argv):
    signal.signal(signal.SIGALRM, too_slow)
    if argv[:1] == ["--case"]:
        _, seed, number = argv[1].split("-")
        print(json.dumps(make(seed, int(number))))
        return 0
    if argv[:1] == ["--check"]:
        return check(argv[1], int(argv[2]), argv[3] if len(argv) > 3 else "1")
    write(sys.stdout, cases(int(argv[0]), argv[1] if len(argv) > 1 else "1"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
