/* manage.c - file.manage_file: brings a file to given contents, owner and mode, and reports the changes as
 * Salt does. The new content is written to a temporary file that already has its final owner and mode and
 * then renamed, so that it is never readable under other permissions. Failures that belong to the state go
 * into `ret` (job_t.stop); *err is for errors of the call itself. */
#include "plugins/lib/file/manage.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/tree.h"
#include "salt/state.h"

typedef struct job {
    call_ctx_t *ctx;
    json_t *args; /* BORROWED */
    json_t *ret;
    managed_t *m;
    char *name,
        *real; /* real: where a link leads, when it is followed; for words only when `file` is found */
    partfile_t file;
    char *mode; /* "0644", or NULL */
    const char *source;
    bool follow, contents;
    buf_t text;     /* the contents, encoded */
    json_t *before; /* as fop_stats: what the file was; NULL: nothing was written */
    bool stop;      /* ret tells why */
} job_t;

static void
job_free(job_t *j)
{
    free(j->name);
    free(j->real);
    partfile_close(&j->file);
    free(j->mode);
    buf_free(&j->text);
    json_decref(j->before);
}
#define job_auto_t __attribute__((cleanup(job_free))) job_t

/* Fails the state with the comment (TAKES it). Returns 0, as the call itself succeeded; callers check
 * j->stop. */
static int
lib_manage_refuse(job_t *j, char *comment)
{
    json_object_set_new(j->ret, "result", json_false());
    json_object_set_new(j->ret, "comment", value_utf8(comment, strlen(comment)));
    free(comment);
    j->stop = true;
    return 0;
}

static json_t *
lib_manage_changes_of(job_t *j)
{
    return json_object_get(j->ret, "changes");
}

static bool
lib_manage_asked(const job_t *j, const char *key, bool dflt)
{
    json_t *v = value_get(j->args, key);

    return v == NULL ? dflt : value_truthy(v);
}

/* ---- what to write --------------------------------------------------------------------------- */

static int
read_contents(job_t *j, fail_t *err)
{
    const char *encoding = value_str(j->args, "encoding", NULL);
    buf_auto_t text = BUF_INIT;

    j->contents = manage_contents(j->args, &text);
    if (j->contents && !str_empty(encoding))
        return manage_encode(buf_str(&text), text.len, encoding,
                             value_str(j->args, "encoding_errors", "strict"), &j->text, err);
    if (j->contents)
        buf_add(&j->text, buf_str(&text), text.len);
    return 0;
}

/* The source's mode, when it is to be kept. */
static int
keep_mode(job_t *j, fail_t *err)
{
    AUTO_FREE char *scheme = source_scheme(j->source);

    if (!lib_manage_asked(j, "keep_mode", false) || source_is_remote(scheme))
        return 0;
    fail_auto_t why = FAIL_INIT;
    char *mode = source_mode(j->ctx, j->source, value_str(j->args, "saltenv", "base"), &why);
    if (mode != NULL) {
        free(j->mode);
        j->mode = mode;
    }
    return why.code == 0 ? 0 : fail_set(err, why.code, "%s", fail_text(&why));
}

/* The local copy of the source, if it is not there yet. */
static int
need_copy(job_t *j, fail_t *err)
{
    if (j->m->sfn == NULL)
        j->m->sfn = source_cache(j->ctx, j->source, value_str(j->args, "saltenv", "base"), NULL, j->args,
                                 err);
    if (j->m->sfn != NULL)
        return 0;
    if (err->code != 0)
        return err->code;
    return lib_manage_refuse(j, xasprintf("Source file '%s' not found", j->source));
}

/* A source from outside must be what its digest promises, and any source signed where that is asked for. With a template it
 * is what was rendered that must be. */
static int
check_source(job_t *j, const char *shown, const char *hint, fail_t *err)
{
    json_t *signature = value_get(j->args, "signature");
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *scheme = source_scheme(j->source);
    AUTO_FREE char *hex = NULL;
    const char *type = value_str(j->m->sum, "hash_type", "sha256"),
               *want = value_str(j->m->sum, "hsum", NULL);

    if (j->stop)
        return 0;
    if (want != NULL && !j->m->temp && !str_eq(scheme, "salt") &&
        !lib_manage_asked(j, "skip_verify", false) && !lib_manage_asked(j, "use_etag", false)) {
        if (digest_file(j->m->sfn, type, &hex, err) != 0)
            return err->code;
        if (!str_eq(hex, want))
            return lib_manage_refuse(
                j, xasprintf("Specified %s checksum for %s (%s) does not match actual checksum (%s)%s", type,
                             shown, want, hex, hint));
    }
    if (!value_truthy(signature) || source_signed(j->ctx, j->m->sfn, signature, j->args, NULL, &why) == 0)
        return 0;
    return lib_manage_refuse(j, xasprintf("Failed checking new file's signature: %s", fail_text(&why)));
}

/* ---- writing --------------------------------------------------------------------------------- */

static mode_t
mode_bits(const char *mode, mode_t otherwise)
{
    char *end;
    unsigned long bits = mode != NULL ? strtoul(mode, &end, 8) : 0;

    return mode == NULL || *end != '\0' || end == mode ? otherwise : (mode_t) bits & 07777;
}

static int
lib_manage_find(job_t *j, fail_t *err)
{
    return partfile_find(&j->file, j->name, PARTFILE_SPECIAL | (j->follow ? 0 : DESTPATH_LINK), err);
}

/* Path of the held object: the name itself may be replaced by other users meanwhile. */
static const char *
there(const job_t *j)
{
    return j->file.at != NULL ? j->file.at : j->real != NULL ? j->real : j->name;
}

/* True when a copy of what was there is kept in the minion's cache. */
static bool
keeps_copy(const job_t *j)
{
    const char *backup = value_str(j->args, "backup", "");

    if (*backup == '\0')
        backup = value_str(ctx_opts(j->ctx), "backup_mode", "");
    return str_eq(backup, "minion") || str_eq(backup, "both");
}

/* `dst`: what a backup is named after. */
static int
lib_manage_commit(job_t *j, const char *dst, const content_t *what, fail_t *err)
{
    /* The owner and mode that the file is to have in the end, so that it never appears with others. */
    landing_t as = { (uid_t) -1, (gid_t) -1, 0, NULL };
    uid_t uid;
    gid_t gid;
    as.uid = (uid_t) value_int(j->before, "uid", -1);
    as.gid = (gid_t) value_int(j->before, "gid", -1);
    if (value_truthy(value_get(j->args, "user")) && fop_uid_of(value_get(j->args, "user"), &uid))
        as.uid = uid;
    if (value_truthy(value_get(j->args, "group")) && fop_gid_of(value_get(j->args, "group"), &gid))
        as.gid = gid;
    as.mode = mode_bits(j->mode, mode_bits(value_str(j->before, "mode", NULL), 0600));

    int rc = j->file.path == NULL ? lib_manage_find(j, err) : 0;

    if (rc != 0)
        return rc;
    int file = fop_leads_to(there(j), S_IFREG, err); /* a link that gives way may lead nowhere */
    if (file < 0)
        return file;
    if (file > 0) {
        as.like = j->file.at;
        if (keeps_copy(j) && fop_backup_minion(j->ctx, there(j), dst, err) != 0)
            return -EIO;
    }
    return partfile_land(&j->file, what, &as, err);
}

/* Changes the file that is there. A failed write fails the state with the reason; it is not an exception. */
static int
commit_change(job_t *j, const char *dst, const content_t *what)
{
    fail_auto_t why = FAIL_INIT;

    if (j->before == NULL)
        j->before = fop_stats(there(j), NULL, true, NULL);
    /* A link that leads nowhere tells of itself; its mode, which is that of every link, is no file's. */
    if (str_eq(value_str(j->before, "type", ""), "link"))
        json_object_set_new(j->before, "mode", fop_mode_text(0600));
    if (lib_manage_commit(j, dst, what, &why) != 0)
        return lib_manage_refuse(j, xasprintf("Failed to commit change: %s", fail_text(&why)));
    return 0;
}

static void
note_diff(job_t *j, const char *text)
{
    json_object_set_new(lib_manage_changes_of(j), "diff", value_utf8(text, strlen(text)));
}

/* The difference for the changes, or its placeholder where the configuration or the state hides it. */
static int
show_diff(job_t *j, const content_t *what, char **ret_diff, fail_t *err)
{
    if (value_bool(ctx_opts(j->ctx), "obfuscate_templates", false))
        *ret_diff = xstrdup("<Obfuscated Template>");
    else if (!lib_manage_asked(j, "show_changes", true))
        *ret_diff = xstrdup("<show_changes=False>");
    else
        return content_diff(there(j), what, NULL, ret_diff, err);
    return 0;
}

static const char digest_hint[] =
    ". If the 'source_hash' value refers to a remote file with multiple possible "
    "matches, then it may be necessary to set 'source_hash_name'.";

/* Compares digests first and fetches the source only when they differ. A link that is not followed always
 * counts as different. */
static int
change_by_source(job_t *j, fail_t *err)
{
    const char *type = value_str(j->m->sum, "hash_type", value_str(ctx_opts(j->ctx), "hash_type", "sha256"));
    int link = j->follow ? 0 : fop_lexists_as(j->real, S_IFLNK, err);
    AUTO_FREE char *hex = NULL, *diff = NULL;
    fail_auto_t why = FAIL_INIT;

    if (link < 0)
        return link;
    if (link == 0 && digest_file(there(j), type, &hex, err) != 0)
        return -EIO;
    if (hex != NULL && str_eq(hex, value_str(j->m->sum, "hsum", NULL)))
        return 0;
    int rc = need_copy(j, err);
    if (rc == 0)
        rc = check_source(j, j->source, digest_hint, err);
    if (rc != 0 || j->stop)
        return rc;
    const content_t what = { .path = j->m->sfn };
    if (show_diff(j, &what, &diff, &why) != 0)
        diff = content_unreadable(j->real, &why);
    if (*diff != '\0')
        note_diff(j, diff);
    return commit_change(j, j->real, &what);
}

/* A file whose present content can't be read is left alone with a warning, as in Salt. */
static int
change_by_contents(job_t *j)
{
    const content_t what = { .data = buf_str(&j->text), .len = j->text.len };
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *diff = NULL;
    bool same = false;

    if (content_same(there(j), &what, &same, &why) != 0 || (!same && show_diff(j, &what, &diff, &why) != 0)) {
        AUTO_FREE char *reason = content_unreadable(j->real, &why);
        state_ret_warn(j->ret, "Failed to detect changes to file: %s", reason);
        return 0;
    }
    if (same)
        return 0;
    note_diff(j, diff);
    return commit_change(j, j->real, &what);
}

/* A link that is not to be followed gives way to a file. */
static int
replace_link(job_t *j, fail_t *err)
{
    content_t what = { .data = buf_str(&j->text), .len = j->text.len };

    int link = j->stop || j->follow ? 0 : fop_lexists_as(j->name, S_IFLNK, err);
    if (link <= 0)
        return link;
    if (!j->contents && j->source != NULL) {
        int rc = need_copy(j, err);
        if (rc == 0)
            rc = check_source(j, j->name, "", err);
        if (rc != 0 || j->stop)
            return rc;
        what = (content_t){ .path = j->m->sfn };
    }
    int rc = commit_change(j, j->name, &what);
    if (rc == 0 && !j->stop)
        note_diff(j, "Replace symbolic link with regular file");
    return rc;
}

static int
lib_manage_check_perms(job_t *j, const char *mode, bool follow, fail_t *err)
{
    json_auto_t *call = json_copy(j->args);

    json_object_set_new(call, "name", value_utf8(j->name, strlen(j->name)));
    json_object_set_new(call, "mode", mode != NULL ? json_string(mode) : json_null());
    json_object_set_new(call, "follow_symlinks", json_boolean(follow));
    return fop_check_perms(j->ctx, call, j->before, j->ret, NULL, err);
}

/* ---- a new file ------------------------------------------------------------------------------ */

/* The file's mode, and the right to enter wherever there is a right at all. NEW, or NULL. */
static char *
default_dir_mode(job_t *j)
{
    AUTO_FREE char *given = fop_normalize_mode(value_get(j->args, "dir_mode"));

    if (given != NULL || j->mode == NULL)
        return STEAL(given);
    size_t n = strlen(j->mode);
    char *mode = xstrdup(j->mode + (n > 3 ? n - 3 : 0));
    for (char *p = mode; *p != '\0'; p++) {
        if (*p >= '1' && *p <= '7')
            *p = (char) ('0' + ((*p - '0') | 1));
    }
    return mode;
}

/* Creates missing parent folders when makedirs asks for it, else fails the state. */
static int
lib_manage_need_folder(job_t *j, fail_t *err)
{
    AUTO_FREE char *folder = fop_dirname(j->name);

    int there = j->stop ? 1 : fop_exists_as(folder, S_IFDIR, err);
    if (there != 0)
        return there < 0 ? there : 0;
    if (!lib_manage_asked(j, "makedirs", false)) {
        json_object_del(lib_manage_changes_of(j), "diff");
        return lib_manage_refuse(j, xstrdup("Parent directory not present"));
    }
    AUTO_FREE char *mode = default_dir_mode(j);
    json_t *user = value_get(j->args, "user"), *group = value_get(j->args, "group");
    json_auto_t *call = json_pack("{s:s, s:O?, s:O?, s:s?}", "path", j->name, "user", user, "group", group,
                                  "mode", mode);
    json_auto_t *said = NULL;
    return file_makedirs(j->ctx, call, &said, err);
}

static mode_t
umask_now(void)
{
    mode_t mask = umask(022);

    umask(mask);
    return mask;
}

/* Creates the file. `before` describes what Salt would have created, so that check_perms reports the same
 * changes. */
static int
write_new(job_t *j, fail_t *err)
{
    content_t what = { .data = buf_str(&j->text), .len = j->text.len };

    if (j->source != NULL && !j->contents)
        what = (content_t){ .path = j->m->sfn };
    int there = fop_exists(j->name, err);
    if (there < 0)
        return there;
    if (there == 0) {
        /* Mode and owner that Salt's way of creating the file leaves before it sets them; Salt reports the following
         * correction as a change, so this does as well. */
        AUTO_FREE char *folder = fop_dirname(j->name);
        struct stat st;
        bool private = j->source != NULL || j->mode != NULL;
        gid_t gid = stat(folder, &st) == 0 && (st.st_mode & S_ISGID) ? st.st_gid : getegid();
        j->before = json_pack("{s:I, s:I, s:o, s:o, s:o}", "uid", (json_int_t) geteuid(), "gid",
                              (json_int_t) gid, "user", fop_user_name(geteuid()), "group",
                              fop_group_name(gid), "mode",
                              fop_mode_text(private ? 0600 : 0666 & ~umask_now()));
    } else
        j->before = fop_stats(j->name, NULL, true, NULL);
    if (ctx_test(j->ctx))
        return 0;
    if (j->source == NULL && !j->contents) {
        json_object_set_new(lib_manage_changes_of(j), "new", value_fmt("file %s created", j->name));
        json_object_set_new(j->ret, "comment", json_string("Empty file"));
        if (there > 0) /* a device or pipe stays what it is */
            return 0;
    } else {
        note_diff(j, "New file");
    }
    /* Salt makes a file of given contents empty first, and keeps a copy of that, so that file.list_backups tells
     * when the file came to be. Here the file has its contents at once, and the copy is the same. */
    if (there == 0 && j->contents && keeps_copy(j) &&
        fop_backup_empty(j->ctx, j->name, mode_bits(value_str(j->before, "mode", NULL), 0600), err) != 0)
        return -EIO;
    return lib_manage_commit(j, j->name, &what, err);
}

static int
lib_manage_create(job_t *j, fail_t *err)
{
    int rc = 0;

    if (j->source != NULL) {
        rc = need_copy(j, err);
        if (rc == 0)
            rc = check_source(j, j->name, "", err);
    }
    if (rc == 0)
        rc = lib_manage_need_folder(j, err);
    if (rc == 0 && !j->stop) {
        rc = write_new(j, err);
    }
    if (rc != 0 || j->stop)
        return rc;
    AUTO_FREE char *mode = j->mode != NULL ? xstrdup(j->mode) : xasprintf("%04o", 0666 & ~umask_now());
    rc = ctx_test(j->ctx) ? 0 : lib_manage_check_perms(j, mode, false, err);
    if (rc != 0)
        return rc;
    if (ctx_test(j->ctx))
        json_object_set_new(j->ret, "comment", value_fmt("File %s not updated", j->name));
    else if (json_object_size(lib_manage_changes_of(j)) == 0 &&
             value_truthy(json_object_get(j->ret, "result")))
        json_object_set_new(j->ret, "comment", value_fmt("File %s is in the correct state", j->name));
    else if (!value_truthy(json_object_get(j->ret, "comment")))
        json_object_set_new(j->ret, "comment", value_fmt("File %s updated", j->name));
    return 0;
}

/* Existing regular files are changed, everything else is created. `err` may be NULL when the caller wants the
 * state's failure only. */
int
manage_file(call_ctx_t *ctx, json_t *args, managed_t *m, json_t *ret, fail_t *err)
{
    job_auto_t j = { .ctx = ctx, .args = args, .ret = ret, .m = m, .file = PARTFILE_INIT, .text = BUF_INIT };
    fail_auto_t own = FAIL_INIT, led = FAIL_INIT;
    fail_t *why = err != NULL ? err : &own;

    j.name = fop_path(args, "name");
    j.mode = fop_normalize_mode(value_get(args, "mode"));
    j.follow = lib_manage_asked(&j, "follow_symlinks", true);
    j.source = value_str(args, "source", NULL);
    if (str_empty(j.source))
        j.source = NULL;
    int rc = lib_manage_find(&j, &led);
    if (rc == -EPERM)
        return lib_manage_refuse(&j, xstrdup(fail_text(&led)));
    rc = read_contents(&j, why);
    if (rc == 0 && j.source != NULL) {
        if (m->sfn == NULL && value_get(m->sum, "hsum") == NULL)
            rc = need_copy(&j, why);
        if (rc == 0 && !j.stop)
            rc = keep_mode(&j, why);
    }
    if (rc != 0 || j.stop)
        return rc;
    /* A link may lead nowhere, or in a circle. */
    int link = fop_lexists_as(j.name, S_IFLNK, why),
        there = link == 0 ? fop_exists_as(j.name, S_IFREG, why) : link;
    if (there <= 0)
        return there < 0 ? there : lib_manage_create(&j, why);
    j.real = link > 0 && j.follow ? fop_realpath(j.name) : xstrdup(j.name);

    /* Writes the new content or replaces the link. */
    rc = j.source != NULL ? change_by_source(&j, why) : 0;
    if (rc == 0 && !j.stop && j.contents)
        rc = change_by_contents(&j);
    if (rc == 0)
        rc = replace_link(&j, why);
    if (rc != 0 || j.stop)
        return rc;
    rc = lib_manage_check_perms(&j, j.mode, j.follow, why);
    if (rc != 0)
        return rc;
    if (json_object_size(lib_manage_changes_of(&j)) > 0)
        json_object_set_new(j.ret, "comment", value_fmt("File %s updated", j.name));
    else if (value_truthy(json_object_get(j.ret, "result")))
        json_object_set_new(j.ret, "comment", value_fmt("File %s is in the correct state", j.name));
    return 0;
}

int
file_manage_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    managed_auto_t m = MANAGED_INIT;
    const char *sfn = value_str(args, "sfn", "");
    json_t *given = value_get(args, "ret"), *sum = value_get(args, "source_sum");
    json_auto_t *ret = value_truthy(given)
                           ? json_deep_copy(given)
                           : json_pack("{s:O, s:{}, s:s, s:b}", "name", value_get(args, "name"), "changes",
                                       "comment", "", "result", 1);

    m.sfn = *sfn != '\0' ? xstrdup(sfn) : NULL;
    m.sum = json_is_object(sum) ? json_incref(sum) : json_object();
    int rc = manage_file(ctx, args, &m, ret, err);
    if (rc == 0)
        *ret_value = json_incref(ret);
    return rc;
}
