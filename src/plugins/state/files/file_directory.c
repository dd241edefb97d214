/* file_directory.c - state file.directory: a folder with owner and mode, by `recurse` also of what is below,
 * and with `clean` without entries that no state requires. Checks everything first, which is all that test
 * mode does; errors below the folder are gathered and reported at the end. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate_dir.h"
#include "plugins/lib/file/stage.h"
#include "plugins/lib/file/tree.h"

/* ---- what is wanted -------------------------------------------------------------------------- */

/* Owner and mode for a path, and how names of users and groups are resolved, once for all paths. */
typedef struct wanted {
    json_t *user, *group; /* NULL: as it is. BORROWED */
    bool user_known, group_known;
    uid_t uid; /* what user and group come to, when known */
    gid_t gid;
    char *dir_mode, *file_mode; /* "0755"; NULL: as it is */
    bool follow, files, dirs;   /* whether to look at files and folders below */
} wanted_t;

/* A run of file.directory. */
typedef struct work {
    fstate_t *s;
    wanted_t top, below; /* below: only what `recurse` names */
    json_int_t max_depth;
    int folder; /* the name itself, held open while what is below is changed */
    bool recurse, clean;
    bool gives_way;  /* to backupname; in test mode it is there still */
    stage_t aside;   /* where what `force` replaces stands meanwhile */
    json_t *changes; /* of the check */
    json_t *errors;
    fstate_broom_t broom; /* with `clean` */
} work_t;

static const char *const recurse_types[] = {
    "user", "group", "mode", "ignore_files", "ignore_dirs", "silent"
};

/* True for a word that `recurse` may hold. */
static bool
recurse_known(const json_t *one)
{
    for (size_t i = 0; i < NELEMS(recurse_types); i++) {
        if (str_eq(json_string_value(one), recurse_types[i]))
            return true;
    }
    return false;
}

/* NULL, or what is wrong with `recurse`. */
static const char *
recurse_fault(const json_t *recurse)
{
    size_t i;
    json_t *one;

    if (!json_is_array(recurse))
        return "\"recurse\" must be formed as a list of strings";
    json_array_foreach (recurse, i, one) {
        if (!recurse_known(one))
            return "Types for \"recurse\" limited to \"user\", \"group\", \"mode\", \"ignore_files\", "
                   "\"ignore_dirs\", \"silent\".";
    }
    if (value_lists(recurse, "ignore_files") && value_lists(recurse, "ignore_dirs"))
        return "Must not specify \"recurse\" options \"ignore_files\" and \"ignore_dirs\" at the same time.";
    return NULL;
}

/* ---- what would change ----------------------------------------------------------------------- */

/* NEW {"user", "group", "mode"} that differ, or {"directory": "new"}; NULL when nothing does. */
static int
file_directory_differences(const char *path, const wanted_t *want, const char *mode, json_t **ret_diff,
                           fail_t *err)
{
    struct stat st;
    char have[8];
    int there = want->follow ? fop_stat_or_link(path, &st, err) : fop_lstat(path, &st, err);

    if (there < 0)
        return there;
    if (there == 0) {
        *ret_diff = json_pack("{s:s}", "directory", "new");
        return 0;
    }
    json_auto_t *diff = json_object();
    snprintf(have, sizeof(have), "%04o", st.st_mode & 07777);
    if (want->user != NULL && !(want->user_known && want->uid == st.st_uid))
        json_object_set(diff, "user", want->user);
    if (want->group != NULL && !(want->group_known && want->gid == st.st_gid))
        json_object_set(diff, "group", want->group);
    if (mode != NULL && !str_eq(mode, have) && !S_ISLNK(st.st_mode))
        json_object_set_new(diff, "mode", json_string(mode));
    *ret_diff = json_object_size(diff) > 0 ? STEAL(diff) : NULL;
    return 0;
}

/* Adds a path's differences to the changes. TAKES what. */
static void
file_directory_note(work_t *w, const char *path, json_t *what)
{
    AUTO_FREE char *key = xstrdup(path);
    json_auto_t *name = value_utf8(key, strlen(key));

    if (what != NULL)
        json_object_set_new(w->changes, json_string_value(name), what);
}

/* Cookie of the walks of the check. */
typedef struct sweeping {
    work_t *w;
    fail_t *err;
} sweeping_t;

/* Callback of the walk: compares one path. */
static int
check_below(void *cookie, const char *path, bool is_dir)
{
    sweeping_t *self = cookie;
    const wanted_t *below = &self->w->below;
    json_t *diff = NULL;

    if (!(is_dir ? below->dirs : below->files))
        return 0;
    int rc = file_directory_differences(path, below, is_dir ? below->dir_mode : below->file_mode, &diff,
                                        self->err);
    file_directory_note(self->w, path, diff);
    return rc;
}

/* Callback of the walk: notes what `clean` would remove. */
static int
check_clean(void *cookie, const char *path, bool is_dir)
{
    sweeping_t *self = cookie;
    int takes = fstate_broom_takes(&self->w->broom, path, self->err);

    if (takes == 1)
        file_directory_note(self->w, path, json_pack("{s:s}", "removed", "Removed due to clean"));
    return takes < 0 ? takes : 0;
}

/* Salt's list of changes. NEW. */
static char *
change_list(const json_t *changes)
{
    buf_auto_t text = BUF_INIT;
    const char *path, *key;
    json_t *what, *v;

    buf_puts(&text, "The following files will be changed:\n");
    json_object_foreach ((json_t *) changes, path, what) {
        json_object_foreach (what, key, v) {
            AUTO_FREE char *shown = value_pystr(v);
            buf_printf(&text, "%s: %s - %s\n", path, key, shown);
        }
    }
    return buf_steal(&text);
}

/* Fills w->changes; *ret_comment NEW. 0 with *ret_result. */
static int
file_directory_check(work_t *w, state_result_t *ret_result, char **ret_comment, fail_t *err)
{
    int rc = 0;

    if (w->gives_way) {
        file_directory_note(w, w->s->name, json_pack("{s:s}", "directory", "new"));
        *ret_result = STATE_NONE;
        *ret_comment = change_list(w->changes);
        return 0;
    }
    /* A fault of Salt's that its users see: with `recurse` the folder itself is checked only for what that
     * names. */
    const wanted_t *top = w->recurse ? &w->below : &w->top;
    if (w->recurse) {
        /* Entries below get only the attributes that `recurse` names. */
        const json_t *recurse = fstate_arg(w->s, "recurse");
        w->below = w->top;
        if (!value_lists(recurse, "user"))
            w->below.user = NULL;
        if (!value_lists(recurse, "group"))
            w->below.group = NULL;
        if (!value_lists(recurse, "mode"))
            w->below.dir_mode = w->below.file_mode = NULL;
        w->below.files = !value_lists(recurse, "ignore_files");
        w->below.dirs = !value_lists(recurse, "ignore_dirs");

        rc = fstate_walk(w->s->name, w->max_depth, check_below, &(sweeping_t){ w, err }, err);
    }
    json_t *diff = NULL;
    if (rc == 0 && !fstate_on(w->s, "children_only", false))
        rc = file_directory_differences(w->s->name, top, top->dir_mode, &diff, err);
    file_directory_note(w, w->s->name, diff);
    if (w->clean && rc == 0)
        rc = fstate_broom_init(&w->broom, w->s, err);
    if (w->clean && rc == 0)
        rc = fstate_walk(w->broom.root, -1, check_clean, &(sweeping_t){ w, err }, err);
    if (rc != 0)
        return rc;
    int there = fop_exists_as(w->s->name, S_IFDIR, err);
    if (there < 0)
        return there;
    if (there == 0)
        file_directory_note(w, w->s->name, json_pack("{s:s}", "directory", "new"));
    bool any = json_object_size(w->changes) > 0;
    *ret_result = any ? STATE_NONE : STATE_TRUE;
    *ret_comment = any ? change_list(w->changes)
                       : xasprintf("The directory %s is in the correct state", w->s->name);
    return 0;
}

state_result_t
fstate_check_directory(fstate_t *s, const char *name, char **ret_comment, json_t *changes)
{
    fstate_t there = *s;
    work_t w = { .s = &there, .aside = STAGE_INIT, .changes = changes };
    state_result_t result = STATE_FALSE;

    there.name = (char *) name;
    (void) file_directory_check(&w, &result, ret_comment, NULL);
    return result;
}

/* ---- bringing it about ------------------------------------------------------------------------- */

/* Arguments of file.check_perms. NEW. */
static json_t *
perms_args(const char *path, const wanted_t *want, const char *mode)
{
    return json_pack("{s:o, s:O?, s:O?, s:s?, s:b}", "name", value_utf8(path, strlen(path)), "user",
                     want->user, "group", want->group, "mode", mode, "follow_symlinks", want->follow);
}

/* The owner of a part of the tree may replace a file or a parent folder by a link at any moment, and a path
 * would lead root out of the tree. The kernel therefore resolves each name below the open top folder without
 * following links, and owner and mode are those of the object found. With follow_symlinks the SLS wants links
 * followed. */
static int
perms_below(work_t *w, const char *path, const char *mode, fail_t *err)
{
    json_auto_t *args = perms_args(path, &w->below, mode);

    if (w->below.follow) {
        partfile_auto_t file = PARTFILE_INIT;
        int rc = fop_hold_any(&file, path, true, err);
        return rc != 0 ? rc : fop_check_perms_at(w->s->ctx, args, file.file, w->s->ret, err);
    }
    AUTO_FD fd = beneath_open(w->folder, fstate_below(w->s->name, path), BENEATH_NO_LINKS,
                              O_PATH | O_NOFOLLOW, 0);
    if (fd == -ENOENT)
        return 0;
    if (fd == -ELOOP)
        return fop_failed(err, "%s: a folder above it has become a link; it is left alone", path);
    return fd < 0 ? fop_oserror(err, -fd, path) : fop_check_perms_at(w->s->ctx, args, fd, w->s->ret, err);
}

/* Callback of the walk: changes one path. Errors are gathered, and the walk goes on. */
static int
apply_below(void *cookie, const char *path, bool is_dir)
{
    work_t *w = cookie;
    const char *mode = is_dir ? w->below.dir_mode : w->below.file_mode;
    fail_auto_t why = FAIL_INIT;

    if (!(is_dir ? w->below.dirs : w->below.files))
        return 0;
    json_auto_t *differs = NULL;
    if (file_directory_differences(path, &w->below, mode, &differs, &why) < 0)
        json_array_append_new(w->errors, value_utf8(fail_text(&why), strlen(fail_text(&why))));
    if (differs != NULL && perms_below(w, path, mode, &why) != 0 &&
        !str_starts(fail_text(&why), "Path not found"))
        json_array_append_new(w->errors, value_utf8(fail_text(&why), strlen(fail_text(&why))));
    return 0;
}

/* Fails the state with the comment, which is TAKEN; the rest is still done. */
static void
file_directory_refuse(work_t *w, char *comment)
{
    fstate_error(w->s, "%s", comment);
    free(comment);
}

/* Removes what nothing requires, after owner and mode are set. */
static int
clean_below(work_t *w, fail_t *err)
{
    json_auto_t *removed = fstate_broom_sweep(&w->broom, w->s->test, err);

    if (removed == NULL)
        return -EIO;
    if (json_array_size(removed) > 0) {
        state_change(w->s->ret, "removed", json_incref(removed));
        state_ret_comment(w->s->ret, value_fmt("Files cleaned from directory %s", w->s->name));
    }
    return 0;
}

/* Creates the folder, and its parents with makedirs. */
static int
file_directory_create(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    AUTO_FREE char *parent = fop_dirname(s->name);

    int above = fstate_is_dir(s, parent);
    if (above < 0)
        return 0;
    if (above == 0) {
        if (!fstate_on(s, "makedirs", false))
            return fstate_error(s, "No directory to create %s in", s->name);
        if (fstate_makedirs(s, w->top.user, w->top.group, w->top.dir_mode, err) != 0)
            return err->code;
    }
    json_auto_t *made = fstate_call(s, file_mkdir,
                                    json_pack("{s:s, s:O?, s:O?, s:s?}", "dir_path", s->name, "user",
                                              w->top.user, "group", w->top.group, "mode", w->top.dir_mode),
                                    err);
    if (made == NULL)
        return err->code;
    int there = fstate_is_dir(s, s->name);
    if (there <= 0)
        return there < 0 ? 0 : fstate_error(s, "Failed to create directory %s", s->name);
    state_change(s->ret, s->name, json_pack("{s:s}", "directory", "new"));
    return 0;
}

/* Holds the top folder open for the time of the walk. */
static int
apply_recurse(work_t *w, const json_t *recurse, fail_t *err)
{
    AUTO_FD folder = fop_hold_folder(w->s->name, err);
    fail_auto_t why = FAIL_INIT;

    if (folder < 0)
        return folder;

    /* Reports what fails below and does the rest. */
    uid_t uid;
    gid_t gid;
    if (value_lists(recurse, "user") && !value_truthy(w->top.user) && !json_is_integer(w->top.user))
        file_directory_refuse(
            w, xstrdup("user not specified, but configured as a target for recursive ownership management"));
    else if (value_lists(recurse, "user") && !fop_uid_of(w->top.user, &uid))
        file_directory_refuse(w, xasprintf("Failed to enforce ownership for user %s (user does not exist)",
                                           json_string_value(w->top.user)));
    if (value_lists(recurse, "group") && !value_truthy(w->top.group) && !json_is_integer(w->top.group))
        file_directory_refuse(
            w, xstrdup("group not specified, but configured as a target for recursive ownership management"));
    else if (value_lists(recurse, "group") && !fop_gid_of(w->top.group, &gid))
        file_directory_refuse(
            w, xasprintf("Failed to enforce group ownership for group %s", json_string_value(w->top.group)));

    if (value_lists(recurse, "silent"))
        state_change_set(w->s->ret, json_pack("{s:s}", "recursion", "Changes silenced"));
    w->folder = folder;
    if (fstate_walk(w->s->name, w->max_depth, apply_below, w, &why) != 0)
        json_array_append_new(w->errors, value_utf8(fail_text(&why), strlen(fail_text(&why))));
    w->folder = -1;
    return 0;
}

/* Order: folder or its owner and mode, entries below, cleaning, comment. */
static int
file_directory_apply(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;

    int there = fstate_is_dir(s, s->name);
    if (there <= 0)
        return there < 0 ? 0 : file_directory_create(w, err);
    json_auto_t *top = perms_args(s->name, &w->top, w->top.dir_mode);
    if (!fstate_on(s, "children_only", false) && fop_check_perms(s->ctx, top, NULL, s->ret, NULL, err) != 0)
        return err->code;
    if (w->recurse && apply_recurse(w, fstate_arg(s, "recurse"), err) != 0)
        return err->code;
    if (w->clean && clean_below(w, err) != 0)
        return err->code;

    /* Comment and result of a finished run; errors are listed below. */
    s = w->s;
    bool children_only = fstate_on(s, "children_only", false);
    const char *comment = value_str(s->ret, "comment", "");
    size_t i;
    json_t *one;
    if (*comment == '\0' && (children_only || state_changed(s->ret)))
        state_ret_comment(s->ret, value_fmt("Directory %s%s updated", s->name, children_only ? "/*" : ""));
    if (!state_changed(s->ret) && value_truthy(value_get(s->ret, "result"))) {
        comment = value_str(s->ret, "comment", "");
        state_ret_comment(s->ret, value_fmt("Directory %s is in the correct state%s%s", s->name,
                                            *comment != '\0' ? "\n" : "", comment));
    }
    if (json_array_size(w->errors) == 0)
        return 0;
    json_object_set_new(s->ret, "result", json_false());
    state_ret_comment(s->ret, value_fmt("%s\n\nThe following errors were encountered:\n",
                                        value_str(s->ret, "comment", "")));
    json_array_foreach (w->errors, i, one)
        state_ret_add(s->ret, "- %s", json_string_value(one));

    return 0;
}

/* ---- what stands in the way -------------------------------------------------------------------- */

/* Restores the object that `force` moved aside when no folder could take its place. */
static int
file_directory_bring_back(work_t *w, fail_t *err)
{
    struct stat st;

    if (w->aside.dir == NULL || lstat(w->aside.name, &st) == 0)
        return 0;
    json_object_del(value_get(w->s->ret, "changes"), "forced");
    return stage_back(&w->aside, err);
}

/* Something else has the name. 1: the state has failed. */
static int
file_directory_make_way(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    const char *backup = fstate_str(s, "backupname");
    bool forced = fstate_on(s, "force", false);
    fail_auto_t why = FAIL_INIT;
    int link = fop_lexists_as(s->name, S_IFLNK, &why), file = fop_leads_to(s->name, S_IFREG, &why),
        dir = fop_leads_to(s->name, S_IFDIR, &why);

    if (link < 0 || file < 0 || dir < 0) {
        fstate_error(s, "%s", fail_text(&why));
        return 1;
    }
    if (file == 0 && !(link > 0 && (forced || !fstate_on(s, "allow_symlink", true) || dir == 0)))
        return 0;
    if (backup != NULL) {
        int there = fstate_lexists(s, backup);
        if (there > 0 && !forced)
            fstate_error(s, "File exists where the backup target %s should go", backup);
        if (there < 0 || (there > 0 && !forced))
            return 1;
        w->gives_way = true;
        return s->test ? 0 : fop_move_over(s->name, backup, err);
    }
    if (forced) {
        if (!s->test) {
            int rc = stage_open(&w->aside, s->name, err);
            if (rc == 0)
                rc = stage_aside(&w->aside, err);
            if (rc != 0)
                return rc;
        }
        w->gives_way = true;
        state_change(s->ret, "forced",
                     value_fmt(s->test ? "%s would be forcibly replaced" : "%s was forcibly replaced",
                               (file > 0 ? "File" : "Symlink")));
        return 0;
    }
    fstate_error(s,
                 file > 0 ? "Specified location %s exists and is a file"
                          : "Specified location %s exists and is a "
                            "symlink",
                 s->name);
    return 1;
}

/* Checks first; makes changes only outside test mode. */
static int
file_directory_run(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    AUTO_FREE char *who = fstate_check_user(s, w->top.user, w->top.group), *comment = NULL;
    state_result_t result = STATE_TRUE;

    if (who != NULL)
        return fstate_error(s, "%s", who);
    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    const char *fault = w->recurse ? recurse_fault(fstate_arg(s, "recurse")) : NULL;
    if (fault != NULL)
        return fstate_error(s, "%s", fault);
    int rc = file_directory_make_way(w, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = file_directory_check(w, &result, &comment, err);
    if (rc != 0)
        return rc;
    if (json_object_size(w->changes) > 0)
        json_object_update(value_get(s->ret, "changes"), w->changes);
    if (s->test || !state_changed(s->ret))
        return state_ret_set(s->ret, result, "%s", comment);
    return file_directory_apply(w, err);
}

static int
directory_body(fstate_t *s, fail_t *err)
{
    work_t w = { .s = s, .aside = STAGE_INIT, .changes = json_object(), .errors = json_array() };
    size_t n = strlen(s->name);
    int rc = 0;

    if (n > 1 && s->name[n - 1] == '/')
        s->name[n - 1] = '\0';

    /* `mode` stands for dir_mode, dir_mode for file_mode where that is missing. */
    json_t *mode = value_get(value_get(s->args, "kwargs"), "mode");
    json_t *dir_mode = fstate_arg(s, "dir_mode"), *file_mode = fstate_arg(s, "file_mode");
    if (!value_truthy(dir_mode) && mode != NULL && !json_is_null(mode))
        dir_mode = mode;
    if (!value_truthy(file_mode))
        file_mode = dir_mode;
    w.top = (wanted_t){ .user = fstate_user(s),
                        .group = fstate_arg(s, "group"),
                        .follow = fstate_on(s, "follow_symlinks", false),
                        .files = true,
                        .dirs = true };
    w.top.user_known = w.top.user != NULL && fop_uid_of(w.top.user, &w.top.uid);
    w.top.group_known = w.top.group != NULL && fop_gid_of(w.top.group, &w.top.gid);
    w.top.dir_mode = dir_mode != NULL ? fop_normalize_mode(dir_mode) : NULL;
    w.top.file_mode = file_mode != NULL ? fop_normalize_mode(file_mode) : NULL;
    w.recurse = fstate_on(s, "recurse", false);
    w.clean = fstate_on(s, "clean", false);
    w.max_depth = fstate_arg(s, "max_depth") != NULL ? value_int(s->args, "max_depth", 0) : -1;
    if (w.max_depth >= 0 && w.clean)
        fstate_error(s, "Cannot specify both max_depth and clean");
    else
        rc = file_directory_run(&w, err);
    int back = file_directory_bring_back(&w, rc == 0 ? err : NULL);
    stage_close(&w.aside);
    free(w.top.dir_mode);
    free(w.top.file_mode);
    json_decref(w.changes);
    json_decref(w.errors);
    fstate_broom_free(&w.broom);
    return rc != 0 ? rc : back;
}

FILE_STATE(file_state_directory, "Must provide name to file.directory", directory_body);

/* ---- table --------------------------------------------------------------------------------------- */

static const arg_t directory_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The folder"),
    STATE_ANY("user", "null", "Owner, by name or number"),
    STATE_ANY("group", "null", "Group, by name or number"),
    STATE_ANY("recurse", "null",
              "List of what also holds below: user, group, mode; ignore_files, ignore_dirs, "
              "silent"),
    STATE_ANY("max_depth", "null", "How deep `recurse` goes; 0: its own files"),
    STATE_ANY("dir_mode", "null", "Octal mode of folders; `mode` is the same"),
    STATE_ANY("file_mode", "null", "Octal mode of files, by default dir_mode"),
    STATE_ANY("makedirs", "false", "Make the folders above it"),
    STATE_ANY("clean", "false", "Remove what no required state keeps"),
    STATE_ANY("require", "null", "Required states; with `clean` their files stay"),
    STATE_ANY("exclude_pat", "null", "What `clean` leaves: globs or E@regex"),
    STATE_ANY("follow_symlinks", "false", "Look at what links point to"),
    STATE_ANY("force", "false", "Replace a file or link of that name"),
    STATE_TEXT("backupname", "null", "Rename what has that name to this"),
    STATE_ANY("allow_symlink", "true", "A link to a folder will do"),
    STATE_ANY("children_only", "false", "Change only what is below"),
    STATE_ANY("win_owner", "null", "Windows only"),
    STATE_ANY("win_perms", "null", "Windows only"),
    STATE_ANY("win_deny_perms", "null", "Windows only"),
    STATE_ANY("win_inheritance", "true", "Windows only"),
    STATE_ANY("win_perms_reset", "false", "Windows only"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "mode: the same as dir_mode", "mode"),
    ARGS_END
};

static const func_t funcs[] = {
    { "directory", file_state_directory, directory_args, 0,
      "Make sure that a folder exists, with owner and mode.\n\n``recurse`` brings what is below to the "
      "same owner and mode; ``clean`` removes what is below and not kept by a state that this one requires." },
};

PLUGIN(state, file_directory, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
