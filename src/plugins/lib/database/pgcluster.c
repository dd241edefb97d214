/* pgcluster.c - see pgroles.h: folders of data, by initdb, and Debian's clusters, by pg_createcluster and
 * its like. */
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/database/pgroles.h"
#include "salt/log.h"

int
pg_is_datadir(const char *path, fail_t *err)
{
    AUTO_FREE char *version = fs_join(path, "PG_VERSION"), *config = fs_join(path, "postgresql.conf");
    int there = fs_look(version, err);

    return there > 0 ? fs_look(config, err) : there;
}

int
pg_datadir_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int there = pg_is_datadir(value_str(args, "name", ""), err);

    if (there >= 0)
        *ret_value = json_boolean(there);
    return there < 0 ? there : 0;
}

/* ---- initdb ----------------------------------------------------------------------------------- */

/* A file with the password, which only the user can read. initdb takes it from a file alone. NEW path, or
 * NULL. */
static char *
password_file(const char *password, const char *user, fail_t *err)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, user);
    AUTO_FREE char *path = fs_join(fs_temp_dir(), "halite-initdb.XXXXXX");
    AUTO_FD fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0) {
        (void) fail_set(err, -errno, "mkostemp %s: %s", path, strerror(errno));
        return NULL;
    }
    int rc = fs_write_all(fd, password, strlen(password));
    if (rc == 0 && pw != NULL && geteuid() == 0 && fchown(fd, pw->pw_uid, pw->pw_gid) < 0)
        rc = -errno;
    if (rc == 0)
        return STEAL(path);
    (void) fail_set(err, rc, "%s: %s", path, strerror(-rc));
    (void) unlink(path);
    return NULL;
}

int
pg_datadir_init(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *runas = value_str(args, "runas", "postgres"),
               *password = value_str(args, "password", NULL), *locale = value_str(args, "locale", NULL),
               *waldir = value_str(args, "waldir", NULL);
    prog_auto_t prog = PROG_INIT;
    int there = pg_is_datadir(name, err), code = -1;

    if (there > 0)
        log_info("%s already exists", name);
    *ret_value = there == 0 ? NULL : json_false();
    if (there != 0)
        return there < 0 ? there : 0;
    AUTO_FREE char *initdb = pg_program(ctx, "initdb");
    if (initdb == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "initdb executable not found.");
    prog_add(&prog, initdb);
    prog_addf(&prog, "--pgdata=%s", name);
    prog_addf(&prog, "--username=%s", value_str(args, "user", runas));
    prog_addf(&prog, "--auth=%s", value_str(args, "auth", "password"));
    prog_addf(&prog, "--encoding=%s", value_str(args, "encoding", "UTF8"));
    if (locale != NULL)
        prog_addf(&prog, "--locale=%s", locale);
    if (waldir != NULL)
        prog_adds(&prog, "-X", waldir, NULL);
    if (value_truthy(value_get(args, "checksums")))
        prog_add(&prog, "--data-checksums");
    AUTO_FREE char *file = password != NULL ? password_file(password, runas, err) : NULL;
    if (password != NULL && file == NULL)
        return err->code;
    if (file != NULL)
        prog_addf(&prog, "--pwfile=%s", file);
    prog.run_as = runas;
    prog.timeout_ms = pg_timeout_ms(ctx);
    int rc = tool_retcode(ctx, &prog, 0, &code, err);
    if (file != NULL && unlink(file) < 0)
        log_warning("unlink %s: %s; it holds a password", file, strerror(errno));
    if (rc == 0 && code != 0)
        log_error("Error initilizing the postgres data directory");
    *ret_value = rc == 0 ? json_boolean(code == 0) : NULL;
    return rc;
}

/* ---- Debian's clusters ------------------------------------------------------------------------- */

/* {"VERSION/NAME": {port, status, user, datadir, log}}. NEW, or NULL with *err. */
static json_t *
clusters(call_ctx_t *ctx, fail_t *err)
{
    enum { CLUSTER_FIELDS = 7 };
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "pg_lsclusters", err) < 0)
        return NULL;
    prog_add(&prog, "--no-header");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return NULL;
    json_t *all = json_object();
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char **f = str_split(lines[i], " \t", true);
        long long port = 0;
        if (strv_len(f) >= CLUSTER_FIELDS && str_to_int(f[2], 0, 65535, &port)) {
            AUTO_FREE char *key = xasprintf("%s/%s", f[0], f[1]);
            json_object_set_new(all, key,
                                json_pack("{s:I, s:s, s:s, s:s, s:s}", "port", (json_int_t) port, "status",
                                          f[3], "user", f[4], "datadir", f[5], "log", f[6]));
        }
        strv_free(f);
    }
    strv_free(lines);
    return all;
}

/* The version, which YAML may have read as a number. NEW. */
static char *
version_of(const json_t *args)
{
    return value_pystr(value_get(args, "version"));
}

int
pg_cluster_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = clusters(ctx, err);
    const char *key;
    json_t *v;

    if (all == NULL)
        return err->code;
    if (value_truthy(value_get(args, "verbose"))) {
        *ret_value = json_incref(all);
        return 0;
    }
    *ret_value = json_array();
    json_object_foreach (all, key, v)
        json_array_append_new(*ret_value, json_string(key));
    return 0;
}

int
pg_cluster_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *version = version_of(args),
                   *key = xasprintf("%s/%s", version, value_str(args, "name", "main"));
    json_auto_t *all = clusters(ctx, err);

    if (all == NULL)
        return err->code;
    *ret_value = json_boolean(value_get(all, key) != NULL);
    return 0;
}

/* "VERSION NAME", neither of which may be an option. */
static int
add_cluster(prog_t *prog, const json_t *args, fail_t *err)
{
    AUTO_FREE char *version = version_of(args);
    int rc = prog_operand(prog, "version", version, err);

    return rc < 0 ? rc : prog_operand(prog, "name", value_str(args, "name", "main"), err);
}

int
pg_cluster_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[] = { "port", "locale", "encoding", "datadir" };
    json_t *group = value_get(args, "allow_group_access"), *sums = value_get(args, "data_checksums"),
           *size = value_get(args, "wal_segsize");
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "pg_createcluster", err) < 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(options); i++) {
        AUTO_FREE char *option = xasprintf("--%s", options[i]);
        if (value_truthy(value_get(args, options[i])))
            prog_add_option(&prog, option, value_get(args, options[i]));
    }
    if (add_cluster(&prog, args, err) < 0)
        return err->code;
    if (value_truthy(group) || value_truthy(sums) || value_truthy(size))
        prog_add(&prog, "--"); /* initdb's own options follow */
    if (json_is_true(group))
        prog_add(&prog, "--allow-group-access");
    if (json_is_true(sums))
        prog_add(&prog, "--data-checksums");
    if (value_truthy(size))
        prog_add_option(&prog, "--wal-segsize", size);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return err->code;
    *ret_value = value_int(ran, "retcode", 1) == 0 ? json_incref(ran) : json_false();
    return 0;
}

int
pg_cluster_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *version = version_of(args);
    const char *name = value_str(args, "name", "main");
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "pg_dropcluster", err) < 0)
        return err->code;
    if (value_truthy(value_get(args, "stop")))
        prog_add(&prog, "--stop");
    if (add_cluster(&prog, args, err) < 0)
        return err->code;
    prog.timeout_ms = LIMIT_TOOL_MS;
    *ret_value = tool_run(ctx, &prog, 0, err);
    if (*ret_value == NULL)
        return err->code;
    if (value_int(*ret_value, "retcode", 1) == 0)
        json_object_set_new(*ret_value, "changes",
                            value_fmt("Successfully removed cluster %s/%s", version, name));
    else
        log_error("Error removing a Postgresql cluster %s/%s", version, name);
    return 0;
}
