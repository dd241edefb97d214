/* startup.c - start of the daemons and salt-call: overrides, configuration, log, reload, folders and their
 * owner.
 *
 * Folders are given to `user` by descriptor, never by path: another user may be able to replace names below
 * them. */
#include "common/conf/startup.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/waitline.h"
#include "gen/places.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define TREE_DEPTH 32 /* folders below one that changes its owner */

/* Make a path from the command line absolute: a daemon changes its folder, and reads its configuration again
 * there. NEW. */
static json_t *
from_here(const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/' || !*path || log_is_syslog(path) || getcwd(here, sizeof(here)) == NULL)
        return value_utf8(path, strlen(path));
    AUTO_FREE char *full = fs_join(here, path);
    return value_utf8(full, strlen(full));
}

/* Options of the command line that stand over the configuration's. NEW. */
json_t *
startup_overrides(const json_t *values)
{
    json_t *out = json_object(), *v;
    size_t n;
    const option_row_t *rows = conf_rows(&n);
    for (size_t i = 0; i < n; i++) {
        bool is_path = rows[i].type == CONF_PATH || rows[i].type == CONF_LOGFILE;
        if ((v = value_get(values, rows[i].name)))
            json_object_set_new(out, rows[i].name,
                                is_path ? from_here(json_string_value(v)) : json_incref(v));
    }
    return out;
}

char *
startup_conf_dir(const json_t *values)
{
    const char *env = getenv("SALT_CONFIG_DIR");
    const char *dir = value_str(values, "config_dir", str_empty(env) ? HALITE_CONF_DIR : env);
    if (!str_eq(dir, HALITE_CONF_DIR) && !fs_is_dir(dir))
        (void) fprintf(stderr, "WARNING: CONFIG '%s' directory does not exist.\n", dir);
    /* A daemon changes its folder when it goes to the background, so a relative path must be resolved now. */
    char *absolute = dir[0] == '/' ? NULL : realpath(dir, NULL);
    return absolute != NULL ? absolute : xstrdup(dir);
}

/* Opens the log file. A daemon whose log can't be opened still starts, and says so on the terminal. */
static void
open_log(const conf_t *conf)
{
    fail_auto_t err = FAIL_INIT;
    log_level_t level = LEVEL_WARNING;
    const char *path = conf_str(conf, "log_file"), *name = conf_str(conf, "log_level_logfile");
    (void) log_level_parse(*name ? name : conf_str(conf, "log_level"), &level);
    if (!*path)
        return;
    if (!log_is_syslog(path))
        (void) fs_own_parent(path, NULL);
    if (log_open_file(path, level, &err) < 0)
        log_warning("%s: the log goes to the terminal only", fail_text(&err));
}

static void
conf_startup_tell(const json_t *warnings, const conf_t *conf)
{
    const json_t *one;
    for (size_t i = 0; (one = json_array_get(warnings, i)); i++)
        log_warning("%s", json_string_value(one));
    for (size_t i = 0; (one = json_array_get(conf_notes(conf), i)); i++)
        log_info("%s", json_string_value(one));
}

/* Warns of names in log_granular_levels that no line of the log has. */
static void
tell_names(const json_t *opts)
{
    json_t *levels = value_get(opts, "log_granular_levels"), *level;
    const char *name;
    json_object_foreach (levels, name, level)
        if (!log_name_known(name))
            log_warning("log_granular_levels: nothing logs as '%s'; the conf sample has the names", name);
}

void
startup_log_form(const json_t *opts)
{
    const char *date = value_str(opts, "log_datefmt", "");
    const log_form_t form = { .console = value_str(opts, "log_fmt_console", LOG_FORM_CONSOLE),
                              .console_date = value_str(opts, "log_datefmt_console", date),
                              .file = value_str(opts, "log_fmt_logfile", LOG_FORM_FILE),
                              .file_date = value_str(opts, "log_datefmt_logfile", ""),
                              .jid = value_str(opts, "log_fmt_jid", ""),
                              .json = str_eq(value_str(opts, "log_format", ""), "json") };
    log_form(&form);
    log_granular(value_get(opts, "log_granular_levels"));
}

/* Logs to the terminal from the first line on, and as the configuration says once there is one. */
conf_t *
startup_conf(const char *program, const char *dir, conf_side_t side, const json_t *overrides, fail_t *err)
{
    json_auto_t *warnings = json_array();
    bool colour = isatty(STDERR_FILENO) && str_empty(getenv("NO_COLOR"));
    fs_limit_is_failure();
    log_init(program, LEVEL_WARNING, colour);
    /* Stores at its addresses (sdb://) may take their time. */
    waitline_t *reading = waitline_new(STDERR_FILENO, "reading the configuration");
    conf_t *conf = conf_load_whole(dir, side, overrides, LIMIT_ADDRESSES_MS, warnings, err);
    waitline_destroy(&reading);
    if (conf == NULL)
        return NULL;
    log_level_t level = LEVEL_WARNING;
    (void) log_level_parse(conf_str(conf, "log_level"), &level);
    log_init(program, level, colour);
    if (side == CONF_MINION)
        log_minion(conf_str(conf, "id"));
    startup_log_form(conf_opts(conf));
    open_log(conf);
    tell_names(conf_opts(conf));
    conf_startup_tell(warnings, conf);
    return conf;
}

/* ---- a reload -------------------------------------------------------------------------------- */

/* NEW configuration, or NULL with *err: the old one then goes on. Options that need a restart keep their
 * value. */
conf_t *
startup_reload(const conf_t *old, const char *dir, conf_side_t side, const json_t *overrides, fail_t *err)
{
    json_auto_t *warnings = json_array();
    conf_t *fresh = conf_load_whole(dir, side, overrides, LIMIT_ADDRESSES_RELOAD_MS, warnings, err);
    size_t n, changed = 0;
    const option_row_t *rows = conf_rows(&n);
    log_reopen();
    if (fresh == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        json_t *was = conf_get(old, rows[i].name), *is = conf_get(fresh, rows[i].name);
        if (!(rows[i].side & side) || (was == is || json_equal(was, is)))
            continue;
        if (rows[i].live == CONF_LIVE) {
            changed++;
            continue;
        }
        log_warning("reload: %s changed: that takes effect when the %s is restarted", rows[i].name,
                    side == CONF_MASTER ? "master" : "minion");
        if (was != NULL)
            json_object_set(conf_opts(fresh), rows[i].name, was);
        else
            json_object_del(conf_opts(fresh), rows[i].name);
    }
    log_level_t level = LEVEL_WARNING;
    (void) log_level_parse(conf_str(fresh, "log_level"), &level);
    log_console(level);
    log_granular(conf_get(fresh, "log_granular_levels"));
    open_log(fresh);
    tell_names(conf_opts(fresh));
    conf_startup_tell(warnings, fresh);
    log_info("reload: %zu options changed", changed);
    return fresh;
}

/* ---- folders and their owner ----------------------------------------------------------------- */

typedef struct owner {
    uid_t uid;
    gid_t gid;
} owner_t;

static void give_tree(int dir_fd, const char *name, owner_t to, int depth);

/* Change the owner of an entry. The descriptor is checked and changed, not the name, which the previous owner
 * may have replaced meanwhile. Files with several links are left alone. 0 also for an entry that is gone. */
static int
give_entry(int dir_fd, const char *name, owner_t to, int depth)
{
    struct stat st;
    AUTO_FD fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return fs_is_absence(-errno) ? 0 : -errno;
    if (st.st_uid != to.uid && (S_ISDIR(st.st_mode) || st.st_nlink == 1) &&
        fchownat(fd, "", to.uid, to.gid, AT_EMPTY_PATH) != 0)
        return -errno;
    int below = S_ISDIR(st.st_mode) ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (S_ISDIR(st.st_mode) && below < 0)
        return -errno;
    if (below >= 0)
        give_tree(below, name, to, depth + 1);
    return 0;
}

/* Change the owner of all that is in a folder, recursively, at most TREE_DEPTH deep. Links are not followed,
 * and a file with several names may belong elsewhere. Closes `dir_fd`. */
static void
give_tree(int dir_fd, const char *name, owner_t to, int depth)
{
    DIR *d = depth < TREE_DEPTH ? fdopendir(dir_fd) : NULL;
    const struct dirent *e;
    int rc = depth < TREE_DEPTH ? -errno : -ELOOP;
    if (d == NULL) {
        log_warning("%s: what is in it can't be given to the user: %s", name, strerror(-rc));
        (void) close(dir_fd);
        return;
    }
    while ((e = fs_next(d, &rc))) {
        int one = give_entry(dirfd(d), e->d_name, to, depth);
        if (one < 0)
            log_warning("%s/%s can't be given to the user: %s", name, e->d_name, strerror(-one));
    }
    if (rc < 0)
        log_warning("%s: what is in it can't be given to the user: %s", name, strerror(-rc));
    (void) closedir(d);
}

/* Gives a folder and its content to a user. All goes through one descriptor, so that a rename meanwhile can't
 * mix two folders. */
static int
give_folder(const char *path, owner_t to, fail_t *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fchown(fd, to.uid, to.gid) != 0) {
        int code = errno;
        if (fd >= 0)
            (void) close(fd);
        return fail_set(err, -code, "%s: can't be given to the user: %s", path, strerror(code));
    }
    give_tree(fd, path, to, 0);
    return 0;
}

/* Makes what the daemon needs before it gives up its rights, and gives it to `user`. */
int
startup_folders(const conf_t *conf, conf_side_t side, bool with_keys, fail_t *err)
{
    static const struct {
        const char *option;
        mode_t mode;
        conf_side_t side;
        bool of_keys;
    } folders[] = { { "pki_dir", 0700, CONF_BOTH, true },
                    { "cachedir", 0750, CONF_BOTH, false },
                    { "sock_dir", 0755, CONF_MASTER, false } };
    static const char *const files[] = { "pidfile", "log_file", "audit_log" };
    const char *user = conf_str(conf, "user");
    owner_t to = { geteuid(), getegid() };
    int rc = str_empty(user) ? 0 : daemon_user_ids(user, &to.uid, &to.gid, err);
    bool give = geteuid() == 0 && to.uid != 0;
    for (size_t i = 0; rc == 0 && i < NELEMS(folders); i++) {
        bool wanted = (folders[i].side & side) != 0 && (with_keys || !folders[i].of_keys);
        const char *path = wanted ? conf_str(conf, folders[i].option) : "";
        rc = *path ? fs_own_dir(path, folders[i].mode, err) : 0;
        if (rc == 0 && *path && give)
            rc = give_folder(path, to, err);
    }
    const char *audit = conf_str(conf, "audit_log");
    if (rc == 0 && side == CONF_MASTER && *audit != '\0') {
        /* Made as root: the daemon's user may not be allowed to. An error is reported when it is written. */
        (void) fs_own_parent(audit, NULL);
        AUTO_FD fd = fs_open_log(audit, O_NOFOLLOW);
        (void) fd;
    }
    for (size_t i = 0; rc == 0 && give && i < NELEMS(files); i++)
        if (!log_is_syslog(conf_str(conf, files[i])) &&
            lchown(conf_str(conf, files[i]), to.uid, to.gid) != 0 && errno != ENOENT)
            log_warning("%s can't be given to the user %s: %s", conf_str(conf, files[i]), user,
                        strerror(errno));
    return rc;
}
