"""Salt's names for modules and scripts on machines without Salt. README.md tells what is there."""
import importlib

import salt._kinds  # noqa: F401  finds modules of the running program
import salt._logging  # noqa: F401  gives every logger trace(), garbage() and profile()


def __getattr__(name):
    """Import a part of the package when it is first named, as files rely on others having done so."""
    if name == "__version__":
        return importlib.import_module("salt.version").__version__
    return importlib.import_module("salt._lazy").submodule(__name__, name)
