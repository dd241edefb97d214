/* pyinstall.c - the Python of this host, by the places where its files are. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/pyinstall.h"
#include "common/host/rootfs.h"
#include "salt/log.h"
#include "salt/value.h"

void
pyinstall_free(pyinstall_t *self)
{
    free(self->program);
    free(self->folder);
    *self = (pyinstall_t){ 0 };
}

void
pyinstall_find(pyinstall_t *self, const char *root, const char *named)
{
    *self = (pyinstall_t){ .program = *named != '\0' ? xstrdup(named) : root_which(root, "python3") };
    AUTO_FREE char *path = self->program != NULL ? root_path(root, self->program) : NULL;
    AUTO_FREE char *file = path != NULL ? realpath(path, NULL) : NULL;
    char *slash = file != NULL ? strrchr(file, '/') : NULL;
    const char *name = slash != NULL ? strstr(slash, "python") : NULL; /* Red Hat has platform-python3.6 */
    int major, minor, end = 0;

    if (name != NULL && sscanf(name, "python%2d.%3d%n", &major, &minor, &end) == 2 && name[end] == '\0') {
        self->major = major;
        self->minor = minor;
    }
    AUTO_FREE char *top = realpath(str_empty(root) ? "/" : root, NULL);
    size_t above = top == NULL || str_eq(top, "/") ? 0 : strlen(top);
    if (slash != NULL && (above == 0 || (strncmp(file, top, above) == 0 && file[above] == '/'))) {
        *slash = '\0';
        self->folder = xstrdup(file + above);
    }
}

/* ---- sys.path ------------------------------------------------------------------------------------------ */

/* The nearest folder above the program's whose `library` (lib64/python3.11) has the standard library. NEW, or NULL. */
static char *
pyinstall_prefix(const pyinstall_t *self, const char *root, const char *library)
{
    AUTO_FREE char *at = xstrdup(self->folder);

    for (;;) {
        AUTO_FREE char *landmark = xasprintf("%s/%s/os.py", at, library);
        char *slash = strrchr(at, '/');
        if (root_exists(root, landmark))
            return STEAL(at);
        if (slash == NULL)
            return NULL;
        *slash = '\0';
    }
}

static bool
pyinstall_has(const json_t *list, const char *folder)
{
    bool is = false;

    for (size_t i = 0; i < json_array_size(list) && !is; i++)
        is = str_eq(json_string_value(json_array_get(list, i)), folder);
    return is;
}

/* Each line of a .pth file names a path, from the file's own folder; one that begins with `import` is code. */
static void
add_pth(const char *root, const char *folder, const char *file, json_t *list)
{
    AUTO_FREE char *path = fs_join(folder, file);
    AUTO_FREE char *text = root_read(root, path);

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        AUTO_FREE char *named = xasprintf("%s%s%s", *line == '/' ? "" : folder, *line == '/' ? "" : "/",
                                          str_trim(line));
        bool code = str_starts(line, "import ") || str_starts(line, "import\t");
        if (*line != '\0' && *line != '#' && !code && root_exists(root, named) && !pyinstall_has(list, named))
            json_array_append_new(list, value_utf8(named, strlen(named)));
    }
}

/* A folder of packages that is there. */
static void
add_site(const char *root, const char *folder, json_t *list)
{
    if (!root_is_dir(root, folder) || pyinstall_has(list, folder))
        return;
    json_array_append_new(list, value_utf8(folder, strlen(folder)));
    char **names = root_list(root, folder);
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_ends(names[i], ".pth") && names[i][0] != '.')
            add_pth(root, folder, names[i], list);
    }
    strv_free(names);
}

/* Folders of packages below a prefix, in Python's order: Debian's own names, or python.org's, which Red Hat's Python
 * looks for below /usr/local first. */
static void
add_sites(const pyinstall_t *self, const char *root, const char *prefix, const char *lib, json_t *list)
{
    AUTO_FREE char *debian = xasprintf("%s/lib/python3/dist-packages", prefix);
    AUTO_FREE char *version = xasprintf("python%d.%d", self->major, self->minor);

    if (root_is_dir(root, debian)) {
        AUTO_FREE char *local = xasprintf("%s/local/lib/%s/dist-packages", prefix, version);
        AUTO_FREE char *old = xasprintf("%s/lib/%s/dist-packages", prefix, version);
        add_site(root, local, list);
        add_site(root, debian, list);
        add_site(root, old, list);
        return;
    }
    const char *const prefixes[] = { str_eq(prefix, "/usr") ? "/usr/local" : prefix, prefix };
    const char *const libs[] = { lib, "lib" };
    for (size_t i = 0; i < NELEMS(prefixes) * NELEMS(libs); i++) {
        AUTO_FREE char *folder = xasprintf("%s/%s/%s/site-packages", prefixes[i / NELEMS(libs)],
                                           libs[i % NELEMS(libs)], version);
        add_site(root, folder, list);
    }
}

json_t *
pyinstall_path(const pyinstall_t *self, const char *root)
{
    static const char *const libs[] = { "lib64", "lib" };
    AUTO_FREE char *prefix = NULL;
    AUTO_FREE char *library = NULL;
    size_t i;

    for (i = 0; i < NELEMS(libs) && prefix == NULL && self->major > 0 && self->folder != NULL; i++) {
        free(library);
        library = xasprintf("%s/python%d.%d", libs[i], self->major, self->minor);
        prefix = pyinstall_prefix(self, root, library);
    }
    if (prefix == NULL)
        return NULL;
    const char *lib = libs[i - 1];
    json_t *list = json_array();
    json_array_append_new(list, value_fmt("%s/%s/python%d%d.zip", prefix, lib, self->major, self->minor));
    json_array_append_new(list, value_fmt("%s/%s", prefix, library));
    json_array_append_new(list, value_fmt("%s/%s/lib-dynload", prefix, library));

    /* A virtual environment has packages of its own, and the others where its file says so. */
    AUTO_FREE char *above = xstrdup(self->program);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(above, '/');
        *(slash != NULL ? slash : above) = '\0';
    }
    AUTO_FREE char *file = fs_join(above, "pyvenv.cfg");
    AUTO_FREE char *text = root_read(root, file);
    bool shared = true;
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        const char *value = line_value(line, '=');
        if (value != NULL && strcasecmp(line, "include-system-site-packages") == 0)
            shared = strcasecmp(value, "true") == 0;
    }
    if (text != NULL)
        add_sites(self, root, above, lib, list);
    if (shared)
        add_sites(self, root, prefix, lib, list);
    return list;
}

/* ---- the package salt ---------------------------------------------------------------------------------- */

/* Where python3 looks for packages. */
static const char *const package_places[] = {
    "/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages",
    "/usr/lib/python3/dist-packages",        "/usr/lib/python3*/site-packages",
    "/usr/lib64/python3*/site-packages",
};

json_t *
pyinstall_packages(const char *named)
{
    const char *slash = strrchr(named, '/');
    json_t *patterns = json_array();

    if (*named != '\0')
        json_array_append_new(patterns, value_fmt("%.*s/../lib/python3*/{site,dist}-packages",
                                                  slash != NULL ? (int) (slash - named) : 0, named));
    for (size_t i = 0; *named == '\0' && i < NELEMS(package_places); i++)
        json_array_append_new(patterns, json_string(package_places[i]));
    return patterns;
}

/* The first folder of the pattern that has the package. NEW path below root, or NULL. */
static char *
find_salt(const char *root, const char *pattern)
{
    AUTO_FREE char *below = root_path(root, pattern);
    fail_auto_t err = FAIL_INIT;
    glob_t found;
    char *folder = NULL;

    if (fs_glob(below, GLOB_BRACE, &found, &err) < 0)
        log_warning("Salt's package is not looked for: %s", fail_text(&err));
    for (size_t i = 0; err.code == 0 && i < found.gl_pathc && folder == NULL; i++) {
        AUTO_FREE char *inside = fs_join(found.gl_pathv[i], "salt/__init__.py");
        if (fs_look(inside, NULL) > 0)
            folder = xstrdup(found.gl_pathv[i] + (strlen(below) - strlen(pattern)));
    }
    if (err.code == 0)
        globfree(&found);
    return folder;
}

char *
pyinstall_salt(const char *root, const json_t *opts)
{
    const json_t *option = value_get(opts, "python_salt");
    const char *told = json_is_false(option) ? "off" : value_str(opts, "python_salt", "auto");
    char *folder = NULL;

    if (str_eq(told, "off"))
        return NULL;
    if (!str_eq(told, "auto"))
        return xstrdup(told);
    json_auto_t *patterns = pyinstall_packages(value_str(opts, "python", ""));
    for (size_t i = 0; i < json_array_size(patterns) && folder == NULL; i++)
        folder = find_salt(root, json_string_value(json_array_get(patterns, i)));
    return folder;
}

char *
pyinstall_own(void)
{
    static const char *const places[] = { "../lib/halite/python", "../python",
                                          "python" }; /* the last: of a private program */
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe));
    const char *slash = len > 0 && (size_t) len < sizeof(exe) ? memrchr(exe, '/', (size_t) len) : NULL;

    for (size_t i = 0; slash != NULL && i < NELEMS(places); i++) {
        AUTO_FREE char *folder = xasprintf("%.*s/%s", (int) (slash - exe), exe, places[i]);
        AUTO_FREE char *inside = fs_join(folder, "salt/__init__.py");
        char *real = fs_look(inside, NULL) > 0 ? realpath(folder, NULL) : NULL;
        if (real != NULL)
            return real;
    }
    return xstrdup("");
}
