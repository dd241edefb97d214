#!/usr/bin/python3
"""The case files of beacons against Salt's own beacons: PYTHONPATH=FOLDER_OF_SALT beacons.py tests/cases/beacon/*.json

Calls validate() and beacon() of Salt's files on what a case has, its files, programs and commands, and compares what they find with
what the case expects. Cases with "ours" are left out, and those whose module can't be loaded here are named.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time

MODULES = {"log": "log_beacon"}


def fits(want, got):
    if want == "*":
        return got is not None
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(fits(v, got[k]) for k, v in want.items())
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(want) == len(got) and all(fits(a, b) for a, b in zip(want, got))
    return want == got


class Salt(dict):
    """Functions of Salt's modules, by the installed package."""

    def __missing__(self, name):
        module, function = name.split(".")
        if name == "service.status":  # as of systemd
            return lambda service: subprocess.run(["systemctl", "is-active", service], capture_output=True).returncode == 0
        found = importlib.import_module("salt.modules." + module)
        found.__salt__, found.__grains__, found.__opts__ = self, {"kernel": "Linux", "os": "Debian"}, {}
        names = {alias: own for own, alias in getattr(found, "__func_alias__", {}).items()}
        return getattr(found, names.get(function, function))


def load(name, root):
    module = importlib.reload(importlib.import_module("salt.beacons." + MODULES.get(name, name)))
    module.__context__, module.__salt__, module.__grains__, module.__opts__ = {}, Salt(), {}, {}
    try:
        import psutil

        psutil.PROCFS_PATH = (root or "") + "/proc"
    except ImportError:
        pass
    if root:
        if name == "load":
            module.os = type("os", (), {})
            module.os.getloadavg = lambda: tuple(float(w) for w in open(root + "/proc/loadavg").read().split()[:3])
        for variable in ("WTMP", "BTMP"):
            if hasattr(module, variable):
                setattr(module, variable, root + getattr(module, variable))
    return module


def run(name, case, folder):
    config = case.get("config")
    module = load(name, None)
    valid, why = module.validate(config)
    if "invalid" in case or not valid:
        return [] if not valid and why == case.get("invalid") else [f"validate: {why!r}"]
    for path, text in case.get("files", {}).items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        open(os.path.join(folder, path), "w").write(text)
    for program, text in case.get("programs", {}).items():
        os.makedirs(folder + "/bin", exist_ok=True)
        open(f"{folder}/bin/{program}", "w").write(text)
        os.chmod(f"{folder}/bin/{program}", 0o755)
    if "setup" in case:
        subprocess.run(["sh", "-ec", case["setup"]], cwd=folder, check=True)
    before = os.environ["PATH"]
    os.environ["PATH"] = folder + "/bin:" + before
    module = load(name, folder if case.get("root") else None)
    wrong = []
    clock = case.get("clock", 1000) / 1000
    if name in ("inotify", "log", "wtmp", "btmp", "watchdog"):
        module.beacon(config)  # what our descriptor does when it is opened
    for at, look in enumerate(case.get("looks", [])):
        if "do" in look:
            subprocess.run(["sh", "-ec", look["do"]], cwd=folder, check=True)
        if name == "service":
            module.time.time = lambda: clock + at
        found = []
        for _ in range(3 if name in ("inotify", "watchdog") else 1):
            time.sleep(0.6 if name == "watchdog" else 0.05)
            found += module.beacon(json.loads(json.dumps(config)))
        found = [dict(f) for f in found]
        want = look["events"]
        if look.get("unordered"):
            want, found = (sorted(v, key=lambda e: json.dumps(e, sort_keys=True)) for v in (want, found))
        if not fits(want, found):
            wrong.append(f"look {at}: expected {json.dumps(want)}\n   but Salt found {json.dumps(found, default=repr)}")
    os.environ["PATH"] = before
    return wrong


def main():
    bad = good = left = 0
    for path in sys.argv[1:]:
        name = os.path.basename(path)[: -len(".json")]
        for at, case in enumerate(json.load(open(path))):
            if case.get("ours"):
                left += 1
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    wrong = run(name, json.loads(json.dumps(case).replace("{T}", folder)), folder)
                except ImportError as error:
                    wrong = [f"can't be loaded: {error}"]
                except Exception as error:
                    wrong = [f"{type(error).__name__}: {error}"]
            bad, good = bad + bool(wrong), good + (not wrong)
            for line in wrong:
                print(f"{name}, case {at}: {line}")
    print(f"{good} as Salt, {bad} not, {left} ours")
    sys.exit(bad > 0)


main()
