/* test_state_run.c - the state runner: chunks and what Salt 3006 made of them (tests/cases/staterun), and
 * what Salt can't show: parallel steps, deep chains, workers that die. */
#include "unit/unit.h"

#include <glob.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/state/run.h"
#include "salt/state.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/staterun"

extern const plugin_t state_test, state_module, exec_cmd, exec_test;

static const plugin_t *const exec_rows[] = { &exec_cmd, &exec_test };

/* ---- a run --------------------------------------------------------------------------------- */

typedef struct bench {
    registry_t *execs, *states;
    json_t *opts;
    call_ctx_t *ctx;
} bench_t;

static json_t *
no_grains(void *cookie)
{
    return value_get(cookie, "grains");
}

/* What test.check_pillar looks at. */
static py_t *
a_pillar(void *cookie, json_t *ask, fail_t *err)
{
    json_auto_t *pillar = json_pack("{s:i}", "a", 1);

    (void) cookie, (void) ask, (void) err;
    return py_from_json(pillar);
}

static bench_t
bench_with(const plugin_t *const *states, size_t n, const json_t *opts)
{
    bench_t b = { .execs = registry_new(PLUGIN_EXEC, exec_rows, NELEMS(exec_rows)),
                  .states = registry_new(PLUGIN_STATE, states, n),
                  .opts = opts != NULL ? json_deep_copy(opts) : json_object() };
    call_env_t env = { .registry = b.execs,
                       .states = b.states,
                       .opts = b.opts,
                       .id = "m001",
                       .jid = "20261120094109743473",
                       .grains = no_grains,
                       .pillar = a_pillar,
                       .cookie = b.opts };
    b.ctx = call_ctx_new(&env);
    return b;
}

static void
bench_end(bench_t *b)
{
    call_ctx_destroy(&b->ctx);
    registry_destroy(&b->execs);
    registry_destroy(&b->states);
    json_decref(b->opts);
}

/* ---- cases that Salt has answered ------------------------------------------------------------ */

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Salt names failed requisites in no order. */
static void
sort_failed(json_t *ret)
{
    static const char prefix[] = "One or more requisite failed: ";
    const char *comment = value_str(ret, "comment", "");
    buf_auto_t text = BUF_INIT;

    if (!str_starts(comment, prefix))
        return;
    char **parts = str_split(comment + sizeof(prefix) - 1, ", ", true);
    qsort(parts, strv_len(parts), sizeof(*parts), by_text);
    buf_puts(&text, prefix);
    for (char **p = parts; *p != NULL; p++)
        buf_printf(&text, "%s ", *p);
    strv_free(parts);
    json_object_set_new(ret, "comment", json_string(buf_str(&text)));
}

static void
normalise(json_t *running)
{
    const char *tag;
    json_t *ret;

    json_object_foreach (running, tag, ret) {
        json_object_del(ret, "start_time");
        json_object_del(ret, "duration");
        json_object_del(value_get(ret, "changes"), "pid");
        sort_failed(ret);
    }
}

static bool
same_order(json_t *a, json_t *b)
{
    void *i = json_object_iter(a), *j = json_object_iter(b);

    for (; i != NULL && j != NULL; i = json_object_iter_next(a, i), j = json_object_iter_next(b, j)) {
        if (strcmp(json_object_iter_key(i), json_object_iter_key(j)) != 0)
            return false;
    }
    return i == NULL && j == NULL;
}

/* Whether the case gives what it says. */
static bool
case_holds(const json_t *c)
{
    static const plugin_t *const rows[] = { &state_test, &state_module };
    bench_t b = bench_with(rows, NELEMS(rows), value_get(c, "opts"));
    json_auto_t *chunks = json_deep_copy(value_get(c, "chunks")),
                *want = json_deep_copy(value_get(c, "running"));

    ctx_set_test(b.ctx, value_bool(c, "test", false));
    state_run_env_t env = { .ctx = b.ctx, .jid = "" };
    json_auto_t *got = state_run(&env, chunks);
    normalise(got);
    normalise(want);
    bool same = json_equal(got, want) && same_order(got, want);
    if (!same) {
        AUTO_FREE char *in = value_dump(value_get(c, "chunks")), *out = value_dump(got),
                       *expected = value_dump(want);
        printf("# %s test=%d\n# chunks %s\n# want   %s\n# got    %s\n", value_str(c, "name", "?"),
               value_bool(c, "test", false), in, expected, out);
    }
    bench_end(&b);
    return same;
}

/* STATERUN_CASES names another file. */
static void
test_as_salt(void **state)
{
    const char *other = getenv("STATERUN_CASES");
    glob_t files;
    size_t bad = 0, n = 0;

    (void) state;
    assert_int_equal(glob(other != NULL ? other : CASES "/*.json", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        json_auto_t *cases = json_load_file(files.gl_pathv[f], JSON_REJECT_DUPLICATES, NULL);
        json_t *c;
        size_t i;
        assert_non_null(cases);
        json_array_foreach (cases, i, c) {
            n++;
            bad += !case_holds(c);
        }
    }
    globfree(&files);
    printf("# %zu cases\n", n);
    assert_true(n > 0);
    assert_int_equal(bad, 0);
}

UNIT_MAIN(cmocka_unit_test(test_as_salt))
