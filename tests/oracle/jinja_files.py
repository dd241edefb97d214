#!/usr/bin/python3
"""Templates of real state trees, with Jinja2's own answers compared with ours.

jinja_files.py CASES FOLDER...    CASES is BUILD/tests/cases; each folder is one state tree (a formula)

Every text with a tag in it is rendered twice, with plain undefined values and with chainable ones. What stands in
for the rest of Salt, on both sides:
  salt['any.function'](...)    a constant that hangs on the function's name
  pillar, grains, opts, ...    small dicts
  import_yaml, load_yaml, ...  a dict, or the text
  Salt's own filters           tojson, where they only give text; templates with others are left out
Other templates are found below the tree, by any end of their path.
"""
import copy
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import zlib

import jinja2
import jinja2.sandbox

import jinja_random
from jinja_random import TooSlow

NAMES = (".sls", ".jinja", ".j2", ".jinja2", ".conf", ".cfg", ".tmpl", ".template", ".yaml", ".yml", ".service", ".sh", ".ini")
VALUES = [{}, {"lookup": {}, "enabled": True, "pkg": "name", "version": "1.2.3"}, ["one", "two"], "a text", True, 5, None,
          {"first": {"name": "x", "port": 80}, "second": {"name": "y"}}]
CONTEXT = {
    "pillar": {"users": {"ada": {"uid": 1, "groups": ["a", "b"]}}, "nginx": {"enabled": True}, "flag": False},
    "grains": {"id": "minion", "os": "Debian", "os_family": "Debian", "oscodename": "bookworm", "osmajorrelease": 12, "osrelease": "12",
               "kernel": "Linux", "fqdn": "minion.example.com", "host": "minion", "num_cpus": 2, "mem_total": 2048, "init": "systemd",
               "ipv4": ["127.0.0.1", "10.0.0.5"], "osarch": "amd64", "cpuarch": "x86_64", "osfinger": "Debian-12", "saltversion": "3006.0",
               "ip_interfaces": {"eth0": ["10.0.0.5"]}, "roles": ["web"], "virtual": "kvm", "domain": "example.com", "localhost": "minion"},
    "opts": {"test": False, "cachedir": "/var/cache/salt", "id": "minion", "saltenv": "base", "file_roots": {"base": ["/srv/salt"]}},
    "saltenv": "base", "env": "base", "sls": "formula.init", "slspath": "formula", "tpldir": "formula", "tplfile": "formula/init.sls",
    "sls_path": "formula", "slsdotpath": "formula", "tplroot": "formula", "tpldot": "formula", "source": "salt://x", "name": "/etc/x",
}
REWRITES = [
    (r"\{%([-+]?)\s*import_(?:yaml|json)\s+(.+?)\s+as\s+(\w+)(?:\s+with(?:out)? context)?\s*([-+]?)%\}", r"{%\1 set \3 = {'a': 1} \4%}"),
    (r"\{%([-+]?)\s*import_text\s+(.+?)\s+as\s+(\w+)(?:\s+with(?:out)? context)?\s*([-+]?)%\}", r"{%\1 set \3 = 'text' \4%}"),
    (r"\{%([-+]?)\s*load_(?:yaml|json|text)\s+as\s+(\w+)\s*([-+]?)%\}", r"{%\1 set \2 \3%}"),
    (r"\{%([-+]?)\s*endload\s*([-+]?)%\}", r"{%\1 endset \2%}"),
    (r"\|\s*(?:yaml_encode|yaml_dquote|yaml_squote|yaml|json|python)\b(?:\([^()]*\))?", "|tojson"),
]
# Where Jinja2 is mistaken or speaks of its insides; see jinja_random.py.
LEFT_OUT = re.compile(r"\(<template>, line|^No (filter|test) named|^Encountered unknown tag|^sequence item|^Tried to resolve a name")


def constant(function):
    return copy.deepcopy(VALUES[zlib.crc32(function.encode()) % len(VALUES)])


class AliasedModule:
    __module__ = "salt.utils.templates"

    def __init__(self, known, name):
        self._known, self._name = known, name

    def __getattr__(self, name):
        function = "%s.%s" % (object.__getattribute__(self, "_name"), name)
        if function not in object.__getattribute__(self, "_known"):
            raise AttributeError(name)
        return lambda *a, **k: constant(function)


class AliasedLoader:
    __module__ = "salt.utils.templates"

    def __init__(self, known):
        self._known = known

    def __contains__(self, name):
        return name in self._known

    def __getitem__(self, name):
        if name not in self._known:
            raise KeyError(name)
        return lambda *a, **k: constant(name)

    def __getattr__(self, name):
        known = object.__getattribute__(self, "_known")
        if not any(f.startswith(name + ".") for f in known):
            raise AttributeError(name)
        return AliasedModule(known, name)


def rewrite(text):
    for old, new in REWRITES:
        text = re.sub(old, new, text)
    return text


def functions_in(text):
    names = set(re.findall(r"salt\[\s*['\"]([\w.]+)['\"]\s*\]", text))
    names.update("%s.%s" % m for m in re.findall(r"\bsalt\.(\w+)\.(\w+)\s*\(", text))
    # In templates a shell runs commands: that is Salt's business, not Jinja's.
    return {n for n in names if n not in ("cmd.run", "cmd.shell")}


class Tree:
    """The texts of one state tree, and which of them a render asked for."""

    def __init__(self, folder):
        self.texts, self.asked = {}, {}
        for root, dirs, files in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if d != ".git")
            for name in sorted(files):
                path = os.path.join(root, name)
                text = self.read(path)
                if name.endswith(NAMES) or "{%" in text:
                    self.texts[os.path.relpath(path, folder)] = rewrite(text)

    @staticmethod
    def read(path):
        try:
            with open(path, encoding="utf-8") as f:
                return f.read(200000)
        except (OSError, UnicodeDecodeError):
            return ""

    def load(self, name):
        found = [p for p in self.texts if p == name or p.endswith("/" + name)]
        # tplroot and its like stand for the formula's own folder.
        if not found and name.startswith("formula/"):
            found = [p for p in self.texts if p.endswith(name[len("formula"):])]
        if not found:
            return None
        self.asked[name] = self.texts[min(found, key=len)]
        return self.asked[name]


def answer(tree, source, undefined, known):
    env = jinja2.sandbox.SandboxedEnvironment(loader=jinja2.FunctionLoader(tree.load), undefined=undefined,
                                              extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    context = copy.deepcopy(CONTEXT)
    context["salt"] = AliasedLoader(known)
    try:
        template = env.from_string(source)
        output = env.concat(template.root_render_func(template.new_context(context)))
        return None if jinja_random.unknown(env, [source, *tree.asked.values()]) else {"output": output}
    except (TooSlow, MemoryError, RecursionError):
        return None
    except Exception as e:
        if jinja_random.folding(e) or LEFT_OUT.search(str(e)) or jinja_random.unknown(env, [source, *tree.asked.values()]):
            return None
        line, name = jinja_random.place(e)
        out = {"class": type(e).__name__, "message": e.message if isinstance(e, jinja2.TemplateSyntaxError) else str(e), "lineno": line}
        if name is not None:
            out["template"] = name
        return {"error": out}


def cases(folder):
    tree = Tree(folder)
    known = sorted(set().union(*(functions_in(t) for t in tree.texts.values())))
    for path, source in tree.texts.items():
        if "{%" not in source and "{{" not in source:
            continue
        for undefined in (jinja2.Undefined, jinja2.ChainableUndefined):
            tree.asked = {}
            signal.alarm(jinja_random.SECONDS)
            try:
                expect = answer(tree, source, undefined, known)
            except TooSlow:
                expect = None
            signal.alarm(0)
            if expect is None or jinja_random.UNSTABLE.search(expect.get("output", "")) or "/./" in source:
                continue
            used = set().union(*(functions_in(t) for t in [source, *tree.asked.values()]))
            modules = {n.split(".")[0] for n in used}
            yield {"name": "%s (%s)" % (os.path.join(folder, path), undefined.__name__), "env": {"sandboxed": True, "undefined": undefined.__name__,
                   "extensions": ["jinja2.ext.do", "jinja2.ext.loopcontrols"]}, "source": source, "context": CONTEXT,
                   "functions": {n: constant(n) for n in known if n.split(".")[0] in modules} or {"none.none": None},
                   "templates": tree.asked or {"-": ""}, "expect": expect}


def main(argv):
    signal.signal(signal.SIGALRM, jinja_random.too_slow)
    total = failed = 0
    for folder in argv[1:]:
        some = list(cases(folder.rstrip("/")))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            jinja_random.write(f, some)
            f.flush()
            ran = subprocess.run([argv[0], f.name], stdout=subprocess.PIPE, text=True, errors="replace")
        lines = ran.stdout.splitlines()
        if ran.returncode not in (0, 1) or not lines:
            print("%s: %s ended with %d" % (folder, argv[0], ran.returncode))
            return 1
        print("\n".join(lines[:-1] + ["# %s: %s" % (folder, lines[-1])]))
        total += len(some)
        failed += int(re.match(r"\d+ passed, (\d+) failed", lines[-1]).group(1))
    print("%d passed, %d failed" % (total - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
