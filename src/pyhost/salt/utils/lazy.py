"""Whether functions are there."""
from salt.exceptions import CommandExecutionError


def verify_fun(lazy_obj, fun):
    """Raise CommandExecutionError when a function is not there."""
    from salt.exceptions import SaltInvocationError

    if not fun:
        raise SaltInvocationError("Must specify a function to run!\nex: manage.up")
    if fun not in lazy_obj:
        text = lazy_obj.missing_fun_string(fun) if hasattr(lazy_obj, "missing_fun_string") else f"'{fun}' is not available."
        raise CommandExecutionError(text)
