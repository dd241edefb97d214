/* library.c - see library.h. */
#include "common/host/library.h"

#include <dlfcn.h>

/* The first symbol that the library lacks, BORROWED, or NULL. */
static const char *
library_find(void *library, const library_symbol_t *symbols, size_t n, void *into)
{
    for (size_t i = 0; i < n; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (found == NULL)
            return symbols[i].name;
        memcpy((char *) into + symbols[i].at, &found, sizeof(found));
    }
    return NULL;
}

void *
library_open(const char *const *names, const library_symbol_t *symbols, size_t n, void *into, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    for (; *names != NULL; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        const char *lacks = library != NULL ? library_find(library, symbols, n, into) : NULL;
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
