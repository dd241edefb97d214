/* field.c - see field.h. */
#include "plugins/lib/file/field.h"

#include "common/base/str.h"

/* In words where the character itself can't be read. NEW. */
static char *
field_sign(char c)
{
    static const struct {
        char c;
        const char *word;
    } rows[] = { { '\n', "a line break" }, { '\r', "a line break" }, { ' ', "a blank" }, { '\t', "a tab" } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (rows[i].c == c)
            return xstrdup(rows[i].word);
    }
    return (unsigned char) c < ' ' ? xstrdup("a control character") : xasprintf("'%c'", c);
}

int
field_check_text(const char *argument, const char *value, const char *separators, fail_t *err)
{
    AUTO_FREE char *refused = xasprintf("\r\n%s", separators);
    size_t n = strcspn(value, refused);

    if (value[n] == '\0')
        return 0;
    json_auto_t *text = value_utf8(value, strlen(value));
    AUTO_FREE char *shown = value_repr(text), *sign = field_sign(value[n]);
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "%s: %s may not hold %s, which would begin another line or field of the file; give it as one",
        argument, shown, sign);
}

int
field_check(const char *argument, const json_t *value, const char *separators, fail_t *err)
{
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        AUTO_FREE char *text = one == NULL || json_is_null(one) ? xstrdup("") : value_pystr(one);
        rc = field_check_text(argument, text, separators, err);
    }
    return rc;
}
