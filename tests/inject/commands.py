"""commands.py - scenarios of one command in a folder of its own: every call of a kind fails once.

A scenario is a function that fills `stage.now` and gives the command; the row after it says which files may differ from
what the undisturbed command leaves.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import tempfile

from outcome import judge

WAIT = 60

PEM = re.compile(rb"-----BEGIN ([A-Z ]+)-----\n[A-Za-z0-9+/=\n]+-----END \1-----\n\Z")


class Stage:
    """One scenario's folder: as it was made, put back before each run."""

    def __init__(self, bins, library, page, row):
        self.bins, self.library, self.page, self.row = bins, library, page, row
        self.work = tempfile.mkdtemp(prefix="halite-inject-")
        self.now, self.made = f"{self.work}/now", f"{self.work}/made"
        os.mkdir(self.now)
        self.argv = row.make(self)
        shutil.copytree(self.now, self.made, symlinks=True)

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def write(self, name, text, mode=0o600):
        path = f"{self.now}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def bin(self, name, *words):
        return [f"{self.bins}/{name}", "-c", f"{self.now}/etc", *words]

    def reset(self):
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(self.made, self.now, symlinks=True)

    def run(self, faulty=True):
        env = dict(os.environ, TMPDIR=f"{self.work}/tmp")
        os.makedirs(env["TMPDIR"], exist_ok=True)
        if faulty:
            env.update(LD_PRELOAD=self.library, INJECT=self.page.path, INJECT_PROG=os.path.basename(self.argv[0]))
        try:
            p = subprocess.run(self.argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, timeout=WAIT)
            return p.returncode, p.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as e:
            return None, (e.stdout or b"").decode(errors="replace")

    def files(self):
        """Path below the stage: what can be seen of it."""
        found = {}
        for folder, _, names in os.walk(self.now):
            for name in names:
                path = os.path.join(folder, name)
                key = os.path.relpath(path, self.now)
                if os.path.islink(path):
                    found[key] = ("link", os.readlink(path))
                    continue
                with open(path, "rb") as f:
                    text = f.read()
                mode = os.stat(path).st_mode & 0o7777
                if any(fnmatch.fnmatch(key, p) for p in self.row.random):
                    text = b"whole" if PEM.match(text) else text
                found[key] = (text, oct(mode))
        return found

    def varies(self, key):
        return any(fnmatch.fnmatch(key, p) for p in self.row.varies)


class Row:
    """`varies`: files that may differ; `random`: whose contents differ each time; `says`: a failure that is the return of a
    function that went well."""

    def __init__(self, name, make, varies=(), random=(), says="^$"):
        self.name, self.make, self.varies, self.random, self.says = name, make, tuple(varies), tuple(random), says


def local(stage, *words):
    stage.write("etc/minion", f"id: m\nroot_dir: {stage.now}/root\nfile_client: local\nfile_roots: {{base: [{stage.now}/srv]}}\n"
                f"pillar_roots: {{base: [{stage.now}/pillar]}}\nlog_level: error\n")
    return stage.bin("salt-call", "--local", *words)


def call_ping(stage):
    return local(stage, "test.ping")


def call_run(stage):
    return local(stage, "cmd.run", f"mkdir -p {stage.now}/place; echo once >>{stage.now}/place/ran")


def call_state(stage):
    stage.write("srv/top.sls", "base: {'*': [web]}\n")
    stage.write("pillar/top.sls", "base: {'*': [data]}\n")
    stage.write("pillar/data.sls", "colour: red\n")
    stage.write("srv/web/conf", "{{ pillar.colour }} of {{ grains.id }}\n" + "line\n" * 200)
    stage.write("srv/web/init.sls", f"""
conf:
  file.managed: [{{name: {stage.now}/place/conf}}, {{source: 'salt://web/conf'}}, {{template: jinja}}, {{mode: '0640'}}, {{makedirs: true}}]
more:
  file.append: [{{name: {stage.now}/place/list}}, {{text: one more}}]
ran:
  cmd.run: [{{name: 'echo once >>{stage.now}/place/ran'}}, {{onchanges: [{{file: conf}}]}}]
gone:
  file.absent: [{{name: {stage.now}/place/old}}]
link:
  file.symlink: [{{name: {stage.now}/place/link}}, {{target: conf}}]
""")
    stage.write("place/conf", "old\n" * 300)
    stage.write("place/list", "first\n")
    stage.write("place/old", "old\n")
    return local(stage, "--retcode-passthrough", "state.apply")


def call_grain(stage):
    stage.write("etc/grains", "kept: yes\n")
    return local(stage, "grains.setval", "role", "web")


def keys_with(*words):
    def make(stage):
        stage.write("etc/master", f"root_dir: {stage.now}/root\nlog_level: error\n")
        for name, folder in (("new", "minions_pre"), ("old", "minions"), ("two", "minions_pre")):
            subprocess.run([f"{stage.bins}/salt-key", f"--gen-keys={name}", f"--gen-keys-dir={stage.work}"], stdout=subprocess.DEVNULL, check=True)
            place = f"{stage.now}/root/etc/salt/pki/master/{folder}"
            os.makedirs(place, exist_ok=True)
            os.rename(f"{stage.work}/{name}.pub", f"{place}/{name}")
        return stage.bin("salt-key", "-y", *(w.replace("@", stage.now) for w in words))

    return make


LOGS = ("root/var/log/*", "root/var/cache/*", "root/var/run/*")
ROWS = [
    Row("call-ping", call_ping, LOGS),
    Row("call-run", call_run, LOGS),
    Row("call-state", call_state, LOGS),
    Row("call-grain", call_grain, LOGS, says="Unable to read existing grains file"),
    Row("key-list", keys_with("-L"), LOGS),
    Row("key-accept", keys_with("-a", "new"), LOGS),
    Row("key-delete", keys_with("-d", "old"), LOGS),
    Row("key-gen", keys_with("--gen-keys=made", "--gen-keys-dir=@"), LOGS, ["made.p*"]),
]


def lines_of(entry):
    return entry[0].count(b"\n") if entry else 0


class Trial:
    """A scenario with what it is undisturbed."""

    def __init__(self, bins, library, page, row):
        self.stage, self.page = Stage(bins, library, page, row), page
        self.before = self.stage.files()
        code, text = self.stage.run(faulty=False)
        if code != 0:
            raise SystemExit(f"{row.name}: fails undisturbed: {text}")
        self.after = self.stage.files()

    def close(self):
        self.stage.close()

    def look(self, kind):
        """How often it calls that, and from where."""
        self.stage.reset()
        self.page.arm(kind, 0, look=True)
        self.stage.run()
        self.page.off()
        return self.page.calls, self.page.places()

    def once(self, kind, error, **point):
        """One run with one fault: (name of the outcome, [what is wrong], whether it was reached)."""
        stage = self.stage
        stage.reset()
        self.page.arm(kind, error, **point)
        code, text = stage.run()
        self.page.off()
        if not self.page.hits:
            return "not reached", [], False
        name, wrong = judge(code, text, kind, self.page)
        wrong = [wrong] if wrong else []
        now = stage.files()
        died = name in ("out of memory", "ended by a library")
        for key in sorted(set(now) | set(self.before)):
            is_now = now.get(key)
            if stage.varies(key) or is_now in (self.before.get(key), self.after.get(key)):
                continue
            if key not in self.before and key not in self.after:
                if not died:
                    wrong.append(f"left behind: {key}")
            else:
                wrong.append(f"neither old nor new: {key}: {str(is_now)[:80]}")
        if code == 0 and not re.search(self.stage.row.says, text):
            wrong += [f"said to be done, and is not: {k}: {text[-200:]}" for k in sorted(self.after) if not stage.varies(k) and now.get(k) != self.after[k]]
        wrong += self._again(now)
        return name, wrong, True

    def _again(self, now):
        """An undisturbed run afterwards ends what was begun."""
        code, text = self.stage.run(faulty=False)
        last = self.stage.files()
        wrong = []
        if code != 0 and self.stage.row.name not in ("key-accept", "key-delete", "key-gen"):
            wrong.append(f"the next run fails: {text[-300:]}")
        for key in self.after:
            if self.stage.varies(key) or last.get(key) == self.after[key]:
                continue
            # what is done once more each time, or was owed to a change that the first run made
            if key == "place/ran" and lines_of(now.get(key)) <= lines_of(last.get(key)) <= 2:
                continue
            wrong.append(f"the next run does not mend it: {key}")
        return wrong
