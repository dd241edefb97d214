"""The dumpers of YAML, by their older name."""
from salt.utils.yaml import (  # noqa: F401
    IndentedSafeOrderedDumper,
    IndentMixin,
    OrderedDumper,
    SafeOrderedDumper,
    dump,
    get_dumper,
    safe_dump,
)
