/* bind.c - bind positional and keyword values to a function's named arguments, with Python's rules and error
 * texts, and convert them to the declared types.
 *
 * Where a value goes is decided in place.c; this file handles JSON values, native.c Python's. */
#include "common/plugin/call.h"

#include <limits.h>
#include <math.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/plugin/ctx.h"
#include "common/plugin/keywords.h"
#include "common/plugin/place.h"
#include "salt/log.h"

enum { SHOWN_LEN = 120 }; /* of a refused value in a message */

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

/* Convert as salt.utils.args.split_input: "a, b" is a list of two, any other scalar a list of one. An empty
 * text names nothing, as in an SLS whose template had no value. */
static json_t *
to_list(json_t *v)
{
    if (json_is_object(v))
        return NULL;
    if (!json_is_string(v))
        return json_pack("[O]", v);
    json_t *list = json_array();
    if (json_string_length(v) == 0)
        return list;
    char **parts = str_split(json_string_value(v), ",", false);
    for (char **p = parts; *p != NULL; p++)
        json_array_append_new(list, json_string(str_trim(*p)));
    strv_free(parts);
    return list;
}

/* Convert a list of one-key mappings, as people write them in YAML: salt.utils.data.repack_dictlist. */
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

json_t *
bind_default(const arg_t *row)
{
    json_t *v = json_loads(arg_dflt(row), JSON_DECODE_ANY, NULL);

    salt_assert(v != NULL); /* registry_check refuses such a row */
    return v;
}

/* The row's value, converted to its type. NEW; NULL with *err. */
static json_t *
bind_value_of(const places_t *places, const arg_t *row, json_t *args, json_t *kwargs, fail_t *err)
{
    size_t at = places->of[row - places->f->args];

    if (row == places->shape.star) {
        /* The values for *args. */
        json_t *rest = json_array();
        for (size_t i = places->shape.n_pos; i < places->n; i++)
            json_array_append(rest, json_array_get(args, i));
        return rest;
    }
    if (row == places->shape.starstar) {
        /* The values for **kwargs. Salt's own (bind_python) are never a caller's: one says which minion
         * asks. */
        json_t *extra = json_object();
        for (size_t k = 0; k < places->nkw; k++)
            if (places->kw[k].row == NULL && !str_starts(places->kw[k].name, "__pub_"))
                json_object_set(extra, places->kw[k].name, json_object_get(kwargs, places->kw[k].name));
        return extra;
    }
    if (at == NO_PLACE)
        return bind_default(row);

    /* Convert `v` to the row's type. None stands for the default where the type does not admit it. */
    json_t *v = at < places->n ? json_array_get(args, at) : json_object_get(kwargs, arg_name(row));
    int have = json_is_boolean(v) ? JSON_TRUE : (int) json_typeof(v);
    if (arg_type(row) == ARG_ANY || have == types[arg_type(row)].json)
        return json_incref(v);
    if (json_is_null(v) && !arg_is(row, ARG_REQUIRED) && arg_type(row) != ARG_BOOL)
        return bind_default(row);
    if (json_is_null(v) && arg_is(row, "null"))
        return json_null();
    json_t *made = json_is_null(v) && arg_type(row) != ARG_BOOL ? NULL : types[arg_type(row)].convert(v);
    if (made != NULL)
        return made;
    AUTO_FREE char *shown = value_repr(v);
    fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "%s() argument '%s' must be %s, not %.*s%s", places->f->name,
              arg_name(row), types[arg_type(row)].words, (int) SHOWN_LEN, shown,
              strlen(shown) > SHOWN_LEN ? "..." : "");
    return NULL;
}

/* Strict: all failures are a TypeError, as for a call inside Python. */
json_t *
bind_python(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err)
{
    PLACES_AUTO places = places_new(f, json_array_size(args), json_object_size(kwargs));
    json_auto_t *out = json_object();
    const char *key;
    json_t *v;
    size_t k = 0;

    json_object_foreach (kwargs, key, v)
        places.kw[k++].name = key;
    if (places_find(&places, err) < 0)
        return NULL;
    for (size_t i = 0; i < places.shape.n; i++) {
        v = bind_value_of(&places, &f->args[i], args, kwargs, err);
        if (v == NULL)
            return NULL;
        json_object_set_new(out, arg_name(&f->args[i]), v);
    }

    /* Pass Salt's own keywords (__pub_jid and the like) to functions that ask for them (FN_RAW_KWARGS). */
    const shape_t *s = &places.shape;
    if (s->starstar != NULL && (f->flags & FN_RAW_KWARGS) != 0) {
        json_t *extra = json_object_get(out, arg_name(s->starstar));
        json_object_foreach (pub, key, v) {
            AUTO_FREE char *name = str_starts(key, "__pub_") ? xstrdup(key) : xasprintf("__pub_%s", key);
            json_object_set(extra, name, v);
        }
    }

    return json_incref(out);
}

/* As for a command line: unknown keywords are checked first, with Salt's own wording (FAIL_INVOCATION,
 * -ENOKEY). */
json_t *
bind_args(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err)
{
    keyword_names_t names = { .f = f, .given = kwargs };
    json_auto_t *typos = json_object();
    buf_auto_t invalid = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach (kwargs, key, v) {
        AUTO_FREE char *near = NULL;
        keyword_fit_t fit = str_starts(key, "__") && keyword_any(f) ? KEYWORD_TAKEN
                                                                    : keyword_fit(&names, key, &near);
        if (fit == KEYWORD_NONE && keyword_any(f))
            log_warning("%s() does not know the keyword argument '%s', which has no effect", f->name, key);
        if (fit < KEYWORD_TYPO || (fit == KEYWORD_NONE && keyword_any(f)))
            continue;
        AUTO_FREE char *text = value_pystr(v);
        buf_printf(&invalid, "%s%s=%s", invalid.len > 0 ? ", " : "", key, text);
        if (near != NULL)
            json_object_set_new(typos, key, json_string(near));
    }
    if (invalid.len > 0) {
        keyword_hints(typos, &invalid);
        fail_kind(err, FAIL_INVOCATION, -ENOKEY, "The following keyword arguments are not valid: %s",
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
        json_array_append_new(names, json_string(arg_name(&s.pos[i])));
        if (!arg_is(&s.pos[i], ARG_REQUIRED))
            json_array_append_new(defaults, bind_default(&s.pos[i]));
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
