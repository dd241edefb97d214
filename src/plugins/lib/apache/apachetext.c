/* apachetext.c - see apachetext.h. */
#include "plugins/lib/apache/apachetext.h"

#include "salt/limits.h"

static void
open_section(buf_t *out, const char *name, const json_t *argument)
{
    AUTO_FREE char *text = value_pystr(argument);

    buf_printf(out, "<%s %s>\n", name, text);
}

/* What an object names, below a section. `skips`: values that are no text, list or object are not named at
 * all. */
static int
add_members(buf_t *out, const json_t *members, bool skips, int depth, fail_t *err)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *) members, key, value) {
        bool known = json_is_string(value) || json_is_array(value) || json_is_object(value);
        if (strcmp(key, "this") == 0 || (skips && !known))
            continue;
        if (apachetext_add(out, key, value, depth + 1, err) < 0)
            return err->code;
        buf_putc(out, '\n');
    }
    return 0;
}

static int
add_list(buf_t *out, const char *name, const json_t *list, int depth, fail_t *err)
{
    const json_t *argument = NULL;
    json_t *one;
    size_t i;

    /* A section that is written as a list has its argument in an element "this"; without one the list is none. */
    json_array_foreach ((json_t *) list, i, one)
        argument = value_get(one, "this") != NULL ? value_get(one, "this") : argument;
    if (argument != NULL)
        open_section(out, name, argument);
    json_array_foreach ((json_t *) list, i, one) {
        int rc = argument != NULL ? add_members(out, one, false, depth, err)
                                  : apachetext_add(out, name, one, depth + 1, err);
        if (rc < 0)
            return rc;
        if (argument == NULL)
            buf_putc(out, '\n');
    }
    if (argument != NULL)
        buf_printf(out, "</%s>\n", name);
    return 0;
}

int
apachetext_add(buf_t *out, const char *name, const json_t *conf, int depth, fail_t *err)
{
    if (depth > LIMIT_JSON_DEPTH)
        return fail_set(err, -E2BIG, "config: sections are nested deeper than %d", LIMIT_JSON_DEPTH);
    if (json_is_string(conf))
        buf_printf(out, "%s %s", name, json_string_value(conf));
    if (json_is_array(conf))
        return add_list(out, name, conf, depth, err);
    if (!json_is_object(conf))
        return 0;
    if (value_get(conf, "this") == NULL)
        return fail_set(err, -EINVAL,
                        "Apache section container \"<%s>\" expects attribute. Specify it using key \"this\".",
                        name);
    open_section(out, name, value_get(conf, "this"));
    int rc = add_members(out, conf, true, depth, err);
    buf_printf(out, "</%s>\n", name);
    return rc;
}
