/* test_plugin_source.c - a registry of several sources: what is built in, and toys before and after it. */
#include "unit/unit.h"

#include "common/plugin/call.h"

/* ---- a toy source: plug-ins that come and go, and one C function for all their rows ----------- */

typedef struct toy {
    plugin_source_t source;
    const plugin_t *const *now, *const *next; /* lists that end with NULL; `next` from the next refresh on */
    const char *refused, *reason;             /* a module, and why it can't be used */
    bool broken;                              /* it can't look again */
    const plugin_t *found[4];                 /* by the last question */
} toy_t;

static const plugin_t *const *
toy_plugins(plugin_source_t *source, call_ctx_t *ctx, const char *module)
{
    toy_t *self = (toy_t *) source;
    size_t n = 0;

    if (module == NULL)
        return self->now;
    for (const plugin_t *const *p = self->now; p != NULL && *p != NULL; p++)
        if (strcmp(plugin_name(*p), module) == 0)
            self->found[n++] = *p;
    self->found[n] = NULL;
    return n > 0 ? self->found : NULL;
}

static const char *
toy_unavailable(plugin_source_t *source, call_ctx_t *ctx, const plugin_t *p)
{
    toy_t *self = (toy_t *) source;

    return self->refused != NULL && strcmp(plugin_name(p), self->refused) == 0 ? self->reason : NULL;
}

static int
toy_refresh(plugin_source_t *source, call_ctx_t *ctx, fail_t *err)
{
    toy_t *self = (toy_t *) source;

    if (self->broken)
        return fail_set(err, -EIO, "the toy box is shut");
    self->now = self->next;
    return 0;
}

static void
toy_destroy(plugin_source_t *source)
{
    free(source);
}

static toy_t *
toy_new(const plugin_t *const *now, const plugin_t *const *next)
{
    static const plugin_source_ops_t ops = { toy_plugins, toy_unavailable, toy_refresh, toy_destroy };
    toy_t *self = xcalloc(1, sizeof(*self));

    *self = (toy_t){ .source.ops = &ops, .now = now, .next = next };
    return self;
}

/* What a function that is not C would be: its handle says which. */
static int
toy_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_pack("[s, O]", ctx_row(ctx)->data.text, value_get(args, "args"));
    return 0;
}

static int
built_in(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = value_fmt("built in %s", ctx_row(ctx)->name);
    return 0;
}

/* ---- what there is ---------------------------------------------------------------------------- */

#define DOC "Toy." CLI_EXAMPLE("salt '*' toy")
static const arg_t any_args[] = { ARG("args", ARG_ANY, ARG_STAR, "anything"), ARGS_END };

static const func_t table_funcs[] = {
    { "echo", built_in, NULL, FN_READONLY, "Echo." CLI_EXAMPLE("x") },
    { "ping", built_in, NULL, FN_READONLY, "Ping." CLI_EXAMPLE("x") },
};
static const func_t user_funcs[] = {
    { "ping", toy_call, any_args, 0, "User's ping." CLI_EXAMPLE("x"), .data.text = "user.ping" },
    { "pong", toy_call, any_args, 0, DOC, .data.text = "user.pong" },
};
static const func_t late_funcs[] = {
    { "ping", toy_call, any_args, 0, DOC, .data.text = "late.ping" },
    { "rest", toy_call, any_args, 0, DOC, .data.text = "late.rest" },
};
static const func_t game_funcs[] = {
    { "play", toy_call, any_args, FN_READONLY, DOC, .data.text = "game.play" },
};
static const char here[] = "/srv/modules/test.py";

PLUGIN(exec, test, .doc = "Built in", FUNCS(table_funcs));
static const plugin_t user = {
    .kind = PLUGIN_EXEC, .file = "test", .doc = "Test", FUNCS(user_funcs), .origin = here
};
static const plugin_t late = { .kind = PLUGIN_EXEC,
                               .file = "test_late",
                               .provides = "test",
                               .doc = "Late",
                               FUNCS(late_funcs),
                               .origin = "/l" };
static const plugin_t game = {
    .kind = PLUGIN_EXEC, .file = "game", .doc = "Games", FUNCS(game_funcs), .origin = "/g"
};
static const plugin_t *const tables[] = { &exec_test };
static const plugin_t *const user_list[] = { &user, NULL }, *const late_list[] = { &late, NULL };
static const plugin_t whole = {
    .kind = PLUGIN_EXEC, .file = "test", .doc = "Whole", FUNCS(user_funcs), .origin = here, .whole = true
};
static const plugin_t *const whole_list[] = { &whole, &game, NULL };
static const plugin_t *const more_list[] = { &user, &game, NULL };

typedef struct fixture {
    toy_t *before, *after;
    registry_t *registry;
    call_ctx_t *ctx;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    const plugin_source_env_t env = { .kind = PLUGIN_EXEC, .tables = tables, .n_tables = NELEMS(tables) };

    f->before = toy_new(user_list, more_list);
    f->after = toy_new(late_list, NULL);
    plugin_source_t *const sources[] = { &f->before->source, source_tables_new(&env), NULL,
                                         &f->after->source };
    f->registry = registry_of(PLUGIN_EXEC, sources, NELEMS(sources));
    f->ctx = call_ctx_new(&(call_env_t){ .registry = f->registry });
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    call_ctx_destroy(&f->ctx);
    registry_destroy(&f->registry);
    free(f);
    return 0;
}

static void
expect_call(fixture_t *f, const char *fun, const char *want)
{
    call_result_t res;
    json_auto_t *arg = json_pack("[i]", 1);

    call_run(f->ctx, fun, strcmp(fun, "test.echo") == 0 ? NULL : arg, NULL, &res);
    AUTO_FREE char *text = value_pystr(res.value);
    assert_string_equal(text, want);
    call_result_free(&res);
}

/* One line for each function: its name, who provides it, of what. */
static void
add_line(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    json_array_append_new(cookie, value_fmt("%s %s %s", name, p->file, plugin_origin(p)));
}

static void
add_plugin(void *cookie, const plugin_t *p, const char *why)
{
    json_array_append_new(cookie, value_fmt("%s: %s", p->file, why != NULL ? why : "usable"));
}

static void
expect_list(json_t *list, const char *want)
{
    AUTO_FREE char *text = value_pystr(list);

    assert_string_equal(text, want);
}

static void
expect_functions(fixture_t *f, call_ctx_t *ctx, const char *want)
{
    json_auto_t *list = json_array();

    registry_each(f->registry, ctx, add_line, list);
    expect_list(list, want);
}

static void
expect_plugins(fixture_t *f, const char *want)
{
    json_auto_t *list = json_array();

    registry_each_plugin(f->registry, f->ctx, add_plugin, list);
    expect_list(list, want);
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void
test_precedence(void **state)
{
    fixture_t *f = *state;

    expect_call(f, "test.ping", "['user.ping', [1]]");
    expect_call(f, "test.pong", "['user.pong', [1]]");
    expect_call(f, "test.echo", "built in echo");
    expect_call(f, "test.rest", "['late.rest', [1]]");
    expect_call(f, "test.none", "'test.none' is not available. Did you mean 'test.pong'?");
    expect_call(f, "game.play", "'game.play' is not available.");
    assert_ptr_equal(registry_provider(f->registry, f->ctx, "test"), &user);
    assert_null(registry_provider(f->registry, f->ctx, "game"));
}

static void
test_listing(void **state)
{
    fixture_t *f = *state;
    json_auto_t *names = registry_names(f->registry, "test.p");
    static const char all[] =
        "['test.ping test /srv/modules/test.py', 'test.pong test /srv/modules/test.py', "
        "'test.echo test built in', 'test.rest test_late /l']";

    expect_functions(f, f->ctx, all);
    expect_functions(f, NULL, all);
    expect_list(names, "['test.ping', 'test.pong']");
    expect_plugins(f, "['test: usable', 'test: usable', 'test_late: usable']");
}

/* What several sources have counts as harmless only when all of it is. */
static void
test_flags(void **state)
{
    fixture_t *f = *state;

    assert_true(registry_all(f->registry, "test.echo", FN_READONLY));
    assert_false(registry_all(f->registry, "test.ping", FN_READONLY));
}

static void
test_docs(void **state)
{
    fixture_t *f = *state;
    call_result_t res;

    call_run(f->ctx, "test.pi", NULL, NULL, &res);
    assert_non_null(strstr(value_str(res.value, "test.ping", ""), "User's ping."));
    assert_int_equal(json_object_size(res.value), 2);
    call_result_free(&res);
}

static void
expect_missing(fixture_t *f, const char *fun, const char *want)
{
    AUTO_FREE char *text = call_missing(f->ctx, fun);

    assert_string_equal(text, want);
}

static void
test_suggestions(void **state)
{
    fixture_t *f = *state;

    expect_missing(f, "test.pnog", "'test.pnog' is not available. Did you mean 'test.pong'?");
    expect_missing(f, "elsewhere.pong", "'elsewhere.pong' is not available.");
    expect_missing(f, "test.rset", "'test.rset' is not available. Did you mean 'test.rest'?");
    expect_missing(f, "test.ehco", "'test.ehco' is not available. Did you mean 'test.echo'?");
    expect_missing(f, "gaem", "There is no module 'gaem'.");
    assert_int_equal(registry_refresh(f->registry, f->ctx, NULL), 0);
    expect_missing(f, "gaem", "There is no module 'gaem'. Did you mean 'game'?");
    expect_missing(f, "test.rset", "'test.rset' is not available.");
}

static void
test_refresh(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    const func_t *before = registry_find(f->registry, f->ctx, "test.rest", &err);

    f->before->broken = true;
    assert_int_equal(registry_refresh(f->registry, f->ctx, &err), -EIO);
    assert_string_equal(fail_text(&err), "the toy box is shut");
    assert_false(ctx_has(f->ctx, "game.play"));
    assert_false(ctx_has(f->ctx, "test.rest")); /* the other source has looked again all the same */
    assert_string_equal(before->data.text, "late.rest");
    f->before->broken = false;
    assert_int_equal(registry_refresh(f->registry, f->ctx, NULL), 0);
    expect_call(f, "game.play", "['game.play', [1]]");
    expect_call(f, "test.ping", "['user.ping', [1]]");
    assert_true(registry_all(f->registry, "game.play", FN_READONLY));
}

/* Why a module can't be used is said only where no source can help. */
static void
test_unavailable(void **state)
{
    fixture_t *f = *state;

    f->before->refused = f->after->refused = "test";
    f->before->reason = "no games today";
    f->after->reason = "too late";
    expect_call(f, "test.echo", "built in echo");
    expect_call(f, "test.pong", "'test.pong' is not available.");
    expect_plugins(f, "['test: no games today', 'test: usable', 'test_late: too late']");
    expect_functions(f, f->ctx, "['test.echo test built in', 'test.ping test built in']");
    assert_int_equal(registry_refresh(f->registry, f->ctx, NULL), 0);
    f->before->refused = "game";
    expect_call(f, "game.play", "'game' __virtual__ returned False: no games today");
    assert_null(registry_provider(f->registry, f->ctx, "game"));
}

/* Nothing of a built-in module is left where a plug-in is there instead of it, usable or not. */
static void
test_whole(void **state)
{
    fixture_t *f = *state;

    f->before->now = whole_list;
    expect_call(f, "test.ping", "['user.ping', [1]]");
    expect_call(f, "test.echo", "'test.echo' is not available.");
    expect_functions(f, f->ctx,
                     "['test.ping test /srv/modules/test.py', 'test.pong test /srv/modules/test.py', "
                     "'game.play game /g']");
    f->before->refused = "test";
    f->before->reason = "no games today";
    expect_call(f, "test.echo", "'test' __virtual__ returned False: no games today");
}

/* A file that can't be loaded is named with what is wrong in it. */
static void
test_broken(void **state)
{
    static const plugin_t broken = { .kind = PLUGIN_EXEC,
                                     .file = "half",
                                     .doc = "Half",
                                     FUNCS(game_funcs),
                                     .origin = "/half",
                                     .broken = true };
    static const plugin_t *const list[] = { &broken, NULL };
    fixture_t *f = *state;

    f->before->now = list;
    f->before->refused = "half";
    f->before->reason = "SyntaxError: invalid syntax";
    expect_call(f, "half.play", "'half.play' is not available: /half: SyntaxError: invalid syntax");
}

/* A faulty row is said to be in the file that it came from. */
static void
test_check(void **state)
{
    static const func_t bare[] = { { "play", toy_call, any_args, 0, "Play." } };
    static const plugin_t faulty = {
        .kind = PLUGIN_EXEC, .file = "x", .doc = "X", FUNCS(bare), .origin = "/srv/x.py"
    };
    static const plugin_t *const list[] = { &faulty, NULL };
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(registry_check(f->registry, &err), 0);
    f->after->now = list;
    assert_int_equal(registry_check(f->registry, &err), -EINVAL);
    assert_string_equal(fail_text(&err), "/srv/x.py: the doc of play has no CLI Example");
}

#define FIXTURE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

UNIT_MAIN(FIXTURE_TEST(test_precedence), FIXTURE_TEST(test_listing), FIXTURE_TEST(test_flags),
          FIXTURE_TEST(test_docs), FIXTURE_TEST(test_suggestions), FIXTURE_TEST(test_refresh),
          FIXTURE_TEST(test_unavailable), FIXTURE_TEST(test_whole), FIXTURE_TEST(test_broken),
          FIXTURE_TEST(test_check))
