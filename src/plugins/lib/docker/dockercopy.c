/* dockercopy.c - single files between the host and a running container, and scripts: see dockerfuns.h. The engine
 * takes and gives files as tar archives; checksums are asked of the container's own md5sum, as Salt does, so that
 * a file which is the same is left alone. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/docker/dockerfuns.h"

enum { TAR_MS = 600 * 1000 };

/* The container, and the file at both ends. */
typedef struct copy {
    call_ctx_t *ctx;
    const char *name;   /* BORROWED */
    char *here, *there; /* paths on the host and inside, NEW */
    char *work;         /* a private folder, NEW, or NULL */
} copy_t;

static void
dockercopy_free(copy_t *c)
{
    if (c->work != NULL)
        (void) fs_remove_tree(c->work, NULL);
    free(c->here);
    free(c->there);
    free(c->work);
}
#define copy_auto_t __attribute__((cleanup(dockercopy_free))) copy_t

/* Runs words inside, "%s" standing for the path there: what it printed to stdout goes to *ret_out (NEW) unless that is NULL.
 * The exit code, or negative with *err. */
static int
inside(const copy_t *c, const char *path, const char *words, char **ret_out, fail_t *err)
{
    json_t *list = json_array();
    char **split = str_split(words, " ", true);

    for (size_t i = 0; split[i] != NULL; i++)
        json_array_append_new(list, json_string(split[i]));
    strv_free(split);
    json_array_append_new(list, json_string(path));
    json_auto_t *done = docker_inside(c->ctx, c->name, list, false, err);
    if (done == NULL)
        return err->code;
    if (ret_out != NULL)
        *ret_out = xstrdup(value_str(done, "stdout", ""));
    return (int) value_int(done, "retcode", 1);
}

/* Refuses a container that does not run. */
static int
must_run(const copy_t *c, fail_t *err)
{
    const char *state = docker_state_now(c->ctx, c->name, err);

    if (state == NULL)
        return err->code;
    return strcmp(state, "running") == 0
               ? 0
               : fail_kind(err, FAIL_COMMAND, -EINVAL, "Container '%s' is not running", c->name);
}

/* Whether both files are there and have the same checksum: 1, 0, or negative with *err. */
static int
same(const copy_t *c, fail_t *err)
{
    AUTO_FREE char *there = NULL;
    json_auto_t *names = json_pack("[s, s]", c->here, "md5");
    json_t *here = NULL;

    if (fs_look_file(c->here, err) <= 0)
        return err->code;
    int code = inside(c, c->there, "md5sum --", &there, err);
    if (code != 0)
        return code < 0 ? code : 0;
    if (ctx_call(c->ctx, "file.get_hash", names, NULL, &here, err) < 0)
        return err->code;
    there[strcspn(there, " \t")] = '\0';
    bool is = json_is_string(here) && strcmp(json_string_value(here), there) == 0;
    json_decref(here);
    return is;
}

static int
tar_run(const copy_t *c, prog_t *prog, fail_t *err)
{
    json_t *ok = NULL;

    prog->timeout_ms = TAR_MS;
    if (tool_bool(c->ctx, prog, 0, &ok, err) < 0)
        return err->code;
    bool done = json_is_true(ok);
    json_decref(ok);
    return done ? 0 : fail_kind(err, FAIL_COMMAND, -EIO, "tar failed for a file of container '%s'", c->name);
}

/* A private folder for the archive, beside `path`. */
static int
make_work(copy_t *c, const char *folder, fail_t *err)
{
    c->work = xasprintf("%s/.docker-copy-XXXXXX", folder);
    if (mkdtemp(c->work) != NULL)
        return 0;
    (void) fail_kind(err, FAIL_COMMAND, -errno, "mkdtemp %s: %s", c->work, strerror(errno));
    free(c->work);
    c->work = NULL;
    return err->code;
}

static const char *
base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* The folder of an absolute path. NEW. */
static char *
folder_of(const char *path)
{
    size_t n = (size_t) (base_of(path) - path);

    return n > 1 ? xstrndup(path, n - 1) : xstrdup("/");
}

/* ---- out of a container ---------------------------------------------------------------------------- */

/* The engine's archive holds the file under its own name; it is unpacked beside its place, which it then takes. */
static int
take_out(copy_t *c, fail_t *err)
{
    AUTO_FREE char *folder = folder_of(c->here), *from = engine_path("/containers/%s/archive", c->name);
    prog_auto_t prog = PROG_INIT;
    struct stat st;
    buf_auto_t none = BUF_INIT;
    json_auto_t *query = json_pack("{s:s}", "path", c->there);

    if (make_work(c, folder, err) < 0)
        return err->code;
    AUTO_FREE char *tar = fs_join(c->work, ".tar"), *file = fs_join(c->work, base_of(c->there));
    AUTO_FD fd = open(tar, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "open %s: %s", tar, strerror(errno));
    if (engine_bytes(
            c->ctx, &(engine_ask_t){ .method = "GET", .path = from, .query = query, .to = fd, .timeout = -1 },
            &none, err) < 0)
        return err->code;
    if (tool_begin(&prog, "tar", err) < 0)
        return err->code;
    prog_adds(&prog, "-C", c->work, "--no-same-owner", "-xf", tar, "--", base_of(c->there), NULL);
    if (tar_run(c, &prog, err) < 0)
        return err->code;
    /* A link would point to whatever this machine has there. */
    return lstat(file, &st) == 0 && S_ISREG(st.st_mode)
               ? fs_settle(file, c->here, err)
               : fail_kind(err, FAIL_COMMAND, -EINVAL, "Source must be a regular file");
}

/* Where the copy is to be: a file in a folder that is there, or is made. */
static int
place_here(copy_t *c, const json_t *args, fail_t *err)
{
    if (fs_is_dir(c->here)) {
        char *file = fs_join(c->here, base_of(c->there));
        free(c->here);
        c->here = file;
    }
    AUTO_FREE char *folder = folder_of(c->here);
    if (!fs_is_dir(folder)) {
        if (!value_bool(args, "makedirs", false))
            return fail_kind(err, FAIL_INVOCATION, -ENOENT, "Directory %s does not exist", folder);
        if (fs_mkdirs(folder, 0755, err) < 0) {
            fail_prefix(err, "Unable to make destination directory %s: ", folder);
            return err->code;
        }
    }
    int is = value_bool(args, "overwrite", false) ? 0 : fs_look(c->here, err);
    return is > 0
               ? fail_kind(err, FAIL_COMMAND, -EEXIST,
                           "Destination path %s already exists. Use overwrite=True to overwrite it", c->here)
               : is;
}

int
docker_fn_copy_from(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    copy_auto_t c = { ctx, value_str(args, "name", ""), xstrdup(value_str(args, "dest", "")),
                      xstrdup(value_str(args, "source", "")), NULL };

    if (must_run(&c, err) < 0)
        return err->code;
    if (*c.here != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Destination path must be absolute");
    if (place_here(&c, args, err) < 0)
        return err->code;
    if (*c.there != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Source path must be absolute");
    int code = inside(&c, c.there, "test -e", NULL, err);
    if (code != 0)
        return code < 0 ? code
                        : fail_kind(err, FAIL_INVOCATION, -ENOENT, "Source file %s does not exist", c.there);
    if ((code = inside(&c, c.there, "test -f", NULL, err)) != 0)
        return code < 0 ? code : fail_kind(err, FAIL_INVOCATION, -EINVAL, "Source must be a regular file");
    int is = same(&c, err);
    if (is == 0 && take_out(&c, err) == 0)
        is = same(&c, err);
    if (is < 0 || err->code < 0)
        return err->code;
    *ret_value = json_boolean(is);
    return 0;
}

/* ---- into a container ------------------------------------------------------------------------------ */

/* Sends an archive of the file under the name that it gets. A file that is there keeps its mode, as it does when
 * a program writes to it; a new one is readable for all. */
static int
put_in(copy_t *c, fail_t *err)
{
    AUTO_FREE char *to = engine_path("/containers/%s/archive", c->name), *folder = folder_of(c->there);
    AUTO_FREE char *mode = NULL;
    buf_auto_t none = BUF_INIT;
    prog_auto_t prog = PROG_INIT;
    json_auto_t *query = json_pack("{s:s}", "path", folder);
    struct stat st;
    int code = inside(c, c->there, "stat -c %a --", &mode, err);

    if (code < 0 || make_work(c, fs_temp_dir(), err) < 0)
        return err->code;
    AUTO_FREE char *tar = fs_join(c->work, ".tar"), *link = fs_join(c->work, base_of(c->there));
    if (symlink(c->here, link) < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "symlink %s: %s", link, strerror(errno));
    if (tool_begin(&prog, "tar", err) < 0)
        return err->code;
    prog_adds(&prog, "-C", c->work, "--dereference", "--owner=0", "--group=0", "--numeric-owner", NULL);
    prog_addf(&prog, "--mode=%s",
              code == 0 && mode[strspn(mode, "01234567")] == '\0' && *mode != '\0' ? mode : "644");
    prog_adds(&prog, "-cf", tar, "--", base_of(c->there), NULL);
    if (tar_run(c, &prog, err) < 0)
        return err->code;
    AUTO_FILE f = fopen(tar, "re");
    if (f == NULL || fstat(fileno(f), &st) < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "open %s: %s", tar, strerror(errno));
    return engine_bytes(c->ctx,
                        &(engine_ask_t){ .method = "PUT",
                                         .path = to,
                                         .query = query,
                                         .file = f,
                                         .file_size = st.st_size,
                                         .type = "application/x-tar",
                                         .timeout = -1 },
                        &none, err);
}

/* Where the copy is to be inside: a file in a folder that is there, or is made. */
static int
place_there(copy_t *c, bool overwrite, bool makedirs, fail_t *err)
{
    int code = inside(c, c->there, "test -d", NULL, err);

    if (code == 0) {
        char *file = fs_join(c->there, base_of(c->here));
        free(c->there);
        c->there = file;
    }
    AUTO_FREE char *folder = folder_of(c->there);
    if (code > 0)
        code = inside(c, folder, "test -d", NULL, err);
    if (code > 0 && !makedirs)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                         "Directory %s does not exist on docker container '%s'", folder, c->name);
    if (code > 0) {
        AUTO_FREE char *said = NULL;
        code = inside(c, folder, "mkdir -p --", &said, err);
        if (code > 0)
            return fail_kind(err, FAIL_COMMAND, -EIO,
                             "Unable to create destination directory %s in container '%s'", folder, c->name);
    }
    if (code == 0 && !overwrite) {
        code = inside(c, c->there, "test -e", NULL, err);
        if (code == 0)
            return fail_kind(err, FAIL_COMMAND, -EEXIST,
                             "Destination path %s already exists. Use overwrite=True to overwrite it",
                             c->there);
    }
    return code < 0 ? code : 0;
}

/* 1 when the file is there as it is here, 0 when it is not after all, negative with *err. */
static int
copy_in(copy_t *c, bool overwrite, bool makedirs, fail_t *err)
{
    struct stat st;

    if (must_run(c, err) < 0)
        return err->code;
    if (*c->here != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Source path must be absolute");
    if (stat(c->here, &st) < 0)
        return fail_kind(err, FAIL_INVOCATION, -errno, "Source file %s does not exist", c->here);
    if (!S_ISREG(st.st_mode))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Source must be a regular file");
    if (*c->there != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Destination path must be absolute");
    if (place_there(c, overwrite, makedirs, err) < 0)
        return err->code;
    int is = same(c, err);
    if (is == 0 && put_in(c, err) == 0)
        is = same(c, err);
    return is < 0 || err->code < 0 ? err->code : is;
}

/* The path of a source: the file server's is fetched. NEW, or NULL with *err. */
static char *
source_file(call_ctx_t *ctx, const char *source, const char *saltenv, fail_t *err)
{
    json_auto_t *names = json_pack("[s, s]", source, saltenv);
    json_t *found = NULL;

    if (ctx_call(ctx, "cp.cache_file", names, NULL, &found, err) < 0)
        return NULL;
    char *path = json_is_string(found) ? xstrdup(json_string_value(found)) : NULL;
    json_decref(found);
    if (path == NULL)
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to cache %s", source);
    return path;
}

int
docker_fn_copy_to(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *source = value_str(args, "source", "");
    copy_auto_t c = { ctx, value_str(args, "name", ""), NULL, xstrdup(value_str(args, "dest", "")), NULL };

    c.here = str_starts(source, "salt://") ? source_file(ctx, source, "base", err) : xstrdup(source);
    if (c.here == NULL)
        return err->code;
    int is = copy_in(&c, value_bool(args, "overwrite", false), value_bool(args, "makedirs", false), err);
    if (is < 0)
        return is;
    *ret_value = json_boolean(is);
    return 0;
}

/* ---- scripts --------------------------------------------------------------------------------------- */

/* Fills the open temporary file with the script, rendered when `template` says by which engine: 1, 0 when there is no such
 * script, or negative with *err. */
static int
stage_script(const copy_t *c, const json_t *args, fail_t *err)
{
    const char *source = value_str(args, "source", ""), *template = value_str(args, "template", NULL),
               *saltenv = value_str(args, "saltenv", "base");
    enum { SCRIPT_MAX = 16 * 1024 * 1024 };
    buf_auto_t text = BUF_INIT;
    json_t *found = NULL;

    json_auto_t *names = template != NULL ? json_pack("[s, s, s, s]", source, c->here, template, saltenv)
                                          : json_pack("[s, s]", source, saltenv);
    if (ctx_call(c->ctx, template != NULL ? "cp.get_template" : "cp.cache_file", names, NULL, &found, err) <
        0)
        return err->code;
    json_auto_t *own = found;
    if (!json_is_string(own) || *json_string_value(own) == '\0')
        return 0;
    if (template != NULL)
        return 1;
    if (fs_read(json_string_value(own), SCRIPT_MAX, &text, err) < 0 ||
        fs_write_quick(c->here, buf_str(&text), text.len, 0600, err) < 0)
        return err->code;
    return 1;
}

/* script and script_retcode: the row's member of what came of it. The copy inside has a name of its own, as a container
 * may have the host's /tmp, and goes afterwards whatever happens. */
int
docker_fn_script(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *what = ctx_row(ctx)->data.text, *source = value_str(args, "source", "");
    const char *suffix = strrchr(base_of(source), '.');
    copy_auto_t c = { ctx, value_str(args, "name", ""), NULL, NULL, NULL };
    json_auto_t *done = NULL;

    suffix = suffix != NULL && suffix != base_of(source) ? suffix : "";
    c.here = xasprintf("/tmp/saltXXXXXX%s", suffix);
    AUTO_FD fd = mkostemps(c.here, (int) strlen(suffix), O_CLOEXEC);
    if (fd < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "mkstemp %s: %s", c.here, strerror(errno));
    c.there = xasprintf("%.*s.in%s", (int) (strlen(c.here) - strlen(suffix)), c.here, suffix);
    int rc = stage_script(&c, args, err);
    if (rc == 0)
        done = json_pack("{s:i, s:i, s:s, s:s, s:b}", "pid", 0, "retcode", 1, "stdout", "", "stderr", "",
                         "cache_error", 1);
    bool staged = rc > 0;
    if (staged)
        rc = copy_in(&c, false, false, err);
    if (staged && rc >= 0) {
        AUTO_FREE char *extra = value_truthy(value_get(args, "args")) ? value_pystr(value_get(args, "args"))
                                                                      : NULL;
        AUTO_FREE char *line = xasprintf("%s%s%s", c.there, extra != NULL ? " " : "",
                                         extra != NULL ? extra : "");
        fail_auto_t bad = FAIL_INIT;
        rc = inside(&c, c.there, "chmod 700 --", NULL, err);
        if (rc >= 0)
            done = docker_run_all(ctx, args, line, false, err);
        (void) inside(&c, c.there, "rm -f --", NULL, &bad);
    }
    (void) unlink(c.here);
    if (done == NULL)
        return err->code;
    *ret_value = json_incref(strcmp(what, "all") == 0 ? done : value_get(done, what));
    return 0;
}
