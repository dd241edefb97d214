/* renderer_yaml.c - the renderers `yaml` and `json`: text to data.
 *
 * Before parsing, peers' parts are checked to be inside scalars; after parsing, that they are not words of
 * special meaning. Errors follow Salt's SaltRenderError for each class of PyYAML's exceptions. */
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_yaml.h"
#include "common/render/render_int.h"
#include "salt/log.h"

/* TAKES the data. What is false in Python (None, an empty list) becomes an empty dict, as in Salt's
 * renderers. */
int
run_give_data(rendering_t *run, py_t *data)
{
    if (py_truth(data) == 0) {
        py_unref(data);
        data = py_dict();
    }
    py_unref(run->data);
    run->data = data;
    run->is_data = true;
    return 0;
}

static int
needs_text(const rendering_t *run, const char *name, fail_t *err)
{
    if (!run->is_data)
        return 0;
    return fail_set(err, -EINVAL, "the renderer '%s' needs a text, and the one before it made data", name);
}

/* ---- yaml --------------------------------------------------------------------------------------------- */

/* A place as PyYAML's exceptions show one; a negative line is none. */
static void
put_mark(buf_t *b, ymark_t at)
{
    if (at.line >= 0)
        buf_printf(b, "\n  in \"<unicode string>\", line %d, column %d", at.line + 1, at.column + 1);
}

/* Characters before `at`: PyYAML's reader errors give a position instead of line and column. */
static size_t
renderer_yaml_position(const buf_t *text, ymark_t at)
{
    const char *p = buf_str(text), *end = p + text->len;
    size_t n = 0;

    for (int line = 0, column = 0; p < end && (line < at.line || (line == at.line && column < at.column));
         p++) {
        if (((unsigned char) *p & 0xc0) == 0x80)
            continue;
        n++;
        column++;
        if (*p == '\n')
            line++, column = 0;
    }
    return n;
}

static int
yaml_failed(const rendering_t *run, const yproblem_t *p, fail_t *err)
{
    int line = p->at.line + 1;

    if (p->cls == YAML_SCANNER) {
        /* Salt shows a scanner error with the lines around it and renames the one about tabs. */
        static const char tab[] = "found character '\\t' that cannot start any token";
        int begun = p->context != NULL ? p->context_at.line + 1 : 0;
        fail_auto_t why = FAIL_INIT;
        run_failed_at(run, strcmp(p->text, tab) == 0 ? "Illegal tab character" : p->text, p->at.line + 1,
                      begun, &why);
        /* The line of the error begins with a tab. */
        const char *at = buf_str(&run->text), *end = at + run->text.len;
        for (int i = 0; i < p->at.line && (at = memchr(at, '\n', (size_t) (end - at))) != NULL; i++)
            at++;
        bool tabbed = at != NULL && at[strspn(at, " ")] == '\t';
        return fail_set(err, -EINVAL, "%s%s", fail_text(&why),
                        tabbed ? "\nIt is indented with a tab; YAML wants spaces." : "");
    }
    /* A mapping as a key is mostly a template without a renderer: "{{ x }}". */
    if (str_starts(p->text, "found unacceptable key [("))
        return run_failed_at(run, "Invalid YAML, possible double curly-brace", line, 0, err);

    /* str() of PyYAML's exception. */
    bool same = p->context_at.line == p->at.line && p->context_at.column == p->at.column;
    buf_auto_t b = BUF_INIT;

    if (p->context != NULL) {
        buf_puts(&b, p->context);
        if (!same)
            put_mark(&b, p->context_at);
        buf_putc(&b, '\n');
    }
    buf_puts(&b, p->text != NULL ? p->text : "");
    if (p->cls == YAML_READER)
        buf_printf(&b, "\n  in \"<unicode string>\", position %zu",
                   renderer_yaml_position(&run->text, p->at));
    else
        put_mark(&b, p->at);
    AUTO_FREE char *message = buf_steal(&b);

    int begun = p->cls == YAML_PARSER && p->context != NULL ? p->context_at.line + 1 : 0;
    return line > 0 ? run_failed_near(run, message, line, begun, err) : fail_set(err, -EINVAL, "%s", message);
}

int
render_yaml(rendering_t *run, const char *argline, fail_t *err)
{
    yproblem_t problem = YPROBLEM_INIT;

    if (needs_text(run, "yaml", err) < 0 || run_check_yaml(run, err) < 0)
        return -EINVAL;
    run_look_for_shells(run);
    AUTO(py) data = py_yaml_load_said(buf_str(&run->text), run->text.len, &run->peer, &problem);
    int rc = data == NULL ? yaml_failed(run, &problem, err) : run_check_words(run, data, err);
    yproblem_free(&problem);
    return rc == 0 ? run_give_data(run, STEAL(data)) : rc;
}

/* ---- json --------------------------------------------------------------------------------------------- */

/* Salt's json renderer drops a leading "#!" line. Empty text gives an empty dict. */
int
render_json(rendering_t *run, const char *argline, fail_t *err)
{
    const char *text = buf_str(&run->text), *nl = strchr(text, '\n');
    size_t skipped = 0;

    if (needs_text(run, "json", err) < 0)
        return -EINVAL;
    if (run->text.len >= 2 && memcmp(text, "#!", 2) == 0)
        skipped = nl != NULL ? (size_t) (nl + 1 - text) : run->text.len;
    if (run_check_json(run, skipped, err) < 0)
        return -EINVAL;
    if (strspn(text + skipped, " \t\r\n\v\f") == run->text.len - skipped)
        return run_give_data(run, py_dict());
    AUTO(py) data = py_json_loads(text + skipped, run->text.len - skipped);
    if (data != NULL) {
        if (run_check_words(run, data, err) < 0)
            return -EINVAL;
        /* The JSON parser has no positions, so with any peer's part all of the data is marked. */
        unsigned flags = SPAN_OWN;
        for (size_t i = 0; i < run->peer.n; i++)
            flags &= run->peer.v[i].flags;
        py_unref(run->data);
        run->data = run->peer.n > 0 ? py_peer(STEAL(data), flags) : STEAL(data);
        run->is_data = true;
        return 0;
    }
    AUTO_FREE char *message = xstrdup(py_raised_text());
    py_clear();

    /* The line in Python's message "... line 3 column 7 (char 40)". */
    const char *at = strstr(message, ": line ");
    int line = at != NULL ? (int) strtol(at + strlen(": line "), NULL, 10) : 0;

    return line > 0 ? run_failed_near(run, message, line + (skipped > 0), 0, err)
                    : fail_set(err, -EINVAL, "%s", message);
}
