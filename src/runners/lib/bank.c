/* bank.c - see bank.h. A bank is a folder below cachedir/banks, a key a JSON file in it. Paths are resolved
 * beneath the open cachedir without following links, and files are replaced atomically. */
#include "runners/lib/bank.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define SUFFIX ".json"

/* No part begins with a dot: those names are ours. */
static bool
bank_is_name(const char *text, bool slashes)
{
    return beneath_check(text) == 0 && text[0] != '.' && strstr(text, "/.") == NULL &&
           (slashes || strchr(text, '/') == NULL);
}

/* NEW path of a bank, or of a key in it, below cachedir; NULL with *err. */
static char *
bank_path_of(const char *bank, const char *key, fail_t *err)
{
    AUTO_FREE char *file = key != NULL ? xasprintf("%s" SUFFIX, key) : NULL;

    if (!bank_is_name(bank, true) || (key != NULL && !bank_is_name(file, false))) {
        (void) fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "'%s' is not a name for a cache bank or a key: no part may be empty, long or begin with '.'",
            bank_is_name(bank, true) ? key : bank);
        return NULL;
    }
    return file == NULL ? xasprintf("banks/%s", bank) : xasprintf("banks/%s/%s", bank, file);
}

/* A descriptor, or negative with *err. */
static int
open_base(const char *cachedir, fail_t *err)
{
    int fd = open(cachedir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 ? fd : fail_set(err, -errno, "%s: %s", cachedir, strerror(errno));
}

static int
bank_failed(const char *cachedir, const char *path, int code, fail_t *err)
{
    return fail_set(err, code, "%s/%s: %s", cachedir, path, strerror(-code));
}

int
bank_store(const char *cachedir, const char *bank, const char *key, const json_t *data, fail_t *err)
{
    AUTO_FREE char *path = bank_path_of(bank, key, err);
    AUTO_FREE char *text = value_dump(data);
    const char *name;

    if (path == NULL)
        return -EINVAL;
    AUTO_FD base = open_base(cachedir, err);
    if (base < 0)
        return base;
    AUTO_FD folder = beneath_parent(base, path, BENEATH_NO_LINKS, 0700, &name);
    int rc = folder < 0 ? folder : beneath_put(folder, name, text, strlen(text), 0600, true);
    return rc < 0 ? bank_failed(cachedir, path, rc, err) : 0;
}

/* {} for a key that does not exist, as in Salt. NEW, or NULL with *err. */
json_t *
bank_fetch(const char *cachedir, const char *bank, const char *key, fail_t *err)
{
    AUTO_FREE char *path = bank_path_of(bank, key, err);
    buf_auto_t text = BUF_INIT;

    if (path == NULL)
        return NULL;
    AUTO_FD base = open_base(cachedir, err);
    if (base < 0)
        return NULL;
    int rc = beneath_read(base, path, LIMIT_FILE_READ, &text);
    if (rc == -ENOENT || rc == -ENOTDIR)
        return json_object();
    if (rc < 0) {
        (void) bank_failed(cachedir, path, rc, err);
        return NULL;
    }
    return value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err);
}

json_t *
bank_list(const char *cachedir, const char *bank, fail_t *err)
{
    AUTO_FREE char *path = bank_path_of(bank, NULL, err);

    if (path == NULL)
        return NULL;
    AUTO_FD base = open_base(cachedir, err);
    if (base < 0)
        return NULL;
    AUTO_FD folder = beneath_folder(base, path, BENEATH_NO_LINKS, 0);
    if (folder == -ENOENT || folder == -ENOTDIR)
        return json_array();
    struct dirent **names = NULL;
    int n = folder < 0 ? folder : scandirat(folder, ".", &names, NULL, alphasort);
    if (n < 0) {
        (void) bank_failed(cachedir, path, folder < 0 ? folder : -errno, err);
        return NULL;
    }
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        char *name = names[i]->d_name;
        if (str_ends(name, SUFFIX))
            name[strlen(name) - strlen(SUFFIX)] = '\0';
        if (name[0] != '.')
            json_array_append_new(list, value_utf8(name, strlen(name)));
        free(names[i]);
    }
    free(names);
    return list;
}

int
bank_flush(const char *cachedir, const char *bank, const char *key, fail_t *err)
{
    AUTO_FREE char *path = bank_path_of(bank, key, err);

    if (path == NULL)
        return -EINVAL;
    AUTO_FD base = open_base(cachedir, err);
    if (base < 0 || beneath_absent(base, path))
        return base < 0 ? base : 0;
    int rc = beneath_remove(base, path);
    return rc < 0 ? bank_failed(cachedir, path, rc, err) : 1;
}
