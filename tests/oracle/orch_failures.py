#!/usr/bin/python3
"""Forty ways in which a step of an orchestration fails, for each kind of step.

orch_failures.py SALT_RUN SLS_FOLDER [PATTERN]    with a master whose file_roots is that folder (SALT_CONFIG_DIR says which),
                                                  and the minions web1 (up) and dead1 (accepted, not running)

For every way and every kind of step: the command exits non-zero within a bounded time, no step that should fail is true,
what requires it has not run, and the text names the cause. PATTERN narrows by "way/kind". SLOW, in the environment: how many
times as long a step may take, for a slow build.
"""
import fnmatch
import json
import os
import re
import subprocess
import sys

KINDS = ["function", "state", "runner", "wheel", "parallel"]
STATES = ["function", "state", "runner", "wheel", "parallel_runners"]

# A step of each kind that succeeds.
GOOD = {
    "function": [{"name": "test.ping"}, {"tgt": "web1"}],
    "state": [{"tgt": "web1"}, {"sls": "failures.nop"}],
    "runner": [{"name": "test.arg"}],
    "wheel": [{"name": "key.list_all"}],
    "parallel": [{"runners": {"one": [{"name": "test.arg"}], "two": [{"name": "test.arg"}]}}],
}


def fun(kind):
    return "salt." + STATES[KINDS.index(kind)]


def step(kind, body=None, **more):
    return {fun(kind): (body if body is not None else GOOD[kind]) + [{k: v} for k, v in more.items()]}


def sls(it, **others):
    """What is run: `it`, what requires it, and others before or beside them."""
    tree = dict(others)
    tree["it"] = it
    tree["after"] = {"test.nop": [{"require": [{"salt": "it"}]}]}
    return json.dumps(tree, indent=1)


def parallel(name, *arg, **kwarg):
    return [{"runners": {"good": [{"name": "test.arg"}], "bad": [{"name": name}] + ([{"arg": list(arg)}] if arg else []) + ([{"kwarg": kwarg}] if kwarg else [])}}]


def call(kind, name, *arg, **kwarg):
    """A step that calls a function; through salt.runner's and wheel's own ones where the kind is one of the master's."""
    body = [{"name": name}]
    if kind == "function":
        body.append({"tgt": "web1"})
    if arg:
        body.append({"arg": list(arg)})
    if kwarg:
        body.append({"kwarg": kwarg})
    return step(kind, parallel(name, *arg, **kwarg) if kind == "parallel" else body)


def apply(name, **more):
    return step("state", [{"tgt": "web1"}, {"sls": name}], **more)


def on_minion(kind, state, function, runner, wheel):
    """One cell each where what goes wrong is something else for each kind."""
    if kind == "state":
        return state if isinstance(state, dict) else apply(state)
    if kind == "function":
        return call(kind, *function)
    if kind == "wheel":
        return call(kind, *wheel)
    return call(kind, *runner)


# ---- the ways: name -> function of the kind of step that gives (sls text, words for the command line, what the text must say)

WAYS = {}


def way(f):
    WAYS[f.__name__.replace("_", "-")] = f
    return f


@way
def broken_yaml(kind):
    return sls(step(kind)) + "\n}}", [], r"could not find|did not find|expected|YAML|syntax"


@way
def duplicate_key(kind):
    return f"it:\n  {fun(kind)}: []\nit:\n  test.nop: []\n", [], r"[Cc]onflicting ID|duplicate"


@way
def a_tab(kind):
    return f"it:\n\t{fun(kind)}: []\n", [], r"tab|\\t|cannot start any token"


@way
def broken_jinja(kind):
    return "{% if %}\n" + sls(step(kind)), [], r"Jinja syntax error"


@way
def undefined_variable(kind):
    return "{% set x = nothing.at_all %}\n" + sls(step(kind)), [], r"'nothing' is undefined"


@way
def unknown_function_in_jinja(kind):
    return "{% set x = salt['no.such']() %}\n" + sls(step(kind)), [], r"no\.such"


@way
def endless_template(kind):
    return "{% for i in range(99999) %}{% for j in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}{% endfor %}\n" + sls(step(kind)), [], \
        r"too long|seconds|limit|steps"


@way
def raised_in_jinja(kind):
    return "{{ raise('not on a Friday') }}\n" + sls(step(kind)), [], r"not on a Friday"


@way
def include_of_nothing(kind):
    return json.dumps({"include": ["failures.nothere"], "it": step(kind)}), [], r"failures\.nothere"


@way
def extend_of_nothing(kind):
    return json.dumps({"extend": {"nobody": {"test": [{"require": [{"salt": "it"}]}]}}, "it": step(kind)}), [], r"nobody"


@way
def requisite_on_nothing(kind):
    return sls(step(kind, require=[{"salt": "nobody"}])), [], r"requisites were not found|nobody"


@way
def requisites_in_a_circle(kind):
    return sls(step(kind, require=[{"test": "after"}])), [], r"[Rr]ecursive"


@way
def requisite_is_no_list(kind):
    return sls(step(kind, require="first")), [], r"formed as a list"


@way
def required_step_failed(kind):
    return sls(step(kind, require=[{"test": "first"}]), first={"test.fail_without_changes": []}), [], r"requisite failed.*first"


@way
def watched_step_failed(kind):
    return sls(step(kind, watch=[{"test": "first"}]), first={"test.fail_without_changes": []}), [], r"requisite failed.*first"


@way
def all_of_any_required_failed(kind):
    return sls(step(kind, require_any=[{"test": "first"}]), first={"test.fail_without_changes": []}), [], r"requisite failed.*first"


@way
def failhard_before(kind):
    return sls(step(kind), first={"test.fail_without_changes": [{"failhard": True}, {"order": 1}]}), [], r"Failure!"


@way
def body_is_no_list(kind):
    return json.dumps({"it": {fun(kind): {"name": "test.ping"}}}), [], r"is not formed as a list|not.*list"


@way
def two_of_one_module(kind):
    other = "runner" if kind != "runner" else "wheel"
    return json.dumps({"it": {fun(kind): GOOD[kind], fun(other): GOOD[other]}}), [], r"multiple state declarations"


@way
def unknown_step(kind):
    return json.dumps({"it": {fun(kind) + "x": GOOD[kind]}}), [], rf"{fun(kind)}x"


@way
def nothing_given(kind):
    return sls(step(kind, [])), [], r"tgt|runners|not found|requires|missing|is not available|No function|'it'"


@way
def check_cmd_fails(kind):
    return sls(step(kind, check_cmd=["exit 3"])), [], r"check_cmd"


@way
def retries_used_up(kind):
    it = on_minion(kind, "failures.fail", ("test.false",), ("test.nosuch",), ("key.nosuch",))
    it[fun(kind)].append({"retry": {"attempts": 2, "interval": 0}})
    return sls(it), [], r"Attempt 1|[Ff]ailed|not available|nosuch"


@way
def pillar_is_no_dict(kind):
    return sls(step(kind)), ["pillar=[1, 2]"], r"must be formatted as a dictionary"


@way
def environment_without_it(kind):
    return sls(step(kind)), ["saltenv=nowhere"], r"No matching sls found for '[^']*' in env 'nowhere'"


@way
def unknown_argument_of_orchestrate(kind):
    return sls(step(kind)), ["nosuchargument=1"], r"nosuchargument"


@way
def unknown_function(kind):
    it = on_minion(kind, "failures.unknown_function", ("test.nosuch",), ("test.nosuch",), ("key.nosuch",))
    return sls(it), [], r"nosuch.*(not available|not found)|(not available|not found|[Uu]nknown).*nosuch"


@way
def unknown_module(kind):
    it = on_minion(kind, "failures.unknown_module", ("nosuch.ping",), ("nosuch.arg",), ("nosuch.list_all",))
    return sls(it), [], r"nosuch"


@way
def argument_missing(kind):
    it = on_minion(kind, "failures.argument_missing", ("test.echo",), ("salt.cmd",), ("key.accept",))
    return sls(it), [], r"missing|requires|[Mm]issing parameter"


@way
def argument_too_many(kind):
    it = on_minion(kind, "failures.argument_unknown", ("test.ping", 1, 2), ("manage.versions", 1, 2, 3, 4), ("key.list_all", 1, 2))
    return sls(it), [], r"argument|takes|not.*valid"


@way
def keyword_unknown(kind):
    if kind == "state":
        it = apply("failures.argument_unknown")
    else:
        it = call(kind, {"function": "test.ping", "runner": "manage.versions", "wheel": "key.list_all", "parallel": "manage.versions"}[kind], nosuchkeyword=1)
    return sls(it), [], r"nosuchkeyword|not.*valid"


@way
def exception(kind):
    it = on_minion(kind, "failures.exception", ("test.exception", "boom boom"), ("error.error", "ValueError", "boom boom"), ("error.error", "ValueError", "boom boom"))
    return sls(it), [], r"boom boom"


@way
def failing_exit_code(kind):
    it = on_minion(kind, "failures.exit_code", ("cmd.run", "echo broken pipe; exit 3"), ("salt.cmd", "cmd.run", "sh -c 'echo broken pipe; exit 3'"),
                   ("key.gen_accept", "a/b"))
    return sls(it), [], r"broken pipe|exit|fail|no slash"


@way
def returns_false(kind):
    it = on_minion(kind, "failures.fail", ("test.false",), ("salt.cmd", "test.retcode", 1), ("key.finger", "*", "nosuchhash"))
    return sls(it), [], r"[Ff]ail|False|nosuchhash"


@way
def one_of_two_fails(kind):
    if kind == "state":
        it = step("state", [{"tgt": "web1"}, {"sls": ["failures.nop", "failures.fail"]}])
    elif kind == "function":
        it = step("function", [{"name": "test.echo"}, {"tgt": "web1,dead1"}, {"tgt_type": "list"}, {"arg": ["x"]}, {"timeout": 2}])
    else:
        it = on_minion(kind, "", (), ("test.nosuch",), ("key.nosuch",))
    return sls(it), [], r"fail|Fail|dead1|nosuch"


@way
def nobody_matches(kind):
    it = {
        "function": step("function", [{"name": "test.ping"}, {"tgt": "nobody*"}]),
        "state": step("state", [{"tgt": "nobody*"}, {"sls": "failures.nop"}]),
        "runner": call("runner", "state.orchestrate", "failures.nobody"),
        "wheel": call("wheel", "error.error", "KeyError", "nobody matches"),
        "parallel": call("parallel", "state.orchestrate", "failures.nobody"),
    }[kind]
    return sls(it), [], r"No minions|nobody"


@way
def target_does_not_parse(kind):
    it = {
        "function": step("function", [{"name": "test.ping"}, {"tgt": "web1 and ("}, {"tgt_type": "compound"}]),
        "state": step("state", [{"tgt": "web1 and ("}, {"tgt_type": "compound"}, {"sls": "failures.nop"}]),
        "runner": call("runner", "salt.execute", "web1 and (", "test.ping", tgt_type="compound"),
        "wheel": call("wheel", "key.accept_dict", "web1 and ("),
        "parallel": call("parallel", "salt.execute", "web1 and (", "test.ping", tgt_type="compound"),
    }[kind]
    return sls(it), [], r"\(|target|dict|compound"


@way
def nobody_is_there(kind):
    it = {
        "function": step("function", [{"name": "test.ping"}, {"tgt": "dead1"}, {"timeout": 2}]),
        "state": step("state", [{"tgt": "dead1"}, {"sls": "failures.nop"}, {"timeout": 2}]),
        "runner": call("runner", "state.orchestrate", "failures.dead"),
        "wheel": call("wheel", "key.delete_dict", "nobody-of-that-name"),
        "parallel": call("parallel", "state.orchestrate", "failures.dead"),
    }[kind]
    return sls(it), [], r"dead1|not connected|nobody-of-that-name"


@way
def killed_in_the_middle(kind):
    it = {
        "function": call("function", "cmd.run", "kill -9 $PPID; read x"),
        "state": apply("failures.killed"),
        "runner": call("runner", "state.orchestrate", "failures.kills"),
        "wheel": call("wheel", "file_roots.read", "no/such/file", "base"),
        "parallel": call("parallel", "state.orchestrate", "failures.kills"),
    }[kind]
    return sls(it), [], r"kill|signal|stopped|ended|died|no/such/file|not exist|False"


@way
def too_slow(kind):
    it = {
        "function": call("function", "cmd.run", "sleep 60", timeout=1),
        "state": apply("failures.slow"),
        "runner": call("runner", "state.orchestrate", "failures.slow_step"),
        "wheel": call("wheel", "error.error", "TimeoutError", "timed out"),
        "parallel": call("parallel", "state.orchestrate", "failures.slow_step"),
    }[kind]
    return sls(it), [], r"[Tt]imed out|timeout|Timeout"


FILES = {
    "nop": "nop:\n  test.nop: []\n",
    "fail": "sure:\n  test.fail_without_changes: []\n",
    "unknown_function": "it:\n  test.nosuch: []\n",
    "unknown_module": "it:\n  nosuch.managed: []\n",
    "argument_missing": "it:\n  file.append: []\n",
    "argument_unknown": "it:\n  test.configurable_test_state:\n    - nosuchkeyword: 1\n",
    "exception": "it:\n  module.run:\n    - name: test.exception\n    - message: boom boom\n",
    "exit_code": "it:\n  cmd.run:\n    - name: echo broken pipe; exit 3\n",
    "nobody": "it:\n  salt.function:\n    - name: test.ping\n    - tgt: nobody*\n",
    "dead": "it:\n  salt.function:\n    - name: test.ping\n    - tgt: dead1\n    - timeout: 2\n",
    "killed": "it:\n  cmd.run:\n    - name: kill -9 $PPID; read x\n",
    "kills": "it:\n  salt.function:\n    - name: cmd.run\n    - tgt: web1\n    - arg: ['kill -9 $PPID; read x']\n",
    "slow": "it:\n  cmd.run:\n    - name: sleep 60\n    - timeout: 1\n",
    "slow_step": "it:\n  salt.function:\n    - name: cmd.run\n    - tgt: web1\n    - arg: [sleep 60]\n    - kwarg: {timeout: 1}\n",
}


def judge(way_name, kind, out, text):
    """What is wrong with the answer of one cell."""
    if out.returncode == 0:
        yield "exit 0"
    elif out.returncode < 0 or out.returncode >= 128:
        yield f"ended by a signal: {out.returncode}"
    said = (out.stdout + out.stderr).decode(errors="replace")
    if not re.search(text, said, re.S):
        yield f"does not say /{text}/"
    if "Traceback" in said and way_name != "exception":
        yield "shows a traceback"
    try:
        data = json.loads(out.stdout)["data"]
        chunks = next(iter(data.values()))
    except (ValueError, KeyError, StopIteration, TypeError, AttributeError):
        return
    for tag, ret in chunks.items() if isinstance(chunks, dict) else []:
        if not isinstance(ret, dict):
            continue
        if ret.get("__id__") == "it" and ret["result"] is not False and way_name not in ("failhard-before",):
            yield f"the step is {ret['result']}: {ret['comment']}"
        if ret.get("__id__") == "after" and ret["result"] is not False:
            yield "what requires it has run"


def main():
    salt_run, folder, pattern = sys.argv[1], sys.argv[2], (sys.argv[3:] or ["*"])[0]
    os.makedirs(f"{folder}/failures", exist_ok=True)
    for name, text in FILES.items():
        with open(f"{folder}/failures/{name}.sls", "w") as f:
            f.write(text)
    cells = wrong = 0
    limit_s = 60 * int(os.environ.get("SLOW", "1"))
    for name, make in WAYS.items():
        for kind in KINDS:
            if not fnmatch.fnmatch(f"{name}/{kind}", pattern):
                continue
            text, words, says = make(kind)
            sls_name = f"cell_{name}_{kind}".replace("-", "_")
            with open(f"{folder}/{sls_name}.sls", "w") as f:
                f.write(text)
            cells += 1
            try:
                out = subprocess.run([salt_run, "state.orchestrate", sls_name, "--out=json", *words], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit_s)
            except subprocess.TimeoutExpired:
                print(f"{name}/{kind}: no end after {limit_s} s")
                wrong += 1
                continue
            problems = list(judge(name, kind, out, says))
            if problems:
                wrong += 1
                print(f"{name}/{kind}: {'; '.join(problems)}\n    {(out.stdout + out.stderr).decode(errors='replace')[:1500]}")
    print(f"{cells - wrong} of {cells} failures are told as such ({len(WAYS)} ways)")
    sys.exit(wrong > 0)


main()
