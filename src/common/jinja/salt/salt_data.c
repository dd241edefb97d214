/* salt_data.c - Salt's filters over values and lists, and its tests, as in salt.utils.jinja, salt.utils.data
 * and salt.utils.mysql.
 *
 * Set operations follow Salt: hashable types use Python's sets (and lose order), lists are compared element
 * by element, which is quadratic but counted. */
#include "common/base/digest.h"
#include "common/base/pyrandom.h"
#include "common/jinja/filter/filter.h"
#include "common/jinja/salt/salt_filter.h"
#include "common/py/py_json.h"
#include "common/py/py_yaml.h"

/* collections.abc.Hashable: a property of the type, not of the value. */
static bool
is_hashable(const py_t *v)
{
    return !py_is(v, PY_LIST) && !py_is(v, PY_DICT) && !py_is(v, PY_SET);
}

JFILTER(skip_filter)
{
    return py_str("", 0);
}

JFILTER(ensure_sequence_filter)
{
    if (py_is(a[0], PY_LIST) || py_is(a[0], PY_TUPLE) || py_is(a[0], PY_SET) || py_is(a[0], PY_DICT))
        return py_ref(a[0]);
    py_t *list = py_list();
    py_append(list, a[0]);
    return list;
}

/* True for "yes", "1" and "true" in any case, ints above zero, and containers with elements. */
JFILTER(to_bool)
{
    if (py_is(a[0], PY_BOOL))
        return py_ref(a[0]);
    if (py_is(a[0], PY_STR)) {
        AUTO(py) lower = jmethod(a[0], "lower", 0);
        return lower != NULL
                   ? py_bool(py_str_is(lower, "yes") || py_str_is(lower, "1") || py_str_is(lower, "true"))
                   : NULL;
    }
    if (py_is(a[0], PY_INT)) {
        AUTO(py) zero = py_int(0);
        return py_bool(py_compare(a[0], zero, PY_GT) > 0);
    }
    return py_bool(!is_hashable(a[0]) && py_len(a[0]) > 0);
}

JFILTER(is_list)
{
    return py_bool(py_is(a[0], PY_LIST));
}

JFILTER(is_iter)
{
    return py_bool(!py_is(a[0], PY_STR) && py_iterable(a[0]));
}

/* ---- sets of elements --------------------------------------------------------------------------------- */

/* Hashable values become a set, others a list without duplicates in order. */
static py_t *
unique_of(py_t *values)
{
    if (is_hashable(values))
        return py_toset(values, false);
    AUTO(py) list = py_tolist(values);
    AUTO(py) out = py_list();
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        int in = py_in(py_seq_at(list, i), out);
        if (in < 0)
            return NULL;
        if (in == 0)
            py_append(out, py_seq_at(list, i));
    }
    return list != NULL ? STEAL(out) : NULL;
}

JFILTER(unique)
{
    return unique_of(a[0]);
}

/* A set operator on two values of hashable types. */
static py_t *
set_op(py_t *a, py_t *b, py_op_t op)
{
    AUTO(py) left = py_toset(a, false);
    AUTO(py) right = left != NULL ? py_toset(b, false) : NULL;
    return right != NULL ? py_binary(op, left, right) : NULL;
}

/* Sets if both are hashable; lists keep the order of first appearance. */
JFILTER(union_)
{
    if (is_hashable(a[0]) && is_hashable(a[1]))
        return set_op(a[0], a[1], PY_OR);
    AUTO(py) both = py_add(a[0], a[1]);
    return both != NULL ? unique_of(both) : NULL;
}

/* Elements of `from` that are, or are not, in `in`, each once. */
static py_t *
salt_data_members(py_t *from, py_t *in, bool wanted)
{
    AUTO(py) list = py_tolist(from);
    AUTO(py) out = py_list();
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        int found = py_in(py_seq_at(list, i), in);
        if (found < 0)
            return NULL;
        if ((found > 0) == wanted)
            py_append(out, py_seq_at(list, i));
    }
    return list != NULL ? unique_of(out) : NULL;
}

JFILTER(intersect)
{
    bool sets = is_hashable(a[0]) && is_hashable(a[1]);
    return sets ? set_op(a[0], a[1], PY_AND) : salt_data_members(a[0], a[1], true);
}

JFILTER(difference)
{
    bool sets = is_hashable(a[0]) && is_hashable(a[1]);
    return sets ? set_op(a[0], a[1], PY_SUB) : salt_data_members(a[0], a[1], false);
}

/* All elements except those in both. */
JFILTER(symmetric_difference)
{
    if (is_hashable(a[0]) && is_hashable(a[1]))
        return set_op(a[0], a[1], PY_XOR);
    AUTO(py) all = union_(ctx, a, args);
    AUTO(py) both = all != NULL ? salt_data_members(a[0], a[1], true) : NULL;
    return both != NULL ? salt_data_members(all, both, false) : NULL;
}

/* The first of the smallest or largest elements; raises for an empty sequence. */
static py_t *
salt_data_extreme(py_t *values, py_cmp_t op, const char *name)
{
    AUTO(py) list = py_tolist(values);
    if (list == NULL)
        return NULL;
    if (py_seq_len(list) == 0)
        return py_raise(&py_ValueError, "%s() arg is an empty sequence", name);
    size_t best = 0;
    for (size_t i = 1; i < py_seq_len(list); i++) {
        int better = py_compare(py_seq_at(list, i), py_seq_at(list, best), op);
        if (better < 0)
            return NULL;
        best = better > 0 ? i : best;
    }
    return py_ref(py_seq_at(list, best));
}

JFILTER(lst_min)
{
    return salt_data_extreme(a[0], PY_LT, "min");
}

JFILTER(lst_max)
{
    return salt_data_extreme(a[0], PY_GT, "max");
}

/* A single value is its own average. */
JFILTER(lst_avg)
{
    if (is_hashable(a[0]))
        return py_tofloat(a[0]);
    AUTO(py) list = py_tolist(a[0]);
    AUTO(py) sum = py_int(0);
    for (size_t i = 0; list != NULL && sum != NULL && i < py_seq_len(list); i++) {
        py_t *next = py_add(sum, py_seq_at(list, i));
        py_unref(sum);
        sum = next;
    }
    if (list == NULL || sum == NULL)
        return NULL;
    AUTO(py) n = py_int((int64_t) py_seq_len(list));
    AUTO(py) mean = py_binary(PY_DIV, sum, n);
    return mean != NULL ? py_tofloat(mean) : NULL;
}

/* Sorts by the lower-case texts; an item that is not text raises. */
JFILTER(sorted_ignorecase)
{
    AUTO(py) list = py_tolist(a[0]);
    AUTO(py) keys = py_list();
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        py_t *key = jmethod(py_seq_at(list, i), "lower", 0);
        if (key == NULL)
            return NULL;
        py_append_new(keys, key);
    }
    return list != NULL && py_sort(list, keys, false) == 0 ? STEAL(list) : NULL;
}

/* Appends the elements of nested iterables up to `levels` deep (negative: all). */
static int
flatten_into(py_t *out, py_t *data, int64_t levels, bool keep_nulls)
{
    AUTO(py) list = py_tolist(data);
    if (list == NULL)
        return -1;
    if (py_enter() < 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < py_seq_len(list); i++) {
        py_t *v = py_seq_at(list, i);
        bool null = py_is(v, PY_NONE) || (py_is(v, PY_STR) && (py_str_is(v, "None") || py_str_is(v, "null")));
        if (null && !keep_nulls)
            continue;
        if (!py_is(v, PY_STR) && py_iterable(v) && levels != 0)
            rc = flatten_into(out, v, levels - 1, keep_nulls);
        else
            py_append(out, v);
    }
    py_leave();
    return rc;
}

JFILTER(flatten)
{
    int64_t levels = -1;
    int nulls = jflag(a[2], false);
    if (nulls < 0 || (a[1] != NULL && !py_is(a[1], PY_NONE) && jindex(a[1], -1, &levels) < 0))
        return NULL;
    AUTO(py) out = py_list();
    return flatten_into(out, a[0], levels, nulls) == 0 ? STEAL(out) : NULL;
}

/* ---- questions ---------------------------------------------------------------------------------------- */

/* True when exactly `amount` elements are true. */
static py_t *
exactly(py_t *values, int64_t amount)
{
    AUTO(py) list = py_tolist(values);
    int64_t n = 0;
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        int truth = py_truth(py_seq_at(list, i));
        if (truth < 0)
            return NULL;
        n += truth;
    }
    return list != NULL ? py_bool(n == amount) : NULL;
}

JFILTER(exactly_n)
{
    int64_t amount;
    return jindex(a[1], 1, &amount) == 0 ? exactly(a[0], amount) : NULL;
}

JFILTER(exactly_one)
{
    return exactly(a[0], 1);
}

JFILTER(substr_in_list)
{
    AUTO(py) list = py_tolist(a[1]);
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        int in = py_in(a[0], py_seq_at(list, i));
        if (in != 0)
            return in > 0 ? py_ref(PY_True) : NULL;
    }
    return list != NULL ? py_ref(PY_False) : NULL;
}

/* {new: elements only of the second, old: only of the first}; neither key if there are none. */
JFILTER(compare_lists)
{
    AUTO(py) added = salt_data_members(a[1], a[0], false);
    AUTO(py) gone = added != NULL ? salt_data_members(a[0], a[1], false) : NULL;
    if (gone == NULL)
        return NULL;
    py_t *ret = py_dict();
    if (py_seq_len(added) > 0)
        py_dict_sets(ret, "new", added);
    if (py_seq_len(gone) > 0)
        py_dict_sets(ret, "old", gone);
    return ret;
}

/* A change as {first: v, second: w}; absent values are shown as "". */
static void
add_change(py_t *ret, py_t *key, const char *first, py_t *v, const char *second, py_t *w)
{
    AUTO(py) empty = py_str("", 0);
    AUTO(py) change = py_dict();
    py_dict_sets(change, first, v != NULL ? v : empty);
    py_dict_sets(change, second, w != NULL ? w : empty);
    py_dict_set(ret, key, change);
}

JFILTER(compare_dicts)
{
    AUTO(py) old = py_todict(jarg(a[0], PY_None));
    AUTO(py) new = old != NULL ? py_todict(jarg(a[1], PY_None)) : NULL;
    AUTO(py) ret = py_dict();
    py_t *key, *value;
    for (size_t i = 0; new != NULL &&py_dict_next(new, &i, &key, &value);) {
        py_t *before = py_dict_get(old, key);
        int same = before != NULL ? py_eq(before, value) : 0;
        if (same < 0)
            return NULL;
        if (same == 0)
            add_change(ret, key, "old", before, "new", value);
    }
    for (size_t i = 0; new != NULL &&py_dict_next(old, &i, &key, &value);)
        if (py_dict_get(new, key) == NULL)
            add_change(ret, key, "new", NULL, "old", value);
    return new != NULL ? STEAL(ret) : NULL;
}

/* ---- chance ------------------------------------------------------------------------------------------- */

/* random.sample with Salt's seed: the SHA-512 of the text seeds Python's generator, so results equal Salt's.
 */
static py_t *
sample_of(py_t *value, int64_t size, py_t *seed)
{
    AUTO(py) list = py_tolist(value);
    AUTO(py) numbers = py_list();
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++)
        py_append_new(numbers, py_int((int64_t) i));
    json_auto_t *places = list != NULL ? py_to_json(numbers) : NULL;
    if (places == NULL)
        return NULL;
    bool seeded = seed != NULL && !py_is(seed, PY_NONE);
    if (seeded && !py_is(seed, PY_STR))
        return py_raise(&py_TypeError, "object supporting the buffer API required");
    char *digest AUTO_FREE = seeded ? digest_bytes("sha512", py_cstr(seed), strlen(py_cstr(seed)), NULL)
                                    : NULL;
    json_auto_t *json_seed = seeded ? json_string(digest) : NULL;
    fail_auto_t err = FAIL_INIT;
    AUTO(pyrandom) random = pyrandom_new(json_seed, &err);
    json_auto_t *chosen = random != NULL ? pyrandom_sample(random, places, size, &err) : NULL;
    if (chosen == NULL) {
        const char *text = fail_text(&err), *colon = strstr(text, ": ");
        return py_raise(&py_ValueError, "%s", colon != NULL ? colon + 2 : text);
    }
    py_t *out = py_list();
    for (size_t i = 0; i < json_array_size(chosen); i++)
        py_append(out, py_seq_at(list, (size_t) json_integer_value(json_array_get(chosen, i))));
    return out;
}

JFILTER(sample)
{
    int64_t size;
    return jindex(a[1], 0, &size) == 0 ? sample_of(a[0], size, a[2]) : NULL;
}

JFILTER(shuffle)
{
    int64_t n = py_len(a[0]);
    return n < 0 ? NULL : sample_of(a[0], n, a[1]);
}

/* ---- tables of MySQL ---------------------------------------------------------------------------------- */

/* A row of a printed table as a dict, keyed by one of its columns. */
static int
salt_data_add_row(py_t *ret, py_t *headers, py_t *cells, py_t *key)
{
    AUTO(py) row = py_dict();
    for (size_t i = 1; i + 1 < py_seq_len(headers) && i < py_seq_len(cells); i++) {
        AUTO(py) v = jto_num(py_seq_at(cells, i));
        if (v == NULL || py_dict_set(row, py_seq_at(headers, i), v) < 0)
            return -1;
    }
    py_t *at = py_dict_get(row, key);
    if (at == NULL) {
        py_raise_key(key);
        return -1;
    }
    return py_dict_set(ret, at, row);
}

/* Reads the table that mysql's client prints; its first row has the names. */
JFILTER(mysql_to_dict)
{
    AUTO(py) lines = py_tolist(a[0]);
    AUTO(py) headers = NULL;
    AUTO(py) ret = py_dict();
    for (size_t i = 0; lines != NULL && i < py_seq_len(lines); i++) {
        py_t *line = py_seq_at(lines, i);
        if (!py_is(line, PY_STR) || py_cstr(line)[0] == '\0' || py_cstr(line)[0] == '+')
            continue;
        /* The line's cells, stripped. */
        AUTO(py) bar = py_strz("|");
        AUTO(py) parts = jmethod(line, "split", 1, bar);
        AUTO(py) cells = py_list();
        for (size_t k = 0; parts != NULL && k < py_seq_len(parts); k++)
            py_append_new(cells, jmethod(py_seq_at(parts, k), "strip", 0));
        if (parts == NULL)
            return NULL;
        if (headers != NULL && py_seq_len(headers) > 1) {
            if (salt_data_add_row(ret, headers, cells, a[1]) < 0)
                return NULL;
        } else {
            py_unref(headers);
            headers = STEAL(cells);
        }
    }
    return lines != NULL ? STEAL(ret) : NULL;
}

/* ---- other -------------------------------------------------------------------------------------------- */

/* Copies the keywords except f_name, which names the method. Returns their number; the arrays have room for
 * all. */
static size_t
other_keywords(const py_args_t *args, py_t **names, py_t **values)
{
    size_t n = 0;
    for (size_t i = 0; i < args->nkw; i++) {
        if (py_str_is(args->names[i], "f_name"))
            continue;
        names[n] = args->names[i];
        values[n++] = args->kwv[i];
    }
    return n;
}

/* Calls a method by its name; None if there is none. */
JFILTER(method_call)
{
    if (!py_is(a[1], PY_STR))
        return py_raise(&py_TypeError, "attribute name must be string, not '%s'", py_type_name(a[1]));
    AUTO(py) method = NULL;
    int found = py_find_attr(a[0], a[1], &method);
    if (found <= 0)
        return found == 0 ? py_ref(PY_None) : NULL;
    py_t **kw AUTO_FREE = xcalloc(2 * args->nkw + 1, sizeof(py_t *)), **values = kw + args->nkw;
    size_t own = args->n < 2 ? args->n : 2, nkw = other_keywords(args, kw, values);
    return py_call(method, &(py_args_t){ args->n - own, args->v + own, nkw, kw, values });
}

static py_t *encode(py_t *v);

static py_t *
encode_dict(py_t *dict)
{
    AUTO(py) out = py_dict();
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);) {
        AUTO(py) k = encode(key);
        AUTO(py) v = k != NULL ? encode(value) : NULL;
        if (v == NULL || py_dict_set(out, k, v) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* Copy with texts as bytes at any depth; tuples become lists, as salt.utils.data.encode. */
static py_t *
encode(py_t *v)
{
    size_t len;
    if (py_tick() < 0)
        return NULL;
    if (py_is(v, PY_STR)) {
        const char *text = py_text(v, &len);
        return py_room(len) == 0 ? py_bytes(text, len) : NULL;
    }
    if (!py_is(v, PY_DICT) && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return py_ref(v);
    if (py_enter() < 0)
        return NULL;
    AUTO(py) out = py_is(v, PY_DICT) ? encode_dict(v) : py_list();
    for (size_t i = 0; out != NULL && !py_is(v, PY_DICT) && i < py_seq_len(v); i++) {
        py_t *item = encode(py_seq_at(v, i));
        if (item == NULL) {
            py_unref(out);
            out = NULL;
        } else {
            py_append_new(out, item);
        }
    }
    py_leave();
    return STEAL(out);
}

JFILTER(encode_data)
{
    return encode(a[0]);
}

static const jfilter_t rows[] = {
    { JROW("avg", lst_avg, JP("lst"), 1, 1, 0), 0, "The mean." },
    { JROW("compare_dicts", compare_dicts, JP("old", "new"), 1, 2, 0), 0, "What changed between two dicts." },
    { JROW("compare_lists", compare_lists, JP("old", "new"), 2, 2, 0), 0, "What changed between two lists." },
    { JROW("difference", difference, JP("lst1", "lst2"), 2, 2, 0), 0, "In the first list only." },
    { JROW("exactly_n_true", exactly_n, JP("iterable", "amount"), 1, 2, 0), 0, "So many are true." },
    { JROW("exactly_one_true", exactly_one, JP("iterable"), 1, 1, 0), 0, "One is true." },
    { JROW("flatten", flatten, JP("data", "levels", "preserve_nulls"), 1, 3, 0), 0,
      "Lists in lists as one." },
    { JROW("intersect", intersect, JP("lst1", "lst2"), 2, 2, 0), 0, "In both lists." },
    { JROW("is_iter", is_iter, JP("thing"), 1, 1, 0), 0, "Whether it has elements and is not text." },
    { JROW("is_list", is_list, JP("value"), 1, 1, 0), 0, "Whether it is a list." },
    { JROW("json_decode_dict", encode_data, JP("data"), 1, 1, 0), 0, "Texts of a dict as bytes." },
    { JROW("json_decode_list", encode_data, JP("data"), 1, 1, 0), 0, "Texts of a list as bytes." },
    { JROW("json_encode_dict", encode_data, JP("data"), 1, 1, 0), 0, "Texts of a dict as bytes." },
    { JROW("json_encode_list", encode_data, JP("data"), 1, 1, 0), 0, "Texts of a list as bytes." },
    { JROW("max", lst_max, JP("obj"), 1, 1, 0), 0, "The largest element." },
    { JROW("method_call", method_call, JP("obj", "f_name"), 2, 2, PY_SIG_STAR | PY_SIG_STARKW), 0,
      "A method by name." },
    { JROW("min", lst_min, JP("obj"), 1, 1, 0), 0, "The smallest element." },
    { JROW("mysql_to_dict", mysql_to_dict, JP("data", "key"), 2, 2, 0), 0, "A printed table as a dict." },
    { JROW("random_sample", sample, JP("value", "size", "seed"), 2, 3, 0), JF_WORLD, "Some elements." },
    { JROW("random_shuffle", shuffle, JP("value", "seed"), 1, 2, 0), JF_WORLD, "All elements in any order." },
    { JROW("sequence", ensure_sequence_filter, JP("data"), 1, 1, 0), 0, "A list unless it is one." },
    { JROW("skip", skip_filter, JP("data"), 1, 1, 0), JF_UNDEFINED, "Nothing." },
    { JROW("sorted_ignorecase", sorted_ignorecase, JP("to_sort"), 1, 1, 0), 0,
      "In order, whatever the case." },
    { JROW("substring_in_list", substr_in_list, JP("string_to_search_for", "list_to_search"), 2, 2, 0), 0,
      "Whether it is part of an element." },
    { JROW("symmetric_difference", symmetric_difference, JP("lst1", "lst2"), 2, 2, 0), 0,
      "In one of the lists only." },
    { JROW("to_bool", to_bool, JP("val"), 1, 1, 0), 0, "To True or False." },
    { JROW("union", union_, JP("lst1", "lst2"), 2, 2, 0), 0, "In any of the lists." },
    { JROW("unique", unique, JP("values"), 1, 1, 0), 0, "Each element once." },
};

const jfilter_table_t jfilters_salt_data = JTABLE(rows);

static const jfilter_t test_rows[] = {
    { JROW("list", is_list, JP("value"), 1, 1, 0), 0, "A list." },
    { JROW("match", jtest_match, JP("txt", "rgx", "ignorecase", "multiline"), 2, 4, 0), 0,
      "Begins with what the expression says." },
};

const jfilter_table_t jtests_salt = JTABLE(test_rows);
