#!/usr/bin/python3
"""options.py SALT - the options that Salt's own files name and include/salt/options.def does not.

SALT is a work tree of Salt: its defaults (salt/config/__init__.py), its sample files (conf/*) and its configuration
reference (doc/ref/configuration). Prints a line for each missing option; exit code 1 when there is one."""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]


def matches(path, pattern, until="\0"):
    """What the pattern finds in the file's text before `until`."""
    try:
        return set(re.findall(pattern, path.read_text(encoding="utf-8").split(until)[0], re.M))
    except FileNotFoundError:
        sys.exit(f"options.py: {path}: there is no such file; give a work tree of Salt")


def of_salt(salt):
    """Names by the file that has them."""
    known = {"salt/config/__init__.py": matches(salt / "salt/config/__init__.py", r'^        "([a-z][a-z0-9_]*)":', "\nDEFAULT_CLOUD_OPTS")}
    for name in ("conf/master", "conf/minion", "conf/proxy"):
        known[name] = matches(salt / name, r"^#?([a-z][a-z0-9_]*):(?: |$)")
    for name in ("master", "minion"):
        known[f"doc/ref/configuration/{name}.rst"] = matches(
            salt / f"doc/ref/configuration/{name}.rst", r"^\.\. conf_(?:master|minion):: `*([a-z][a-z0-9_]*)"
        )
    return known


# Keys of mappings that stand in these files at the place of an option.
NO_OPTIONS = {"base", "os"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ours = matches(HERE / "include/salt/options.def", r"^[A-Z_]+\(([a-z][a-z0-9_]*),")
    missing = {}
    for name, options in of_salt(Path(sys.argv[1])).items():
        for option in options - ours - NO_OPTIONS:
            missing.setdefault(option, []).append(name)
    for option, names in sorted(missing.items()):
        print(f"{option}: in Salt's {', '.join(names)}")
    sys.exit(1 if missing else 0)


main()
