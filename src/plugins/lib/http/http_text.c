/* http_text.c - texts of http_int.h: forms as Python encodes them, header fields. */
#include "plugins/lib/http/http_int.h"

#include <ctype.h>

#include "common/base/str.h"

/* str(v) in Python: a text may hold a NUL. */
static void
http_text_add_text(buf_t *out, const json_t *v)
{
    AUTO_FREE char *other = json_is_string(v) ? NULL : value_repr(v);

    if (other != NULL)
        buf_puts(out, other);
    else
        buf_add(out, json_string_value(v), json_string_length(v));
}

/* Python's quote_plus. All bytes but these are percent-encoded, so a text in UTF-8 is one encoding for each
 * of its bytes. */
static void
add_quoted(buf_t *out, const char *text, size_t len)
{
    for (const char *c = text; c < text + len; c++) {
        if (isalnum((unsigned char) *c) || (*c != '\0' && strchr("_.-~", *c) != NULL))
            buf_putc(out, *c);
        else if (*c == ' ')
            buf_putc(out, '+');
        else
            buf_printf(out, "%%%02X", (unsigned char) *c);
    }
}

char *
http_quoted(const char *path, const char *plain)
{
    buf_auto_t out = BUF_INIT;

    for (const unsigned char *c = (const unsigned char *) path; *c != '\0'; c++) {
        if (isascii(*c) && (isalnum(*c) || strchr(plain, *c) != NULL))
            buf_putc(&out, (char) *c);
        else
            buf_printf(&out, "%%%02X", *c);
    }
    return xstrdup(buf_str(&out));
}

int
http_check_path(const char *path, const char *whose, fail_t *err)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/' ? 1 : 0;
        size_t len = strcspn(at, "/?");
        if ((len == 1 && at[0] == '.') || (len == 2 && strncmp(at, "..", 2) == 0))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "The path '%s' of %s has '.' or '..' in it", path,
                             whose);
        if (at[len] == '?')
            break;
    }
    return 0;
}

/* A dict becomes KEY=VALUE&..., everything else its text. */
void
http_form(const json_t *data, buf_t *out)
{
    const char *key;
    json_t *v;

    if (!json_is_object(data)) {
        http_text_add_text(out, data);
        return;
    }
    json_object_foreach ((json_t *) data, key, v) {
        buf_auto_t text = BUF_INIT;
        http_text_add_text(&text, v);
        if (out->len > 0)
            buf_putc(out, '&');
        add_quoted(out, key, strlen(key));
        buf_putc(out, '=');
        add_quoted(out, buf_str(&text), text.len);
    }
}

void
http_parse_headers(const char *text, http_answer_t *into)
{
    char **lines = str_split(text, "\r\n", true);

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (str_starts(lines[i], "HTTP/")) {
            /* Each status line begins the fields anew, so that after redirects the last answer's remain. */
            const char *line = lines[i];
            const char *space = strchr(line, ' ');
            json_object_clear(into->headers);
            free(into->reason);
            into->status = space != NULL ? (int) strtol(space + 1, NULL, 10) : 0;
            space = space != NULL ? strchr(space + 1, ' ') : NULL;
            into->reason = xstrdup(space != NULL ? space + 1 : "");
        } else {
            /* A field that comes again is added, with a comma between. */
            char *line = lines[i];
            json_t *headers = into->headers;
            char *colon = strchr(line, ':');
            if (colon == NULL)
                continue;
            *colon = '\0';
            char *name = str_trim(line), *value = str_trim(colon + 1);

            /* "content-TYPE" is "Content-Type". */
            bool first = true;
            for (char *c = name; *c != '\0'; c++) {
                *c = (char) (first ? toupper((unsigned char) *c) : tolower((unsigned char) *c));
                first = *c == '-';
            }

            json_t *before = value_get(headers, name);
            json_auto_t *own = value_utf8(value, strlen(value));
            if (before != NULL)
                json_object_set_new(headers, name,
                                    value_fmt("%s,%s", json_string_value(before), json_string_value(own)));
            else
                json_object_set(headers, name, own);
        }
    }
    strv_free(lines);
}
