/* file_managed.c - state file.managed: a file with given content, owner and mode. The body checks the
 * arguments, brings contents into s->args, and ends in one of four ways: only permissions (replace: False),
 * test mode, a trial for check_cmd, or file.manage_file. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/py/py_json.h"
#include "common/py/py_traverse.h"
#include "common/py/py_wire.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/manage.h"
#include "plugins/lib/file/source.h"
#include "salt/log.h"

#define THREE "'contents', 'contents_pillar', or 'contents_grains'"

/* The body's own state: the call, and what its content comes to. */
typedef struct work {
    fstate_t *s;
    managed_t m;
    bool replace;
    char *check_file; /* where check_cmd looks */
    int checked;      /* that file, open; -1: none */
} work_t;

/* ---- contents -------------------------------------------------------------------------------- */

/* Looks a key up in pillar or grains: NEW value, or NULL with the state failed or *err. */
static json_t *
looked_up(fstate_t *s, json_t *key, json_t *tree, const char *what, fail_t *err)
{
    const char *delimiter = fstate_str(s, "contents_delimiter");
    buf_auto_t joined = BUF_INIT;
    json_auto_t *keys = json_is_array(key) ? json_incref(key) : json_pack("[O]", key);
    size_t i;
    json_t *one;

    json_array_foreach (keys, i, one) {
        AUTO_FREE char *path = value_pystr(one);
        json_t *found = value_path(tree, path, delimiter != NULL ? delimiter : ":");
        if (found == NULL) {
            fstate_error(s, "%s %s does not exist", what, path);
            return NULL;
        }
        if (!json_is_array(key))
            return json_incref(found);
        if (!json_is_string(found)) {
            fail_set(err, -EINVAL, "%s %s is not a text, and only texts can be joined", what, path);
            return NULL;
        }
        buf_printf(&joined, "%s%s", i > 0 ? "\n" : "", json_string_value(found));
    }
    return value_utf8(buf_str(&joined), joined.len);
}

/* The contents by whichever argument gives some. NEW, json null for none; NULL with the state failed or
 * *err. */
static json_t *
given_contents(fstate_t *s, fail_t *err)
{
    json_t *v;

    if ((v = fstate_arg(s, "contents_pillar")) != NULL)
        return looked_up(s, v, ctx_pillar(s->ctx), "Pillar", err);
    if ((v = fstate_arg(s, "contents_grains")) != NULL)
        return looked_up(s, v, ctx_grains(s->ctx), "Grain", err);
    v = fstate_arg(s, "contents");
    return v != NULL ? json_incref(v) : json_null();
}

/* Texts of the SLS as lines: every line ends with a line feed, whatever it ended with; without
 * `contents_newline` the last one has none. NEW. */
static json_t *
as_lines(const fstate_t *s, const json_t *parts)
{
    buf_auto_t out = BUF_INIT;
    size_t i, k;
    json_t *part, *line;

    json_array_foreach (parts, i, part) {
        json_auto_t *lines = fstate_splitlines(json_string_value(part), json_string_length(part));
        json_array_foreach (lines, k, line) {
            buf_add(&out, json_string_value(line), json_string_length(line));
            buf_putc(&out, '\n');
        }
    }
    while (!fstate_on(s, "contents_newline", true) && out.len > 0 && out.data[out.len - 1] == '\n')
        out.len--;
    while (!fstate_on(s, "contents_newline", true) && out.len > 0 && out.data[out.len - 1] == '\r')
        out.len--;
    return value_utf8(out.data, out.len);
}

/* Bytes that are not text, of the SLS, of pillar, or of another state by py_wire.h. NEW, or NULL. */
static py_t *
binary_contents(fstate_t *s)
{
    json_t *key = fstate_arg(s, "contents_pillar"), *wire = fstate_arg(s, "contents");
    const char *delimiter = fstate_str(s, "contents_delimiter");
    AUTO(py) path = json_is_string(key) ? py_from_json(key) : NULL;
    AUTO(py)
    v = path != NULL ? py_traverse(ctx_native_pillar(s->ctx), path, delimiter != NULL ? delimiter : ":")
        : json_is_object(wire) ? py_from_wire(wire)
                               : ctx_native_arg(s->ctx, "contents");
    size_t len;

    if (v == NULL || !py_is(v, PY_BYTES))
        return NULL;
    if (json_is_object(wire))
        return STEAL(v);
    const char *bytes = py_text(v, &len);
    return utf8_valid(bytes, len) ? NULL : STEAL(v);
}

/* args["contents"] becomes the text to write, or stays None. 1: the state has failed. */
static int
prepare_contents(fstate_t *s, fail_t *err)
{
    json_auto_t *given = given_contents(s, err);

    if (given == NULL)
        return err != NULL && err->code != 0 ? err->code : 1;
    json_object_set(s->args, "contents", given);
    if (json_is_null(given))
        return 0;
    if (!fstate_on(s, "allow_empty", true) && !value_truthy(given)) {
        /* Fails the state and names the source of the empty contents. */
        static const char *const sources[] = { "contents_pillar", "contents_grains" };
        AUTO_FREE char *id = xstrdup("'contents'");
        for (size_t i = NELEMS(sources); i-- > 0;) {
            AUTO_FREE char *key = value_pystr(fstate_arg(s, sources[i]));
            if (!value_truthy(fstate_arg(s, sources[i])))
                continue;
            free(id);
            id = xasprintf("%s %s", sources[i], key);
        }
        (void) fstate_error(
            s,
            "%s value would result in empty contents. Set allow_empty to True to allow the managed "
            "file to be empty.",
            id);

        return 1;
    }
    AUTO(py) binary = binary_contents(s);
    if (binary != NULL && fstate_on(s, "template", false)) {
        fstate_error(s, "Contents specified by contents/contents_pillar/contents_grains appears to be binary "
                        "data, and as will not be able to be treated as a Jinja template.");
        return 1;
    }
    if (binary != NULL) {
        json_object_set_new(s->args, "contents", py_to_wire(binary));
        return 0;
    }
    json_auto_t *parts = fstate_texts(given);
    if (json_array_size(parts) == 0) {
        fstate_error(s,
                     "Contents specified by contents/contents_pillar/contents_grains is not a string or list "
                     "of strings, and is not binary data. SLS is likely malformed.");
        return 1;
    }
    json_object_set_new(s->args, "contents", as_lines(s, parts));
    if (!fstate_on(s, "template", false))
        return 0;
    json_auto_t *text = NULL;
    if (file_apply_template_on_contents(s->ctx, s->args, &text, err) != 0)
        return err->code;
    if (!json_is_string(text)) {
        fstate_error(s, "%s", value_str(text, "comment", "Error while applying template on contents"));
        return 1;
    }
    json_object_set(s->args, "contents", text);
    return 0;
}

/* ---- checks before anything is done ------------------------------------------------------------ */

/* Number of contents arguments that the SLS gives. */
static int
contents_count(const fstate_t *s)
{
    return (fstate_arg(s, "contents") != NULL) + (fstate_arg(s, "contents_pillar") != NULL) +
           (fstate_arg(s, "contents_grains") != NULL);
}

/* Arguments that exclude each other. */
static bool
contradictory(fstate_t *s)
{
    int count = contents_count(s);

    if (fstate_on(s, "source", false) && count > 0)
        fstate_error(s, "'source' cannot be used in combination with " THREE);
    else if (fstate_on(s, "keep_mode", false) && count > 0)
        fstate_error(s, "Mode preservation cannot be used in combination with " THREE);
    else if (count > 1)
        fstate_error(s, "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted");
    else
        return false;
    return true;
}

/* A mode that no file can have, while nothing has been written. NEW; NULL: they are good. */
static char *
bad_mode(const fstate_t *s)
{
    static const char *const keys[] = { "mode", "dir_mode" };

    for (size_t i = 0; i < NELEMS(keys); i++) {
        AUTO_FREE char *mode = fop_normalize_mode(value_get(s->args, keys[i]));
        if (mode != NULL && !fop_is_mode(mode))
            return xasprintf("%s: %s is not an octal number up to 7777", keys[i], mode);
    }
    return NULL;
}

/* True: s->ret is the answer. */
static bool
state_file_managed_settled(fstate_t *s)
{
    json_t *context = fstate_arg(s, "context"), *defaults = fstate_arg(s, "defaults");

    int file = fstate_on(s, "create", true) ? 1 : fstate_is_file(s, s->name);
    if (file == 0)
        state_ret_set(s->ret, STATE_TRUE, "File %s is not present and is not set for creation", s->name);
    if (file <= 0)
        return true;
    AUTO_FREE char *who = fstate_check_user(s, fstate_arg(s, "user"), fstate_arg(s, "group"));
    AUTO_FREE char *bad = bad_mode(s);
    AUTO_FREE char *is_dir = xasprintf("Specified target %s is a directory", s->name);
    fail_auto_t why = FAIL_INIT;
    int dir = fop_leads_to(s->name, S_IFDIR, &why);
    if (who != NULL)
        fstate_error(s, "%s", who);
    else if (bad != NULL)
        fstate_error(s, "%s", bad);
    else if (*s->name != '/')
        fstate_error(s, "Specified file %s is not an absolute path", s->name);
    else if (dir != 0)
        fstate_error(s, "%s", dir < 0 ? fail_text(&why) : is_dir);
    else if (context != NULL && !json_is_object(context))
        fstate_error(s, "Context must be formed as a dict");
    else if (value_truthy(defaults) && !json_is_object(defaults))
        fstate_error(s, "Defaults must be formed as a dict");
    else
        return false;
    return true;
}

/* ---- the four ways to end ------------------------------------------------------------------------ */

/* replace: False, and the file is there: owner and mode are checked alone. Comments of a test name the mode
 * only where it changes. */
static int
only_perms(fstate_t *s, fail_t *err)
{
    json_auto_t *perms = NULL;
    const char *mode = fstate_str(s, "mode");
    int rc = fop_check_perms(s->ctx, s->args, NULL, s->ret, &perms, err);

    if (rc != 0)
        return rc;
    const char *was = value_str(perms, "lmode", NULL);
    if (s->test && mode != NULL && was != NULL && !str_eq(mode, was))
        state_ret_comment(
            s->ret, value_fmt("File %s will be updated with permissions %s from its current state of %s",
                              s->name, mode, was));
    else if (s->test)
        state_ret_comment(s->ret, value_fmt("File %s not updated", s->name));
    else if (!state_changed(s->ret) && value_truthy(value_get(s->ret, "result")))
        state_ret_comment(s->ret,
                          value_fmt("File %s exists with proper permissions. No changes made.", s->name));
    return 0;
}

/* Test mode: the changes that file.manage_file would make. */
static int
only_tell(fstate_t *s)
{
    AUTO_FREE char *comment = NULL;
    fail_auto_t why = FAIL_INIT;
    json_t *changes = NULL;

    if (manage_changes(s->ctx, s->args, &changes, &comment, &why) != 0)
        return fstate_error(s, "Unable to manage file: %s", fail_text(&why));
    if (comment != NULL)
        return fstate_error(s, "%s", comment);
    if (value_get(changes, "diff") != NULL && !fstate_on(s, "show_changes", true))
        json_object_set_new(changes, "diff", json_string("<show_changes=False>"));
    if (fstate_arg(s, "contents") != NULL && !fstate_on(s, "follow_symlinks", true) &&
        fop_lexists_as(s->name, S_IFLNK, &why) > 0)
        json_object_set_new(changes, "diff", json_string("Replace symbolic link with regular file"));
    bool any = json_object_size(changes) > 0;
    state_change_set(s->ret, changes);
    if (!any)
        return state_ret_set(s->ret, STATE_TRUE, "The file %s is in the correct state", s->name);
    return state_ret_set(s->ret, STATE_NONE,
                         "The file %s is set to be changed\nNote: No changes made, actual changes may\nbe "
                         "different due to other states.",
                         s->name);
}

/* Runs a command on a file. NULL: the file passes, or *err; else NEW comment with what the command
 * printed. */
static char *
complaint(call_ctx_t *ctx, const json_t *check_cmd, const char *path, json_t *opts, fail_t *err)
{
    AUTO_FREE char *command = value_pystr(check_cmd);
    json_auto_t *args = json_array(), *ret = NULL;

    json_array_append_new(args, value_fmt("%s %s", command, path));
    if (ctx_call(ctx, "cmd.run_all", args, opts, &ret, err) != 0 || value_int(ret, "retcode", 0) == 0)
        return NULL;
    const char *out = value_str(ret, "stdout", ""), *complained = value_str(ret, "stderr", "");
    return xasprintf("check_cmd execution failed%s%s%s%s", *out != '\0' ? "\n" : "", out,
                     *complained != '\0' ? "\n" : "", complained);
}

/* Its presence in the table tells the state runner that file.managed runs its check_cmd by itself. */
static int
mod_run_check_cmd(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *no = complaint(ctx, value_get(args, "cmd"), value_str(args, "filename", ""),
                                   value_get(args, "kwargs"), &why);

    if (why.code != 0)
        return fail_set(err, why.code, "%s", fail_text(&why));
    *ret_value = no == NULL ? json_true()
                            : json_pack("{s:o, s:b, s:b}", "comment", value_utf8(no, strlen(no)),
                                        "skip_watch", 1, "result", 0);
    return 0;
}

/* Mode of the file that check_cmd reads: others may read but not write it, as it stays ours whoever owns the
 * final file. */
enum { CHECK_MODE = 0755 };

/* The content that is there, and its mode, become the trial's, so that the trial's changes are those of the
 * run. */
static int
copy_there(const work_t *w, fail_t *err)
{
    const content_t there = { .path = w->s->name };
    struct stat st;

    int file = fop_exists_as(w->s->name, S_IFREG, err);
    if (file <= 0)
        return file;
    if (stat(w->s->name, &st) != 0)
        return fop_oserror(err, errno, w->s->name);
    const landing_t as = { (uid_t) -1, (gid_t) -1, st.st_mode & CHECK_MODE, NULL };
    return content_commit(w->check_file, &there, &as, err);
}

/* Arguments of file.manage_file for the trial: its owner stays the minion, and its mode lets nobody else
 * write it. NEW, or NULL with *err. */
static json_t *
state_file_managed_check_args(const work_t *w, fail_t *err)
{
    static const char *const finally[] = { "user", "group", "keep_mode" };
    json_t *args = json_copy(w->s->args);
    AUTO_FREE char *kept = fstate_on(w->s, "keep_mode", false)
                               ? source_mode(w->s->ctx, value_str(args, "source", ""),
                                             value_str(args, "saltenv", "base"), err)
                               : NULL;
    if (err->code != 0) {
        json_decref(args);
        return NULL;
    }
    const char *mode = kept != NULL ? kept : value_str(args, "mode", NULL);

    for (size_t i = 0; i < NELEMS(finally); i++)
        json_object_del(args, finally[i]);
    json_object_set_new(args, "name", json_string(w->check_file));
    if (mode != NULL)
        json_object_set_new(args, "mode", value_fmt("%04lo", strtoul(mode, NULL, 8) & CHECK_MODE));
    return args;
}

/* The file as it would be, made elsewhere for check_cmd to look at; it becomes the source. 1: the state has
 * failed. */
static int
try_first(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    json_auto_t *args = NULL, *tried = state_ret(s->name);
    fail_auto_t why = FAIL_INIT;

    w->check_file = content_temp(fstate_str(s, "tmp_dir"), fstate_str(s, "tmp_ext"), "", 0, err);
    if (w->check_file == NULL)
        return -EIO;
    if (copy_there(w, &why) != 0) {
        fstate_error(s, "Unable to copy file %s to %s: %s", s->name, w->check_file, fail_text(&why));
        return 1;
    }
    args = state_file_managed_check_args(w, &why);
    if (args == NULL || manage_file(s->ctx, args, &w->m, tried, &why) != 0) {
        fstate_error(s, "Unable to check_cmd file: %s", fail_text(&why));
        return 1;
    }
    if (!state_changed(tried))
        return 0;
    w->checked = open(w->check_file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (w->checked < 0) {
        fop_oserror(&why, errno, w->check_file);
        fstate_error(s, "Unable to check_cmd file: %s", fail_text(&why));
        return 1;
    }
    json_t *shell = value_get(ctx_grains(s->ctx), "shell");
    json_auto_t *opts = shell != NULL ? json_pack("{s:O}", "shell", shell) : json_object();
    AUTO_FREE char *no = complaint(s->ctx, fstate_arg(s, "check_cmd"), w->check_file, opts, err);
    if (err->code != 0)
        return err->code;
    if (no != NULL) {
        json_object_set_new(s->ret, "skip_watch", json_true());
        fstate_error(s, "%s", no);
        return 1;
    }
    if (fstate_on(s, "source", false)) {
        /* Takes the checked file as source by its descriptor: the folder's owner may give its name to
         * another file. */
        json_auto_t *sum = json_incref(w->m.sum);
        managed_free(&w->m);
        w->m.sfn = xasprintf("/proc/self/fd/%d", w->checked);
        w->m.sum = json_incref(sum);
        json_object_del(s->args, "signature"); /* has been checked, of these very bytes */
    }
    return 0;
}

/* Picks the source, fetches and renders it, tries check_cmd, and writes the file. Errors fail the state, but
 * for those of a check_cmd that can't be run. */
static int
state_file_managed_apply(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    AUTO_FREE char *source = NULL;
    json_auto_t *hash = NULL;
    fail_auto_t why = FAIL_INIT;
    const char *env = value_str(s->args, "saltenv", "base");
    int rc = source_pick(s->ctx, value_get(s->args, "source"), value_get(s->args, "source_hash"), env,
                         &source, &hash, &why);

    if (rc == 0) {
        json_object_set_new(s->args, "source",
                            source != NULL ? value_utf8(source, strlen(source)) : json_null());
        json_object_set(s->args, "source_hash", hash);
        rc = managed_get(s->ctx, s->args, &w->m, &why);
    }
    if (rc == 0 && fstate_arg(s, "check_cmd") != NULL && fstate_on(s, "check_cmd", false)) {
        rc = w->m.comment == NULL ? try_first(w, err) : 0;
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    if (rc == 0 && w->m.comment != NULL && fstate_arg(s, "contents") == NULL)
        return fstate_error(s, "%s", w->m.comment);
    if (rc == 0)
        rc = manage_file(s->ctx, s->args, &w->m, s->ret, &why);
    if (rc != 0) {
        state_change_set(s->ret, json_object());
        fstate_error(s, "Unable to manage file: %s", fail_text(&why));
    }

    /* A copy in the cache, when it is not to be kept. The user's own files stay. */
    const char *cache = value_str(ctx_opts(w->s->ctx), "cachedir", NULL);
    AUTO_FREE char *below = !str_empty(cache) ? fs_join(cache, "") : NULL;
    if (!fstate_on(w->s, "keep_source", true) && w->m.sfn != NULL && !w->m.temp && below != NULL &&
        str_starts(w->m.sfn, below))
        unlink(w->m.sfn);

    return 0;
}

/* The file server's own digest counts for what it serves. */
static void
warn_of_hash(const fstate_t *s)
{
    json_t *source = value_get(s->args, "source"), *one;
    json_auto_t *list = json_is_array(source) ? json_incref(source) : json_pack("[O*]", source);
    /* Only sources of the file server: their digest is asked for anyway, and the argument would not be looked
     * at. */
    bool served = fstate_on(s, "source_hash", false);
    size_t i;

    json_array_foreach (list, i, one)
        served = served && json_is_string(one) && str_starts(json_string_value(one), "salt://");
    if (served && json_array_size(list) > 0)
        log_warning("source_hash is only used with 'http', 'https' or 'ftp'");
}

/* Without any source of contents the file is created empty, but never replaced. */
static int
managed_body(fstate_t *s, fail_t *err)
{
    work_t w = { s, MANAGED_INIT, fstate_on(s, "replace", true), NULL, -1 };
    json_t *user = fstate_user(s), *kwargs = value_get(s->args, "kwargs");

    json_object_set_new(s->args, "name", value_utf8(s->name, strlen(s->name)));
    json_object_set_new(s->args, "saltenv", json_string(ctx_saltenv(s->ctx)));

    /* mode: keep. */
    const char *mode = fstate_str(s, "mode");
    bool keep = mode != NULL && strcasecmp(mode, "keep") == 0;
    AUTO_FREE char *normal = keep ? NULL : fop_normalize_mode(value_get(s->args, "mode"));
    json_object_set_new(s->args, "keep_mode", json_boolean(keep));
    json_object_set_new(s->args, "mode", normal != NULL ? json_string(normal) : json_null());

    /* Spreads the dictionary `selinux` into the arguments that file.manage_file takes. */
    static const char *const keys[] = { "seuser", "serole", "setype", "serange" };
    json_t *label = fstate_arg(s, "selinux");
    for (size_t i = 0; i < NELEMS(keys); i++) {
        json_t *v = value_get(label, keys[i]);
        json_object_set_new(s->args, keys[i], v != NULL ? json_incref(v) : json_null());
    }

    warn_of_hash(s);
    if (contradictory(s))
        return 0;
    if (!fstate_on(s, "source", false) && contents_count(s) == 0)
        w.replace = false; /* there is nothing to replace the file with */
    if (value_get(kwargs, "file_mode") != NULL)
        state_ret_warn(s->ret,
                       "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file "
                       "permissions.");
    int rc = prepare_contents(s, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    json_object_set_new(s->args, "user", user != NULL ? json_incref(user) : json_null());
    if (state_file_managed_settled(s))
        return 0;
    fail_auto_t why = FAIL_INIT;
    int there = w.replace ? 0 : fop_exists(s->name, &why);
    if (there < 0)
        return fstate_error(s, "Unable to manage file: %s", fail_text(&why));
    if (there > 0)
        return only_perms(s, err);

    /* Gives the template the values that file.accumulated gathered for this file. */
    json_t *texts = value_get(value_get(fstate_accumulators(s->ctx), "data"), s->name);
    if (texts != NULL) {
        json_t *context = json_is_object(fstate_arg(s, "context")) ? json_copy(fstate_arg(s, "context"))
                                                                   : json_object();
        json_object_set(context, "accumulator", texts);
        json_object_set_new(s->args, "context", context);
    }

    if (s->test)
        return only_tell(s);
    rc = state_file_managed_apply(&w, err);
    managed_free(&w.m);
    if (w.check_file != NULL)
        unlink(w.check_file);
    free(w.check_file);
    if (w.checked >= 0)
        close(w.checked);
    return rc;
}

FILE_STATE(file_state_managed, "Destination file name is required", managed_body);

/* ---- table ------------------------------------------------------------------------------------- */

static const arg_t managed_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The file"),
    STATE_ANY("source", "null", "URL or path of the content; of a list the first that exists"),
    STATE_ANY("source_hash", "\"\"",
              "Digest, TYPE=DIGEST, or a file of sums; checked for sources from outside"),
    STATE_ANY("source_hash_name", "null", "Name to look for in a file of sums"),
    STATE_ANY("keep_source", "true", "Keep the cached copy"),
    STATE_ANY("user", "null", "Owner, by name or number"),
    STATE_ANY("group", "null", "Group, by name or number"),
    STATE_ANY("mode", "null", "Octal mode; keep: the source's"),
    ARG("attrs", ARG_STR, "null", "Attribute letters, as chattr"),
    ARG("template", ARG_STR, "null", "jinja: the content is a template"),
    STATE_ANY("makedirs", "false", "Make the folders above it"),
    STATE_ANY("dir_mode", "null", "Their mode; by default the file's with the right to enter"),
    STATE_ANY("context", "null", "Variables of the template"),
    STATE_ANY("replace", "true", "False: leave the content of a file that exists"),
    STATE_ANY("defaults", "null", "Variables of the template that context overrides"),
    STATE_ANY("backup", "\"\"", "minion: keep a copy in cachedir/file_backup"),
    STATE_ANY("show_changes", "true", "Show the difference"),
    STATE_ANY("create", "true", "False: do nothing when there is no such file"),
    STATE_ANY("contents", "null", "The content: a text, or a list of lines"),
    ARG("tmp_dir", ARG_STR, "\"\"", "Folder of the file that check_cmd looks at"),
    ARG("tmp_ext", ARG_STR, "\"\"", "Its extension"),
    STATE_ANY("contents_pillar", "null", "Pillar key of the content, or a list of them"),
    STATE_ANY("contents_grains", "null", "Grain of the content, or a list of them"),
    STATE_ANY("contents_newline", "true", "End the content with a line end"),
    ARG("contents_delimiter", ARG_STR, "\":\"", "What parts a pillar key"),
    ARG("encoding", ARG_STR, "null", "Encoding of the file, when not UTF-8"),
    ARG("encoding_errors", ARG_STR, "\"strict\"",
        "What to do with other characters: strict, ignore, replace"),
    STATE_ANY("allow_empty", "true", "False: fail when the content is empty"),
    STATE_ANY("follow_symlinks", "true", "False: replace a link by a file"),
    STATE_ANY("check_cmd", "null", "Command that must agree to the new file; its path is added"),
    STATE_ANY("skip_verify", "false", "Take a source from outside without a digest"),
    STATE_ANY("selinux", "null", "seuser, serole, setype, serange"),
    STATE_ANY("win_owner", "null", "Windows only"),
    STATE_ANY("win_perms", "null", "Windows only"),
    STATE_ANY("win_deny_perms", "null", "Windows only"),
    STATE_ANY("win_inheritance", "true", "Windows only"),
    STATE_ANY("win_perms_reset", "false", "Windows only"),
    STATE_ANY("verify_ssl", "true", "Check the server's certificate"),
    STATE_ANY("use_etag", "false", "Ask a web server whether its file has changed"),
    SOURCE_SIGNATURE_ROW,
    SOURCE_SIGNER_ROWS,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further variables of the template", "*"),
    ARGS_END
};

static const arg_t check_cmd_args[] = { STATE_ANY("cmd", ARG_REQUIRED, "The command"),
                                        STATE_TEXT("filename", ARG_REQUIRED, "The file it looks at"),
                                        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As for cmd.run_all"),
                                        ARGS_END };

static const func_t funcs[] = {
    { "mod_run_check_cmd", mod_run_check_cmd, check_cmd_args, 0,
      "Run a command on a file: True when it agrees, else why not." },
    { "managed", file_state_managed, managed_args, 0,
      "Make sure that a file has a given content, owner and mode.\n\nThe content is a file of the master "
      "(``source: salt://...``), a path, a file of a web server, or given here (``contents``, "
      "``contents_pillar``, ``contents_grains``); with ``template: jinja`` it is rendered. The file is "
      "replaced in one step, with its owner and mode." },
};

PLUGIN(state, file_managed, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
