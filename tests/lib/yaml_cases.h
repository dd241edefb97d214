/* yaml_cases.h - runs case files of YAML: what Salt's loader and dumper made of the same. Used by
 * tests/lib/cases.c behind jinja_cases.h, whose tagged values these are.
 *
 * A file is an array of objects. Documents: name, yaml or yaml_base64, load.
 * Values: name, value, safe_dump_block, safe_dump_default, filter_yaml, filter_yaml_block.
 */
#ifndef TESTS_LIB_YAML_CASES_H
#define TESTS_LIB_YAML_CASES_H

#include "common/data/yaml_node.h"
#include "common/py/py_yaml.h"
#include "lib/jinja_cases.h"
#include "salt/limits.h"

/* ---- loading ---------------------------------------------------------------------------------- */

/* `above` are the containers on the way, by depth. */
static bool same_loaded(const json_t *want, py_t *got, py_t **above, size_t depth);

static bool
same_items(const json_t *want, py_t *got, py_t **above, size_t depth)
{
    const json_t *pairs = json_object_get(want, "__pairs__");
    const char *name;
    json_t *element;
    py_t *key, *value;
    size_t i, at = 0, n = pairs != NULL ? json_array_size(pairs) : json_object_size(want);
    if (!py_is(got, PY_DICT) || !py_is_odict(got) || py_dict_len(got) != n)
        return false;
    json_array_foreach (pairs, i, element)
        if (!py_dict_next(got, &at, &key, &value) ||
            !same_loaded(json_array_get(element, 0), key, above, depth) ||
            !same_loaded(json_array_get(element, 1), value, above, depth))
            return false;
    if (pairs == NULL)
        json_object_foreach ((json_t *) want, name, element)
            if (!py_dict_next(got, &at, &key, &value) || !py_str_is(key, name) ||
                !same_loaded(element, value, above, depth))
                return false;
    return true;
}

/* The same value, or {"__cycle__": n}: the container n levels up. */
static bool
same_loaded(const json_t *want, py_t *got, py_t **above, size_t depth)
{
    const json_t *cycle = json_object_get(want, "__cycle__");
    const char *tag = json_object_iter_key(json_object_iter((json_t *) want));
    above[depth] = got;
    if (cycle != NULL)
        return got == above[depth - (size_t) json_integer_value(cycle)];
    if (json_is_array(want)) {
        bool same = py_is(got, PY_LIST) && py_seq_len(got) == json_array_size(want);
        for (size_t i = 0; same && i < json_array_size(want); i++)
            same = same_loaded(json_array_get(want, i), py_seq_at(got, i), above, depth + 1);
        return same;
    }
    if (json_is_object(want) && (tag == NULL || strcmp(tag, "__pairs__") == 0 || strncmp(tag, "__", 2) != 0))
        return same_items(want, got, above, depth + 1);
    AUTO(py) plain = untag(want);
    AUTO(py) a = py_repr(plain);
    AUTO(py) b = py_repr(got);
    return py_type(plain) == py_type(got) && (py_eq(plain, got) > 0 || py_eq(a, b) > 0);
}

static bool
same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_problem(const json_t *want, const yproblem_t *problem)
{
    static const char *const classes[] = {
        [YAML_FINE] = "none",
        [YAML_READER] = "ReaderError",
        [YAML_SCANNER] = "ScannerError",
        [YAML_PARSER] = "ParserError",
        [YAML_COMPOSER] = "ComposerError",
        [YAML_CONSTRUCTOR] = "ConstructorError",
        [YAML_LIMIT] = "a limit of ours",
    };
    const char *cls = value_str(want, "class", ""), *text = value_str(want, "problem", "");
    if (py_raised() != NULL) {
        bool same = same_text(py_raised()->name, cls) &&
                    same_text(py_raised_text(), value_str(want, "str", ""));
        py_clear();
        return same || is_accident(want);
    }
    /* Long texts are cut. */
    size_t n = strlen(problem->text);
    bool cut = n > 3 && strcmp(problem->text + n - 3, "...") == 0;
    bool same = cut ? strncmp(problem->text, text, n - 3) == 0 : strstr(problem->text, text) != NULL;
    return same && same_text(cls, classes[problem->cls]) &&
           same_text(value_str(want, "context", NULL), problem->context) &&
           value_int(want, "line", problem->at.line) == problem->at.line &&
           value_int(want, "column", problem->at.column) == problem->at.column;
}

static void
run_load(const json_t *c, buf_t *why)
{
    const json_t *expect = value_get(c, "load"), *error = json_object_get(expect, "error");
    AUTO(py) bytes = value_get(c, "yaml_base64") != NULL ? untag_bytes(value_get(c, "yaml_base64")) : NULL;
    size_t len = json_string_length(value_get(c, "yaml"));
    const char *text = bytes != NULL ? py_text(bytes, &len) : json_string_value(value_get(c, "yaml"));
    yproblem_t problem = YPROBLEM_INIT;
    py_t **above = xcalloc(LIMIT_YAML_DEPTH + 2, sizeof(py_t *));
    AUTO(py) v = py_yaml_load(text, len, true, &problem);
    bool same = v != NULL ? error == NULL && same_loaded(json_object_get(expect, "value"), v, above, 0)
                          : error != NULL && same_problem(error, &problem);
    if (!same) {
        AUTO(py) shown = v != NULL ? py_repr(v) : NULL;
        char *wanted AUTO_FREE = json_dumps(expect, JSON_ENCODE_ANY);
        differ(why, "load", shown != NULL ? py_cstr(shown) : problem.text, wanted);
    }
    py_clear();
    yproblem_free(&problem);
    free(above);
}

/* ---- dumping ---------------------------------------------------------------------------------- */

/* {"__anchor__": [id, value]} is that value, {"__alias__": id} the same one again. */
static py_t *
with_aliases(const json_t *v, py_t *known)
{
    const json_t *anchor = json_object_get(v, "__anchor__");
    const char *alias = value_str(v, "__alias__", NULL), *name;
    json_t *element;
    size_t i;
    if (alias != NULL)
        return py_ref(py_dict_gets(known, alias));
    if (anchor != NULL) {
        py_t *value = with_aliases(json_array_get(anchor, 1), known);
        py_dict_sets(known, json_string_value(json_array_get(anchor, 0)), value);
        return value;
    }
    if (json_is_array(v)) {
        py_t *list = py_list();
        json_array_foreach (v, i, element)
            py_append_new(list, with_aliases(element, known));
        return list;
    }
    name = json_object_iter_key(json_object_iter((json_t *) v));
    if (!json_is_object(v) || (name != NULL && strncmp(name, "__", 2) == 0))
        return untag(v);
    py_t *dict = py_dict();
    json_object_foreach ((json_t *) v, name, element) {
        AUTO(py) key = py_str(name, json_object_iter_key_len(json_object_key_to_iter(name)));
        AUTO(py) value = with_aliases(element, known);
        py_dict_set(dict, key, value);
    }
    return dict;
}

/* Dates are texts here: no value of ours is written as one. */
static bool
has_date(const json_t *v)
{
    char *text AUTO_FREE = json_dumps(v, JSON_ENCODE_ANY);
    return strstr(text, "\"__date") != NULL;
}

static void
run_dump(const json_t *c, buf_t *why)
{
    static const struct {
        const char *key;
        py_yaml_flow_t flow;
        bool stripped;
    } rows[] = {
        { "safe_dump_block", PY_YAML_BLOCK, false },  { "safe_dump_default", PY_YAML_AUTO, false },
        { "safe_dump_flow", PY_YAML_FLOW, false },    { "filter_yaml", PY_YAML_FLOW, true },
        { "filter_yaml_block", PY_YAML_BLOCK, true },
    };
    AUTO(py) known = py_dict();
    AUTO(py) v = with_aliases(value_get(c, "value"), known);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        const char *want = value_str(c, rows[i].key, NULL);
        if (want == NULL || (rows[i].stripped && strstr(want, "...") != NULL))
            continue;
        AUTO(py) text = py_yaml_dump(v, rows[i].flow, 0);
        AUTO(py) name = py_strz("strip");
        AUTO(py)
        shown = rows[i].stripped && text != NULL ? py_call_method(text, name, &(py_args_t){ .n = 0 })
                                                 : py_ref(text);
        differ(why, rows[i].key, shown != NULL ? py_cstr(shown) : py_raised_text(), want);
        py_clear();
    }
}

static bool
is_yaml_case(const json_t *c)
{
    return value_get(c, "load") != NULL ||
           (value_get(c, "safe_dump_block") != NULL && !has_date(value_get(c, "value")));
}

static void
run_yaml_case(const json_t *c, buf_t *why)
{
    if (value_get(c, "load") != NULL)
        run_load(c, why);
    if (value_get(c, "safe_dump_block") != NULL)
        run_dump(c, why);
}

#endif
