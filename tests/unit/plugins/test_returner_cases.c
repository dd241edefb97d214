/* test_returner_cases.c - built-in returners, called as Salt's were when tests/cases/returner was recorded.
 *
 * Alone it tests what needs no server. `test_returner_cases NAME OPTS` is a tool for the whole-program tests: calls as lines
 * of JSON on stdin, [function, argument, ...], what they return as lines on stdout, keys sorted. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/plugin/returning.h"
#include "plugins/builtin.h"
#include "plugins/lib/returner/retopts.h"

typedef struct stage {
    registry_t *exec, *returners;
    json_t *opts;
    call_ctx_t *ctx;
} stage_t;

/* Grains of a case: the member `grains` of its options. */
static json_t *
stage_grains(void *cookie)
{
    return value_get(((stage_t *) cookie)->opts, "grains");
}

static void
stage_begin(stage_t *self, const char *opts)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);

    self->exec = registry_new(PLUGIN_EXEC, rows, n);
    rows = builtin_plugins(PLUGIN_RETURNER, &n);
    self->returners = registry_built_in(PLUGIN_RETURNER, rows, n);
    self->opts = json_loads(opts, 0, NULL);
    assert_non_null(self->opts);
    self->ctx = call_ctx_new(&(call_env_t){ .registry = self->exec,
                                            .returners = self->returners,
                                            .opts = self->opts,
                                            .grains = stage_grains,
                                            .cookie = self,
                                            .id = value_str(self->opts, "id", "") });
}

static void
stage_end(stage_t *self)
{
    call_ctx_destroy(&self->ctx);
    json_decref(self->opts);
    registry_destroy(&self->exec);
    registry_destroy(&self->returners);
}

/* One line of calls. 0, or 1 when the call failed, with its text on stderr. */
static int
tool_line(stage_t *self, const char *name, const char *line)
{
    json_auto_t *call = json_loads(line, 0, NULL), *value = NULL;
    fail_auto_t err = FAIL_INIT;

    assert_non_null(call);
    AUTO_FREE char *fun = xstrdup(json_string_value(json_array_get(call, 0)));
    json_array_remove(call, 0);
    if (returning_call(self->ctx, name, fun, call, &value, &err) < 0) {
        (void) fprintf(stderr, "%s.%s: %s\n", name, fun, fail_text(&err));
        return 1;
    }
    AUTO_FREE char *text = json_dumps(value, JSON_SORT_KEYS | JSON_ENCODE_ANY);
    (void) printf("%s\n", text);
    return 0;
}

static int
tool(const char *name, const char *opts)
{
    stage_t self = { 0 };
    AUTO_FREE char *line = NULL;
    size_t room = 0;
    int code = 0;

    stage_begin(&self, opts);
    while (getline(&line, &room, stdin) > 0)
        code |= tool_line(&self, name, line);
    stage_end(&self);
    return code;
}

/* ---- options ------------------------------------------------------------------------------------------- */

static const retopt_t rows[] = { { "host", NULL, "\"salt\"" },
                                 { "password", "pass", NULL },
                                 { "port", NULL, "1" } };

static void
check_opts(const char *opts, const char *ret, const char *wanted)
{
    stage_t self = { 0 };
    json_auto_t *given = json_loads(ret, JSON_DECODE_ANY, NULL), *expected = json_loads(wanted, 0, NULL);

    stage_begin(&self, opts);
    json_auto_t *found = retopts(self.ctx, "db", given, rows, NELEMS(rows));
    AUTO_FREE char *text = json_dumps(found, JSON_SORT_KEYS), *other = json_dumps(expected, JSON_SORT_KEYS);
    assert_string_equal(text, other);
    stage_end(&self);
}

static void
options_have_an_order(void **state)
{
    check_opts("{}", "{}", "{\"host\": \"salt\", \"port\": 1}");
    check_opts("{\"db.host\": \"a\", \"db.pass\": \"p\"}", "{}",
               "{\"host\": \"a\", \"password\": \"p\", \"port\": 1}");
    check_opts("{\"db\": {\"host\": \"b\"}, \"db.host\": \"a\"}", "{}", "{\"host\": \"b\", \"port\": 1}");
    check_opts("{\"db.port\": 0}", "{}", "{\"host\": \"salt\", \"port\": 1}");
    check_opts("{\"db.host\": \"a\", \"x.db.host\": \"c\", \"x.db\": {\"port\": 7}}",
               "{\"ret_config\": \"x\"}", "{\"host\": \"c\", \"port\": 7}");
    check_opts("{\"db.host\": \"a\"}",
               "{\"ret_config\": \"x\", \"ret_kwargs\": {\"port\": 9, \"more\": null}}",
               "{\"host\": \"a\", \"port\": 9, \"more\": null}");
}

/* ---- rawfile_json -------------------------------------------------------------------------------------- */

static void
lines_are_whole(void **state)
{
    stage_t self = { 0 };
    char path[] = "/tmp/halite-returner-XXXXXX";
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    (void) close(fd);
    AUTO_FREE char *opts = xasprintf("{\"rawfile_json.filename\": \"%s\"}", path);
    stage_begin(&self, opts);
    json_auto_t *args = json_pack("[[{s:s, s:{s:s}}, {s:s, s:n}]]", "tag", "a", "data", "k", "\xc3\xbc",
                                  "tag", "b", "data");
    assert_int_equal(returning_call(self.ctx, "rawfile_json", "event_return", args, NULL, &err), 0);
    assert_int_equal(fs_read(path, 1000, &text, &err), 0);
    assert_string_equal(
        buf_str(&text),
        "{\"tag\": \"a\", \"data\": {\"k\": \"\xc3\xbc\"}}\n{\"tag\": \"b\", \"data\": null}\n");
    (void) unlink(path);
    stage_end(&self);
}

static void
who_is_not_there_says_so(void **state)
{
    stage_t self = { 0 };
    fail_auto_t err = FAIL_INIT;

    stage_begin(&self, "{\"python_salt\": false}");
    json_auto_t *args = json_array();
    assert_true(returning_call(self.ctx, "nosuch", "returner", args, NULL, &err) < 0);
    assert_int_equal(err.kind, FAIL_UNAVAILABLE);
    assert_true(returning_is_native(self.ctx, "redis", "batch"));
    assert_false(returning_is_native(self.ctx, "redis", "event_return"));
    stage_end(&self);
}

/* The tool has the same program as the tests: before main(), which is UNIT_MAIN's. */
__attribute__((constructor)) static void
tool_asked(int argc, char **argv, char **envp)
{
    if (argc == 3 && *argv[1] != '-')
        exit(tool(argv[1], argv[2]));
}

UNIT_MAIN(cmocka_unit_test(options_have_an_order), cmocka_unit_test(lines_are_whole),
          cmocka_unit_test(who_is_not_there_says_so))
