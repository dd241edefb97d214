"""The program that runs modules, when this package is used inside of it."""
import sys


def host():
    """Return the module by which the running program is reached, or None in a script that runs alone."""
    return sys.modules.get("halite_host")


def functions(kind, why):
    """Return the functions of a kind ("modules", "runners"); `why` names the caller in the error."""
    here = host()
    if here is None:
        raise NotImplementedError(f"{why} works in modules that the minion or the master runs, not in a script of its own")
    return here.functions(kind)
