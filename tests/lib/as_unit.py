#!/usr/bin/env python3
"""as_unit.py UNIT COMMAND WORD... - run a command under the system call filter of a systemd unit, for tests.

Reads SystemCallFilter= as systemd does (sets from systemd-analyze, "~" takes away, one of the first line's kind starts
the list) and installs it with SystemCallErrorNumber=, and RestrictSUIDSGID=, which takes openat2 away (ENOSYS) and the
modes of setuid and setgid (EPERM). Calls of other architectures are refused. x86_64 and aarch64.
Exit code 77: this host can't say what is needed.
"""
import ctypes
import errno
import os
import platform
import re
import struct
import subprocess
import sys

HEADERS = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"]
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LD_NR, LD_ARCH, JEQ, JSET, RET = 0x20, 0x20, 0x15, 0x45, 0x06
ARGS, SETID = 16, 0o6000  # where the arguments are, eight bytes each
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def numbers():
    found = {}
    for path in HEADERS:
        if os.path.exists(path):
            with open(path) as f:
                found.update((m[1], int(m[2])) for m in re.finditer(r"#define __NR_(\w+)\s+(\d+)", f.read()))
        if found:
            return found
    sys.exit(77)


def members(name):
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
    words = [line.strip() for line in text.splitlines()[1:]]
    return set().union(*(members(w) for w in words if w and not w.startswith("#")))


# RestrictSUIDSGID=: the argument that is a mode. Flags that are behind a pointer nobody can look at.
MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2,
                 "open": 2, "openat": 3, "creat": 1}


def allowed(unit):
    calls, code, setid = None, errno.EPERM, True
    with open(unit) as f:
        for line in f:
            key, _, value = line.strip().partition("=")
            if key == "SystemCallErrorNumber":
                code = getattr(errno, value)
            if key == "RestrictSUIDSGID":
                setid = value != "yes"
            if key != "SystemCallFilter":
                continue
            away = value.startswith("~")
            names = set().union(*(members(w) for w in value.lstrip("~").split()))
            if calls is None:
                calls = set(numbers()) if away else members("@default")
            calls = calls - names if away else calls | names
    return set(numbers()) if calls is None else calls, code, setid


def no_setid(known):
    rules = [(JEQ, 0, 1, known["openat2"]), (RET, 0, 0, ERRNO | errno.ENOSYS)]
    for name, place in MODE_ARGUMENT.items():
        if name in known:
            rules += [(JEQ, 0, 4, known[name]), (LD_NR, 0, 0, ARGS + 8 * place), (JSET, 0, 1, SETID),
                      (RET, 0, 0, ERRNO | errno.EPERM), (LD_NR, 0, 0, 0)]
    return rules


def install(calls, code, setid):
    known = numbers()
    rules = [(LD_ARCH, 0, 0, 4), (JEQ, 1, 0, AUDIT_ARCH[platform.machine()]), (RET, 0, 0, ERRNO | code), (LD_NR, 0, 0, 0)]
    rules += [] if setid else no_setid(known)
    for number in sorted(known[c] for c in calls if c in known):
        rules += [(JEQ, 0, 1, number), (RET, 0, 0, ALLOW)]
    rules.append((RET, 0, 0, ERRNO | code))
    code_bytes = b"".join(struct.pack("HBBI", *r) for r in rules)
    keep = ctypes.create_string_buffer(code_bytes)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(keep)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)):
        if libc.prctl(*words) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    try:
        what = allowed(sys.argv[1])
    except FileNotFoundError:
        sys.exit(77)
    install(*what)
    os.execvp(sys.argv[2], sys.argv[2:])
