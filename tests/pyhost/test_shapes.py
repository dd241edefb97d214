"""Parameters and documentation as the loader tells them are those of Python's inspect, which plain functions do not import."""

import functools
import inspect
import itertools
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import otherend  # noqa: E402
import test_loader  # noqa: E402

SHAPES = {"types": types}
exec((pathlib.Path(__file__).resolve().parents[2] / "src/pyhost/shapes.py").read_text(encoding="utf-8"), SHAPES)


def combinations():
    """Functions of every mix of kinds of parameters, with and without defaults."""
    only = ("", "a, /", "a=None, /", "a, b=(), /"), ("", "c", "c=1", "c, d=[]"), ("", "*args", "*"), ("", "e", "e={}", "e, f=2", "e=3, f"), ("", "**kw")
    for parts in itertools.product(*only):
        text = f"def f({', '.join(part for part in parts if part)}):\n    local = 1\n    return lambda: local\n"
        space = {}
        try:
            exec(text, space)
        except SyntaxError:  # a default before a parameter without, or a lone star
            continue
        yield text, space["f"]


@functools.lru_cache()
def cached(a, b=2):
    return a


def inner(a, *, b=1):
    return a


@functools.wraps(inner)
def wrapped(*args, **kwargs):
    return inner(*args, **kwargs)


def signed():
    return None


signed.__signature__ = inspect.signature(inner)


def marked(x):
    return x


marked.note = 1


class Callable:
    def method(self, a, b=1):
        return a

    def __call__(self, z):
        return z


ODD = (cached, wrapped, signed, marked, functools.partial(inner, 1), functools.partial(inner, b=3), Callable, Callable(),
       Callable.method, Callable().method, len, lambda *a, k: a)
DOCS = ("", "one", "  one  ", "\n\n  one\n    two\n\n  three\n  \n", "one\n\ttab\n\t\ttwo\n", "one\n\n\n", "\n", "   \n   \n",
        "first\n      deep\n   less\n", "one\n    \n  two", None, 7)


def told(parameters, empty):
    return [(p.name, int(p.kind), "no default" if p.default is empty else ("default", p.default)) for p in parameters]


class Shapes(unittest.TestCase):
    def same(self, function, text):
        expected = told(inspect.signature(function).parameters.values(), inspect.Parameter.empty)
        self.assertEqual(told(SHAPES["parameters_of"](function), SHAPES["Parameter"].empty), expected, text)

    def test_every_mix_of_parameters(self):
        count = 0
        for text, function in combinations():
            self.same(function, text)
            count += 1
        self.assertGreater(count, 200)

    def test_functions_that_stand_for_others(self):
        for thing in ODD:
            self.same(thing, repr(thing))

    def test_defaults_that_were_changed(self):
        def changed(a, b, *, c=1):
            return a

        for defaults, named in ((1,), {"c": 5}), ((1, 2), None), (None, {}):
            changed.__defaults__, changed.__kwdefaults__ = defaults, named
            self.same(changed, f"{defaults} {named}")

    def test_what_has_no_parameters_to_tell(self):
        with self.assertRaises((TypeError, ValueError)):
            SHAPES["parameters_of"](5)

    def test_functions_of_the_library(self):
        for module in os, functools, inspect, itertools, unittest.mock, test_loader, otherend:
            for name, thing in vars(module).items():
                if isinstance(thing, types.FunctionType):
                    self.same(thing, f"{module.__name__}.{name}")
                    self.assertEqual(SHAPES["doc_of"](thing), inspect.getdoc(thing) or "", f"{module.__name__}.{name}")

    def test_documentation(self):
        for doc in DOCS:
            def function():
                return None

            function.__doc__ = doc
            module = types.ModuleType("m", doc)
            for thing in function, module:
                self.assertEqual(SHAPES["doc_of"](thing), inspect.getdoc(thing) or "", repr(doc))


class Import(test_loader.Loading):
    def test_plain_functions_need_no_inspect(self):
        text = "import sys\n\n\ndef call(a=1, *args, k=2, **kw):\n    '''Tell.'''\n    return 'inspect' in sys.modules\n"
        self.assertIs(self.calls(text), False)


if __name__ == "__main__":
    unittest.main()
