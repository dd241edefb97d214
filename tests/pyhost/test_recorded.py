"""What the helpers return for the arguments of recorded.txt, beside what Salt 3006.0 returned."""

import datetime
import importlib
import importlib.util
import logging
import os
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.txt")


def rows():
    """(number of the line, modules, expression, what it gave)."""
    with open(PATH, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                asked, _, gave = line.rstrip("\n").partition(" => ")
                modules, _, expression = asked.partition("|")
                yield number, modules.split(), expression, gave


def result(modules, expression):
    """The value with its class, or the exception's text after "!"."""
    names = {name.rsplit(".", 1)[-1]: importlib.import_module(f"salt.{name}") for name in modules}
    try:
        value = eval(expression, names)
    except Exception as exc:
        return f"! {type(exc).__name__} {exc}"
    return f"{type(value).__name__} {value!r}"


class Recorded(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        logging.disable(logging.CRITICAL)

    def tearDown(self):
        logging.disable(logging.NOTSET)


def missing(modules, expression):
    """The library that a row needs and that is not installed, or None."""
    asked = " ".join([*modules, expression])
    rows = (("yaml", ("yaml", "repack")), ("jinja2", ("JINJA",)))
    needed = (library for library, words in rows if any(word in asked for word in words))
    return next((library for library in needed if importlib.util.find_spec(library) is None), None)


def make_test(modules, expression, gave):
    def test(self):
        library = missing(modules, expression)
        if library:
            self.skipTest(f"the module {library} is not installed")
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        self.assertEqual(result(modules, expression), gave.replace("{TODAY}", today), expression)

    return test


for row_number, row_modules, row_expression, row_gave in rows():
    setattr(Recorded, f"test_{row_number:03d}_{row_modules[0].replace('.', '_')}", make_test(row_modules, row_expression, row_gave))

if __name__ == "__main__":
    unittest.main()
