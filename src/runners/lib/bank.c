/* bank.c - see bank.h. */
#include "runners/lib/bank.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/rootfs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define SUFFIX ".json"

static bool
is_name(const char *text, bool slashes)
{
    char **parts = str_split(text, "/", false);
    bool good = slashes || strchr(text, '/') == NULL;

    for (size_t i = 0; parts[i] != NULL; i++)
        good = good && parts[i][0] != '\0' && parts[i][0] != '.';
    strv_free(parts);
    return good;
}

/* NEW path of a bank, or of a key in it. */
static char *
path_of(const char *cachedir, const char *bank, const char *key, fail_t *err)
{
    if (!is_name(bank, true) || (key != NULL && !is_name(key, false))) {
        (void) fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "'%s' is not a name for a cache bank or a key: no part may be empty or begin with '.'",
            is_name(bank, true) ? key : bank);
        return NULL;
    }
    return key == NULL ? xasprintf("%s/banks/%s", cachedir, bank)
                       : xasprintf("%s/banks/%s/%s" SUFFIX, cachedir, bank, key);
}

int
bank_store(const char *cachedir, const char *bank, const char *key, const json_t *data, fail_t *err)
{
    AUTO_FREE char *folder = path_of(cachedir, bank, NULL, err);
    AUTO_FREE char *path = folder != NULL ? path_of(cachedir, bank, key, err) : NULL;
    AUTO_FREE char *text = value_dump(data);

    if (path == NULL)
        return -EINVAL;
    int rc = fs_mkdirs(folder, 0700, err);
    return rc < 0 ? rc : fs_write_atomic(path, text, strlen(text), 0600, err);
}

json_t *
bank_fetch(const char *cachedir, const char *bank, const char *key, fail_t *err)
{
    AUTO_FREE char *path = path_of(cachedir, bank, key, err);
    buf_auto_t text = BUF_INIT;

    if (path == NULL)
        return NULL;
    if (fs_absent(path))
        return json_object();
    if (fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    return value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err);
}

json_t *
bank_list(const char *cachedir, const char *bank, fail_t *err)
{
    AUTO_FREE char *folder = path_of(cachedir, bank, NULL, err);

    if (folder == NULL)
        return NULL;
    char **names = root_list(NULL, folder);
    json_t *list = json_array();
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_ends(names[i], SUFFIX))
            names[i][strlen(names[i]) - strlen(SUFFIX)] = '\0';
        json_array_append_new(list, value_utf8(names[i], strlen(names[i])));
    }
    strv_free(names);
    return list;
}

int
bank_flush(const char *cachedir, const char *bank, const char *key, fail_t *err)
{
    AUTO_FREE char *path = path_of(cachedir, bank, key, err);

    if (path == NULL)
        return -EINVAL;
    if (fs_absent(path))
        return 0;
    int rc = fs_remove_tree(path, err);
    return rc < 0 ? rc : 1;
}
