/* nftform.c - see nftrules.h: one form for equal rules. nft lists a rule in its own words, not in those with which it
 * was added: `ct state { new } ip saddr 10.1.2.3/8` comes back as `ct state new ip saddr 10.0.0.0/8`. */
#include <arpa/inet.h>
#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/net/nftrules.h"

/* Moves *at behind the next word: a text between quotes (with them when it is more than a word), a brace, a comma, or what stands up to white space and those. NULL at the end. NEW. */
static char *
nftform_next(const char **at)
{
    *at += strspn(*at, " \t");
    const char *from = *at;
    size_t len = *from == '"' ? 0 : strchr("{},", *from) != NULL ? 1 : strcspn(from, " \t{},\"");

    if (*from == '\0')
        return NULL;
    if (*from != '"') {
        *at += len;
        return xstrndup(from, len);
    }
    len = strcspn(++from, "\"");
    *at = from + len + (from[len] == '"' ? 1 : 0);
    size_t plain = strcspn(from, " {},");
    const char *quote = plain < len || len == 0 ? "\"" : "";
    return xasprintf("%s%.*s%s", quote, (int) len, from, quote);
}

/* An address without the bits behind its prefix; other words as they are. NEW. */
static char *
address_form(const char *word)
{
    AUTO_FREE char *host = xstrndup(word, strcspn(word, "/"));
    const char *prefix = word[strlen(host)] == '/' ? word + strlen(host) + 1 : NULL;
    unsigned char raw[16] = { 0 };
    char text[INET6_ADDRSTRLEN];
    long long bits = 0;
    int family = AF_INET, most = 32;

    if (inet_pton(AF_INET6, host, raw) == 1)
        family = AF_INET6, most = 128;
    else if (inet_pton(AF_INET, host, raw) != 1 &&
             (prefix == NULL || host[strspn(host, "0123456789")] != '\0' ||
              inet_aton(host, (struct in_addr *) (void *) raw) == 0))
        return xstrdup(word);
    if (prefix != NULL && !str_to_int(prefix, 0, most, &bits))
        return xstrdup(word);
    if (prefix == NULL)
        bits = most;
    for (int bit = (int) bits; bit < most; bit++)
        raw[bit / 8] &= (unsigned char) ~(0x80U >> (bit % 8));
    inet_ntop(family, raw, text, sizeof text);
    return bits < most ? xasprintf("%s/%lld", text, bits) : xstrdup(text);
}

static const char *
nftform_word(const json_t *words, size_t i)
{
    const char *word = json_string_value(json_array_get(words, i));

    return word != NULL ? word : "";
}

/* The elements in order, as "{a,b}"; one alone is itself. NEW. */
static char *
set_form(const json_t *elements)
{
    json_auto_t *sorted = value_sorted_texts(elements);
    AUTO_FREE char *joined = value_joined(sorted, ",");

    return json_array_size(sorted) == 1 ? xstrdup(joined) : xasprintf("{%s}", joined);
}

/* The set that begins with the brace before *i. Moves *i behind its end. NEW. */
static char *
braced(const json_t *words, size_t *i)
{
    json_auto_t *elements = json_array();
    buf_auto_t element = BUF_INIT;

    for (bool end = false; !end && *i < json_array_size(words);) {
        const char *word = nftform_word(words, (*i)++);
        end = strcmp(word, "}") == 0;
        if (end || strcmp(word, ",") == 0) {
            if (element.len > 0)
                json_array_append_new(elements, json_string(buf_str(&element)));
            buf_clear(&element);
            continue;
        }
        AUTO_FREE char *form = strcmp(word, "{") == 0 ? braced(words, i) : address_form(word);
        buf_printf(&element, "%s%s", element.len > 0 ? " " : "", form);
    }
    return set_form(elements);
}

/* Words with commas between and no braces, which nft takes for the same. NEW. */
static char *
unbraced(const json_t *words, size_t *i)
{
    json_auto_t *elements = json_array();

    for (;;) {
        AUTO_FREE char *form = address_form(nftform_word(words, (*i)++));
        json_array_append_new(elements, json_string(form));
        if (strcmp(nftform_word(words, *i), ",") != 0)
            return set_form(elements);
        (*i)++;
    }
}

/* The words are compared one by one, sets in sorted order. */
char *
nft_form(const char *rule)
{
    json_auto_t *words = json_array(), *out = json_array();

    for (char *next; (next = nftform_next(&rule)) != NULL; free(next))
        json_array_append_new(words, value_utf8(next, strlen(next)));
    /* Left out: counts that change by themselves, the "type" of a reject's reason, and "meta", which nft writes before some
     * keywords and not before others. */
    for (size_t i = 0; i < json_array_size(words);) {
        const char *word = nftform_word(words, i), *before = i > 0 ? nftform_word(words, i - 1) : "";
        bool counts = strcmp(before, "counter") == 0 && strcmp(word, "packets") == 0 &&
                      strcmp(nftform_word(words, i + 2), "bytes") == 0;
        bool reason = i > 1 && strcmp(word, "type") == 0 && str_starts(before, "icmp") &&
                      strcmp(nftform_word(words, i - 2), "with") == 0;
        if (counts || reason || strcmp(word, "meta") == 0) {
            i += counts ? 4 : 1;
            continue;
        }
        if (strcmp(word, "{") == 0)
            i++;
        AUTO_FREE char *form = strcmp(word, "{") == 0 ? braced(words, &i) : unbraced(words, &i);
        json_array_append_new(out, json_string(form));
    }
    return value_joined(out, " ");
}
