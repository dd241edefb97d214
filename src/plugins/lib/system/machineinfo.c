/* machineinfo.c - see machineinfo.h: PRETTY_HOSTNAME in the text of /etc/machine-info (machine-info(5)), with
 * Salt's escapes. Pure. */
#include "plugins/lib/system/machineinfo.h"

#include "common/base/buf.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"

#define KEY "PRETTY_HOSTNAME="

static const char escapes[][2] = { { '\\', '\\' }, { '"', '"' }, { '\n', 'n' }, { '\t', 't' } };

/* Salt writes a backslash as it is and reads a pair of them as one. */
char *
machineinfo_escape(const char *desc)
{
    buf_t out = BUF_INIT;

    buf_reserve(&out, 1);
    for (const char *p = desc; *p != '\0'; p++) {
        char spelled = '\0';
        for (size_t i = 1; i < NELEMS(escapes); i++)
            spelled = *p == escapes[i][0] ? escapes[i][1] : spelled;
        if (spelled != '\0')
            buf_putc(&out, '\\');
        buf_putc(&out, spelled != '\0' ? spelled : *p);
    }
    return buf_steal(&out);
}

char *
machineinfo_unescape(const char *spelled)
{
    buf_t out = BUF_INIT;

    buf_reserve(&out, 1);
    for (const char *p = spelled; *p != '\0'; p++) {
        char plain = '\0';
        for (size_t i = 0; *p == '\\' && i < NELEMS(escapes); i++)
            plain = p[1] == escapes[i][1] ? escapes[i][0] : plain;
        if (plain != '\0')
            p++;
        buf_putc(&out, plain != '\0' ? plain : *p);
    }
    return buf_steal(&out);
}

/* Value behind the key on its line; NULL on any other line. */
static char *
value_on(char *line)
{
    line += strspn(line, " \t");
    return str_starts(line, KEY) ? line + strlen(KEY) : NULL;
}

/* The last value counts. NEW; NULL without one. */
char *
machineinfo_get(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    const char *found = NULL;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        char *value = value_on(line);
        if (value == NULL)
            continue;
        value = str_trim(value);
        size_t len = strlen(value);
        if (len > 1 && strchr("'\"", *value) != NULL && value[len - 1] == *value) {
            value[len - 1] = '\0';
            value++;
        }
        found = value;
    }
    return found != NULL ? machineinfo_unescape(found) : NULL;
}

/* Replaces the first line of the key or appends one. NEW. */
char *
machineinfo_set(const char *text, const char *desc)
{
    AUTO_FREE char *copy = xstrdup(text);
    AUTO_FREE char *spelled = machineinfo_escape(desc);
    buf_t out = BUF_INIT;
    bool done = false;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (!done && value_on(line) != NULL) {
            buf_printf(&out, KEY "\"%s\"\n", spelled);
            done = true;
        } else if (*line != '\0' || at != NULL) {
            buf_printf(&out, "%s\n", line);
        }
    }
    if (!done)
        buf_printf(&out, KEY "\"%s\"\n", spelled);
    return buf_steal(&out);
}
