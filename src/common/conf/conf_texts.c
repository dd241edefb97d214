/* conf_texts.c - options that are texts or lists of texts, and the error for a value of a wrong type. */
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/value.h"

const char *
conf_type_name(const json_t *v)
{
    static const char *const names[] = { [JSON_OBJECT] = "a mapping", [JSON_ARRAY] = "a list",
                                         [JSON_STRING] = "a text",    [JSON_INTEGER] = "a whole number",
                                         [JSON_REAL] = "a number",    [JSON_TRUE] = "true",
                                         [JSON_FALSE] = "false",      [JSON_NULL] = "nothing" };

    return names[json_typeof(v)];
}

json_t *
conf_refuse(const option_row_t *row, const json_t *v, const char *wanted, const char *where, fail_t *err)
{
    if (json_is_string(v))
        fail_set(err, -EINVAL, "%s: option '%s' wants %s, not the text '%.100s'", where, row->name, wanted,
                 json_string_value(v));
    else
        fail_set(err, -EINVAL, "%s: option '%s' wants %s, not %s", where, row->name, wanted,
                 conf_type_name(v));
    return NULL;
}

/* Numbers and booleans become Python's str(): `user: 1000` is the user "1000". */
json_t *
conf_check_text(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    if (json_is_object(v) || json_is_array(v))
        return conf_refuse(row, v, "a text", where, err);
    AUTO_FREE char *text = value_pystr(v);
    return json_string(text);
}

json_t *
conf_check_list_of_texts(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    json_auto_t *list = json_array();
    size_t i;
    json_t *item;

    if (json_is_object(v))
        return conf_refuse(row, v, "a list of texts", where, err);
    if (!json_is_array(v)) {
        json_array_append_new(list, conf_check_text(row, v, where, err));
        return STEAL(list);
    }
    json_array_foreach (v, i, item) {
        if (json_is_object(item) || json_is_array(item)) {
            fail_set(err, -EINVAL, "%s: option '%s' wants a list of texts, but item %zu is %s", where,
                     row->name, i + 1, conf_type_name(item));
            return NULL;
        }
        json_array_append_new(list, conf_check_text(row, item, where, err));
    }
    return STEAL(list);
}
