"""Files and folders."""
import contextlib
import errno
import fcntl
import logging
import os
import shutil
import stat
import tempfile
import time

from salt.exceptions import CommandExecutionError, FileLockError
from salt.utils import platform, stringutils

log = logging.getLogger(__name__)

LOCAL_PROTOS = ("", "file")
REMOTE_PROTOS = ("http", "https", "ftp", "swift", "s3")
VALID_PROTOS = ("salt", "file") + REMOTE_PROTOS
TEMPFILE_PREFIX = "__salt.tmp."
HASHES = {"sha512": 128, "sha384": 96, "sha256": 64, "sha224": 56, "sha1": 40, "md5": 32}
HASHES_REVMAP = {length: name for name, length in HASHES.items()}
HAS_FCNTL = True


# ---- opening ------------------------------------------------------------------------------------------------


def fopen(*args, **kwargs):
    """Open a file as open() does; text is UTF-8 unless `encoding` says otherwise."""
    if args and isinstance(args[0], int) and not isinstance(args[0], bool) and args[0] in (0, 1, 2):
        raise TypeError(f"{args[0]} is not a permitted file descriptor")
    if isinstance(args[0] if args else None, bool):
        raise TypeError(f"{args[0]} is not a permitted file descriptor")
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    kwargs.pop("binary", None)
    if "b" not in mode and len(args) < 4:
        kwargs.setdefault("encoding", "utf-8")
        if len(args) < 6:
            kwargs.setdefault("newline", "")
    return open(*args, **kwargs)


@contextlib.contextmanager
def flopen(*args, **kwargs):
    """Open a file and hold a lock of it."""
    with fopen(*args, **kwargs) as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)
        try:
            yield file
        finally:
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextlib.contextmanager
def fpopen(*args, **kwargs):
    """Open a file and give it the owner `uid`, the group `gid` and the `mode`."""
    uid, gid, mode = (kwargs.pop(name, -1) for name in ("uid", "gid", "mode"))
    with fopen(*args, **kwargs) as file:
        now = os.stat(args[0])
        want_uid, want_gid = (-1 if value is None else value for value in (uid, gid))
        if (want_uid, want_gid) != (-1, -1) and (want_uid not in (-1, now.st_uid) or want_gid not in (-1, now.st_gid)):
            os.chown(args[0], want_uid, want_gid)
        if mode not in (-1, None) and mode | stat.S_IFREG != now.st_mode:
            os.chmod(args[0], mode)
        yield file


def mkstemp(*args, **kwargs):
    """Make a temporary file and return its path; with close_fd=False (descriptor, path)."""
    kwargs.setdefault("prefix", TEMPFILE_PREFIX)
    close_fd = kwargs.pop("close_fd", True)
    fd, path = tempfile.mkstemp(*args, **kwargs)
    if not close_fd:
        return fd, path
    os.close(fd)
    return path


@contextlib.contextmanager
def wait_lock(path, lock_fn=None, timeout=5, sleep=0.1, time_start=None):
    """Hold a lock file, after waiting up to `timeout` seconds for it."""
    lock = lock_fn or os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".w")
    start = time.time() if time_start is None else time_start
    while True:
        try:
            fd = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            if time.time() - start > timeout:
                raise FileLockError(f"Waited {timeout} seconds for {path} to be unlocked", start) from None
            time.sleep(sleep)
        except OSError as exc:
            raise FileLockError(f"{lock} can't be made: {exc.strerror}", start) from exc
    try:
        os.write(fd, str(os.getpid()).encode())
        os.close(fd)
        yield
    finally:
        os.remove(lock)


# ---- removing, renaming, copying ----------------------------------------------------------------------------


def safe_rm(tgt):
    """Remove a file, if that can be done."""
    with contextlib.suppress(OSError):
        os.remove(tgt)


def rm_rf(path):
    """Remove a file or a whole folder."""

    def make_writable(function, name, info):
        if not os.access(name, os.W_OK):
            os.chmod(name, stat.S_IWUSR)
            function(name)
        else:
            raise info[1]

    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path, onerror=make_writable)


def remove(path):
    """Remove a file that may be missing."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def rename(src, dst):
    """Rename a file, over one that is there."""
    os.replace(src, dst)


def recursive_copy(source, dest):
    """Copy the files below a folder into another one."""
    for root, _, names in os.walk(source):
        there = os.path.join(dest, os.path.relpath(root, source)) if root != source else dest
        os.makedirs(there, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(root, name), os.path.join(there, name))


def copyfile(source, dest, backup_mode="", cachedir=""):
    """Copy a file over another one at once, keeping the other's owner and mode."""
    if not os.path.isfile(source):
        raise OSError(f"[Errno 2] No such file or directory: {source}")
    folder = os.path.dirname(dest) or "."
    if not os.path.isdir(folder):
        raise OSError(f"[Errno 2] No such file or directory: {dest}")
    temporary = mkstemp(dir=folder)
    try:
        shutil.copyfile(source, temporary)
        _back_up(dest, backup_mode, cachedir)
        if os.path.isfile(dest):
            old = os.stat(dest)
            os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        else:
            os.chmod(temporary, 0o666 & ~get_umask())
        os.replace(temporary, dest)
    finally:
        safe_rm(temporary)


def _back_up(dest, backup_mode, cachedir):
    if backup_mode in ("minion", "both") and cachedir and os.path.exists(dest):
        backup_minion(dest, os.path.join(cachedir, "file_backup"))
    if backup_mode in ("master", "both"):
        log.info("master backup is not supported: %s is not kept at the master", dest)


def backup_minion(path, bkroot):
    """Copy a file into the folder of backups."""
    folder, name = os.path.split(path)
    stamp = time.strftime("%a_%b_%d_%H:%M:%S", time.localtime())
    place = os.path.join(bkroot, folder[1:], f"{name}_{stamp}_{int(time.time() % 1 * 1e6):06d}_{time.localtime().tm_year}")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    shutil.copyfile(path, place)
    old = os.stat(path)
    os.chown(place, old.st_uid, old.st_gid)
    os.chmod(place, old.st_mode & 0o7777)


# ---- looking ------------------------------------------------------------------------------------------------


def process_read_exception(exc, path, ignore=None):
    """Raise what tells why a file can't be read, unless `ignore` has the error's number."""
    numbers = ignore if isinstance(ignore, (list, tuple, set)) else [ignore]
    if exc.errno in numbers:
        return
    if exc.errno == errno.ENOENT:
        raise CommandExecutionError(f"{path} does not exist")
    if exc.errno == errno.EACCES:
        raise CommandExecutionError(f"Permission denied reading from {path}")
    raise CommandExecutionError(f"Error {exc.errno} encountered reading from {path}: {exc.strerror}")


def safe_walk(top, topdown=True, onerror=None, followlinks=True, _seen=None):
    """Walk a folder as os.walk does, entering each folder once although links are followed."""
    seen = set() if _seen is None else _seen
    place = os.stat(top) if os.path.exists(top) else None
    if place is not None and (place.st_dev, place.st_ino) in seen:
        return
    if place is not None:
        seen.add((place.st_dev, place.st_ino))
    try:
        names = os.listdir(top)
    except OSError as exc:
        if onerror is not None:
            onerror(exc)
        return
    dirs = [name for name in names if os.path.isdir(os.path.join(top, name))]
    files = [name for name in names if name not in dirs]
    if topdown:
        yield top, dirs, files
    for name in dirs:
        below = os.path.join(top, name)
        if followlinks or not os.path.islink(below):
            yield from safe_walk(below, topdown, onerror, followlinks, seen)
    if not topdown:
        yield top, dirs, files


def list_files(directory):
    """Return all paths below a folder, itself included."""
    found = {directory}
    for root, dirs, names in safe_walk(directory):
        found.update(os.path.join(root, name) for name in names + dirs)
    return list(found)


def is_empty(filename):
    """Say whether a file is there and has no bytes."""
    try:
        return os.stat(filename).st_size == 0
    except OSError:
        return False


def is_text(fp_, blocksize=512):
    """Say whether the beginning of a file is text."""
    if hasattr(fp_, "read"):
        with contextlib.suppress(OSError):
            fp_.seek(0)
        block = fp_.read(blocksize)
    else:
        try:
            with fopen(fp_, "rb") as file:
                block = file.read(blocksize)
        except OSError:
            return False
    block = stringutils.to_bytes(block)
    if b"\x00" in block:
        return False
    try:
        block.decode("utf-8")
        return True
    except UnicodeDecodeError:
        plain = bytes(range(32, 127)) + b"\n\r\t\f\b"
        return len(block.translate(None, plain)) / len(block) <= 0.30


def is_binary(path):
    """Say whether a file's beginning is not text."""
    if not os.path.isfile(path):
        return False
    try:
        with fopen(path, "rb") as file:
            return stringutils.is_binary(file.read(2048))
    except OSError:
        return False


def get_encoding(path):
    """Return the encoding of a file of text."""
    with fopen(path, "rb") as file:
        data = file.read()
    for mark, name in (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"):
        if data.startswith(mark):
            return name
    for name in "UTF-8", "ascii":
        with contextlib.suppress(UnicodeDecodeError):
            data.decode(name)
            return name
    raise CommandExecutionError(f"Could not detect encoding: {path}")


def guess_archive_type(name):
    """Return "tar", "zip" or "rar" by a file's name, or None."""
    name = name.lower()
    for ending in "tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz":
        if name.endswith("." + ending):
            return "tar"
    for ending in "zip", "rar":
        if name.endswith("." + ending):
            return ending
    return None


def case_insensitive_filesystem(path=None):
    """Say whether a folder's names do not depend on case."""
    with tempfile.NamedTemporaryFile(prefix="TmP", dir=path, delete=True) as file:
        return os.path.exists(file.name.lower())


def is_fcntl_available(check_sunos=False):
    """Say whether files can be locked by fcntl."""
    return not (check_sunos and platform.is_sunos())


# ---- names and modes ----------------------------------------------------------------------------------------


def safe_filename_leaf(file_basename):
    """Return a file's name with codes, as in %3A, for the characters that some system refuses."""
    return "".join(f"%{ord(c):02X}" if c in '\\/:*?"<>|' else c for c in file_basename)


def safe_filepath(file_path_name, dir_sep=None):
    """Return a path whose names no system refuses."""
    sep = dir_sep or os.sep
    return sep.join(safe_filename_leaf(part) for part in file_path_name.rsplit(sep))


def get_umask():
    """Return the umask of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def set_umask(mask):
    """Have another umask for a while."""
    if mask is None:
        yield
        return
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def normalize_mode(mode):
    """Return a mode as text of octal digits, without what marks it as octal."""
    if mode is None:
        return None
    return str(mode).replace("0o", "0").strip("\"'").lstrip("0").zfill(4)


def st_mode_to_octal(mode):
    """Return the last four octal digits of st_mode."""
    try:
        return oct(mode)[-4:]
    except (TypeError, IndexError):
        return ""


def human_size_to_bytes(human_size):
    """Return the bytes of a size such as "2G"."""
    powers = {name: i for i, name in enumerate("KMGTP", 1)}
    text = str(human_size).strip().upper()
    digits, unit = text.rstrip("KMGTPB"), text.lstrip("0123456789.").rstrip("B")
    if not digits.replace(".", "", 1).isdigit() or (unit and unit not in powers):
        raise ValueError("Size must be all digits, with an optional unit type (K, M, G, T, or P)")
    return int(float(digits) * 1024 ** powers.get(unit, 0))

