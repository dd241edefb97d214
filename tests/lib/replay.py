#!/usr/bin/env python3
"""replay.py - run the commands of recorded transcripts of Salt 3006 on a fleet of ours and compare.

    replay.py FOLDER DIFFERENCES.md PATTERN...

FOLDER holds NAME.txt files: "$ command", then stdout, stderr and exit code. The fleet runs already (see
tests/t/8000-transcripts.bats); its folder is in FLEET. What varies from run to run is normalised on both sides:
jids, times, pids, fingerprints, paths, the order of minions.

DIFFERENCES.md lists transcripts in rows "| `NAME` | WORD | why |". WORD is `differs` (on purpose) or `not yet` (what it needs
does not exist): such a one must differ, so that the list stays true; or `host` (facts of another machine): run, not compared.
Any other must be equal. Exit 1 when that does not hold; prints what was expected and what came.
"""
import difflib
import fnmatch
import os
import re
import shutil
import subprocess
import sys

FLEET = os.environ["FLEET"]
TOOLS = os.environ["HALITE_TOOLS"]
SOCK_DIR = os.environ["SOCK_DIR"]
PORT = int(os.environ["PORT"])
OUT = FLEET + "/out"
LIMIT = 60

# What is shortened: only waiting.
SHORTER = [("test.sleep 8", "test.sleep 3"), ("test.sleep 6", "test.sleep 2"), ("test.sleep 4", "test.sleep 2")]

# The state of the key of m003 before a command.
KEYS = {
    "key_new_A": "acc", "key_new_a_rejected": "acc", "key_new_a_rejected_inc": "acc", "key_new_d": "acc",
    "key_new_r": "acc", "key_new_r_y": "acc", "key_new_*": "pre",
    "key2_D_glob": "acc", "key2_r_accepted": "acc", "key2_r_inc_accepted": "acc",
    "key2_a_json": "pre", "key2_r": "pre", "key2_*": "rej", "key_*": "none",
}

NORMAL = [
    (re.compile(r"\b20\d{18}\b"), "JID"),
    (re.compile(r"\b(?:[0-9a-f]{2}:){31}[0-9a-f]{2}\b"), "FINGERPRINT"),
    (re.compile(r"\d{4}, [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2}\.\d{6}"), "TIME"),
    (re.compile(r"at pid \d+"), "at pid PID"),
    (re.compile(r"(pid\"?:\s+)\d+"), r"\1PID"),
    (re.compile(r"(\n +m00\d:\n +)\d{3,}$", re.M), r"\1PID"),
    (re.compile(r"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n?", re.S), "PEM\n"),
    (re.compile(r"(Started:) [\d:.]+"), r"\1 TIME"),
    (re.compile(r"(\"start_time\":) \"[\d:.]+\""), r"\1 TIME"),
    (re.compile(r"(Duration:) [\d.]+ ms"), r"\1 TIME"),
    (re.compile(r"(Total run time:) +[\d.]+ (?:ms|s)"), r"\1 TIME"),
    (re.compile(r"(\"duration\":) [\d.]+"), r"\1 TIME"),
    (re.compile(r"((?:Started|Time): TIME) +Duration:"), r"\1 Duration:"),
    (re.compile(r"as PID \d+"), "as PID PID"),
    (re.compile(r"'pid': \d+"), "'pid': PID"),
    (re.compile(r"ran on m002, m001\."), "ran on m001, m002."),
    (re.compile(r"\r\n"), "\n"),
]
# Words of the Python interpreter that ran Salt, not of Salt.
NOISE = re.compile(r"^(SALT/.*DeprecationWarning.*|  import \w+|Exception ignored in: .*|BrokenPipeError: .*)\n", re.M)


class Transcript:
    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        m = re.fullmatch(r"\$ (.*?)\n--- stdout \((\d+) bytes\)\n(.*)--- exit (\d+)\n--- wall .*\n?", text, re.S)
        if not m:
            raise ValueError(path + ": not a transcript")
        self.name = os.path.basename(path)[:-4]
        self.command = m[1]
        self.out, _, self.err = m[3].rpartition("--- stderr\n")
        self.code = int(m[4])


def differences(path):
    rows = re.findall(r"^\| `(\w+)` \| (differs|not yet|host) \|", open(path, encoding="utf-8").read(), re.M)
    return dict(rows)


def sh(command, limit=LIMIT):
    env = dict(os.environ, PATH=FLEET + "/shim:" + os.environ["PATH"], COLUMNS="80", LC_ALL="C.UTF-8")
    env.pop("BATS_TEST_TMPDIR", None)
    r = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, env=env)
    return r.stdout.decode("utf-8", "replace"), r.stderr.decode("utf-8", "replace"), r.returncode


def key_state(name):
    for pattern, state in KEYS.items():
        if fnmatch.fnmatchcase(name, pattern):
            return state
    return None


# What lies under FLEET before a command: a path and its text; None: nothing does.
TOP = "base:\n  m001:\n    - t.names\n  '*':\n    - t.pillar_arg\n"
FILES = {
    "st_ok_test": [("out", None)], "st_ok": [("out", None)], "st_ok_diff*": [("out/m001/hello.txt", "tampered\n")],
    "st_highstate": [("srv/salt/top.sls", TOP)], "st_show_*_top": [("srv/salt/top.sls", TOP)],
    "st_show_top": [("srv/salt/top.sls", TOP)], "st_*": [("srv/salt/top.sls", None)],
}


def prepare_files(name):
    for pattern, files in FILES.items():
        if not fnmatch.fnmatchcase(name, pattern):
            continue
        for path, text in files:
            path = FLEET + "/" + path
            if text is None:
                shutil.rmtree(path, ignore_errors=True)
                if os.path.exists(path):
                    os.unlink(path)
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write(text)
        return


def prepare_key(state):
    """m003 asks as a minion would, and an operator decides."""
    sh("salt-key -y -d m003")
    if state == "none":
        return
    hello = '{"m":"hello","id":"m003","role":"minion","boot":"b","proto":1,"pending":[]}'
    server = FLEET + "/master/etc/salt/pki/master/master.pub"
    os.makedirs(FLEET + "/m003", exist_ok=True)
    subprocess.run([TOOLS + "/fakepeer", "dealer", "127.0.0.1", str(PORT + 1), server, FLEET + "/m003", "minion",
                    "send", hello, "expect", '"state":"pending"'], check=True, stdout=subprocess.DEVNULL)
    if state == "acc":
        sh("salt-key -y -a m003")
    elif state == "rej":
        sh("salt-key -y -r m003")


def idle():
    """Until no job is under way."""
    for _ in range(400):
        r = subprocess.run([TOOLS + "/local", SOCK_DIR, '{"op":"active"}'], capture_output=True, text=True)
        if '"jobs":[]' in r.stdout:
            return
        sh("/bin/sleep 0.025")


def normal(text):
    text = text.replace(OUT, "REF/out").replace(FLEET + "/srv/", "/srv/").replace(os.environ["MASTER_CONF"], "REF/conf-master/master")
    for regex, to in NORMAL:
        text = regex.sub(to, text)
    return text


def chunks(text):
    """Parts that begin with a minion or a document, in one order whatever order they came in."""
    return sorted(re.split(r"^(?=m00\d|\{$|\{'|jid:$|- m00\d)", text, flags=re.M))


def swapped(text):
    return text.replace("m001", "\0").replace("m002", "m001").replace("\0", "m002")


def members(text):
    """Lines without their commas: members of one JSON object, sorted."""
    return sorted(text.replace(",\n", "\n").split("\n"))


def same_text(want, got):
    if want == got:
        return True
    if any(chunks(want) == chunks(g) for g in (got, swapped(got))):
        return True
    return want.startswith("{\n") and "m002" in want and members(want) == members(got)


def unechoed(text):
    """Without what a terminal echoes of its input: that comes before, between or behind what the program prints."""
    return re.sub(r"(^|\] )y\n", r"\1", text, count=1, flags=re.M)


def show(name, what, want, got):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "Salt", "Halite", lineterm="", n=2)
    print("\n".join("    " + line for line in [f"{name}: {what}"] + list(lines)[2:60]))


def replay(t, verbose):
    command = t.command.replace("REF/out", OUT).replace("/srv/", FLEET + "/srv/")
    for long, short in SHORTER:
        command = command.replace(long, short)
    if t.name == "run_active_none" or t.name.startswith("st_"):
        idle()
    if key_state(t.name):
        prepare_key(key_state(t.name))
    prepare_files(t.name)
    out, err, code = sh(command)
    out, err = normal(out), normal(err)
    want_out, want_err = normal(t.out), NOISE.sub("", normal(t.err))
    if "| script " in command:
        out, want_out = unechoed(out), unechoed(want_out)
    for long, short in SHORTER:
        a, b = long.split()[1], short.split()[1]
        want_out = re.sub(rf"^( +- ){a}$", rf"\g<1>{b}", want_out, flags=re.M)
    equal = same_text(want_out, out) and want_err == err and t.code == code
    if verbose and not equal:
        if not same_text(want_out, out):
            show(t.name, "stdout", want_out, out)
        if want_err != err:
            show(t.name, "stderr", want_err, err)
        if t.code != code:
            print(f"    {t.name}: exit code {t.code} in Salt, {code} here")
    return equal


def main():
    folder, listed_in, patterns = sys.argv[1], sys.argv[2], sys.argv[3:]
    listed = differences(listed_in)
    verbose_all = "REPLAY_VERBOSE" in os.environ
    os.makedirs(OUT, exist_ok=True)
    os.makedirs(FLEET + "/shim", exist_ok=True)
    with open(FLEET + "/shim/sleep", "w") as f:
        f.write("#!/bin/sh\nexec /bin/sleep 0.4\n")
    os.chmod(FLEET + "/shim/sleep", 0o755)
    names = sorted(n[:-4] for n in os.listdir(folder) if n.endswith(".txt"))
    names = [n for p in patterns for n in names if fnmatch.fnmatchcase(n, p)]
    bad = 0
    for name in dict.fromkeys(names):
        t = Transcript(f"{folder}/{name}.txt")
        mark = listed.get(name)
        try:
            equal = replay(t, verbose_all or mark is None)
        except subprocess.TimeoutExpired:
            print(f"    {name}: not over after {LIMIT} s")
            equal = False
        if mark == "host":
            continue
        if equal and mark:
            print(f"FAIL {name}: listed as '{mark}', but it is equal: take it off the list")
        elif not equal and not mark:
            print(f"FAIL {name}: $ {t.command}")
        bad += equal == bool(mark)
    print(f"{len(names)} transcripts, {bad} not as listed")
    return 1 if bad or not names else 0


sys.exit(main())
