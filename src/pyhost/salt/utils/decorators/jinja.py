"""Decorators that name filters, tests and globals of Jinja."""


class _Named:
    """Register a function under a name, its own by default."""

    registry = None

    def __init__(self, name=None):
        self.name = name

    def __call__(self, function):
        self.registry[self.name or function.__name__] = function
        return function


class JinjaFilter(_Named):
    """Register a filter in salt_jinja_filters."""

    registry = salt_jinja_filters = {}


class JinjaTest(_Named):
    """Register a test in salt_jinja_tests."""

    registry = salt_jinja_tests = {}


class JinjaGlobal(_Named):
    """Register a global in salt_jinja_globals."""

    registry = salt_jinja_globals = {}


jinja_filter = JinjaFilter
jinja_test = JinjaTest
jinja_global = JinjaGlobal
