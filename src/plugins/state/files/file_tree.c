/* file_tree.c - states about names: file.absent, exists, missing, symlink, hardlink, touch. Bodies return 0
 * when the return is made, whether it is a failure or not, and a negative errno with *err otherwise. A
 * symlink is compared by its text and its own owner, a hard link by device and inode. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/attr.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/stage.h"
#include "plugins/lib/file/tree.h"

/* ---- absent, exists, missing ----------------------------------------------------------------- */

/* Removes files, links and whole trees; the root folder is refused. */
static int
absent_body(fstate_t *s, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    if (str_eq(s->name, "/"))
        return fstate_error(s, "Refusing to make \"/\" absent");
    struct stat st = { 0 };
    int there = fop_lstat(s->name, &st, &why);
    if (there < 0)
        return fstate_error(s, "%s", fail_text(&why));
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE, "File %s is not present", s->name);
    bool file = !S_ISDIR(st.st_mode);
    if (s->test) {
        fstate_note(s, "removed", s->name);
        return state_ret_set(s->ret, STATE_NONE, "%s %s is set for removal", file ? "File" : "Directory",
                             s->name);
    }
    json_auto_t *gone = fstate_call(s, file_remove, json_pack("{s:s}", "path", s->name), &why);
    if (gone == NULL)
        return fstate_error(s, "%s", fail_text(&why));
    fstate_note(s, "removed", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "Removed %s %s", file ? "file" : "directory", s->name);
}

static int
exists_body(fstate_t *s, fail_t *err)
{
    int there = fstate_exists(s, s->name);

    if (there == 0)
        return fstate_error(s, "Specified path %s does not exist", s->name);
    return there > 0 ? state_ret_set(s->ret, STATE_TRUE, "Path %s exists", s->name) : 0;
}

static int
missing_body(fstate_t *s, fail_t *err)
{
    int there = fstate_exists(s, s->name);

    if (there > 0)
        return fstate_error(s, "Specified path %s exists", s->name);
    return there == 0 ? state_ret_set(s->ret, STATE_TRUE, "Path %s is missing", s->name) : 0;
}

/* ---- links ------------------------------------------------------------------------------------- */

/* State of one file.symlink or file.hardlink. */
typedef struct link {
    fstate_t *s;
    const char *target;
    json_t *user, *group; /* owned */
    char *user_text, *group_text;
    bool force, atomic;
} link_t;

static void
link_free(link_t *l)
{
    json_decref(l->user);
    json_decref(l->group);
    free(l->user_text);
    free(l->group_text);
}
#define link_auto_t __attribute__((cleanup(link_free))) link_t

/* "USER:GROUP" of the link itself. NEW. */
static char *
file_tree_owner_of(const char *path)
{
    json_auto_t *st = fop_stats(path, NULL, false, NULL);

    return xasprintf("%s:%s", value_str(st, "user", ""), value_str(st, "group", ""));
}

/* True when the link itself has the wanted owner. */
static bool
owned(const link_t *l)
{
    AUTO_FREE char *now = file_tree_owner_of(l->s->name),
                   *want = xasprintf("%s:%s", l->user_text, l->group_text);

    return str_eq(now, want);
}

/* True when the link has the owner afterwards. */
static bool
set_owner(link_t *l)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *done = fstate_call(
        l->s, file_lchown,
        json_pack("{s:s, s:O, s:O}", "path", l->s->name, "user", l->user, "group", l->group), &why);
    (void) done; /* whether it worked is seen below */
    return owned(l);
}

/* False: the state has failed. */
static bool
take_owner(link_t *l)
{
    struct stat st = { 0 };
    fail_auto_t why = FAIL_INIT;

    if (fstate_on(l->s, "inherit_user_and_group", false) && fop_lstat(l->s->name, &st, &why) < 0)
        return fstate_error(l->s, "%s", fail_text(&why)) != 0;
    if (S_ISLNK(st.st_mode)) {
        if (fstate_user(l->s) == NULL)
            json_object_set_new(l->s->args, "user", fop_user_name(st.st_uid));
        if (fstate_arg(l->s, "group") == NULL)
            json_object_set_new(l->s->args, "group", fop_group_name(st.st_gid));
    }
    fstate_default_owner(l->s, &l->user, &l->group);
    l->user_text = value_pystr(l->user);
    l->group_text = value_pystr(l->group);
    return true;
}

/* Appends one sentence. TAKES text. */
static void
file_tree_fault(buf_t *out, size_t *n, char *text)
{
    buf_printf(out, "%s%s", *n > 0 ? ". " : "", text);
    free(text);
    (*n)++;
}

/* Everything that is wrong with the call, in one comment. True: there was something. */
static bool
faulty(link_t *l, bool hard)
{
    buf_auto_t text = BUF_INIT;
    size_t n = 0;
    uid_t uid;
    gid_t gid;

    if (!fop_uid_of(l->user, &uid))
        file_tree_fault(&text, &n, xasprintf("User %s does not exist", l->user_text));
    if (!fop_gid_of(l->group, &gid))
        file_tree_fault(&text, &n, xasprintf("Group %s does not exist", l->group_text));
    if (*l->s->name != '/')
        file_tree_fault(&text, &n, xasprintf("Specified file %s is not an absolute path", l->s->name));
    if (hard && *l->target != '/')
        file_tree_fault(&text, &n, xasprintf("Specified target %s is not an absolute path", l->target));
    if (n > 0)
        fstate_error(l->s, "%s%s", buf_str(&text), n > 1 ? "." : "");
    return n > 0;
}

/* Text of a link, NEW; NULL when the name is not a link. Negative: the state has failed. */
static int
link_text(fstate_t *s, char **ret_text)
{
    char text[4096];
    ssize_t n = readlink(s->name, text, sizeof(text) - 1);
    fail_auto_t why = FAIL_INIT;

    *ret_text = n >= 0 ? xstrndup(text, (size_t) n) : NULL;
    if (n >= 0 || errno == EINVAL || fs_is_absence(-errno))
        return 0;
    (void) fop_oserror(&why, errno, s->name);
    (void) fstate_error(s, "%s", fail_text(&why));
    return -1;
}

/* Compares normalised paths. */
static bool
same_target(const char *now, const char *target)
{
    AUTO_FREE char *have = fop_normpath(now), *want = fop_normpath(target);

    return str_eq(have, want);
}

/* True when what has the name makes room for the link: it goes to its backup, or is replaced. */
static bool
gives_way(const link_t *l)
{
    struct stat st;

    if (fstate_str(l->s, "backupname") != NULL || l->force)
        return true;
    return l->atomic && lstat(l->s->name, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* Test mode. */
static int
symlink_check(link_t *l)
{
    fstate_t *s = l->s;
    AUTO_FREE char *now = NULL;
    int there = link_text(s, &now);

    if (there == 0)
        there = now == NULL ? fstate_exists(s, s->name) : 1;
    if (there < 0)
        return 0;
    if (there == 0) {
        fstate_note(s, "new", s->name);
        return state_ret_set(s->ret, STATE_NONE, "Symlink %s to %s is set for creation", s->name, l->target);
    }
    if (now == NULL && gives_way(l)) {
        fstate_note(s, "new", s->name);
        return state_ret_set(
            s->ret, STATE_NONE,
            "The file or directory %s is set for removal to make way for a new symlink targeting "
            "%s",
            s->name, l->target);
    }
    if (now == NULL)
        return fstate_error(
            s, "File or directory exists where the symlink %s should be. Did you mean to use force?",
            s->name);
    if (!same_target(now, l->target)) {
        fstate_note(s, "change", s->name);
        return state_ret_set(s->ret, STATE_NONE, "Link %s target is set to be changed to %s", s->name,
                             l->target);
    }
    if (owned(l))
        return state_ret_set(s->ret, STATE_TRUE, "The symlink %s is present", s->name);
    AUTO_FREE char *owner = file_tree_owner_of(s->name);
    fstate_note(s, "ownership", owner);
    return state_ret_set(
        s->ret, STATE_NONE,
        "The symlink %s is present, but the ownership of the symlink would be changed from %s to "
        "%s:%s",
        s->name, owner, l->user_text, l->group_text);
}

/* Path of `backupname`, which may be replaced; NULL: the state has failed. NEW. */
static char *
backup_path(link_t *l, const char *backup)
{
    fstate_t *s = l->s;
    AUTO_FREE char *folder = fop_dirname(s->name);
    AUTO_FREE char *to = *backup == '/' ? xstrdup(backup) : fop_join2(folder, backup);

    if (*backup != '/' && strchr(backup, '/') != NULL) {
        fstate_error(s, "Backupname must be an absolute path or a file name: %s", backup);
        return NULL;
    }
    int there = fstate_lexists(s, to);
    if (there > 0 && !l->force)
        fstate_error(s, "Symlink & backup dest exists and Force not set. %s -> %s - backup: %s", s->name,
                     l->target, to);
    return there == 0 || (there > 0 && l->force) ? STEAL(to) : NULL;
}

/* The older backup waits in `older`, until the name has its link. */
static int
move_away(link_t *l, const char *to, stage_t *older, fail_t *err)
{
    fstate_t *s = l->s;
    int there = fop_lexists(to, err);

    if (there < 0 || (there > 0 && (stage_open(older, to, err) != 0 || stage_aside(older, err) != 0)))
        return err->code;
    json_auto_t *moved = fstate_call(s, file_move,
                                     json_pack("{s:s, s:s, s:b}", "src", s->name, "dst", to,
                                               "disallow_copy_and_unlink",
                                               fstate_on(s, "disallow_copy_and_unlink", false)),
                                     err);
    return moved != NULL ? 0 : err->code;
}

/* The failure of a link as the state's. Returns 0. */
static int
no_symlink(link_t *l, const fail_t *why)
{
    return fstate_error(l->s, "Unable to create new symlink %s -> %s: %s", l->s->name, l->target,
                        fail_text(why));
}

/* The return of a link that was made: it has the owner, or gets it. */
static int
made_symlink(link_t *l)
{
    fstate_t *s = l->s;

    fstate_note(s, "new", s->name);
    if (owned(l) || set_owner(l))
        return state_ret_set(s->ret, STATE_TRUE, "Created new symlink %s -> %s", s->name, l->target);
    return fstate_error(s, "Created new symlink %s -> %s, but was unable to set ownership to %s:%s", s->name,
                        l->target, l->user_text, l->group_text);
}

/* Moves the present object to `backup` and creates the link. On failure both names keep their old objects, an
 * older backup included. */
static int
link_instead(link_t *l, const char *backup)
{
    fstate_t *s = l->s;
    AUTO_FREE char *to = backup_path(l, backup);
    stage_auto_t link = STAGE_INIT, older = STAGE_INIT;
    fail_auto_t why = FAIL_INIT, back = FAIL_INIT;

    if (to == NULL)
        return 0;
    if (stage_open(&link, s->name, &why) != 0)
        return no_symlink(l, &why);
    if (symlink(l->target, link.path) != 0) {
        (void) fop_oserror(&why, errno, s->name);
        return no_symlink(l, &why);
    }
    if (move_away(l, to, &older, &why) != 0) {
        (void) stage_back(&older, &why);
        return fstate_error(s, "Unable to rename %s to backup %s -> : %s", s->name, to, fail_text(&why));
    }
    if (stage_commit(&link, &why) == 0)
        return made_symlink(l);
    if (fop_move_over(to, s->name, &back) == 0)
        (void) stage_back(&older, &why);
    return no_symlink(l, &why);
}

/* True: s->ret is the answer. */
static bool
file_tree_need_folder(link_t *l, fail_t *err)
{
    fstate_t *s = l->s;
    AUTO_FREE char *folder = fop_dirname(s->name), *mode = fop_normalize_mode(value_get(s->args, "mode"));
    bool make = fstate_on(s, "makedirs", false);

    int there = fstate_is_dir(s, folder);
    if (there != 0)
        return there < 0;
    if (s->test)
        state_ret_add(s->ret, make ? "%s will be created" : "Directory %s for symlink is not present",
                      folder);
    else if (!make)
        fstate_error(s, "Directory %s for symlink is not present", folder);
    else
        return fstate_makedirs(s, l->user, l->group, mode, err) != 0;
    return !s->test;
}

/* An existing other file is replaced with force or atomic, or moved to `backupname`. */
static int
symlink_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *target = value_pystr(value_get(s->args, "target"));
    link_auto_t l = { .s = s, .target = target };
    const char *backup = fstate_str(s, "backupname");

    l.force = fstate_on(s, "force", false);
    l.atomic = fstate_on(s, "atomic", false);
    if (!take_owner(&l) || faulty(&l, false))
        return 0;
    if (s->test)
        (void) symlink_check(&l);
    if (file_tree_need_folder(&l, err) || s->test)
        return err != NULL ? err->code : 0;
    AUTO_FREE char *now = NULL;
    struct stat st = { 0 };
    fail_auto_t why = FAIL_INIT;
    if (link_text(s, &now) < 0)
        return 0;
    if (now != NULL && same_target(now, target)) {

        if (owned(&l))
            return state_ret_set(s->ret, STATE_TRUE, "Symlink %s is present and owned by %s:%s", s->name,
                                 l.user_text, l.group_text);
        if (!set_owner(&l))
            return fstate_error(s, "Failed to set ownership of symlink %s to %s:%s", s->name, l.user_text,
                                l.group_text);
        state_change(s->ret, "ownership", value_fmt("%s:%s", l.user_text, l.group_text));
        return state_ret_set(s->ret, STATE_TRUE, "Set ownership of symlink %s to %s:%s", s->name, l.user_text,
                             l.group_text);
    }
    int there = now == NULL ? fop_lstat(s->name, &st, &why) : 0;
    if (there < 0)
        return fstate_error(s, "%s", fail_text(&why));
    if (there > 0 && backup != NULL)
        return link_instead(&l, backup);
    if (there > 0 && !l.force && !l.atomic)
        return fstate_error(s, "%s exists where the symlink %s should be",
                            S_ISREG(st.st_mode)   ? "File"
                            : S_ISDIR(st.st_mode) ? "Directory"
                                                  : "File system entry",
                            s->name);

    /* Puts the link in the place of `old`, a link's target, without `force`: a link holds nothing that is
     * lost. */
    json_auto_t *made = fstate_call(s, file_symlink,
                                    json_pack("{s:s, s:s, s:b, s:b}", "src", l.target, "path", s->name,
                                              "force", l.force || now != NULL, "atomic", l.atomic),
                                    &why);
    return made != NULL ? made_symlink(&l) : no_symlink(&l, &why);
}

FILE_STATE(file_state_symlink, "Must provide name to file.symlink", symlink_body);

/* ---- hard links ---------------------------------------------------------------------------------- */

/* Status of a hard link's target and of the present name. */
typedef struct hardlinked {
    bool from, from_dir;      /* the target, links followed */
    bool there, file, to_dir; /* the name, links followed */
    bool several;             /* it is one of several names of its file */
    bool same;                /* it is the target's file */
} hardlinked_t;

/* False: the state has failed. */
static bool
look_at_names(link_t *l, hardlinked_t *ret)
{
    fstate_t *s = l->s;
    struct stat name = { 0 }, target = { 0 }, to = { 0 }, from = { 0 };
    fail_auto_t why = FAIL_INIT;
    int there = fop_stat(s->name, &to, &why), is = there < 0 ? there : fop_stat(l->target, &from, &why),
        own = is < 0 ? is : fop_lstat(s->name, &name, &why),
        other = own < 0 ? own : fop_lstat(l->target, &target, &why);

    if (other < 0) {
        fstate_error(s, "%s", fail_text(&why));
        return false;
    }
    *ret = (hardlinked_t){ .from = is > 0,
                           .from_dir = S_ISDIR(from.st_mode),
                           .there = there > 0,
                           .file = S_ISREG(to.st_mode),
                           .to_dir = S_ISDIR(to.st_mode),
                           .several = name.st_nlink > 1 && !S_ISDIR(name.st_mode),
                           .same = own > 0 && other > 0 && name.st_dev == target.st_dev &&
                                   name.st_ino == target.st_ino };
    return true;
}

/* Instead of what has the name, which stays when the link can't be made: the target may be on another file
 * system. */
static int
link_over(const char *target, const char *name, fail_t *err)
{
    stage_auto_t stage = STAGE_INIT;
    int rc = stage_open(&stage, name, err);

    if (rc == 0 && link(target, stage.path) != 0)
        rc = fop_failed(err, "Could not create '%s': [Errno %d] %s: '%s' -> '%s'", name, errno,
                        strerror(errno), target, name);
    return rc == 0 ? stage_commit(&stage, err) : rc;
}

/* Makes the hard link. `forced`: a file gives way; `changed`: a link of another file does. */
static int
make_hardlink(link_t *l, bool forced, bool changed)
{
    fstate_t *s = l->s;
    fail_auto_t why = FAIL_INIT;
    int rc;

    if (forced || changed)
        rc = link_over(l->target, s->name, &why);
    else {
        json_auto_t *made = fstate_call(s, file_link,
                                        json_pack("{s:s, s:s}", "src", l->target, "path", s->name), &why);
        rc = made == NULL ? -EIO : 0;
    }
    if (rc != 0)
        return fstate_error(s, "Unable to %s hard link %s -> %s: %s",
                            changed ? "set target of" : "create new", s->name, l->target, fail_text(&why));
    if (forced)
        fstate_note(s, "forced", "File for hard link was forcibly replaced");
    fstate_note(s, "new", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "%s hard link %s -> %s",
                         changed ? "Set target of" : "Created new", s->name, l->target);
}

/* The folders above the name. 1: the state has failed. */
static int
hardlink_folder(link_t *l, fail_t *err)
{
    fstate_t *s = l->s;
    AUTO_FREE char *folder = fop_dirname(s->name), *mode = fop_normalize_mode(value_get(s->args, "dir_mode"));

    int there = fstate_is_dir(s, folder);
    if (there != 0)
        return there < 0;
    if (fstate_on(s, "makedirs", false))
        return fstate_makedirs(s, l->user, l->group, mode, err);
    fstate_error(s, "Directory %s for hard link is not present", folder);
    return 1;
}

/* A file with one link only is replaced with force; several links mean a hard link of something else. */
static int
hardlink_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *target = value_pystr(value_get(s->args, "target"));
    link_auto_t l = { .s = s, .target = target, .force = fstate_on(s, "force", false) };

    if (!take_owner(&l) || faulty(&l, true))
        return 0;
    hardlinked_t now = { 0 };
    if (!look_at_names(&l, &now))
        return 0;
    if (s->test) {
        /* Test mode. */

        if (!now.from)
            return fstate_error(s, "Target %s for hard link does not exist", l.target);
        if (now.from_dir)
            return fstate_error(s, "Unable to hard link from directory %s", l.target);
        if (now.to_dir)
            return fstate_error(s, "Unable to hard link to directory %s", s->name);
        if (!now.there) {
            fstate_note(s, "new", s->name);
            return state_ret_set(s->ret, STATE_NONE, "Hard link %s to %s is set for creation", s->name,
                                 l.target);
        }
        if (now.several && now.same)
            return state_ret_set(s->ret, STATE_TRUE, "The hard link %s is presently targetting %s", s->name,
                                 l.target);
        if (now.several) {
            fstate_note(s, "change", s->name);
            return state_ret_set(s->ret, STATE_NONE, "Link %s target is set to be changed to %s", s->name,
                                 l.target);
        }
        if (l.force)
            return state_ret_set(
                s->ret, STATE_NONE,
                "The file or directory %s is set for removal to make way for a new hard link "
                "targeting %s",
                s->name, l.target);
        return fstate_error(
            s, "File or directory exists where the hard link %s should be. Did you mean to use force?",
            s->name);
    }
    if (now.to_dir)
        return fstate_error(s, "Unable to hard link to directory %s", s->name);
    if (now.from_dir)
        return fstate_error(s, "Unable to hard link from directory %s", target);
    if (!now.from)
        return fstate_error(s, "Target %s for hard link does not exist", target);
    int rc = hardlink_folder(&l, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    bool forced = now.file && !now.several;
    if (forced && !l.force)
        return fstate_error(s, "File exists where the hard link %s should be", s->name);
    if (now.several && now.same)
        return state_ret_set(s->ret, STATE_TRUE, "Target of hard link %s is already pointing to %s", s->name,
                             target);
    return now.there && !now.several && !forced ? 0 : make_hardlink(&l, forced, now.several);
}

/* ---- touch ----------------------------------------------------------------------------------------- */

/* True when a requested time differs from the file's. */
static bool
time_differs(const fstate_t *s, const char *key, const json_t *st)
{
    json_t *want = fstate_arg(s, key);
    AUTO_FREE char *a = value_pystr(want), *b = value_pystr(value_get(st, key));

    return want != NULL && !str_eq(a, b);
}

/* A missing folder is made with makedirs alone. */
static int
touch_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *folder = fop_dirname(s->name);
    int there = fstate_exists(s, s->name);

    if (there < 0)
        return 0;
    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    if (s->test) {
        json_auto_t *st = fop_stats(s->name, NULL, false, NULL);
        if (!(there > 0)) {
            fstate_note(s, "new", s->name);
            return state_ret_set(s->ret, STATE_NONE, "File %s is set to be created", s->name);
        }
        bool now = fstate_arg(s, "atime") == NULL || fstate_arg(s, "mtime") == NULL;
        if (now || time_differs(s, "atime", st) || time_differs(s, "mtime", st)) {
            fstate_note(s, "touched", s->name);
            return state_ret_set(s->ret, STATE_NONE, "Times set to be updated on file %s", s->name);
        }
        return state_ret_set(s->ret, STATE_TRUE, "File %s exists and has the correct times", s->name);
    }
    if (fstate_on(s, "makedirs", false) && fstate_makedirs(s, NULL, NULL, NULL, err) != 0)
        return err->code;
    int above = fstate_is_dir(s, folder), dir = above > 0 ? fstate_is_dir(s, s->name) : 0;
    if (above < 0 || dir < 0)
        return 0;
    if (above == 0)
        return fstate_error(s, "Directory not present to touch file %s", s->name);
    json_auto_t *done = fstate_call(s, file_touch,
                                    json_pack("{s:s, s:O?, s:O?}", "name", s->name, "atime",
                                              fstate_arg(s, "atime"), "mtime", fstate_arg(s, "mtime")),
                                    err);
    if (done == NULL)
        return err->code;
    if (!value_truthy(done))
        return fstate_error(s, "%s", "");
    fstate_note(s, there ? "touched" : "new", s->name);
    if (!there)
        return state_ret_set(s->ret, STATE_TRUE, "Created empty file %s", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "Updated times on %s %s", dir > 0 ? "directory" : "file",
                         s->name);
}

FILE_STATE(file_state_touch, "Must provide name to file.touch", touch_body);
static FILE_STATE(file_state_absent, "Must provide name to file.absent", absent_body);
static FILE_STATE(file_state_exists, "Must provide name to file.exists", exists_body);
static FILE_STATE(file_state_missing, "Must provide name to file.missing", missing_body);
static FILE_STATE(file_state_hardlink, "Must provide name to file.hardlink", hardlink_body);

/* ---- table ----------------------------------------------------------------------------------------- */

#define NAME_ROW STATE_ANY("name", ARG_REQUIRED, "The path; ~ is the home folder")

static const arg_t name_args[] = { NAME_ROW, STATE_KWARGS, ARGS_END };
static const arg_t absent_args[] = { NAME_ROW,
                                     ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                         "Accepted, so that a managed state needs one word changed", "*"),
                                     ARGS_END };
static const arg_t symlink_args[] = {
    NAME_ROW,
    STATE_ANY("target", ARG_REQUIRED, "What the link points to"),
    STATE_ANY("force", "false", "Replace what has the name"),
    STATE_TEXT("backupname", "null", "Rename what has the name to this first"),
    STATE_ANY("makedirs", "false", "Make the folders above it"),
    STATE_ANY("user", "null", "Owner of the link; by default the minion's"),
    STATE_ANY("group", "null", "Group of the link; by default that user's"),
    STATE_ANY("mode", "null", "Octal mode of the folders made"),
    STATE_ANY("win_owner", "null", "Windows only"),
    STATE_ANY("win_perms", "null", "Windows only"),
    STATE_ANY("win_deny_perms", "null", "Windows only"),
    STATE_ANY("win_inheritance", "null", "Windows only"),
    STATE_ANY("atomic", "false", "Replace what has the name in one step"),
    STATE_ANY("disallow_copy_and_unlink", "false", "Fail when backupname is on another file system"),
    STATE_ANY("inherit_user_and_group", "false", "Keep owner and group of a link that is there"),
    STATE_KWARGS,
    ARGS_END
};
static const arg_t hardlink_args[] = { NAME_ROW,
                                       STATE_ANY("target", ARG_REQUIRED, "The file that exists"),
                                       STATE_ANY("force", "false", "Replace what has the name"),
                                       STATE_ANY("makedirs", "false", "Make the folders above it"),
                                       STATE_ANY("user", "null", "Owner of the folders made"),
                                       STATE_ANY("group", "null", "Group of the folders made"),
                                       STATE_ANY("dir_mode", "null", "Octal mode of the folders made"),
                                       STATE_KWARGS,
                                       ARGS_END };
static const arg_t touch_args[] = { NAME_ROW, STATE_ANY("atime", "null", "Access time, seconds since 1970"),
                                    STATE_ANY("mtime", "null", "Modification time, seconds since 1970"),
                                    STATE_ANY("makedirs", "false", "Make the folders above it"), ARGS_END };

static const func_t funcs[] = {
    { "absent", file_state_absent, absent_args, 0,
      "Make sure that there is no such file or folder; a folder goes with all that is in it." },
    { "exists", file_state_exists, name_args, 0, "Check that a path exists." },
    { "hardlink", file_state_hardlink, hardlink_args, 0, "Make sure that a file has a further name." },
    { "missing", file_state_missing, name_args, 0, "Check that a path does not exist." },
    { "symlink", file_state_symlink, symlink_args, 0,
      "Make sure that a symbolic link points to a target.\n\nA link that points elsewhere is changed with "
      "``force`` or ``atomic``, in one step." },
    { "touch", file_state_touch, touch_args, 0, "Make sure that a file exists, and set its times." },
};

PLUGIN(state, file_tree, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
