/* dpkg.c - dpkg's database read straight from its files (status, updates/), without running dpkg-query:
 * packages and their states. Paragraphs stay in the texts that were read; packages point into them (start,
 * end) and are parsed again when a field is asked for. */
#include "plugins/lib/apt/dpkg.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/deb822.h"
#include "plugins/lib/apt/dpkg_int.h"
#include "salt/limits.h"
#include "salt/value.h"

static void
pkg_free(void *p)
{
    dpkg_pkg_t *pkg = p;

    free(pkg->name);
    free(pkg->version);
    free(pkg->arch);
    free(pkg->want);
    free(pkg->eflag);
    free(pkg->status);
    free(pkg);
}

void
dpkg_destroy(dpkg_t **self_p)
{
    dpkg_t *self = *self_p;

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_all; i++)
        pkg_free(self->pkgs[i]);
    for (size_t i = 0; i < self->n_texts; i++)
        buf_free(&self->texts[i]);
    free(self->pkgs);
    free(self->texts);
    free(self->root);
    free(self->dir);
    dpkg_diversions_free(self);
    free(self);
    *self_p = NULL;
}

static char *
text_or_empty(const deb822_t *para, const char *name)
{
    char *text = deb822_text(para, name);

    return text != NULL ? text : xstrdup("");
}

/* Later paragraphs of one package replace earlier ones. */
static void
dpkg_take_text(dpkg_t *self, map_t *seen, const buf_t *text)
{
    deb822_auto_t para = DEB822_INIT;
    const char *at = buf_str(text), *end = at + text->len;

    while (deb822_next(&para, &at, end)) {
        AUTO_FREE char *status = text_or_empty(&para, "Status");
        const deb822_field_t *multi = deb822_get(&para, "Multi-Arch");
        char *name = deb822_text(&para, "Package");

        if (name == NULL)
            continue;
        char **words = str_split(status, " \t", true);
        size_t n = strv_len(words);
        dpkg_pkg_t *pkg = xcalloc(1, sizeof(*pkg));
        pkg->name = name;
        pkg->version = text_or_empty(&para, "Version");
        pkg->arch = text_or_empty(&para, "Architecture");
        pkg->want = xstrdup(n > 0 ? words[0] : "unknown");
        pkg->eflag = xstrdup(n > 1 ? words[1] : "ok");
        pkg->status = xstrdup(n > 2 ? words[2] : "not-installed");
        pkg->same = multi != NULL && multi->value_len == 4 && memcmp(multi->value, "same", 4) == 0;
        pkg->start = para.start;
        pkg->end = para.end;
        strv_free(words);

        if (str_eq(pkg->name, "dpkg") && self->native[0] == '\0')
            (void) str_copy(self->native, sizeof(self->native), pkg->arch);
        AUTO_FREE char *key = xasprintf("%s:%s", pkg->name, pkg->arch);
        map_set(seen, key, pkg);
    }
}

static int
dpkg_read_file(dpkg_t *self, map_t *seen, const char *name, fail_t *err)
{
    AUTO_FREE char *path = fs_join(self->dir, name);
    buf_t text = BUF_INIT;
    int rc = fs_read(path, LIMIT_FILE_READ, &text, err);

    if (rc < 0) {
        buf_free(&text);
        return rc;
    }
    self->texts = xrealloc(self->texts, (self->n_texts + 1) * sizeof(*self->texts));
    self->texts[self->n_texts++] = text;
    dpkg_take_text(self, seen, &self->texts[self->n_texts - 1]);
    return 0;
}

/* Reads the numbered files of updates/, which dpkg writes between two complete status files. */
static int
read_updates(dpkg_t *self, map_t *seen, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(self->dir, "updates");
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *name = fs_join("updates", names[i]);
        fail_auto_t why = FAIL_INIT;
        if (strspn(names[i], "0123456789") == strlen(names[i]))
            rc = dpkg_read_file(self, seen, name, &why);
        /* An update file that vanished has been merged into the status file by dpkg. */
        rc = rc == -ENOENT ? 0 : rc < 0 ? fail_set(err, rc, "%s", fail_text(&why)) : 0;
    }
    strv_free(names);
    return rc;
}

/* Packages that are known but not installed are kept behind the others. */
static bool
dpkg_is_absent(const dpkg_pkg_t *pkg)
{
    return str_eq(pkg->status, "not-installed");
}

/* Absent packages last, then by name and architecture. */
static int
dpkg_by_name(const void *a, const void *b)
{
    const dpkg_pkg_t *x = *(dpkg_pkg_t *const *) a, *y = *(dpkg_pkg_t *const *) b;
    int order = dpkg_is_absent(x) - dpkg_is_absent(y);

    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->arch, y->arch);
}

/* NULL with *err. DPKG_ADMINDIR is heeded for the host only. */
dpkg_t *
dpkg_new(const char *root, fail_t *err)
{
    dpkg_t *self = xcalloc(1, sizeof(*self));
    map_t *seen = map_new(pkg_free);

    self->root = xstrdup(root);
    /* dpkg's own variable for another database. */
    const char *admin = *root == '\0' ? getenv("DPKG_ADMINDIR") : NULL;
    self->dir = str_empty(admin) ? xasprintf("%s/var/lib/dpkg", root) : xstrdup(admin);
    int rc = dpkg_read_file(self, seen, "status", err);
    rc = rc == 0 ? read_updates(self, seen, err) : rc;
    if (rc == 0) {
        /* The packages, out of the map. */
        size_t iter = 0;
        const char *key;
        void *value;
        self->pkgs = xcalloc(map_len(seen), sizeof(*self->pkgs));
        while (map_next(seen, &iter, &key, &value)) {
            self->n += !dpkg_is_absent(value);
            self->pkgs[self->n_all++] = map_take(seen, key);
        }
        if (self->n_all > 1)
            qsort(self->pkgs, self->n_all, sizeof(*self->pkgs), dpkg_by_name);
    }
    map_destroy(&seen);
    if (rc < 0)
        dpkg_destroy(&self);
    return self;
}

/* Packages that are installed in some way; the others stand behind them. */
size_t
dpkg_count(const dpkg_t *self)
{
    return self->n;
}

size_t
dpkg_count_all(const dpkg_t *self)
{
    return self->n_all;
}

const dpkg_pkg_t *
dpkg_at(const dpkg_t *self, size_t i)
{
    salt_assert(i < self->n_all);
    return self->pkgs[i];
}

const char *
dpkg_native(const dpkg_t *self)
{
    return self->native;
}

/* The third word of Status. */
bool
dpkg_installed(const dpkg_pkg_t *pkg)
{
    return str_eq(pkg->status, "installed");
}

/* As dpkg prints it: with the architecture when several may be installed side by side. */
char *
dpkg_binary_name(const dpkg_pkg_t *pkg)
{
    return pkg->same ? xasprintf("%s:%s", pkg->name, pkg->arch) : xstrdup(pkg->name);
}

/* Value of a field of the package's paragraph. NEW, or NULL. */
char *
dpkg_field(const dpkg_pkg_t *pkg, const char *name)
{
    deb822_auto_t para = DEB822_INIT;
    const char *at = pkg->start;

    return deb822_next(&para, &at, pkg->end) ? deb822_text(&para, name) : NULL;
}

/* ---- names ------------------------------------------------------------------------------------------- */

bool
dpkg_match(const dpkg_t *self, const dpkg_pkg_t *pkg, const char *pattern)
{
    AUTO_FREE char *name = xstrdup(pattern);
    char *arch = strrchr(name, ':');

    if (arch != NULL)
        *arch++ = '\0';
    if (fnmatch(name, pkg->name, 0) != 0)
        return false;
    if (arch != NULL)
        return fnmatch(arch, pkg->arch, 0) == 0;
    /* A plain name means the host's own package, and any architecture only when there is just one. */
    if (strpbrk(name, "*?[\\") != NULL || !pkg->same || str_eq(pkg->arch, self->native))
        return true;
    for (size_t i = 0; i < self->n; i++) {
        if (self->pkgs[i] != pkg && str_eq(self->pkgs[i]->name, pkg->name))
            return false;
    }
    return true;
}

static bool
is_name_char(char c)
{
    return c != '\0' && (strchr("+-.", c) != NULL || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'));
}

/* True when a relation field names the package as a whole word. */
static bool
dpkg_names_it(const deb822_field_t *field, const char *name)
{
    size_t len = strlen(name);
    const char *end = field->value + field->value_len;

    for (const char *p = field->value; p < end; p++) {
        p = memmem(p, (size_t) (end - p), name, len);
        if (p == NULL)
            return false;
        if ((p == field->value || !is_name_char(p[-1])) && (p + len == end || !is_name_char(p[len])))
            return true;
    }
    return false;
}

bool
dpkg_mentioned(const dpkg_t *self, const char *name)
{
    static const char *const relations[] = { "Depends",  "Pre-Depends", "Recommends", "Suggests", "Enhances",
                                             "Provides", "Conflicts",   "Breaks",     "Replaces" };
    deb822_auto_t para = DEB822_INIT;

    for (size_t i = 0; i < self->n && *name != '\0'; i++) {
        const char *at = self->pkgs[i]->start;
        if (!deb822_next(&para, &at, self->pkgs[i]->end))
            continue;
        for (size_t k = 0; k < NELEMS(relations); k++) {
            const deb822_field_t *field = deb822_get(&para, relations[k]);
            if (field != NULL && dpkg_names_it(field, name))
                return true;
        }
    }
    return false;
}

/* ---- beside the status file -------------------------------------------------------------------------- */

int64_t
dpkg_installed_at(const dpkg_t *self, const char *name)
{
    AUTO_FREE char *path = xasprintf("%s/info/%s.list", self->dir, name);
    struct stat st;

    return stat(path, &st) == 0 ? (int64_t) st.st_mtime : -1;
}

/* Names in the copyright file's License fields, sorted, each once. NEW, may be "". */
char *
dpkg_license(const dpkg_t *self, const dpkg_pkg_t *pkg)
{
    AUTO_FREE char *path = xasprintf("%s/usr/share/doc/%s/copyright", self->root, pkg->name);
    buf_auto_t text = BUF_INIT, joined = BUF_INIT;
    char **found = xcalloc(1, sizeof(*found));
    size_t n = 0;

    if (fs_read(path, LIMIT_HOST_FILE, &text, NULL) == 0 && text.len > 0) {
        for (char *at = text.data, *line; (line = line_next(&at)) != NULL;) {
            if (!str_starts(line, "License:"))
                continue;
            found = xrealloc(found, (n + 2) * sizeof(*found));
            found[n++] = str_trim(line + strlen("License:"));
        }
        if (n > 1)
            qsort(found, n, sizeof(*found), str_by_text);
    }
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && strcmp(found[i], found[i - 1]) == 0)
            continue;
        buf_printf(&joined, "%s%s", i > 0 ? ", " : "", found[i]);
    }
    free(found);
    return buf_steal(&joined);
}
