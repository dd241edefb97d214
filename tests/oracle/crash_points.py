#!/usr/bin/python3
"""Files that states replace, with every single step failing once: by kill -9, by a full disk, by a broken disk.

crash_points.py SALT_CALL FAULT_LIBRARY

Whatever the step, the file is the old one or the new one, whole, with the owner, mode and attributes that belong to it;
after an error nothing else is left in its folder, and the state says False; the next run, undisturbed, gives the new one.
What was written is on the disk (fsync) before the new file gets the name.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

OLD = "old line\n" * 400
NEW = "new line\n" * 500

# name, state, its arguments, where a file was before
SCENARIOS = [
    ("a file's contents", "file.managed", {"contents": NEW}, True),
    ("a new file", "file.managed", {"contents": NEW, "mode": "0640"}, False),
    ("contents, mode and owner", "file.managed", {"contents": NEW, "mode": "0604", "user": 1, "group": 1}, True),
    ("a copy of what was", "file.managed", {"contents": NEW, "backup": "minion"}, True),
    ("from the file server", "file.managed", {"source": "salt://new"}, True),
    ("more lines", "file.append", {"text": "one more"}, True),
    ("lines before", "file.prepend", {"text": "one before"}, True),
    ("other words", "file.replace", {"pattern": "old", "repl": "new"}, True),
    ("a block", "file.blockreplace", {"marker_start": "# a", "marker_end": "# b", "content": "in it", "append_if_not_found": True}, True),
    ("data", "file.serialize", {"dataset": {"a": [1, 2]}, "serializer": "json"}, True),
    ("comments", "file.comment", {"regex": "^old"}, True),
    ("a line", "file.line", {"mode": "insert", "content": "first of all", "location": "start"}, True),
    ("a value", "file.keyvalue", {"key": "colour", "value": "red", "append_if_not_found": True}, True),
]
FAULTS = [("kill", "kill"), ("a full disk", "28"), ("a broken disk", "5")]
ATTRIBUTE = "user.kept"


def look(path):
    """All that can be seen of a file, or None."""
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return None
    with open(path, "rb") as f:
        text = f.read()
    try:
        kept = os.getxattr(path, ATTRIBUTE)
    except OSError:
        kept = None
    return text, st.st_mode, st.st_uid, st.st_gid, kept


class Stage:
    def __init__(self, call, library):
        self.call, self.library = call, library
        self.work = tempfile.mkdtemp(prefix="halite-crash-")
        self.place = f"{self.work}/place"
        self.file = f"{self.place}/file"
        self.hit = f"{self.work}/hit"
        self.steps = f"{self.work}/steps"
        os.makedirs(f"{self.work}/etc")
        os.makedirs(f"{self.work}/srv")
        with open(f"{self.work}/srv/new", "w") as f:
            f.write(NEW)
        with open(f"{self.work}/etc/minion", "w") as f:
            f.write(f"id: m\nroot_dir: {self.work}/root\nfile_client: local\nfile_roots: {{base: [{self.work}/srv]}}\n")

    def set_up(self, there):
        shutil.rmtree(self.place, ignore_errors=True)
        os.mkdir(self.place)
        if os.path.exists(self.hit):
            os.unlink(self.hit)
        if there:
            with open(self.file, "w") as f:
                f.write(OLD)
            os.chmod(self.file, 0o640)
            if os.getuid() == 0:
                os.chown(self.file, 2, 2)
            try:
                os.setxattr(self.file, ATTRIBUTE, b"yes")
            except OSError:
                pass  # this file system has none

    def run(self, fun, args, fault=None):
        env = dict(os.environ)
        if fault:
            env.update(LD_PRELOAD=self.library, FAULT=fault, FAULT_ROOT=self.place, FAULT_HIT=self.hit, FAULT_STEPS=self.steps)
        words = [f"{k}={json.dumps(v)}" for k, v in args.items()]
        return subprocess.run([self.call, "--local", "-c", f"{self.work}/etc", "-l", "quiet", "--out=json", "state.single", fun,
                               f"name={self.file}"] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=120)


def named_before_synced(stage, fun, args, there):
    """Whether a new file gets its name while something that was written to it may not be on the disk."""
    stage.set_up(there)
    if os.path.exists(stage.steps):
        os.unlink(stage.steps)
    stage.run(fun, args, "kill:1000000")
    with open(stage.steps) as f:
        steps = f.read().split()
    dirty = False
    for step in steps:
        if step.startswith("rename") and dirty:
            return True
        dirty = step in ("write", "writev", "pwrite") or (dirty and step != "fsync")
    return False


def scenario(stage, name, fun, args, there):
    if os.getuid() != 0:
        args = {k: v for k, v in args.items() if k not in ("user", "group")}
    stage.set_up(there)
    old = look(stage.file)
    if stage.run(fun, args).returncode != 0:
        sys.exit(f"{name}: {fun} fails even undisturbed")
    new, beside_new = look(stage.file), os.listdir(stage.place)
    if new == old:
        sys.exit(f"{name}: {fun} changes nothing")
    if named_before_synced(stage, fun, args, there):
        yield f"{name}: the file gets its name before it is on the disk"
    steps = 0
    for what, code in FAULTS:
        n = 0
        while True:
            n += 1
            stage.set_up(there)
            out = stage.run(fun, args, f"{code}:{n}")
            now, beside = look(stage.file), sorted(os.listdir(stage.place))
            where = f"{name}, {what} at step {n}"
            if now not in (old, new):
                yield f"{where}: neither old nor new: {now and (now[0][:30], len(now[0])) + now[1:]}"
            if not os.path.exists(stage.hit):
                break
            steps += 1
            if code != "kill":
                for x in beside:
                    if x not in beside_new or (x != "file" and look(f"{stage.place}/{x}")[0] != old[0]):
                        yield f"{where}: left behind {x}"
                if now == old and out.returncode == 0:
                    yield f"{where}: said to be done, and is not: {out.stdout.decode(errors='replace')}"
            if stage.run(fun, args).returncode != 0 or look(stage.file) != new:
                yield f"{where}: the next run does not mend it"
    if steps < len(FAULTS):
        yield f"{name}: only {steps} steps were seen; does the fault library work?"


def main():
    stage = Stage(sys.argv[1], sys.argv[2])
    wrong = 0
    try:
        for name, fun, args, there in SCENARIOS:
            for text in scenario(stage, name, fun, args, there):
                print(text)
                wrong += 1
    finally:
        shutil.rmtree(stage.work, ignore_errors=True)
    print(f"{wrong} wrong after any step of {len(SCENARIOS)} replacements")
    sys.exit(wrong > 0)


main()
