"""The renderer json."""
from salt.utils import json


def render(json_data, saltenv="base", sls="", **kws):
    """Return what JSON says."""
    text = json_data if isinstance(json_data, str) else json_data.read()
    if text.startswith("#!"):
        text = text.partition("\n")[2]
    return json.loads(text) if text.strip() else {}
