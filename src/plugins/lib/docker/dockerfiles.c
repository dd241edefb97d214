/* dockerfiles.c - images and containers to files and from them: see dockerfuns.h. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/docker/dockerfuns.h"
#include "salt/log.h"

enum { MS_PER_S = 1000, SHORT_ID = 12, PACK_MS = 3600 * 1000 };

/* Seconds with their fraction since `start` (clock_mono_ms()). */
static json_t *
elapsed(int64_t start)
{
    return json_real((double) (clock_mono_ms() - start) / MS_PER_S);
}

/* The program of a compression: NULL: none, "" : unknown. BORROWED. */
static const char *
packer_of(const char *path, const json_t *given)
{
    static const char *const names[][3] = { { "gzip", "gz", ".tar.gz" },    { "gzip", "gz", ".tgz" },
                                            { "bzip2", "bz2", ".tar.bz2" }, { "bzip2", "bz2", ".tbz2" },
                                            { "xz", "lzma", ".tar.xz" },    { "xz", "lzma", ".txz" } };
    const char *word = json_string_value(given);

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (word != NULL ? strcmp(word, names[i][0]) == 0 || strcmp(word, names[i][1]) == 0
                         : str_ends(path, names[i][2]))
            return names[i][0];
    }
    return word != NULL ? "" : NULL;
}

/* Refuses a place where the file can't be. */
static int
check_place(const char *path, const json_t *args, fail_t *err)
{
    AUTO_FREE char *folder = xstrndup(path,
                                      (size_t) (strrchr(path, '/') != NULL ? strrchr(path, '/') - path : 0));
    const char *packer = packer_of(path, value_get(args, "compression"));
    struct stat st;

    if (*path != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Path '%s' is not absolute", path);
    if (!value_bool(args, "overwrite", false) && lstat(path, &st) == 0)
        return fail_kind(err, FAIL_COMMAND, -EEXIST, "%s already exists", path);
    if (packer != NULL && *packer == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid compression type '%s'",
                         value_str(args, "compression", ""));
    if (*folder == '\0' || fs_is_dir(folder))
        return 0;
    if (value_bool(args, "makedirs", false))
        return fs_mkdirs(folder, 0755, err);
    return fail_kind(err, FAIL_COMMAND, -ENOENT,
                     "Parent dir %s of destination path does not exist. Use makedirs=True to create it.",
                     folder);
}

/* Packs the file in its place: PATH.gz and the like. */
static int
pack(call_ctx_t *ctx, const char *packer, const char *temp, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    bool ok = false;
    json_t *answer = NULL;

    if (tool_begin(&prog, packer, err) < 0)
        return err->code;
    prog_adds(&prog, "--", temp, NULL);
    prog.timeout_ms = PACK_MS;
    if (tool_bool(ctx, &prog, TOOL_QUIET, &answer, err) < 0)
        return err->code;
    ok = json_is_true(answer);
    json_decref(answer);
    return ok ? 0 : fail_kind(err, FAIL_COMMAND, -EIO, "%s could not pack %s", packer, temp);
}

/* The engine's answer to GET `from` into a file of its own beside `path`, which then takes its place. The
 * program leaves the packed file beside the other with its own suffix. */
static int
fetch_file(call_ctx_t *ctx, const char *from, const char *path, const json_t *args, fail_t *err)
{
    const char *packer = packer_of(path, value_get(args, "compression"));
    AUTO_FREE char *temp = xasprintf("%s.XXXXXX", path);
    AUTO_FREE char *packed = NULL;
    AUTO_FD fd = mkostemp(temp, O_CLOEXEC);
    buf_auto_t none = BUF_INIT;

    if (fd < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "Unable to open %s for writing: %s", path,
                         strerror(errno));
    packed = xasprintf("%s%s", temp,
                       packer == NULL                 ? ""
                       : strcmp(packer, "gzip") == 0  ? ".gz"
                       : strcmp(packer, "bzip2") == 0 ? ".bz2"
                                                      : ".xz");
    int rc = engine_bytes(ctx, &(engine_ask_t){ .method = "GET", .path = from, .to = fd, .timeout = -1 },
                          &none, err);
    if (rc == 0 && fsync(fd) < 0)
        rc = fail_kind(err, FAIL_COMMAND, -errno, "fsync %s: %s", temp, strerror(errno));
    if (rc == 0 && packer != NULL)
        rc = pack(ctx, packer, temp, err);
    if (rc == 0 && rename(packed, path) < 0)
        rc = fail_kind(err, FAIL_COMMAND, -errno, "rename %s to %s: %s", packed, path, strerror(errno));
    if (rc < 0) {
        (void) unlink(temp);
        (void) unlink(packed);
    }
    return rc;
}

/* The answer of save and export; *ret_value NEW. */
static int
dockerfiles_tell_file(call_ctx_t *ctx, const char *path, int64_t start, const json_t *args,
                      json_t **ret_value, fail_t *err)
{
    struct stat st;
    json_t *pushed = NULL;

    if (stat(path, &st) < 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "stat %s: %s", path, strerror(errno));
    json_auto_t *size = json_integer(st.st_size);
    json_auto_t *ret = json_pack("{s:o, s:s, s:O, s:o}", "Time_Elapsed", elapsed(start), "Path", path, "Size",
                                 size, "Size_Human", docker_size(size));
    if (value_truthy(value_get(value_get(args, "kwargs"), "push"))) {
        json_auto_t *names = json_pack("[s]", path);
        if (ctx_call(ctx, "cp.push", names, NULL, &pushed, err) < 0)
            return err->code;
        json_object_set_new(ret, "Push", pushed);
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* An image is asked for by its tag where it has that, as the file then has the tag too; an id gives a file
 * without. */
int
docker_fn_save(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *path = value_str(args, "path", "");
    int64_t start = clock_mono_ms();

    if (check_place(path, args, err) < 0)
        return err->code;
    json_auto_t *image = docker_image(ctx, name, err);
    if (image == NULL)
        return err->code;
    bool tagged = value_lists(value_get(image, "RepoTags"), name);
    AUTO_FREE char *from = engine_path("/images/%s/get", tagged ? name : value_str(image, "Id", ""));
    if (fetch_file(ctx, from, path, args, err) < 0)
        return err->code;
    return dockerfiles_tell_file(ctx, path, start, args, ret_value, err);
}

/* The error says what was going on, as Salt's does. */
int
docker_fn_export(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    AUTO_FREE char *from = engine_path("/containers/%s/export", value_str(args, "name", ""));
    int64_t start = clock_mono_ms();

    if (check_place(path, args, err) < 0)
        return err->code;
    json_auto_t *container = docker_container(ctx, value_str(args, "name", ""), err);
    if (container == NULL || fetch_file(ctx, from, path, args, err) < 0) {
        fail_prefix(err, "Error occurred during container export: ");
        return err->code;
    }
    return dockerfiles_tell_file(ctx, path, start, args, ret_value, err);
}

/* ---- into the engine --------------------------------------------------------------------------- */

/* The file of a path or URL. NEW, or NULL with *err. */
static char *
local_file(call_ctx_t *ctx, const char *source, fail_t *err)
{
    json_auto_t *names = json_pack("[s]", source);
    json_t *found = NULL;
    struct stat st;

    if (strstr(source, "://") == NULL)
        found = json_string(source);
    else if (ctx_call(ctx, "cp.cache_file", names, NULL, &found, err) < 0)
        return NULL;
    json_auto_t *own = found;
    const char *path = json_string_value(own);
    if (path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return xstrdup(path);
    (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Source file %s does not exist", source);
    return NULL;
}

/* POSTs a file, and the events that come of it. NEW, or NULL with *err. */
static json_t *
dockerfiles_send_file(call_ctx_t *ctx, const char *file, const char *to, json_t *query, const char *type,
                      fail_t *err)
{
    AUTO_FILE f = fopen(file, "re");
    struct stat st;

    if (f == NULL || fstat(fileno(f), &st) < 0) {
        (void) fail_kind(err, FAIL_COMMAND, -errno, "open %s: %s", file, strerror(errno));
        return NULL;
    }
    return engine_stream(ctx,
                         &(engine_ask_t){ .method = "POST",
                                          .path = to,
                                          .query = query,
                                          .file = f,
                                          .file_size = st.st_size,
                                          .type = type,
                                          .timeout = -1 },
                         err);
}

/* The images that are no other's parent, of those that are new. NEW. */
static json_t *
top_of(const json_t *images, const json_t *fresh)
{
    json_auto_t *parents = json_array();
    json_t *out = json_array(), *one;
    const char *id;
    size_t i;

    json_object_foreach ((json_t *) images, id, one)
        json_array_append(parents, value_get(one, "ParentId"));
    json_array_foreach (fresh, i, one) {
        if (!value_has(parents, one))
            json_array_append(out, one);
    }
    return out;
}

/* Tags what was loaded, when it is one image. */
static void
tag_loaded(call_ctx_t *ctx, const json_t *top, json_t *args, json_t *ret)
{
    const char *repository = value_str(args, "repository", ""), *tag = value_str(args, "tag", ""),
               *id = json_string_value(json_array_get(top, 0));
    AUTO_FREE char *all = value_joined(top, ", ");
    fail_auto_t bad = FAIL_INIT;

    if (json_array_size(top) > 1) {
        json_object_set_new(
            ret, "Warning",
            value_fmt("More than one top-level image layer was loaded (%s), no image was tagged", all));
        return;
    }
    if (id == NULL) {
        json_object_set_new(ret, "Warning",
                            json_string("No top-level image layers were loaded, no image was tagged"));
        return;
    }
    AUTO_FREE char *path = engine_path("/images/%s/tag", id);
    json_auto_t *done = engine_post(ctx, &bad, path, json_pack("{s:s, s:s}", "repo", repository, "tag", tag),
                                    NULL);
    if (done != NULL)
        json_object_set_new(ret, "Image", value_fmt("%s:%s", repository, tag));
    else
        json_object_set_new(ret, "Warning",
                            value_fmt("Failed to tag %s as %s:%s: %s", id, repository, tag, fail_text(&bad)));
}

/* The engine does not tell what it loaded; the images that are new are told by a comparison. */
int
docker_fn_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    bool repository = value_truthy(value_get(args, "repository")), tag = value_truthy(value_get(args, "tag"));
    int64_t start = clock_mono_ms();
    json_t *one;
    size_t i;

    if (repository != tag)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "If tagging, both a repository and tag are required");
    AUTO_FREE char *file = local_file(ctx, path, err);
    json_auto_t *pre = file != NULL ? docker_images(ctx, true, err) : NULL;
    if (pre == NULL)
        return err->code;
    json_auto_t *events = dockerfiles_send_file(ctx, file, "/images/load", NULL, "application/x-tar", err);
    if (events == NULL) {
        fail_prefix(err, "Failed to load image(s) from %s: ", path);
        return err->code;
    }
    json_auto_t *post = docker_images(ctx, true, err);
    if (post == NULL)
        return err->code;
    json_auto_t *fresh = docker_gone(post, pre);
    json_auto_t *top = top_of(post, fresh);
    json_auto_t *layers = json_array();
    json_array_foreach (fresh, i, one)
        json_array_append_new(layers, value_fmt("%.*s", SHORT_ID, json_string_value(one)));
    *ret_value = json_pack("{s:o, s:s, s:O}", "Time_Elapsed", elapsed(start), "Path", path, "Layers", layers);
    if (repository)
        tag_loaded(ctx, top, args, *ret_value);
    return 0;
}

/* An event of an import: the image's id is told as a status of its own. Refusals go to `errors`. */
static void
import_event(const json_t *event, const char *repository, const char *tag, json_t *ret, json_t *errors)
{
    static const char algorithm[] = "sha256:";
    const char *status = value_str(event, "status", NULL);
    const json_t *bad = value_get(event, "errorDetail");

    if (bad != NULL) {
        AUTO_FREE char *code = value_pystr(value_get(bad, "code"));
        json_array_append_new(errors, value_get(bad, "code") != NULL
                                          ? value_fmt("%s: %s", code, value_str(bad, "message", ""))
                                          : json_string(value_str(bad, "message", "")));
    }
    const char *id = status != NULL && str_starts(status, algorithm) ? status + strlen(algorithm) : status;
    if (id == NULL || *id == '\0' || id[strspn(id, "0123456789abcdef")] != '\0')
        return;
    json_object_set_new(ret, "Image", value_fmt("%s:%s", repository, tag));
    json_object_set_new(ret, "Id", json_string(status));
}

/* The engine fetches a URL itself; only the file server's files come from here. */
int
docker_fn_import(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *source = value_str(args, "source", "");
    AUTO_FREE char *repository = value_pystr(value_get(args, "repository"));
    AUTO_FREE char *tag = value_pystr(value_get(args, "tag"));
    bool remote = strstr(source, "://") != NULL && !str_starts(source, "salt://");
    int64_t start = clock_mono_ms();
    size_t i;
    json_t *one;

    AUTO_FREE char *file = remote ? NULL : local_file(ctx, source, err);
    if (!remote && file == NULL)
        return err->code;
    json_auto_t *query = json_pack("{s:s, s:s, s:s}", "fromSrc", remote ? source : "-", "repo", repository,
                                   "tag", tag);
    json_auto_t *events =
        remote
            ? engine_stream(ctx,
                            &(engine_ask_t){
                                .method = "POST", .path = "/images/create", .query = query, .timeout = -1 },
                            err)
            : dockerfiles_send_file(ctx, file, "/images/create", query, "application/x-tar", err);
    if (events == NULL)
        return err->code;
    json_auto_t *errors = json_array();
    json_auto_t *ret = json_pack("{s:o}", "Time_Elapsed", elapsed(start));
    if (value_bool(args, "api_response", false))
        json_object_set(ret, "API_Response", events);
    json_array_foreach (events, i, one)
        import_event(one, repository, tag, ret, errors);
    AUTO_FREE char *why = value_joined(errors, "\n\n");
    if (value_get(ret, "Id") == NULL)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Import failed for %s%s%s", source,
                         *why != '\0' ? ". Error(s) follow:\n\n" : "", why);
    *ret_value = json_incref(ret);
    return 0;
}

/* ---- build ------------------------------------------------------------------------------------- */

/* Packs a folder, without what its .dockerignore names. A list with exceptions ("!") is not applied: all is
 * sent then, which the engine's own reading of the list makes right. */
static int
pack_folder(call_ctx_t *ctx, const char *folder, const char *tar, fail_t *err)
{
    AUTO_FREE char *list = fs_join(folder, ".dockerignore");
    enum { LIST_MAX = 1024 * 1024 };
    prog_auto_t prog = PROG_INIT;
    buf_auto_t text = BUF_INIT;
    json_t *ok = NULL;

    if (tool_begin(&prog, "tar", err) < 0)
        return err->code;
    prog_adds(&prog, "-C", folder, "--anchored", "--wildcards", "--wildcards-match-slash", NULL);
    if (fs_read(list, LIST_MAX, &text, NULL) == 0 && strchr(buf_str(&text), '!') == NULL) {
        char **lines = str_split(buf_str(&text), "\r\n", true);
        for (size_t i = 0; lines[i] != NULL; i++) {
            const char *line = str_trim(lines[i]);
            line += *line == '/';
            if (*line != '\0' && *line != '#' && strcmp(line, "Dockerfile") != 0)
                prog_addf(&prog, "--exclude=./%s", line);
        }
        strv_free(lines);
    }
    prog_adds(&prog, "-cf", tar, ".", NULL);
    prog.timeout_ms = PACK_MS;
    if (tool_bool(ctx, &prog, 0, &ok, err) < 0)
        return err->code;
    bool done = json_is_true(ok);
    json_decref(ok);
    return done ? 0 : fail_kind(err, FAIL_COMMAND, -EIO, "tar could not pack %s", folder);
}

/* The engine's events of a build. NEW, or NULL with *err. */
static json_t *
build_events(call_ctx_t *ctx, const json_t *args, const char *tag, fail_t *err)
{
    static const char *const remotes[] = { "http://", "https://", "git://", "github.com/", "git@" };
    const char *path = value_str(args, "path", "");
    char tar[] = "/tmp/.docker-build-XXXXXX";
    bool remote = false;

    for (size_t i = 0; i < NELEMS(remotes); i++)
        remote = remote || str_starts(path, remotes[i]);
    json_t *v = value_get(args, "buildargs");
    json_auto_t *query = json_pack("{s:s?, s:b, s:b, s:b, s:b, s:O}", "t", tag, "q", 0, "nocache",
                                   !value_bool(args, "cache", true), "rm", value_bool(args, "rm", true),
                                   "forcerm", 0, "dockerfile", value_get(args, "dockerfile"));
    if (value_truthy(v))
        json_object_set_new(query, "buildargs", docker_repacked(v));
    /* The engine fetches a remote context itself. */
    if (remote)
        json_object_set(query, "remote", value_get(args, "path"));
    if (remote)
        return engine_stream(
            ctx, &(engine_ask_t){ .method = "POST", .path = "/build", .query = query, .timeout = -1 }, err);
    if (!fs_is_dir(path)) {
        (void) fail_kind(err, FAIL_COMMAND, -ENOTDIR, "You must specify a directory to build in path");
        return NULL;
    }
    AUTO_FD fd = mkostemp(tar, O_CLOEXEC);
    if (fd < 0) {
        (void) fail_kind(err, FAIL_COMMAND, -errno, "mkstemp %s: %s", tar, strerror(errno));
        return NULL;
    }
    json_t *events = pack_folder(ctx, path, tar, err) == 0
                         ? dockerfiles_send_file(ctx, tar, "/build", query, "application/tar", err)
                         : NULL;
    (void) unlink(tar);
    return events;
}

/* Puts into `ret` the facts of the events: the id, the containers in between; `errors` and `log` are filled.
 * The id is known only from the builder's prose: "Successfully built ID", "---> Running in ID". */
static void
read_build(const json_t *events, json_t *ret, json_t *errors, buf_t *log)
{
    json_t *one;
    size_t i;

    json_array_foreach (events, i, one) {
        const char *stream = value_str(one, "stream", NULL),
                   *told = value_str(value_get(one, "errorDetail"), "message", NULL);
        json_t *code = value_get(value_get(one, "errorDetail"), "code");
        AUTO_FREE char *number = code != NULL ? value_pystr(code) : NULL;
        if (told != NULL)
            json_array_append_new(
                errors, value_fmt("%s%s%s", number != NULL ? number : "", number != NULL ? ": " : "", told));
        if (stream == NULL)
            continue;
        buf_puts(log, stream);
        AUTO_FREE char *line = xstrdup(stream);
        const char *text = str_trim(line), *word = strrchr(text, ' ') != NULL ? strrchr(text, ' ') + 1 : text;
        if (strstr(text, "Successfully built") != NULL)
            json_object_set_new(ret, "Id", json_string(word));
        if (strstr(text, "Running in") != NULL) {
            if (value_get(ret, "Intermediate_Containers") == NULL)
                json_object_set_new(ret, "Intermediate_Containers", json_array());
            json_array_append_new(value_get(ret, "Intermediate_Containers"), json_string(word));
        }
    }
}

/* A tag without a repository means nothing. The id that the builder printed is then looked up for its
 * tags. */
int
docker_fn_build(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *repository = value_get(args, "repository"), *tag = value_get(args, "tag");
    const char *path = value_str(args, "path", ""), *logfile = value_str(args, "logfile", NULL);
    AUTO_FREE char *name = value_pystr(repository);
    AUTO_FREE char *word = value_pystr(tag);
    AUTO_FREE char *full = value_truthy(repository) && value_truthy(tag) ? xasprintf("%s:%s", name, word)
                                                                         : NULL;
    int64_t start = clock_mono_ms();
    buf_auto_t log = BUF_INIT;

    if (value_truthy(tag) && !value_truthy(repository))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "If tagging, both a repository and tag are required");
    json_auto_t *events = build_events(ctx, args, full, err);
    if (events == NULL)
        return err->code;
    json_auto_t *errors = json_array();
    json_auto_t *ret = json_pack("{s:o}", "Time_Elapsed", elapsed(start));
    read_build(events, ret, errors, &log);
    /* The log is the user's convenience: a build doesn't fail for it. */
    if (logfile != NULL) {
        AUTO_FD fd = open(logfile, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0 || fs_write_all(fd, buf_str(&log), log.len) < 0)
            log_error("Unable to write logfile '%s'", logfile);
    }
    const char *id = value_str(ret, "Id", NULL);
    if (id == NULL) {
        AUTO_FREE char *told = value_joined(errors, "\n\n");
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Build failed for %s%s%s", path,
                         *told != '\0' ? ". Error(s) follow:\n\n" : "", told);
    }
    json_auto_t *image = docker_image(ctx, id, err);
    if (image == NULL)
        return err->code;
    json_t *tags = value_get(image, "RepoTags");
    json_object_set_new(ret, "Image",
                        json_array_size(tags) > 0 ? json_incref(tags)
                                                  : json_pack("[O]", value_get(image, "Id")));
    if (value_bool(args, "api_response", false))
        json_object_set(ret, "API_Response", events);
    /* With rm they are gone again. */
    if (value_bool(args, "rm", true))
        json_object_del(ret, "Intermediate_Containers");
    *ret_value = json_incref(ret);
    return 0;
}
