#!/usr/bin/python3
"""SLS files in Python as salt-call compiles them, beside what Salt made of the same.

sls_cases.py SALT_CALL CASES.json [NAME]

A case is one of tests/oracle/sls_files.py, with "fun" "sls" or "low_sls". What differs is printed; the last line counts.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def lay_out(top, case):
    roots = {"base": [f"{top}/base"]}
    os.makedirs(f"{top}/base")
    for path, text in case["files"].items():
        write(f"{top}/{path}", text)
        roots.setdefault(path.split("/")[0], [f"{top}/{path.split('/')[0]}"])
    pillar = case.get("pillar", {})
    write(f"{top}/pillar/top.sls", "base: {'*': [data]}\n")
    write(f"{top}/pillar/data.sls", "#!json\n" + json.dumps(pillar))
    grains = {"os": "Debian", "os_family": "Debian", "role": "web"}
    opts = dict(case.get("opts", {}), root_dir=top, id="m1.example.com", file_client="local", file_roots=roots, grains=grains,
                pillar_roots={"base": [f"{top}/pillar"]})
    write(f"{top}/etc/minion", json.dumps(opts))


def ask(salt_call, case, top):
    line = [salt_call, "-c", f"{top}/etc", "--local", f"state.show_{case['fun']}", case["arg"], "--out=json"]
    line += [f"saltenv={case['saltenv']}"] if "saltenv" in case else []
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout.replace(top, "TOP"))["local"], done.returncode
    except ValueError:
        return [done.stdout + done.stderr], done.returncode


def is_same(case, said, code):
    if "expect" in case:
        return said == case["expect"]
    if case["errors"] is None:
        return code != 0
    return isinstance(said, list) and len(said) == len(case["errors"]) and all(
        str(text).startswith(wanted) for text, wanted in zip(said, case["errors"]))


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        cases = [case for case in json.load(file) if case["name"] in (sys.argv[3:] or [case["name"]])]
    wrong = 0
    for case in cases:
        top = tempfile.mkdtemp(prefix="sls-cases-")
        try:
            lay_out(top, case)
            said, code = ask(sys.argv[1], case, top)
        finally:
            shutil.rmtree(top)
        if not is_same(case, said, code):
            wrong += 1
            print(f"{case['name']}: exit {code}\n  wanted {json.dumps(case.get('expect', case.get('errors')))}\n  got    {json.dumps(said)}")
    print(f"{len(cases) - wrong} of {len(cases)} as Salt")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
