/* bind.c - positional and keyword values to named arguments, as Python does it and in its words. */
#include "common/plugin/call.h"

#include <limits.h>
#include <math.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/plugin/ctx.h"

enum { SHOWN_LEN = 120 }; /* of a refused value in a message */

/* The rows of a function sorted by what they take. */
typedef struct shape {
    const arg_t *pos; /* positional or keyword */
    size_t n_pos, n_required;
    const arg_t *only; /* after *args: by keyword only */
    size_t n_only;
    const arg_t *star, *starstar;
} shape_t;

static bool
is_star(const arg_t *row)
{
    return row->dflt != NULL && strcmp(row->dflt, ARG_STAR) == 0;
}

static bool
is_starstar(const arg_t *row)
{
    return row->dflt != NULL && strcmp(row->dflt, ARG_STARSTAR) == 0;
}

static shape_t
shape_of(const func_t *f)
{
    shape_t s = { .pos = f->args, .only = NULL };

    for (const arg_t *row = f->args; row != NULL && row->name != NULL; row++) {
        if (is_starstar(row)) {
            s.starstar = row;
        } else if (is_star(row)) {
            s.star = row;
            s.only = row + 1;
        } else if (s.star != NULL) {
            s.n_only++;
        } else {
            s.n_pos++;
            s.n_required += row->dflt == ARG_REQUIRED;
        }
    }
    return s;
}

static const arg_t *
named_row(const shape_t *s, const char *key)
{
    for (size_t i = 0; i < s->n_pos; i++) {
        if (strcmp(s->pos[i].name, key) == 0)
            return &s->pos[i];
    }
    for (size_t i = 0; i < s->n_only; i++) {
        if (strcmp(s->only[i].name, key) == 0)
            return &s->only[i];
    }
    return NULL;
}

bool
bind_knows(const func_t *f, const char *key)
{
    shape_t s = shape_of(f);

    return named_row(&s, key) != NULL;
}

/* ---- values of the declared type ----------------------------------------------------------- */

static json_t *
to_str(json_t *v)
{
    if (json_is_object(v) || json_is_array(v))
        return NULL;
    AUTO_FREE char *text = value_pystr(v);
    return json_string(text);
}

static json_t *
to_int(json_t *v)
{
    long long n;

    if (json_is_boolean(v))
        return json_integer(json_is_true(v));
    if (json_is_real(v)) {
        double d = json_real_value(v);
        return d == floor(d) && fabs(d) < 0x1p62 ? json_integer((json_int_t) d) : NULL;
    }
    if (!json_is_string(v))
        return NULL;
    AUTO_FREE char *copy = xstrdup(json_string_value(v));
    return str_to_int(str_trim(copy), LLONG_MIN, LLONG_MAX, &n) ? json_integer(n) : NULL;
}

static json_t *
to_float(json_t *v)
{
    if (json_is_integer(v))
        return json_real((double) json_integer_value(v));
    if (json_is_boolean(v))
        return json_real(json_is_true(v) ? 1.0 : 0.0);
    if (!json_is_string(v))
        return NULL;
    AUTO_FREE char *copy = xstrdup(json_string_value(v));
    const char *text = str_trim(copy);
    char *end;
    double d = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(d) ? json_real(d) : NULL;
}

static json_t *
to_bool(json_t *v)
{
    static const struct {
        const char *word;
        bool means;
    } words[] = {
        { "true", true }, { "yes", true },  { "on", true }, { "1", true }, { "false", false },
        { "no", false },  { "off", false }, { "0", false }, { "", false }, { "none", false },
    };

    if (json_is_number(v) || json_is_null(v))
        return json_boolean(value_truthy(v));
    for (size_t i = 0; json_is_string(v) && i < NELEMS(words); i++) {
        if (strcasecmp(json_string_value(v), words[i].word) == 0)
            return json_boolean(words[i].means);
    }
    return NULL;
}

/* "a, b" is a list of two, another scalar a list of one: salt.utils.args.split_input. */
static json_t *
to_list(json_t *v)
{
    if (json_is_object(v))
        return NULL;
    if (!json_is_string(v))
        return json_pack("[O]", v);
    json_t *list = json_array();
    char **parts = str_split(json_string_value(v), ",", false);
    for (char **p = parts; *p != NULL; p++)
        json_array_append_new(list, json_string(str_trim(*p)));
    strv_free(parts);
    return list;
}

/* The YAML habit of a list of one-key mappings: salt.utils.data.repack_dictlist. */
static json_t *
to_dict(json_t *v)
{
    size_t i;
    json_t *element;

    if (!json_is_array(v))
        return NULL;
    json_auto_t *dict = json_object();
    json_array_foreach (v, i, element) {
        if (json_object_size(element) != 1)
            return NULL;
        json_object_update(dict, element);
    }
    return json_incref(dict);
}

static const struct {
    const char *words; /* "must be ..." */
    int json;          /* the type that needs no conversion */
    json_t *(*convert)(json_t *v);
} types[] = {
    [ARG_ANY] = { "anything", -1, NULL },
    [ARG_STR] = { "a string", JSON_STRING, to_str },
    [ARG_INT] = { "an integer", JSON_INTEGER, to_int },
    [ARG_FLOAT] = { "a number", JSON_REAL, to_float },
    [ARG_BOOL] = { "True or False", JSON_TRUE, to_bool },
    [ARG_LIST] = { "a list", JSON_ARRAY, to_list },
    [ARG_DICT] = { "a dictionary", JSON_OBJECT, to_dict },
};

static json_t *
default_of(const arg_t *row)
{
    json_t *v = json_loads(row->dflt, JSON_DECODE_ANY, NULL);

    salt_assert(v != NULL); /* registry_check refuses such a row */
    return v;
}

/* NEW: `v` as the row's type, or NULL with *err. */
static json_t *
convert(const func_t *f, const arg_t *row, json_t *v, fail_t *err)
{
    int have = json_is_boolean(v) ? JSON_TRUE : (int) json_typeof(v);

    if (row->type == ARG_ANY || have == types[row->type].json)
        return json_incref(v);
    if (json_is_null(v) && row->dflt != ARG_REQUIRED && row->type != ARG_BOOL)
        return default_of(row);
    if (json_is_null(v) && row->dflt != ARG_REQUIRED && strcmp(row->dflt, "null") == 0)
        return json_null();
    json_t *made = json_is_null(v) && row->type != ARG_BOOL ? NULL : types[row->type].convert(v);
    if (made != NULL)
        return made;
    AUTO_FREE char *shown = value_repr(v);
    fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() argument '%s' must be %s, not %.*s%s", f->name, row->name,
              types[row->type].words, (int) SHOWN_LEN, shown, strlen(shown) > SHOWN_LEN ? "..." : "");
    return NULL;
}

/* Convert the named row's value in place. */
static int
convert_row(const func_t *f, const arg_t *row, json_t *out, fail_t *err)
{
    json_t *v = convert(f, row, json_object_get(out, row->name), err);

    if (v == NULL)
        return -EINVAL;
    json_object_set_new(out, row->name, v);
    return 0;
}

/* ---- who gets which value ------------------------------------------------------------------ */

static void
bind_positional(const shape_t *s, json_t *args, json_t *out)
{
    size_t n = json_array_size(args);

    for (size_t i = 0; i < n && i < s->n_pos; i++)
        json_object_set(out, s->pos[i].name, json_array_get(args, i));
    if (s->star == NULL)
        return;
    json_t *rest = json_array();
    for (size_t i = s->n_pos; i < n; i++)
        json_array_append(rest, json_array_get(args, i));
    json_object_set_new(out, s->star->name, rest);
}

static int
bind_keywords(const func_t *f, const shape_t *s, json_t *kwargs, json_t *out, fail_t *err)
{
    json_t *extra = json_object(), *v;
    const char *key;

    /* Put in at once, so that it is freed with `out`. */
    if (s->starstar != NULL)
        json_object_set_new(out, s->starstar->name, extra);
    else
        json_decref(extra);
    json_object_foreach (kwargs, key, v) {
        const arg_t *row = named_row(s, key);
        if (row != NULL && json_object_get(out, row->name) != NULL)
            return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() got multiple values for argument '%s'",
                             f->name, key);
        if (row == NULL && s->starstar == NULL)
            return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() got an unexpected keyword argument '%s'",
                             f->name, key);
        json_object_set(row != NULL ? out : extra, key, v);
    }
    return 0;
}

static int
too_many(const func_t *f, const shape_t *s, size_t given, fail_t *err)
{
    const char *verb = given == 1 ? "was" : "were";

    if (s->n_required < s->n_pos)
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL,
                         "%s() takes from %zu to %zu positional arguments but %zu %s given", f->name,
                         s->n_required, s->n_pos, given, verb);
    return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() takes %zu positional argument%s but %zu %s given",
                     f->name, s->n_pos, s->n_pos == 1 ? "" : "s", given, verb);
}

/* Complain about the required rows without a value: 'a', 'b', and 'c'. */
static int
check_missing(const func_t *f, const arg_t *rows, size_t n, const char *kind, const json_t *out, fail_t *err)
{
    buf_auto_t names = BUF_INIT;
    size_t missing = 0, seen = 0;

    for (size_t i = 0; i < n; i++)
        missing += rows[i].dflt == ARG_REQUIRED && json_object_get(out, rows[i].name) == NULL;
    if (missing == 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].dflt != ARG_REQUIRED || json_object_get(out, rows[i].name) != NULL)
            continue;
        seen++;
        if (seen > 1)
            buf_puts(&names, seen < missing ? ", " : missing == 2 ? " and " : ", and ");
        buf_printf(&names, "'%s'", rows[i].name);
    }
    return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() missing %zu required %s argument%s: %s", f->name,
                     missing, kind, missing == 1 ? "" : "s", buf_str(&names));
}

/* Defaults for what was not given, the declared type for what was. */
static int
finish_rows(const func_t *f, const arg_t *rows, size_t n, json_t *out, fail_t *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc = 0;
        if (json_object_get(out, rows[i].name) == NULL)
            json_object_set_new(out, rows[i].name, default_of(&rows[i]));
        else
            rc = convert_row(f, &rows[i], out, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Salt's own keywords (__pub_jid and the like) go to whoever asked for them. */
static void
add_pub(const func_t *f, const shape_t *s, json_t *pub, json_t *out)
{
    const char *key;
    json_t *v;

    if (s->starstar == NULL || (f->flags & FN_RAW_KWARGS) == 0)
        return;
    json_t *extra = json_object_get(out, s->starstar->name);
    json_object_foreach (pub, key, v) {
        AUTO_FREE char *name = str_starts(key, "__pub_") ? xstrdup(key) : xasprintf("__pub_%s", key);
        json_object_set(extra, name, v);
    }
}

json_t *
bind_python(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err)
{
    shape_t s = shape_of(f);
    json_auto_t *out = json_object();
    size_t given = json_array_size(args);

    bind_positional(&s, args, out);
    if (bind_keywords(f, &s, kwargs, out, err) < 0)
        return NULL;
    if (given > s.n_pos && s.star == NULL) {
        too_many(f, &s, given, err);
        return NULL;
    }
    if (check_missing(f, s.pos, s.n_pos, "positional", out, err) < 0 ||
        check_missing(f, s.only, s.n_only, "keyword-only", out, err) < 0 ||
        finish_rows(f, s.pos, s.n_pos, out, err) < 0 || finish_rows(f, s.only, s.n_only, out, err) < 0)
        return NULL;
    add_pub(f, &s, pub, out);
    return json_incref(out);
}

json_t *
bind_args(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err)
{
    shape_t s = shape_of(f);
    buf_auto_t invalid = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach (kwargs, key, v) {
        if (s.starstar != NULL || named_row(&s, key) != NULL)
            continue;
        AUTO_FREE char *text = value_pystr(v);
        buf_printf(&invalid, "%s%s=%s", invalid.len > 0 ? ", " : "", key, text);
    }
    if (invalid.len > 0) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "The following keyword arguments are not valid: %s",
                  buf_str(&invalid));
        return NULL;
    }
    return bind_python(f, args, kwargs, pub, err);
}

/* ---- sys.argspec --------------------------------------------------------------------------- */

json_t *
func_argspec(const func_t *f)
{
    shape_t s = shape_of(f);
    json_t *names = json_array(), *defaults = json_array();

    for (size_t i = 0; i < s.n_pos; i++) {
        json_array_append_new(names, json_string(s.pos[i].name));
        if (s.pos[i].dflt != ARG_REQUIRED)
            json_array_append_new(defaults, default_of(&s.pos[i]));
    }
    if (json_array_size(names) == 0) {
        json_decref(names);
        names = json_null();
    }
    if (json_array_size(defaults) == 0) {
        json_decref(defaults);
        defaults = json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "args", names, "defaults", defaults, "varargs",
                     s.star != NULL ? json_true() : json_null(), "kwargs",
                     s.starstar != NULL ? json_true() : json_null());
}
