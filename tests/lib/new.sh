#!/bin/bash
# new.sh KIND NAME - the files with which a new plug-in begins, so that it builds and its test runs: `make new-KIND NAME=...` calls
# it. Nothing that is there is written over. An execution module or a state lies in a folder of its theme: IN=net.
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=$1 name=${2:-}
die() { echo "new-$kind: $*" >&2 && exit 2; }
[[ $name =~ ^[a-z][a-z0-9_]*$ ]] || die "NAME is a module's name of small letters, digits and _: make new-$kind NAME=greeting"

theme=${IN:-system}
[[ $theme =~ ^[a-z]+$ ]] || die "IN is a folder of its kind (salt, files, system, storage, accounts, net, packages, programs), not '$theme'"

made=()
write() { # FILE: standard input
    [ ! -e "$1" ] || die "$1 is there"
    cat >"$1"
    made+=("$1")
}
# A function `hello` of one argument. What the call begins with, its flags.
hello() {
    cat <<EOF
static int
${name}_hello(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = value_fmt("hello, %s", value_str(args, "who", ""));
    return 0;
}

static const arg_t hello_args[] = {
    ARG("who", ARG_STR, ARG_REQUIRED, "Name of the one to greet"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "hello", ${name}_hello, hello_args, $2, "Return a greeting." CLI_EXAMPLE("$1 $name.hello world") },
};

EOF
}

case $kind in
exec)
    write "src/plugins/exec/$theme/$name.c" <<EOF
/* $name.c - execution module \`$name\`. */
#include "salt/plugin.h"

$(hello "salt '*'" FN_READONLY)

PLUGIN(exec, $name, .doc = "Greetings", FUNCS(funcs));
EOF
    write "tests/cases/exec/$name.hello.json" <<<'[
  {"args": ["world"], "return": "hello, world"}
]'
    try="make check-unit UNIT_BIN=build/tests/unit/plugins/test_module_cases  (CASES=$name. in the environment: this one alone)"
    read='include/salt/plugin.h, tests/unit/plugins/test_module_cases.c (what a case file may say), src/plugins/exec/salt/key.c'
    ;;
state)
    write "src/plugins/state/$theme/$name.c" <<EOF
/* $name.c - state module \`$name\`. */
#include "salt/state.h"

static int
${name}_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_ret_args(args);

    (void) state_ret_set(ret, STATE_TRUE, "%s is as it should be", value_str(args, "name", ""));
    *ret_value = ret;
    return 0;
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The thing"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "present", ${name}_present, present_args, 0, "Make sure that the thing is there." },
};

PLUGIN(state, $name, .doc = "Things", FUNCS(funcs));
EOF
    write "tests/cases/state/$name.present.json" <<<'[
  {"args": {"name": "it"}, "return": {"name": "it", "result": true, "comment": "it is as it should be", "changes": {}}}
]'
    try="make check-unit UNIT_BIN=build/tests/unit/plugins/test_state_cases  (CASES=$name. in the environment: this one alone)"
    read='include/salt/state.h, tests/unit/plugins/test_state_cases.c (what a case file may say), src/plugins/state/system/sysctl.c'
    ;;
grain)
    write "src/plugins/grain/$name.c" <<EOF
/* $name.c - grain \`$name\`. */
#include "common/host/rootfs.h"
#include "salt/plugin.h"

static int
collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *text = root_read_trimmed(ctx->root, "/etc/$name");

    if (text != NULL)
        json_object_set_new(out, "$name", json_string(text));
    return 0;
}

static const char *const keys[] = { "$name", NULL };

PLUGIN(grain, $name, .doc = "The text of /etc/$name, where that is.", .collect = collect, .cost = GRAIN_CHEAP, .keys = keys);
EOF
    try="make check-unit UNIT_BIN=build/tests/unit/plugins/test_grains  (first: $name into its reads_files_only(), a file and its grain into a host of tests/cases/grain)"
    read='include/salt/plugin.h, src/common/host/rootfs.h, tests/unit/plugins/test_grains.c, src/plugins/grain/selinux.c'
    ;;
runner | wheel)
    folder=src/runners test=7010-runners-master
    [ "$kind" = runner ] || folder=src/plugins/wheel
    call="run salt-run $name.hello world"
    [ "$kind" = runner ] || call='run "$HALITE_TOOLS/local" --follow 1 10 "$SOCK_DIR" '"'{\"op\":\"wheel\",\"fun\":\"$name.hello\",\"arg\":[\"world\"]}'"
    write "$folder/$name.c" <<EOF
/* $name.c - $kind module \`$name\`. */
#include "salt/plugin.h"

$(hello "salt-run" 'FN_READONLY | FN_ACCESS_READ')

PLUGIN($kind, $name, .doc = "Greetings", FUNCS(funcs));
EOF
    write "tests/t/7900-$kind-$name.bats" <<EOF
#!/usr/bin/env bats
# 7900-$kind-$name.bats - the $kind module $name.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
    fleet_new
    start_master
}
teardown_file() { fleet_down; }

@test "$name.hello greets" {
    $call
    [[ \$output == *'hello, world'* ]]
}
EOF
    chmod +x "tests/t/7900-$kind-$name.bats"
    try="make check-t BATS=tests/t/7900-$kind-$name.bats"
    read="include/salt/plugin.h, tests/t/lib.bash, tests/t/$test.bats, src/runners/config.c"
    ;;
*) die "there are exec, state, grain, runner and wheel" ;;
esac
for file in "${made[@]}"; do
    [[ $file != *.c ]] || ! command -v clang-format >/dev/null || clang-format -i "$file"
done
printf 'wrote %s\n' "${made[@]}"
printf 'build and test:  make && %s\nread:            %s\nthen:            make lint; git add %s\n' "$try" "$read" "${made[*]}"
