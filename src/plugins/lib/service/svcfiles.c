/* svcfiles.c - services by their files: which init runs, init scripts, names and lists. */
#include "plugins/lib/service/svcfiles.h"

#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/value.h"

enum { RUNLEVEL_MS = 5000 };

/* ---- lists of names ------------------------------------------------------------------------ */

/* Python: re.search(r"\*|\?|\[.+\]", name). */
bool
svc_has_glob(const char *name)
{
    const char *open = strchr(name, '[');

    return strpbrk(name, "*?") != NULL || (open != NULL && open[1] != '\0' && strchr(open + 2, ']') != NULL);
}

json_t *
svc_filter(const json_t *names, const char *pattern)
{
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(names); i++) {
        json_t *name = json_array_get(names, i);
        if (match_glob(pattern, json_string_value(name)))
            json_array_append(list, name);
    }
    return list;
}

/* ---- which init ----------------------------------------------------------------------------- */

/* systemd by its folder in /run, another init by the name of process 1. SVC_NONE in containers, negative with
 * *err. */
int
svc_init(const char *root, fail_t *err)
{
    static const char *const inits[] = { "init", "sysvinit", "openrc-init", "runit", "upstart", "busybox" };
    AUTO_FREE char *run = root_path(root, "/run/systemd/system"), *scripts = root_path(root, "/etc/init.d"),
                   *name = NULL;
    int systemd = fs_look_dir(run, err),
        rc = systemd == 0 ? root_text(root, "/proc/1/comm", &name, err) : systemd;
    const char *shown = rc == 0 && name != NULL ? str_trim(name) : "";

    if (rc != 0)
        return rc < 0 ? rc : SVC_SYSTEMD;
    for (size_t i = 0; i < NELEMS(inits); i++) {
        if (strcmp(shown, inits[i]) == 0)
            rc = fs_look_dir(scripts, err);
    }
    return rc > 0 ? SVC_SYSV : rc < 0 ? rc : SVC_NONE;
}

char *
svc_init_name(const char *root)
{
    char *name = root_read_trimmed(root, "/proc/1/comm");

    return name != NULL ? name : xstrdup("unknown");
}

/* ---- run levels ------------------------------------------------------------------------------ */

/* Upstart's and sysvinit's settings, the later ones win; "2" on every other host. */
int
svc_default_runlevel(const char *root, fail_t *err)
{
    AUTO_FREE char *upstart = NULL;
    AUTO_FREE char *inittab = NULL;
    int level = '2', rc = root_text(root, "/etc/init/rc-sysinit.conf", &upstart, err);

    if (rc == 0)
        rc = root_text(root, "/etc/inittab", &inittab, err);
    for (char *at = upstart, *line; (line = line_next(&at)) != NULL;) {
        const char *eq = strrchr(line, '=');
        if (str_starts(line, "env DEFAULT_RUNLEVEL") && eq != NULL && isalnum((unsigned char) eq[1]))
            level = eq[1];
    }
    for (char *at = inittab, *line; (line = line_next(&at)) != NULL;) {
        const char *colon = strchr(line, ':');
        if (*line != '#' && strstr(line, ":initdefault:") != NULL && isalnum((unsigned char) colon[1]))
            level = colon[1];
    }
    return rc == 0 ? level : rc;
}

/* `runlevel` prints the previous and the current one: "N 5". */
int
svc_runlevel(const char *root, fail_t *err)
{
    buf_auto_t out = BUF_INIT;
    char level = '\0';

    if (str_empty(root) && proc_output(&out, RUNLEVEL_MS, "runlevel", (char *) NULL) == 0) {
        char **words = str_split(buf_str(&out), " \n", true);
        if (strv_len(words) > 1)
            level = words[1][0];
        strv_free(words);
    }
    return level != '\0' ? level : svc_default_runlevel(root, err);
}

/* ---- init scripts ------------------------------------------------------------------------------ */

/* Executable scripts of /etc/init.d but those in `hide`. NEW, or NULL with *err. */
json_t *
svc_scripts(const char *root, const json_t *hide, fail_t *err)
{
    char **names = NULL;
    json_t *list = json_array();
    int rc = root_names(root, "/etc/init.d", &names, err);

    for (size_t i = 0; rc >= 0 && names[i] != NULL; i++) {
        rc = svc_is_script(root, names[i], err);
        if (rc > 0 && !svc_listed(hide, names[i]))
            json_array_append_new(list, value_utf8(names[i], strlen(names[i])));
    }
    strv_free(names);
    if (rc < 0)
        json_decref(list);
    return rc < 0 ? NULL : list;
}

json_t *
svc_all(const char *root, fail_t *err)
{
    json_auto_t *names = svc_units(root, err);
    json_auto_t *scripts = names != NULL ? svc_scripts(root, names, err) : NULL;

    if (scripts == NULL)
        return NULL;
    json_array_extend(names, scripts);
    return svc_sorted(names, NULL);
}

/* Names that a run level's start links have; a negative level is returned as it is. */
static int
add_started(const char *root, int level, json_t *out, fail_t *err)
{
    AUTO_FREE char *folder = xasprintf("/etc/rc%c.d", level);
    char **links = NULL;
    int rc = level < 0 ? level : root_names(root, folder, &links, err);

    for (size_t i = 0; rc == 0 && links[i] != NULL; i++) {
        /* "S20name"; links that begin with K stop a service. */
        const char *name = *links[i] == 'S' ? links[i] + 1 + strspn(links[i] + 1, "0123456789") : "";
        if (*name != '\0')
            json_array_append_new(out, value_utf8(name, strlen(name)));
    }
    strv_free(links);
    return rc;
}

int
svc_script_enabled(const char *root, int level, const char *name, fail_t *err)
{
    json_auto_t *names = json_array();
    int rc = add_started(root, level, names, err);

    return rc < 0 ? rc : svc_listed(names, name);
}

json_t *
svc_scripts_enabled(const char *root, int level, fail_t *err)
{
    json_auto_t *names = json_array();

    if (add_started(root, 'S', names, err) < 0 || add_started(root, level, names, err) < 0)
        return NULL;
    return svc_sorted(names, NULL);
}
