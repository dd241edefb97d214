"""caseowner.py - for servers that the `setup` of a case starts: the process of the case, with which they end."""
import os, select


def find():
    """A descriptor of the nearest ancestor that is no shell."""
    pid, name = os.getppid(), "sh"
    while name in ("sh", "dash", "bash"):
        with open(f"/proc/{pid}/stat") as f:
            before, _, after = f.read().rpartition(")")
        name = before.partition("(")[2]
        if name in ("sh", "dash", "bash"):
            pid = int(after.split()[1])
    return os.pidfd_open(pid)


def leave(*kept):
    """Leaves the shell's session and its files, but for these descriptors: others wait for their end."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for fd in set(range(3, 256)) - set(kept):
        try:
            os.close(fd)
        except OSError:
            pass


def await_end(owner):
    leave(owner)
    select.select([owner], [], [], 300)
