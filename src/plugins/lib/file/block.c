/* block.c - file.blockreplace: replaces the lines between two marker lines, or adds the block where the
 * arguments say. Line ends follow the file's first line. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"

typedef struct block {
    json_t *args; /* BORROWED */
    const char *start, *end, *content;
    const char *eol;
    bool newline; /* the content's last line gets an end before the marker */
    partfile_t file;
    lines_t old, fresh;
    bool found;
} block_t;

static void
block_free(block_t *b)
{
    partfile_close(&b->file);
    lines_free(&b->old);
    lines_free(&b->fresh);
}
#define block_auto_t __attribute__((cleanup(block_free))) block_t

/* At most one of the ways to add a missing block may be given. */
static int
block_check_exclusive(json_t *args, fail_t *err)
{
    static const char *const names[] = { "append_if_not_found", "prepend_if_not_found", "insert_before_match",
                                         "insert_after_match" };
    size_t n = 0;

    for (size_t i = 0; i < NELEMS(names); i++)
        n += value_truthy(value_get(args, names[i]));
    if (n > 1)
        return fop_invalid(err,
                           "Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and "
                           "insert_after_match is permitted");
    for (size_t i = 2; i < NELEMS(names); i++) {
        json_t *v = value_get(args, names[i]);
        if (value_truthy(v) && !json_is_string(v))
            return fop_failed(err, "RegEx expected in %s parameter.", names[i]);
    }
    return 0;
}

/* Insert the content and the end marker's line at `at`; returns the place behind them. */
static size_t
put_content(const block_t *b, lines_t *out, size_t at, const char *end_line)
{
    /* The marker's line gets the file's line end. */
    size_t marker = strlen(end_line);
    while (marker > 0 && strchr("\r\n", end_line[marker - 1]) != NULL)
        marker--;
    AUTO_FREE char *end = xasprintf("%.*s%s", (int) marker, end_line, b->eol);

    for (const char *p = b->content;;) {
        size_t len = strcspn(p, "\n");
        bool last = p[len] == '\0';
        size_t cut = !last && len > 0 && p[len - 1] == '\r' ? len - 1 : len;
        if (last && !b->newline) {
            AUTO_FREE char *line = xasprintf("%.*s%s", (int) cut, p, end);
            lines_insert(out, at, line);
            return at + 1;
        }
        AUTO_FREE char *line = xasprintf("%.*s%s", (int) cut, p, b->eol);
        lines_insert(out, at++, line);
        if (last)
            break;
        p += len + 1;
    }
    lines_insert(out, at, end);
    return at + 1;
}

/* Both markers with the content between them, at `at`. */
static void
put_block(block_t *b, size_t at)
{
    AUTO_FREE char *start = xasprintf("%s%s", b->start, b->eol);

    lines_insert(&b->fresh, at, start);
    (void) put_content(b, &b->fresh, at + 1, b->end);
    b->found = true;
}

/* Copy the lines, with the content put between markers that are there. */
static int
copy_lines(block_t *b, fail_t *err)
{
    bool inside = false;

    for (size_t i = 0; i < b->old.n; i++) {
        const char *line = b->old.v[i];
        if (strstr(line, b->start) != NULL) {
            inside = true;
            lines_append(&b->fresh, line);
            continue;
        }
        const char *end = inside ? strstr(line, b->end) : NULL;
        if (!inside) {
            lines_append(&b->fresh, line);
        } else if (end != NULL) {
            inside = false;
            b->found = true;
            (void) put_content(b, &b->fresh, b->fresh.n, end);
        }
    }
    if (inside)
        return fop_failed(err, "Unterminated marked block. End of file reached before marker_end.");
    return 0;
}

/* Index of the first line that the expression finds; n when none does. Negative errno for a bad one. */
static int
block_first_match(const lines_t *lines, const char *regex, size_t *ret_at, fail_t *err)
{
    AUTO(rx) rx = rx_new(regex, 0, err);
    int rc = rx == NULL ? -EINVAL : 0;

    for (*ret_at = 0; rc == 0 && *ret_at < lines->n; ++*ret_at) {
        rc = rx_search(rx, lines->v[*ret_at], strlen(lines->v[*ret_at]), 0, err);
        if (rc == 1)
            return 0;
    }
    return rc;
}

/* The markers are not there: put the whole block where the options say. */
static int
place_block(block_t *b, fail_t *err)
{
    const char *before = value_str(b->args, "insert_before_match", "");
    const char *after = value_str(b->args, "insert_after_match", "");
    size_t at;

    if (value_bool(b->args, "prepend_if_not_found", false)) {
        put_block(b, 0);
    } else if (value_bool(b->args, "append_if_not_found", false)) {
        lines_t *l = &b->fresh;

        if (l->n > 0 && !str_ends(l->v[l->n - 1], b->eol)) {
            AUTO_FREE char *line = xasprintf("%s%s", l->v[l->n - 1], b->eol);
            lines_replace(l, l->n - 1, line);
        }
        put_block(b, l->n);
    } else if (*before != '\0' || *after != '\0') {
        int rc = block_first_match(&b->old, *before != '\0' ? before : after, &at, err);
        if (rc != 0)
            return rc;
        if (at < b->old.n)
            put_block(b, *before != '\0' ? at : at + 1);
    }
    if (!b->found)
        return fop_failed(err, "Cannot edit marked block. Markers were not found in file.");
    return 0;
}

/* The file must be there, and be text. Its line end is that of its first line. */
static int
block_load(block_t *b, const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    int rc = partfile_edit(&b->file, path, err);
    if (rc == 0)
        return fop_invalid(err, "File not found: %s", path);
    rc = rc < 0 ? rc : partfile_read(&b->file, &text, err);
    if (rc != 0)
        return rc;
    if (memchr(buf_str(&text), '\0', text.len) != NULL)
        return fop_invalid(err, "Cannot perform string replacements on a binary file: %s", path);
    lines_split(&b->old, buf_str(&text), text.len);
    b->eol = b->old.n > 0 && str_ends(b->old.v[0], "\r\n") ? "\r\n" : "\n";
    return 0;
}

int
file_blockreplace(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    json_t *newline = value_get(args, "append_newline");
    block_auto_t b = { .args = args,
                       .file = PARTFILE_INIT,
                       .start = value_str(args, "marker_start", ""),
                       .end = value_str(args, "marker_end", ""),
                       .content = value_str(args, "content", "") };

    int rc = block_check_exclusive(args, err);
    if (rc == 0)
        rc = block_load(&b, path, err);
    if (rc != 0)
        return rc;
    b.newline = json_is_null(newline) ? !str_ends(b.content, "\n") : value_truthy(newline);
    rc = copy_lines(&b, err);
    if (rc == 0 && !b.found)
        rc = place_block(&b, err);
    if (rc != 0)
        return rc;
    AUTO_FREE char *diff = lines_diff(&b.old, &b.fresh);
    if (*diff != '\0' && !value_bool(args, "dry_run", false)) {
        buf_auto_t text = BUF_INIT;
        lines_join(&b.fresh, &text);
        rc = fop_backup(ctx, &b.file, path, value_get(args, "backup"), FOP_SAME, err);
        if (rc == 0)
            rc = fop_rewrite(&b.file, buf_str(&text), text.len, false, err);
    }
    if (rc == 0)
        *ret_value = value_bool(args, "show_changes", true) ? value_utf8(diff, strlen(diff))
                                                            : json_boolean(*diff != '\0');
    return rc;
}
