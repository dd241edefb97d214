"""Salt's levels of the log, which loggers have as methods, and the set-up of a script's log."""
import logging
import sys

GARBAGE, TRACE, PROFILE, QUIET = 1, 5, 15, 1000

LOG_LEVELS = {
    "all": logging.NOTSET,
    "debug": logging.DEBUG,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "garbage": GARBAGE,
    "info": logging.INFO,
    "profile": PROFILE,
    "quiet": QUIET,
    "trace": TRACE,
    "warning": logging.WARNING,
}
LOG_VALUES_TO_LEVELS = {value: name for name, value in LOG_LEVELS.items()}
SORTED_LEVEL_NAMES = [name for name, value in sorted(LOG_LEVELS.items(), key=lambda row: row[1])]
DFLT_LOG_DATEFMT = "%H:%M:%S"
DFLT_LOG_DATEFMT_LOGFILE = "%Y-%m-%d %H:%M:%S"
DFLT_LOG_FMT_CONSOLE = "[%(levelname)-8s] %(message)s"
DFLT_LOG_FMT_LOGFILE = "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s"

_handlers = {}


def _method(level):
    def write(self, msg, *args, **kwargs):
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)

    return write


for _name, _level in ("garbage", GARBAGE), ("trace", TRACE), ("profile", PROFILE):
    logging.addLevelName(_level, _name.upper())
    setattr(logging, _name.upper(), _level)
    if not hasattr(logging.Logger, _name):
        setattr(logging.Logger, _name, _method(_level))
logging.addLevelName(QUIET, "QUIET")
logging.QUIET = QUIET


def get_logging_level_from_string(level):
    """Return the number of a level's name."""
    return LOG_LEVELS.get(str(level).lower(), logging.WARNING)


def is_console_handler_configured():
    """Say whether setup_console_handler was called."""
    return "console" in _handlers


def is_logfile_handler_configured():
    """Say whether setup_logfile_handler was called."""
    return "logfile" in _handlers


def _add(name, handler, level, log_format, date_format):
    handler.setLevel(get_logging_level_from_string(level))
    handler.setFormatter(logging.Formatter(log_format, datefmt=date_format))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(min(handler.level, root.level))
    _handlers[name] = handler


def setup_console_handler(log_level=None, log_format=None, date_format=None):
    """Write the log to standard error as well."""
    if "console" not in _handlers:
        handler = logging.StreamHandler(sys.stderr)
        _add("console", handler, log_level or "error", log_format or DFLT_LOG_FMT_CONSOLE, date_format or DFLT_LOG_DATEFMT)


def setup_logfile_handler(log_path, log_level=None, log_format=None, date_format=None, **kwargs):
    """Write the log to a file as well."""
    if "logfile" not in _handlers and log_path:
        handler = logging.FileHandler(log_path, encoding="utf-8", delay=True)
        _add("logfile", handler, log_level or "error", log_format or DFLT_LOG_FMT_LOGFILE, date_format or DFLT_LOG_DATEFMT_LOGFILE)


def set_logger_level(logger_name, log_level="error"):
    """Set the level of one logger."""
    logging.getLogger(logger_name).setLevel(get_logging_level_from_string(log_level))


def shutdown_console_handler():
    """Take the handler of the console away."""
    _remove("console")


def shutdown_logfile_handler():
    """Take the handler of the file away."""
    _remove("logfile")


def _remove(name):
    handler = _handlers.pop(name, None)
    if handler is not None:
        logging.getLogger().removeHandler(handler)
        handler.close()
