"""The names by which files of both Pythons wrote for either, on Python 3."""
import builtins
import functools
import io
import itertools
import operator
import sys
import types

__version__ = "1.16.0"

PY2, PY3, PY34 = False, True, True
MAXSIZE = sys.maxsize
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
StringIO, BytesIO = io.StringIO, io.BytesIO
unichr = chr
int2byte = operator.methodcaller("to_bytes", 1, "big")
byte2int = operator.itemgetter(0)
indexbytes = operator.getitem
iterbytes = iter
next = advance_iterator = builtins.next
callable = builtins.callable
wraps = functools.wraps
create_bound_method = types.MethodType
get_method_function = operator.attrgetter("__func__")
get_method_self = operator.attrgetter("__self__")
get_function_closure = operator.attrgetter("__closure__")
get_function_code = operator.attrgetter("__code__")
get_function_defaults = operator.attrgetter("__defaults__")
get_function_globals = operator.attrgetter("__globals__")
exec_ = builtins.exec
print_ = builtins.print


def iterkeys(d, **kw):
    """Walk through a dictionary's keys."""
    return iter(d.keys(**kw))


def itervalues(d, **kw):
    """Walk through a dictionary's values."""
    return iter(d.values(**kw))


def iteritems(d, **kw):
    """Walk through a dictionary's pairs."""
    return iter(d.items(**kw))


def iterlists(d, **kw):
    """Walk through the lists of a dictionary of lists."""
    return iter(d.lists(**kw))


viewkeys = operator.methodcaller("keys")
viewvalues = operator.methodcaller("values")
viewitems = operator.methodcaller("items")


def b(s):
    """Return a text of bytes as bytes."""
    return s.encode("latin-1")


def u(s):
    """Return a text."""
    return s


def ensure_str(s, encoding="utf-8", errors="strict"):
    """Return text."""
    if not isinstance(s, (str, bytes)):
        raise TypeError(f"not expecting type '{type(s)}'")
    return s.decode(encoding, errors) if isinstance(s, bytes) else s


ensure_text = ensure_str


def ensure_binary(s, encoding="utf-8", errors="strict"):
    """Return bytes."""
    if not isinstance(s, (str, bytes)):
        raise TypeError(f"not expecting type '{type(s)}'")
    return s if isinstance(s, bytes) else s.encode(encoding, errors)


def reraise(tp, value, tb=None):
    """Raise an exception with a traceback."""
    if value is None:
        value = tp()
    raise value.with_traceback(tb) if value.__traceback__ is not tb else value


def raise_from(value, from_value):
    """Raise an exception that another one caused."""
    raise value from from_value


def get_unbound_function(unbound):
    """Return a method's function."""
    return unbound


def add_metaclass(metaclass):
    """Decorate a class with a metaclass."""

    def wrapper(cls):
        names = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        return metaclass(cls.__name__, cls.__bases__, names)

    return wrapper


def with_metaclass(meta, *bases):
    """Return a base class that gives a class its metaclass."""

    class metaclass(type):
        def __new__(cls, name, this_bases, d):
            return meta(name, bases, d)

        @classmethod
        def __prepare__(cls, name, this_bases):
            return meta.__prepare__(name, bases)

    return type.__new__(metaclass, "temporary_class", (), {})


def python_2_unicode_compatible(cls):
    """Leave a class as it is."""
    return cls


def assertCountEqual(self, *args, **kwargs):
    """Call a test's method of that name."""
    return self.assertCountEqual(*args, **kwargs)


def assertRaisesRegex(self, *args, **kwargs):
    """Call a test's method of that name."""
    return self.assertRaisesRegex(*args, **kwargs)


def assertRegex(self, *args, **kwargs):
    """Call a test's method of that name."""
    return self.assertRegex(*args, **kwargs)


zip_longest = itertools.zip_longest
from salt.ext.six import moves  # noqa: E402,F401
