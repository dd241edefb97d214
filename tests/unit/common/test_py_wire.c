/* test_py_wire.c - every value that a pillar can hold comes back as it was, and odd JSON harms nobody. */
#include <inttypes.h>

#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/py/py_error.h"
#include "common/py/py_ops.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "common/py/py_yaml.h"
#include "salt/value.h"

/* YAML in, its wire form, and Python's repr of what comes back. */
static const struct {
    const char *yaml, *wire, *repr;
} rows[] = {
    { "{a: 1, b: [x, null, true, 1.5]}", "{\"a\":1,\"b\":[\"x\",null,true,1.5]}",
      "{'a': 1, 'b': ['x', None, True, 1.5]}" },
    { "{2: a, true: b, null: c, 1.5: d}",
      "{\"$py\":[\"dict\",[[2,\"a\"],[true,\"b\"],[null,\"c\"],[1.5,\"d\"]]]}", NULL },
    { "{\"$py\": x}", "{\"$py\":[\"dict\",[[\"$py\",\"x\"]]]}", "{'$py': 'x'}" },
    { "123456789012345678901234567890", "{\"$py\":[\"int\",\"123456789012345678901234567890\"]}",
      "123456789012345678901234567890" },
    { ".inf", "{\"$py\":[\"float\",\"inf\"]}", "inf" },
    { "-.inf", "{\"$py\":[\"float\",\"-inf\"]}", "-inf" },
    { ".nan", "{\"$py\":[\"float\",\"nan\"]}", "nan" },
    { "!!binary AAECAw==", "{\"$py\":[\"bytes\",\"AAECAw==\"]}", "b'\\x00\\x01\\x02\\x03'" },
    { "!!set {a, b}", "{\"$py\":[\"set\",[\"a\",\"b\"]]}", NULL },
    { "\"\\0\"", "\"\\u0000\"", "'\\x00'" },
    { "{\"a\\0\": 1}", "{\"$py\":[\"dict\",[[\"a\\u0000\",1]]]}", "{'a\\x00': 1}" },
    { "[]", "[]", "[]" },
    { "{}", "{}", "{}" },
};

static void
check_row(size_t i)
{
    yproblem_t problem = YPROBLEM_INIT;
    AUTO(py) v = py_yaml_load(rows[i].yaml, strlen(rows[i].yaml), false, &problem);
    if (v == NULL)
        fail_msg("%s: %s", rows[i].yaml, problem.text ? problem.text : py_raised_text());
    json_auto_t *wire = py_to_wire(v);
    AUTO_FREE char *text = value_dump(wire);
    assert_int_equal(py_wire_plain(v), strstr(text, "{\"$py\":[") == NULL);
    if (rows[i].repr != NULL)
        assert_string_equal(text, rows[i].wire);
    json_auto_t *again = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    AUTO(py) back = py_from_wire(again);
    AUTO(py) was = py_repr(v);
    AUTO(py) is = py_repr(back);
    assert_string_equal(py_cstr(is), py_cstr(was));
    if (rows[i].repr != NULL)
        assert_string_equal(py_cstr(is), rows[i].repr);
}

static void
test_round_trip(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++)
        check_row(i);
}

static void
test_tuples_as_keys(void **state)
{
    AUTO(py) one = py_int(1);
    AUTO(py) key = py_tuple_of(2, one, PY_None);
    AUTO(py) dict = py_dict();

    assert_int_equal(py_dict_set(dict, key, one), 0);
    json_auto_t *wire = py_to_wire(dict);
    AUTO_FREE char *text = value_dump(wire);
    assert_string_equal(text, "{\"$py\":[\"dict\",[[{\"$py\":[\"tuple\",[1,null]]},1]]]}");
    AUTO(py) back = py_from_wire(wire);
    AUTO(py) shown = py_repr(back);
    assert_string_equal(py_cstr(shown), "{(1, None): 1}");
}

/* What is not a tag of ours stays what it is. */
static void
test_odd_tags(void **state)
{
    static const char *const texts[] = {
        "{\"$py\":1}",
        "{\"$py\":[]}",
        "{\"$py\":[\"dict\"]}",
        "{\"$py\":[\"nosuch\",1]}",
        "{\"$py\":[\"int\",\"12x\"]}",
        "{\"$py\":[\"int\",12]}",
        "{\"$py\":[\"float\",\"fast\"]}",
        "{\"$py\":[\"bytes\",5]}",
        "{\"$py\":[\"dict\",[[1]]]}",
        "{\"$py\":[\"dict\",[[[],1]]]}",
        "{\"$py\":[\"dict\",5]}",
        "{\"$py\":[\"dict\",[\"ab\"]]}",
        "{\"$py\":[\"tuple\",\"ab\"]}",
        "{\"$py\":[\"frozenset\",{}]}",
        "{\"$py\":[\"set\",[[]]]}",
        "{\"$py\":[\"tuple\",1],\"more\":2}",
    };

    for (size_t i = 0; i < NELEMS(texts); i++) {
        json_auto_t *v = json_loads(texts[i], 0, NULL);
        AUTO(py) got = py_from_wire(v);
        assert_true(py_is(got, PY_DICT));
        assert_non_null(py_dict_gets(got, "$py"));
        assert_null(py_raised());
    }
}

/* A list can't be in a set. Each level is looked at once, not once more for each level around it. */
static void
test_tags_that_lie_in_each_other(void **state)
{
    enum { LEVELS = 100 };
    buf_auto_t text = BUF_INIT;

    for (int i = 0; i < LEVELS; i++)
        buf_puts(&text, i % 2 == 0 ? "{\"$py\":[\"set\",[" : "{\"$py\":[\"dict\",[");
    buf_puts(&text, "[]");
    for (int i = 0; i < LEVELS; i++)
        buf_puts(&text, "]]}");
    json_auto_t *v = json_loadb(text.data, text.len, 0, NULL);
    assert_non_null(v);
    AUTO(py) whole = py_from_wire(v);
    assert_null(py_raised());
    py_t *at = whole;
    for (int i = 0; i < LEVELS; i++) {
        py_t *tagged = py_dict_gets(at, "$py");
        assert_true(py_seq_len(tagged) == 2 && py_is(py_seq_at(tagged, 1), PY_LIST));
        at = py_seq_at(py_seq_at(tagged, 1), 0);
    }
    assert_true(py_is(at, PY_LIST) && py_seq_len(at) == 0);
}

static void
test_cycle(void **state)
{
    AUTO(py) list = py_list();

    py_append(list, list);
    assert_null(py_to_wire(list));
    assert_true(py_raised_is(&py_ValueError));
    py_clear();
    AUTO(py) zero = py_int(0); /* it holds itself: emptied by hand */
    assert_int_equal(py_delitem(list, zero), 0);
}

/* The limit of steps holds here too. */
static void
test_limit(void **state)
{
    const py_limits_t limits = { .steps = 1000 };
    py_scope_t scope;
    AUTO(py) numbers = py_range(0, 100000, 1);
    AUTO(py) list = py_tolist(numbers);
    AUTO(py) dict = py_dict();
    for (size_t i = 0; i < py_seq_len(list); i++)
        (void) py_dict_set(dict, py_seq_at(list, i), PY_None);
    py_t *const large[] = { list, dict };
    for (size_t i = 0; i < NELEMS(large); i++) {
        py_scope_enter(&scope, &limits);
        assert_null(py_to_wire(large[i]));
        assert_true(py_raised_is(&py_LimitError));
        py_clear();
        py_scope_leave(&scope);
    }
}

static char *
spans_text(const py_t *v)
{
    spans_auto_t spans = SPANS_INIT;
    buf_auto_t out = BUF_INIT;

    py_peer_spans(v, &spans);
    for (size_t i = 0; i < spans.n; i++)
        buf_printf(&out, "%zu-%zu:%u ", spans.v[i].from, spans.v[i].to, spans.v[i].flags);
    return buf_steal(&out);
}

/* Marks travel to the machine that all of it is for, but those of its own words and of the outermost keys. */
static void
test_marks(void **state)
{
    const struct {
        spans_t spans;
        const char *wire, *back;
    } marks[] = {
        { { (span_t[]){ { 0, 5, 0 } }, 1, 0 }, "{\"k\": {\"$py\": [\"peer\", [\"a b c\"]]}}", "0-5:0 " },
        { { (span_t[]){ { 2, 3, 0 }, { 4, 5, SPAN_QUOTED } }, 2, 0 },
          "{\"k\": {\"$py\": [\"peer\", [\"a b c\", 2, 3, 0, 4, 5, 1]]}}",
          "2-3:0 4-5:1 " },
        { { (span_t[]){ { 0, 1, SPAN_OWN }, { 2, 5, 0 } }, 2, 0 },
          "{\"k\": {\"$py\": [\"peer\", [\"a b c\", 2, 5, 0]]}}",
          "2-5:0 " },
        { { (span_t[]){ { 0, 5, SPAN_OWN } }, 1, 0 }, "{\"k\": \"a b c\"}", "" },
    };

    for (size_t i = 0; i < NELEMS(marks); i++) {
        AUTO(py) dict = py_dict();
        AUTO(py) key = py_str_peer("k", 1);
        AUTO(py) value = py_str_spans("a b c", 5, &marks[i].spans);
        assert_int_equal(py_dict_set(dict, key, value), 0);
        json_auto_t *wire = py_to_wire_peer(dict);
        AUTO_FREE char *text = json_dumps(wire, 0);
        assert_string_equal(text, marks[i].wire);
        AUTO(py) back = py_from_wire(wire);
        AUTO_FREE char *spans = spans_text(py_dict_gets(back, "k"));
        assert_string_equal(spans, marks[i].back);
        json_auto_t *bare = py_to_wire(dict);
        assert_string_equal(json_string_value(json_object_get(bare, "k")), "a b c");
    }
    AUTO(py) inner = py_dict();
    AUTO(py) key = py_str_peer("said", 4);
    assert_int_equal(py_dict_set(inner, key, PY_None), 0);
    AUTO(py) outer = py_dict();
    py_dict_sets(outer, "k", inner);
    json_auto_t *wire = py_to_wire_peer(outer);
    AUTO(py) back = py_from_wire(wire);
    py_t *found, *value;
    size_t at = 0;
    assert_true(py_dict_next(py_dict_gets(back, "k"), &at, &found, &value));
    assert_true(py_is_peer(found));
}

static size_t
depth_of(const json_t *v)
{
    size_t most = 0, i;
    const char *key;
    json_t *member;

    json_array_foreach (v, i, member) {
        size_t depth = depth_of(member);
        most = depth > most ? depth : most;
    }
    json_object_foreach ((json_t *) v, key, member) {
        size_t depth = depth_of(member);
        most = depth > most ? depth : most;
    }
    return json_is_object(v) || json_is_array(v) ? most + 1 : 0;
}

/* What peers said is nested hardly deeper on its way than it is. */
static void
test_marks_of_deep_values(void **state)
{
    enum { DEPTH = 150 };
    AUTO(py) v = py_dict();

    (void) state;
    py_dict_sets_new(v, "k", py_strz("leaf"));
    for (int i = 1; i < DEPTH; i++) {
        py_t *outer = py_dict();
        py_dict_sets_new(outer, "k", v);
        v = outer;
    }
    v = py_peer(v, 0);
    AUTO(py) all = py_dict();
    py_dict_sets(all, "v", v);
    json_auto_t *wire = py_to_wire_peer(all);
    assert_in_range(depth_of(wire), DEPTH + 1, DEPTH + 8);
    AUTO(py) back = py_from_wire(wire);
    assert_int_equal(py_eq(back, all), 1);
    py_t *at = py_dict_gets(back, "v"), *key, *value;
    for (int i = 0; i < DEPTH; i++) {
        size_t first = 0;
        assert_true(py_dict_next(at, &first, &key, &value));
        assert_true(py_is_peer(key));
        at = value;
    }
    assert_true(py_is_peer(at));
    /* A value that holds itself has an end. */
    AUTO(py) list = py_list();
    py_append_new(list, py_str_peer("a", 1));
    py_append(list, list);
    assert_null(py_to_wire_peer(list));
    assert_true(py_raised_is(&py_ValueError));
    py_clear();
    AUTO(py) second = py_int(1);
    assert_int_equal(py_delitem(list, second), 0);
}

/* A tag that is none stays the dict that it is. */
static void
test_odd_marks(void **state)
{
    static const char *const odd[] = {
        "{\"$py\": [\"peer\", []]}",
        "{\"$py\": [\"peer\", [[\"a\"], 0, 1, 0]]}",
        "{\"$py\": [\"peer\", [1]]}",
        "{\"$py\": [\"peer\", [\"a\", 0]]}",
        "{\"$py\": [\"peer\", [\"a\", 0, 2, 0]]}",
        "{\"$py\": [\"peer\", [\"a\", 1, 1, 0]]}",
        "{\"$py\": [\"peer\", [\"abc\", 1, 2, 0, 0, 1, 0]]}",
        "{\"$py\": [\"peer\", [\"abc\", -1, 2, 0]]}",
        "{\"$py\": [\"peer\", [\"abc\", 0, 1e3, 0]]}",
    };

    for (size_t i = 0; i < NELEMS(odd); i++) {
        json_auto_t *wire = json_loads(odd[i], 0, NULL);
        AUTO(py) v = py_from_wire(wire);
        assert_true(py_is(v, PY_DICT));
        assert_non_null(py_dict_gets(v, "$py"));
    }
}

/* Of this thread's processor, so that a loaded machine makes no difference. */
static int64_t
spent_ms(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Milliseconds that 200,000 texts below so many tags take, and whether all of them have a mark. */
static int64_t
ms_below(size_t tags, bool *ret_all)
{
    enum { TEXTS = 200000 };
    json_t *wire = json_array();

    for (int i = 0; i < TEXTS; i++)
        json_array_append_new(wire, json_sprintf("text %d", i));
    for (size_t i = 0; i < tags; i++)
        wire = json_pack("{s:[s, [o]]}", "$py", "peer", wire);
    int64_t began = spent_ms();
    AUTO(py) v = py_from_wire(wire);
    int64_t took = spent_ms() - began;
    json_decref(wire);
    *ret_all = py_is(v, PY_LIST) && py_seq_len(v) == TEXTS;
    for (int i = 0; *ret_all && i < TEXTS; i++)
        *ret_all = py_is_peer(py_seq_at(v, i));
    return took;
}

/* Marks inside of marks are set once, however many a peer lays around a value. */
static void
test_marks_within_marks(void **state)
{
    bool all;
    int64_t one = ms_below(1, &all);
    assert_true(all);
    int64_t many = ms_below(160, &all);
    assert_true(all);
    if (many > 5 * one + 100)
        fail_msg("one tag takes %" PRId64 " ms, 160 take %" PRId64 " ms", one, many);
    /* A tag around them that is none marks nothing itself, and leaves none out. */
    json_auto_t *wire = json_loads("{\"$py\": [\"peer\", [[{\"$py\": [\"peer\", [\"a\"]]}], 0, 1, 0]]}", 0,
                                   NULL);
    AUTO(py) v = py_from_wire(wire);
    py_t *content = py_seq_at(py_dict_gets(v, "$py"), 1);
    assert_true(py_is_peer(py_seq_at(py_seq_at(content, 0), 0)));
}

UNIT_MAIN(cmocka_unit_test(test_marks), cmocka_unit_test(test_marks_within_marks),
          cmocka_unit_test(test_marks_of_deep_values), cmocka_unit_test(test_odd_marks),
          cmocka_unit_test(test_limit), cmocka_unit_test(test_round_trip),
          cmocka_unit_test(test_tuples_as_keys), cmocka_unit_test(test_odd_tags),
          cmocka_unit_test(test_tags_that_lie_in_each_other), cmocka_unit_test(test_cycle))
