"""A machine to change: this one's files under an overlay, with mounts, processes, a network and a host name of its own.

Everything that is written lands in the overlay's upper folder, so that what a state did to the machine is what that
folder holds. Loading kernel modules, the clock and reboots are out of reach; /proc/sys is read-only but for the network's.
"""
import ctypes
import hashlib
import os
import shutil
import stat
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_HOST, NEW_IPC, NEW_PIDS, NEW_NET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP = 24
DROPPED = (16, 17, 22, 25, 34)  # CAP_SYS_MODULE, RAWIO, BOOT, TIME, SYSLOG
NODES = ("null", "zero", "full", "random", "urandom", "tty")
# Written by whoever looks at accounts, packages or time; not a part of the machine that a state is about.
IGNORED = ("etc/.pwd.lock", "etc/salt/pki", "var/cache", "var/log", "var/tmp", "run", "tmp", "dev", "proc", "sys", "root/.cache", "root/.npm",
           "root/.gem", "var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend", "var/lib/apt/lists/lock", "var/lib/apt/periodic",
           "root/.gnupg/trustdb.gpg",
           "srv/played/calls", "srv/played/ran", "srv/played/log", "srv/played/said", "var/lib/dpkg/triggers/Lock", "root/.wget-hsts",
           "var/spool/cron/atjobs/.SEQ", "root/.subversion", "var/lib/apt/lists/partial")


def mount(what, at, kind=None, flags=0, options=None):
    args = [None if a is None else a.encode() for a in (what, at, kind)]
    if LIBC.mount(args[0], args[1], args[2], ctypes.c_ulong(flags), None if options is None else options.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"mount {kind or what} at {at}: {os.strerror(error)}")


def apart(flags):
    if LIBC.unshare(flags) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"unshare: {os.strerror(error)}")
    if flags & NEW_MOUNTS:
        mount(None, "/", None, RECURSIVE | PRIVATE)


class Sandbox:
    """One overlay below `base`, a folder on a tmpfs, over `layers` (folders, the nearest first) and the machine's root."""

    def __init__(self, base, layers, build):
        self.lower = [*layers, "/"]
        self.upper, self.root = f"{base}/upper", f"{base}/root"
        for folder in ("upper", "work", "root"):
            os.makedirs(f"{base}/{folder}")
        mount("overlay", self.root, "overlay", 0, f"lowerdir={':'.join(self.lower)},upperdir={self.upper},workdir={base}/work")
        for folder in ("dev", "run", "tmp", "proc", "sys"):
            os.makedirs(f"{self.root}/{folder}", exist_ok=True)
        for folder in ("dev", "run", "tmp"):
            mount("tmpfs", f"{self.root}/{folder}", "tmpfs", 0, "mode=1777" if folder == "tmp" else "mode=755")
        mount("proc", f"{self.root}/proc", "proc")
        mount("sysfs", f"{self.root}/sys", "sysfs", READ_ONLY)
        for part, flags in (("sys", READ_ONLY), ("sys/net", 0)):
            at = f"{self.root}/proc/{part}"
            mount(at, at, None, BIND)
            mount(None, at, None, BIND | REMOUNT | flags)
        self.devices()
        os.makedirs(f"{self.root}{build}", exist_ok=True)
        mount(build, f"{self.root}{build}", None, BIND | RECURSIVE)

    def devices(self):
        for node in NODES:
            with open(f"{self.root}/dev/{node}", "w", encoding="ascii"):
                pass
            mount(f"/dev/{node}", f"{self.root}/dev/{node}", None, BIND)
        for folder in ("pts", "shm"):
            os.mkdir(f"{self.root}/dev/{folder}")
        mount("devpts", f"{self.root}/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666")
        for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx")):
            os.symlink(target, f"{self.root}/dev/{name}")

    def enter(self):
        for capability in DROPPED:
            LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        os.chroot(self.root)
        os.chdir("/")

    def run(self, argv, timeout=120, **more):
        """A program in the sandbox: (exit code, output with errors)."""
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "USER": "root",
               "LOGNAME": "root", "SHELL": "/bin/bash", "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env=env,
                              preexec_fn=self.enter, check=False, **more)
        return done.returncode, done.stdout.decode(errors="replace")

    def shell(self, commands, timeout=300):
        code, out = self.run(["/bin/bash", "-e", "-c", commands], timeout)
        if code != 0:
            raise RuntimeError(f"{commands!r} ended with {code}: {out}")
        return out

    def below(self, path):
        """What the layers have of a path: the first that holds it."""
        for layer in self.lower:
            at = os.path.join(layer, path)
            if os.path.lexists(at):
                return entry(at)
        return None

    def world(self, ignored=()):
        """{path: what is there} of all that differs from the layers below, and {path: time of its change}."""
        seen, times = {}, {}
        skipped = IGNORED + tuple(ignored)
        for folder, names, files in os.walk(self.upper):
            there = os.path.relpath(folder, self.upper)
            names[:] = [n for n in names if os.path.normpath(f"{there}/{n}") not in skipped]
            for name in names + files:
                path = os.path.normpath(f"{there}/{name}")
                if path in skipped:
                    continue
                at = os.path.join(folder, name)
                what = entry(at)
                if what != self.below(path):
                    seen[path] = what
                if what is not None and stat.S_ISREG(what[0]):
                    times[path] = os.lstat(at).st_mtime_ns
        return seen, times


def entry(at):
    """Kind, mode, owner, contents and attributes of a file; None for what an overlay says is gone."""
    try:
        st = os.lstat(at)
    except FileNotFoundError:
        return None
    kind = stat.S_IFMT(st.st_mode)
    if stat.S_ISCHR(kind) and st.st_rdev == 0:
        return None
    what = ""
    if stat.S_ISLNK(kind):
        what = os.readlink(at)
    elif stat.S_ISREG(kind):
        with open(at, "rb") as f:
            what = hashlib.sha256(f.read()).hexdigest()
    elif stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        what = st.st_rdev
    marks = [] if stat.S_ISLNK(kind) else sorted(
        (name, os.getxattr(at, name)) for name in os.listxattr(at) if name.startswith(("user.", "system.posix")))
    return (st.st_mode, st.st_uid, st.st_gid, what, tuple(marks))


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
