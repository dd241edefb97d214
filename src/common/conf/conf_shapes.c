/* conf_shapes.c - options that accept several types, such as "true or a list of texts". A row's `shapes` is a
 * set of bits; the first shape that fits is taken. */
#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/value.h"

static bool
is_texts(const json_t *v)
{
    const json_t *item;

    for (size_t i = 0; (item = json_array_get(v, i)) != NULL; i++)
        if (!json_is_string(item))
            return false;
    return json_is_array(v);
}

static bool
is_switch(const json_t *v)
{
    return json_is_boolean(v);
}

static bool
is_count(const json_t *v)
{
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool
conf_shapes_is_text(const json_t *v)
{
    return json_is_string(v);
}

static bool
conf_shapes_is_mapping(const json_t *v)
{
    return json_is_object(v);
}

static const struct {
    conf_shape_t shape;
    bool (*is)(const json_t *v);
    const char *what;
} shapes[] = {
    { CONF_SWITCH, is_switch, "true or false" },
    { CONF_COUNT, is_count, "a whole number" },
    { CONF_TEXT, conf_shapes_is_text, "a text" },
    { CONF_TEXTS, is_texts, "a list of texts" },
    { CONF_MAPPING, conf_shapes_is_mapping, "a mapping (name: value)" },
};

/* The error names all shapes that the row allows. */
json_t *
conf_check_shapes(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    buf_auto_t wanted = BUF_INIT;

    for (size_t i = 0; i < NELEMS(shapes); i++) {
        if ((row->shapes & shapes[i].shape) == 0)
            continue;
        if (shapes[i].is(v))
            return json_deep_copy(v);
        buf_printf(&wanted, "%s%s", wanted.len > 0 ? ", or " : "", shapes[i].what);
    }
    return conf_refuse(row, v, buf_str(&wanted), where, err);
}

/* Merge a list of one-pair mappings into one mapping. */
json_t *
conf_check_groups(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    json_auto_t *groups = json_is_array(v) ? json_object() : json_deep_copy(v);
    const char *name;
    json_t *item;
    size_t i;
    bool ok = true;

    json_array_foreach ((json_t *) v, i, item)
        ok = ok && json_is_object(item) && json_object_update(groups, item) == 0;
    if (!ok || !json_is_object(groups))
        return conf_refuse(row, v, "a mapping of names to compound targets", where, err);
    json_object_foreach (groups, name, item) {
        if (json_is_string(item) || is_texts(item))
            continue;
        fail_set(err, -EINVAL,
                 "%s: option '%s': the group '%s' wants a compound target, or a list of its words", where,
                 row->name, name);
        return NULL;
    }
    return STEAL(groups);
}

json_t *
conf_check_batch(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    const char *text = json_is_string(v) ? json_string_value(v) : "";

    if (!value_truthy(v) || is_count(v))
        return json_deep_copy(v);

    /* "10", "25%" and "%12.5" are texts of a batch; only a part may have a fraction. */
    const char *number = text + (*text == '%');
    size_t digits = strspn(number, "0123456789.");
    bool part = number != text || number[digits] == '%';
    if (isdigit((unsigned char) *number) && strspn(number + digits, "%") == strlen(number + digits) &&
        strlen(text) <= digits + part && (part || strchr(text, '.') == NULL))
        return json_deep_copy(v);
    return conf_refuse(row, v, "a number of minions, or a part of them as in 25%", where, err);
}
