/* test_keyselect.c - which keys a glob and an action mean, what is said when there are none, and the action
 * itself. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "keyring/keyaction.h"
#include "salt/value.h"
#include "unit/unit.h"
#include "unit/key_state.h"

static const char table_text[] = "{'minions': ['A1', 'm001', 'm002'], 'minions_pre': ['m003', 'x,y'],"
                                 " 'minions_rejected': ['bad1', 'm003'], 'minions_denied': []}";

/* Single quotes read better in C. */
static json_t *
parse(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);

    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    json_t *v = json_loads(copy, JSON_DECODE_ANY, NULL);

    assert_non_null(v);
    return v;
}

/* Equal, the order of the members included. */
static void
assert_value(const json_t *got, const char *text)
{
    json_auto_t *want = parse(text);
    AUTO_FREE char *a = value_dump(got);
    AUTO_FREE char *b = value_dump(want);

    assert_string_equal(a, b);
}

static void
test_match(void **state)
{
    static const struct {
        const char *globs, *found;
    } cases[] = {
        { "'*'", "{'minions': ['A1', 'm001', 'm002'], 'minions_pre': ['m003', 'x,y'], 'minions_rejected': "
                 "['bad1', 'm003']}" },
        { "'m001'", "{'minions': ['m001']}" },
        { "'m00[23]'", "{'minions': ['m002'], 'minions_pre': ['m003'], 'minions_rejected': ['m003']}" },
        { "'m00?'", "{'minions': ['m001', 'm002'], 'minions_pre': ['m003'], 'minions_rejected': ['m003']}" },
        { "'a1'", "{}" },
        { "'nosuch'", "{}" },
        { "''", "{}" },
        { "'bad1,m002'", "{'minions': ['m002'], 'minions_rejected': ['bad1']}" },
        { "'m001,m*,m001'",
          "{'minions': ['m001', 'm002'], 'minions_pre': ['m003'], 'minions_rejected': ['m003']}" },
        { "'x,y'", "{}" },
        { "['x,y']", "{'minions_pre': ['x,y']}" },
        { "['A1', 3, 'bad*']", "{'minions': ['A1'], 'minions_rejected': ['bad1']}" },
        { "5", "{}" },
    };
    json_auto_t *table = parse(table_text);

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *globs = parse(cases[i].globs);
        json_auto_t *found = keyselect_match(table, globs);

        assert_value(found, cases[i].found);
    }
}

/* A program that names a key means that one. */
static void
test_exact(void **state)
{
    static const struct {
        const char *ids, *found; /* NULL: refused */
    } cases[] = {
        { "'m001'", "{'minions': ['m001']}" },
        { "'m003'", "{'minions_pre': ['m003'], 'minions_rejected': ['m003']}" },
        { "['m001', 'bad1', 'nosuch']", "{'minions': ['m001'], 'minions_rejected': ['bad1']}" },
        { "'M001'", "{}" },
        { "'nosuch'", "{}" },
        { "[]", "{}" },
        { "'x,*'", "{'minions_unfit': ['x,*']}" },
        { "'*'", NULL },
        { "'m00?'", NULL },
        { "'m001,m002'", NULL },
        { "'m001,*'", NULL },
        { "['m001', 'm*']", NULL },
        { "['m001', 10]", NULL },
        { "''", NULL },
        { "10", NULL },
        { "null", NULL },
        { "true", NULL },
        { "{'minions': ['m001']}", NULL },
    };
    json_auto_t *table = parse("{'minions': ['A1', 'm001', 'm002'], 'minions_pre': ['m003'],"
                               " 'minions_rejected': ['bad1', 'm003'], 'minions_unfit': ['x,*']}");

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *ids = parse(cases[i].ids);
        json_auto_t *found = keyselect_exact(table, ids, &err);

        assert_int_equal(found == NULL, cases[i].found == NULL);
        if (found != NULL)
            assert_value(found, cases[i].found);
        else
            assert_true(str_starts(fail_text(&err), "match: "));
    }
}

/* Names that are not ids are nobody's: no pattern means them, and only who deletes can name one. */
static void
test_unfit(void **state)
{
    json_auto_t *table = parse("{'minions': ['m1'], 'minions_pre': ['m2'], 'minions_unfit': ['*', 'm1,*']}");
    json_auto_t *globs = parse("['*', 'm1,*']"), *found = keyselect_match(table, globs);
    json_auto_t *one = keyselect_unfit(table, "m1,*"), *all = keyselect_unfit(table, NULL);
    json_auto_t *only = keyselect_only(table, key_act_from(KEY_ACT_DELETE, 0));
    json_auto_t *accept = keyselect_only(table, key_act_from(KEY_ACT_ACCEPT, KEY_ALL));

    assert_value(found, "{'minions': ['m1'], 'minions_pre': ['m2']}");
    assert_value(one, "{'minions_unfit': ['m1,*']}");
    assert_value(all, "{'minions_unfit': ['*', 'm1,*']}");
    assert_null(keyselect_unfit(table, "m1"));
    assert_null(keyselect_unfit(found, NULL));
    assert_value(only, "{'minions': ['m1'], 'minions_pre': ['m2'], 'minions_unfit': ['*', 'm1,*']}");
    assert_value(accept, "{'minions_pre': ['m2']}");
}

static void
test_only(void **state)
{
    const unsigned acc = KEY_BIT(KEY_ACCEPTED), rej = KEY_BIT(KEY_REJECTED), den = KEY_BIT(KEY_DENIED);
    const struct {
        key_act_t act;
        unsigned include;
        const char *chosen;
    } cases[] = {
        { KEY_ACT_ACCEPT, 0, "{'minions_pre': ['m003', 'x,y']}" },
        { KEY_ACT_ACCEPT, rej, "{'minions_pre': ['m003', 'x,y'], 'minions_rejected': ['bad1', 'm003']}" },
        { KEY_ACT_ACCEPT, acc, "{'minions_pre': ['m003', 'x,y']}" },
        { KEY_ACT_ACCEPT, den, "{'minions_pre': ['m003', 'x,y']}" },
        { KEY_ACT_REJECT, acc, "{'minions_pre': ['m003', 'x,y'], 'minions': ['A1', 'm001', 'm002']}" },
        { KEY_ACT_REJECT, rej, "{'minions_pre': ['m003', 'x,y']}" },
        { KEY_ACT_DELETE, 0,
          "{'minions': ['A1', 'm001', 'm002'], 'minions_pre': ['m003', 'x,y'], 'minions_rejected': ['bad1', "
          "'m003']}" },
    };
    json_auto_t *table = parse(table_text);

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *chosen = keyselect_only(table, key_act_from(cases[i].act, cases[i].include));

        assert_value(chosen, cases[i].chosen);
    }
}

static void
test_status(void **state)
{
    static const struct {
        const char *word, *listed;
    } cases[] = {
        { "acc", "{'minions': ['A1', 'm001', 'm002']}" },
        { "accepted", "{'minions': ['A1', 'm001', 'm002']}" },
        { "pre", "{'minions_pre': ['m003', 'x,y']}" },
        { "un", "{'minions_pre': ['m003', 'x,y']}" },
        { "unaccepted", "{'minions_pre': ['m003', 'x,y']}" },
        { "rejected", "{'minions_rejected': ['bad1', 'm003']}" },
        { "den", "{'minions_denied': []}" },
    };
    json_auto_t *table = parse(table_text);
    json_auto_t *all = keyselect_status(table, "all");

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *listed = keyselect_status(table, cases[i].word);

        assert_true(keyselect_status_valid(cases[i].word));
        assert_value(listed, cases[i].listed);
    }
    assert_value(all, table_text);
    assert_null(keyselect_status(table, "nosuch"));
    assert_false(keyselect_status_valid("nosuch"));
    assert_false(keyselect_status_valid(""));
}

/* Texts as Salt 3006 prints them, but for delete, which looks at every state. */
static void
test_no_match(void **state)
{
    const unsigned acc = KEY_BIT(KEY_ACCEPTED), rej = KEY_BIT(KEY_REJECTED), den = KEY_BIT(KEY_DENIED);
    const struct {
        key_act_t act;
        unsigned include;
        const char *text;
    } cases[] = {
        { KEY_ACT_ACCEPT, 0, "The key glob 'x' does not match any unaccepted keys." },
        { KEY_ACT_ACCEPT, rej, "The key glob 'x' does not match any unaccepted or rejected keys." },
        { KEY_ACT_ACCEPT, rej | den,
          "The key glob 'x' does not match any unaccepted, rejected or denied keys." },
        { KEY_ACT_REJECT, acc, "The key glob 'x' does not match any unaccepted or accepted keys." },
        { KEY_ACT_REJECT, acc | rej, "The key glob 'x' does not match any unaccepted or accepted keys." },
        { KEY_ACT_DELETE, 0, "The key glob 'x' does not match any keys." },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        AUTO_FREE char *text = keyselect_no_match(cases[i].act, cases[i].include, "x");

        assert_string_equal(text, cases[i].text);
    }
}

static void
test_act_names(void **state)
{
    for (int i = 0; i < KEY_ACTS; i++) {
        key_act_t act = KEY_ACTS;

        assert_true(key_act_parse(key_act_name((key_act_t) i), &act));
        assert_int_equal(act, i);
    }
    key_act_t act = KEY_ACT_DELETE;
    assert_false(key_act_parse("destroy", &act));
    assert_int_equal(act, KEY_ACT_DELETE);
    assert_string_equal(key_act_done(KEY_ACT_DELETE), "deleted");
}

/* ---- on files ------------------------------------------------------------------------------------ */

static void
test_actions(void **state)
{
    char dir[] = "/tmp/halite-keyaction-XXXXXX";
    static const uint8_t key[KEY_BYTES] = { 42 };
    fail_auto_t err = FAIL_INIT;

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *master_pub = fs_join(dir, "master.pub");
    AUTO_FREE char *stray = fs_join(dir, "notes.txt");
    AUTO_FREE char *garbage = fs_join(dir, "minions_pre/garbage");
    AUTO(keystore) store = keystore_new(dir, &err);
    AUTO_FREE char *pem = key_public_pem(key);
    char finger[FINGER_LEN];

    assert_non_null(store);
    key_finger(key, finger);
    assert_int_equal(keystore_put(store, "web1", KEY_PENDING, key, &err), 0);
    assert_int_equal(fs_write_quick(garbage, "x", 1, 0644, &err), 0);
    assert_int_equal(fs_write_quick(master_pub, pem, strlen(pem), 0644, &err), 0);
    assert_int_equal(fs_write_quick(stray, "x", 1, 0644, &err), 0);

    json_auto_t *before = keyaction_table_local(store, &err);
    assert_value(
        before,
        "{'minions': [], 'minions_pre': ['garbage', 'web1'], 'minions_rejected': [], 'minions_denied': [],"
        " 'local': ['master.pub']}");
    assert_int_equal(keyaction_one(store, KEY_ACT_ACCEPT, "garbage", KEY_PENDING, &err), -EINVAL);
    fail_clear(&err);
    assert_int_equal(keyaction_one(store, KEY_ACT_ACCEPT, "nosuch", KEY_PENDING, &err), -EINVAL);
    fail_clear(&err);
    assert_int_equal(keyaction_one(store, KEY_ACT_ACCEPT, "web1", KEY_PENDING, &err), 0);
    assert_int_equal(keyaction_one(store, KEY_ACT_REJECT, "garbage", KEY_PENDING, &err), 0);
    json_auto_t *table = keyaction_table(store, &err);
    assert_value(
        table,
        "{'minions': ['web1'], 'minions_pre': [], 'minions_rejected': ['garbage'], 'minions_denied': []}");

    json_auto_t *chosen = parse("{'minions': ['web1', 'gone'], 'local': ['master.pub']}");
    json_auto_t *fingers = keyaction_fingers(store, chosen, "sha256", &err);
    assert_non_null(fingers);
    assert_int_equal(json_object_size(value_get(fingers, "minions")), 1);
    assert_string_equal(value_str(value_get(fingers, "minions"), "web1", ""), finger);
    assert_string_equal(value_str(value_get(fingers, "local"), "master.pub", ""), finger);
    assert_null(keyaction_fingers(store, chosen, "crc7", &err));
    fail_clear(&err);
    json_auto_t *texts = keyaction_texts(store, table, &err);
    assert_string_equal(value_str(value_get(texts, "minions"), "web1", ""), pem);
    assert_string_equal(value_str(value_get(texts, "minions_rejected"), "garbage", ""), "x");
    assert_int_equal(keyaction_one(store, KEY_ACT_DELETE, "web1", KEY_ACCEPTED, &err), 0);
    assert_int_equal(key_state_of(store, "web1"), KEY_UNKNOWN);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_match), cmocka_unit_test(test_exact), cmocka_unit_test(test_unfit),
          cmocka_unit_test(test_only), cmocka_unit_test(test_status), cmocka_unit_test(test_no_match),
          cmocka_unit_test(test_act_names), cmocka_unit_test(test_actions))
