"""The configuration of master and minion, as the programs themselves read it."""
import copy
import json
import os
import re
import tempfile

from salt import _host, _program, syspaths
from salt.exceptions import SaltConfigurationError

_SCALARS = {"true": True, "false": False, "null": None}


def _folder(path, name):
    """Return the folder that a path names: of the file DIR/master, or DIR itself."""
    path = path or os.path.join(syspaths.CONFIG_DIR, name)
    if os.path.isdir(path):
        return path
    if os.path.basename(path) != name:
        raise SaltConfigurationError(f"{path}: the configuration's file has the name {name}; give the folder in which it is")
    return os.path.dirname(path) or "."


def _scalar(text):
    """Return the value of a plain scalar of YAML."""
    if text in _SCALARS:
        return _SCALARS[text]
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    return int(text) if re.match(r"-?[0-9]+$", text) else text


def _top_scalars(text):
    """Return the settings of a dump that are plain values, which needs no library."""
    rows = (line.partition(": ") for line in text.splitlines() if line[:1] not in ("", " ", "-", "#"))
    return {name: _scalar(value) for name, sep, value in rows if sep and value[:1] not in "[{|>\""}


def _parsed(text):
    try:
        from salt.utils import yaml
    except ImportError:
        return _top_scalars(text)
    return yaml.safe_load(text)


def _inside(role):
    """Return the running program's options when it has this role, or None."""
    here = _host.host()
    if here is None:
        return None
    opts = here.opts()
    return opts if opts.get("__role", role) == role else None


def _is_own(opts, path, name):
    """Say whether a path names the running program's own configuration; one that is not there does."""
    own = opts.get("conf_file")
    if not path or own is None or not os.path.exists(path):
        return True
    return os.path.realpath(_folder(path, name)) == os.path.realpath(os.path.dirname(own))


def _master(folder):
    code, out, err = _program.output_of("salt", "--config-dump", "-c", folder)
    if code != 0:
        raise SaltConfigurationError(err.strip() or f"the configuration of the master can't be read: salt ended with {code}")
    return _parsed(out)


def _minion(folder):
    code, out, err = _program.output_of("salt-call", "--local", "--skip-grains", "--out=json", "-c", folder, "config.items")
    if code != 0:
        raise SaltConfigurationError(err.strip() or f"the configuration of the minion can't be read: salt-call ended with {code}")
    return json.loads(out)["local"]


_READ = {"master": _master, "minion": _minion}


def options(role, path=None):
    """Return the options of the master or a minion; those of a master without PyYAML are the plain values alone."""
    opts = _inside(role)
    if opts is not None and _is_own(opts, path, role):
        return copy.deepcopy(dict(opts))
    return _READ[role](_folder(path, role))


def defaults(role):
    """Return the options of the master or a minion without a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        return _READ[role](folder)
