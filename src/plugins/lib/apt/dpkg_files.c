/* dpkg_files.c - which files a package has, and which package has a file: info/NAME.list and diversions. */
#include <fnmatch.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/dpkg_int.h"
#include "salt/limits.h"
#include "salt/value.h"

void
dpkg_diversions_free(dpkg_t *self)
{
    for (size_t i = 0; i < self->n_diversions; i++) {
        free(self->diversions[i].from);
        free(self->diversions[i].to);
        free(self->diversions[i].owner);
    }
    free(self->diversions);
}

/* Three lines each: the path, where it went, whose diversion it is. */
static void
read_diversions(dpkg_t *self)
{
    AUTO_FREE char *path = fs_join(self->dir, "diversions");
    buf_auto_t text = BUF_INIT;
    char *from, *to, *owner;

    if (self->diversions_read)
        return;
    self->diversions_read = true;
    if (fs_read(path, LIMIT_FILE_READ, &text, NULL) < 0 || text.len == 0)
        return;
    for (char *at = text.data; (from = line_next(&at)) != NULL && (to = line_next(&at)) != NULL &&
                               (owner = line_next(&at)) != NULL;) {
        self->diversions = xrealloc(self->diversions, (self->n_diversions + 1) * sizeof(*self->diversions));
        self->diversions[self->n_diversions++] = (diversion_t){ xstrdup(from), xstrdup(to), xstrdup(owner) };
    }
}

/* The text of a package's list of files. False when it has none. */
static bool
read_list(const dpkg_t *self, const dpkg_pkg_t *pkg, buf_t *out)
{
    AUTO_FREE char *plain = xasprintf("%s/info/%s.list", self->dir, pkg->name);
    AUTO_FREE char *with_arch = xasprintf("%s/info/%s:%s.list", self->dir, pkg->name, pkg->arch);

    return (pkg->same && fs_read(with_arch, LIMIT_FILE_READ, out, NULL) == 0) ||
           fs_read(plain, LIMIT_FILE_READ, out, NULL) == 0;
}

/* Files of the package in the order of its list; diversions follow their paths. NEW. */
json_t *
dpkg_files(dpkg_t *self, const dpkg_pkg_t *pkg)
{
    json_t *files = json_array();
    buf_auto_t text = BUF_INIT;

    read_diversions(self);
    if (!read_list(self, pkg, &text) || text.len == 0)
        return files;
    for (char *at = text.data, *line; (line = line_next(&at)) != NULL;) {
        const diversion_t *d = NULL;
        for (size_t i = 0; i < self->n_diversions; i++) {
            if (str_eq(self->diversions[i].from, line)) {
                d = &self->diversions[i];
                break;
            }
        }

        if (*line == '\0')
            continue;
        json_array_append_new(files, value_utf8(line, strlen(line)));
        if (d != NULL)
            json_array_append_new(files, str_eq(d->owner, ":") ? value_fmt("locally diverted to: %s", d->to)
                                         : str_eq(d->owner, pkg->name)
                                             ? value_fmt("package diverts others to: %s", d->to)
                                             : value_fmt("diverted by %s to: %s", d->owner, d->to));
    }
    return files;
}

/* ---- who owns it ------------------------------------------------------------------------------------- */

typedef struct search {
    const char *pattern;
    bool exact;
    char *path;   /* the path found; owned */
    buf_t owners; /* "a, b" */
} search_t;

/* Names of the packages that have the first path found, with commas between. NEW; "" for none. As `dpkg-query
 * --search`: a word without a slash is looked for anywhere in a path. */
char *
dpkg_owner(dpkg_t *self, const char *pattern)
{
    AUTO_FREE char *wanted = xstrdup(pattern);
    search_t s = { .pattern = wanted };

    if (strpbrk(wanted, "*[?/") == NULL) {
        free(wanted);
        wanted = xasprintf("*%s*", pattern);
        s.pattern = wanted;
    }
    s.exact = strpbrk(wanted, "*[?\\") == NULL;
    for (size_t len = strlen(wanted); s.exact && len > 1; len--) {
        bool dot = len > 2 && wanted[len - 1] == '.' && wanted[len - 2] == '/';
        if (wanted[len - 1] != '/' && !dot)
            break;
        wanted[len - 1] = '\0';
    }
    for (size_t i = 0; i < self->n; i++) {
        buf_auto_t text = BUF_INIT;
        if (read_list(self, self->pkgs[i], &text) && text.len > 0 &&
            (!s.exact || memmem(buf_str(&text), text.len, wanted, strlen(wanted)) != NULL)) {
            /* Looks a package's list through; the first path found anywhere is the one that counts. */
            const dpkg_pkg_t *pkg = self->pkgs[i];
            for (char *at = text.data, *line; (line = line_next(&at)) != NULL;) {
                bool found = s.path != NULL ? str_eq(s.path, line)
                             : s.exact      ? str_eq(s.pattern, line)
                                            : fnmatch(s.pattern, line, 0) == 0;
                if (!found || *line == '\0')
                    continue;
                if (s.path == NULL)
                    s.path = xstrdup(line);
                buf_printf(&s.owners, "%s%s", s.owners.len > 0 ? ", " : "", pkg->name);
                break;
            }
        }
    }
    free(s.path);
    return buf_steal(&s.owners);
}
