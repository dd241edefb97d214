"""Files that replace others at once."""
import os
import tempfile


class _AtomicWFile:
    """An open file that takes its place when it is closed."""

    def __init__(self, fhanle, tmp_filename, filename):
        self._fh, self._tmp_filename, self._filename = fhanle, tmp_filename, filename

    def __getattr__(self, name):
        return getattr(self._fh, name)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, *exc):
        if exc_type is None:
            self.close()
        else:
            self._fh.close()
            os.remove(self._tmp_filename)

    def close(self):
        """Close the file and put it in its place."""
        if self._fh.closed:
            return
        self._fh.close()
        if os.path.exists(self._filename):
            old = os.stat(self._filename)
            os.chmod(self._tmp_filename, old.st_mode & 0o7777)
        os.replace(self._tmp_filename, self._filename)


def atomic_open(filename, mode="w"):
    """Open a file for writing that takes its place when it is closed."""
    if mode in ("r", "rb", "r+", "rb+", "a", "ab"):
        raise TypeError("Read or append modes don't work with atomic_open")
    new = tempfile.NamedTemporaryFile(mode, prefix=".___atomic_write", dir=os.path.dirname(os.path.abspath(filename)), delete=False)
    return _AtomicWFile(new, new.name, filename)
