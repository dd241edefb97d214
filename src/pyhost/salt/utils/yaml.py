"""YAML, by PyYAML: dictionaries keep their order, integers that begin with 0 are decimal."""
try:
    import yaml as _yaml
except ImportError:
    raise ImportError("the module yaml is missing, which reads and writes YAML: install the package python3-yaml (PyYAML)") from None

import collections
import re

from salt.utils.odict import OrderedDict
from yaml import *  # noqa: F401,F403
from yaml import YAMLError  # noqa: F401
from yaml.constructor import ConstructorError

_BaseLoader = getattr(_yaml, "CSafeLoader", _yaml.SafeLoader)
_BaseDumper = getattr(_yaml, "CSafeDumper", _yaml.SafeDumper)
_UNSPLIT_DIGITS = re.compile(r"^[-+]?0[0-9]+$")


class SaltYamlSafeLoader(_BaseLoader):
    """The loader; a key that is there twice is a fault."""

    def __init__(self, stream, dictclass=dict):
        super().__init__(stream)
        self.dictclass = dictclass

    def construct_mapping(self, node, deep=False):
        """Return a mapping's node as a dictionary."""
        self.flatten_mapping(node)
        mapping = self.dictclass()
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, collections.abc.Hashable):
                raise ConstructorError("while constructing a mapping", node.start_mark, f"found unacceptable key {key_node.value}",
                                       key_node.start_mark)
            if key in mapping:
                raise ConstructorError("while constructing a mapping", node.start_mark, f"found conflicting ID '{key}'", key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep=deep)
        return mapping

    def flatten_mapping(self, node):
        """Put what << names into a mapping, where the mapping itself has no such key."""
        merged, own = [], []
        for key_node, value_node in node.value:
            if key_node.tag != "tag:yaml.org,2002:merge":
                own.append((key_node, value_node))
                continue
            sources = value_node.value if isinstance(value_node, _yaml.SequenceNode) else [value_node]
            for source in sources:
                self.flatten_mapping(source)
                merged += source.value
        names = {key.value for key, _ in own}
        first = {}
        for key_node, value_node in merged:
            if key_node.value not in names:
                first.setdefault(key_node.value, (key_node, value_node))
        node.value = list(first.values()) + own


def _mapping(loader, node):
    whole = loader.dictclass()
    yield whole
    whole.update(loader.construct_mapping(node))


def _integer(loader, node):
    text = node.value
    return int(text, 10) if _UNSPLIT_DIGITS.match(text) else loader.construct_yaml_int(node)


for _tag in "tag:yaml.org,2002:map", "tag:yaml.org,2002:omap":
    SaltYamlSafeLoader.add_constructor(_tag, _mapping)
SaltYamlSafeLoader.add_constructor("tag:yaml.org,2002:int", _integer)
SaltYamlSafeLoader.add_constructor("tag:yaml.org,2002:python/unicode", lambda loader, node: node.value)
SaltYamlSafeLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))


class IndentMixin(_yaml.Dumper):
    """Lists are indented below their keys."""

    def increase_indent(self, flow=False, indentless=False):
        """Go one step to the right."""
        return super().increase_indent(flow, False)


class OrderedDumper(_yaml.Dumper):
    """A dumper that knows ordered dictionaries."""


class SafeOrderedDumper(_BaseDumper):
    """A dumper of plain data that knows ordered dictionaries."""


class IndentedSafeOrderedDumper(IndentMixin, _yaml.SafeDumper):
    """As SafeOrderedDumper, lists indented."""


def _represent_ordered(dumper, data):
    return dumper.represent_dict(list(data.items()))


for _dumper in OrderedDumper, SafeOrderedDumper, IndentedSafeOrderedDumper:
    for _kind in OrderedDict, collections.OrderedDict:
        _dumper.add_representer(_kind, _represent_ordered)
    _dumper.add_representer(collections.defaultdict, lambda dumper, data: dumper.represent_dict(data))
    _dumper.add_multi_representer(dict, lambda dumper, data: dumper.represent_dict(data))


def get_dumper(dumper_name):
    """Return a dumper by its name."""
    return {
        "OrderedDumper": OrderedDumper,
        "SafeOrderedDumper": SafeOrderedDumper,
        "IndentedSafeOrderedDumper": IndentedSafeOrderedDumper,
    }.get(dumper_name)


def load(stream, Loader=SaltYamlSafeLoader):
    """Read YAML."""
    return _yaml.load(stream, Loader=Loader)


def safe_load(stream, Loader=SaltYamlSafeLoader):
    """Read YAML of plain data."""
    return _yaml.load(stream, Loader=Loader)


def save_load(stream, Loader=SaltYamlSafeLoader):
    """Read YAML of plain data; an older name of safe_load."""
    return _yaml.load(stream, Loader=Loader)


def dump(data, stream=None, **kwargs):
    """Write data as YAML, by block style unless asked otherwise."""
    kwargs.setdefault("allow_unicode", True)
    kwargs.setdefault("default_flow_style", None)
    kwargs.setdefault("Dumper", OrderedDumper)
    return _yaml.dump(data, stream, **kwargs)


def safe_dump(data, stream=None, **kwargs):
    """Write plain data as YAML."""
    kwargs.setdefault("allow_unicode", True)
    kwargs.setdefault("default_flow_style", None)
    return _yaml.dump(data, stream, Dumper=SafeOrderedDumper, **kwargs)
