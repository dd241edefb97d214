/* highstate_name.c - split a state's tag "a_|-b_|-c_|-d" into its parts. */
#include "common/base/str.h"
#include "common/output/highstate.h"

char **
hs_split(const char *name, size_t *ret_n)
{
    size_t n = 1, i = 0;

    for (const char *p = name; (p = strstr(p, HS_SEPARATOR)) != NULL; p += strlen(HS_SEPARATOR))
        n++;
    char **parts = xcalloc(n + 1, sizeof(*parts));
    for (const char *p; (p = strstr(name, HS_SEPARATOR)) != NULL; name = p + strlen(HS_SEPARATOR))
        parts[i++] = xstrndup(name, (size_t) (p - name));
    parts[i] = xstrdup(name);
    *ret_n = n;
    return parts;
}
