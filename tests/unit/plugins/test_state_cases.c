/* test_state_cases.c - states against what Salt returns: tests/cases/state/MODULE.FUNCTION.json,
 * recorded from Salt 3006.
 *
 * A case file is a list of objects:
 *   args               the chunk's arguments; id: its __id__; env: its __env__
 *   test               true: test mode
 *   before             [{fun, args, id}]: states that ran before it in the same run
 *   fun                the state's name, when it isn't that of the file
 *   grains, pillar, opts   what the minion knows; opts are laid over defaults; {T}/roots and {T}/dev are the
 *                      file server's base and dev
 *   programs           {name: script}: stand before all others on PATH, in {T}/bin
 *   over, net          {path: path of the case}; true: unit/case_over.h
 *   host               {op: reply}: what the running minion answers
 *   environment        {name: value} of variables for the case
 *   setup              shell commands, run first in a folder made for this case
 *   needs              "root": skipped for other users; else a program that must be on PATH; several with
 *                      spaces between
 *   return             {name, result, comment, changes} and, where Salt has them, warnings and skip_watch
 *   error              instead: part of the text of the exception
 *   any                names of keys of `changes` whose value differs from run to run; also "name"
 *                      and "data"
 *   begins             the comment only has to begin so
 *   differs            why `return` is not what Salt returns
 *   check              shell commands that must succeed afterwards
 *   foretold           why test mode can't say what the run does
 * A case for a run is run in test mode too, in a folder of its own: a run that changes something is foretold, with the
 * same changes but for the states of `untold`. unit/case_file.h says how cases share members. In every text of a case {T} is that folder. CASES=prefix in the
 * environment picks files.
 */
#include "unit/case_file.h"
#include "unit/case_over.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "plugins/builtin.h"
#include "salt/log.h"
#include "salt/state.h"

#define CASE_DIR TEST_SOURCE_DIR "/tests/cases/state"

/* Members of a case, as above. */
#define MEMBERS                                                                                                 \
    " args id env test before fun grains pillar opts programs over net host environment setup needs files log " \
    "return error any begins differs check foretold "

static json_t *
world_grains(void *cookie)
{
    return value_get(cookie, "grains");
}

static py_t *
world_pillar(void *cookie, json_t *ask, fail_t *err)
{
    json_t *pillar = value_get(cookie, "pillar");

    return pillar != NULL ? py_from_json(pillar) : py_dict();
}

/* What the running minion answers, by the request's "op". */
static int
world_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    json_t *reply = value_get(value_get(cookie, "host"), value_str(request, "op", ""));

    if (reply == NULL)
        return fail_set(err, -ENOTSUP, "no reply to %s in this case", value_str(request, "op", "?"));
    *ret_value = json_incref(reply);
    return 0;
}

/* ---- one case -------------------------------------------------------------------------------- */

static bool
shell(const char *commands, const char *dir)
{
    AUTO_FREE char *line = xasprintf("cd '%s' && (set -e\n%s\n)", dir, commands);

    return commands == NULL || system(line) == 0;
}

/* The low chunk of a state of the case. NEW. */
static json_t *
chunk_of(const char *fun, json_t *step, size_t n)
{
    AUTO_FREE char *state = xstrndup(fun, strcspn(fun, "."));
    AUTO_FREE char *id = xasprintf("id%zu", n);
    json_t *chunk = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "state", state, "fun", strchr(fun, '.') + 1,
                              "__id__", value_str(step, "id", id), "__sls__", "sls", "__env__",
                              value_str(step, "env", "base"), "order", (json_int_t) (10000 + n));

    json_object_update(chunk, value_get(step, "args"));
    return chunk;
}

/* All chunks: those before and the case's own. NEW. */
static json_t *
chunks_of(const char *fun, json_t *spec)
{
    json_t *chunks = json_array(), *step;
    size_t i;

    json_array_foreach (value_get(spec, "before"), i, step)
        json_array_append_new(chunks, chunk_of(value_str(step, "fun", fun), step, i));
    json_array_append_new(chunks, chunk_of(fun, spec, json_array_size(chunks)));
    return chunks;
}

/* Arguments of the function in a chunk, without what the runner takes for itself. NEW. */
static json_t *
arguments(const json_t *chunk, const func_t *f)
{
    static const char *const own[] = { "state", "fun",     "__id__",     "__sls__",  "__env__",
                                       "order", "require", "require_in", "watch_in", NULL };
    json_t *args = json_deep_copy(chunk);

    for (size_t i = 0; own[i] != NULL; i++) {
        bool declared = false;
        for (const arg_t *row = f->args; row != NULL && row->text != NULL; row++)
            declared |= strcmp(arg_name(row), own[i]) == 0;
        if (!declared)
            json_object_del(args, own[i]);
    }
    return args;
}

static json_t *
run_chunks(call_ctx_t *ctx, json_t *chunks, fail_t *err)
{
    json_auto_t *running = json_object();
    json_t *chunk, *ret = NULL;
    size_t i;

    json_array_foreach (chunks, i, chunk) {
        const call_frame_t frame = { .chunk = chunk, .chunks = chunks, .running = running, .run_id = "run" };
        AUTO_FREE char *full = xasprintf("%s.%s", value_str(chunk, "state", ""), value_str(chunk, "fun", ""));
        const func_t *f = ctx_find_state(ctx, full, err);
        if (f == NULL)
            return NULL;
        json_auto_t *args = arguments(chunk, f);
        const call_frame_t *before = call_set_frame(ctx, &frame);
        json_decref(STEAL(ret));
        int rc = ctx_state(ctx, full, args, &ret, err);
        call_set_frame(ctx, before);
        if (rc != 0)
            return NULL;
        AUTO_FREE char *tag = state_tag(chunk);
        json_object_set(running, tag, ret);
    }
    return ret;
}

static json_t *
options(json_t *spec, const char *dir)
{
    AUTO_FREE char *roots = xasprintf("%s/roots", dir), *dev = xasprintf("%s/dev", dir);
    AUTO_FREE char *cache = xasprintf("%s/cache", dir), *conf = xasprintf("%s/etc/minion", dir);
    json_t *opts = json_pack("{s:s, s:s, s:s, s:s, s:{s:[s], s:[s]}, s:b, s:s}", "id", "minion", "conf_file",
                             conf, "cachedir", cache, "hash_type", "sha256", "file_roots", "base", roots,
                             "dev", dev, "test", value_bool(spec, "test", false), "file_client", "local");

    if (value_get(spec, "opts") != NULL)
        value_merge(opts, value_get(spec, "opts"), false);
    return opts;
}

/* ---- what was expected ------------------------------------------------------------------------- */

static bool
complain(const char *what, const json_t *want, const json_t *got)
{
    AUTO_FREE char *a = want != NULL ? value_dump(want) : xstrdup("nothing");
    AUTO_FREE char *b = got != NULL ? value_dump(got) : xstrdup("nothing");

    printf("#   %s: expected %s\n#   %*s  but got %s\n", what, a, (int) strlen(what), "", b);
    return false;
}

/* What changes from run to run is the same in both. */
static void
level(json_t *spec, json_t *ret)
{
    size_t i;
    json_t *key;

    const char *begins = value_str(spec, "begins", NULL);

    if (begins != NULL && str_starts(value_str(ret, "comment", ""), begins))
        json_object_set_new(ret, "comment", json_string(begins));
    json_array_foreach (value_get(spec, "any"), i, key) {
        const char *own = json_string_value(key);
        if ((str_eq(own, "name") || str_eq(own, "data")) && value_get(ret, own) != NULL)
            json_object_set_new(ret, own, json_string("any"));
        json_t *changes = value_get(ret, "changes");
        if (value_get(changes, json_string_value(key)) != NULL)
            json_object_set_new(changes, json_string_value(key), json_string("any"));
    }
}

static bool
judge(json_t *spec, json_t *ret, fail_t *err)
{
    json_t *want = value_get(spec, "return");
    const char *error = value_str(spec, "error", NULL);

    if (error != NULL) {
        json_auto_t *text = json_string(fail_text(err));
        return (ret == NULL && strstr(fail_text(err), error) != NULL) ||
               complain("error", value_get(spec, "error"), text);
    }
    if (ret == NULL) {
        json_auto_t *text = json_string(fail_text(err));
        return complain("return", want, text);
    }
    level(spec, want);
    level(spec, ret);
    return value_equal(want, ret) || complain("return", want, ret);
}

static void
set_environment(const json_t *spec, bool on)
{
    const char *name;
    json_t *v;

    json_object_foreach (value_get(spec, "environment"), name, v) {
        if (on)
            setenv(name, json_string_value(v), 1);
        else
            unsetenv(name);
    }
}

typedef struct registries {
    registry_t *exec, *states;
} registries_t;

/* Sets the case up in the folder and runs its states. NEW return of the last one, or NULL with *err. */
static json_t *
run_case(const registries_t *reg, const char *fun, json_t *spec, const char *dir, fail_t *err)
{
    json_auto_t *opts = options(spec, dir);
    json_auto_t *chunks = chunks_of(value_str(spec, "fun", fun), spec);

    case_files(spec, dir);
    if (!shell(value_str(spec, "setup", NULL), dir)) {
        fail_set(err, -EINVAL, "setup failed");
        return NULL;
    }
    if (value_get(spec, "over") != NULL && !case_over_lay(spec)) {
        fail_set(err, -EIO, "what the case has does not lie over the machine's");
        return NULL;
    }
    case_log(spec);
    fileclient_t *files = fileclient_local(opts, NULL);
    const call_env_t env = { .registry = reg->exec,
                             .states = reg->states,
                             .opts = opts,
                             .id = "minion",
                             .jid = "20261120093753793022",
                             .grains = world_grains,
                             .pillar = world_pillar,
                             .files = files,
                             .host = value_get(spec, "host") != NULL ? world_host : NULL,
                             .cookie = spec };
    call_ctx_t *ctx = call_ctx_new(&env);
    json_t *ret = run_chunks(ctx, chunks, err);
    call_ctx_destroy(&ctx);
    fileclient_destroy(&files);
    return ret;
}

/* The case in a folder of its own: `look` is told its return before the folder goes. */
typedef bool look_fn(json_t *spec, json_t *ret, fail_t *err, const char *dir, void *cookie);

static bool
in_folder(const registries_t *reg, const char *fun, json_t *raw, look_fn *look, void *cookie)
{
    char dir[] = "/tmp/halite-case-XXXXXX";
    fail_auto_t err = FAIL_INIT, gone = FAIL_INIT;

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *text = value_dump(raw);
    AUTO_FREE char *there = str_replace(text, "{T}", dir);
    json_auto_t *spec = json_loads(there, 0, NULL);
    AUTO_FREE char *path = case_programs(spec, dir);
    set_environment(spec, true);
    json_auto_t *ret = run_case(reg, fun, spec, dir, &err);
    bool ok = look(spec, ret, &err, dir, cookie);
    case_over_lift(spec);
    set_environment(spec, false);
    setenv("PATH", path, 1);
    assert_int_equal(fs_remove_tree(dir, &gone), 0);
    return ok;
}

/* ---- test mode tells what the run does --------------------------------------------------------- */

/* Keeps what does not depend on the folder. */
static bool
keep(json_t *spec, json_t *ret, fail_t *err, const char *dir, void *cookie)
{
    json_t **kept = cookie;
    AUTO_FREE char *text = ret != NULL ? value_dump(ret) : xstrdup("null");
    AUTO_FREE char *anywhere = str_replace(text, dir, "{T}");

    *kept = json_loads(anywhere, JSON_DECODE_ANY, NULL);
    return true;
}

/* The return that test mode gives of a case that is for a run. NEW. */
static json_t *
foretold(const registries_t *reg, const char *fun, json_t *raw)
{
    json_auto_t *spec = json_deep_copy(raw);
    json_t *told = NULL;

    json_object_set_new(spec, "test", json_true());
    (void) in_folder(reg, fun, spec, keep, &told);
    return told;
}

/* States whose test mode says that there is a change, in other words of Salt's than the run, or can't say which. */
static const struct untold {
    const char *fun, *why;
} untold[] = {
    { "alternatives.auto", "the change is what the program prints" },
    { "at.mod_watch", "at gives the number and the time" },
    { "at.present", "at gives the number and the time" },
    { "cmd.", "the change is what the program prints" },
    { "debconf.set", "Salt's words: New value" },
    { "file.append", "Salt's words: the file is new" },
    { "file.comment", "Salt's words: the file would be updated" },
    { "file.copy", "the run tells the owner and mode of the new file" },
    { "file.directory", "Salt's words: the run tells a mode twice" },
    { "file.hardlink", "Salt's words: change" },
    { "file.managed", "Salt's words: newfile; the run tells the mode of a new file" },
    { "file.patch", "the change is what the program prints, which names a copy" },
    { "file.prepend", "Salt's words: the file is new" },
    { "file.pruned", "Salt's words: the folder" },
    { "file.recurse", "Salt's words: newfile" },
    { "file.serialize", "Salt's words: newfile" },
    { "file.symlink", "Salt's words: change; the run tells the owner of a new link" },
    { "file.uncomment", "Salt's words: the file would be updated" },
    { "git.detached", "what is cloned or fetched is not known before" },
    { "git.latest", "what is cloned or fetched is not known before" },
    { "module.run", "the change is what the function returns" },
    { "raid.present", "an array's UUID is the program's choice" },
    { "user.present", "a new account's number, home and shell are the program's choice" },
};

static bool
can_tell(const char *fun)
{
    for (size_t i = 0; i < NELEMS(untold); i++)
        if (str_starts(fun, untold[i].fun))
            return false;
    return true;
}

/* A package's hold is told with a result and a comment of its own, which are test mode's or the run's. */
static void
level_parts(json_t *changes)
{
    const char *name;
    json_t *one;

    json_object_foreach (changes, name, one) {
        if (json_is_object(value_get(one, "changes"))) {
            json_object_del(one, "result");
            json_object_del(one, "comment");
        }
    }
}

/* What a run that succeeded changed, or not, test mode foretells. A case says by `foretold` why it can't. */
static bool
as_foretold(const char *fun, json_t *raw, json_t *told, json_t *done)
{
    json_t *changes = value_get(done, "changes"), *before = value_get(told, "changes");

    if (!json_is_true(value_get(done, "result")) || value_get(raw, "foretold") != NULL)
        return true;
    level(raw, told);
    level(raw, done);
    level_parts(changes);
    level_parts(before);
    json_t *want = json_object_size(changes) > 0 ? json_null() : json_true();
    if (!json_equal(value_get(told, "result"), want))
        return complain("foretold", done, told);
    return !can_tell(fun) || json_equal(before, changes) || complain("foretold changes", changes, before);
}

/* ---- one case of a file ------------------------------------------------------------------------ */

static bool
judge_all(json_t *spec, json_t *ret, fail_t *err, const char *dir, void *cookie)
{
    bool ok = judge(spec, ret, err);

    (void) keep(spec, ret, err, dir, cookie);
    if (!ok || shell(value_str(spec, "check", NULL), dir))
        return ok;
    printf("#   check failed: %s\n", value_str(spec, "check", ""));
    return false;
}

/* Test mode comes first, as the run of an environ.setenv changes this process. */
static bool
whole_case(const registries_t *reg, const char *fun, json_t *raw)
{
    bool plain = value_get(raw, "test") == NULL && value_get(raw, "before") == NULL &&
                 value_get(raw, "error") == NULL;
    json_auto_t *told = NULL, *done = NULL;

    if (plain)
        told = foretold(reg, fun, raw);
    return in_folder(reg, fun, raw, judge_all, &done) && (!plain || as_foretold(fun, raw, told, done));
}

/* One with files over the machine's gets a process of its own. */
static bool
one_case(const registries_t *reg, const char *fun, json_t *raw)
{
    int status = -1;

    if (!case_needs_met(raw))
        return true;
    if (!case_over_wanted(raw))
        return whole_case(reg, fun, raw);
    if (!case_over_possible(raw))
        return true;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = case_over_apart(raw) && whole_case(reg, fun, raw);
        fflush(NULL);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

/* ---- the folder -------------------------------------------------------------------------------- */

static size_t
one_file(const registries_t *reg, const char *name)
{
    AUTO_FREE char *path = fs_join(CASE_DIR, name);
    AUTO_FREE char *fun = xstrndup(name, strlen(name) - strlen(".json"));
    json_auto_t *cases = case_file_load(path, MEMBERS);
    size_t failed = 0, i;
    json_t *spec;

    json_array_foreach (cases, i, spec) {
        if (one_case(reg, fun, spec))
            continue;
        printf("# %s: case %zu failed\n", name, i + 1);
        failed++;
    }
    return failed;
}

static registries_t
real_registries(void)
{
    size_t n_exec, n_states;
    const plugin_t *const *exec = builtin_plugins(PLUGIN_EXEC, &n_exec);
    const plugin_t *const *states = builtin_plugins(PLUGIN_STATE, &n_states);

    return (registries_t){ registry_new(PLUGIN_EXEC, exec, n_exec),
                           registry_new(PLUGIN_STATE, states, n_states) };
}

static void
test_cases(void **state)
{
    registries_t reg = real_registries();
    size_t failed = 0, n;
    struct dirent **files = case_file_list(CASE_DIR, &n);

    umask(022);
    log_init("test", LEVEL_QUIET, false); /* failing states are what many cases are about */
    for (size_t i = 0; i < n; i++) {
        failed += one_file(&reg, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    registry_destroy(&reg.exec);
    registry_destroy(&reg.states);
    assert_int_equal(failed, 0);
}

static void
want_case(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    AUTO_FREE char *path = xasprintf("%s/%s.json", CASE_DIR, name);
    const char *module = plugin_name(p);
    size_t *missing = cookie;

    if ((strcmp(module, "file") != 0 && strcmp(module, "cmd") != 0) || fs_exists(path))
        return;
    printf("# no case file: %s\n", path);
    (*missing)++;
}

/* Each function of the states `file` and `cmd` has cases. */
static void
test_complete(void **state)
{
    registries_t reg = real_registries();
    fail_auto_t err = FAIL_INIT;
    size_t missing = 0;

    if (registry_check(reg.states, &err) < 0)
        fail_msg("%s", fail_text(&err));
    registry_each(reg.states, NULL, want_case, &missing);
    registry_destroy(&reg.exec);
    registry_destroy(&reg.states);
    assert_int_equal(missing, 0);
}

UNIT_MAIN(cmocka_unit_test(test_complete), cmocka_unit_test(test_cases))
