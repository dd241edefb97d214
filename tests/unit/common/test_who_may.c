/* test_who_may.c - who may call what: the forms of rules, arguments, minions, runners, users and their groups, and which events
 * somebody sees. With arguments it is what tests/oracle/rules.py asks. */
#include "common/rules/rules.h"
#include "common/rules/view.h"
#include "salt/value.h"
#include "unit/unit.h"

/* The minions of a request, and what targets have: {target: [id]}. */
typedef struct world {
    json_t *wanted, *targets;
} world_t;

/* "( a ) or ( b )", as several rules together ask, is the union; any other target is looked up. */
static bool
world_has(const world_t *world, const char *target, const json_t *id)
{
    const char *at = target, *end;

    if (strncmp(target, "( ", 2) != 0)
        return value_has(json_object_get(world->targets, target), id);
    while (at != NULL && (end = strstr(at, " )")) != NULL) {
        char *one = strndup(at + 2, (size_t) (end - at) - 2);
        bool has = value_has(json_object_get(world->targets, one), id);
        free(one);
        if (has)
            return true;
        at = strncmp(end + 2, " or ", 4) == 0 ? end + 6 : NULL;
    }
    return false;
}

static bool
world_covers(void *cookie, const char *target)
{
    const world_t *world = cookie;
    json_t *id;
    size_t i;

    json_array_foreach (world->wanted, i, id)
        if (!world_has(world, target, id))
            return false;
    return json_array_size(world->wanted) > 0;
}

/* One question {rules, fun, arg, form, minions, targets, loose, unite}: true when it is allowed. */
static bool
asked(const json_t *question, rules_found_t *found)
{
    world_t world = { value_get(question, "minions"), value_get(question, "targets") };
    const rules_ask_t ask = { .form = (rules_form_t) value_int(question, "form", 0),
                              .fun = value_str(question, "fun", ""),
                              .arg = value_get(question, "arg"),
                              .loose = value_bool(question, "loose", false),
                              .unite = value_bool(question, "unite", false),
                              .covers = world_covers,
                              .cookie = &world };

    return rules_allow(value_get(question, "rules"), &ask, found);
}

static void
test_forms(void **state)
{
    static const struct {
        const char *question;
        bool allowed;
    } cases[] = {
        { "{'rules': ['test.ping'], 'fun': 'test.ping'}", true },
        { "{'rules': ['test.ping'], 'fun': 'test.pinging'}", true },
        { "{'rules': ['test.ping$'], 'fun': 'test.pinging'}", false },
        { "{'rules': ['ping'], 'fun': 'test.ping'}", false },
        { "{'rules': ['test.*'], 'fun': 'cmd.run'}", false },
        { "{'rules': ['*'], 'fun': 'test.ping'}", false },
        { "{'rules': [], 'fun': 'test.ping'}", false },
        { "{'rules': 'test.*', 'fun': 'test.ping'}", false },
        { "{'rules': [null, 7, ['test.*']], 'fun': 'test.ping'}", false },
        /* Minions. */
        { "{'rules': [{'w*': ['test.*']}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'w*': ['w1']}}",
          true },
        { "{'rules': [{'w*': 'test.*'}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'w*': ['w1']}}",
          true },
        { "{'rules': [{'w*': ['test.*']}], 'fun': 'test.ping', 'minions': ['w1', 'd1'], 'targets': {'w*': ['w1']}}",
          false },
        { "{'rules': [{'w*': ['test.*']}], 'fun': 'test.ping', 'minions': [], 'targets': {'w*': ['w1']}}",
          false },
        { "{'rules': [{'w*': ['test.*'], 'd*': ['test.*']}], 'fun': 'test.ping', 'minions': ['d1'], 'targets': {'d*': ['d1']}}",
          false },
        { "{'rules': [{'w*': ['test.*'], 'd*': ['test.*']}], 'fun': 'test.ping', 'minions': ['d1'], 'targets': {'d*': ['d1']}, 'loose': true}",
          true },
        { "{'rules': [{'w*': ['*.ping']}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'w*': ['w1']}}",
          false },
        { "{'rules': [{'w*': ['*.ping']}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'w*': ['w1']}, 'loose': true}",
          true },
        { "{'rules': [{'w*': '*.ping'}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'w*': ['w1']}, 'loose': true}",
          false },
        { "{'rules': [{'@runner': ['.*']}], 'fun': 'test.ping', 'minions': ['w1'], 'targets': {'@runner': ['w1']}}",
          false },
        /* Several rules for one request. */
        { "{'rules': [{'w*': ['test.*']}, {'d*': ['test.ping']}], 'fun': 'test.ping', 'minions': ['w1', 'd1'], 'targets': {'w*': ['w1'], 'd*': ['d1']}}",
          false },
        { "{'rules': [{'w*': ['test.*']}, {'d*': ['test.ping']}], 'fun': 'test.ping', 'minions': ['w1', 'd1'], 'targets': {'w*': ['w1'], 'd*': ['d1']}, 'unite': true}",
          true },
        { "{'rules': [{'w*': ['test.*']}, {'d*': ['cmd.run']}], 'fun': 'test.ping', 'minions': ['w1', 'd1'], 'targets': {'w*': ['w1'], 'd*': ['d1']}, 'unite': true}",
          false },
        /* Arguments. */
        { "{'rules': [{'w': [{'f.f': {'args': ['a', null]}}]}], 'fun': 'f.f', 'arg': ['abc', 7], 'minions': ['w'], 'targets': {'w': ['w']}}",
          true },
        { "{'rules': [{'w': [{'f.f': {'args': ['a', null]}}]}], 'fun': 'f.f', 'arg': ['abc'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        { "{'rules': [{'w': [{'f.f': {'args': ['a']}}]}], 'fun': 'f.f', 'arg': ['b'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        { "{'rules': [{'w': [{'f.f': {'args': ['True']}}]}], 'fun': 'f.f', 'arg': [true], 'minions': ['w'], 'targets': {'w': ['w']}}",
          true },
        { "{'rules': [{'w': [{'f.f': {'kwargs': {'k': 'v'}}}]}], 'fun': 'f.f', 'arg': [{'__kwarg__': true, 'k': 'v1'}], 'minions': ['w'], 'targets': {'w': ['w']}}",
          true },
        { "{'rules': [{'w': [{'f.f': {'kwargs': {'k': 'v'}}}]}], 'fun': 'f.f', 'arg': ['k=v1'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          true },
        { "{'rules': [{'w': [{'f.f': {'kwargs': {'k': 'v'}}}]}], 'fun': 'f.f', 'arg': ['v'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        { "{'rules': [{'w': [{'f.f': [{'args': ['x']}, {'args': ['b']}]}]}], 'fun': 'f.f', 'arg': ['b'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          true },
        { "{'rules': [{'w': [{'f.f': 'x'}]}], 'fun': 'f.f', 'arg': ['x'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        /* A word may be a keyword for the minion: a name that comes twice is not judged by one of its values. */
        { "{'rules': [{'w': [{'f.f': {'kwargs': {'k': 'v'}}}]}], 'fun': 'f.f', 'arg': ['k=evil', {'__kwarg__': true, 'k': 'v'}], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        { "{'rules': [{'w': [{'f.f': {'kwargs': {'k': 'v'}}}]}], 'fun': 'f.f', 'arg': [{'__kwarg__': true, 'k': 'evil'}, {'__kwarg__': true, 'k': 'v'}], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        { "{'rules': [{'w': [{'f.f': {'args': ['a']}}]}], 'fun': 'f.f', 'arg': ['a=evil'], 'minions': ['w'], 'targets': {'w': ['w']}}",
          false },
        /* Runners and wheel functions. */
        { "{'rules': ['.*'], 'fun': 'jobs.active', 'form': 1}", false },
        { "{'rules': ['@runner'], 'fun': 'jobs.active', 'form': 1}", true },
        { "{'rules': ['@runners'], 'fun': 'jobs.active', 'form': 1}", true },
        { "{'rules': ['@runner'], 'fun': 'key.delete', 'form': 2}", false },
        { "{'rules': ['@wheels'], 'fun': 'key.delete', 'form': 2}", true },
        { "{'rules': ['@jobs'], 'fun': 'jobs.active', 'form': 1}", true },
        { "{'rules': ['@job'], 'fun': 'jobs.active', 'form': 1}", false },
        { "{'rules': ['@jobs'], 'fun': 'jobs.active'}", false },
        { "{'rules': [{'@runner': ['jobs.*']}], 'fun': 'jobs.active', 'form': 1}", true },
        { "{'rules': [{'@runner': ['jobs.*']}], 'fun': 'cache.clear_all', 'form': 1}", false },
        { "{'rules': [{'@jobs': ['active', 'list_.*']}], 'fun': 'jobs.list_jobs', 'form': 1}", true },
        { "{'rules': [{'@jobs': ['jobs.active']}], 'fun': 'jobs.active', 'form': 1}", false },
        { "{'rules': [{'@runner': [{'jobs.lookup_jid': {'kwargs': {'jid': '2026'}}}]}], 'fun': 'jobs.lookup_jid', 'arg': [{'__kwarg__': true, 'jid': '2026123'}], 'form': 1}",
          true },
        { "{'rules': [{'@runner': [{'jobs.lookup_jid': {'kwargs': {'jid': '2026'}}}]}], 'fun': 'jobs.lookup_jid', 'arg': [], 'form': 1}",
          false },
        { "{'rules': ['@runner'], 'fun': 'jobs', 'form': 1}", false },
        { "{'rules': ['@runner'], 'fun': 'jobs.a.b', 'form': 1}", false },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        char *text = strdup(cases[i].question);
        for (char *p = text; *p != '\0'; p++)
            if (*p == '\'')
                *p = '"';
        json_auto_t *question = json_loads(text, 0, NULL);
        assert_non_null(question);
        if (asked(question, NULL) != cases[i].allowed)
            fail_msg("%s: expected %d", text, cases[i].allowed);
        free(text);
    }
}

static void
test_found(void **state)
{
    json_auto_t *question = json_pack("{s:[s, {s:[s, s]}], s:s, s:[s], s:{s:[s]}}", "rules", "cmd.run", "w*",
                                      "x.y", "test.*", "fun", "test.ping", "minions", "w1", "targets", "w*",
                                      "w1");
    rules_found_t found;

    assert_true(asked(question, &found));
    assert_int_equal(found.at, 1);
    assert_string_equal(found.target, "w*");
    assert_string_equal(found.call, "test.*");
}

static void
test_work(void **state)
{
    match_work_t work;
    const rules_ask_t ask = { .fun = "test.ping", .covers = world_covers, .work = &work };
    json_auto_t *rules = json_pack("[s]", "test.*");

    match_work_begin(&work, 100, 1000);
    assert_false(rules_allow(rules, &ask, NULL));
    json_auto_t *words = json_pack("[s]", "x");
    assert_true(rules_forbid(words, "test.ping", &work));
    assert_false(rules_forbid(words, "test.ping", NULL));
    assert_true(rules_forbid(json_array_get(words, 0), "x", NULL));
}

static void
test_users(void **state)
{
    static const struct {
        const char *user, *groups, *by;
        bool permissive;
    } cases[] = {
        { "ann", "[]", "[\"ann\",\"a*\"]", false },
        { "amy", "[]", "[\"a*\"]", false },
        { "bob", "[]", "[\"*\"]", false },
        { "bob", "[\"ops\"]", "[\"ops%\",\"*\"]", false },
        { "ann", "[\"ops\"]", "[\"ann\",\"a*\",\"ops%\"]", false },
        { "ann", "[\"ops\", \"op\"]", "[\"ann\",\"a*\",\"ops%\",\"*\"]", true },
        /* A name is no pattern, and no parameter's. */
        { "*", "[]", "[\"*\"]", false },
        { ".*", "[]", "[\"*\"]", false },
        { "filename", "[]", "[\"*\"]", false },
        { "^filename", "[]", "[\"*\"]", false },
        { "ops%", "[]", "[\"*\"]", false },
        { "annx", "[]", "[\"a*\"]", false },
        { "c.d", "[]", "[\"c.d\"]", false },
        { "cxd", "[]", "[\"*\"]", false },
    };
    json_auto_t *system = json_loads(
        "{\"^filename\": \"/x\", \"ann\": [\"a\"], \"a*\": [\"b\"], \"ops%\": [\"c\"],"
        " \"*\": [\"d\"], \"c.d\": [\"e\"]}",
        0, NULL);

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_t *by = NULL;
        json_auto_t *groups = json_loads(cases[i].groups, 0, NULL);
        json_auto_t *rules = rules_of_user(system, cases[i].user, groups, cases[i].permissive, &by);
        char *text = value_dump(by);
        assert_string_equal(text, cases[i].by);
        assert_int_equal(json_array_size(rules), json_array_size(by));
        free(text);
        json_decref(by);
    }
}

static void
test_shown(void **state)
{
    json_auto_t *rules = json_loads("[\"z\", {\"w\": [\"b\"]}, \"a\", \"z\", {\"w\": [\"b\"]}, \"@runner\"]",
                                    0, NULL);
    json_auto_t *shown = rules_shown(rules);
    char *text = value_dump(shown);

    assert_string_equal(text, "[\"@runner\",\"a\",\"z\",{\"w\":[\"b\"]}]");
    free(text);
    assert_false(rules_are_all(rules));
    json_auto_t *all = json_pack("[s, s, s]", "@wheel", ".*", "@runners");
    assert_true(rules_are_all(all));
}

static const char *
owner(void *cookie, const char *jid)
{
    return strcmp(jid, "1") == 0 ? "ann" : NULL;
}

static bool
view_covers(void *cookie, const char *target, const json_t *ids)
{
    world_t world = { (json_t *) ids, cookie };

    return world_covers(&world, target);
}

static void
test_view(void **state)
{
    static const struct {
        const char *tag, *data;
        bool seen;
    } cases[] = {
        { "salt/job/1/new", "{}", true },
        { "salt/job/1/ret/d1", "{\"id\": \"d1\", \"fun\": \"cmd.run\"}", true },
        { "salt/job/2/ret/w1", "{\"id\": \"w1\", \"fun\": \"test.ping\"}", true },
        { "salt/job/2/ret/w1", "{\"id\": \"w1\", \"fun\": \"cmd.run\"}", false },
        { "salt/job/2/ret/d1", "{\"id\": \"d1\", \"fun\": \"test.ping\"}", false },
        { "salt/job/2/new", "{\"minions\": [\"w1\"], \"fun\": \"test.ping\"}", true },
        { "salt/job/2/new", "{\"minions\": [\"w1\", \"d1\"], \"fun\": \"test.ping\"}", false },
        { "salt/job/2/new", "{\"minions\": [], \"fun\": \"test.ping\"}", false },
        { "salt/job/2/new",
          "{\"minions\": [\"w1\"], \"fun\": [\"test.ping\", \"test.arg\"], \"arg\": [[], []]}", true },
        { "salt/job/2/new", "{\"minions\": [\"w1\"], \"fun\": [\"test.ping\", \"cmd.run\"]}", false },
        { "salt/job/2/new", "{\"user\": \"ann\"}", false },
        { "salt/run/1/ret", "{}", true },
        { "salt/run/2/new", "{\"fun\": \"runner.jobs.active\"}", true },
        { "salt/run/2/new", "{\"fun\": \"runner.cache.clear_all\"}", false },
        { "salt/run/2/new", "{\"fun\": \"jobs.active\"}", false },
        { "salt/wheel/2/new", "{\"fun\": \"wheel.key.accept\"}", false },
        { "salt/auth", "{\"id\": \"w1\"}", false },
        { "salt/key", "{}", false },
        { "my/own", "{\"fun\": \"test.ping\", \"id\": \"w1\"}", false },
    };
    json_auto_t *rules = json_loads("[{\"w*\": [\"test.*\"]}, \"@jobs\"]", 0, NULL);
    json_auto_t *targets = json_loads("{\"w*\": [\"w1\", \"w2\"]}", 0, NULL);
    const rules_view_t view = {
        .user = "ann", .rules = rules, .owner = owner, .covers = view_covers, .cookie = targets
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *data = json_loads(cases[i].data, 0, NULL);
        if (rules_sees(&view, cases[i].tag, data) != cases[i].seen)
            fail_msg("%s %s: expected %d", cases[i].tag, cases[i].data, cases[i].seen);
    }
}

/* Questions of standard input, one a line; an answer a line: 1 or 0. */
static int
answer_all(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, stdin)) > 0) {
        json_auto_t *question = json_loadb(line, (size_t) n, 0, NULL);
        puts(asked(question, NULL) ? "1" : "0");
    }
    free(line);
    return 0;
}

int unit_main(int argc, char **argv);
#define main unit_main
UNIT_MAIN(cmocka_unit_test(test_forms), cmocka_unit_test(test_found), cmocka_unit_test(test_work),
          cmocka_unit_test(test_users), cmocka_unit_test(test_shown), cmocka_unit_test(test_view))
#undef main

int
main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "--answer") == 0 ? answer_all() : unit_main(argc, argv);
}
