/* conf_drop.c - see conf_drop.h. */
#include "common/conf/conf_drop.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "salt/value.h"

/* The path without its last part; "." when it has only one. NEW. */
static char *
conf_drop_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? xstrndup(path, slash > path ? (size_t) (slash - path) : 1) : xstrdup(".");
}

char *
conf_drop_path(const json_t *opts, const char *name)
{
    AUTO_FREE char *base = conf_drop_parent(value_str(opts, "conf_file", ""));
    AUTO_FREE char *folder = conf_drop_parent(value_str(opts, "default_include", "minion.d/*.conf"));
    AUTO_FREE char *dir = folder[0] == '/' ? xstrdup(folder) : fs_join(base, folder);
    return fs_join(dir, name);
}

int
conf_drop_write(const char *path, const char *text, fail_t *err)
{
    AUTO_FREE char *dir = conf_drop_parent(path);
    int rc = fs_mkdirs(dir, 0755, err);
    return rc < 0 ? rc : fs_write_atomic(path, text, strlen(text), 0600, err);
}
