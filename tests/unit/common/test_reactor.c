/* test_reactor.c - tests/cases/reactor: what a configuration makes of events (rules), and what a file makes
 * of one (reactions). A case is an object:
 *
 *   rules      "reactor" (the option), "steps": [{"event": [seq, seconds, tag, data]} or {"now": seconds},
 * each with "fires": [[file, seq, ...]]], "restart": save and restore between steps; or "error": text
 *   reactions  "sls": text, "data", "tag"; "reactions": [object: a subset of each], "errors": [text in each]
 */
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/plugin/call.h"
#include "common/reactor/reaction.h"
#include "common/reactor/rules.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static int failures;

static void
tell(const json_t *c, const char *what, const json_t *got)
{
    AUTO_FREE char *text = got != NULL ? value_dump(got) : xstrdup("");
    print_error("%s: %s: %s\n", value_str(c, "name", "?"), what, text);
    failures++;
}

/* ---- rules --------------------------------------------------------------------------------------------- */

#define START_S 1000 /* a stamp of 0 is none */

static int64_t
stamp(const json_t *seconds)
{
    return (int64_t) ((START_S + json_number_value(seconds)) * 1e6);
}

/* Each expected firing: [file, seq, {more fields}?]. */
static bool
fires_as(const json_t *want, const json_t *got)
{
    const char *key;
    json_t *one, *v;
    size_t i;

    if (json_array_size(want) != json_array_size(got))
        return false;
    json_array_foreach (want, i, one) {
        json_t *have = json_array_get(got, i);
        if (!str_eq(json_string_value(json_array_get(one, 0)), value_str(have, "file", "")) ||
            json_integer_value(json_array_get(one, 1)) != value_int(have, "seq", -1))
            return false;
        json_object_foreach (json_array_get(one, 2), key, v)
            if (!json_equal(v, value_get(have, key)))
                return false;
    }
    return true;
}

static json_t *
step(rules_t *rules, const json_t *s)
{
    json_t *event = value_get(s, "event");

    if (event == NULL)
        return rules_due(rules, stamp(value_get(s, "now")));
    int64_t us = stamp(json_array_get(event, 1));
    json_t *data = json_array_get(event, 3);
    json_auto_t *none = json_object();
    json_t *out = rules_due(rules, us);
    json_auto_t *more = rules_event(rules, (uint64_t) json_integer_value(json_array_get(event, 0)), us,
                                    json_string_value(json_array_get(event, 2)), data != NULL ? data : none);
    json_array_extend(out, more);
    return out;
}

static void
run_rules(const json_t *c, bool restart)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(rules) rules = rules_new(value_get(c, "reactor"), &err);
    const char *error = value_str(c, "error", NULL);
    json_t *s;
    size_t i;

    if (rules == NULL || error != NULL) {
        if (rules != NULL || error == NULL || !str_eq(fail_text(&err), error)) {
            json_auto_t *text = json_string(fail_text(&err));
            tell(c, "error", text);
        }
        return;
    }
    json_auto_t *tags = rules_tags(rules);
    if (value_get(c, "tags") != NULL && !json_equal(value_get(c, "tags"), tags))
        tell(c, "tags", tags);
    json_array_foreach (value_get(c, "steps"), i, s) {
        json_auto_t *got = step(rules, s);
        json_t *want = value_get(s, "fires");
        if (!fires_as(want, got))
            tell(c, "fires", got);
        if (!restart)
            continue;
        json_auto_t *state = rules_state(rules);
        AUTO_FREE char *text = value_dump(state);
        json_auto_t *back = json_loads(text, 0, NULL);
        rules_destroy(&rules);
        rules = rules_new(value_get(c, "reactor"), &err);
        rules_restore(rules, back);
    }
    json_auto_t *state = rules_state(rules);
    if (value_get(c, "state") != NULL && !json_equal(value_get(c, "state"), state))
        tell(c, "state", state);
}

/* ---- what rules remember ------------------------------------------------------------------------------- */

#define LARGE  900000 /* of an event's data */
#define EVENTS (LIMIT_REACTOR_MEMORY / LARGE * 5 / 4)

/* NEW: what this rule sets off with the last of a crowd of large events, each in a group of its own if it
 * has groups, and `last`. */
static json_t *
crowd(const char *reactor, const char *last, size_t *ret_bytes)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *option = json_loads(reactor, 0, NULL);
    AUTO(rules) rules = rules_new(option, &err);
    AUTO_FREE char *text = xcalloc(LARGE + 1, 1);
    json_t *out = NULL;
    *ret_bytes = 0;
    assert_non_null(rules);
    memset(text, 'x', LARGE);
    for (int i = 0; i <= EVENTS; i++) {
        json_auto_t *data = json_pack("{s:i, s:s}", "id", i < EVENTS ? i : EVENTS - 1, "text",
                                      i < EVENTS ? text : "");
        json_decref(out);
        out = rules_event(rules, (uint64_t) i + 1, (START_S + i) * 1000000LL, i < EVENTS ? "a" : last, data);
        json_auto_t *state = i == EVENTS - 1 ? rules_state(rules) : NULL;
        *ret_bytes += state != NULL ? json_dumpb(state, NULL, 0, JSON_COMPACT) : 0;
    }
    json_auto_t *due = rules_due(rules, INT64_MAX / 2);
    json_array_extend(out, due);
    return out;
}

static void
test_memory(void **state)
{
    size_t bytes;
    json_auto_t *joined = crowd(
        "[{\"when\": {\"all\": [\"a\", \"b\"]}, \"group_by\": \"id\", \"do\": \"/x.sls\"}]", "b", &bytes);
    assert_int_equal(json_array_size(joined), 1);
    assert_in_range(bytes, LIMIT_REACTOR_MEMORY / 2, LIMIT_REACTOR_MEMORY + 2 * LARGE);

    json_auto_t *held = crowd("[{\"when\": \"a\", \"throttle\": {\"once_after\": 5}, \"do\": \"/x.sls\"}]",
                              "a", &bytes);
    assert_int_equal(json_array_size(held), 1);
    assert_int_equal(value_int(json_array_get(held, 0), "count", 0), EVENTS + 1);
    assert_in_range(bytes, LIMIT_REACTOR_MEMORY / 2, LIMIT_REACTOR_MEMORY + 2 * LARGE);

    /* Nothing but the names of the groups. */
    json_auto_t *named = crowd("[{\"when\": \"a\", \"group_by\": [\"id\", \"text\"], \"throttle\": "
                               "{\"once_within\": 86400}, \"do\": \"/x.sls\"}]",
                               "a", &bytes);
    assert_int_equal(json_array_size(named), 1);
    assert_in_range(bytes, LIMIT_REACTOR_MEMORY / 2, LIMIT_REACTOR_MEMORY);
}

/* ---- reactions ----------------------------------------------------------------------------------------- */

static int
no_function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return fail_set(err, -ENOTSUP, "only its arguments are looked at");
}

static const arg_t orchestrate_args[] = { ARG("mods", ARG_ANY, ARG_REQUIRED, "x"),
                                          ARG("saltenv", ARG_STR, "\"base\"", "x"),
                                          ARG("pillar", ARG_ANY, "null", "x"), ARGS_END };
static const arg_t named_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "x"),
                                    ARG("zone", ARG_STR, "null", "x"), ARGS_END };
static const arg_t any_args[] = { ARG("args", ARG_ANY, ARG_STAR, "x"),
                                  ARG("kwargs", ARG_ANY, ARG_STARSTAR, "x"), ARGS_END };
static const arg_t accept_args[] = { ARG("match", ARG_ANY, ARG_REQUIRED, "x"), ARGS_END };
static const func_t state_funcs[] = { { "orchestrate", no_function, orchestrate_args, FN_ACCESS_ADMIN,
                                        "x" } };
static const func_t ddns_funcs[] = { { "add_host", no_function, named_args, FN_ACCESS_ADMIN, "x" } };
static const func_t test_funcs[] = { { "arg", no_function, any_args, FN_ACCESS_ADMIN, "x" },
                                     { "stop", no_function, NULL, FN_ACCESS_ADMIN, "x" } };
static const func_t key_funcs[] = { { "accept", no_function, accept_args, FN_ACCESS_ADMIN, "x" } };
static const plugin_t runner_state = {
    .kind = PLUGIN_RUNNER, .file = "state", .doc = "x", FUNCS(state_funcs)
};
static const plugin_t runner_ddns = { .kind = PLUGIN_RUNNER, .file = "ddns", .doc = "x", FUNCS(ddns_funcs) };
static const plugin_t runner_test = { .kind = PLUGIN_RUNNER, .file = "test", .doc = "x", FUNCS(test_funcs) };
static const plugin_t wheel_key = { .kind = PLUGIN_WHEEL, .file = "key", .doc = "x", FUNCS(key_funcs) };
static const plugin_t *const runner_rows[] = { &runner_state, &runner_ddns, &runner_test };
static const plugin_t *const wheel_rows[] = { &wheel_key };
static const plugin_t *const no_rows[] = { NULL };

static json_t *
grains(void *cookie)
{
    static json_t *all;

    if (all == NULL)
        all = json_pack("{s:s}", "os", "Debian");
    return all;
}

/* Every field that is wanted is there and equal. */
static bool
is_like(const json_t *want, const json_t *got)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) want, key, v)
        if (!json_equal(v, value_get(got, key)))
            return false;
    return true;
}

static void
compare_list(const json_t *c, const json_t *want, const json_t *got)
{
    bool same = json_array_size(want) == json_array_size(got);

    for (size_t i = 0; same && i < json_array_size(want); i++)
        same = is_like(json_array_get(want, i), json_array_get(got, i));
    if (!same)
        tell(c, "reactions", got);
}

static void
compare_errors(const json_t *c, const json_t *want, const json_t *got)
{
    bool same = json_array_size(want) == json_array_size(got);

    for (size_t i = 0; same && i < json_array_size(want); i++) {
        json_t *w = json_array_get(want, i), *g = json_array_get(got, i);
        same = strstr(value_str(g, "error", ""), value_str(w, "error", "")) != NULL &&
               (value_get(w, "line") == NULL || json_equal(value_get(w, "line"), value_get(g, "line"))) &&
               (value_get(w, "id") == NULL || json_equal(value_get(w, "id"), value_get(g, "id")));
    }
    if (!same)
        tell(c, "errors", got);
}

static void
run_reactions(const json_t *c)
{
    char dir[] = "/tmp/test-reactor-XXXXXX";
    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *path = fs_join(dir, "r.sls");
    const char *sls = value_str(c, "sls", NULL);
    if (sls != NULL)
        assert_int_equal(fs_write_quick(path, sls, strlen(sls), 0644, NULL), 0);
    json_auto_t *opts = json_pack("{s:s, s:{s:[s]}}", "renderer", "jinja|yaml", "file_roots", "base", dir);
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, no_rows, 0);
    AUTO(registry) runners = registry_new(PLUGIN_RUNNER, runner_rows, NELEMS(runner_rows));
    AUTO(registry) wheels = registry_new(PLUGIN_WHEEL, wheel_rows, NELEMS(wheel_rows));
    AUTO(fileclient) files = fileclient_local(opts, NULL);
    AUTO(call_ctx)
    ctx = call_ctx_new(
        &(call_env_t){ .registry = modules, .opts = opts, .id = "master", .files = files, .grains = grains });
    AUTO(render) render = render_new(ctx, files);
    bool minion = value_bool(c, "minion", false);
    reaction_env_t env = { ctx, files, render, minion ? NULL : runners, minion ? NULL : wheels };
    json_t *data = value_get(c, "data");
    json_auto_t *firing = json_pack("{s:s, s:s, s:i, s:s, s:o}", "file",
                                    value_bool(c, "disk", false) ? path : "salt://r.sls", "rule",
                                    value_str(c, "rule", ""), "seq", 7, "tag", value_str(c, "tag", "a/b"),
                                    "data", data != NULL ? json_incref(data) : json_object());
    json_object_update_missing(firing, value_get(c, "more"));
    json_auto_t *errors = json_array();
    json_auto_t *got = reaction_list(&env, firing, errors);
    compare_list(c, value_get(c, "reactions"), got);
    compare_errors(c, value_get(c, "errors"), errors);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

/* ---- all cases ----------------------------------------------------------------------------------------- */

static void
run_file(const char *path)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    json_t *c;
    size_t i;

    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    json_auto_t *cases = yaml_load(buf_str(&text), text.len, path, NULL, &err);
    if (cases == NULL)
        fail_msg("%s", fail_text(&err));
    json_array_foreach (cases, i, c) {
        if (value_get(c, "reactor") == NULL) {
            run_reactions(c);
            continue;
        }
        run_rules(c, false);
        run_rules(c, true);
    }
    assert_true(i > 0);
}

static void
test_cases(void **state)
{
    AUTO_FREE char *dir = fs_join(TEST_SOURCE_DIR, "tests/cases/reactor");
    DIR *d = opendir(dir);
    struct dirent *entry;
    int n = 0;

    assert_non_null(d);
    while ((entry = readdir(d)) != NULL) {
        AUTO_FREE char *path = fs_join(dir, entry->d_name);
        if (str_ends(entry->d_name, ".yaml") && ++n)
            run_file(path);
    }
    closedir(d);
    assert_true(n > 0);
    assert_int_equal(failures, 0);
}

/* ---- what a file needs can't be read for now -------------------------------------------------------------- */

static int
no_descriptor(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    return fail_set(err, -EMFILE, "no descriptor");
}

/* The errors of reacting with this file. NEW. */
static json_t *
errors_of(const char *sls, const char *pattern, rlim_t files_max)
{
    static const fileclient_class_t none = { .cache = no_descriptor };
    char dir[] = "/tmp/test-reactor-XXXXXX";
    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *path = fs_join(dir, "r.sls"), *meant = fs_join(dir, pattern);
    assert_int_equal(fs_write_quick(path, sls, strlen(sls), 0644, NULL), 0);
    json_auto_t *opts = json_pack("{s:s}", "renderer", "jinja|yaml");
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, no_rows, 0);
    AUTO(fileclient) files = fileclient_new(&none, NULL);
    AUTO(call_ctx)
    ctx = call_ctx_new(
        &(call_env_t){ .registry = modules, .opts = opts, .id = "master", .files = files, .grains = grains });
    AUTO(render) render = render_new(ctx, files);
    reaction_env_t env = { ctx, files, render, NULL, NULL };
    json_auto_t *firing = json_pack("{s:s, s:s, s:i, s:s, s:{}}", "file", meant, "rule", "", "seq", 7, "tag",
                                    "a/b", "data");
    json_t *errors = json_array();
    struct rlimit old, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = (struct rlimit){ files_max, old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, files_max > 0 ? &few : &old), 0);
    json_decref(reaction_list(&env, firing, errors));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
    return errors;
}

static bool
is_passing(const json_t *errors)
{
    return json_array_size(errors) == 1 && value_bool(json_array_get(errors, 0), "passing", false);
}

static void
test_passing(void **state)
{
    json_auto_t *imports = errors_of("{% from 'lib.jinja' import x %}\n", "r.sls", 0);
    json_auto_t *includes = errors_of("{% include ['a.sls', 'b.sls'] ignore missing %}\n", "r.sls", 0);
    json_auto_t *folder = errors_of("{}\n", "*.sls", 1);
    json_auto_t *wrong = errors_of("{% from %}\n", "r.sls", 0);
    json_auto_t *missing = errors_of("{}\n", "x*.sls", 0);

    assert_true(is_passing(imports));
    assert_true(is_passing(includes));
    assert_true(is_passing(folder));
    assert_int_equal(json_array_size(wrong), 1);
    assert_false(is_passing(wrong));
    assert_int_equal(json_array_size(missing), 1);
    assert_false(is_passing(missing));
}

UNIT_MAIN(cmocka_unit_test(test_cases), cmocka_unit_test(test_memory), cmocka_unit_test(test_passing))
