/* test_match.c - targets: the tables in tests/cases/match hold what Python's fnmatch, re and ipaddress and
 * Salt's own matchers answer. */
#include "common/match/batchsize.h"
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/value.h"

static json_t *
load(const char *name)
{
    json_error_t error;
    AUTO_FREE char *path = xasprintf("%s/tests/cases/match/%s", TEST_SOURCE_DIR, name);
    json_t *cases = json_load_file(path, 0, &error);

    if (cases == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return cases;
}

typedef bool check_fn(const char *pattern, const char *text);

static void
check_texts(const json_t *row, const char *list, bool expected, check_fn *check)
{
    const char *pattern = value_str(row, "pattern", NULL);
    size_t i;
    json_t *text;

    json_array_foreach (value_get(row, list), i, text) {
        if (check(pattern, json_string_value(text)) != expected)
            fail_msg("pattern '%s' and text '%s': expected %d", pattern, json_string_value(text), expected);
    }
}

static void
test_glob(void **state)
{
    json_auto_t *cases = load("glob.json");
    size_t i;
    json_t *row;

    json_array_foreach (cases, i, row) {
        check_texts(row, "matches", true, match_glob);
        check_texts(row, "not", false, match_glob);
    }
    assert_true(match_has_glob("a[b]") && match_has_glob("*") && match_has_glob("?") &&
                !match_has_glob("a]b"));
}

static bool
check_pcre(const char *pattern, const char *text)
{
    fail_auto_t err = FAIL_INIT;
    bool matched = match_pcre(pattern, text, &err);

    if (err.code != 0)
        fail_msg("pattern '%s': %s", pattern, fail_text(&err));
    return matched;
}

static void
test_pcre(void **state)
{
    json_auto_t *cases = load("pcre.json");
    size_t i;
    json_t *row;

    json_array_foreach (cases, i, row) {
        fail_auto_t err = FAIL_INIT;
        if (value_bool(row, "error", false)) {
            assert_false(match_pcre(value_str(row, "pattern", NULL), "web", &err));
            assert_int_equal(err.code, -EINVAL);
            continue;
        }
        check_texts(row, "matches", true, check_pcre);
        check_texts(row, "not", false, check_pcre);
    }
}

static void
test_subdict(void **state)
{
    json_auto_t *file = load("subdict.json");
    const json_t *data = value_get(file, "data");
    size_t i;
    json_t *row;

    json_array_foreach (value_get(file, "cases"), i, row) {
        const char *how = value_str(row, "how", ""), *expr = value_str(row, "expr", NULL);
        bool matched = match_subdict(data, expr, value_str(row, "delim", NULL), str_eq(how, "regex"),
                                     str_eq(how, "exact"));
        if (matched != value_bool(row, "match", false))
            fail_msg("%s '%s' (delimiter %s): got %d", how, expr, value_str(row, "delim", ":"), matched);
    }
    assert_false(match_subdict(NULL, "a:b", ":", false, false));
}

/* Wildcards over wide nested data end after a bounded number of steps. */
static void
test_subdict_is_bounded(void **state)
{
    json_auto_t *data = json_object();

    for (int depth = 0; depth < 12; depth++) {
        json_t *outer = json_object();
        for (int i = 0; i < 6; i++) {
            AUTO_FREE char *key = xasprintf("k%d", i);
            json_object_set(outer, key, data);
        }
        json_decref(data);
        data = outer;
    }
    assert_false(match_subdict(data, "*:*:*:*:*:*:*:*:*:*:*:*:nosuch", ":", false, false));
}

static void
test_ipcidr(void **state)
{
    json_auto_t *file = load("ipcidr.json");
    size_t i;
    json_t *row;

    json_array_foreach (value_get(file, "cases"), i, row) {
        const char *cidr = value_str(row, "cidr", NULL);
        fail_auto_t err = FAIL_INIT;
        target_t *target = target_new(value_get(row, "cidr"), TGT_IPCIDR, NULL, NULL, &err);
        if ((target == NULL) != value_bool(row, "error", false))
            fail_msg("'%s': %s", cidr, fail_text(&err));
        if (match_ipcidr(cidr, value_get(file, "grains")) != value_bool(row, "match", false))
            fail_msg("'%s': expected %d", cidr, value_bool(row, "match", false));
        target_destroy(&target);
    }
}

static bool
match_once(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const match_subject_t *subject)
{
    target_t *target = target_new(expr, type, nodegroups, NULL, NULL);
    bool matched = target != NULL && target_match(target, subject);

    target_destroy(&target);
    return matched;
}

static void
test_compound(void **state)
{
    json_auto_t *file = load("compound.json");
    const json_t *who = value_get(file, "subject");
    match_subject_t subject = { value_str(who, "id", NULL), value_get(who, "grains"),
                                value_get(who, "pillar"), NULL };
    size_t i;
    json_t *row;

    json_array_foreach (value_get(file, "cases"), i, row) {
        AUTO_FREE char *expr = value_pystr(value_get(row, "expr"));
        bool matched = match_once(value_get(row, "expr"), TGT_COMPOUND, value_get(file, "nodegroups"),
                                  &subject);
        if (matched != value_bool(row, "match", false))
            fail_msg("'%s': got %d", expr, matched);
    }
}

/* A node group is a set: what stands beside it does not reach into it. */
static void
test_nodegroup_is_one_term(void **state)
{
    json_auto_t *groups = json_pack("{s:s}", "g", "L@web1 or L@db1");
    json_auto_t *expr = json_string("N@g and db*"), *negated = json_string("not N@g"),
                *name = json_string("g");
    match_subject_t subject = { "web1", NULL, NULL, NULL };

    assert_false(match_once(expr, TGT_COMPOUND, groups, &subject));
    assert_false(match_once(negated, TGT_COMPOUND, groups, &subject));
    assert_true(match_once(name, TGT_NODEGROUP, groups, &subject));
}

/* Which targets go by what a minion says of itself: all that look at a grain which is not its id. */
static void
test_claims(void **state)
{
    json_auto_t *groups = json_pack("{s:s, s:s, s:s}", "web", "G@role:web", "ids", "L@a,b", "outer",
                                    "N@ids or N@web");
    static const struct {
        const char *expr;
        tgt_type_t type;
        const char *delim;
        bool claims;
    } rows[] = {
        { "role:web", TGT_GRAIN, NULL, true },
        { "id:db1", TGT_GRAIN, NULL, false },
        { "id:db*", TGT_GRAIN, NULL, false },
        { "id:db.*", TGT_GRAIN_PCRE, NULL, false },
        { "role:w.*", TGT_GRAIN_PCRE, NULL, true },
        { "ID:db1", TGT_GRAIN, NULL, true },
        { "ids:db1", TGT_GRAIN, NULL, true },
        { "*:db1", TGT_GRAIN, NULL, true },
        { "i*:db1", TGT_GRAIN, NULL, true },
        { "id;db1", TGT_GRAIN, ";", false },
        { "id:x;db1", TGT_GRAIN, ";", true },
        { "a:id:db1", TGT_GRAIN, NULL, true },
        { "10.0.0.0/8", TGT_IPCIDR, NULL, true },
        { "role:web", TGT_PILLAR, NULL, false },
        { "db*", TGT_GLOB, NULL, false },
        { "a,b", TGT_LIST, NULL, false },
        { "db.*", TGT_PCRE, NULL, false },
        { "db* and not G@role:web", TGT_COMPOUND, NULL, true },
        { "G@id:db1 or E@db\\d or L@a,b or I@x:y", TGT_COMPOUND, NULL, false },
        { "P@id:db or S@10.0.0.1", TGT_COMPOUND, NULL, true },
        { "N@web", TGT_COMPOUND, NULL, true },
        { "web", TGT_NODEGROUP, NULL, true },
        { "outer", TGT_NODEGROUP, NULL, true },
        { "ids", TGT_NODEGROUP, NULL, false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *expr = json_string(rows[i].expr);
        fail_auto_t err = FAIL_INIT;
        AUTO(target) target = target_new(expr, rows[i].type, groups, rows[i].delim, &err);
        if (target == NULL)
            fail_msg("'%s': %s", rows[i].expr, fail_text(&err));
        if (target_needs_claims(target) != rows[i].claims)
            fail_msg("'%s': expected %d", rows[i].expr, rows[i].claims);
    }
}

static void
test_nodegroup_target(void **state)
{
    json_auto_t *groups = json_pack("{s:s, s:s, s:[s, s], s:[s, s, s], s:s}", "web", "G@role:web or E@w\\d",
                                    "front", "N@web and not N@ids", "ids", "web1", "db1", "spaced",
                                    "G@os:Mint 9", "or", "N@ids", "loop", "N@loop");
    static const char *const rows[][2] = {
        { "web", "\"( G@role:web or E@w\\\\d )\"" },
        { "front", "\"( ( G@role:web or E@w\\\\d ) and not L@web1,db1 )\"" },
        { "ids", "\"L@web1,db1\"" },
        { "spaced", "[\"(\",\"G@os:Mint 9\",\"or\",\"L@web1,db1\",\")\"]" },
    };
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *target = nodegroup_target(rows[i][0], groups, NULL);
        AUTO_FREE char *text = value_dump(target);
        assert_string_equal(text, rows[i][1]);
    }
    assert_null(nodegroup_target("loop", groups, &err));
    assert_non_null(strstr(fail_text(&err), "contains itself"));
    assert_null(nodegroup_target("nosuch", groups, NULL));
}

/* 2^20 words when written out. */
static void
add_bomb(json_t *groups)
{
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *name = xasprintf("bomb%d", i);
        json_object_set_new(groups, name, value_fmt("N@bomb%d or N@bomb%d", i + 1, i + 1));
    }
    json_object_set_new(groups, "bomb20", json_string("a or b"));
}

static void
test_errors(void **state)
{
    json_auto_t *cases = load("errors.json");
    json_auto_t *groups = json_pack("{s:s, s:s, s:s, s:i}", "loop", "x or N@loop2", "loop2", "N@loop",
                                    "empty", "", "num", 5);
    size_t i;
    json_t *row;

    add_bomb(groups);
    json_array_foreach (cases, i, row) {
        fail_auto_t err = FAIL_INIT;
        tgt_type_t type;
        assert_true(tgt_type_parse(value_str(row, "type", NULL), &type));
        assert_null(target_new(value_get(row, "expr"), type, groups, NULL, &err));
        assert_string_equal(fail_text(&err), value_str(row, "error", NULL));
    }
}

static json_t *
repeat(const char *text, size_t n, const char *end)
{
    size_t len = strlen(text);
    AUTO_FREE char *all = xcalloc(n * len + strlen(end) + 1, 1);

    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, text, len);
    strcpy(all + n * len, end);
    return json_string(all);
}

static void
check_refused(json_t *expr, tgt_type_t type)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(target_new(expr, type, NULL, NULL, &err));
    assert_int_equal(err.code, -E2BIG);
    json_decref(expr);
}

static void
test_limits(void **state)
{
    match_subject_t subject = { "x", NULL, NULL, NULL };
    json_auto_t *many = repeat("y or ", 20000, "x"), *bad_regex = json_string("(x+x+)+y");
    match_subject_t slow = { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NULL, NULL, NULL };

    check_refused(repeat("( ", LIMIT_TARGET_DEPTH + 1, "x"), TGT_COMPOUND);
    check_refused(repeat("x", LIMIT_TARGET_LEN + 1, ""), TGT_GLOB);
    check_refused(repeat("a:", LIMIT_TARGET_DEPTH + 1, "x"), TGT_GRAIN);
    check_refused(repeat("y or ", LIMIT_TARGET_TERMS, "x"), TGT_COMPOUND);
    assert_true(match_once(many, TGT_COMPOUND, NULL, &subject));
    assert_false(match_once(bad_regex, TGT_PCRE, NULL, &slow));
}

/* Steps that one target takes of one subject's grains; SIZE_MAX: more than a question may. */
static size_t
steps_of(const char *expr, tgt_type_t type, json_t *grains)
{
    match_work_t work;
    match_subject_t subject = { "web1", grains, NULL, &work };
    json_auto_t *text = json_string(expr);

    match_work_begin(&work, LIMIT_WORK_STEPS, LIMIT_WORK_ADMIN_TIME);
    target_t *target = target_new_within(text, type, NULL, NULL, &work, NULL);
    assert_non_null(target);
    bool matched = target_match(target, &subject);
    target_destroy(&target);
    assert_false(matched && work.spent);
    return work.spent ? SIZE_MAX : (size_t) (LIMIT_WORK_STEPS - work.steps);
}

/* A question has a bound in all, whatever it is made of: values, regular expressions, wildcards, long texts. */
static void
test_work(void **state)
{
    json_auto_t *list = json_array(), *nested = json_array();
    buf_auto_t a = BUF_INIT, half = BUF_INIT;

    for (size_t i = 0; i < 8000; i++)
        json_array_append_new(list, json_string("aaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    for (size_t i = 0; i < 100000; i++)
        json_array_append_new(nested, json_integer(1));
    buf_fill(&a, 'a', 1000000);
    buf_puts(&a, "b");
    buf_puts(&half, "x:*");
    buf_fill(&half, 'a', LIMIT_TERM_LEN / 2);
    buf_puts(&half, "[cd]");
    json_auto_t *grains = json_pack("{s:s, s:O, s:O, s:s}", "os", "Debian", "x", list, "n", nested, "long",
                                    buf_str(&a));
    json_auto_t *text = json_pack("{s:O}", "x", value_get(grains, "long"));
    assert_in_range(steps_of("G@os:Deb* and P@os:(Debian|Ubuntu) and not E@db.*", TGT_COMPOUND, grains), 5,
                    200);
    assert_true(steps_of("x:(a+)+[cd]", TGT_GRAIN_PCRE, grains) == SIZE_MAX);
    assert_true(steps_of("not P@x:(a+)+[cd]", TGT_COMPOUND, grains) == SIZE_MAX);
    assert_true(steps_of("x:(?:(?=[^b]*+b)a)*+[cd]", TGT_GRAIN_PCRE, text) == SIZE_MAX);
    assert_true(steps_of(buf_str(&half), TGT_GRAIN, text) == SIZE_MAX);
    assert_in_range(steps_of("n:0:0:0:0:0:0:x", TGT_GRAIN, grains), 100000 / 16, LIMIT_WORK_STEPS);
}

/* What is asked for has a bound before anything is matched: patterns become much larger when they are
 * compiled. */
static void
test_work_of_parsing(void **state)
{
    json_auto_t *many = repeat("P@x:(a{1,999}){1,30} or ", 3000, "x"), *few = json_string("P@x:a+ or x");
    json_auto_t *lengthy = repeat("a", LIMIT_TERM_LEN + 1, ""), *ids = repeat("web1,", 5000, "x");
    const struct {
        json_t *expr;
        tgt_type_t type;
        int code;
    } rows[] = { { many, TGT_COMPOUND, -EDQUOT },
                 { lengthy, TGT_PCRE, -E2BIG },
                 { lengthy, TGT_GLOB, -E2BIG },
                 { few, TGT_COMPOUND, 0 },
                 { ids, TGT_LIST, 0 } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        match_work_t work;
        match_work_begin(&work, LIMIT_WORK_STEPS / 100, LIMIT_WORK_ADMIN_TIME);
        target_t *target = target_new_within(rows[i].expr, rows[i].type, NULL, NULL, &work, &err);
        assert_int_equal(err.code, rows[i].code);
        assert_true((target != NULL) == (rows[i].code == 0));
        target_destroy(&target);
    }
}

static void
test_lists(void **state)
{
    static const char *const texts[] = { "web1,db1", "web1 db1", "web1, db1", ",web1,,db1 ," };
    json_auto_t *array = json_pack("[s, s, s]", "web1", "db1", "web1");
    json_auto_t *expected = json_pack("[s, s]", "web1", "db1");
    match_subject_t yes = { "db1", NULL, NULL, NULL }, no = { "db", NULL, NULL, NULL };

    for (size_t i = 0; i <= NELEMS(texts); i++) {
        json_auto_t *text = i < NELEMS(texts) ? json_string(texts[i]) : json_incref(array);
        target_t *target = target_new(text, TGT_LIST, NULL, NULL, NULL);
        json_auto_t *ids = target_ids(target);
        assert_true(target_match(target, &yes) && !target_match(target, &no));
        assert_true(json_equal(ids, expected));
        target_destroy(&target);
    }
}

static void
test_what_a_target_tells(void **state)
{
    static const struct {
        tgt_type_t type;
        const char *expr;
        bool grains, pillar;
        const char *id;
    } rows[] = {
        { TGT_GLOB, "web1", false, false, "web1" },
        { TGT_GLOB, "web*", false, false, NULL },
        { TGT_PCRE, "web1", false, false, NULL },
        { TGT_GRAIN, "a:b", true, false, NULL },
        { TGT_GRAIN_PCRE, "a:b", true, false, NULL },
        { TGT_PILLAR, "a:b", false, true, NULL },
        { TGT_PILLAR_PCRE, "a:b", false, true, NULL },
        { TGT_PILLAR_EXACT, "a:b", false, true, NULL },
        { TGT_IPCIDR, "10.0.0.1", true, false, NULL },
        { TGT_COMPOUND, "web1", false, false, NULL },
        { TGT_COMPOUND, "x or not ( G@a:b and I@a:b )", true, true, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *expr = json_string(rows[i].expr);
        target_t *target = target_new(expr, rows[i].type, NULL, NULL, NULL);
        json_auto_t *ids = target_ids(target);
        assert_int_equal(target_needs_grains(target), rows[i].grains);
        assert_int_equal(target_needs_pillar(target), rows[i].pillar);
        assert_int_equal(ids != NULL, rows[i].id != NULL);
        if (ids != NULL)
            assert_string_equal(json_string_value(json_array_get(ids, 0)), rows[i].id);
        target_destroy(&target);
    }
}

static void
test_type_names(void **state)
{
    tgt_type_t type;

    for (int i = 0; i < TGT_TYPES; i++) {
        assert_true(tgt_type_parse(tgt_type_name((tgt_type_t) i), &type));
        assert_int_equal(type, i);
    }
    assert_false(tgt_type_parse("range", &type));
    assert_false(tgt_type_parse("nosuch", &type));
}

/* A name with dots is one name; whatever has a sign of a pattern stays one, for the whole text. */
static void
test_names(void **state)
{
    static const struct {
        const char *expr, *text;
        bool matches;
    } rows[] = {
        { "db1.example.com", "db1.example.com", true },
        { "db1.example.com", "db1:example_com", false },
        { "web.admin", "web-admin", false },
        { "db1\\.example", "db1.example", true },
        { "db.*", "db1", true },
        { "db[0-9].x", "db1.x", true },
        { "db[0-9].x", "db1.x\n", false },
        { "a|b", "b", true },
        { "a|b", "b\n", false },
        { "web", "web1", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_int_equal(match_name(rows[i].expr, rows[i].text), rows[i].matches);
}

/* Expectations: what salt.cli.batch.Batch.get_bnum answers; -1 where it crashes or never ends. */
static void
test_batch_size(void **state)
{
    static const struct {
        const char *size;
        size_t n;
        long want;
    } cases[] = {
        { "3", 10, 3 },        { "\"3\"", 10, 3 },    { "\"10%\"", 10, 1 },  { "\"10%\"", 19, 1 },
        { "\"10%\"", 20, 2 },  { "\"%50\"", 9, 4 },   { "\"1%\"", 3, 1 },    { "\"100%\"", 7, 7 },
        { "\"33.4%\"", 9, 3 }, { "\"150%\"", 4, 4 },  { "\"0\"", 4, -1 },    { "\"0%\"", 4, -1 },
        { "\"-1\"", 4, -1 },   { "\"many\"", 4, -1 }, { "\"x%\"", 4, -1 },   { "\"%\"", 4, -1 },
        { "\"1.5\"", 4, -1 },  { "0", 4, -1 },        { "null", 4, -1 },     { "\"1e999%\"", 4, -1 },
        { "\"nan%\"", 4, -1 }, { "\" 3\"", 4, 3 },    { "\" 50 %\"", 4, 2 }, { "\"% 50\"", 4, 2 },
        { "\" \"", 4, -1 },    { "\"1 2\"", 4, -1 },  { "\"5%0%\"", 4, -1 },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *size = json_loads(cases[i].size, JSON_DECODE_ANY, NULL);
        if (batch_size(size, cases[i].n) != cases[i].want)
            fail_msg("%s of %zu: %ld", cases[i].size, cases[i].n, batch_size(size, cases[i].n));
    }
}

UNIT_MAIN(cmocka_unit_test(test_batch_size), cmocka_unit_test(test_names), cmocka_unit_test(test_glob),
          cmocka_unit_test(test_pcre), cmocka_unit_test(test_subdict),
          cmocka_unit_test(test_subdict_is_bounded), cmocka_unit_test(test_ipcidr),
          cmocka_unit_test(test_compound), cmocka_unit_test(test_nodegroup_is_one_term),
          cmocka_unit_test(test_nodegroup_target), cmocka_unit_test(test_claims),
          cmocka_unit_test(test_errors), cmocka_unit_test(test_limits), cmocka_unit_test(test_lists),
          cmocka_unit_test(test_work), cmocka_unit_test(test_work_of_parsing),
          cmocka_unit_test(test_what_a_target_tells), cmocka_unit_test(test_type_names))
