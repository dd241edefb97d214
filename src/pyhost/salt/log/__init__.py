"""The set-up of a script's log, by its older names."""
from salt.log.setup import *  # noqa: F401,F403
from salt.log.setup import LOG_LEVELS, SORTED_LEVEL_NAMES  # noqa: F401
