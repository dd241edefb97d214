"""Names of packages that are imported on first use."""
import importlib
import importlib.util


def submodule(package, name):
    """Import and return package.name, or raise AttributeError."""
    whole = f"{package}.{name}"
    if not name.startswith("__") and importlib.util.find_spec(whole) is not None:
        return importlib.import_module(whole)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


def member(place, name):
    """Import a module and return one of its attributes; without a name the module itself."""
    module = importlib.import_module(place)
    return getattr(module, name) if name else module
