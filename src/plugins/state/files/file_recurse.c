/* file_recurse.c - state file.recurse: a folder of the file server, with all that is in it. recurse_plan.c maps
 * the served paths to paths below the name; files, folders and links are then managed one by one and their
 * results merged. `clean` removes what the plan does not keep. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate_dir.h"
#include "plugins/lib/file/recurse_plan.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/file/stage.h"
#include "plugins/lib/file/tree.h"

/* ---- doing it -------------------------------------------------------------------------------- */

/* A run of file.recurse. */
typedef struct work {
    fstate_t *s;
    recurse_plan_t plan;
    json_t *comments; /* {path: [text]} */
    char *dir_mode, *file_mode;
    bool keep_mode;
} work_t;

/* Adds a text to the comments of a path. */
static void
comment(work_t *w, const char *path, json_t *text)
{
    json_t *list = json_object_get(w->comments, path);

    if (list == NULL) {
        list = json_array();
        recurse_put(w->comments, path, list);
    }
    json_array_append(list, text);
}

/* Merges the result of one path into the state's return. TAKES `part`. */
static void
file_recurse_merge(work_t *w, const char *path, json_t *part)
{
    json_t *result = value_get(part, "result"), *text = value_get(part, "comment");

    if (json_is_false(result) || json_is_true(value_get(w->s->ret, "result")))
        json_object_set(w->s->ret, "result", result);
    if (!json_is_true(result) && value_truthy(text))
        comment(w, path, text);
    if (state_changed(part))
        state_change(w->s->ret, path, json_incref(value_get(part, "changes")));
    json_decref(part);
}

/* With `clean`, what is of the other kind gives way: it stands aside until file_recurse_bring_back(). 1:
 * only told so. */
static int
file_recurse_make_way(work_t *w, const char *path, bool for_file, stage_t *stage, fail_t *err)
{
    if (!fstate_on(w->s, "clean", false) || (for_file && !fstate_on(w->s, "replace", true)))
        return 0;
    int there = fop_lexists(path, err), dir = there > 0 ? fop_leads_to(path, S_IFDIR, err) : there;
    if (there <= 0 || dir < 0)
        return dir;
    if ((dir > 0) != for_file)
        return 0;
    json_t *part = state_ret(w->s->name);
    if (w->s->test) {
        (void) state_ret_set(
            part, STATE_NONE,
            for_file ? "Replacing directory %s with a file" : "Replacing %s with a directory", path);
        file_recurse_merge(w, path, part);
        return 1;
    }
    state_change(
        part, "diff",
        json_string(for_file ? "Replaced directory with a new file" : "Replaced file with a directory"));
    file_recurse_merge(w, path, part);
    int rc = stage_open(stage, path, err);
    if (rc == 0)
        rc = stage_aside(stage, err);
    if (rc != -EXDEV)
        return rc;
    /* A folder of an overlay's lower layer can't be renamed: there is no other way for it. */
    fail_clear(err);
    stage_close(stage);
    return fs_remove_tree(path, err);
}

/* Callback of a walk: a path that has come back is not cleaned away. */
static int
keep_too(void *cookie, const char *path, bool is_dir)
{
    work_t *w = cookie;

    recurse_put(w->plan.kept, path, json_true());
    return 0;
}

/* Restores the object that stands aside, with its contents, when nothing has taken its place. */
static int
file_recurse_bring_back(work_t *w, stage_t *stage, fail_t *err)
{
    struct stat st;

    if (stage->dir == NULL || lstat(stage->name, &st) == 0)
        return 0;
    json_object_del(value_get(w->s->ret, "changes"), stage->name);
    int rc = stage_back(stage, err);
    return rc == 0 ? fstate_walk(stage->name, -1, keep_too, w, err) : rc;
}

/* A link stands where the source has none. It gives way to the folder or the file with `clean` or
 * `force_symlinks`; else the path fails. 0: it is gone; 1: that is told. */
static int
file_recurse_unlink(work_t *w, const char *link, fail_t *err)
{
    fstate_t *s = w->s;
    bool may = fstate_on(s, "force_symlinks", false) || fstate_on(s, "clean", false);

    if (json_object_get(w->comments, link) != NULL) /* of another path below it */
        return 1;
    json_t *part = state_ret(s->name);
    if (!may)
        (void) state_ret_set(part, STATE_FALSE,
                             "%s is a link, and no link in the source: nothing is written through it. Remove "
                             "it, or set force_symlinks to have it replaced",
                             link);
    else if (s->test)
        (void) state_ret_set(part, STATE_NONE, "Replacing link %s", link);
    else if (unlink(link) != 0 && errno != ENOENT) {
        json_decref(part);
        return fs_fail(err, -errno, "remove the link", link);
    } else
        state_change(part, "diff", json_string("Removed a link"));
    file_recurse_merge(w, link, part);
    return !may || s->test ? 1 : 0;
}

/* With keep_symlinks, a link of an earlier version of the source would lead writes out of the folder: none is
 * followed between the state's name and `path`, which counts when `whole`. 0: go on; 1: leave it. */
static int
file_recurse_no_links(work_t *w, const char *path, bool whole, fail_t *err)
{
    size_t at = strlen(w->s->name);
    int rc = 0;

    if (!value_truthy(value_get(w->s->args, "keep_symlinks")))
        return 0;
    while (rc == 0 && path[at] != '\0') {
        at += strspn(path + at, "/");
        at += strcspn(path + at, "/");
        struct stat st;
        AUTO_FREE char *part = xstrndup(path, at);
        if (path[at] == '\0' && !whole)
            break;
        if (lstat(part, &st) != 0)
            return fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "look at", part);
        if (S_ISLNK(st.st_mode))
            rc = file_recurse_unlink(w, part, err);
    }
    return rc;
}

/* A link of the source, with `keep_symlinks`, by the state file.symlink. */
static int
manage_link(work_t *w, const char *path, json_t *target, fail_t *err)
{
    fstate_t *s = w->s;
    json_t *ret = NULL;
    json_auto_t *args = json_pack("{s:s, s:O, s:b, s:b, s:O?, s:O?, s:O?}", "name", path, "target", target,
                                  "makedirs", 1, "force", fstate_on(s, "force_symlinks", false), "user",
                                  fstate_user(s), "group", fstate_arg(s, "group"), "mode",
                                  fstate_arg(s, "sym_mode"));
    int rc = file_recurse_no_links(w, path, false, err);

    if (rc == 0)
        rc = file_state_symlink(s->ctx, args, &ret, err);
    if (rc == 0)
        file_recurse_merge(w, path, ret);
    return rc < 0 ? rc : 0;
}

/* A folder of the source, by the state file.directory. */
static int
manage_dir(work_t *w, const char *path, fail_t *err)
{
    fstate_t *s = w->s;
    json_t *ret = NULL;
    stage_auto_t stage = STAGE_INIT;
    int rc = file_recurse_no_links(w, path, true, err);

    if (rc == 0)
        rc = file_recurse_make_way(w, path, false, &stage, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    json_auto_t *args = json_pack("{s:s, s:b, s:O?, s:O?, s:s?}", "name", path, "makedirs", 1, "user",
                                  fstate_user(s), "group", fstate_arg(s, "group"), "dir_mode", w->dir_mode);
    rc = file_state_directory(s->ctx, args, &ret, err);
    if (rc == 0)
        file_recurse_merge(w, path, ret);
    int back = file_recurse_bring_back(w, &stage, rc == 0 ? err : NULL);
    return rc != 0 ? rc : back;
}

/* Applies file.managed to one file and merges its return. */
static int
manage_one(work_t *w, const char *path, json_t *url, fail_t *err)
{
    static const char *const passed[] = { "keep_source", "group",    "template", "replace",
                                          "context",     "defaults", "backup" };
    fstate_t *s = w->s;
    json_t *ret = NULL, *kwargs = value_get(s->args, "kwargs"), *user = fstate_user(s);
    stage_auto_t stage = STAGE_INIT;
    int rc = file_recurse_no_links(w, path, true, err);

    if (rc == 0)
        rc = file_recurse_make_way(w, path, true, &stage, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    json_auto_t *args = json_is_object(kwargs) ? json_copy(kwargs) : json_object();
    json_object_del(args, "mode");
    json_object_del(args, "owner");
    for (size_t i = 0; i < NELEMS(passed); i++) {
        if (value_get(s->args, passed[i]) != NULL)
            json_object_set(args, passed[i], value_get(s->args, passed[i]));
    }
    json_object_set_new(args, "name", value_utf8(path, strlen(path)));
    json_object_set(args, "source", url);
    json_object_set_new(args, "user", user != NULL ? json_incref(user) : json_null());
    json_object_set_new(args, "makedirs", json_true());
    const char *mode = w->keep_mode ? "keep" : w->file_mode;
    json_object_set_new(args, "mode", mode != NULL ? json_string(mode) : json_null());
    rc = ctx_state(s->ctx, "file.managed", args, &ret, err);
    if (rc == 0)
        file_recurse_merge(w, path, ret);
    int back = file_recurse_bring_back(w, &stage, rc == 0 ? err : NULL);
    return rc != 0 ? rc : back;
}

/* Links first, since folders and files may not be written through them; then folders, files, and the
 * cleaning. */
static int
do_plan(work_t *w, fail_t *err)
{
    const char *path;
    json_t *v;
    int rc = 0;

    json_object_foreach (w->plan.links, path, v) {
        if ((rc = manage_link(w, path, v, err)) != 0)
            return rc;
    }
    json_object_foreach (w->plan.dirs, path, v) {
        if ((rc = manage_dir(w, path, err)) != 0)
            return rc;
    }
    json_object_foreach (w->plan.files, path, v) {
        if ((rc = manage_one(w, path, v, err)) != 0)
            return rc;
    }
    if (!fstate_on(w->s, "clean", false))
        return 0;

    /* Removes what the plan does not keep. Test mode only lists it. */
    fstate_broom_auto_t broom = { 0 };
    size_t i;
    if (fstate_broom_init(&broom, w->s, err) != 0)
        return -EIO;
    json_object_foreach (w->plan.kept, path, v)
        fstate_broom_keep(&broom, path);
    json_auto_t *removed = fstate_broom_sweep(&broom, w->s->test, err);
    if (removed == NULL)
        return -EIO;
    if (json_array_size(removed) == 0)
        return 0;
    if (!w->s->test) {
        state_change(w->s->ret, "removed", json_incref(removed));
        return 0;
    }
    if (value_truthy(value_get(w->s->ret, "result")))
        json_object_set_new(w->s->ret, "result", json_null());
    json_array_foreach (removed, i, v)
        comment(w, "removed", v);
    return 0;
}

/* ---- checks before ----------------------------------------------------------------------------- */

/* The source that exists, without slashes at its end. NEW, or NULL with the state failed. */
static char *
choose_source(fstate_t *s)
{
    json_auto_t *list = fstate_texts(value_get(s->args, "source")), *stripped = json_array(), *hash = NULL;
    fail_auto_t why = FAIL_INIT;
    char *source = NULL;
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one) {
        size_t n = json_string_length(one);
        const char *text = json_string_value(one);
        while (n > 0 && text[n - 1] == '/')
            n--;
        AUTO_FREE char *short_text = xstrndup(text, n);
        if (!str_starts(short_text, "salt://")) {
            fstate_error(s, "Invalid source '%s' (must be a salt:// URI)", short_text);
            return NULL;
        }
        json_array_append_new(stripped, json_string(short_text));
    }
    if (source_pick(s->ctx, stripped, NULL, ctx_saltenv(s->ctx), &source, &hash, &why) != 0) {
        fstate_error(s, "Recurse failed: %s", fail_text(&why));
        return NULL;
    }
    return source;
}

/* True when the file server has the source as a folder. */
static bool
folder_served(call_ctx_t *ctx, const recurse_plan_t *p)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *dirs = recurse_served(ctx, p, FILES_DIRS, &why);
    size_t i, n = strlen(p->srcpath);
    json_t *one;

    json_array_foreach (dirs, i, one) {
        const char *dir = json_string_value(one);
        if (strncmp(dir, p->srcpath, n) == 0 && (dir[n] == '\0' || dir[n] == '/'))
            return true;
    }
    return false;
}

/* Makes the folder itself, and those above it. */
static int
make_top(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;

    int there = s->test ? 1 : fop_exists_as(s->name, S_IFDIR, err);
    if (there != 0)
        return there < 0 ? there : 0;
    json_auto_t *made = fstate_call(s, file_makedirs_perms,
                                    json_pack("{s:s, s:O?, s:O?, s:s?}", "name", s->name, "user",
                                              fstate_user(s), "group", fstate_arg(s, "group"), "mode",
                                              w->dir_mode),
                                    err);
    return made != NULL ? 0 : -EIO;
}

/* The source must be served as a folder, and the target must not be something else. */
static int
file_recurse_run(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    AUTO_FREE char *who = fstate_check_user(s, fstate_user(s), fstate_arg(s, "group"));

    if (value_get(value_get(s->args, "kwargs"), "mode") != NULL)
        return fstate_error(
            s, "'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.");
    if (who != NULL)
        return fstate_error(s, "%s", who);
    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    AUTO_FREE char *source = choose_source(s);
    if (source == NULL)
        return 0;
    int rc = recurse_plan_make(s->ctx, s->args, s->name, source, ctx_saltenv(s->ctx), &w->plan, err);
    if (rc != 0)
        return rc;
    if (!folder_served(s->ctx, &w->plan))
        return fstate_error(s, "The directory '%s' does not exist on the salt fileserver in saltenv '%s'",
                            w->plan.srcpath, w->plan.env);
    int dir = fstate_is_dir(s, s->name), there = dir == 0 ? fstate_exists(s, s->name) : 0;
    if (dir < 0 || there != 0)
        return dir < 0 || there < 0 ? 0
                                    : fstate_error(s, "The path %s exists and is not a directory", s->name);
    rc = make_top(w, err);
    if (rc == 0)
        rc = do_plan(w, err);
    if (rc == 0) {
        /* All comments, each below its path. */
        buf_auto_t text = BUF_INIT;
        const char *path;
        json_t *list, *one;
        size_t i;
        json_object_foreach (w->comments, path, list) {
            buf_printf(&text, "%s\n#### %s ####\n", text.len > 0 ? "\n" : "", path);
            json_array_foreach (list, i, one)
                buf_printf(&text, "%s%s", i > 0 ? "\n" : "", json_string_value(one));
        }
        AUTO_FREE char *all = buf_steal(&text);
        const char *trimmed = all != NULL ? str_trim(all) : "";
        if (!state_changed(w->s->ret) && value_truthy(value_get(w->s->ret, "result")))
            state_ret_comment(w->s->ret, value_fmt("The directory %s is in the correct state", w->s->name));
        else if (*trimmed != '\0')
            state_ret_comment(w->s->ret, value_utf8(trimmed, strlen(trimmed)));
        else
            state_ret_comment(w->s->ret, value_fmt("Recursively updated %s", w->s->name));
    }
    return rc;
}

static int
recurse_body(fstate_t *s, fail_t *err)
{
    work_t w = { .s = s, .comments = json_object() };
    const char *mode = fstate_str(s, "file_mode");

    w.keep_mode = mode != NULL && strcasecmp(mode, "keep") == 0;
    w.file_mode = w.keep_mode ? NULL : fop_normalize_mode(value_get(s->args, "file_mode"));
    w.dir_mode = fop_normalize_mode(value_get(s->args, "dir_mode"));
    int rc = file_recurse_run(&w, err);
    recurse_plan_free(&w.plan);
    free(w.file_mode);
    free(w.dir_mode);
    json_decref(w.comments);
    return rc;
}

static FILE_STATE(file_state_recurse, "Must provide name to file.recurse", recurse_body);

/* ---- table --------------------------------------------------------------------------------------- */

static const arg_t recurse_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The folder"),
    STATE_ANY("source", ARG_REQUIRED, "salt:// URL of a folder; of a list the first that exists"),
    STATE_ANY("keep_source", "true", "Keep the cached copies"),
    STATE_ANY("clean", "false", "Remove what the source does not have and no required state keeps"),
    STATE_ANY("require", "null", "Required states; with `clean` their files stay"),
    STATE_ANY("user", "null", "Owner, by name or number"),
    STATE_ANY("group", "null", "Group, by name or number"),
    STATE_ANY("dir_mode", "null", "Octal mode of folders"),
    STATE_ANY("file_mode", "null", "Octal mode of files; keep: the source's"),
    STATE_ANY("sym_mode", "null", "Octal mode of folders made for links"),
    STATE_TEXT("template", "null", "jinja: the files are templates"),
    STATE_ANY("context", "null", "Variables of the templates"),
    STATE_ANY("replace", "true", "False: leave files that exist"),
    STATE_ANY("defaults", "null", "Variables of the templates that context overrides"),
    STATE_ANY("include_empty", "false", "Empty folders too"),
    STATE_ANY("backup", "\"\"", "minion: keep copies in cachedir/file_backup"),
    STATE_ANY("include_pat", "null", "Only these: globs or E@regex"),
    STATE_ANY("exclude_pat", "null", "Not these: globs or E@regex"),
    STATE_ANY("maxdepth", "null", "How many folders deep; 0: the top's files"),
    STATE_ANY("keep_symlinks", "false", "Links become links"),
    STATE_ANY("force_symlinks", "false", "Even where something else has the name"),
    STATE_ANY("win_owner", "null", "Windows only"),
    STATE_ANY("win_perms", "null", "Windows only"),
    STATE_ANY("win_deny_perms", "null", "Windows only"),
    STATE_ANY("win_inheritance", "true", "Windows only"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further arguments of file.managed",
        "mode makedirs show_changes skip_verify encoding encoding_errors attrs *"),
    ARGS_END
};

static const func_t funcs[] = {
    { "recurse", file_state_recurse, recurse_args, 0,
      "Make sure that a folder holds what a folder of the file server holds.\n\nEach file is one of "
      "file.managed, each folder one of file.directory. With ``clean`` what else is there is removed." },
};

PLUGIN(state, file_recurse, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
