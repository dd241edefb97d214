/* file_copy.c - states about whole files that others name: file.copy, rename, mknod, decode. Copies are made
 * aside (stage.h) with owner and mode and take the name when they are complete. */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/attr.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate_dir.h"
#include "plugins/lib/file/stage.h"
#include "plugins/lib/file/tree.h"

/* ---- copy ------------------------------------------------------------------------------------ */

/* A run of file.copy. */
typedef struct copy {
    fstate_t *s;
    char *source;
    json_t *user, *group; /* owned */
    char *mode;
    bool there, changed;
} copy_t;

static void
copy_free(copy_t *c)
{
    free(c->source);
    json_decref(c->user);
    json_decref(c->group);
    free(c->mode);
}
#define copy_auto_t __attribute__((cleanup(copy_free))) copy_t

/* Owner and mode of the copy. 1: the state has failed. */
static int
choose_attributes(copy_t *c)
{
    fstate_t *s = c->s;
    json_auto_t *st = fop_stats(c->source, NULL, true, NULL);

    if (fstate_on(s, "preserve", false)) {
        c->user = json_incref(value_get(st, "user"));
        c->group = json_incref(value_get(st, "group"));
        c->mode = xstrdup(value_str(st, "mode", "0644"));
        return 0;
    }
    fstate_default_owner(s, &c->user, &c->group);
    c->mode = fop_normalize_mode(value_get(s->args, "mode"));
    if (c->mode == NULL)
        c->mode = xstrdup(value_str(st, "mode", "0644"));
    AUTO_FREE char *who = fstate_check_user(s, c->user, c->group);
    if (who == NULL)
        return 0;
    fstate_error(s, "%s", who);
    return 1;
}

/* A thing can't replace what it is or is in, and a folder can't be below itself; `there`: something has
 * the name. True: the state has failed. */
static bool
entangled(fstate_t *s, bool there, const char *source)
{
    fail_auto_t why = FAIL_INIT;
    bool holds = there && stage_holds(s->name, source);
    int dir = holds ? 0 : fop_lexists_as(source, S_IFDIR, &why);

    if (dir < 0) {
        fstate_error(s, "%s", fail_text(&why));
        return true;
    }
    if (!holds && (dir == 0 || !stage_holds(source, s->name)))
        return false;
    fstate_error(s,
                 "\"%s\" and its source \"%s\" are one, or one of them is in the other; nothing was changed",
                 s->name, source);
    return true;
}

/* Examines the present target. Sets c->there and c->changed. */
static int
look_at_target(copy_t *c, fail_t *err)
{
    fstate_t *s = c->s;
    bool force = fstate_on(s, "force", false);
    AUTO_FREE char *a = NULL, *b = NULL;
    int there = fop_lexists(s->name, err);

    c->there = there > 0;
    c->changed = true;
    if (there <= 0)
        return there;
    /* With force the replaced object may be a dangling link. */
    int to = force ? fop_leads_to(s->name, S_IFREG, err) : 0,
        from = to > 0 ? fop_exists_as(c->source, S_IFREG, err) : to;
    if (from < 0)
        return from;
    if (from > 0) {
        if (digest_file(s->name, "sha256", &a, err) != 0 || digest_file(c->source, "sha256", &b, err) != 0)
            return -EIO;
        if (str_eq(a, b))
            state_ret_comment(s->ret, value_fmt("%s - files are identical but force flag is set",
                                                value_str(s->ret, "comment", "")));
    }
    c->changed = force;
    return 0;
}

/* The folders above the target. 1: the state has failed. */
static int
file_copy_need_folder(copy_t *c, fail_t *err)
{
    fstate_t *s = c->s;
    AUTO_FREE char *folder = fop_dirname(s->name);
    AUTO_FREE char *mode = fop_normalize_mode(value_get(s->args, "dir_mode"));

    int there = fstate_is_dir(s, folder);
    if (there == 0 && !fstate_on(s, "makedirs", false)) {
        fstate_error(s, "The target directory %s is not present", folder);
        return 1;
    }
    if (there != 0)
        return there < 0;
    /* Folders get the mode of the copy, and may be entered by all who may read or write it. */
    if (mode == NULL) {
        size_t n = strlen(c->mode);
        mode = xstrdup(c->mode + (n > 3 ? n - 3 : 0));
        for (char *p = mode; *p != '\0'; p++)
            *p = *p >= '1' && *p <= '7' ? (char) ('0' + ((*p - '0') | 1)) : *p;
    }
    return fstate_makedirs(s, c->user, c->group, mode, err);
}

/* Cookie of a walk. */
typedef struct owner {
    copy_t *c;
    fail_t *err;
} owner_t;

/* Callback of the walk: the owner of one path of the copied folder. */
static int
file_copy_give(void *cookie, const char *path, bool is_dir)
{
    owner_t *o = cookie;
    json_auto_t *why = NULL;

    return fop_lchown(path, o->c->user, o->c->group, &why, o->err);
}

/* In a folder links stay links, and each file keeps its mode. */
static int
copy_source(copy_t *c, const char *path, fail_t *err)
{
    owner_t o = { c, err };

    int dir = fop_exists_as(c->source, S_IFDIR, err);
    if (dir < 0)
        return dir;
    if (dir > 0) {
        int rc = fop_copy_tree(c->source, path, err);
        return rc == 0 ? fstate_walk(path, -1, file_copy_give, &o, err) : rc;
    }
    json_auto_t *done = fstate_call(c->s, file_copy, json_pack("{s:s, s:s}", "src", c->source, "dst", path),
                                    err);
    return done != NULL ? 0 : -EIO;
}

/* Source, owner and mode reach the staged copy; what it had before of them is *ret_before, NEW. */
static int
copy_staged(copy_t *c, const char *path, json_t **ret_before, fail_t *err)
{
    int rc = copy_source(c, path, err);

    if (rc != 0)
        return rc;

    /* Changes of owner and mode are told against the copy as the minion's own, or of the folder's group where
     * that is set for new files. */
    AUTO_FREE char *above = fop_dirname(c->s->name);
    struct stat folder;
    bool inherits = stat(above, &folder) == 0 && (folder.st_mode & S_ISGID) != 0;
    gid_t gid = inherits ? folder.st_gid : getegid();
    json_auto_t *own = json_pack("{s:I, s:I, s:o, s:o}", "uid", (json_int_t) geteuid(), "gid",
                                 (json_int_t) gid, "user", fop_user_name(geteuid()), "group",
                                 fop_group_name(gid));
    json_t *st = fop_stats(path, NULL, true, err);
    if (st != NULL)
        json_object_update(st, own);
    *ret_before = st;

    if (*ret_before == NULL)
        return -EIO;
    /* Ignores a failure here: the check that follows reports it. */
    if (!fstate_on(c->s, "preserve", false))
        (void) fop_set_owner_mode(path, c->user, c->group, c->mode, NULL);
    return 0;
}

/* With `subdir` a folder as target receives the source inside. */
static int
copy_body(fstate_t *s, fail_t *err)
{
    copy_auto_t c = { .s = s, .source = fop_path(s->args, "source") };

    state_ret_comment(s->ret, value_fmt("Copied \"%s\" to \"%s\"", c.source, s->name));
    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    int there = fstate_exists(s, c.source);
    if (there <= 0)
        return there < 0 ? 0 : fstate_error(s, "Source file \"%s\" is not present", c.source);
    int dir = fstate_is_dir(s, c.source);
    if (dir < 0)
        return 0;
    if (dir == 0 && !fop_is_source(c.source))
        return fstate_error(s, "Source \"%s\" is a pipe or a device, and no file that can be copied",
                            c.source);
    int rc = choose_attributes(&c);
    if (rc != 0)
        return 0;
    int into = fstate_on(s, "subdir", false) ? fstate_is_dir(s, s->name) : 0;
    if (into < 0)
        return 0;
    /* From here on the target is the path inside. */
    if (into > 0) {
        char *inside = fop_join2(s->name, fop_basename(c.source));
        free(s->name);
        s->name = inside;
    }
    if ((rc = look_at_target(&c, err)) != 0)
        return rc;
    if (c.changed && entangled(s, c.there, c.source))
        return 0;
    if (!c.changed)
        return state_ret_set(s->ret, STATE_TRUE, "The target file \"%s\" exists and will not be overwritten",
                             s->name);
    if (s->test) {
        fstate_note(s, s->name, c.source);
        return state_ret_set(s->ret, STATE_NONE, "File \"%s\" is set to be copied to \"%s\"", c.source,
                             s->name);
    }
    if ((rc = file_copy_need_folder(&c, err)) != 0)
        return rc < 0 ? rc : 0;

    /* Copies aside, commits, then lets file.check_perms report owner and mode. */
    fail_auto_t why = FAIL_INIT;
    stage_auto_t stage = STAGE_INIT;
    json_auto_t *before = NULL;
    if (stage_open(&stage, s->name, &why) != 0 || copy_staged(&c, stage.path, &before, &why) != 0 ||
        stage_commit(&stage, &why) != 0)
        return fstate_error(s, "Failed to copy \"%s\" to \"%s\": %s", c.source, s->name, fail_text(&why));
    state_change(s->ret, s->name, value_utf8(c.source, strlen(c.source)));
    if (fstate_on(s, "preserve", false))
        return 0;
    json_auto_t *args = json_pack("{s:s, s:O, s:O, s:s}", "name", s->name, "user", c.user, "group", c.group,
                                  "mode", c.mode);
    if (fop_check_perms(s->ctx, args, before, s->ret, NULL, &why) != 0)
        return fstate_error(s, "Failed to copy \"%s\" to \"%s\": %s", c.source, s->name, fail_text(&why));
    return 0;
}

/* ---- rename ---------------------------------------------------------------------------------- */

/* The failure of a rename as the state's. Returns 0. */
static int
not_moved(fstate_t *s, const char *source, const fail_t *why)
{
    return fstate_error(s, "Failed to move \"%s\" to \"%s\": %s", source, s->name, fail_text(why));
}

/* Variables in both paths are expanded, as in Salt. A missing source counts as moved already. */
static int
rename_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *given = fop_path(s->args, "source"), *source = fop_expandvars(given);
    char *name = fop_expandvars(s->name);
    fail_auto_t why = FAIL_INIT;

    free(s->name);
    s->name = name;
    json_object_set_new(s->ret, "name", value_utf8(name, strlen(name)));
    AUTO_FREE char *folder = fop_dirname(s->name);
    if (*s->name != '/')
        return fstate_error(s, "Specified file %s is not an absolute path", s->name);
    int here = fop_lexists(source, &why), there = here > 0 ? fop_lexists(s->name, &why) : 0;
    if (here < 0 || there < 0)
        return not_moved(s, source, &why);
    if (here == 0)
        return state_ret_set(s->ret, STATE_TRUE, "Source file \"%s\" has already been moved out of place",
                             source);
    if (there > 0 && !fstate_on(s, "force", false))
        return state_ret_set(s->ret, STATE_TRUE, "The target file \"%s\" exists and will not be overwritten",
                             s->name);
    if (entangled(s, there > 0, source))
        return 0;
    if (s->test) {
        fstate_note(s, s->name, source);
        return state_ret_set(s->ret, STATE_NONE, "File \"%s\" is set to be moved to \"%s\"", source, s->name);
    }
    int above = fop_exists_as(folder, S_IFDIR, &why);
    if (above < 0)
        return not_moved(s, source, &why);
    if (above == 0 && !fstate_on(s, "makedirs", false))
        return fstate_error(s, "The target directory %s is not present", folder);
    if (above == 0 && fstate_makedirs(s, NULL, NULL, NULL, err) != 0)
        return err->code;

    /* Renames and reports the change. */
    fail_auto_t failed = FAIL_INIT;
    if (fop_move_over(source, s->name, &failed) != 0)
        return not_moved(s, source, &failed);
    state_change(s->ret, s->name, value_utf8(source, strlen(source)));
    return state_ret_set(s->ret, STATE_TRUE, "Moved \"%s\" to \"%s\"", source, s->name);
}

/* ---- mknod ----------------------------------------------------------------------------------- */

static const struct node_row {
    const char *ntype;
    mode_t format;
    const char *title, *what; /* as comments begin, and as they go on */
} node_rows[] = {
    { "c", S_IFCHR, "Character device", "character device" },
    { "b", S_IFBLK, "Block device", "block device" },
    { "p", S_IFIFO, "Fifo pipe", "fifo pipe" },
};

/* A device or pipe with its numbers, owner and mode. Regular files are never replaced. */
static int
mknod_body(fstate_t *s, fail_t *err)
{
    const char *ntype = fstate_str(s, "ntype");
    const struct node_row *row = NULL;
    struct stat st;

    for (size_t i = 0; i < NELEMS(node_rows); i++) {
        if (str_eq(node_rows[i].ntype, ntype))
            row = &node_rows[i];
    }
    if (row == NULL)
        return fstate_error(
            s,
            "Node type unavailable: '%s'. Available node types are character ('c'), block ('b'), "
            "and pipe ('p')",
            ntype);
    int file = fstate_is_file(s, s->name);
    if (file < 0)
        return 0;
    if (file > 0)
        return fstate_error(s, "File %s exists and is not a %s. Refusing to continue", s->name, row->what);
    bool there = stat(s->name, &st) == 0;
    if (!there && !fs_is_absence(-errno))
        return fop_oserror(err, errno, s->name);
    if (there && (st.st_mode & S_IFMT) == row->format) {
        /* An existing node is checked for its numbers and permissions; other numbers are refused, not
         * replaced. */
        json_int_t is_major = (json_int_t) major(st.st_rdev), is_minor = (json_int_t) minor(st.st_rdev);
        if (row->format != S_IFIFO &&
            (value_int(s->args, "major", 0) != is_major || value_int(s->args, "minor", 0) != is_minor))
            return fstate_error(s,
                                "%s %s exists and has a different major/minor %" JSON_INTEGER_FORMAT
                                "/%" JSON_INTEGER_FORMAT ". Refusing to continue",
                                row->title, s->name, is_major, is_minor);
        json_object_set_new(s->args, "name", json_string(s->name));
        int rc = fop_check_perms(s->ctx, s->args, NULL, s->ret, NULL, err);
        if (rc == 0 && !state_changed(s->ret))
            state_ret_comment(s->ret, value_fmt("%s %s is in the correct state", row->title, s->name));
        return rc;
    }
    if (there)
        return fstate_error(s, "File %s exists and cannot be overwritten", s->name);
    if (s->test) {
        state_change(s->ret, "new", value_fmt("%s %s created.", row->title, s->name));
        return state_ret_set(s->ret, STATE_NONE, "%s %s is set to be created", row->title, s->name);
    }
    json_t *args = json_copy(s->args);
    json_object_set_new(args, "name", json_string(s->name));
    json_auto_t *made = fstate_call(s, file_mknod, args, err);
    if (made == NULL)
        return err->code;
    json_object_update(s->ret, made);
    return 0;
}

/* ---- decode ---------------------------------------------------------------------------------- */

/* The text to decode: BORROWED, or NULL with *err. */
static json_t *
encoded(fstate_t *s, fail_t *err)
{
    json_t *data = fstate_arg(s, "encoded_data"), *pillar = fstate_arg(s, "contents_pillar");

    if (!value_truthy(data) && !value_truthy(pillar))
        fop_failed(err, "Specify either the 'encoded_data' or 'contents_pillar' argument.");
    else if (value_truthy(data) && value_truthy(pillar))
        fop_failed(err, "Specify only one 'encoded_data' or 'contents_pillar' argument.");
    else if (value_truthy(data)) {
        return data;
    } else {
        AUTO_FREE char *key = value_pystr(pillar);
        json_t *found = value_path(ctx_pillar(s->ctx), key, ":");
        if (found != NULL && !json_is_false(found))
            return found;
        fop_failed(err, "Pillar data not found.");
    }
    return NULL;
}

/* The decoded data compared with the file, and put in its place. */
static int
decode_from(fstate_t *s, const char *decoded, fail_t *err)
{
    const char *checksum = str_empty(fstate_str(s, "checksum")) ? "md5" : fstate_str(s, "checksum");
    AUTO_FREE char *want = NULL, *is = NULL;

    int file = fop_exists_as(s->name, S_IFREG, err);
    if (file < 0 || digest_file(decoded, checksum, &want, err) != 0 ||
        (file > 0 && digest_file(s->name, checksum, &is, err) != 0))
        return err->code;
    if (str_eq(is, want))
        return state_ret_set(s->ret, STATE_TRUE, "File is in the correct state.");
    state_change_set(s->ret, json_pack("{s:s?, s:s}", "old", is, "new", want));
    if (s->test)
        return state_ret_set(s->ret, STATE_NONE, "File is set to be updated.");
    if (fop_copyfile(decoded, s->name, err) != 0)
        return err->code;
    return state_ret_set(s->ret, STATE_TRUE, "File was updated.");
}

/* Decodes into a temporary file, whose digest is compared with the target's. */
static int
decode_body(fstate_t *s, fail_t *err)
{
    json_t *data = encoded(s, err);
    AUTO_FREE char *temp = data != NULL ? content_temp(NULL, NULL, "", 0, err) : NULL;
    json_auto_t *args = temp != NULL ? json_pack("[O, s]", data, temp) : NULL, *done = NULL;
    int rc;

    if (temp == NULL)
        return err->code;
    rc = ctx_call(s->ctx, "hashutil.base64_decodefile", args, NULL, &done, err);
    if (rc == 0)
        rc = decode_from(s, temp, err);
    unlink(temp);
    return rc;
}

static FILE_STATE(file_state_copy, "Must provide name to file.copy", copy_body);
static FILE_STATE(file_state_rename, "Must provide name to file.rename", rename_body);
static FILE_STATE(file_state_mknod, "Must provide name to file.mknod", mknod_body);
static FILE_STATE(file_state_decode, "Must provide name to file.decode", decode_body);

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t copy_args[] = { STATE_ANY("name", ARG_REQUIRED, "The copy"),
                                   STATE_ANY("source", ARG_REQUIRED, "File or folder of the minion"),
                                   STATE_ANY("force", "false", "Replace what has the name"),
                                   STATE_ANY("makedirs", "false", "Make the folders above it"),
                                   STATE_ANY("preserve", "false", "Owner, group and mode of the source"),
                                   STATE_ANY("user", "null", "Owner; by default the minion's"),
                                   STATE_ANY("group", "null", "Group; by default that user's"),
                                   STATE_ANY("mode", "null", "Octal mode; by default the source's"),
                                   STATE_ANY("dir_mode", "null", "Octal mode of the folders made"),
                                   STATE_ANY("subdir", "false", "Into the folder of that name"),
                                   STATE_KWARGS,
                                   ARGS_END };
static const arg_t rename_args[] = { STATE_ANY("name", ARG_REQUIRED, "The new name"),
                                     STATE_ANY("source", ARG_REQUIRED, "The old name"),
                                     STATE_ANY("force", "false", "Replace what has the new name"),
                                     STATE_ANY("makedirs", "false", "Make the folders above it"),
                                     STATE_KWARGS,
                                     ARGS_END };
static const arg_t mknod_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The node"), STATE_TEXT("ntype", ARG_REQUIRED, "c, b or p"),
    ARG("major", ARG_INT, "0", "Major number"),  ARG("minor", ARG_INT, "0", "Minor number"),
    STATE_ANY("user", "null", "Owner"),          STATE_ANY("group", "null", "Group"),
    STATE_ANY("mode", "\"0600\"", "Octal mode"), ARGS_END
};
static const arg_t decode_args[] = { STATE_ANY("name", ARG_REQUIRED, "The file"),
                                     STATE_ANY("encoded_data", "null", "The content in base64"),
                                     STATE_ANY("contents_pillar", "null",
                                               "Pillar key of the content in base64"),
                                     STATE_TEXT("encoding_type", "\"base64\"", "base64"),
                                     STATE_TEXT("checksum", "\"md5\"", "Digest to compare by"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "copy", file_state_copy, copy_args, 0,
      "Copy a file or folder of the minion.\n\nWhat is there already stays, unless ``force`` is given." },
    { "decode", file_state_decode, decode_args, 0,
      "Make sure that a file holds what a text in base64 stands for." },
    { "mknod", file_state_mknod, mknod_args, 0, "Make sure that there is a device or named pipe." },
    { "rename", file_state_rename, rename_args, 0,
      "Rename a file or folder of the minion, if the old name is still there." },
};

PLUGIN(state, file_copy, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
