#!/usr/bin/python3
"""templates.py - how fast templates are, beside CPython's Jinja2 with its templates compiled, in one run.

  templates.py PROGRAM [MILLISECONDS]      PROGRAM is BUILD/tests/bench/template_bench; time for each template
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import jinja2

BATCH = 2
USERS = [{"name": "user%d" % i, "mail": "user%d@example.com" % i, "age": 20 + i * 7 % 50, "tags": ["a%d" % i, "b", "c"],
          "note": "<b>%d & more</b>" % i} for i in range(40)]
CONTEXT = {
    "title": "Bench",
    "users": USERS,
    "rows": [[i * j for j in range(10)] for i in range(50)],
    "services": {"service%d" % i: {"ports": [80, 8000 + i, 9000 + i], "mode": "0600"} if i % 2 else {"user": "app"} for i in range(20)},
}


def measure(case, ms):
    """Microseconds of the best batch, and the text."""
    env = jinja2.Environment(loader=jinja2.DictLoader(case.get("templates", {})), autoescape=case.get("autoescape", False))
    template = env.from_string(case["source"])
    text = template.render(CONTEXT)
    best, end = math.inf, time.monotonic() + ms / 1000
    while time.monotonic() < end:
        start = time.perf_counter()
        for _ in range(BATCH):
            template.render(CONTEXT)
        best = min(best, (time.perf_counter() - start) / BATCH)
    return best * 1e6, text


def main(argv):
    ms = int(argv[1]) if len(argv) > 1 else 500
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates.json")
    with open(path) as f:
        cases = json.load(f)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(CONTEXT, f)
        f.flush()
        ours = json.loads(subprocess.run([argv[0], path, f.name, str(ms)], stdout=subprocess.PIPE, check=True).stdout)
    print("%-12s %10s %10s %6s" % ("template", "Jinja2 us", "ours us", "ratio"))
    logs = []
    for case in cases:
        theirs, text = measure(case, ms)
        mine, length = ours[case["name"]]
        if length != len(text.encode()):
            sys.exit("%s: %d bytes, Jinja2 makes %d" % (case["name"], length, len(text.encode())))
        logs.append(math.log(theirs / mine))
        print("%-12s %10.1f %10.1f %6.2f" % (case["name"], theirs, mine, theirs / mine))
    print("%-12s %10s %10s %6.2f" % ("mean", "", "", math.exp(sum(logs) / len(logs))))


if __name__ == "__main__":
    main(sys.argv[1:])
