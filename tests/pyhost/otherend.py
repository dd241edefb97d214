"""The program's end of the line to an interpreter with users' files: sends tasks, answers questions."""

import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[2]
BOOT = (HERE / "src/common/python/boot.py").read_text(encoding="utf-8")
ECHO = "test.echo"


class Ended(Exception):
    """The interpreter has ended, or says what is no message."""


class Interpreter:
    """python3 with host.py and the files of src/pyhost. `functions` are those of the program: {kind: {name: function}}."""

    def __init__(self, dirs, opts=None, functions=None, salt=None, package=None, kind="modules", grains=None,
                 python=sys.executable):
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$0" -Iu -c "$1" "$2" "$3" 3<&{theirs.fileno()}', python, BOOT, package or "",
                 (opts or {}).get("cachedir", "")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        self.line, self.words = ours, ours.makefile("rb")
        self.functions = {"modules": {ECHO: lambda value: value}, **(functions or {})}
        self.logged, self.fired = [], []
        self.send((HERE / "src/common/python/host.py").read_text(encoding="utf-8"))
        parts = sorted((HERE / "src/pyhost").glob("*.py"), key=lambda part: (part.name != "loader.py", part.name))
        self.task("more", [{"text": part.read_text(encoding="utf-8"), "file": part.name} for part in parts])
        self.task("setup", {"opts": {"id": "m1", "test": False, **(opts or {})}, "grains": {"id": "m1", "os": "Debian", **(grains or {})},
                            "dirs": dirs, "kind": kind, "level": 10, "salt": salt})

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.words.close()
        self.line.close()

    def send(self, message):
        self.line.sendall(json.dumps(message).encode() + b"\n")

    def task(self, name, content):
        """The last answer: {"done": V, ...} or {"failed": {...}}."""
        self.send({name: content})
        while True:
            line = self.words.readline()
            try:
                message = json.loads(line)
                answer = next(getattr(self, "on_" + word) for word in message if hasattr(self, "on_" + word))
            except ValueError as e:
                raise Ended(line[:100]) from e
            except StopIteration:
                return message
            said = answer(next(iter(message.values())))
            if said is not None:
                self.send(said)

    def on_log(self, entry):
        self.logged.append(tuple(entry))

    def on_find(self, asked):
        kind, name = asked
        for file in self.described(kind, name.partition(".")[0]) + self.described(kind):
            own = name.partition(".")[2]
            if not file["why"] and name.partition(".")[0] in file["names"] and own in names_of(file):
                return {"value": [file["stem"], own, False]}
        return {"value": True if name in self.functions.get(kind, {}) else None}

    def on_call(self, asked):
        kind, name, args, kwargs = asked
        return {"value": self.functions[kind][name](*args, **kwargs)}

    def on_names(self, kind):
        own = [f"{name}.{fun}" for file in self.described(kind) if not file["why"] for name in file["names"]
               for fun in names_of(file)]
        return {"value": sorted({*own, *self.functions.get(kind, {})})}

    def on_pillar(self, asked):
        return {"value": {"colour": "green"}}

    def on_fire(self, asked):
        self.fired.append(asked)
        return {"value": True}

    def described(self, kind, module=None, salt=False):
        return self.task("describe", {"kind": kind, "module": module, "salt": salt})["done"]

    def call(self, name, *args, kind="modules", stem=None, test=False, seen=None, **kwargs):
        """What a user's function returns; Failed with what it says otherwise."""
        module, _, fun = name.partition(".")
        said = self.task("invoke", {"kind": kind, "stem": stem or module, "salt": False, "fun": fun, "bound": {},
                                    "star": list(args), "keywords": kwargs, "test": test, "globals": seen or {}})
        if "failed" in said:
            raise Failed(said["failed"])
        return said["done"]


class Failed(Exception):
    def __init__(self, said):
        super().__init__(said["text"])
        self.kind, self.text = said["kind"], said["text"]


def names_of(file):
    return [function["name"] for function in file["functions"]]


def folder_of(top, files):
    """Write {"name.py": text} below a folder, which is returned."""
    for name, text in files.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return str(top)
