/* rsync.c - execution module `rsync`: copies of trees, by rsync. The result is what cmd.run_all returns: an
 * exit code of rsync is data. A source of the file server is fetched into a private folder first, which is
 * removed whatever comes of it. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"

enum { RSYNC_TIMEOUT_S = 12 * 60 * 60 }; /* a large tree over a slow line */

/* ---- the command line --------------------------------------------------------------------------- */

/* Arguments that are not given come from the configuration: rsync.src and the like. So `rsync.delete: True`
 * in the configuration deletes, unless the call says True itself; a False of the call can't turn it off, as
 * by Salt. */
static int
add_configured(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    static const char *const names[] = { "src",          "dst",     "delete",      "force",  "update",
                                         "passwordfile", "exclude", "excludefrom", "dryrun", "rsh" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *option = xasprintf("rsync.%s", names[i]);
        if (value_truthy(value_get(args, names[i])))
            continue;
        json_t *v = sub_call(ctx, err, "config.option", "{s:s}", "value", option);
        if (v == NULL)
            return err->code;
        json_object_set_new(args, names[i], v);
    }
    return 0;
}

/* rsync's options of the call. NEW list. Sources and destinations are added by the caller, behind all
 * options. */
static json_t *
rsync_line(const json_t *args)
{
    static const char *const bare[] = { "delete", "--delete", "force", "--force", "update", "--update" };
    json_t *line = json_pack("[s, s]", "rsync", "-avz"), *exclude = value_get(args, "exclude"), *one;
    AUTO_FREE char *rsh = value_pystr(value_get(args, "rsh"));
    AUTO_FREE char *password = value_pystr(value_get(args, "passwordfile"));
    AUTO_FREE char *from = value_pystr(value_get(args, "excludefrom"));
    json_auto_t *patterns = json_is_array(exclude) ? json_incref(exclude) : json_pack("[O]", exclude);
    size_t i;

    for (i = 0; i < NELEMS(bare); i += 2)
        if (value_truthy(value_get(args, bare[i])))
            json_array_append_new(line, json_string(bare[i + 1]));
    if (value_truthy(value_get(args, "rsh")))
        json_array_append_new(line, value_fmt("--rsh=%s", rsh));
    if (value_truthy(value_get(args, "passwordfile"))) {
        json_array_append_new(line, json_string("--password-file"));
        json_array_append_new(line, json_string(password));
    }
    /* A file of patterns stands for all of them. */
    bool by_file = value_truthy(value_get(args, "excludefrom"));
    if (by_file) {
        json_array_append_new(line, json_string("--exclude-from"));
        json_array_append_new(line, json_string(from));
    }
    json_array_foreach (!by_file && value_truthy(exclude) ? patterns : NULL, i, one) {
        AUTO_FREE char *pattern = value_pystr(one);
        json_array_append_new(line, json_string("--exclude"));
        json_array_append_new(line, json_string(pattern));
    }
    if (value_truthy(value_get(args, "dryrun")))
        json_array_append_new(line, json_string("--dry-run"));
    if (json_is_array(value_get(args, "additional_opts")))
        json_array_extend(line, value_get(args, "additional_opts"));
    return line;
}

/* ---- sources of the file server ------------------------------------------------------------------ */

/* Fetches a salt:// source into the private folder `temp`. The path that rsync reads: NEW, or NULL with *err.
 * A folder ends with "/", so that rsync copies its contents and not the folder. */
static char *
fetch_source(call_ctx_t *ctx, const json_t *args, const char *src, const char *temp, fail_t *err)
{
    const char *saltenv = value_str(args, "saltenv", "base"), *path = src + strlen("salt://");
    AUTO_FREE char *file = fs_join(temp, "source");
    json_auto_t *dirs = sub_call(ctx, err, "cp.list_master_dirs", "{s:s}", "saltenv", saltenv), *got = NULL;

    if (dirs == NULL)
        return NULL;
    bool is_dir = value_lists(dirs, path);
    got = is_dir ? sub_call(ctx, err, "cp.get_dir", "{s:s, s:s, s:s}", "path", src, "dest", temp, "saltenv",
                            saltenv)
                 : sub_call(ctx, err, "cp.get_file", "{s:s, s:s, s:s}", "path", src, "dest", file, "saltenv",
                            saltenv);
    if (got != NULL && !value_truthy(got))
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "%s does not exist", src);
    return !value_truthy(got) ? NULL : is_dir ? xasprintf("%s/", temp) : STEAL(file);
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* src and dst come from the call or the configuration. */
static int
rsync_rsync(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *call = json_copy(args), *line = NULL;
    AUTO_FREE char *temp = xasprintf("%s/rsync-XXXXXX", fs_temp_dir()), *from = NULL;

    if (add_configured(ctx, call, err) < 0)
        return err->code;
    const char *src = value_str(call, "src", ""), *dst = value_str(call, "dst", "");
    bool served = str_starts(src, "salt://");
    if (*src == '\0' || *dst == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "src and dst cannot be empty");
    if (prog_check_operand("src", src, err) < 0 || prog_check_operand("dst", dst, err) < 0)
        return err->code;
    if (served && mkdtemp(temp) == NULL)
        return fs_fail(err, -errno, "make a folder like", temp);
    from = served ? fetch_source(ctx, call, src, temp, err) : xstrdup(src);
    if (from != NULL) {
        line = rsync_line(call);
        json_array_append_new(line, json_string(from));
        json_array_append_new(line, json_string(dst));
        *ret_value = tool_words(ctx, line, NULL, NULL, 0, RSYNC_TIMEOUT_S, err);
    }
    if (served)
        (void) fs_remove_tree(temp, NULL);
    return *ret_value != NULL ? 0 : err->code;
}

/* "rsync  version 3.2.7  protocol version 31": the third word. */
static int
rsync_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "rsync", "--version");
    json_auto_t *ran = tool_words(ctx, line, NULL, NULL, 0, RSYNC_TIMEOUT_S, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *first = xstrdup(value_str(ran, "stdout", ""));
    first[strcspn(first, "\n")] = '\0';
    char **words = str_split(first, " ", true);
    bool has = strv_len(words) > 2;
    *ret_value = has ? json_string(words[2]) : NULL;
    strv_free(words);
    return has ? 0 : fail_kind(err, FAIL_COMMAND, -EPROTO, "Unable to determine rsync version");
}

/* The text of rsyncd.conf or another file; each reason to lack it has Salt's words. */
static int
rsync_config(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "conf_path", "");
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_HOST_FILE, &text, &why);

    if (rc == -ENOENT || rc == -ENOTDIR)
        return fail_kind(err, FAIL_COMMAND, rc, "%s does not exist", path);
    if (rc == -EACCES || rc == -EISDIR)
        return fail_kind(err, FAIL_COMMAND, rc, "Unable to read %s, %s", path,
                         rc == -EACCES ? "access denied" : "path is a directory");
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "%s", why.text);
    *ret_value = value_utf8(buf_str(&text), text.len);
    return 0;
}

static const char *
exec_rsync_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rsync");

    return path != NULL ? NULL
                        : "The rsync execution module cannot be loaded: the rsync binary is not in the path.";
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t rsync_args[] = {
    ARG("src", ARG_STR, ARG_REQUIRED,
        "The source: a path, HOST:PATH, rsync://..., salt://...; \"\": option rsync.src"),
    ARG("dst", ARG_STR, ARG_REQUIRED, "The copy; \"\": option rsync.dst"),
    ARG("delete", ARG_ANY, "false", "Delete what the source has not"),
    ARG("force", ARG_ANY, "false", "Delete folders that are not empty, too"),
    ARG("update", ARG_ANY, "false", "Leave files alone that are newer"),
    ARG("passwordfile", ARG_STR, "null", "A file with the password for a daemon"),
    ARG("exclude", ARG_ANY, "null", "Patterns of what is left out: a text, or a list"),
    ARG("excludefrom", ARG_STR, "null", "A file of such patterns, instead"),
    ARG("dryrun", ARG_ANY, "false", "Only say what would be copied"),
    ARG("rsh", ARG_STR, "null", "The remote shell"),
    ARG("additional_opts", ARG_ANY, "null", "A list of other options of rsync"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of the file server"),
    ARGS_END,
};
static const arg_t config_args[] = { ARG("conf_path", ARG_STR, "\"/etc/rsyncd.conf\"", "The file"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "config", rsync_config, config_args, FN_READONLY,
      "Return the text of rsync's configuration." CLI_EXAMPLE("salt '*' rsync.config") },
    { "rsync", rsync_rsync, rsync_args, 0,
      "Copy what differs; return rsync's exit code and words." CLI_EXAMPLE(
          "salt '*' rsync.rsync /path/to/src /path/to/dest delete=True update=True\n    salt '*' rsync.rsync "
          "/path/to/src /path/to/dest exclude='[exclude1/dir,exclude2/dir]' additional_opts='[\"--partial\"]'") },
    { "version", rsync_version, NULL, FN_READONLY,
      "Return the version of rsync." CLI_EXAMPLE("salt '*' rsync.version") },
};

PLUGIN(exec, rsync, .doc = "Copies by rsync", FUNCS(funcs), .unavailable = exec_rsync_unavailable);
