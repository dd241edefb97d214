"""The execution module cmd, as files import it: its functions are the running program's."""
import shlex

from salt import _loaders
from salt.utils.functools import alias_function  # noqa: F401

_cmd_quote = shlex.quote
DEFAULT_SHELL = "/bin/bash"
__virtualname__ = "cmd"


def _call(name, cmd, args, kwargs):
    return _loaders.functions("modules", f"salt.modules.cmdmod.{name}")[f"cmd.{name}"](cmd, *args, **kwargs)


def run(cmd, *args, **kwargs):
    """Run a command and return its output."""
    return _call("run", cmd, args, kwargs)


def run_all(cmd, *args, **kwargs):
    """Run a command and return {"retcode", "stdout", "stderr", "pid"}."""
    return _call("run_all", cmd, args, kwargs)


def run_stdout(cmd, *args, **kwargs):
    """Run a command and return its standard output."""
    return _call("run_stdout", cmd, args, kwargs)


def run_stderr(cmd, *args, **kwargs):
    """Run a command and return its standard error."""
    return _call("run_stderr", cmd, args, kwargs)


def retcode(cmd, *args, **kwargs):
    """Run a command and return its exit code."""
    return _call("retcode", cmd, args, kwargs)


def shell(cmd, *args, **kwargs):
    """Run a command by the shell and return its output."""
    return _call("shell", cmd, args, kwargs)


def script(source, *args, **kwargs):
    """Run a script and return {"retcode", "stdout", "stderr", "pid"}."""
    return _call("script", source, args, kwargs)


def exec_code(lang, code, *args, **kwargs):
    """Run code by an interpreter and return its output."""
    return _call("exec_code", lang, (code, *args), kwargs)


def has_exec(cmd):
    """Say whether a program is in PATH."""
    return _call("has_exec", cmd, (), {})


def which(cmd):
    """Return the path of a program in PATH, or None."""
    return _call("which", cmd, (), {})


def _run_quiet(cmd, *args, **kwargs):
    """Run a command without a word in the log and return its output."""
    return run(cmd, *args, **dict(kwargs, output_loglevel="quiet"))


def _run_all_quiet(cmd, *args, **kwargs):
    """Run a command without a word in the log and return all about it."""
    return run_all(cmd, *args, **dict(kwargs, output_loglevel="quiet"))


def _retcode_quiet(cmd, *args, **kwargs):
    """Run a command without a word in the log and return its exit code."""
    return retcode(cmd, *args, **dict(kwargs, output_loglevel="quiet"))
