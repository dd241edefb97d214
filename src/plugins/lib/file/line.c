/* line.c - file.line: ensures, inserts, replaces or deletes one line. The file is a list of lines with their
 * ends; its last element is empty when the file ends in a line end. Modes and their error texts follow Salt's
 * implementation, including its oddities: expressions are searched in each line, and also compared as plain
 * text. */
#include <strings.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"

/* Matches of an expression: the first line and the count. */
typedef struct hits {
    bool asked; /* an expression was given and there are lines to look at */
    size_t first, n;
} hits_t;

typedef struct job {
    lines_t *lines;
    const char *content, *location;
    bool indent;
    hits_t match, before, after;
} job_t;

static const char *
line_end(const char *line)
{
    return str_ends(line, "\r\n") ? "\r\n" : str_ends(line, "\n") ? "\n" : str_ends(line, "\r") ? "\r" : "";
}

static bool
line_same_line(const char *a, const char *b)
{
    size_t len_a = strlen(a), len_b = strlen(b);

    while (len_a > 0 && strchr("\r\n", a[len_a - 1]) != NULL)
        len_a--;
    while (len_b > 0 && strchr("\r\n", b[len_b - 1]) != NULL)
        len_b--;
    return len_a == len_b && memcmp(a, b, len_a) == 0;
}

/* The content behind the white space of `model`. NEW. */
static char *
indented(const job_t *job, const char *model)
{
    if (!job->indent)
        return xstrdup(job->content);
    return xasprintf("%.*s%s", (int) strspn(model, " \t"), model,
                     job->content + strspn(job->content, " \t\n\v\f\r"));
}

static void
insert_like(job_t *job, size_t at, const char *model)
{
    AUTO_FREE char *text = indented(job, model);

    lines_insert(job->lines, at, text);
}

/* A line counts when the expression is found in it, or when it holds the expression as plain text. */
static int
find_hits(const lines_t *lines, const char *regex, hits_t *out, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = 0;

    *out = (hits_t){ false, 0, 0 };
    if (str_empty(regex) || lines->n == 0)
        return 0;
    out->asked = true;
    AUTO(rx) rx = rx_new(regex, RX_DOTALL, &why);
    if (rx == NULL)
        return fop_failed(err, "%s: '%s'", fail_text(&why), regex);
    for (size_t i = 0; rc >= 0 && i < lines->n; i++) {
        rc = rx_search(rx, lines->v[i], strlen(lines->v[i]), 0, err);
        if (rc == 1 || (rc == 0 && strstr(lines->v[i], regex) != NULL)) {
            if (out->n++ == 0)
                out->first = i;
        }
    }
    /* A line is found again by its text: the first of equal ones counts. */
    for (size_t i = 0; i < out->first; i++) {
        if (strcmp(lines->v[i], lines->v[out->first]) == 0)
            out->first = i;
    }
    return rc < 0 ? rc : 0;
}

/* Insertion points must be unique; Salt words both failures in one sentence. */
static int
need_one(const hits_t *hits, const char *what, fail_t *err)
{
    if (hits->n == 1)
        return 0;
    return fop_failed(err, "Found %s expected occurrences in \"%s\" expression",
                      hits->n > 1 ? "more than" : "less than", what);
}

/* Deletes all lines that equal the first match, as Salt's list operations do. */
static int
delete_lines(job_t *job, fail_t *err)
{
    if (job->match.n == 0)
        return 0;
    AUTO_FREE char *text = xstrdup(job->lines->v[job->match.first]);
    for (size_t i = job->lines->n; i-- > 0;) {
        if (strcmp(job->lines->v[i], text) == 0)
            lines_remove(job->lines, i);
    }
    return 0;
}

static int
replace_line(job_t *job, fail_t *err)
{
    if (job->match.n == 0)
        return 0;
    AUTO_FREE char *text = indented(job, job->lines->v[job->match.first]);
    lines_replace(job->lines, job->match.first, text);
    return 0;
}

/* Leaves the file alone when the following line is the content already. */
static int
insert_after(job_t *job, fail_t *err)
{
    lines_t *l = job->lines;
    size_t at = job->after.first;

    if (need_one(&job->after, "after", err) != 0)
        return -EIO;
    if (at + 1 >= l->n || !line_same_line(l->v[at + 1], job->content))
        insert_like(job, at + 1, l->v[at]);
    return 0;
}

/* By location, or beside the one line that before or after finds; with both the line goes before `before`. */
static int
insert_line(job_t *job, fail_t *err)
{
    lines_t *l = job->lines;
    size_t at = job->before.first;

    if (!job->before.asked && !job->after.asked && job->location == NULL)
        return fop_failed(err, "On insert either \"location\" or \"before/after\" conditions are required.");
    if (!str_empty(job->location)) {
        if (str_eq(job->location, "end")) {
            /* Before the empty element that stands for the last line's end. */
            size_t last = l->n > 0 && l->v[l->n - 1][0] == '\0' ? l->n - 1 : l->n;
            insert_like(job, last, l->n > 0 ? l->v[l->n - 1] : "");
        } else if (str_eq(job->location, "start")) {
            /* At the start: before the first line. */
            size_t len = strlen(job->content);
            const char *end = job->lines->n > 0 ? line_end(job->lines->v[0]) : "";
            while (len > 0 && job->lines->n > 0 && strchr(" \t\n\v\f\r", job->content[len - 1]) != NULL)
                len--;
            AUTO_FREE char *text = xasprintf("%.*s%s", (int) len, job->content, *end != '\0' ? end : "\n");
            lines_insert(job->lines, 0, text);
        }
        return 0;
    }
    if (job->before.n > 0 && job->after.n > 0) {
        if (need_one(&job->before, "before", err) != 0 || need_one(&job->after, "after", err) != 0)
            return -EIO;
        insert_like(job, at, l->v[at]);
        return 0;
    }
    if (job->after.n > 0)
        return insert_after(job, err);
    if (job->before.n == 0)
        return fop_failed(err, "Neither before or after was found in file");
    if (need_one(&job->before, "before", err) != 0)
        return -EIO;
    if (at == 0 || !line_same_line(l->v[at - 1], job->content))
        insert_like(job, at, l->v[at]);
    return 0;
}

/* Exactly one line, or none, may lie between both boundaries. */
static int
ensure_between(job_t *job, fail_t *err)
{
    lines_t *l = job->lines;
    size_t after = job->after.first, before = job->before.first;

    if (need_one(&job->after, "after", err) != 0 || need_one(&job->before, "before", err) != 0)
        return -EIO;

    for (size_t i = 0; i < job->lines->n; i++) {
        const char *line = job->lines->v[i];
        if (strcmp(line + strspn(line, " \t\n\v\f\r"), job->content) == 0)
            return 0;
    }

    if (after + 1 == before) {
        insert_like(job, after + 1, l->v[after]);
    } else if (after + 2 == before) {
        AUTO_FREE char *text = indented(job, l->v[after]);
        lines_replace(l, after + 1, text);
    } else {
        return fop_failed(err, "Found more than one line between boundaries \"before\" and \"after\".");
    }
    return 0;
}

/* As insert_line(), but a line that is there already is enough. */
static int
ensure_line(job_t *job, fail_t *err)
{
    lines_t *l = job->lines;
    size_t before = job->before.first;

    if (job->before.n > 0 && job->after.n > 0)
        return ensure_between(job, err);
    if (job->before.n > 0) {
        if (need_one(&job->before, "before", err) != 0)
            return -EIO;
        if (before == 0 || !line_same_line(l->v[before - 1], job->content))
            insert_like(job, before, before > 0 ? l->v[before - 1] : "");
        return 0;
    }
    if (job->after.n > 0)
        return insert_after(job, err);
    return fop_failed(err,
                      "Wrong conditions? Unable to ensure line without knowing where to put it before and/or "
                      "after.");
}

static const struct mode {
    const char *name;
    int (*run)(job_t *job, fail_t *err);
} modes[] = {
    { "insert", insert_line },
    { "ensure", ensure_line },
    { "delete", delete_lines },
    { "replace", replace_line },
};

static const struct mode *
find_mode(json_t *args, fail_t *err)
{
    const char *name = value_str(args, "mode", NULL);

    for (size_t i = 0; name != NULL && i < NELEMS(modes); i++) {
        if (strcasecmp(name, modes[i].name) == 0)
            return &modes[i];
    }
    if (name == NULL)
        fop_failed(err, "Mode was not defined. How to process the file?");
    else
        fop_failed(err, "Unknown mode: \"%s\"", name);
    return NULL;
}

static int
process(json_t *args, const struct mode *mode, lines_t *lines, fail_t *err)
{
    const char *content = value_str(args, "content", NULL), *match = value_str(args, "match", NULL);
    const char *before = value_str(args, "before", NULL), *after = value_str(args, "after", NULL);
    /* An SLS may have it as a list; modes other than insert do not look at it. */
    const json_t *given = value_get(args, "location");
    const json_t *location = json_array_size(given) == 1 ? json_array_get(given, 0) : given;
    job_t job = { .lines = lines,
                  .content = content != NULL ? content : "",
                  .location = json_string_value(location),
                  .indent = value_bool(args, "indent", true) };

    if (before == NULL && after == NULL && str_empty(match))
        match = content;
    int rc = find_hits(lines, after, &job.after, err);
    if (rc == 0)
        rc = find_hits(lines, before, &job.before, err);
    if (rc == 0)
        rc = find_hits(lines, match, &job.match, err);
    if (rc == 0)
        rc = mode->run(&job, err);
    if (rc == 0) {
        /* Every line but the last gets an end like its neighbour's; the stand-in for the end goes. */
        for (size_t i = 0; i + 1 < lines->n; i++) {
            if (*line_end(lines->v[i]) != '\0')
                continue;
            size_t len = strlen(lines->v[i]);
            while (len > 0 && strchr(" \t\n\v\f\r", lines->v[i][len - 1]) != NULL)
                len--;
            const char *end = line_end(lines->v[i > 0 ? i - 1 : 1]);
            AUTO_FREE char *text = xasprintf("%.*s%s", (int) len, lines->v[i], *end != '\0' ? end : "\n");
            lines_replace(lines, i, text);
        }
        if (lines->n > 0 && lines->v[lines->n - 1][0] == '\0')
            lines_remove(lines, lines->n - 1);
    }
    return rc;
}

/* backup=True copies the file to PATH.2026-11-20-10-00-00. */
static int
dated_backup(const partfile_t *file, const char *path, fail_t *err)
{
    time_t now = time(NULL);
    struct tm tm;
    char stamp[64];

    localtime_r(&now, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d-%H-%M-%S", &tm);
    AUTO_FREE char *suffix = xasprintf(".%s", stamp);
    fail_auto_t why = FAIL_INIT;
    if (fop_backup_beside(file, path, suffix, FOP_OURS, &why) == 0)
        return 0;
    return fop_failed(err, "Unable to create the backup file of %s. Exception: %s", path, fail_text(&why));
}

static int
line_save(call_ctx_t *ctx, json_t *args, const partfile_t *file, const char *path, const buf_t *text,
          fail_t *err)
{
    json_t *backup = value_get(args, "backup");
    bool dated = !json_is_string(backup) || !str_eq(json_string_value(backup), "minion");
    int rc = 0;

    if (fop_test_mode(ctx))
        return 0;
    if (value_truthy(backup))
        rc = dated ? dated_backup(file, path, err) : fop_backup(ctx, file, path, backup, FOP_OURS, err);
    return rc != 0 ? rc : fop_rewrite(file, buf_str(text), text->len, false, err);
}

int
file_line(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *given = fop_path(args, "path");
    AUTO_FREE char *path = fop_realpath(given);
    buf_auto_t old = BUF_INIT, fresh = BUF_INIT;
    lines_auto_t lines = { NULL, 0 };
    partfile_auto_t file = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;

    int rc = partfile_edit(&file, given, &why);
    if (rc < 0 && rc != -EISDIR)
        return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
    if (rc <= 0 || file.special) {
        if (!value_bool(args, "quiet", false))
            return fop_failed(err, "File \"%s\" does not exists or is not a file.", path);
        *ret_value = json_false();
        return 0;
    }
    const struct mode *mode = find_mode(args, err);
    if (mode == NULL)
        return -EINVAL;
    if (mode->run != delete_lines && value_str(args, "content", NULL) == NULL)
        return fop_failed(err, "Content can only be empty if mode is \"delete\"");
    rc = partfile_read(&file, &old, err);
    if (rc != 0)
        return rc;
    if (memchr(buf_str(&old), '\0', old.len) != NULL)
        return fop_failed(err, "Cannot edit lines of a binary file: %s", path);
    lines_split(&lines, buf_str(&old), old.len);
    if (lines.n > 0 && *line_end(lines.v[lines.n - 1]) != '\0')
        lines_append(&lines, "");
    rc = process(args, mode, &lines, err);
    if (rc != 0)
        return rc;
    lines_join(&lines, &fresh);
    bool changed = fresh.len != old.len || memcmp(buf_str(&fresh), buf_str(&old), old.len) != 0;
    if (changed)
        rc = line_save(ctx, args, &file, path, &fresh, err);
    if (rc != 0)
        return rc;
    /* Salt's `show_changes and changes_diff or changed`. */
    if (!changed || !value_bool(args, "show_changes", true)) {
        *ret_value = json_boolean(changed);
        return 0;
    }
    lines_auto_t before = { NULL, 0 };
    lines_split(&before, buf_str(&old), old.len);
    AUTO_FREE char *diff = lines_diff(&before, &lines);
    *ret_value = *diff != '\0' ? value_utf8(diff, strlen(diff)) : json_true();
    return 0;
}
