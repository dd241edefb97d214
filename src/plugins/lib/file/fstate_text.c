/* fstate_text.c - what states that edit texts share: texts rendered from sources, searches by file.search,
 * and the difference that becomes the state's change. */
#include "common/base/str.h"
#include "common/data/diff.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"

/* ---- sources --------------------------------------------------------------------------------- */

/* The state fails under the name of a source that is not there, as in Salt. */
static bool
no_template(fstate_t *s, const char *source, char *comment)
{
    json_object_set_new(s->ret, "name", value_utf8(source, strlen(source)));
    fstate_error(s, "%s", comment);
    free(comment);
    return false;
}

/* False when the state has failed. */
static bool
add_rendered(fstate_t *s, const char *source, json_t *texts)
{
    fail_auto_t why = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    json_auto_t *args = json_copy(s->args);
    AUTO_FREE char *path = source_cache(s->ctx, source, ctx_saltenv(s->ctx), NULL, s->args, &why);

    json_object_set_new(args, "source", value_utf8(source, strlen(source)));
    json_object_set_new(args, "saltenv", json_string(ctx_saltenv(s->ctx)));
    json_object_del(args, "name");
    if (path != NULL && template_known(value_str(args, "template", "jinja")) &&
        template_render(s->ctx, args, path, NULL, 0, &text, &why) != 0) {
        fstate_error(s, "%s", fail_text(&why));
        return false;
    }
    if (path == NULL && why.code != 0)
        return no_template(s, source,
                           xasprintf("Failed to load template file %s: %s", source, fail_text(&why)));
    if (path == NULL || !template_known(value_str(args, "template", "jinja")))
        return no_template(s, source, xasprintf("Failed to load template file %s", source));
    if (text.len == 0)
        return no_template(s, source,
                           xasprintf("Failed to read rendered template file %s (%s)", path, source));
    json_array_append_new(texts, value_utf8(text.data, text.len));
    return true;
}

/* `source`, or the first that exists of a list of them. NEW list; NULL when the state has failed. */
static json_t *
picked_source(fstate_t *s, json_t *source)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *hash = NULL;
    AUTO_FREE char *url = NULL;

    if (source_pick(s->ctx, source, fstate_arg(s, "source_hash"), ctx_saltenv(s->ctx), &url, &hash, &why) !=
        0) {
        fstate_error(s, "Unable to manage file: %s", fail_text(&why));
        return NULL;
    }
    return json_pack("[o]", value_utf8(url, strlen(url)));
}

/* Texts of `source` or `sources`; empty without either. NEW list; NULL when the state has failed. */
json_t *
fstate_template_texts(fstate_t *s)
{
    json_t *source = fstate_arg(s, "source"), *sources = fstate_arg(s, "sources"), *one;
    json_auto_t *texts = json_array(), *list = NULL;
    size_t i;

    if (value_truthy(source) && value_truthy(sources))
        fstate_error(s, "source and sources are mutually exclusive");
    else if (fstate_on(s, "source_hash", false) && fstate_on(s, "source_hashes", false))
        fstate_error(s, "source_hash and source_hashes are mutually exclusive");
    else if (value_truthy(source))
        list = picked_source(s, source);
    else if (value_truthy(sources))
        list = fstate_texts(sources);
    else
        return json_incref(texts);
    if (list == NULL)
        return NULL;
    json_array_foreach (list, i, one) {
        if (!add_rendered(s, json_string_value(one), texts))
            return NULL;
    }
    return json_incref(texts);
}

/* ---- searches and differences ------------------------------------------------------------------ */

/* 1, 0, or -1 with *err. Flag 8 is Python's re.MULTILINE. */
int
fstate_search(fstate_t *s, const char *pattern, fail_t *err)
{
    json_auto_t *found = fstate_call(s, file_search,
                                     json_pack("{s:s, s:s, s:i, s:b, s:b}", "path", s->name, "pattern",
                                               pattern, "flags", 8, "ignore_if_missing", 0, "multiline", 1),
                                     err);

    return found == NULL ? -1 : value_truthy(found);
}

int
fstate_read(fstate_t *s, buf_t *out, fail_t *err)
{
    buf_clear(out);
    return fop_read(s->name, out, err);
}

/* Python's '\n'.join(unified_diff(...)) of lines without their ends. */
static char *
joined_diff(const buf_t *before, const buf_t *after)
{
    buf_auto_t old = BUF_INIT, new = BUF_INIT;
    buf_t out = BUF_INIT;

    fstate_end_lines(buf_str(before), before->len, &old);
    fstate_end_lines(buf_str(after), after->len, &new);
    AUTO_FREE char *diff = diff_texts(buf_str(&old), old.len, buf_str(&new), new.len, "", "");
    size_t len = strlen(diff);
    if (len == 0 || diff[len - 1] != '\n') /* none, or too large to compare */
        return STEAL(diff);
    for (const char *line = diff; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        if (out.len > 0)
            buf_putc(&out, '\n');
        buf_add(&out, line, n);
        if (*line == '@' || line == diff || (line == diff + 5 && *line == '+')) /* "--- \n", then "+++ \n" */
            buf_putc(&out, '\n');
        line += n + 1;
    }
    return buf_steal(&out);
}

/* Notes the difference, unless there is none. `joined`: in the form of file.append. */
void
fstate_diff(fstate_t *s, const buf_t *before, const buf_t *after, bool joined)
{
    if (before->len == after->len && memcmp(buf_str(before), buf_str(after), after->len) == 0)
        return;
    if (!fop_is_text(buf_str(after), after->len)) {
        fstate_note(s, "diff", "Replace binary file");
        return;
    }
    AUTO_FREE char *diff = joined
                               ? joined_diff(before, after)
                               : diff_texts(buf_str(before), before->len, buf_str(after), after->len, "", "");
    if (*diff != '\0')
        fstate_note(s, "diff", diff);
}
