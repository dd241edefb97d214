# salts.py - Salt's own files of a kind, where its package is. A part of loader.py's program.


class SaltKind(Kind):
    """Salt's own files of a kind, loaded one by one."""

    prefix = "int"
    # Functions that speak to Salt's own daemons or keep their state: what is not in C is not there.
    NATIVE = frozenset("beacons config cp event grains mine pillar publish saltutil schedule state sysmod".split())

    def __init__(self, name, dirs):
        super().__init__(name, dirs)
        if name == "modules":
            for stem in self.NATIVE:
                self.paths.pop(stem, None)
        self.virtual = index_of(dirs, self.paths)

    def described(self, stem):
        """The files that may give a module its functions; all of them, of no module."""
        if stem is None:
            return self.all()
        stems = [stem] if stem in self.paths else []
        stems += [other for other in self.virtual.get(stem, ()) if other not in stems and other in self.paths]
        return [self.file(found) for found in stems]


VIRTUAL = re.compile(r"""^__virtualname__\s*=\s*["'](\w+)["']""", re.M)
ALIASES = re.compile(r"""^__virtual_aliases__\s*=\s*\(([^)]*)\)""", re.M)


def names_in(text):
    found = VIRTUAL.findall(text)
    for words in ALIASES.findall(text):
        found += re.findall(r"\w+", words)
    return found


def index_of(dirs, paths):
    """{virtual name: [file's name, ...]}, kept in the cache for as long as the folder stays the same."""
    folder = dirs[0] if dirs else None
    if folder is None or not os.path.isdir(folder):
        return {}
    stamp = [folder, os.stat(folder).st_mtime_ns, len(paths)]
    kept = os.path.join(world.opts.get("cachedir") or "", "python", f"index-{os.path.basename(folder)}.json")
    try:
        with open(kept, encoding="utf-8") as file:
            content = json.load(file)
        if content["of"] == stamp:
            return content["names"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    names = {}
    for stem, path in sorted(paths.items()):
        file = os.path.join(path, "__init__.py") if os.path.isdir(path) else path
        for name in names_in(text_of_file(file) or ""):
            names.setdefault(name, []).append(stem)
    write_whole(kept, json.dumps({"of": stamp, "names": names}))
    return names


def write_whole(path, text):
    """For a cache: a failure is as good as no cache."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        private, part = functools.partial(os.open, mode=0o600), f"{path}.{os.getpid()}"
        try:
            with open(part, "w", encoding="utf-8", opener=private) as file:
                file.write(text)
            os.replace(part, path)
        except OSError:
            os.unlink(part)
            raise
    except OSError as e:
        log.debug("%s is not kept: %s", path, e)
