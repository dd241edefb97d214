#!/usr/bin/python3
"""seeds.py - inputs to begin a search with: the templates and documents of the recorded cases, and the trees in srv and conf.

seeds.py OUT NAME [CASES...]     writes OUT/HASH for the fuzz target NAME; CASES are folders of case files
"""

import hashlib
import json
import os
import re
import sys

# Target: which strings of a case it reads, and what goes before each input (a first byte that chooses), or in place of it.
TEMPLATES, DOCUMENTS = {"source", "template", "src", "text"}, {"yaml", "text", "input"}
TARGETS = {
    "jinja": (TEMPLATES, (b"\x00", b"\x01", b"\x18")),
    "peer": (TEMPLATES, (b"",)),
    "render": (TEMPLATES | DOCUMENTS, (b"",)),
    "yaml": (DOCUMENTS, (b"",)),
    "py_data": (DOCUMENTS, (b"",)),
    "states": (DOCUMENTS, (b"",)),
    "reactor": (DOCUMENTS, (b"",)),
    "conf": (DOCUMENTS, (b"\x00", b"\x01")),
}
# What a template asks a peer's data about, in place of a case's own variables; and what the peer says.
PEERS = (b"peer.s", b"peer.l", b"peer.d", b"peer.n")
SAID = b"\n--\nSaid 'by' a peer: {x}\n"
TREES = ("srv", "conf")
LONGEST = 4096  # what the targets look at


def files(folder, end=""):
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(end):
                yield os.path.join(path, name)


def strings(value, keys):
    """Every text that stands under one of the keys, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from strings(item, keys)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in keys and isinstance(item, str):
                yield item.encode("utf-8", "surrogatepass")
            yield from strings(item, keys)


def inputs(keys, cases):
    for folder in cases:
        for path in files(folder, ".json"):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            try:
                yield from strings(json.loads(text), keys)
            except json.JSONDecodeError:  # a case a line
                yield from strings([json.loads(line) for line in text.splitlines() if line.strip()], keys)
    for folder in TREES:
        for path in files(folder):
            with open(path, "rb") as f:
                yield f.read()


def about_peers(text):
    """The template with a peer's values for its variables."""
    names = iter(PEERS * len(text))
    return re.sub(rb"(?<=\{\{ )[a-z]+\b(?!\()|(?<= in )[a-z]+\b", lambda _: next(names), text) + SAID


def main():
    out, name, *cases = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    keys, heads = TARGETS.get(name, (set(), ()))
    for text in inputs(keys, cases) if heads else ():
        text = about_peers(text) if name == "peer" else text
        for head in heads:
            if 0 < len(text) <= LONGEST:
                with open(os.path.join(out, hashlib.sha1(head + text).hexdigest()), "wb") as f:
                    f.write(head + text)


if __name__ == "__main__":
    main()
