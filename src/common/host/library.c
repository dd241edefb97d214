/* library.c - see library.h. */
#include "common/host/library.h"

#include <dlfcn.h>

/* Names are tried in order, newest first; the reason of the last one is told. RTLD_LOCAL keeps the library's
 * own symbols out of the way of others. */
void *
library_open(const char *const *names, const library_symbol_t *symbols, size_t n, void *into, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    for (; *names != NULL; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        const char *lacks = NULL; /* the first symbol that is missing */
        for (size_t i = 0; library != NULL && lacks == NULL && i < n; i++) {
            void *found = dlsym(library, symbols[i].name);
            if (found == NULL)
                lacks = symbols[i].name;
            else
                memcpy((char *) into + symbols[i].at, &found, sizeof(found));
        }
        if (library != NULL && lacks == NULL)
            return library;
        fail_clear(&why);
        if (library == NULL)
            (void) fail_set(&why, -ENOENT, "%s", dlerror());
        else
            (void) fail_set(&why, -ENOENT, "%s has no %s", *names, lacks);
        if (library != NULL)
            (void) dlclose(library);
    }
    (void) fail_set(err, -ENOENT, "%s", fail_text(&why));
    return NULL;
}
