"""Texts as scalars of YAML."""
from salt.utils import stringutils


def yaml_dquote(text):
    """Return a text as a scalar in double quotes."""
    import json

    return json.dumps(stringutils.to_str(text), ensure_ascii=False)


def yaml_squote(text):
    """Return a text as a scalar in single quotes."""
    return "'" + stringutils.to_str(text).replace("'", "''") + "'"


def yaml_encode(data):
    """Return a plain value as a scalar; TypeError for a list or a dictionary."""
    if isinstance(data, (list, tuple, dict, set)):
        raise TypeError(f"yaml_encode() only works with YAML scalar data; failed for {type(data)}")
    if isinstance(data, str):
        return yaml_dquote(data)
    return {None: "null", True: "true", False: "false"}.get(data, str(data)) if data is None or isinstance(data, bool) else str(data)
