"""The configuration of master and minion."""
import collections.abc
import glob
import os

from salt import _config
from salt._logging import (  # noqa: F401
    DFLT_LOG_DATEFMT,
    DFLT_LOG_DATEFMT_LOGFILE,
    DFLT_LOG_FMT_CONSOLE,
    DFLT_LOG_FMT_LOGFILE,
)
from salt.config._cloud import (  # noqa: F401
    check_driver_dependencies,
    get_cloud_config_value,
    is_profile_configured,
    is_provider_configured,
)
from salt.utils import dictupdate


class _Defaults(collections.abc.Mapping):
    """A table of defaults, which the programs have: it is read from them when it is first looked at."""

    def __init__(self, read):
        self._read, self._whole = read, None

    def _table(self):
        if self._whole is None:
            self._whole = self._read()
        return self._whole

    def __getitem__(self, key):
        return self._table()[key]

    def __iter__(self):
        return iter(self._table())

    def __len__(self):
        return len(self._table())

    def copy(self):
        """Return the defaults as a dictionary."""
        return dict(self._table())


DEFAULT_MASTER_OPTS = _Defaults(lambda: _config.defaults("master"))
DEFAULT_MINION_OPTS = _Defaults(lambda: _config.defaults("minion"))


def _path(path, env_var):
    """Return the path of a configuration; a variable of the environment comes first, as in the programs."""
    return os.environ.get(env_var) or path


def _merged(defaults, role, path):
    """Return the options that the programs read, over defaults of the caller."""
    opts = dict(defaults) if isinstance(defaults, dict) else {}
    opts.update(_config.options(role, path))
    return opts


def master_config(path, env_var="SALT_MASTER_CONFIG", defaults=None, exit_on_config_errors=False):
    """Return the master's options."""
    return _merged(defaults, "master", _path(path, env_var))


def client_config(path, env_var="SALT_CLIENT_CONFIG", defaults=None):
    """Return the options of a client of the master, which are the master's."""
    return master_config(path, env_var, defaults)


def minion_config(path, env_var="SALT_MINION_CONFIG", defaults=None, cache_minion_id=False, ignore_config_errors=True, minion_id=None,
                  role="minion"):
    """Return the minion's options."""
    opts = _merged(defaults, "minion", _path(path, env_var))
    if minion_id:
        opts["id"] = minion_id
    opts.setdefault("__role", role)
    return opts


def mminion_config(path, overrides, ignore_config_errors=True):
    """Return the minion's options with others over them."""
    return dict(minion_config(path), **overrides)


def apply_minion_config(overrides=None, defaults=None, cache_minion_id=False, minion_id=None):
    """Return the minion's options of the running program, or `defaults`, with others over them."""
    opts = dict(defaults if defaults is not None else DEFAULT_MINION_OPTS.copy())
    opts.update(overrides or {})
    return opts


def apply_master_config(overrides=None, defaults=None):
    """Return the master's options of the running program, or `defaults`, with others over them."""
    opts = dict(defaults if defaults is not None else DEFAULT_MASTER_OPTS.copy())
    opts.update(overrides or {})
    return opts


def load_config(path, env_var, default_path=None, exit_on_config_errors=True):
    """Return what one file of YAML says; {} for a file that is not there."""
    path = os.environ.get(env_var) or path
    if default_path is not None and not os.path.isfile(path) and not os.path.isdir(path):
        path = default_path
    return _read_conf_file(path) if os.path.isfile(path) else {}


def include_config(include, orig_path, verbose, exit_on_config_errors=False):
    """Return what files of YAML say that an option names by paths and globs, beside a configuration's file."""
    found = {}
    for pattern in [include] if isinstance(include, str) else include or []:
        whole = pattern if os.path.isabs(pattern) else os.path.join(os.path.dirname(orig_path), pattern)
        for path in sorted(glob.glob(whole)):
            found = dictupdate.update(found, _read_conf_file(path))
    return found


def _read_conf_file(path):
    """Return what one file of YAML says."""
    from salt.utils import files, yaml

    with files.fopen(path) as text:
        said = yaml.safe_load(text) or {}
    return said if isinstance(said, dict) else {}


def get_id(opts, cache_minion_id=False):
    """Return (the minion's id, whether it is an address)."""
    if opts.get("id"):
        return opts["id"], False
    from salt.utils import network

    return network.generate_minion_id(), False


def prepend_root_dir(opts, path_options):
    """Put root_dir before the paths that these options are."""
    root = os.path.normpath(opts.get("root_dir") or os.sep)
    for name in path_options:
        path = opts.get(name)
        if isinstance(path, str) and path and not path.startswith(("udp://", "tcp://", "file://")):
            if not (path == root or path.startswith(root.rstrip(os.sep) + os.sep)):
                opts[name] = os.path.join(root, path.lstrip(os.sep))
