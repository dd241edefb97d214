/* prefixes.c - see prefixes.h. */
#include "master/events/prefixes.h"

#include <ctype.h>

/* Length of a word of letters, digits, _ and - that begins with a letter and ends at a slash or the end; 0: it is
 * none. */
static size_t
prefix_len(const char *at, size_t len)
{
    size_t n = 0;

    while (n < len && (isalnum((unsigned char) at[n]) || at[n] == '_' || at[n] == '-'))
        n++;
    bool ends = n == len || at[n] == '/';
    return n > 0 && n < PREFIX_LEN && ends && isalpha((unsigned char) at[0]) ? n : 0;
}

void
prefixes_count(prefixes_t *self, const char *tag, size_t len)
{
    static const char salt[] = "salt/";
    const size_t begin = len >= strlen(salt) && memcmp(tag, salt, strlen(salt)) == 0 ? strlen(salt) : 0;
    const char *at = tag + begin;
    size_t n = prefix_len(at, len - begin), i = 1;

    if (self->n == 0)
        memcpy(self->rows[self->n++].name, "other", sizeof("other"));
    while (n > 0 && i < self->n && (strncmp(self->rows[i].name, at, n) != 0 || self->rows[i].name[n] != '\0'))
        i++;
    if (n == 0 || i == PREFIXES_MAX)
        i = 0;
    else if (i == self->n)
        memcpy(self->rows[self->n++].name, at, n);
    self->rows[i].count++;
}
