/* perms.c - extended attributes (lsattr, chattr), SELinux labels, and file.check_perms, which brings a path
 * to the requested owner, mode, attributes and label and reports what changed. Owner and mode are changed by
 * the held descriptor; chattr and chcon only know names. */
#include <sys/xattr.h>
#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/attr.h"
#include "plugins/lib/file/fileops.h"

#define ATTR_LETTERS "aAcCdDeijPsStTu"

/* ---- lsattr, chattr -------------------------------------------------------------------------- */

/* {"path": ["e", ...]} from lsattr's lines. */
static json_t *
parse_lsattr(const char *text)
{
    json_t *ret = json_object();
    char **lines = str_split(text, "\n", true);

    for (char **line = lines; *line != NULL; line++) {
        size_t n = strcspn(*line, " \t");
        const char *file = *line + n + strspn(*line + n, " \t");
        if (str_starts(*line, "lsattr: ") || *file == '\0')
            continue;
        json_t *attrs = json_array();
        for (size_t i = 0; i < n; i++) {
            if (strchr(ATTR_LETTERS, (*line)[i]) != NULL)
                json_array_append_new(attrs, json_stringn(*line + i, 1));
        }
        json_object_set_new(ret, file, attrs);
    }
    strv_free(lines);
    return ret;
}

/* lsattr's letters of `path`; JSON null where lsattr is not installed. NEW. */
static json_t *
lsattr_of(const char *path, fail_t *err)
{
    AUTO_FREE char *program = fs_which("lsattr");
    prog_auto_t cmd = PROG_INIT;

    if (program == NULL)
        return json_null();
    int there = fop_exists(path, err);
    if (there == 0)
        fop_invalid(err, "File or directory does not exist: %s", path);
    if (there <= 0)
        return NULL;
    prog_adds(&cmd, program, "--", path, NULL);
    AUTO_FREE char *text = prog_stdout(&cmd, NULL, err);
    return text == NULL ? NULL : parse_lsattr(text);
}

/* Null where lsattr is not installed, as Salt returns None there. */
int
file_lsattr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = lsattr_of(value_str(args, "path", ""), err);
    return *ret_value == NULL ? -EIO : 0;
}

int
file_chattr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *operator= value_str(args, "operator", "");
    json_t *attributes = value_get(args, "attributes"), *flags = value_get(args, "flags");
    json_t *version = value_get(args, "version");
    prog_auto_t cmd = PROG_INIT;

    if (!str_eq(operator, "add") && !str_eq(operator, "remove"))
        return fop_invalid(err, "Need an operator: 'add' or 'remove' to modify attributes.");
    if (!json_is_string(attributes))
        return fop_invalid(err, "Need attributes: [" ATTR_LETTERS "]");
    prog_add(&cmd, "chattr");
    prog_addf(&cmd, "%c%s", str_eq(operator, "add") ? '+' : '-', json_string_value(attributes));
    if (json_is_string(flags))
        prog_addf(&cmd, "-%s", json_string_value(flags));
    if (!json_is_null(version))
        prog_add_option(&cmd, "-v", version);
    prog_add(&cmd, "--");
    prog_add_json(&cmd, value_get(args, "files"));
    int code = prog_retcode(&cmd, err);
    if (code < 0)
        return code;
    *ret_value = json_boolean(code == 0);
    return 0;
}

/* ---- SELinux --------------------------------------------------------------------------------- */

/* NEW "user:role:type:range", or NULL. */
static char *
label_of(const char *path)
{
    char label[1024];
    ssize_t n = lgetxattr(path, "security.selinux", label, sizeof(label) - 1);

    if (n <= 0)
        return NULL;
    label[n] = '\0';
    return xstrdup(label);
}

int
file_get_selinux_context(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    AUTO_FREE char *label = label_of(path);

    *ret_value = label != NULL ? value_utf8(label, strlen(label))
                               : value_fmt("No selinux context information is available for %s", path);
    return 0;
}

/* Rejects label changes on hosts without SELinux before chcon fails with an obscure text. */
static int
need_selinux(fail_t *err)
{
    if (fs_exists("/sys/fs/selinux/enforce"))
        return 0;
    return fop_failed(err, "SELinux is not enabled on this host, so there are no file contexts to change");
}

/* Adds the label to the policy (selinux.fcontext_add_policy), so that a relabelling keeps it. */
static int
persist_context(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    json_auto_t *list = json_pack("[O]", value_get(args, "path"));
    json_auto_t *kwargs = json_pack("{s:O, s:O, s:O}", "sel_type", value_get(args, "type"), "sel_user",
                                    value_get(args, "user"), "sel_level", value_get(args, "range"));
    json_auto_t *ret = NULL;
    int rc = ctx_call(ctx, "selinux.fcontext_add_policy", list, kwargs, &ret, err);

    if (rc != 0 || value_int(ret, "retcode", -1) == 0)
        return rc;
    AUTO_FREE char *text = value_pystr(ret);
    return fop_failed(err, "Problem setting fcontext: %s", text);
}

int
file_set_selinux_context(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const options[][2] = {
        { "user", "-u" }, { "role", "-r" }, { "type", "-t" }, { "range", "-l" }
    };
    prog_auto_t cmd = PROG_INIT;

    prog_add(&cmd, "chcon");
    for (size_t i = 0; i < NELEMS(options); i++) {
        if (value_truthy(value_get(args, options[i][0])))
            prog_add_option(&cmd, options[i][1], value_get(args, options[i][0]));
    }
    if (cmd.n == 1) {
        *ret_value = json_false();
        return 0;
    }
    if (need_selinux(err) != 0)
        return -EIO;
    if (value_bool(args, "persist", false) && persist_context(ctx, args, err) != 0)
        return -EIO;
    prog_adds(&cmd, "--", value_str(args, "path", ""), NULL);
    int code = prog_retcode(&cmd, err);
    if (code < 0)
        return code;
    if (code == 0)
        return file_get_selinux_context(ctx, args, ret_value, err);
    *ret_value = json_false();
    return 0;
}

int
file_restorecon(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t cmd = PROG_INIT;

    if (need_selinux(err) != 0)
        return -EIO;
    prog_adds(&cmd, "restorecon", value_bool(args, "recursive", false) ? "-FR" : "-F", "--",
              value_str(args, "path", ""), NULL);
    int code = prog_retcode(&cmd, err);
    if (code < 0)
        return code;
    *ret_value = json_boolean(code == 0);
    return 0;
}

/* ---- check_perms ----------------------------------------------------------------------------- */

typedef struct perms {
    call_ctx_t *ctx;
    json_t *args;    /* BORROWED */
    char *name;      /* expanded */
    const char *at;  /* a descriptor's path, by which all is changed: it leads to the thing, be it a link */
    bool whole;      /* attributes and labels too */
    json_t *ret;     /* Salt's ret: changes, comment, result */
    json_t *perms;   /* what was and what was asked */
    json_t *comment; /* list of texts */
    bool test, plain, dir; /* plain: no link */
} perms_t;

static void
complain(perms_t *p, char *text)
{
    json_array_append_new(p->comment, value_utf8(text, strlen(text)));
    json_object_set_new(p->ret, "result", json_false());
    free(text);
}

static json_t *
now(perms_t *p, fail_t *err)
{
    return fop_stats(p->at, NULL, true, err);
}

/* True when `st` has the requested user (or group), by name or by number. */
static bool
is_owner(const json_t *st, const json_t *asked, const char *name, const char *id)
{
    return value_equal(asked, value_get(st, name)) || value_equal(asked, value_get(st, id));
}

/* Records the present owner (luser, lgroup) and, when it differs, the requested one (cuser, cgroup). */
static void
note_owner(perms_t *p, const json_t *cur, const char *what, const char *id, const char *short_name)
{
    json_t *asked = value_get(p->args, what);
    AUTO_FREE char *was = xasprintf("l%s", short_name), *wanted = xasprintf("c%s", short_name);

    json_object_set(p->perms, was, value_get(cur, json_is_integer(asked) ? id : what));
    if (value_truthy(asked) && !is_owner(cur, asked, what, id))
        json_object_set(p->perms, wanted, asked);
}

/* False for a file that was just written: its owner is right already. */
static bool
wants_owner(const perms_t *p, const json_t *st, const char *what, const char *id, const char *wanted)
{
    return json_object_get(p->perms, wanted) != NULL && !is_owner(st, value_get(p->args, what), what, id);
}

/* `st` is how the file is now. */
static int
apply_owner(perms_t *p, const json_t *st, fail_t *err)
{
    json_t *user = value_get(p->args, "user"), *group = value_get(p->args, "group");
    json_auto_t *why = NULL;

    if (p->test ||
        (!wants_owner(p, st, "user", "uid", "cuser") && !wants_owner(p, st, "group", "gid", "cgroup")))
        return 0;
    fail_auto_t failed = FAIL_INIT;
    if (fop_chown(p->at, json_is_null(user) ? value_get(st, "uid") : user,
                  json_is_null(group) ? value_get(st, "gid") : group, &why, &failed) != 0) {
        json_object_set_new(p->ret, "result", json_false());
        return 0;
    }
    if (json_is_string(why)) {
        complain(p, xstrdup(json_string_value(why)));
        return 0;
    }
    /* A change of owner drops the set-id bits. */
    return p->plain ? fop_set_owner_mode(p->at, NULL, NULL, value_str(st, "mode", "0"), err) : 0;
}

/* Compares the result with the request: reports the change, the foreseen change in test mode, or a
 * failure. */
static void
judge_owner(perms_t *p, const json_t *post, const char *what, const char *id, const char *short_name)
{
    json_t *asked = value_get(p->args, what);
    AUTO_FREE char *wanted = xasprintf("c%s", short_name);

    if (!value_truthy(asked))
        return;
    if (is_owner(post, asked, what, id)) {
        if (json_object_get(p->perms, wanted) != NULL)
            json_object_set(json_object_get(p->ret, "changes"), what, asked);
    } else if (p->test) {
        json_object_set(json_object_get(p->ret, "changes"), what, asked);
    } else {
        AUTO_FREE char *text = value_pystr(asked);
        complain(p, xasprintf("Failed to change %s to %s", what, text));
    }
}

/* Letters of `a` that are not in `b`. NEW. */
static char *
letters_minus(const char *a, const char *b)
{
    buf_t out = BUF_INIT;

    for (; *a != '\0'; a++) {
        if (strchr(b, *a) == NULL && strchr(buf_str(&out), *a) == NULL)
            buf_putc(&out, *a);
    }
    return buf_steal(&out);
}

/* The attribute letters that a path has. NEW; NULL where they can't be told. */
static char *
attr_letters(const char *path)
{
    fail_auto_t ignored = FAIL_INIT;
    json_auto_t *all = lsattr_of(path, &ignored);
    json_t *list = json_object_get(all, path);
    buf_t out = BUF_INIT;

    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_puts(&out, json_string_value(json_array_get(list, i)));
    return buf_steal(&out);
}

/* Ignores "e" (extents), which the file system sets by itself. */
bool
fop_attrs_differ(const char *path, const char *attrs)
{
    AUTO_FREE char *old = attr_letters(path);

    if (old == NULL)
        return false;
    AUTO_FREE char *wanted = xasprintf("%s%s", attrs, strchr(old, 'e') != NULL ? "e" : "");
    AUTO_FREE char *added = letters_minus(wanted, old), *removed = letters_minus(old, wanted);
    return *added != '\0' || *removed != '\0';
}

/* Failures are ignored here: the caller compares the letters afterwards. */
static void
run_chattr(perms_t *p, const char *operator, const char * letters)
{
    fail_auto_t failed = FAIL_INIT;
    json_auto_t *call = json_pack("{s:[s], s:s, s:s, s:n, s:n}", "files", p->name, "operator", operator,
                                  "attributes", letters, "flags", "version");
    json_auto_t *ignored = NULL;

    if (*letters != '\0')
        (void) file_chattr(p->ctx, call, &ignored, &failed);
}

/* Attributes are compared as sets; "e" (extents) is the file system's own affair. */
static void
check_attrs(perms_t *p)
{
    const char *asked = value_str(p->args, "attrs", NULL);

    if (asked == NULL || p->dir || !p->plain)
        return;
    AUTO_FREE char *old = attr_letters(p->name);
    if (old == NULL)
        return;
    AUTO_FREE char *wanted = xasprintf("%s%s", asked, strchr(old, 'e') != NULL ? "e" : "");
    AUTO_FREE char *added = letters_minus(wanted, old), *removed = letters_minus(old, wanted);
    if (*added == '\0' && *removed == '\0')
        return;
    if (!p->test) {
        run_chattr(p, "add", added);
        run_chattr(p, "remove", removed);
        AUTO_FREE char *got = attr_letters(p->name);
        AUTO_FREE char *missing = letters_minus(wanted, got != NULL ? got : "");
        AUTO_FREE char *extra = letters_minus(got != NULL ? got : "", wanted);
        if (*missing != '\0' || *extra != '\0') {
            complain(p, xasprintf("Failed to change attributes to %s", asked));
            return;
        }
    }
    json_object_set_new(json_object_get(p->ret, "changes"), "attrs",
                        json_pack("{s:s, s:s}", "old", old, "new", asked));
}

static const char *const label_parts[][3] = { { "seuser", "User", "user" },
                                              { "serole", "Role", "role" },
                                              { "setype", "Type", "type" },
                                              { "serange", "Range", "range" } };

/* The n-th part of a label; the range may hold colons itself. NEW. */
static char *
label_part(const char *label, size_t n)
{
    for (size_t i = 0; i < n && label != NULL; i++) {
        label = strchr(label, ':');
        label = label != NULL ? label + 1 : NULL;
    }
    if (label == NULL)
        return xstrdup("");
    return n == 3 ? xstrdup(label) : xstrndup(label, strcspn(label, ":"));
}

/* Sets the label and compares each part of the result; the policy may refuse parts of it. */
static void
apply_label(perms_t *p, json_t *call)
{
    fail_auto_t failed = FAIL_INIT;
    json_auto_t *ret = NULL;

    if (file_set_selinux_context(p->ctx, call, &ret, &failed) != 0 || !json_is_string(ret)) {
        complain(p, xstrdup("Failed to set selinux attributes"));
        return;
    }
    json_array_append_new(p->comment, value_fmt("The file %s is set to be changed", p->name));
    for (size_t i = 0; i < NELEMS(label_parts); i++) {
        AUTO_FREE char *part = label_part(json_string_value(ret), i);
        const char *asked = value_str(call, label_parts[i][2], NULL);
        if (asked != NULL && !str_eq(asked, part))
            complain(p, xasprintf("Unable to update %s context", label_parts[i][0]));
    }
}

static void
check_label(perms_t *p)
{
    buf_auto_t was = BUF_INIT, wanted = BUF_INIT;
    bool any = false;

    for (size_t i = 0; i < NELEMS(label_parts); i++)
        any |= !str_empty(value_str(p->args, label_parts[i][0], NULL));
    if (!any)
        return;
    AUTO_FREE char *label = label_of(p->name);
    if (label == NULL) {
        complain(p, xstrdup("Failed to get selinux attributes"));
        return;
    }
    json_auto_t *call = json_pack("{s:s, s:b}", "path", p->name, "persist", 1);

    /* Compares the label with the request: texts go to the changes, arguments to the changing command. */
    for (size_t i = 0; i < NELEMS(label_parts); i++) {
        const char *asked = value_str(p->args, label_parts[i][0], NULL);
        AUTO_FREE char *part = label_part(label, i);
        json_object_set_new(call, label_parts[i][2], json_null());
        if (str_empty(asked) || str_eq(asked, part))
            continue;
        buf_printf(&was, "%s%s: %s", was.len > 0 ? " " : "", label_parts[i][1], part);
        buf_printf(&wanted, "%s%s: %s", wanted.len > 0 ? " " : "", label_parts[i][1], asked);
        json_object_set_new(call, label_parts[i][2], json_string(asked));
    }

    if (wanted.len == 0)
        return;
    if (!p->test)
        apply_label(p, call);
    else
        json_array_append_new(p->comment, value_fmt("File %s selinux context to be updated", p->name));
    json_object_set_new(json_object_get(p->ret, "changes"), "selinux",
                        json_pack("{s:s, s:s}", "Old", buf_str(&was), "New", buf_str(&wanted)));
}

void
fop_label_changes(const char *path, json_t *args, json_t *changes)
{
    AUTO_FREE char *label = label_of(path);

    for (size_t i = 0; i < NELEMS(label_parts) && label != NULL; i++) {
        const char *asked = value_str(args, label_parts[i][0], NULL);
        AUTO_FREE char *part = label_part(label, i);
        if (!str_empty(asked) && !str_eq(asked, part))
            json_object_set_new(changes, "selinux", json_pack("{s:s}", label_parts[i][2], asked));
    }
}

/* Reads the status, changes owner then mode, reads the status again and reports from the comparison. `before`
 * replaces the first status for a file that was just written, so that the write's own effects count as
 * changes. */
static int
bring_to(perms_t *p, json_t *before, fail_t *err)
{
    AUTO_FREE char *mode = fop_normalize_mode(value_get(p->args, "mode"));
    json_auto_t *st = now(p, err);
    json_t *cur = before != NULL ? before : st;

    if (st == NULL)
        return -ENOENT;
    note_owner(p, cur, "user", "uid", "user");
    note_owner(p, cur, "group", "gid", "group");
    json_object_set(p->perms, "lmode", value_get(cur, "mode"));
    if (apply_owner(p, st, err) != 0)
        return -EIO;

    /* Links have no mode of their own, so they are skipped. */
    if (mode != NULL && !p->test && p->plain && !str_eq(mode, value_str(cur, "mode", ""))) {
        json_object_set_new(p->perms, "cmode", json_string(mode));
        /* A mode that can't be set is told by what the file has afterwards. */
        if (!str_eq(mode, value_str(st, "mode", "")))
            (void) fop_set_owner_mode(p->at, NULL, NULL, mode, NULL);
    }

    json_auto_t *post = now(p, err);
    if (post == NULL)
        return -ENOENT;
    judge_owner(p, post, "user", "uid", "user");
    judge_owner(p, post, "group", "gid", "group");

    /* Reports a mode that differs. */
    json_t *changes = json_object_get(p->ret, "changes");
    if (mode != NULL && p->plain) {
        bool is = str_eq(mode, value_str(post, "mode", ""));
        if (p->test ? !is : is && json_object_get(p->perms, "cmode") != NULL)
            json_object_set_new(changes, "mode", json_string(mode));
        else if (!is)
            complain(p, xasprintf("Failed to change mode to %s", mode));
    }

    if (p->whole) {
        check_attrs(p);
        check_label(p);
    }
    return 0;
}

/* `whole`: attributes and labels too, which are set by name in any case. */
static int
perms_check_perms(call_ctx_t *ctx, json_t *args, int fd, bool whole, json_t *before, json_t *ret,
                  json_t **ret_perms, fail_t *err)
{
    AUTO_FREE char *name = fop_expanduser(value_str(args, "name", ""));
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", fd);
    json_auto_t *comment = json_array(), *perms = json_object();
    json_auto_t *said = json_incref(json_object_get(ret, "comment"));
    struct stat st;

    if (fstat(fd, &st) != 0)
        return fop_oserror(err, errno, name);
    perms_t p = { .ctx = ctx,
                  .args = args,
                  .name = name,
                  .at = at,
                  .whole = whole,
                  .ret = ret,
                  .perms = perms,
                  .comment = comment,
                  .test = fop_test_mode(ctx),
                  .plain = !S_ISLNK(st.st_mode),
                  .dir = S_ISDIR(st.st_mode) };

    int rc = bring_to(&p, before, err);
    if (rc != 0)
        return rc;

    /* The comment is a list for a caller that gave one, else one text. */
    buf_auto_t text = BUF_INIT;
    if (json_is_string(said) && json_string_length(said) > 0)
        json_array_insert(p.comment, 0, said);
    for (size_t i = 0; i < json_array_size(p.comment); i++)
        buf_printf(&text, "%s%s", i > 0 ? "; " : "", json_string_value(json_array_get(p.comment, i)));
    json_object_set_new(p.ret, "comment",
                        json_is_array(said) ? json_incref(p.comment) : json_string(buf_str(&text)));

    if (p.test && json_object_size(json_object_get(ret, "changes")) > 0)
        json_object_set_new(ret, "result", json_null());
    if (ret_perms != NULL)
        *ret_perms = json_incref(perms);
    return 0;
}

/* Holds the object; with `follow` a dangling link is held itself. -ENOENT with Salt's "Path not found". */
int
fop_hold_any(partfile_t *file, const char *path, bool follow, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_find(file, path, PARTFILE_ANY | (follow ? 0 : DESTPATH_LINK), &why);

    if (follow && (rc == -ENOENT || (rc == 0 && file->file < 0))) { /* a link to nothing is there itself */
        partfile_close(file);
        fail_clear(&why);
        rc = partfile_find(file, path, PARTFILE_ANY | DESTPATH_LINK, &why);
    }
    if (rc == -ENOENT || rc == -ENOTDIR || (rc == 0 && file->file < 0))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Path not found: %s", path);
    return rc == 0 ? 0 : fail_kind(err, why.kind, rc, "%s", fail_text(&why));
}

int
fop_check_perms(call_ctx_t *ctx, json_t *args, json_t *before, json_t *ret, json_t **ret_perms, fail_t *err)
{
    AUTO_FREE char *name = fop_expanduser(value_str(args, "name", ""));
    partfile_auto_t file = PARTFILE_INIT;
    int rc = fop_hold_any(&file, name, value_bool(args, "follow_symlinks", false), err);

    return rc != 0 ? rc : perms_check_perms(ctx, args, file.file, true, before, ret, ret_perms, err);
}

int
fop_check_perms_at(call_ctx_t *ctx, json_t *args, int fd, json_t *ret, fail_t *err)
{
    return perms_check_perms(ctx, args, fd, false, NULL, ret, NULL, err);
}

int
file_check_perms(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *name = fop_expanduser(value_str(args, "name", ""));
    json_t *given = value_get(args, "ret");
    json_auto_t *ret = value_truthy(given) ? json_deep_copy(given)
                                           : json_pack("{s:s, s:{}, s:s, s:b}", "name", name, "changes",
                                                       "comment", "", "result", 1);
    json_auto_t *perms = NULL;
    int rc = fop_check_perms(ctx, args, NULL, ret, &perms, err);

    if (rc == 0)
        *ret_value = json_pack("[O, O]", ret, perms);
    return rc;
}
