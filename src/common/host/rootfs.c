/* rootfs.c - read small files of the host under a prefix, and helpers to walk their lines.
 *
 * The prefix makes grains testable against a folder with another host's files; reads are bounded by
 * LIMIT_HOST_FILE. */
#include "common/host/rootfs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

char *
root_path(const char *root, const char *path)
{
    return xasprintf("%s%s", root != NULL ? root : "", path);
}

int
root_text(const char *root, const char *path, char **ret_text, fail_t *err)
{
    AUTO_FREE char *full = root_path(root, path);
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(full, LIMIT_HOST_FILE, &text, err);

    *ret_text = NULL;
    if (rc <= 0)
        return rc;
    for (char *nul = text.data;
         text.len > 0 && (nul = memchr(nul, '\0', (size_t) (text.data + text.len - nul))) != NULL;)
        *nul = ' ';
    *ret_text = text.len > 0 ? buf_steal(&text) : xstrdup("");
    return 0;
}

char *
root_read(const char *root, const char *path)
{
    char *text = NULL;

    return root_text(root, path, &text, NULL) == 0 ? text : NULL;
}

char *
root_read_trimmed(const char *root, const char *path)
{
    AUTO_FREE char *text = root_read(root, path);

    return text != NULL ? xstrdup(str_trim(text)) : NULL;
}

bool
root_exists(const char *root, const char *path)
{
    AUTO_FREE char *full = root_path(root, path);

    return access(full, F_OK) == 0;
}

bool
root_is_dir(const char *root, const char *path)
{
    AUTO_FREE char *full = root_path(root, path);

    return fs_is_dir(full);
}

char *
root_which(const char *root, const char *program)
{
    const char *search = getenv("PATH");
    char **folders = str_split(str_empty(search) ? DEFAULT_PATH : search, ":", true);
    char *found = NULL;

    for (size_t i = 0; folders[i] != NULL && found == NULL; i++) {
        AUTO_FREE char *path = fs_join(folders[i], program);
        AUTO_FREE char *full = root_path(root, path);
        struct stat st;
        if (stat(full, &st) == 0 && S_ISREG(st.st_mode) && access(full, X_OK) == 0)
            found = STEAL(path);
    }
    strv_free(folders);
    return found;
}

int
root_names(const char *root, const char *path, char ***ret_names, fail_t *err)
{
    AUTO_FREE char *full = root_path(root, path);

    return fs_names(full, ret_names, err);
}

char **
root_list(const char *root, const char *path)
{
    char **names = NULL;

    return root_names(root, path, &names, NULL) == 0 ? names : xcalloc(1, sizeof(*names));
}

char *
line_next(char **at)
{
    char *line = *at;

    if (line == NULL || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    *at = end != NULL ? end + 1 : NULL;
    return line;
}

char *
line_value(char *line, char sep)
{
    char *at = strchr(line, sep);

    if (at == NULL)
        return NULL;
    *at = '\0';
    char *key = str_trim(line);
    memmove(line, key, strlen(key) + 1);
    return str_trim(at + 1);
}
