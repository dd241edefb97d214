"""JSON, with text for what is not JSON's."""
import json


def _with_module(kwargs):
    module = kwargs.pop("_json_module", json)
    return module, kwargs


def find_json(raw):
    """Return the JSON within a text that has other lines before it; ValueError when there is none."""
    lines = raw.splitlines()
    for i, line in enumerate(lines):
        if line.lstrip()[:1] in ("{", "["):
            rest = "\n".join(lines[i:])
            try:
                return json.loads(rest)
            except ValueError:
                last = max(rest.rfind("}"), rest.rfind("]"))
                try:
                    return json.loads(rest[: last + 1])
                except ValueError:
                    continue
    raise ValueError


def import_json():
    """Return the module that reads and writes JSON."""
    return json


def load(fp, **kwargs):
    """Read JSON from a file."""
    module, kwargs = _with_module(kwargs)
    return module.load(fp, **kwargs)


def loads(s, **kwargs):
    """Read JSON from text or bytes."""
    module, kwargs = _with_module(kwargs)
    try:
        return module.loads(s, **kwargs)
    except TypeError as exc:
        if "expected str" in str(exc):
            raise ValueError(str(exc)) from exc
        raise


def dump(obj, fp, **kwargs):
    """Write JSON to a file; characters stay as they are."""
    module, kwargs = _with_module(kwargs)
    kwargs.setdefault("ensure_ascii", False)
    return module.dump(obj, fp, **kwargs)


def dumps(obj, **kwargs):
    """Return data as JSON; characters stay as they are."""
    module, kwargs = _with_module(kwargs)
    kwargs.setdefault("ensure_ascii", False)
    return module.dumps(obj, **kwargs)
