"""YAML."""
from salt.serializers import DeserializationError, SerializationError
from salt.utils import yaml

available = True


class EncryptedString(str):
    """A text that stands under the tag !encrypted."""

    yaml_tag = "!encrypted"


class Loader(yaml.SaltYamlSafeLoader):
    """A loader that knows !encrypted."""


class Dumper(yaml.SafeOrderedDumper):
    """A dumper that knows !encrypted."""


Loader.add_constructor(EncryptedString.yaml_tag, lambda loader, node: EncryptedString(loader.construct_scalar(node)))
Dumper.add_representer(EncryptedString, lambda dumper, data: dumper.represent_scalar(EncryptedString.yaml_tag, str(data)))


def deserialize(stream_or_string, **options):
    """Return what YAML says."""
    options.setdefault("Loader", Loader)
    try:
        return yaml.load(stream_or_string, **options)
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        buffer = _text(stream_or_string)
        raise DeserializationError(getattr(exc, "problem", None) or str(exc), mark.line + 1 if mark else None, buffer) from exc
    except Exception as exc:
        raise DeserializationError(exc) from exc


def _text(stream_or_string):
    """Return a text, or nothing for a file that was read."""
    return stream_or_string if isinstance(stream_or_string, str) else ""


def serialize(obj, **options):
    """Return data as YAML."""
    options.setdefault("Dumper", Dumper)
    options.setdefault("default_flow_style", None)
    try:
        text = yaml.dump(obj, **options)
    except Exception as exc:
        raise SerializationError(exc) from exc
    # A plain value is written with the mark of a document's end.
    return text[:-5] if text and text.endswith("\n...\n") else text[:-1] if text and text.endswith("\n") else text
