#!/usr/bin/python3
"""What `test=True` foretells, against what the same tree of states then does.

states_predict.py SALT_CALL TREES SEED [-v]

Each round makes a folder of files and a file server's at random, and a state tree at random over them, with requisites
between its states, and holds that
  * the foretelling changes nothing on the disk;
  * every state that was foretold to change (result None, or changes) changes, and no other does;
  * a state foretold to fail fails, and no other does;
  * what is in place afterwards stays as it is: a second run changes nothing, and its foretelling says so.
Each state has files of its own, so that none depends on what another one writes except by its requisites.
"""
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

WORDS = ["alpha", "beta", "gamma", "delta", "red = 1", "blue = 2", "# green = 3", "", "  indented", "last line"]


def text(rng, lines=6):
    return "".join(rng.choice(WORDS) + "\n" for _ in range(rng.randrange(lines)))


class Place:
    """What one state works on: a path of its own, there or not, and what it holds."""

    def __init__(self, rng, work, n):
        self.rng = rng
        self.path = f"{work}/place/s{n}"
        self.spare = f"{work}/place/s{n}.spare"
        self.served = f"{work}/srv/t{n}"
        self.url = f"salt://t{n}"

    def file(self, chance=0.8):
        if self.rng.random() < chance:
            put(self.path, text(self.rng))
            os.chmod(self.path, self.rng.choice([0o644, 0o600, 0o755]))
        return self.path

    def folder(self, chance=0.7):
        if self.rng.random() < chance:
            os.mkdir(self.path)
            for name in self.rng.sample(["a", "b", "c"], self.rng.randrange(3)):
                put(f"{self.path}/{name}", text(self.rng))
        return self.path

    def link(self):
        if self.rng.random() < 0.6:
            os.symlink(self.rng.choice(["/etc/hostname", "/nowhere", self.spare]), self.path)
        return self.path

    def deep(self, top, chance=1.0):
        """A folder with files, folders, and links; what is a file in one may be a folder in another."""
        if self.rng.random() < chance:
            os.mkdir(top)
            for name in self.rng.sample(["a", "b", "c", "sub"], self.rng.randrange(4)):
                self.entry(f"{top}/{name}")
        return top

    def entry(self, path):
        kind = self.rng.randrange(5)
        if kind == 0:
            os.symlink(self.rng.choice(["a", "/nowhere"]), f"{path}.link.{self.rng.randrange(100)}")
        elif kind == 1:
            os.mkdir(path)
            for name in self.rng.sample(["a", "b"], self.rng.randrange(3)):
                put(f"{path}/{name}", text(self.rng))
        else:
            put(path, text(self.rng))


def put(path, what):
    with open(path, "w") as f:
        f.write(what)


def managed(rng, at):
    args = {"name": at.file(), "contents": text(rng)}
    if rng.random() < 0.5:
        args["mode"] = rng.choice(["0644", "0600", "0755"])
    if rng.random() < 0.2:
        args["replace"] = False
    if rng.random() < 0.1:
        args["create"] = False
    return "file.managed", args


def directory(rng, at):
    args = {"name": at.folder()}
    if rng.random() < 0.5:
        args["dir_mode"] = rng.choice(["0755", "0700"])
    if rng.random() < 0.3:
        args["clean"] = True
    if rng.random() < 0.3:
        args.update(file_mode="0640", recurse=["mode"])
    return "file.directory", args


def directory_instead(rng, at):
    """A file or a link has the name."""
    args = {"name": at.link() if rng.random() < 0.4 else at.file(), "force": rng.random() < 0.5}
    if rng.random() < 0.6:
        args["backupname"] = at.spare
        if rng.random() < 0.3:
            put(at.spare, text(rng))
    if rng.random() < 0.3:
        args["allow_symlink"] = False
    return "file.directory", args


def directory_kept(rng, at):
    """What another state makes below is kept."""
    args = {"name": at.deep(at.path), "clean": True}
    if rng.random() < 0.3:
        args["exclude_pat"] = rng.choice(["a", "sub*", "E@^b$"])
    kept = rng.choice([("file.managed", {"name": f"{at.path}/{rng.choice('abx')}", "contents": text(rng), "makedirs": True}),
                       ("file.directory", {"name": f"{at.path}/{rng.choice(['sub', 'y'])}", "makedirs": True})])
    return "file.directory", args, kept


def recurse(rng, at):
    at.deep(at.served)
    put(f"{at.served}/served", text(rng))
    args = {"name": at.deep(at.path, 0.7), "source": at.url}
    for key, values in {"clean": [True], "include_empty": [True], "keep_symlinks": [True], "force_symlinks": [True], "replace": [False],
                        "exclude_pat": ["b", "sub*"], "include_pat": ["a", "E@^s"], "maxdepth": [0, 1], "dir_mode": ["0700"], "file_mode": ["0600"],
                        "backup": ["minion"]}.items():
        if rng.random() < 0.25:
            args[key] = rng.choice(values)
    return "file.recurse", args


def retention(rng, at):
    os.mkdir(at.path)
    for day in rng.sample(range(1, 29), rng.randrange(8)):
        put(f"{at.path}/b-2026-01-{day:02d}", "")
    put(f"{at.path}/other", "")
    args = {"name": at.path, "strptime_format": "b-%Y-%m-%d", "retain": {"most_recent": rng.randrange(1, 5)}}
    if rng.random() < 0.5:
        args["retain"][rng.choice(["first_of_day", "first_of_week"])] = rng.choice([1, 2, "all"])
    return "file.retention_schedule", args


def tidied(rng, at):
    args = {"name": at.deep(at.path, 0.9), "matches": rng.sample(["a", "b", "sub", ".*"], rng.randrange(1, 3)), "age": 0}
    if rng.random() < 0.5:
        args["rmdirs"] = True
    if rng.random() < 0.3:
        args["exclude"] = [rng.choice(["c", "sub"])]
    return "file.tidied", args


def patch(rng, at):
    put(at.served, "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n")
    put(at.path, rng.choice(["one\ntwo\n", "ONE\ntwo\n", "three\n"]))
    args = {"name": at.path, "source": at.url}
    if rng.random() < 0.5:
        args["reject_file"] = at.spare
    return "file.patch", args


def absent(rng, at):
    return "file.absent", {"name": at.folder() if rng.random() < 0.5 else at.file()}


def symlink(rng, at):
    return "file.symlink", {"name": at.link(), "target": rng.choice(["/etc/hostname", "/nowhere"])}


def hardlink(rng, at):
    put(at.spare, text(rng))
    if rng.random() < 0.3:
        os.link(at.spare, at.path)
    else:
        at.file(0.5)
    return "file.hardlink", {"name": at.path, "target": at.spare, "force": rng.random() < 0.5}


def append(rng, at):
    return rng.choice(["file.append", "file.prepend"]), {"name": at.file(), "text": rng.sample(WORDS[:4], rng.randrange(1, 3))}


def replace(rng, at):
    args = {"name": at.file(1), "pattern": rng.choice(["^alpha$", "b[a-z]+", "=", "nothing like it"]), "repl": rng.choice(["omega", "= "])}
    if rng.random() < 0.4:
        args["append_if_not_found"] = True
    return "file.replace", args


def line(rng, at):
    args = {"name": at.file(1), "mode": rng.choice(["ensure", "delete", "replace"]), "content": rng.choice(WORDS[:4])}
    if args["mode"] == "ensure":
        args["after"] = "alpha"
    if args["mode"] == "replace":
        args["match"] = "beta"
    return "file.line", args


def blockreplace(rng, at):
    return "file.blockreplace", {"name": at.file(1), "marker_start": "# begin", "marker_end": "# end", "content": text(rng),
                                 "append_if_not_found": rng.random() < 0.8}


def comment(rng, at):
    return rng.choice(["file.comment", "file.uncomment"]), {"name": at.file(1), "regex": rng.choice(["^red", "blue", "green", "nothing"])}


def touch(rng, at):
    return "file.touch", {"name": at.file(0.3)}


def look(rng, at):
    return rng.choice(["file.exists", "file.missing"]), {"name": at.file(0.5)}


def serialize(rng, at):
    return "file.serialize", {"name": at.file(), "dataset": {"k": rng.randrange(9), "l": [1, 2]}, "serializer": rng.choice(["json", "yaml"])}


def keyvalue(rng, at):
    return "file.keyvalue", {"name": at.file(1), "key": rng.choice(["red", "blue", "white"]), "value": str(rng.randrange(4)), "separator": " = ",
                             "append_if_not_found": rng.random() < 0.7}


def copy(rng, at):
    put(at.spare, text(rng))
    return "file.copy", {"name": at.file(), "source": at.spare, "force": rng.random() < 0.5}


def rename(rng, at):
    if rng.random() < 0.7:
        put(at.spare, text(rng))
    return "file.rename", {"name": at.file(0.4), "source": at.spare, "force": rng.random() < 0.5}


def run(rng, at):
    path = at.file(0.5)
    args = {"name": f"echo done > {path}"}
    guard = rng.randrange(4)
    if guard == 0:
        args["creates"] = path
    elif guard == 1:
        args["unless"] = f"test -e {path}"
    elif guard == 2:
        args["onlyif"] = [f"test ! -e {path}", "true"]
    else:
        args["unless"] = [{"fun": "file.file_exists", "path": path}]
    return "cmd.run", args


def plain(rng, at):
    return rng.choice(["test.nop", "test.succeed_with_changes", "test.succeed_without_changes", "test.fail_without_changes"]), {"name": at.path}


MAKERS = [managed, managed, managed, directory, absent, symlink, append, replace, line, blockreplace, comment, touch, look, serialize, keyvalue,
          copy, rename, run, run, plain, directory_instead, directory_kept, recurse, recurse, retention, tidied, patch, hardlink]
REQUISITES = ["require", "require", "watch", "onchanges", "onfail", "require_any", "onchanges_any", "onfail_any", "prereq", "listen"]


def tree(rng, work):
    """A random SLS as data, over files that it makes below `work`."""
    sls = {}
    n = rng.randrange(5, 25)
    for i in range(n):
        fun, args, *kept = rng.choice(MAKERS)(rng, Place(rng, work, i))
        body = [{k: v} for k, v in args.items()]
        for kept_fun, kept_args in kept:
            sls[f"id{i}.kept"] = {"fun": kept_fun, "body": [{k: v} for k, v in kept_args.items()]}
            body.append({"require": [{"file": f"id{i}.kept"}]})
        if i > 0 and not kept and rng.random() < 0.5:
            others = rng.sample(range(i), min(i, rng.randrange(1, 3)))
            kind = rng.choice(REQUISITES)
            if kind == "listen" and fun == "cmd.run":
                kind = "require"  # the command has turned its own condition by the time that it would run again
            reverse = kind in ("require", "watch", "onchanges", "onfail", "prereq") and rng.random() < 0.2
            refs = [{sls[f"id{o}"]["fun"].split(".")[0]: f"id{o}"} for o in others]
            body.append({kind: refs})
            if reverse and kind != "prereq":
                body.pop()
                body.append({"require": refs})
        if rng.random() < 0.1:
            body.append({"order": rng.choice([1, "last", 5])})
        sls[f"id{i}"] = {"fun": fun, "body": body}
    return {k: {v["fun"]: v["body"]} for k, v in sls.items()}


def disk(root):
    seen = hashlib.sha256()
    for folder, names, files in os.walk(root):
        names.sort()
        for name in sorted(names + files):
            path = os.path.join(folder, name)
            st = os.lstat(path)
            seen.update(f"{path} {st.st_mode} {st.st_size} {st.st_mtime_ns} {st.st_ino}".encode())
    return seen.hexdigest()


def apply(call, work, test):
    out = subprocess.run([call, "--local", "-c", f"{work}/etc", "-l", "quiet", "--out=json", "state.apply", "tree", f"test={test}"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    try:
        chunks = json.loads(out.stdout)["local"]
    except ValueError:
        sys.exit(f"no answer: {out.stdout.decode(errors='replace')}")
    if not isinstance(chunks, dict):
        sys.exit(f"not run: {chunks}")
    return chunks


def differences(told, done):
    for tag in done:
        a, t = done[tag], told.get(tag)
        if t is None:
            if "listener_" not in tag:
                yield f"{tag}: was not foretold"
            continue
        would, did = t["result"] is None or bool(t["changes"]), bool(a["changes"])
        if a["result"] is None and t["result"] is None:
            continue  # its `prereq` was foretold a change, and failed: Salt leaves it at what test mode said
        if a["result"] is False or t["result"] is False:
            if a["result"] != t["result"]:
                yield f"{tag}: foretold {t['result']} ({t['comment']}), was {a['result']} ({a['comment']})"
        elif would != did:
            yield f"{tag}: foretold {t['result']} {t['changes']} ({t['comment']}), did {a['changes']} ({a['comment']})"


def one(call, seed, verbose):
    rng = random.Random(seed)
    work = tempfile.mkdtemp(prefix="halite-predict-")
    try:
        for folder in ("etc", "srv", "place"):
            os.mkdir(f"{work}/{folder}")
        with open(f"{work}/etc/minion", "w") as f:
            f.write(f"id: m\nroot_dir: {work}/root\nfile_client: local\nfile_roots: {{base: [{work}/srv]}}\n")
        sls = tree(rng, work)
        with open(f"{work}/srv/tree.sls", "w") as f:
            f.write("#!json\n" + json.dumps(sls, indent=1))
        before = disk(f"{work}/place")
        told = apply(call, work, True)
        wrong = [] if disk(f"{work}/place") == before else ["test=True changed the disk"]
        done = apply(call, work, False)
        wrong += differences(told, done)
        if verbose:
            print(json.dumps(sls, indent=1))
        return wrong
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    call, trees, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failed = 0
    for i in range(trees):
        wrong = one(call, seed + i, "-v" in sys.argv)
        for w in wrong:
            print(f"seed {seed + i}: {w}")
        failed += bool(wrong)
    print(f"{trees - failed} of {trees} trees foretold exactly")
    sys.exit(failed > 0)


main()
