"""The programs that this package belongs to."""
import os
import shutil
import subprocess

from salt.exceptions import SaltClientError


def find(name):
    """Return the path of a program: beside this package's folder, or in PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    # PREFIX/lib/halite/python/salt and PREFIX/bin; in the tree of a build BUILD/python/salt and BUILD/bin.
    for up in 4, 2:
        path = os.path.normpath(os.path.join(here, *[".."] * up, "bin", name))
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    path = shutil.which(name)
    if path is None:
        raise SaltClientError(f"the program {name} is neither beside {here} nor in PATH")
    return path


def output_of(name, *words):
    """Run a program and return (exit code, standard output, standard error)."""
    done = subprocess.run([find(name), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
