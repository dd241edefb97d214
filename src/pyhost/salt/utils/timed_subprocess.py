"""Programs that may run for a time only."""
import shlex
import subprocess

from salt.exceptions import TimedProcTimeoutError


class TimedProc:
    """A program that is begun at once; run() waits for its end, `timeout` seconds at most."""

    def __init__(self, args, **kwargs):
        self.timeout = kwargs.pop("timeout", None)
        self.stdin = kwargs.pop("stdin", None)
        self.wait = not kwargs.pop("bg", False) and kwargs.pop("with_communicate", True)
        self.stdout = self.stderr = None
        self.command = args
        if self.stdin is not None:
            self.stdin = self.stdin.encode() if isinstance(self.stdin, str) else self.stdin
            kwargs["stdin"] = subprocess.PIPE
        if isinstance(args, str) and not kwargs.get("shell"):
            args = shlex.split(args)
        self.process = subprocess.Popen(args, **kwargs)

    def run(self):
        """Wait for the end and return the exit code; `stdout` and `stderr` have the output then."""
        try:
            if self.wait:
                self.stdout, self.stderr = self.process.communicate(self.stdin, self.timeout)
            else:
                self.process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise TimedProcTimeoutError(f"{self.command} : Timed out after {self.timeout} seconds") from None
        return self.process.returncode
