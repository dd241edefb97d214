/* svcnames.c - names of services: whether one is an init script, and lists of them. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/service/svcfiles.h"

bool
svc_listed(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (str_eq(json_string_value(json_array_get(names, i)), name))
            return true;
    }
    return false;
}

json_t *
svc_sorted(const json_t *a, const json_t *without)
{
    size_t n = json_array_size(a);
    const char **texts = xcalloc(n + 1, sizeof(*texts));
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        texts[i] = json_string_value(json_array_get(a, i));
    qsort(texts, n, sizeof(*texts), str_by_text);
    for (size_t i = 0; i < n; i++) {
        if ((i == 0 || strcmp(texts[i - 1], texts[i]) != 0) && !svc_listed(without, texts[i]))
            json_array_append_new(list, json_string(texts[i]));
    }
    free(texts);
    return list;
}

int
svc_is_script(const char *root, const char *name, fail_t *err)
{
    if (*name == '\0' || *name == '.' || strchr(name, '/') != NULL)
        return 0;
    AUTO_FREE char *path = xasprintf("%s/etc/init.d/%s", root != NULL ? root : "", name);
    if (access(path, X_OK) == 0)
        return 1;
    return fs_is_absence(-errno) || errno == EACCES ? 0 : fs_fail(err, -errno, "look at", path);
}
