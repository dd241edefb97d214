"""Salt's exception classes."""


def _as_text(message):
    """Return a message as text."""
    return message if isinstance(message, str) else str(message)


def _nested_output(obj):
    """Return data as the nested outputter shows it."""
    from salt import output

    return output.out_format(obj, "nested", {"color": False}).rstrip()


class SaltException(Exception):
    """Base of Salt's exceptions; `message` and `strerror` are its text."""

    def __init__(self, message=""):
        text = _as_text(message)
        super().__init__(text)
        self.message = self.strerror = text

    def __str__(self):
        return self.strerror

    def pack(self):
        """Return the exception as data for a message."""
        return {"message": str(self), "args": self.args}


class SaltClientError(SaltException):
    """A request to the master can't be made or was refused."""


class SaltMasterError(SaltException):
    """A fault in the master."""


class SaltNoMinionsFound(SaltException):
    """A target matched no minion."""


class SaltSyndicMasterError(SaltException):
    """A fault in a syndic's master."""


class SaltMasterUnresolvableError(SaltException):
    """The master's name has no address."""


class MasterExit(SystemExit):
    """The master ends."""


class AuthenticationError(SaltException):
    """Keys or signatures do not fit."""


class CommandNotFoundError(SaltException):
    """A program is not installed."""


class CommandExecutionError(SaltException):
    """A function failed; `error` is the text, `info` more data about it."""

    def __init__(self, message="", info=None):
        self.error = text = _as_text(message)
        self.info = info
        if info:
            if text:
                text += " " if text[-1] in ".?!" else ". "
            text += "Additional info follows:\n\n" + _nested_output(info)
        super().__init__(text)


class LoaderError(SaltException):
    """A module can't be loaded."""


class PublishError(SaltException):
    """A job can't be published."""


class MinionError(SaltException):
    """The minion has no answer for a request, such as a file that can't be fetched."""


class FileserverConfigError(SaltException):
    """The file server's configuration is wrong."""


class FileLockError(SaltException):
    """A lock file can't be taken; `time_start` is when the attempt began."""

    def __init__(self, message, time_start=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        if time_start is None:
            import time

            time_start = time.time()
        self.time_start = time_start


class GitLockError(SaltException):
    """A repository is locked; `errno` tells why the lock can't be taken."""

    def __init__(self, errno, message, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.errno = errno


class GitRemoteError(SaltException):
    """A repository can't be reached."""


class SaltInvocationError(SaltException, TypeError):
    """The arguments of a function are wrong."""


class SaltConfigurationError(SaltException):
    """The configuration is wrong."""


class SaltSystemExit(SystemExit):
    """The program ends with a code and a text."""

    def __init__(self, code=0, msg=None):
        super().__init__(msg or code)


class SaltCacheError(SaltException):
    """The cache can't be read or written."""


class TimeoutError(SaltException):
    """Something took too long."""


class SaltReqTimeoutError(SaltException):
    """A request to the master was not answered in time."""


class TimedProcTimeoutError(SaltException):
    """A program ran too long."""


class EauthAuthenticationError(SaltException):
    """The user may not do this."""


class TokenAuthenticationError(SaltException):
    """A token is wrong or too old."""


class SaltDeserializationError(SaltException):
    """A message can't be read."""


class AuthorizationError(SaltException):
    """The rules do not allow this."""


class SaltDaemonNotRunning(SaltException):
    """The master or the minion does not run."""


class SaltRunnerError(SaltException):
    """A runner failed."""


class SaltWheelError(SaltException):
    """A wheel function failed."""


class SaltClientTimeout(SaltException):
    """A job took too long; `jid` is the job."""

    def __init__(self, message, jid=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.jid = jid


class SaltRenderError(SaltException):
    """A file can't be rendered; the text shows the lines around `line_num` of `buf`."""

    def __init__(self, message, line_num=None, buf="", marker="    <======================", trace=None):
        self.error = message
        self.line_num = line_num
        self.buffer = buf
        self.context = ""
        text = _as_text(message)
        if trace:
            text += f"\n{trace}\n"
        if line_num and buf:
            from salt.utils import stringutils

            self.context = stringutils.get_context(buf, line_num, marker=marker)
            text += f"; line {line_num}\n\n{self.context}"
        super().__init__(text)


class CheckError(CommandExecutionError):
    """A check's value is wrong."""


class CodePageError(CommandExecutionError):
    """A code page can't be set."""


class InvalidConfigError(CommandExecutionError):
    """A module's configuration is wrong."""


class InvalidEntityError(CommandExecutionError):
    """An entity fails its check."""


class ArgumentValueError(CommandExecutionError):
    """An argument has a wrong value."""


class InvalidKeyError(SaltException):
    """A key is not valid."""


class NotImplemented(SaltException):
    """A function is not there on this system."""


class MissingSmb(SaltException):
    """The library for SMB is missing."""


class PkgParseError(SaltException):
    """A package manager's output can't be read."""


class TemplateError(SaltException):
    """A template is wrong."""


class LoggingRuntimeError(RuntimeError):
    """The log can't be set up."""


class SaltCloudException(SaltException):
    """Base of the exceptions of salt-cloud."""


class SaltCloudSystemExit(SaltCloudException):
    """salt-cloud ends with `exit_code`."""

    def __init__(self, message, exit_code=1):
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class SaltCloudConfigError(SaltCloudException):
    """A cloud's configuration is wrong."""


class SaltCloudNotFound(SaltCloudException):
    """A cloud's machine is not there."""


class SaltCloudExecutionTimeout(SaltCloudException):
    """A cloud took too long."""


class SaltCloudExecutionFailure(SaltCloudException):
    """A cloud refused a request."""


class SaltCloudPasswordError(SaltCloudException):
    """A password can't be set."""


class NxosError(SaltException):
    """Base of the exceptions of Nexus switches."""


class NxosCliError(NxosError):
    """A switch refused a command."""


class NxosClientError(NxosError):
    """A switch can't be reached."""


class NxosRequestNotSupported(NxosError):
    """A switch does not know a request."""


class VMwareSaltError(CommandExecutionError):
    """Base of the exceptions of VMware."""


class VMwareRuntimeError(VMwareSaltError):
    """VMware told of a fault at run time."""


class VMwareConnectionError(VMwareSaltError):
    """VMware can't be reached."""


class VMwareObjectRetrievalError(VMwareSaltError):
    """An object can't be read."""


class VMwareObjectNotFoundError(VMwareSaltError):
    """An object is not there."""


class VMwareObjectExistsError(VMwareSaltError):
    """An object is there already."""


class VMwareMultipleObjectsError(VMwareObjectRetrievalError):
    """Several objects fit where one is meant."""


class VMwareNotFoundError(VMwareSaltError):
    """Something is not there."""


class VMwareApiError(VMwareSaltError):
    """The interface told of a fault."""


class VMwareFileNotFoundError(VMwareApiError):
    """A file is not there."""


class VMwareSystemError(VMwareSaltError):
    """VMware told of a fault of the system."""


class VMwarePowerOnError(VMwareSaltError):
    """A machine can't be started."""


class VMwareVmRegisterError(VMwareSaltError):
    """A machine can't be registered."""


class VMwareVmCreationError(VMwareSaltError):
    """A machine can't be made."""


def get_error_message(error):
    """Return an exception's first argument, or an empty text."""
    return error.args[0] if error.args else ""
