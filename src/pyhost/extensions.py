# extensions.py - installed distributions that bring files (entry points of the group salt.loader: saltext-*): their folders. A part
# of loader.py's program. Each names a package, which has a folder for each kind, or a function, which returns a list of folders
# ("states_dirs = ...", by the option's name), or a dict of such lists.


def entry_points(group):
    import importlib.metadata  # which is dear

    found = importlib.metadata.entry_points()
    return found.select(group=group) if hasattr(found, "select") else found.get(group, [])


def folders_of_point(point, options):
    """{kind: [FOLDER, ...]} of one distribution."""
    loaded = point.load()
    if isinstance(loaded, types.ModuleType):
        return {kind: [os.path.join(top, kind) for top in loaded.__path__] for kind in options}
    said = loaded()
    if not isinstance(said, dict):
        return {kind: list(said) for kind, option in options.items() if option == point.name}
    for kind, folders in said.items():
        if isinstance(folders, str):
            raise ValueError(f"the folders of {kind} are no list but a text")
    return {kind: list(folders) for kind, folders in said.items() if kind in options}


def find_extensions(asked):
    """Put the folders of all into those where files are looked for, before the last one, which is that of a sync."""
    dirs = world.given["dirs"]
    for point in entry_points("salt.loader"):
        try:
            found = folders_of_point(point, asked["options"])
        except Exception as e:
            log.error("the extension %s is not used: %s", point.value, where_failed(e))
            continue
        for kind, folders in found.items():
            for folder in map(str, folders):
                if os.path.isdir(folder) and folder not in dirs[kind]:
                    dirs[kind].insert(len(dirs[kind]) - 1, folder)
    world.kinds.clear()
    send({"done": dirs})


TASKS.update(extensions=find_extensions)
