/* xmltags.c - see xmltags.h. */
#include "plugins/lib/packages/xmltags.h"

#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* The five entities of XML, and decimal ones of ASCII. NEW. */
static json_t *
decoded(const char *text, size_t len)
{
    static const char *const entities[][2] = {
        { "&lt;", "<" },   { "&gt;", ">" },  { "&amp;", "&" },  { "&quot;", "\"" },
        { "&apos;", "'" }, { "&#39;", "'" }, { "&#10;", "\n" },
    };
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < len;) {
        size_t k = 0, n = 0;
        for (; k < NELEMS(entities); k++) {
            n = strlen(entities[k][0]);
            if (n <= len - i && strncmp(text + i, entities[k][0], n) == 0)
                break;
        }
        buf_add(&out, k < NELEMS(entities) ? entities[k][1] : text + i, 1);
        i += k < NELEMS(entities) ? n : 1;
    }
    return value_utf8(buf_str(&out), out.len);
}

/* name="value" pairs up to `end`. NEW. */
static json_t *
attributes(const char *at, const char *end)
{
    json_t *ret = json_object();

    while (at < end) {
        while (at < end && isspace((unsigned char) *at))
            at++;
        const char *name = at;
        while (at < end && *at != '=' && !isspace((unsigned char) *at))
            at++;
        AUTO_FREE char *key = xstrndup(name, (size_t) (at - name));
        if (at + 1 >= end || *at != '=' || (at[1] != '"' && at[1] != '\''))
            continue;
        const char *value = at + 2, *close = memchr(value, at[1], (size_t) (end - value));
        if (close == NULL)
            break;
        json_object_set_new(ret, key, decoded(value, (size_t) (close - value)));
        at = close + 1;
    }
    return ret;
}

/* The ">" of a tag, which may have others in its values. NULL when it is not closed. */
static const char *
xmltags_tag_end(const char *at)
{
    char quote = '\0';

    for (; *at != '\0'; at++) {
        if (quote == '\0' && *at == '>')
            return at;
        if (quote == '\0' && (*at == '"' || *at == '\''))
            quote = *at;
        else if (*at == quote)
            quote = '\0';
    }
    return NULL;
}

json_t *
xmltags_read(const char *xml)
{
    json_t *ret = json_array();

    for (const char *at = xml, *end; (at = strchr(at, '<')) != NULL; at = end) {
        if ((end = xmltags_tag_end(at + 1)) == NULL)
            break;
        end++;
        if (!isalpha((unsigned char) at[1]))
            continue;
        size_t name = strcspn(at + 1, " \t\r\n/>");
        size_t text = strcspn(end, "<");
        json_array_append_new(ret,
                              json_pack("{s:o, s:o, s:o}", "tag", json_stringn(at + 1, name), "attributes",
                                        attributes(at + 1 + name, end - 1), "text", decoded(end, text)));
    }
    return ret;
}

json_t *
xmltags_named(const json_t *tags, const char *name)
{
    json_t *ret = json_array(), *tag;
    size_t i;

    json_array_foreach (tags, i, tag) {
        if (str_eq(value_str(tag, "tag", ""), name))
            json_array_append(ret, tag);
    }
    return ret;
}

/* "" for an attribute that isn't there. BORROWED. */
const char *
xmltags_attr(const json_t *tag, const char *name)
{
    return value_str(value_get(tag, "attributes"), name, "");
}
