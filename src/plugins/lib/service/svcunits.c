/* svcunits.c - systemd's unit files as they lie on disk: names, paths, states and settings, for hosts and
 * roots where systemctl can't be asked. States follow systemctl is-enabled. */
#include "plugins/lib/service/svcfiles.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/value.h"

static const char *const unit_types[] = { "service", "socket", "device", "mount", "automount",
                                          "swap",    "target", "path",   "timer" };
/* Unit folders in systemd's order: the first file found overrides the others. */
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

/* "name" is "name.service"; a name with a unit's suffix stays. NEW. */
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

/* Status of the name itself: 1, 0 when absent, or negative with *err. */
static int
svcunits_look(const char *root, const char *path, struct stat *st, fail_t *err)
{
    AUTO_FREE char *full = root_path(root, path);

    if (lstat(full, st) == 0)
        return 1;
    return fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "look at", full);
}

static int
is_link(const char *root, const char *path, fail_t *err)
{
    struct stat st;
    int rc = svcunits_look(root, path, &st, err);

    return rc > 0 ? S_ISLNK(st.st_mode) : rc;
}

json_t *
svc_units(const char *root, fail_t *err)
{
    static const char *const folders[] = { "/lib/systemd/system", "/usr/lib/systemd/system",
                                           "/etc/systemd/system" };
    json_auto_t *names = json_array();

    for (size_t i = 0; i < NELEMS(folders); i++) {
        /* Where /lib is a link to /usr/lib, its units are found there. */
        char **files = NULL;
        int link = is_link(root, folders[i], err),
            rc = link == 0 ? root_names(root, folders[i], &files, err) : link;
        for (size_t k = 0; rc == 0 && files[k] != NULL; k++) {
            AUTO_FREE char *name = svc_unit_name(files[k]);
            if (name != NULL)
                json_array_append_new(names, value_utf8(name, strlen(name)));
        }
        strv_free(files);
        if (rc < 0)
            return NULL;
    }
    return svc_sorted(names, NULL);
}

/* *ret_target is NEW, NULL for what is not a link. */
static int
link_target(const char *root, const char *path, char **ret_target, fail_t *err)
{
    AUTO_FREE char *full = root_path(root, path);
    char target[PATH_MAX];
    ssize_t n = readlink(full, target, sizeof(target) - 1);

    *ret_target = n > 0 ? xstrndup(target, (size_t) n) : NULL;
    return n >= 0 || errno == EINVAL || fs_is_absence(-errno) ? 0
                                                              : fs_fail(err, -errno, "read the link", full);
}

int
svc_masked(const char *root, const char *name, bool runtime, fail_t *err)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = xasprintf("%s/systemd/system/%s", runtime ? "/run" : "/etc", unit);
    AUTO_FREE char *target = NULL;
    int rc = link_target(root, path, &target, err);

    return rc < 0 ? rc : str_eq(target, "/dev/null");
}

/* "getty@tty1.service" to "getty@.service"; NULL for what is not an instance. */
static char *
svcunits_template_of(const char *unit)
{
    const char *at = strchr(unit, '@'), *dot = strrchr(unit, '.');

    return at != NULL && dot > at + 1 ? xasprintf("%.*s%s", (int) (at + 1 - unit), unit, dot) : NULL;
}

/* First file of the unit in systemd's order of folders; *ret_path NULL when there is none. */
static int
find_unit(const char *root, const char *unit, char **ret_path, fail_t *err)
{
    struct stat st;
    int rc = 0;

    for (size_t i = 0; rc == 0 && strchr(unit, '/') == NULL && i < NELEMS(unit_folders); i++) {
        AUTO_FREE char *path = xasprintf("%s/%s", unit_folders[i], unit);
        rc = svcunits_look(root, path, &st, err);
        if (rc > 0)
            *ret_path = STEAL(path);
    }
    return rc < 0 ? rc : 0;
}

int
svc_unit_path(const char *root, const char *name, char **ret_path, fail_t *err)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *template = svcunits_template_of(unit);

    *ret_path = NULL;
    int rc = find_unit(root, unit, ret_path, err);
    return rc == 0 && *ret_path == NULL && template != NULL ? find_unit(root, template, ret_path, err) : rc;
}

int
svc_real_unit(const char *root, const char *name, char **ret_unit, fail_t *err)
{
    AUTO_FREE char *path = NULL, *target = NULL, *there = NULL;
    int rc = svc_unit_path(root, name, &path, err);

    if (rc == 0 && path != NULL)
        rc = link_target(root, path, &target, err);
    const char *slash = target != NULL ? strrchr(target, '/') : NULL,
               *base = slash != NULL ? slash + 1 : target;
    AUTO_FREE char *linked = base != NULL ? svc_unit_name(base) : NULL;
    /* A link to what is no unit of the folders is a unit itself. */
    if (rc == 0 && linked != NULL && !str_eq(strrchr(path, '/') + 1, base))
        rc = svc_unit_path(root, base, &there, err);
    *ret_unit = rc == 0 ? (there != NULL ? xstrdup(base) : svc_unit(name)) : NULL;
    return rc;
}

/* ---- the state ------------------------------------------------------------------------------- */

/* True when a folder of links (multi-user.target.wants) has a link of the unit, or of an instance of the
 * template. */
static int
has_link(const char *root, const char *folder, const char *unit, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/%s", folder, unit);
    char **links = NULL;
    int rc = is_link(root, path, err);

    if (rc != 0)
        return rc;

    /* "x@.service", which its instances' links enable. */
    if (strstr(unit, "@.") == NULL)
        return rc;

    rc = root_names(root, folder, &links, err);
    for (size_t i = 0; rc == 0 && links[i] != NULL; i++) {
        AUTO_FREE char *template = svcunits_template_of(links[i]);
        rc = str_eq(template, unit);
    }
    strv_free(links);
    return rc;
}

/* True when an entry of a configuration folder enables the unit: a .wants/.requires link, or an alias. */
static int
enables(const char *root, const char *folder, const char *entry, const char *unit, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/%s", folder, entry);
    AUTO_FREE char *target = NULL;

    if (str_ends(entry, ".wants") || str_ends(entry, ".requires"))
        return has_link(root, path, unit, err);
    if (strcmp(entry, unit) == 0)
        return 0;
    int rc = link_target(root, path, &target, err);
    const char *slash = target != NULL ? strrchr(target, '/') : NULL;
    return rc < 0 ? rc : slash != NULL && strcmp(slash + 1, unit) == 0;
}

/* 1 when a folder of configuration has a link that enables the unit, 0, or negative. */
static int
linked_from(const char *root, const char *folder, const char *unit, fail_t *err)
{
    char **entries = NULL;
    int rc = root_names(root, folder, &entries, err);

    for (size_t i = 0; rc == 0 && entries[i] != NULL; i++)
        rc = enables(root, folder, entries[i], unit, err);
    strv_free(entries);
    return rc;
}

/* The state of a unit that nothing enables: it could be, others can be in its place, or neither. */
static int
idle_state(const char *root, const char *path, const char **ret_state, fail_t *err)
{
    AUTO_FREE char *text = NULL;
    int rc = root_text(root, path, &text, err);
    static const char *const keys[] = { "WantedBy=", "RequiredBy=", "UpheldBy=", "Alias=" };
    bool install = false;

    *ret_state = "static";
    for (char *at = text, *line; (line = line_next(&at)) != NULL && strcmp(*ret_state, "disabled") != 0;) {
        line = str_trim(line);
        if (*line == '[')
            install = strcmp(line, "[Install]") == 0;
        else if (install && str_starts(line, "Also="))
            *ret_state = "indirect";
        /* Lines by which the unit itself would be enabled. */
        for (size_t i = 0; install && i < NELEMS(keys); i++)
            if (str_starts(line, keys[i]))
                *ret_state = "disabled";
    }
    return rc;
}

/* The state of the unit whose file is there. */
static int
state_of_file(const char *root, const char *unit, const char *path, const char **ret_state, fail_t *err)
{
    static const char *const words[][2] = { { "enabled", "enabled-runtime" },
                                            { "masked", "masked-runtime" } };
    AUTO_FREE char *target = NULL;
    int rc = link_target(root, path, &target, err);
    const char *slash = target != NULL ? strrchr(target, '/') : NULL;

    if (str_eq(target, "/dev/null"))
        *ret_state = words[1][str_starts(path, "/run/")];
    for (size_t i = 0; i < 2 && rc == 0 && *ret_state == NULL; i++) {
        rc = linked_from(root, unit_folders[i], unit, err);
        if (rc > 0)
            *ret_state = words[0][i];
    }
    if (rc < 0 || *ret_state != NULL)
        return rc < 0 ? rc : 0;
    if (target == NULL || !str_ends(path, unit) || strcmp(slash != NULL ? slash + 1 : target, unit) == 0)
        return idle_state(root, path, ret_state, err);
    *ret_state = "alias";
    return 0;
}

int
svc_unit_state(const char *root, const char *name, const char **ret_state, fail_t *err)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = NULL;
    int rc = svc_unit_path(root, name, &path, err);

    *ret_state = NULL;
    return path != NULL ? state_of_file(root, unit, path, ret_state, err) : rc;
}

int
svc_is_script_only(const char *root, const char *name, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = svc_unit_path(root, name, &path, err);

    return rc < 0 || path != NULL ? rc : svc_is_script(root, name, err);
}

/* ---- settings --------------------------------------------------------------------------------- */

int
svc_unit_settings(const char *root, const char *name, json_t **ret_settings, fail_t *err)
{
    AUTO_FREE char *unit = svc_unit(name);
    AUTO_FREE char *path = NULL;
    AUTO_FREE char *text = NULL;
    const char *state = NULL;
    int rc = svc_unit_path(root, name, &path, err);

    *ret_settings = NULL;
    if (rc == 0 && path != NULL)
        rc = state_of_file(root, unit, path, &state, err);
    if (rc == 0 && path != NULL)
        rc = root_text(root, path, &text, err);
    if (rc < 0 || path == NULL)
        return rc;
    json_t *out = json_pack("{s:s, s:s, s:s, s:s}", "Id", unit, "FragmentPath", path, "LoadState",
                            str_starts(state, "masked") ? "masked" : "loaded", "UnitFileState", state);
    if (text != NULL) {
        /* Lines that end in a backslash go on; the next one is joined by a space. */
        for (char *p = text; (p = strstr(p, "\\\n")) != NULL;)
            p[0] = p[1] = ' ';
    }
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        const char *value = strchr("#;[", *line) == NULL ? line_value(line, '=') : NULL;
        if (value != NULL) {
            /* Adds a NAME=VALUE line; an empty value clears the list. */
            if (str_starts(line, "Exec")) {
                /* A command has systemd's marks before the program; "-" is the one that systemctl show tells. */
                size_t marks = strspn(value, "-@:+!");
                const char *command = value + marks;
                json_object_set_new(out, line,
                                    json_pack("{s:o, s:o, s:s}", "path",
                                              value_utf8(command, strcspn(command, " \t")), "argv[]",
                                              value_utf8(command, strlen(command)), "ignore_errors",
                                              memchr(value, '-', marks) != NULL ? "yes" : "no"));
                continue;
            }
            /* These are lists in systemctl show; the others stay texts. */
            if (!str_eq(line, "Before") && !str_eq(line, "After") && !str_eq(line, "Wants")) {
                json_object_set_new(out, line, value_utf8(value, strlen(value)));
                continue;
            }
            json_t *list = value_get(out, line);
            char **words = str_split(value, " \t", true);
            if (list == NULL) {
                json_object_set_new(out, line, json_array());
                list = value_get(out, line);
            }
            for (size_t i = 0; words[i] != NULL; i++)
                json_array_append_new(list, value_utf8(words[i], strlen(words[i])));
            strv_free(words);
        }
    }
    *ret_settings = out;
    return 0;
}
