/* netdiff.c - lists of lines and their differences, as the states of network show them. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/data/diff.h"
#include "plugins/lib/net/netdiff.h"

#define ENDED '\1' /* marks a line with an end, which difflib compares and prints as a part of it */

static void
netdiff_add_lines(buf_t *out, const json_t *list)
{
    json_t *line;
    size_t i;

    json_array_foreach (list, i, line) {
        size_t n = json_string_length(line);
        bool ended = n > 0 && json_string_value(line)[n - 1] == '\n';
        buf_add(out, json_string_value(line), ended ? n - 1 : n);
        if (ended)
            buf_putc(out, ENDED);
        buf_putc(out, '\n');
    }
}

char *
netdiff_of(const json_t *before, const json_t *after)
{
    buf_auto_t old = BUF_INIT, new = BUF_INIT;

    netdiff_add_lines(&old, before);
    netdiff_add_lines(&new, after);
    AUTO_FREE char *diff = diff_texts_lf(buf_str(&old), old.len, buf_str(&new), new.len, "", "");
    char *text = str_replace(diff, "\1", "\n");
    size_t n = strlen(text);
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return text;
}

json_t *
netdiff_lines(const char *text)
{
    json_t *list = json_array();

    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        json_array_append_new(list, json_stringn(text, n));
        text += n;
    }
    return list;
}

json_t *
netdiff_split(const char *text)
{
    char **lines = str_split(text, "\n", false);
    json_t *list = json_array();

    for (size_t i = 0; lines[i] != NULL; i++)
        json_array_append_new(list, value_fmt("%s\n", lines[i]));
    strv_free(lines);
    return list;
}
