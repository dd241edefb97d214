/* jinja_cases.h - runs case files of templates: what real Jinja and real Salt answered, or our own words in
 * the same form. Used by tests/lib/cases.c and the unit test.
 *
 * A file is an array of objects: name, env, templates, functions, source, context, expect; values that JSON
 * has no words for are objects such as {"__tuple__": [...]}.
 */
#ifndef TESTS_LIB_JINJA_CASES_H
#define TESTS_LIB_JINJA_CASES_H

#include <float.h>
#include <math.h>

#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/jinja/jinja_salt.h"
#include "common/jinja/parse/parse.h"
#include "common/py/py_json.h"
#include "salt/value.h"

/* ---- tagged values ---------------------------------------------------------------------------- */

static py_t *untag(const json_t *v);

static py_t *
untag_list(const json_t *v, py_t *list)
{
    for (size_t i = 0; i < json_array_size(v); i++)
        py_append_new(list, untag(json_array_get(v, i)));
    return list;
}

static py_t *
untag_pairs(const json_t *v, py_t *dict)
{
    for (size_t i = 0; i < json_array_size(v); i++) {
        py_t *key = untag(json_array_get(json_array_get(v, i), 0));
        py_t *value = untag(json_array_get(json_array_get(v, i), 1));
        py_dict_set(dict, key, value);
        py_unref(key);
        py_unref(value);
    }
    return dict;
}

static py_t *
untag_tuple(const json_t *v)
{
    AUTO(py) list = untag_list(v, py_list());
    return py_totuple(list);
}

static py_t *
untag_set(const json_t *v)
{
    AUTO(py) list = untag_list(v, py_list());
    return py_toset(list, false);
}

static py_t *
untag_frozenset(const json_t *v)
{
    AUTO(py) list = untag_list(v, py_list());
    return py_toset(list, true);
}

static py_t *
untag_range(const json_t *v)
{
    return py_range(json_integer_value(json_array_get(v, 0)), json_integer_value(json_array_get(v, 1)),
                    json_integer_value(json_array_get(v, 2)));
}

static py_t *
untag_dict_pairs(const json_t *v)
{
    return untag_pairs(v, py_dict());
}

static py_t *
untag_odict(const json_t *v)
{
    return untag_pairs(v, py_odict());
}

static py_t *
untag_bytes(const json_t *v)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    buf_auto_t b = BUF_INIT;
    unsigned bits = 0, n = 0;
    for (const char *s = json_string_value(v); *s != '\0' && *s != '='; s++) {
        bits = bits << 6 | (unsigned) (strchr(digits, *s) - digits);
        if ((n += 6) >= 8)
            buf_putc(&b, (char) (bits >> (n -= 8)));
    }
    return py_bytes(buf_str(&b), b.len);
}

static py_t *
untag_int(const json_t *v)
{
    return py_int_digits(json_string_value(v), json_string_length(v));
}

static py_t *
untag_float(const json_t *v)
{
    return py_float(strtod(json_string_value(v), NULL));
}

static py_t *
untag_markup(const json_t *v)
{
    AUTO(py) text = py_strz(json_string_value(v));
    return py_markup(text);
}

static const struct {
    const char *name;
    py_t *(*make)(const json_t *v);
} tags[] = {
    { "__tuple__", untag_tuple }, { "__set__", untag_set },       { "__pairs__", untag_dict_pairs },
    { "__odict__", untag_odict }, { "__bytes__", untag_bytes },   { "__int__", untag_int },
    { "__float__", untag_float }, { "__markup__", untag_markup }, { "__frozenset__", untag_frozenset },
    { "__range__", untag_range },
};

static py_t *
untag_object(const json_t *v)
{
    for (size_t i = 0; json_object_size(v) == 1 && i < NELEMS(tags); i++) {
        const json_t *inner = json_object_get(v, tags[i].name);
        if (inner != NULL)
            return tags[i].make(inner);
    }
    py_t *dict = py_dict();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) v, key, value)
        py_dict_sets_new(dict, key, untag(value));
    return dict;
}

static py_t *
untag(const json_t *v)
{
    if (json_is_object(v))
        return untag_object(v);
    if (json_is_array(v))
        return untag_list(v, py_list());
    return py_from_json(v);
}

/* ---- templates and functions of a case -------------------------------------------------------- */

typedef struct jinja_case {
    const json_t *templates, *functions;
    bool salt;
} jinja_case_t;

static int
case_load(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
          jinja_file_t *ret, fail_t *err)
{
    const jinja_case_t *c = cookie;
    char *path AUTO_FREE = c->salt ? jinja_salt_path(name, globals) : xstrdup(name);
    const json_t *text = path != NULL ? json_object_get(c->templates, path) : NULL;
    /* As Salt does it: the names change whether or not there is such a file. */
    if (c->salt && path != NULL)
        jinja_salt_loaded(name, path, globals);
    if (text == NULL)
        return -ENOENT;
    ret->path = c->salt ? xasprintf("CACHEDIR/files/base/%s", path) : xstrdup(path);
    ret->text = xstrdup(json_string_value(text));
    ret->len = json_string_length(text);
    return 0;
}

static bool
case_has(void *cookie, const char *name)
{
    const jinja_case_t *c = cookie;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) c->functions, key, value)
        if (strcmp(key, name) == 0 || (str_ends(name, ".") && str_starts(key, name)))
            return true;
    return false;
}

static py_t *
case_call(void *cookie, const char *name, const py_args_t *args)
{
    const jinja_case_t *c = cookie;
    return untag(json_object_get(c->functions, name));
}

/* ---- environment ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    const py_undef_class_t *cls;
} undefined_names[] = {
    { "Undefined", &py_Undefined },
    { "StrictUndefined", &py_StrictUndefined },
    { "DebugUndefined", &py_DebugUndefined },
    { "ChainableUndefined", &py_ChainableUndefined },
};

static void
case_options(const json_t *env, jinja_options_t *o)
{
    if (value_bool(env, "salt", false)) {
        const char *which = value_str(env, "sls", "")[0] != '\0' ? "jinja_sls_env" : "jinja_env";
        jinja_salt_options(o, value_get(env, which), value_bool(env, "allow_undefined", false));
        return;
    }
    jinja_salt_options(o, env, true);
    o->salt = false;
    o->tags = 0;
    const json_t *extensions = value_get(env, "extensions");
    for (size_t i = 0; i < json_array_size(extensions); i++)
        o->tags |= strstr(json_string_value(json_array_get(extensions, i)), "do") != NULL
                       ? JTAG_DO
                       : JTAG_LOOP_CONTROLS;
    const json_t *sandboxed = value_get(env, "sandboxed");
    o->sandboxed = sandboxed != NULL && value_truthy(sandboxed);
    o->immutable = json_is_string(sandboxed);
    o->autoescape = value_bool(env, "autoescape", false);
    const char *undefined = value_str(env, "undefined", "Undefined");
    for (size_t i = 0; i < NELEMS(undefined_names); i++)
        if (strcmp(undefined_names[i].name, undefined) == 0)
            o->undefined = undefined_names[i].cls;
}

/* What render_jinja_tmpl gets besides the case's own context. */
static void
salt_context(py_t *context, const json_t *c, jinja_case_t *jc)
{
    const json_t *env = value_get(c, "env");
    const jinja_funcs_t funcs = { case_has, case_call, jc };
    AUTO(py) opts = py_dict();
    py_dict_sets_new(opts, "cachedir", py_strz("CACHEDIR"));
    static const char *const keys[] = { "jinja_env", "jinja_sls_env", "allow_undefined" };
    for (size_t i = 0; i < NELEMS(keys); i++)
        if (value_get(env, keys[i]) != NULL)
            py_dict_sets_new(opts, keys[i], untag(value_get(env, keys[i])));
    if (py_dict_gets(context, "opts") == NULL)
        py_dict_sets(context, "opts", opts);
    if (py_dict_gets(context, "saltenv") == NULL)
        py_dict_sets_new(context, "saltenv", py_strz("base"));
    if (py_dict_gets(context, "fileclient") == NULL)
        py_dict_sets(context, "fileclient", PY_None);
    if (py_dict_gets(context, "salt") == NULL)
        py_dict_sets_new(context, "salt", jinja_salt_funcs(&funcs));
    const char *sls = value_str(env, "sls", NULL);
    if (sls == NULL)
        return;
    py_dict_sets_new(context, "sls", py_strz(sls));
    jinja_salt_sls(context, value_str(env, "tmplpath", NULL), sls);
}

/* ---- comparing -------------------------------------------------------------------------------- */

/* Errors of Python's insides ask for a refusal only: our message is to be a better one. */
static bool
is_accident(const json_t *error)
{
    const char *cls = value_str(error, "class", ""), *message = value_str(error, "message", "");
    return strcmp(cls, "IndexError") == 0 ||
           strstr(message, "'NoneType' object is not subscriptable") != NULL ||
           strstr(message, "'NoneType' object has no attribute") != NULL ||
           strstr(message, "name '__context__' is not defined") != NULL ||
           strstr(message, "Traceback (most recent call last)") != NULL;
}

/* Recorded cases whose answer is another one on purpose: a part of the output, or the error. See
 * tests/DIFFERENCES.md. */
static const struct {
    const char *name, *text;
} differences[] = {
    { "literal-23", "unknown Unicode character name" },
    { "finalize-printable-dict", "{'a': \"\u00e9'\\\"\\n\", 'b': None" },
    { "finalize-nested", "{'b': \"c\\nd\"}" },
};

static bool
is_difference(const json_t *c, const char *text)
{
    for (size_t i = 0; i < NELEMS(differences); i++)
        if (strcmp(value_str(c, "name", ""), differences[i].name) == 0)
            return strstr(text, differences[i].text) != NULL;
    return false;
}

static void
differ(buf_t *why, const char *what, const char *got, const char *want)
{
    if (got == NULL ? want != NULL : want == NULL || strcmp(got, want) != 0)
        buf_printf(why, "  %s: %s\n  expected: %s\n", what, got != NULL ? got : "(none)",
                   want != NULL ? want : "(none)");
}

static void
compare_salt_error(const json_t *c, const jinja_error_t *e, const json_t *want, buf_t *why)
{
    const char *source = value_str(c, "source", "");
    jinja_told_t told;
    jinja_salt_tell(e, source, strlen(source), value_str(value_get(c, "env"), "sls", NULL), &told);
    if (value_get(want, "salt_message") != NULL)
        differ(why, "salt_message", told.message, value_str(want, "salt_message", NULL));
    const json_t *line = value_get(want, "salt_line");
    if (json_is_integer(line) && json_integer_value(line) != told.line)
        buf_printf(why, "  salt_line: %d, expected %d\n", told.line, (int) json_integer_value(line));
    /* What Salt says, and perhaps what may have been meant. */
    const char *text = value_str(want, "salt_str", told.text), *hint = e->hint != NULL ? e->hint : "";
    char *full AUTO_FREE = xasprintf("%s%s%s", text, e->hint != NULL ? "\n" : "", hint);
    if (value_get(want, "salt_str") != NULL)
        differ(why, "salt_str", told.text, full);
    if (value_get(want, "hint") != NULL)
        differ(why, "hint", e->hint, value_str(want, "hint", NULL));
    jinja_told_free(&told);
}

static void
compare_error(const json_t *c, const jinja_error_t *e, const json_t *want, buf_t *why)
{
    if (is_difference(c, e->message))
        return;
    if (want == NULL) {
        buf_printf(why, "  error: %s: %s (line %d)\n", e->cls, e->message, e->n > 0 ? e->frames[0].line : 0);
        return;
    }
    if (is_accident(want))
        return;
    differ(why, "class", e->cls, value_str(want, "class", NULL));
    differ(why, "message", e->message, value_str(want, "message", NULL));
    const json_t *line = value_get(want, "lineno");
    if (json_is_integer(line) && (e->n == 0 || e->frames[0].line != json_integer_value(line)))
        buf_printf(why, "  lineno: %d, expected %d\n", e->n > 0 ? e->frames[0].line : 0,
                   (int) json_integer_value(line));
    if (json_is_integer(line))
        differ(why, "template", e->n > 0 ? e->frames[0].name : NULL, value_str(want, "template", NULL));
    if (value_get(want, "salt_message") != NULL)
        compare_salt_error(c, e, want, why);
}

static void
compare_value(py_t *got, const json_t *expect, buf_t *why)
{
    AUTO(py) want = untag(json_object_get(expect, "value"));
    AUTO(py) shown = py_repr(got);
    AUTO(py) wanted = py_repr(want);
    if (shown == NULL || py_eq(got, want) <= 0 || py_type(got) != py_type(want))
        differ(why, "value", shown != NULL ? py_cstr(shown) : py_raised_text(), py_cstr(wanted));
    py_clear();
}

/* ---- running ---------------------------------------------------------------------------------- */

static py_t *
case_globals(const json_t *c, py_t *context)
{
    const json_t *env = value_get(c, "env");
    if (value_bool(env, "salt", false))
        return py_ref(context);
    return json_is_object(value_get(env, "globals")) ? untag(value_get(env, "globals")) : py_dict();
}

static void
run_one(const json_t *c, jinja_t *engine, py_t *context, py_t *globals, buf_t *why)
{
    const json_t *expect = json_object_get(c, "expect"), *source = json_object_get(c, "source");
    const jinja_source_t src = { .text = json_string_value(source), .len = json_string_length(source) };
    jinja_error_t e = JINJA_ERROR_INIT;
    buf_auto_t out = BUF_INIT;
    int rc;
    AUTO(py) value = NULL;
    if (strcmp(value_str(c, "kind", ""), "expression") == 0) {
        value = jinja_evaluate(engine, &src, context, globals, &e);
        rc = value != NULL ? 0 : -1;
        if (rc == 0 && value_bool(c, "undefined_to_none", true) && py_is(value, PY_UNDEFINED)) {
            py_unref(value);
            value = py_ref(PY_None);
        }
    } else if (value_bool(value_get(c, "env"), "salt", false)) {
        rc = jinja_salt_render(engine, &src, context, &out, &e);
    } else {
        rc = jinja_render(engine, &src, context, globals, &out, &e);
    }
    if (rc < 0)
        compare_error(c, &e, json_object_get(expect, "error"), why);
    else if (value != NULL && json_object_get(expect, "error") == NULL)
        compare_value(value, expect, why);
    else if (!is_difference(c, buf_str(&out)))
        differ(why, "output", buf_str(&out), value_str(expect, "output", NULL));
    jinja_error_free(&e);
}

/* Appends to `why` what is wrong; nothing when the case passes. */
static void
run_jinja_case(const json_t *c, buf_t *why)
{
    const json_t *env = value_get(c, "env");
    jinja_case_t jc = { value_get(c, "templates"), value_get(c, "functions"),
                        value_bool(env, "salt", false) };
    const jinja_loader_t loader = { case_load, &jc };
    jinja_options_t options;
    case_options(env, &options);
    jinja_t *engine = jinja_new(&options, jc.salt || jc.templates != NULL ? &loader : NULL);
    const char *key;
    json_t *value;
    json_object_foreach (value_get(env, "policies"), key, value)
        py_dict_sets_new(jinja_policies(engine), key, untag(value));
    AUTO(py) context = untag(json_object_get(c, "context"));
    const jinja_funcs_t funcs = { case_has, case_call, &jc };
    if (jc.salt)
        salt_context(context, c, &jc);
    else if (jc.functions != NULL)
        py_dict_sets_new(context, "salt", jinja_salt_funcs(&funcs));
    AUTO(py) globals = case_globals(c, context);
    run_one(c, engine, context, globals, why);
    jinja_destroy(&engine);
}

#endif
