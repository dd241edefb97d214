/* conf_finish.c - options that depend on other options, on the host, or that were renamed.
 *
 * Each finisher handles one of them; their order in the table matters: paths before rules (which read files),
 * the id before the grain `id`. */
#include <limits.h>
#include <pwd.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/grainsid.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/log.h"
#include "salt/limits.h"
#include "salt/value.h"

typedef struct finish {
    json_t *opts;
    const conf_said_t *said;
    conf_side_t side;
    json_t *warnings;
    fail_t *err;
} finish_t;

typedef int finish_fn(finish_t *f);

static bool
was_said(const finish_t *f, const char *name)
{
    return value_get(f->said->where, name) != NULL;
}

/* File and line where an option was set, for errors. BORROWED. */
static const char *
where(const finish_t *f, const char *name)
{
    return value_str(f->said->where, name, "the configuration");
}

static void
conf_finish_set_text(json_t *opts, const char *name, const char *text)
{
    json_object_set_new(opts, name, value_utf8(text, strlen(text)));
}

/* Maps Salt's old option 'environment' to 'saltenv'. If both are set, 'saltenv' wins. */
static int
finish_environment(finish_t *f)
{
    json_t *old = value_get(f->opts, "environment"), *env = value_get(f->opts, "saltenv");

    if (!json_is_string(old))
        return 0;
    if (json_is_string(env)) {
        conf_warn(f->warnings, "%s: option 'environment' is ignored in favour of 'saltenv'",
                  where(f, "environment"));
        return json_object_set(f->opts, "environment", env);
    }
    conf_warn(f->warnings, "%s: option 'environment' is called 'saltenv' now; '%s' is used",
              where(f, "environment"), json_string_value(old));
    return json_object_set(f->opts, "saltenv", old);
}

/* Salt's older option counts hours; the newer one in seconds wins. */
static int
finish_keep_jobs(finish_t *f)
{
    if (f->side == CONF_MASTER && was_said(f, "keep_jobs") && !was_said(f, "keep_jobs_seconds"))
        json_object_set_new(f->opts, "keep_jobs_seconds",
                            json_integer(value_int(f->opts, "keep_jobs", 0) * 3600));
    return 0;
}

/* Refuse two listeners on one port; 0 means closed or any free port. */
static int
finish_ports(finish_t *f)
{
    static const char *const ports[] = { "publish_port", "ret_port", "hello_port" };

    if (f->side != CONF_MASTER)
        return 0;
    for (size_t i = 0; i < NELEMS(ports); i++) {
        json_int_t port = value_int(f->opts, ports[i], 0);
        for (size_t k = i + 1; port != 0 && k < NELEMS(ports); k++)
            if (port == value_int(f->opts, ports[k], 0))
                return fail_set(f->err, -EINVAL,
                                "%s: option '%s' is %lld, and so is '%s': each needs a port of its own",
                                where(f, was_said(f, ports[k]) ? ports[k] : ports[i]), ports[i],
                                (long long) port, ports[k]);
    }
    return 0;
}

/* Add a folder, or those that a pattern matches. A user without access (a user's `salt`) has no use for them
 * and gets a warning; any other error is a failure, as existing roots must not vanish because of it. */
static int
add_folders(finish_t *f, json_t *list, const char *folder)
{
    fail_auto_t why = FAIL_INIT;
    glob_t found;

    if (strpbrk(folder, "*?[") == NULL)
        return json_array_append_new(list, value_utf8(folder, strlen(folder)));
    int rc = fs_glob(folder, 0, &found, &why);
    for (size_t i = 0; i < found.gl_pathc; i++)
        json_array_append_new(list, value_utf8(found.gl_pathv[i], strlen(found.gl_pathv[i])));
    globfree(&found);
    if (rc != -EACCES)
        return rc == 0 ? 0 : fail_set(f->err, rc, "%s", fail_text(&why));
    conf_warn(f->warnings, "%s", fail_text(&why));
    return 0;
}

/* Normalise {env: folder or [folders]} to lists, with patterns expanded. */
static int
finish_roots_of(finish_t *f, const char *name)
{
    json_auto_t *clean = json_object();
    const char *env;
    json_t *folders, *folder;
    size_t i;

    json_object_foreach (value_get(f->opts, name), env, folders) {
        json_t *list = json_array();
        int rc = 0;
        json_object_set_new(clean, env, list);
        if (json_is_string(folders))
            rc = add_folders(f, list, json_string_value(folders));
        else if (!json_is_array(folders) && !json_is_null(folders))
            return fail_set(f->err, -EINVAL, "%s: option '%s': environment '%s' wants a list of folders",
                            where(f, name), name, env);
        json_array_foreach (folders, i, folder) {
            if (!json_is_string(folder))
                return fail_set(f->err, -EINVAL,
                                "%s: option '%s': environment '%s': item %zu is not a folder's name",
                                where(f, name), name, env, i + 1);
            if (rc == 0)
                rc = add_folders(f, list, json_string_value(folder));
        }
        if (rc < 0)
            return rc;
    }
    return json_object_set(f->opts, name, clean);
}

static int
finish_roots(finish_t *f)
{
    int rc = finish_roots_of(f, "file_roots");

    return rc < 0 ? rc : finish_roots_of(f, "pillar_roots");
}

/* Maps the backends' old names, "git" and "minion". */
static int
finish_backends(finish_t *f)
{
    json_t *list = value_get(f->opts, "fileserver_backend"), *item;
    size_t i;

    json_array_foreach (list, i, item) {
        if (str_eq(json_string_value(item), "git") || str_eq(json_string_value(item), "minion"))
            json_array_set_new(list, i, value_fmt("%sfs", json_string_value(item)));
    }
    return 0;
}

/* Joins a list of returners to one text with commas, the form that --return has. */
static int
finish_return(finish_t *f)
{
    json_t *names = value_get(f->opts, "return");

    if (!json_is_array(names))
        return 0;
    AUTO_FREE char *text = value_joined(names, ",");
    conf_finish_set_text(f->opts, "return", text);
    return 0;
}

/* Checks a minion's 'master': a host name or a list of them. */
static int
finish_master(finish_t *f)
{
    json_t *master = value_get(f->opts, "master"), *item;
    bool ok = json_is_string(master) || (json_is_array(master) && json_array_size(master) > 0);
    size_t i;

    if (f->side != CONF_MINION)
        return 0;
    json_array_foreach (master, i, item)
        ok = ok && json_is_string(item);
    return ok ? 0
              : fail_set(f->err, -EINVAL, "%s: option 'master' wants a host name, or a list of them",
                         where(f, "master"));
}

/* Salt's func and distributed are recognised only to explain the alternative. */
static int
finish_master_type(finish_t *f)
{
    static const char *const known[] = { "str", "failover", "disable" };
    const char *type = value_str(f->opts, "master_type", "str");

    for (size_t i = 0; i < NELEMS(known); i++)
        if (str_eq(known[i], type))
            return 0;
    if (str_eq(type, "func") || str_eq(type, "distributed"))
        return fail_set(
            f->err, -EINVAL,
            "%s: option 'master_type' is '%s', which Halite does not have: name the master, or a list "
            "of masters with master_type failover",
            where(f, "master_type"), type);
    return fail_set(f->err, -EINVAL, "%s: option 'master_type' is '%s'; known are str, failover, disable",
                    where(f, "master_type"), type);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Python's os.path.abspath: from the current folder, without ".", ".." and doubled slashes. NEW. */
static char *
conf_finish_absolute(const char *path)
{
    char here[PATH_MAX] = "/";
    buf_auto_t out = BUF_INIT;

    if (*path != '/' && getcwd(here, sizeof(here)) == NULL)
        here[1] = '\0';
    AUTO_FREE char *whole = *path == '/' ? xstrdup(path) : fs_join(here, path);
    char **parts = str_split(whole, "/", true);
    for (size_t i = 0; parts[i] != NULL; i++) {
        const char *slash = out.len > 0 ? strrchr(out.data, '/') : NULL;
        if (str_eq(parts[i], "..") && slash != NULL) {
            out.len = (size_t) (slash - out.data);
            out.data[out.len] = '\0';
        } else if (!str_eq(parts[i], ".") && !str_eq(parts[i], "..")) {
            buf_printf(&out, "/%s", parts[i]);
        }
    }
    strv_free(parts);
    return out.len > 0 ? buf_steal(&out) : xstrdup("/");
}

/* Place a path of the configuration below root_dir, unless it is there already. NEW. */
static char *
under_root(const char *root, const char *path)
{
    size_t len = strlen(root);

    if (str_eq(root, "/"))
        return *path == '/' ? xstrdup(path) : fs_join(root, path);
    if (strncmp(path, root, len) == 0 && (path[len] == '/' || path[len] == '\0'))
        return xstrdup(path);
    return fs_join(root, path + strspn(path, "/"));
}

/* Puts relative paths below root_dir and fills in the paths that depend on others. It runs when the values of
 * all files are merged, as any file may set root_dir. */
static int
finish_paths(finish_t *f)
{
    AUTO_FREE char *root = conf_finish_absolute(value_str(f->opts, "root_dir", "/"));
    const char *cachedir = value_str(f->opts, "cachedir", ""), *sock_dir = value_str(f->opts, "sock_dir", "");
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    if (*value_str(f->opts, "extension_modules", "") == '\0')
        json_object_set_new(f->opts, "extension_modules", value_fmt("%s/extmods", cachedir));
    if (strlen(sock_dir) >
        strlen(cachedir) + 10) /* Salt's way to stay below the length a socket's name may have */
        json_object_set_new(f->opts, "sock_dir", value_fmt("%s/.salt-unix", cachedir));
    for (size_t i = 0; i < n; i++) {
        const char *path = value_str(f->opts, rows[i].name, "");
        bool is_path = rows[i].type == CONF_PATH || (rows[i].type == CONF_LOGFILE && !log_is_syslog(path));
        if (!is_path || (rows[i].side & f->side) == 0 || *path == '\0')
            continue;
        /* A path from the command line is relative to the shell's folder, not to root_dir. */
        bool typed = str_eq(where(f, rows[i].name), CONF_COMMAND_LINE);
        AUTO_FREE char *full = typed ? xstrdup(path) : under_root(root, path);
        conf_finish_set_text(f->opts, rows[i].name, full);
    }
    conf_finish_set_text(f->opts, "root_dir", root);
    return 0;
}

/* ---- who this is ----------------------------------------------------------------------------- */

/* Sets the user to the present one when none is configured. A uid without a name is stored as a number. */
static int
finish_user(finish_t *f)
{
    struct passwd entry, *found = NULL;
    char work[4096];

    if (json_is_string(value_get(f->opts, "user")))
        return 0;
    if (geteuid() == 0)
        conf_finish_set_text(f->opts, "user", "root");
    else if (getpwuid_r(geteuid(), &entry, work, sizeof(work), &found) == 0 && found != NULL)
        conf_finish_set_text(f->opts, "user", entry.pw_name);
    else
        json_object_set_new(f->opts, "user", value_fmt("%u", (unsigned) geteuid()));
    return 0;
}

/* Settles the id: the configured one, or a guess from the host's names, with append_domain. A guessed address
 * gets no domain. */
static int
finish_id(finish_t *f)
{
    const char *set = value_str(f->opts, "id", ""), *domain = value_str(f->opts, "append_domain", "");
    bool guessed = *set == '\0', is_address = false;
    AUTO_FREE char *from = NULL;
    AUTO_FREE char *id = guessed ? conf_guess_id(f->opts, f->side, &is_address, &from, f->err) : xstrdup(set);

    if (id == NULL)
        return f->err->code;
    if (*domain != '\0' && !is_address && !str_ends(id, domain) && !str_ends(id, ".")) {
        char *longer = xasprintf("%s.%s", id, domain);
        free(id);
        id = longer;
    }
    if (guessed && f->side == CONF_MASTER) {
        /* The label of a master without an id. The master's tools must start on a host of any name. */
        AUTO_FREE char *fit = conf_id_near(id);
        char *label = xasprintf("%.*s_master", LIMIT_ID_LEN - (int) strlen("_master"),
                                fit != NULL ? fit : "salt");

        free(id);
        id = label;
    }
    conf_finish_set_text(f->opts, "id", id);
    /* A host's name was not chosen as an id: if it is invalid, a similar one that is valid is suggested. */
    fail_auto_t why = FAIL_INIT;
    if (conf_id_valid(id, &why))
        return 0;
    AUTO_FREE char *near = conf_id_near(id);
    AUTO_FREE char *example = near != NULL ? xasprintf(": `id: %s`", near) : xstrdup("");
    return fail_set(f->err, -EINVAL, "%s: option 'id': %s; set another one in %s%s",
                    guessed ? from : where(f, "id"), fail_text(&why), value_str(f->opts, "conf_file", ""),
                    example);
}

/* Check the access rules. Last, because they depend on paths and node groups. */
static int
finish_rules(finish_t *f)
{
    const char *name;
    json_t *said;
    int rc = 0;

    json_object_foreach (f->said->values, name, said) {
        const option_row_t *row = conf_row(name, f->side);

        if (rc != 0 || row == NULL || row->rule == NULL || json_is_null(said))
            continue;
        /* A path is checked as finished; any other value as written, before it was converted to text. */
        rc = conf_check_rule(row, f->opts, row->type == CONF_PATH ? json_object_get(f->opts, name) : said,
                             where(f, name), f->err);
        if (rc < 0)
            rc = conf_refuse_hidden(f->said, name, f->err);
    }
    return rc;
}

/* Static grains override what the minion finds, but can't change its id. */
static int
finish_grain_id(finish_t *f)
{
    const json_t *grains = value_get(f->opts, "grains");
    const char *id = value_str(f->opts, "id", "");

    if (f->side == CONF_MINION && value_get(grains, "id") != NULL && !grains_are_of(grains, id))
        conf_warn(f->warnings,
                  "%s: option 'grains': its 'id' is ignored: the grain is always the minion's id ('%s'), "
                  "which the option "
                  "'id' sets",
                  where(f, "grains"), id);
    return 0;
}

static finish_fn *const finishers[] = {
    finish_environment, finish_keep_jobs, finish_ports,       finish_roots, finish_backends,
    finish_return,      finish_master,    finish_master_type, finish_paths, finish_user,
    finish_id,          finish_grain_id,  finish_rules,
};

int
conf_finish(json_t *opts, const conf_said_t *said, conf_side_t side, json_t *warnings, fail_t *err)
{
    finish_t f = { opts, said, side, warnings, err };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(finishers); i++)
        rc = finishers[i](&f);
    return rc;
}
