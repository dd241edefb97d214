"""The set-up of a script's log, by its older names."""
from salt._logging import (  # noqa: F401
    LOG_LEVELS,
    LOG_VALUES_TO_LEVELS,
    SORTED_LEVEL_NAMES,
    get_logging_level_from_string,
    is_console_handler_configured,
    is_logfile_handler_configured,
    set_logger_level,
    setup_console_handler,
    setup_logfile_handler,
    shutdown_console_handler,
    shutdown_logfile_handler,
)

is_console_configured = is_console_handler_configured
is_logfile_configured = is_logfile_handler_configured
setup_console_logger = setup_console_handler
setup_logfile_logger = setup_logfile_handler
shutdown_console_logging = shutdown_console_handler
shutdown_logfile_logging = shutdown_logfile_handler


def is_logging_configured():
    """Say whether the log goes anywhere."""
    return is_console_configured() or is_logfile_configured()
