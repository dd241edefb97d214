"""What differed between versions of Python."""
import copy
import importlib
import sys
import types


def pack_dunder(name):
    """Give a module of this process the dunder __utils__ where it has none."""
    module = sys.modules[name]
    if not hasattr(module, "__utils__"):
        from salt import _host

        module.__utils__ = _host.functions("utils", "pack_dunder")


def deepcopy_bound(name):
    """Return a deep copy in which methods stay bound to the copies."""

    def copy_method(method, memo):
        return type(method)(method.__func__, copy.deepcopy(method.__self__, memo))

    before = copy._deepcopy_dispatch.get(types.MethodType)
    copy._deepcopy_dispatch[types.MethodType] = copy_method
    try:
        return copy.deepcopy(name)
    finally:
        if before is None:
            del copy._deepcopy_dispatch[types.MethodType]
        else:
            copy._deepcopy_dispatch[types.MethodType] = before


def cmp(x, y):
    """Return -1, 0 or 1 as x is below, equal to or above y."""
    if isinstance(x, dict) and isinstance(y, dict):
        return 0 if x == y else -1
    return (x > y) - (x < y)


def reload(mod):
    """Load a module again."""
    return importlib.reload(mod)
