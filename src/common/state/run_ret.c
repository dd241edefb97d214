/* run_ret.c - build a state's return piece by piece, and the tag under which it is stored. The functions are
 * those of salt/state.h, which every state module uses. */
#include "common/base/buf.h"
#include "salt/state.h"

json_t *
state_ret(const char *name)
{
    return json_pack("{s:o, s:{}, s:b, s:s}", "name", value_utf8(name, strlen(name)), "changes", "result", 1,
                     "comment", "");
}

json_t *
state_ret_args(const json_t *args)
{
    json_t *name = value_get(args, "name");

    return json_pack("{s:O, s:{}, s:b, s:s}", "name", name != NULL ? name : json_null(), "changes", "result",
                     1, "comment", "");
}

int
state_ret_set(json_t *ret, state_result_t result, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    json_object_set_new(ret, "result",
                        result == STATE_NONE ? json_null() : json_boolean(result == STATE_TRUE));
    json_object_set_new(ret, "comment", value_utf8(text, strlen(text)));
    return 0;
}

void
state_ret_comment(json_t *ret, json_t *comment)
{
    json_object_set_new(ret, "comment", comment);
}

void
state_ret_add(json_t *ret, const char *fmt, ...)
{
    va_list ap;
    buf_auto_t text = BUF_INIT;
    const char *before = value_str(ret, "comment", "");

    va_start(ap, fmt);
    AUTO_FREE char *line = xvasprintf(fmt, ap);
    va_end(ap);
    buf_printf(&text, "%s%s%s", before, *before != '\0' ? "\n" : "", line);
    json_object_set_new(ret, "comment", value_utf8(text.data, text.len));
}

void
state_ret_warn(json_t *ret, const char *fmt, ...)
{
    va_list ap;
    json_t *warnings = value_get(ret, "warnings");

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    if (!json_is_array(warnings)) {
        warnings = json_array();
        json_object_set_new(ret, "warnings", warnings);
    }
    json_array_append_new(warnings, value_utf8(text, strlen(text)));
}

int
state_ret_fail(json_t *ret, fail_t *err)
{
    (void) state_ret_set(ret, STATE_FALSE, "%s", fail_text(err));
    fail_clear(err);
    return 0;
}

void
state_change(json_t *ret, const char *key, json_t *value)
{
    json_t *changes = value_get(ret, "changes");

    if (!json_is_object(changes)) /* a text, such as a diff, was put there */
        json_object_set_new(ret, "changes", changes = json_object());
    json_object_set_new(changes, key, value);
}

void
state_change_from(json_t *ret, const char *key, json_t *before, json_t *after)
{
    json_t *change = json_object();

    json_object_set_new(change, "old", before != NULL ? before : json_null());
    json_object_set_new(change, "new", after != NULL ? after : json_null());
    state_change(ret, key, change);
}

void
state_change_set(json_t *ret, json_t *changes)
{
    json_object_set_new(ret, "changes", changes);
}

bool
state_changed(const json_t *ret)
{
    return value_truthy(value_get(ret, "changes"));
}

/* Salt's key of a return, by which orchestrations and check_result() find it. NEW. */
char *
state_tag(const json_t *chunk)
{
    static const char *const parts[] = { "state", "__id__", "name", "fun" };
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < NELEMS(parts); i++) {
        if (i > 0)
            buf_puts(&out, "_|-");

        /* Append a part of a tag as Python's str.format would print it. */
        const char *key = parts[i];
        const json_t *part = value_get(chunk, key);
        if (json_is_string(part)) {
            buf_add(&out, json_string_value(part), json_string_length(part));
        } else if (part != NULL) {
            AUTO_FREE char *text = value_pystr(part);
            buf_puts(&out, text);
        }
    }
    return buf_steal(&out);
}
