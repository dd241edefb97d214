"""JSON."""
import json

from salt.serializers import DeserializationError, SerializationError

available = True


def deserialize(stream_or_string, **options):
    """Return what JSON says."""
    try:
        if not isinstance(stream_or_string, (bytes, str)):
            return json.load(stream_or_string, **options)
        return json.loads(stream_or_string, **options)
    except Exception as exc:
        raise DeserializationError(exc) from exc


def serialize(obj, **options):
    """Return data as JSON, or write it to the file `fp`."""
    try:
        if "fp" in options:
            return json.dump(obj, **options)
        return json.dumps(obj, **options)
    except Exception as exc:
        raise SerializationError(exc) from exc
