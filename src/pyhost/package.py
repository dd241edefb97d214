# package.py - how files of the cache and of the package `salt` are imported. A part of loader.py's program.


class Source(importlib.machinery.SourceFileLoader):
    """A file whose bytecode is the daemon's alone, whatever the umask: what lies there is run."""

    def set_data(self, path, data, *, _mode=0):
        folder, missing = os.path.dirname(path), []
        while folder and not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(missing):
            with contextlib.suppress(OSError):  # another interpreter made it; or bytecode can't be kept, which does not matter
                os.mkdir(folder, 0o700)
        super().set_data(path, data, _mode=0o600)


class PackageSource(Source):
    """A file of the package beside this program: its bytecode goes to the cache, as its own folder may not be written to."""

    prefix = None

    def get_code(self, fullname):
        before, sys.pycache_prefix = sys.pycache_prefix, self.prefix
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix = before


def keep_bytecode(cachedir):
    """How files of the package and of the cache are imported."""
    if PackageSource.prefix is not None:
        return
    package = sys.argv[1] if len(sys.argv) > 1 else ""
    PackageSource.prefix = os.path.join(cachedir, "python") if cachedir else None

    def below(path, folder):
        return folder and (path == folder or path.startswith(folder + "/"))

    def hook(path):
        if cachedir and below(path, package):
            return importlib.machinery.FileFinder(path, (PackageSource, [".py"]))
        if below(path, cachedir):
            return importlib.machinery.FileFinder(
                path, (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES), (Source, [".py"]),
                (importlib.machinery.SourcelessFileLoader, [".pyc"]))
        raise ImportError

    sys.path_hooks.insert(0, hook)


class LazyPackage(Source):
    """Files use modules of these packages without importing them, as Salt's daemons have imported most."""

    def exec_module(self, module):
        super().exec_module(module)
        vars(module).setdefault("__getattr__", functools.partial(self._part, module.__name__))

    @staticmethod
    def _part(package, name):
        try:
            if not name.startswith("_"):
                return importlib.import_module(f"{package}.{name}")
        except ModuleNotFoundError:
            pass
        raise AttributeError(f"module '{package}' has no attribute '{name}'")


class OwnNames:
    """Modules that speak to Salt's daemons are ours where Salt's package is there too."""

    NAMES = frozenset(
        "cache client client.local key runner wheel utils.event _config _host _job _kinds _lazy _loaders _local _masterfun "
        "_program renderers.pydsl renderers.pyobjects utils.pydsl utils.pyobjects".split())
    PACKAGES = ("salt", "salt.utils")

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.PACKAGES:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            spec.loader = LazyPackage(name, spec.origin)
            return spec
        if not name.startswith("salt.") or name[5:] not in cls.NAMES:
            return None
        base = os.path.join(sys.argv[1], *name.split("."))
        package = os.path.join(base, "__init__.py")
        if os.path.isfile(package):
            salts = os.path.join(salts_folder, *name.split("."))
            return importlib.util.spec_from_file_location(name, package, submodule_search_locations=[base, salts])
        return importlib.util.spec_from_file_location(name, base + ".py") if os.path.isfile(base + ".py") else None


def choose_salt(folder):
    """Which package `salt` files import: Salt's own of that folder, or ours. The zygote has chosen for its children."""
    global chosen, salts_folder
    if chosen:
        return
    chosen, salts_folder = True, folder
    ours = sys.argv[1] if len(sys.argv) > 1 else ""
    if folder is not None:
        sys.path.insert(0, folder)
        sys.meta_path.insert(0, OwnNames)
    elif ours:
        sys.path.remove(ours)
        sys.path.insert(0, ours)
