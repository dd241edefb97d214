#!/usr/bin/python3
"""What Salt makes of SLS files: fills "expect" or "errors" of the cases of tests/cases/state-compile and tests/cases/sls-python.

PYTHONPATH=FOLDER-OF-SALT sls_files.py CASES.json [--new]

A case names its function by "fun": "sls" is state.show_sls, "low_sls" state.show_low_sls, "run" the chunks that state.sls runs. Cases
without either answer are recorded, the others compared (not with --new); "errors": null asks for any. The file is written anew when one was recorded.
"""
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import traceback

GRAINS = {"os": "Debian", "os_family": "Debian", "role": "web", "id": "m1.example.com"}


def lay_out(top, case):
    """The case's files; the first folder of each path is its environment."""
    roots = {"base": [f"{top}/base"]}
    os.makedirs(roots["base"][0])
    for path, text in case["files"].items():
        os.makedirs(os.path.dirname(f"{top}/{path}"), exist_ok=True)
        roots.setdefault(path.split("/")[0], [f"{top}/{path.split('/')[0]}"])
        with open(f"{top}/{path}", "w", encoding="utf-8") as file:
            file.write(text)
    return roots


def options(top, case):
    import salt.config

    opts = salt.config.minion_config(None)
    opts.update(
        root_dir=top, cachedir=f"{top}/cache", extension_modules=f"{top}/cache/extmods", file_client="local", file_roots=lay_out(top, case),
        pillar_roots={"base": [f"{top}/pillar"]}, top_file_merging_strategy="merge", id=GRAINS["id"], saltenv=case.get("saltenv", "base"), local=True,
        **case.get("opts", {}))
    import salt.loader

    opts["grains"] = dict(salt.loader.grains(opts), **GRAINS)
    if case.get("pillar"):
        os.makedirs(f"{top}/pillar")
        for name, data in (("top", {"base": {"*": ["data"]}}), ("data", case["pillar"])):
            with open(f"{top}/pillar/{name}.sls", "w", encoding="utf-8") as file:
                file.write("#!json\n" + json.dumps(data))
    return opts


def chunks(state, high):
    """The steps of State.call_high before it runs anything."""
    state.inject_default_call(high)
    high, errors = state.reconcile_extend(high)
    errors += state.verify_high(high)
    if errors:
        return None, errors
    high, errors = state.requisite_in(high)
    high = state.apply_exclude(high)
    return (None, errors) if errors else (state.compile_high_data(high), [])


def answer(case, top):
    import salt.state

    highstate = salt.state.HighState(options(top, case), None)
    with highstate:
        highstate.push_active()
        try:
            high, errors = highstate.render_highstate({case.get("saltenv", "base"): case["arg"].split(",")})
        finally:
            highstate.pop_active()
        if case["fun"] == "run":
            return chunks(highstate.state, high) if not errors else (None, errors)
        errors += highstate.state.verify_high(high)
        if errors:
            return None, errors
        return (high if case["fun"] == "sls" else highstate.state.compile_high_data(high)), []


def steady(value, top):
    """Without what differs from one run to the next."""
    text = json.dumps(value, default=lambda v: re.sub(r" at 0x[0-9a-f]+| from '[^']*'", "", str(v)))
    return json.loads(text.replace(top, "TOP"))


def work(case, pipe):
    top = tempfile.mkdtemp(prefix="sls-files-")
    try:
        result, errors = answer(case, top)
        pipe.send(steady({"errors": errors} if errors else {"expect": result}, top))
    except BaseException:
        pipe.send({"raised": traceback.format_exc()})
    finally:
        shutil.rmtree(top)


def ask(case):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=work, args=(case, theirs))
    process.start()
    said = ours.recv()
    process.join()
    return said


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    new = differ = 0
    for case in cases:
        known = {word: case[word] for word in ("errors", "expect") if word in case}
        if known and "--new" in sys.argv:
            continue
        said = ask(case)
        if "raised" in said:
            print(f"{case['name']}: Salt raised\n{said['raised']}")
        elif not known:
            case.update(said)
            new += 1
        elif known != said and known.get("errors", True) is not None:
            differ += 1
            print(f"{case['name']}: is {json.dumps(said)}, was {json.dumps(known)}")
    if new:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(cases, file, indent=1)
            file.write("\n")
    print(f"{len(cases)} cases, {new} recorded, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
