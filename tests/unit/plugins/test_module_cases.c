/* test_module_cases.c - every execution function against its case file,
 * tests/cases/exec/MODULE.FUNCTION.json.
 *
 * A case file is a list of objects:
 *   args, kwargs       the call; both may be left out
 *   grains, pillar, opts, pub   what the minion knows; `opts` is laid over {"id": "minion"}, its `file_roots` are
 *                      served; `pub` are __pub_* keywords
 *   programs           {name: script}: stand before all others on PATH, in {T}/bin
 *   setup              shell commands, run first in a folder made for this case
 *   needs              "root": skipped for other users; else a program that must be on PATH; several with
 *                      spaces between
 *   over, net          {path: path of the case}; true: unit/case_over.h
 *   path               PATH of the case instead
 *   host               {op: reply}: what the running minion answers; a reply {"error": text} is a failure
 *   differs            why `return` is not what Salt returns
 * and what must come of it:
 *   return             the exact value
 *   error              the exact text of the failure, with or without the words Salt puts around it
 *   contains           part of a text, members of an object, elements of a list (compared in the same way)
 *   type               "str", "int", "float", "bool", "list", "dict" or "NoneType"
 *   retcode            0 unless given (1 with `error`)
 *   fired, asked       events sent [{tag, data}] and requests made of the host, in order
 *   check              shell commands that must succeed afterwards
 * unit/case_file.h says how cases share members. In every text of a case {T} is that folder. CASES=prefix in the
 * environment picks files.
 */
#include "unit/case_file.h"
#include "unit/case_over.h"

#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "plugins/builtin.h"
#include "salt/log.h"

#define CASE_DIR TEST_SOURCE_DIR "/tests/cases/exec"

/* Members of a case, as above. */
#define MEMBERS                                                                                                   \
    " args kwargs grains pillar opts pub programs setup needs over net path host files log differs return error " \
    "contains type retcode fired asked check "

enum { RESULT_LIMIT = 64 * 1024 * 1024 }; /* network.netstat on a host with tens of thousands of sockets */

/* ---- a case in its child ------------------------------------------------------------------- */

typedef struct world {
    json_t *spec; /* BORROWED */
    json_t *fired, *asked;
} world_t;

static json_t *
world_grains(void *cookie)
{
    return json_object_get(((world_t *) cookie)->spec, "grains");
}

static py_t *
world_pillar(void *cookie, json_t *ask, fail_t *err)
{
    json_t *pillar = json_object_get(((world_t *) cookie)->spec, "pillar");
    return pillar != NULL ? py_from_json(pillar) : py_dict();
}

static int
world_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_array_append_new(((world_t *) cookie)->fired, json_pack("{s:s, s:O}", "tag", tag, "data", data));
    return 0;
}

static int
world_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    world_t *w = cookie;
    json_t *reply = value_get(value_get(w->spec, "host"), value_str(request, "op", ""));

    json_array_append_new(w->asked, json_deep_copy(request));
    if (reply == NULL)
        return fail_set(err, -ENOTSUP, "no reply to %s in this case", value_str(request, "op", "?"));
    if (value_get(reply, "error") != NULL)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s", value_str(reply, "error", ""));
    *ret_value = json_incref(reply);
    return 0;
}

/* NEW {"value", "retcode", "success", "fired", "asked"}. */
static json_t *
run_call(registry_t *registry, const char *fun, json_t *spec)
{
    json_auto_t *opts = json_pack("{s:s}", "id", "minion");
    json_auto_t *arg = json_is_array(value_get(spec, "args")) ? json_copy(value_get(spec, "args"))
                                                              : json_array();
    json_t *kwargs = value_get(spec, "kwargs");
    world_t world = { spec, json_array(), json_array() };
    size_t n_states;
    const plugin_t *const *state_rows = builtin_plugins(PLUGIN_STATE, &n_states);
    AUTO(registry) states = registry_new(PLUGIN_STATE, state_rows, n_states);
    call_env_t env = { .registry = registry,
                       .states = states,
                       .opts = opts,
                       .id = "minion",
                       .jid = "20261120093753793022",
                       .grains = world_grains,
                       .pillar = world_pillar,
                       .fire = world_fire,
                       .cookie = &world };
    call_result_t res;

    if (value_get(spec, "opts") != NULL)
        value_merge(opts, value_get(spec, "opts"), false);
    if (value_get(spec, "host") != NULL)
        env.host = world_host;
    AUTO(fileclient) files = value_get(opts, "file_roots") != NULL ? fileclient_local(opts, NULL) : NULL;
    env.files = files;
    if (kwargs != NULL) {
        json_t *last = json_pack("{s:b}", "__kwarg__", 1);
        json_object_update(last, kwargs);
        json_array_append_new(arg, last);
    }
    call_ctx_t *ctx = call_ctx_new(&env);
    call_run(ctx, fun, arg, value_get(spec, "pub"), &res);
    call_ctx_destroy(&ctx);
    return json_pack("{s:o, s:i, s:b, s:o, s:o}", "value", res.value, "retcode", res.retcode, "success",
                     res.success, "fired", world.fired, "asked", world.asked);
}

static bool
shell(const char *commands, const char *dir)
{
    AUTO_FREE char *line = xasprintf("cd '%s' && (set -e\n%s\n)", dir, commands);

    return system(line) == 0;
}

/* The child: set up, call, write the result, leave by exit() so that the leak checker runs. */
static void NORETURN
case_child(registry_t *registry, const char *fun, json_t *spec, const char *dir, int fd)
{
    const char *setup = value_str(spec, "setup", NULL);
    bool net = value_bool(spec, "net", false);

    if (net && !case_over_apart(spec))
        exit(92);
    case_files(spec, dir);
    free(case_programs(spec, dir));
    if (setup != NULL && !shell(setup, dir))
        exit(90);
    free(case_programs(spec, dir));
    if (value_get(spec, "path") != NULL)
        setenv("PATH", value_str(spec, "path", ""), 1);
    if (value_get(spec, "over") != NULL && ((!net && !case_over_apart(spec)) || !case_over_lay(spec)))
        exit(92);
    case_log(spec);
    json_t *result = run_call(registry, fun, spec);
    char *text = value_dump(result);
    json_decref(result);
    int rc = fs_write_all(fd, text, strlen(text));
    free(text);
    if (net && !shell(value_str(spec, "check", "true"), dir))
        exit(93);
    exit(rc < 0 ? 91 : 0);
}

static void
read_all(int fd, buf_t *out)
{
    char piece[4096];
    ssize_t n;

    while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0)
            buf_add(out, piece, (size_t) n);
    }
}

/* NEW result, or NULL when the child failed (said on stdout). */
static json_t *
run_case(registry_t *registry, const char *fun, json_t *spec, const char *dir)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    int fds[2], status;

    fflush(NULL);
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        case_child(registry, fun, spec, dir, fds[1]);
    }
    close(fds[1]);
    read_all(fds[0], &text);
    close(fds[0]);
    waitpid(pid, &status, 0);
    if (status != 0) {
        printf("# the child ended with status 0x%x: 0x5a00 is setup, 0x5d00 check\n", (unsigned) status);
        return NULL;
    }
    return value_parse(buf_str(&text), text.len, RESULT_LIMIT, "result", &err);
}

/* ---- what was expected --------------------------------------------------------------------- */

static const char *
type_name(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "dict", [JSON_ARRAY] = "list", [JSON_STRING] = "str", [JSON_INTEGER] = "int",
        [JSON_REAL] = "float",  [JSON_TRUE] = "bool",  [JSON_FALSE] = "bool", [JSON_NULL] = "NoneType",
    };

    return names[json_typeof(v)];
}

static bool
contains(json_t *whole, json_t *part)
{
    const char *key;
    json_t *v, *element;
    size_t i, k;

    if (json_is_string(whole) && json_is_string(part))
        return strstr(json_string_value(whole), json_string_value(part)) != NULL;
    if (json_is_object(part)) {
        json_object_foreach (part, key, v) {
            json_t *have = value_get(whole, key);
            if (have == NULL || !contains(have, v))
                return false;
        }
        return json_is_object(whole);
    }
    if (!json_is_array(part))
        return value_equal(whole, part);
    json_array_foreach (part, i, v) {
        bool found = false;
        json_array_foreach (whole, k, element)
            found = found || value_equal(element, v) || (json_is_object(v) && contains(element, v));
        if (!found)
            return false;
    }
    return json_is_array(whole);
}

/* Without Salt's words before it and the documentation after it. */
static bool
error_matches(const char *fun, const json_t *value, const char *want)
{
    const char *got = json_string_value(value);
    AUTO_FREE char *called = xasprintf("ERROR executing '%s': ", fun);
    AUTO_FREE char *passed = xasprintf("Passed invalid arguments to %s: ", fun);
    const char *const prefixes[] = { "", "ERROR: ", called, passed,
                                     "The minion function caused an exception: " };
    size_t len = strlen(want);

    for (size_t i = 0; got != NULL && i < NELEMS(prefixes); i++) {
        const char *rest = got + strlen(prefixes[i]);
        if (str_starts(got, prefixes[i]) && str_starts(rest, want) &&
            (rest[len] == '\0' || (prefixes[i] == passed && str_starts(rest + len, "\n\n    "))))
            return true;
    }
    return false;
}

static bool
complain(const char *what, const json_t *want, const json_t *got)
{
    AUTO_FREE char *a = value_dump(want);
    AUTO_FREE char *b = value_dump(got);

    printf("#   %s: expected %s\n#   %*s  but got %s\n", what, a, (int) strlen(what), "", b);
    return false;
}

static bool
judge_value(const char *fun, json_t *spec, json_t *value)
{
    json_t *want;

    if ((want = value_get(spec, "return")) != NULL && !value_equal(want, value))
        return complain("return", want, value);
    if ((want = value_get(spec, "contains")) != NULL && !contains(value, want))
        return complain("contains", want, value);
    if ((want = value_get(spec, "type")) != NULL && strcmp(json_string_value(want), type_name(value)) != 0)
        return complain("type", want, value);
    if ((want = value_get(spec, "error")) != NULL && !error_matches(fun, value, json_string_value(want)))
        return complain("error", want, value);
    return true;
}

static bool
judge(const char *fun, json_t *spec, json_t *result, const char *dir)
{
    static const char *const lists[] = { "fired", "asked" };
    int retcode = value_get(spec, "error") != NULL ? 1 : 0;
    const char *check = value_str(spec, "check", NULL);
    json_t *want;

    if (result == NULL || !judge_value(fun, spec, value_get(result, "value")))
        return false;
    if (value_int(result, "retcode", -1) != value_int(spec, "retcode", retcode))
        return complain("retcode", value_get(spec, "retcode"), result);
    for (size_t i = 0; i < NELEMS(lists); i++) {
        if ((want = value_get(spec, lists[i])) != NULL && !value_equal(want, value_get(result, lists[i])))
            return complain(lists[i], want, value_get(result, lists[i]));
    }
    if (check != NULL && !value_bool(spec, "net", false) && !shell(check, dir)) {
        printf("#   check failed: %s\n", check);
        return false;
    }
    return true;
}

static bool
can_run(json_t *spec)
{
    return (!case_over_wanted(spec) || case_over_possible(spec)) && case_needs_met(spec);
}

/* A case with {T} made real. NEW. */
static json_t *
placed(const json_t *spec, const char *dir)
{
    AUTO_FREE char *text = value_dump(spec);
    AUTO_FREE char *there = str_replace(text, "{T}", dir);

    return json_loads(there, 0, NULL);
}

static bool
one_case(registry_t *registry, const char *fun, json_t *raw)
{
    char dir[] = "/tmp/halite-case-XXXXXX";
    fail_auto_t err = FAIL_INIT;

    if (!can_run(raw))
        return true;
    assert_non_null(mkdtemp(dir));
    json_auto_t *spec = placed(raw, dir);
    json_auto_t *result = run_case(registry, fun, spec, dir);
    bool ok = judge(fun, spec, result, dir);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
    return ok;
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* For the leak checker of a child, to whom the parent's own variables may be registers of before. */
static json_t *volatile held;

static size_t
one_file(registry_t *registry, const char *name)
{
    AUTO_FREE char *path = fs_join(CASE_DIR, name);
    AUTO_FREE char *fun = xstrndup(name, strlen(name) - strlen(".json"));
    json_auto_t *cases = case_file_load(path, MEMBERS);
    held = cases;
    size_t failed = 0, i;
    json_t *spec;

    json_array_foreach (cases, i, spec) {
        if (one_case(registry, fun, spec))
            continue;
        printf("# %s: case %zu failed\n", name, i + 1);
        failed++;
    }
    return failed;
}

static registry_t *
real_registry(void)
{
    size_t n;
    const plugin_t *const *plugins = builtin_plugins(PLUGIN_EXEC, &n);

    return registry_new(PLUGIN_EXEC, plugins, n);
}

static void
test_cases(void **state)
{
    registry_t *registry = real_registry();
    size_t failed = 0, n;
    struct dirent **files = case_file_list(CASE_DIR, &n);

    log_init("test", LEVEL_QUIET, false); /* failing commands are what many cases are about */
    for (size_t i = 0; i < n; i++) {
        failed += one_file(registry, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    registry_destroy(&registry);
    assert_int_equal(failed, 0);
}

static void
want_case(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    AUTO_FREE char *path = xasprintf("%s/%s.json", CASE_DIR, name);
    size_t *missing = cookie;

    if (fs_exists(path))
        return;
    printf("# no case file: %s\n", path);
    (*missing)++;
}

static void
test_complete(void **state)
{
    registry_t *registry = real_registry();
    fail_auto_t err = FAIL_INIT;
    size_t missing = 0;

    if (registry_check(registry, &err) < 0)
        fail_msg("%s", fail_text(&err));
    registry_each(registry, NULL, want_case, &missing);
    registry_destroy(&registry);
    assert_int_equal(missing, 0);
}

UNIT_MAIN(cmocka_unit_test(test_complete), cmocka_unit_test(test_cases))
