/* replace.c - edits by regular expression: replace, search, psed, comment and uncomment. Files are matched as
 * bytes (RX_BYTES), as Salt matches them through mmap, and rewritten only when the result differs. */
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/diff.h"
#include "common/match/regex.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"

/* ---- replace --------------------------------------------------------------------------------- */

typedef struct edit {
    call_ctx_t *ctx;
    json_t *args;       /* BORROWED */
    char *path, *given; /* with and without links resolved: for messages */
    partfile_t file;
    buf_t old, fresh;
    rx_t *rx;
    unsigned flags;
    bool found;
} edit_t;

static void
edit_free(edit_t *e)
{
    free(e->path);
    free(e->given);
    partfile_close(&e->file);
    buf_free(&e->old);
    buf_free(&e->fresh);
    rx_destroy(&e->rx);
}
#define edit_auto_t __attribute__((cleanup(edit_free))) edit_t

/* Load the file. 1 when it is missing and that is not a failure, 0, or a negative errno. */
static int
edit_open(edit_t *e, fail_t *err)
{
    int rc = partfile_edit(&e->file, e->given, err);
    if (rc == 0) {
        if (value_bool(e->args, "ignore_if_missing", false))
            return 1;
        return fop_invalid(err, "File not found: %s", e->path);
    }
    rc = rc < 0 ? rc : partfile_read(&e->file, &e->old, err);
    if (rc != 0)
        return rc;
    return fop_need_text(e->path, &e->old, err);
}

/* Computes the new text. Without a match the text is appended or prepended once, unless a line holds it
 * already. */
static int
edit_apply(edit_t *e, fail_t *err)
{
    bool append = value_bool(e->args, "append_if_not_found", false);
    bool prepend = value_bool(e->args, "prepend_if_not_found", false);
    /* The replacement, as a template unless it is to be taken literally. */
    AUTO_FREE char *given = value_pystr(value_get(e->args, "repl"));
    bool literal = value_bool(e->args, "backslash_literal", false);
    AUTO_FREE char *repl = literal ? str_replace(given, "\\", "\\\\") : STEAL(given);
    json_int_t count = value_int(e->args, "count", 0);
    size_t n = 0;

    int rc = rx_sub(e->rx, repl, buf_str(&e->old), e->old.len, count > 0 ? (size_t) count : 0, &e->fresh, &n,
                    err);
    if (rc != 0)
        return rc;
    e->found = n > 0;
    if (e->found || (!append && !prepend))
        return 0;

    /* Text to add when the pattern did not match. */
    json_t *args = e->args;
    json_t *content = value_get(args, "not_found_content");
    AUTO_FREE char *text = value_pystr(value_truthy(content) ? content : value_get(args, "repl"));

    AUTO_FREE char *escaped = rx_escape(text);
    AUTO_FREE char *pattern = xasprintf("^%s($|(?=\r\n))", escaped);
    AUTO(rx) rx = rx_new(pattern, e->flags | RX_BYTES, err);
    rc = rx == NULL ? -EINVAL : rx_search(rx, buf_str(&e->old), e->old.len, 0, err);

    if (rc == 0 && prepend) {
        buf_auto_t rest = BUF_INIT;
        buf_add(&rest, buf_str(&e->fresh), e->fresh.len);
        buf_clear(&e->fresh);
        buf_printf(&e->fresh, "%s\n", text);
        buf_add(&e->fresh, buf_str(&rest), rest.len);
    } else if (rc == 0) {
        if (e->fresh.len > 0 && e->fresh.data[e->fresh.len - 1] != '\n')
            buf_putc(&e->fresh, '\n');
        buf_printf(&e->fresh, "%s\n", text);
    }
    return rc < 0 ? rc : 0;
}

/* A backup of a file reached by a link gets a link beside that link. */
static int
backup_link(edit_t *e, fail_t *err)
{
    const char *suffix = value_str(e->args, "backup", "");
    char target[PATH_MAX];

    if (!e->file.resolved.linked || e->file.resolved.whose != (uid_t) -1)
        return 0; /* nor is any made where a stranger may have put another folder, or a link, by now */
    if (*suffix == '\0' || str_eq(suffix, "minion") || str_eq(suffix, "both"))
        return 0;
    ssize_t n = readlink(e->given, target, sizeof(target) - 1);
    if (n < 0) /* EINVAL: a link on the way, and none at the end */
        return errno == EINVAL ? 0 : fop_oserror(err, errno, e->given);
    target[n] = '\0';
    AUTO_FREE char *from = xasprintf("%s%s", target, suffix), *link = xasprintf("%s%s", e->given, suffix);
    (void) unlink(link);
    if (symlink(from, link) != 0)
        return fop_failed(err, "Unable create backup symlink '%s'. Target was '%s'. Exception: %s", link,
                          from, strerror(errno));
    return 0;
}

/* The flags of the call and its pattern. `bytes`: as Salt matches files, through mmap. */
static int
edit_prepare(edit_t *e, const char *pattern, bool bytes, fail_t *err)
{
    int rc = fop_re_flags(value_get(e->args, "flags"), &e->flags, err);

    if (rc != 0)
        return rc;
    if (value_bool(e->args, "multiline", false))
        e->flags |= RX_MULTILINE;
    e->rx = rx_new(pattern, e->flags | (bytes ? RX_BYTES : 0), err);
    return e->rx == NULL ? -EINVAL : 0;
}

int
file_replace(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *given = fop_path(args, "path");
    edit_auto_t e = {
        .ctx = ctx, .args = args, .given = xstrdup(given), .path = fop_realpath(given), .file = PARTFILE_INIT
    };
    bool search_only = value_bool(args, "search_only", false);
    bool append = value_bool(args, "append_if_not_found", false);
    bool prepend = value_bool(args, "prepend_if_not_found", false);
    int rc = edit_open(&e, err);

    if (rc == 1) {
        *ret_value = json_false();
        return 0;
    }
    /* Salt looks at these after the file: a missing one is said first. */
    if (rc == 0 && search_only && (append || prepend))
        rc = fop_invalid(err, "search_only cannot be used with append/prepend_if_not_found");
    else if (rc == 0 && append && prepend)
        rc = fop_invalid(err, "Only one of append and prepend_if_not_found is permitted");
    if (rc == 0)
        rc = edit_prepare(&e, value_str(args, "pattern", ""), true, err);
    if (rc == 0 && search_only) {
        rc = rx_search(e.rx, buf_str(&e.old), e.old.len, 0, err);
        if (rc >= 0)
            *ret_value = json_boolean(rc);
        return rc < 0 ? rc : 0;
    }
    if (rc == 0)
        rc = edit_apply(&e, err);
    if (rc != 0)
        return rc;
    AUTO_FREE char *diff = diff_texts(buf_str(&e.old), e.old.len, buf_str(&e.fresh), e.fresh.len, "", "");
    if (*diff != '\0' && !value_bool(args, "dry_run", false)) {
        /* Backup first, so that a failed write leaves a copy of the old content. */
        rc = fop_backup(e.ctx, &e.file, e.path, value_get(e.args, "backup"), FOP_OURS, err);

        if (rc == 0)
            rc = backup_link(&e, err);
        if (rc == 0)
            rc = fop_rewrite(&e.file, buf_str(&e.fresh), e.fresh.len,
                             value_bool(e.args, "preserve_inode", true), err);
    }
    if (rc == 0)
        *ret_value = value_bool(args, "show_changes", true) ? value_utf8(diff, strlen(diff))
                                                            : json_boolean(*diff != '\0');
    return rc;
}

int
file_search(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *given = fop_path(args, "path");
    edit_auto_t e = {
        .ctx = ctx, .args = args, .given = xstrdup(given), .path = fop_realpath(given), .file = PARTFILE_INIT
    };
    int rc = edit_open(&e, err);

    if (rc == 0)
        rc = edit_prepare(&e, value_str(args, "pattern", ""), true, err);
    else if (rc == 1)
        rc = 0;
    if (rc == 0 && e.rx != NULL)
        rc = rx_search(e.rx, buf_str(&e.old), e.old.len, 0, err);
    if (rc < 0)
        return rc;
    *ret_value = json_boolean(rc);
    return 0;
}

/* ---- psed ------------------------------------------------------------------------------------ */

/* Escapes the characters that Salt's psed escapes: closing brackets and the backslash are not among them. */
static void
escape_special(char **text)
{
    buf_t out = BUF_INIT;

    for (const char *p = *text; *p != '\0'; p++) {
        if (strchr("^.[$()|*+?{", *p) != NULL)
            buf_putc(&out, '\\');
        buf_putc(&out, *p);
    }
    free(*text);
    *text = buf_steal(&out);
}

/* Offset behind the first match of `limit`, where replacing starts. 0 with *ret_at, or a negative errno.
 * Without a match nothing is replaced. */
static int
limit_start(json_t *args, const buf_t *text, unsigned flags, size_t *ret_at, fail_t *err)
{
    json_t *limit = value_get(args, "limit");
    size_t start;

    *ret_at = 0;
    if (!value_truthy(limit))
        return 0;
    char *pattern = value_pystr(limit);
    if (value_bool(args, "escape_all", false))
        escape_special(&pattern);
    AUTO(rx) rx = rx_new(pattern, flags, err);
    free(pattern);
    int rc = rx == NULL ? -EINVAL : rx_search(rx, buf_str(text), text->len, 0, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !rx_group(rx, 0, &start, ret_at))
        *ret_at = text->len;
    return 0;
}

/* Replace in text[at..], whole or line by line. */
static int
psed_apply(rx_t *rx, json_t *args, const buf_t *old, size_t at, size_t count, buf_t *out, fail_t *err)
{
    AUTO_FREE char *after = value_pystr(value_get(args, "after"));
    size_t n = 0;
    int rc = 0;

    buf_add(out, buf_str(old), at);
    if (!value_bool(args, "multi", false))
        return rx_sub(rx, after, buf_str(old) + at, old->len - at, count, out, NULL, err);
    diff_line_t *lines = diff_lines(buf_str(old) + at, old->len - at, true, &n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = rx_sub(rx, after, lines[i].text, lines[i].len, count, out, NULL, err);
    free(lines);
    return rc;
}

int
file_psed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t old = BUF_INIT, fresh = BUF_INIT;
    unsigned flags;
    size_t count, at;
    int rc = partfile_find(&file, path, PARTFILE_SPECIAL, err);

    if (rc == 0)
        rc = file.file < 0 ? fop_oserror(err, ENOENT, path) : partfile_read(&file, &old, err);
    if (rc == 0) {
        /* Letters to flags; "g" means all. */
        const char *letters = value_str(args, "flags", "");
        flags = 0;
        count = 1;
        for (; *letters != '\0'; letters++) {
            const char name[2] = { *letters, '\0' };
            if (*letters == 'g')
                count = 0;
            else if (rx_flag(name) != 0)
                flags |= rx_flag(name);
            else {
                rc = fop_invalid(err, "Unknown flag '%s': use g, I, L, M, S, U or X", name);
                break;
            }
        }
    }
    if (rc == 0)
        rc = limit_start(args, &old, flags, &at, err);
    if (rc != 0)
        return rc;
    char *pattern = value_pystr(value_get(args, "before"));
    if (value_bool(args, "escape_all", false))
        escape_special(&pattern);
    AUTO(rx) rx = rx_new(pattern, flags, err);
    free(pattern);
    rc = rx == NULL ? -EINVAL : psed_apply(rx, args, &old, at, count, &fresh, err);
    if (rc == 0)
        rc = fop_backup(ctx, &file, path, value_get(args, "backup"), FOP_OURS, err);
    if (rc == 0)
        rc = fop_rewrite(&file, buf_str(&fresh), fresh.len, true, err);
    if (rc == 0)
        *ret_value = json_null();
    return rc;
}

/* ---- comment --------------------------------------------------------------------------------- */

/* The pattern that finds the lines to comment or to uncomment. NEW. */
static char *
line_pattern(const char *regex, const char *mark, bool comment)
{
    bool start = *regex == '^';
    size_t len = strlen(regex);
    bool end = len > 0 && regex[len - 1] == '$';

    while (*regex == '^') {
        regex++;
        len--;
    }
    while (len > 0 && regex[len - 1] == '$')
        len--;
    if (comment)
        return xasprintf("%s(%.*s)%s", start ? "^" : "", (int) len, regex, end ? "$" : "");
    return xasprintf("^%s\\s*(%.*s)%s", mark, (int) len, regex, end ? "$" : "");
}

/* The line with the mark in front, or without the mark's characters at its start. */
static void
replace_put_marked(buf_t *out, const diff_line_t *line, const char *mark, bool comment)
{
    const char *text = line->text;
    size_t len = line->len;

    if (comment)
        buf_puts(out, mark);
    while (!comment && len > 0 && *mark != '\0' && strchr(mark, *text) != NULL && *text != '\0') {
        text++;
        len--;
    }
    buf_add(out, text, len);
}

/* Fill `fresh` with the whole new text, `hits` and `marked` with the lines that change, before and after. */
static int
mark_lines(rx_t *rx, const buf_t *old, const char *mark, bool comment, buf_t *fresh, buf_t *hits,
           buf_t *marked, fail_t *err)
{
    size_t n = 0;
    diff_line_t *lines = diff_lines(buf_str(old), old->len, true, &n);
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < n; i++) {
        rc = rx_match(rx, lines[i].text, lines[i].len, 0, err);
        if (rc == 1) {
            buf_add(hits, lines[i].text, lines[i].len);
            replace_put_marked(marked, &lines[i], mark, comment);
            replace_put_marked(fresh, &lines[i], mark, comment);
        } else if (rc == 0) {
            buf_add(fresh, lines[i].text, lines[i].len);
        }
    }
    free(lines);
    return rc < 0 ? rc : 0;
}

/* Only whole lines change; the difference that is returned has these alone, as in Salt. */
static int
comment_line(call_ctx_t *ctx, json_t *args, bool comment, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *given = fop_path(args, "path");
    AUTO_FREE char *path = fop_realpath(given);
    AUTO_FREE char *mark = value_pystr(value_get(args, "char"));
    AUTO_FREE char *pattern = line_pattern(value_str(args, "regex", ""), mark, comment);
    buf_auto_t old = BUF_INIT, fresh = BUF_INIT, hits = BUF_INIT, marked = BUF_INIT;
    partfile_auto_t file = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;

    int rc = partfile_edit(&file, given, &why);
    if (rc < 0 && rc != -EISDIR)
        return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
    if (rc <= 0 || file.special)
        return fop_invalid(err, "File not found: %s", path);
    rc = partfile_read(&file, &old, err);
    if (rc != 0)
        return rc;
    if (!fop_is_text(buf_str(&old), old.len))
        return fop_invalid(err, "Cannot perform string replacements on a binary file: %s", path);
    AUTO(rx) rx = rx_new(pattern, 0, err);
    rc = rx == NULL ? -EINVAL : mark_lines(rx, &old, mark, comment, &fresh, &hits, &marked, err);
    if (rc != 0)
        return rc;
    if (hits.len == 0) {
        *ret_value = json_false();
        return 0;
    }
    rc = fop_backup(ctx, &file, path, value_get(args, "backup"), FOP_SAME, err);
    if (rc == 0)
        rc = fop_rewrite(&file, buf_str(&fresh), fresh.len, true, err);
    if (rc != 0)
        return rc;
    AUTO_FREE char *diff = diff_texts(buf_str(&hits), hits.len, buf_str(&marked), marked.len, "", "");
    *ret_value = value_utf8(diff, strlen(diff));
    return 0;
}

int
file_comment_matching(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return comment_line(ctx, args, ctx_row(ctx)->data.number, ret_value, err);
}

int
file_comment_line(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return comment_line(ctx, args, value_bool(args, "cmnt", true), ret_value, err);
}
