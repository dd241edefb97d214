/* svcunits.c - systemd's unit files as they lie on disk. */
#include "minion/modlib/svcfiles.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/rootfs.h"
#include "common/base/str.h"
#include "salt/value.h"

static const char *const unit_types[] = { "service", "socket", "device", "mount", "automount",
                                          "swap",    "target", "path",   "timer" };
/* Where an administrator's and a package's files lie; the first one found counts. */
static const char *const unit_folders[] = { "/etc/systemd/system", "/run/systemd/system",
                                            "/lib/systemd/system", "/usr/lib/systemd/system" };

static bool
is_unit_type(const char *type)
{
    for (size_t i = 0; i < NELEMS(unit_types); i++) {
        if (strcmp(type, unit_types[i]) == 0)
            return true;
    }
    return false;
}

char *
svc_unit(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && is_unit_type(dot + 1) ? xstrdup(name) : xasprintf("%s.service", name);
}

char *
svc_unit_name(const char *unit)
{
    const char *dot = strrchr(unit, '.');

    if (dot == NULL || !is_unit_type(dot + 1))
        return NULL;
    return strcmp(dot, ".service") == 0 ? xstrndup(unit, (size_t) (dot - unit)) : xstrdup(unit);
}

static bool
is_link(const char *root, const char *path)
{
    AUTO_FREE char *full = root_path(root, path);
    struct stat st;

    return lstat(full, &st) == 0 && S_ISLNK(st.st_mode);
}

static void
add_units(const char *root, const char *folder, json_t *out)
{
    char **files = root_list(root, folder);

    for (size_t i = 0; files[i] != NULL; i++) {
        AUTO_FREE char *name = svc_unit_name(files[i]);
        if (name != NULL)
            json_array_append_new(out, value_utf8(name, strlen(name)));
    }
    strv_free(files);
}

json_t *
svc_units(const char *root)
{
    static const char *const folders[] = { "/lib/systemd/system", "/usr/lib/systemd/system",
                                           "/etc/systemd/system" };
    json_auto_t *names = json_array();

    for (size_t i = 0; i < NELEMS(folders); i++) {
        if (!is_link(root, folders[i]))
            add_units(root, folders[i], names);
    }
    return svc_sorted(names, NULL);
}

/* NEW target of a link, or NULL. */
static char *
link_target(const char *root, const char *path)
{
    AUTO_FREE char *full = root_path(root, path);
    char target[PATH_MAX];
    ssize_t n = readlink(full, target, sizeof(target) - 1);

    return n > 0 ? xstrndup(target, (size_t) n) : NULL;
}

bool
svc_masked(const char *root, const char *name, bool runtime)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = xasprintf("%s/systemd/system/%s", runtime ? "/run" : "/etc", unit);
    AUTO_FREE char *target = link_target(root, path);

    return str_eq(target, "/dev/null");
}

/* "getty@tty1.service" to "getty@.service"; NULL for what is no instance. */
static char *
template_of(const char *unit)
{
    const char *at = strchr(unit, '@'), *dot = strrchr(unit, '.');

    return at != NULL && dot > at + 1 ? xasprintf("%.*s%s", (int) (at + 1 - unit), unit, dot) : NULL;
}

static char *
find_unit(const char *root, const char *unit)
{
    if (unit == NULL || strchr(unit, '/') != NULL)
        return NULL;
    for (size_t i = 0; i < NELEMS(unit_folders); i++) {
        AUTO_FREE char *path = xasprintf("%s/%s", unit_folders[i], unit);
        AUTO_FREE char *full = root_path(root, path);
        struct stat st;
        if (lstat(full, &st) == 0)
            return STEAL(path);
    }
    return NULL;
}

char *
svc_unit_path(const char *root, const char *name)
{
    AUTO_FREE char *unit = svc_unit(name);
    char *path = find_unit(root, unit);

    if (path == NULL) {
        AUTO_FREE char *template = template_of(unit);
        path = find_unit(root, template);
    }
    return path;
}

/* ---- the state ------------------------------------------------------------------------------- */

/* "x@.service", which its instances' links enable. */
static bool
is_template(const char *unit)
{
    return strstr(unit, "@.") != NULL;
}

/* Whether a folder of links (multi-user.target.wants) has one of the unit, or of a template's instance. */
static bool
has_link(const char *root, const char *folder, const char *unit)
{
    char **links = is_template(unit) ? root_list(root, folder) : NULL;
    AUTO_FREE char *path = xasprintf("%s/%s", folder, unit);
    bool found = is_link(root, path);

    for (size_t i = 0; links != NULL && links[i] != NULL && !found; i++) {
        AUTO_FREE char *template = template_of(links[i]);
        found = str_eq(template, unit);
    }
    strv_free(links);
    return found;
}

/* Whether a folder of configuration enables the unit: by a wish of another one, or under another name. */
static bool
linked_from(const char *root, const char *folder, const char *unit)
{
    char **entries = root_list(root, folder);
    bool found = false;

    for (size_t i = 0; entries[i] != NULL && !found; i++) {
        bool wants = str_ends(entries[i], ".wants") || str_ends(entries[i], ".requires");
        AUTO_FREE char *path = xasprintf("%s/%s", folder, entries[i]);
        if (wants) {
            found = has_link(root, path, unit);
        } else if (strcmp(entries[i], unit) != 0) {
            AUTO_FREE char *target = link_target(root, path);
            const char *slash = target != NULL ? strrchr(target, '/') : NULL;
            found = slash != NULL && strcmp(slash + 1, unit) == 0;
        }
    }
    strv_free(entries);
    return found;
}

/* A line of [Install] by which the unit itself would be enabled. */
static bool
installs(const char *line)
{
    static const char *const keys[] = { "WantedBy=", "RequiredBy=", "UpheldBy=", "Alias=" };

    for (size_t i = 0; i < NELEMS(keys); i++) {
        if (str_starts(line, keys[i]))
            return true;
    }
    return false;
}

/* The state of a unit that nothing enables: it could be, others can be in its place, or neither. */
static const char *
idle_state(const char *root, const char *path)
{
    AUTO_FREE char *text = root_read(root, path);
    const char *state = "static";
    bool install = false;

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        if (*line == '[')
            install = strcmp(line, "[Install]") == 0;
        else if (install && installs(line))
            return "disabled";
        else if (install && str_starts(line, "Also="))
            state = "indirect";
    }
    return state;
}

const char *
svc_unit_state(const char *root, const char *name)
{
    static const char *const words[][2] = { { "enabled", "enabled-runtime" },
                                            { "masked", "masked-runtime" } };
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = svc_unit_path(root, name);

    if (path == NULL)
        return NULL;
    AUTO_FREE char *target = link_target(root, path);
    const char *slash = target != NULL ? strrchr(target, '/') : NULL;
    if (str_eq(target, "/dev/null"))
        return words[1][str_starts(path, "/run/")];
    for (size_t i = 0; i < 2; i++) {
        if (linked_from(root, unit_folders[i], unit))
            return words[0][i];
    }
    if (target != NULL && str_ends(path, unit) && strcmp(slash != NULL ? slash + 1 : target, unit) != 0)
        return "alias";
    return idle_state(root, path);
}

/* ---- settings --------------------------------------------------------------------------------- */

/* Lists in systemctl show; the others stay texts. */
static bool
is_list(const char *key)
{
    static const char *const lists[] = { "Before", "After", "Wants" };

    for (size_t i = 0; i < NELEMS(lists); i++) {
        if (strcmp(key, lists[i]) == 0)
            return true;
    }
    return false;
}

/* {"path", "argv[]"} of a command line with systemd's marks before the program. NEW. */
static json_t *
command(const char *line)
{
    size_t marks = strspn(line, "-@:+!");
    const char *words = line + marks;

    return json_pack("{s:o, s:o, s:s}", "path", value_utf8(words, strcspn(words, " \t")), "argv[]",
                     value_utf8(words, strlen(words)), "ignore_errors",
                     memchr(line, '-', marks) != NULL ? "yes" : "no");
}

static void
add_setting(json_t *out, const char *key, const char *value)
{
    if (str_starts(key, "Exec")) {
        json_object_set_new(out, key, command(value));
        return;
    }
    if (!is_list(key)) {
        json_object_set_new(out, key, value_utf8(value, strlen(value)));
        return;
    }
    json_t *list = value_get(out, key);
    char **words = str_split(value, " \t", true);
    if (list == NULL) {
        json_object_set_new(out, key, json_array());
        list = value_get(out, key);
    }
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, value_utf8(words[i], strlen(words[i])));
    strv_free(words);
}

/* Lines that end in a backslash go on; the next one is joined by a space. */
static void
join_lines(char *text)
{
    for (char *p = text; (p = strstr(p, "\\\n")) != NULL;)
        p[0] = p[1] = ' ';
}

json_t *
svc_unit_settings(const char *root, const char *name)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = svc_unit_path(root, name);
    const char *state = svc_unit_state(root, name);
    AUTO_FREE char *text = path != NULL ? root_read(root, path) : NULL;

    if (path == NULL)
        return NULL;
    json_t *out = json_pack("{s:s, s:s, s:s, s:s}", "Id", unit, "FragmentPath", path, "LoadState",
                            str_starts(state, "masked") ? "masked" : "loaded", "UnitFileState", state);
    if (text != NULL)
        join_lines(text);
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        const char *value = strchr("#;[", *line) == NULL ? line_value(line, '=') : NULL;
        if (value != NULL)
            add_setting(out, line, value);
    }
    return out;
}
