"""Words of states, and what state modules import of state runs."""
import os

from salt.utils import state as _state

STATE_REQUISITE_KEYWORDS = frozenset(
    "onchanges onchanges_any onfail onfail_any onfail_all onfail_stop prereq prerequired watch watch_any require require_any "
    "listen".split()
)
STATE_REQUISITE_IN_KEYWORDS = frozenset("onchanges_in onfail_in prereq_in watch_in require_in listen_in".split())
STATE_RUNTIME_KEYWORDS = frozenset(
    "fun state check_cmd failhard onlyif unless creates retry order parallel prereq prereq_in prerequired reload_modules reload_grains "
    "reload_pillar runas runas_password fire_event saltenv umask use use_in cmd_opts_exclude __env__ __sls__ __id__ __orchestration_jid__ __pub_user "
    "__pub_arg __pub_jid __pub_fun __pub_tgt __pub_ret __pub_pid __pub_tgt_type __prereq__ __prerequired__ __umask__".split()
)
STATE_INTERNAL_KEYWORDS = STATE_REQUISITE_KEYWORDS | STATE_REQUISITE_IN_KEYWORDS | STATE_RUNTIME_KEYWORDS
_gen_tag = _state.gen_tag


class StateError(Exception):
    """A state can't be run."""


def split_low_tag(tag):
    """Return {"state", "__id__", "name", "fun"} of a result's key."""
    return dict(zip(("state", "__id__", "name", "fun"), tag.split("_|-")))


def get_accumulator_dir(cachedir):
    """Return the folder in which file.accumulated keeps texts, which is made when it is not there."""
    path = os.path.join(cachedir, "accumulator")
    os.makedirs(path, exist_ok=True)
    return path


class _ByProgram:
    """Base of state runs, which the program does itself."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("state runs are the program's own: call state.apply, state.sls, state.high or state.low by __salt__")


class State(_ByProgram):
    """A state run."""


class HighState(_ByProgram):
    """A state run of the top file."""


class Compiler(_ByProgram):
    """The compilation of state files."""


class MasterState(_ByProgram):
    """A state run for another minion."""
