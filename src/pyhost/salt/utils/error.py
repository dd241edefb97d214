"""Exceptions as data."""
import logging

from salt import exceptions

log = logging.getLogger(__name__)


def raise_error(name=None, args=None, message=""):
    """Raise an exception of a class by its name."""
    import builtins

    name = name or "Exception"
    kind = getattr(exceptions, name, None) or getattr(builtins, name, None) or exceptions.SaltException
    if args is not None:
        raise kind(*args)
    raise kind(message)


def pack_exception(exc):
    """Return an exception as data."""
    if hasattr(exc, "pack"):
        return exc.pack()
    return {"message": str(exc), "args": exc.args}


def fire_exception(exc, opts, job=None, node="minion"):
    """Fire the event _salt_error of an exception on a bus."""
    from salt.utils import event

    with event.get_event(node, opts=opts, listen=False) as bus:
        bus.fire_event(pack_exception(exc), "_salt_error")
