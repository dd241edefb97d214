/* url.c - Python's urlparse, as far as file sources need it. See fetch.h. */
#include "plugins/lib/transfer/fetch.h"

#include <ctype.h>

/* Never fails: what a text lacks is empty. The scheme is lower case; query and fragment end the path. */
void
url_parse(url_t *self, const char *text)
{
    size_t n = 0;

    /* A letter, and then letters, digits and three signs up to the colon (RFC 3986, 3.1). */
    while (isalpha((unsigned char) *text) &&
           (isalnum((unsigned char) text[n]) || (text[n] != '\0' && strchr("+.-", text[n]) != NULL)))
        n++;
    n = text[n] == ':' && n > 0 ? n + 1 : 0;
    self->scheme = xstrndup(text, n > 0 ? n - 1 : 0);
    for (char *p = self->scheme; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    text += n;
    n = 0;
    if (text[0] == '/' && text[1] == '/') {
        text += 2;
        n = strcspn(text, "/?#");
    }
    self->netloc = xstrndup(text, n);
    text += n;
    n = strcspn(text, "?#");
    self->path = xstrndup(text, n);
    text += n;
    self->query = *text == '?' ? xstrndup(text + 1, strcspn(text + 1, "#")) : xstrdup("");
}

void
url_free(url_t *self)
{
    free(self->scheme);
    free(self->netloc);
    free(self->path);
    free(self->query);
}
