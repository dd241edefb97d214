"""The loader's class, and its text."""
from salt._loaders import LazyLoader  # noqa: F401
from salt.loader.context import NamedLoaderContext  # noqa: F401

LOADED_BASE_NAME = "salt.loaded"
