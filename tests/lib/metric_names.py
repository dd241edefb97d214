#!/usr/bin/python3
"""metric_names.py SHOWN FILE...: the names of metrics that dashboards of Grafana (.json) and rules of Prometheus (.yml) ask for, and
that SHOWN, a text of /metrics, does not have, are printed one a line. Exit code 1 when there are some, or when a file asks for none."""
import json
import re
import sys


def expressions(value):
    """Texts below the key `expr`, and queries of a dashboard's variables."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key in ("expr", "query") and isinstance(one, str):
                yield one
            else:
                yield from expressions(one)
    elif isinstance(value, list):
        for one in value:
            yield from expressions(one)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        shown = set(re.findall(r"^# TYPE (\S+)", file.read(), re.MULTILINE))
    missing = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".json"):
            text = "\n".join(expressions(json.loads(text)))
        asked = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in shown else name
                 for name in re.findall(r"\b(?:salt|halite)_[a-z0-9_]+", text)}
        if not asked:
            sys.exit(f"{path}: asks for no metric")
        missing |= {f"{path}: {name}" for name in asked - shown}
    print("\n".join(sorted(missing)))
    return 1 if missing else 0


sys.exit(main())
