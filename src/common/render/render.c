/* render.c - runs a source through its pipeline of renderers.
 *
 * A run holds either text or data between the steps. All steps of a pipeline share one set of limits (memory,
 * depth, steps, time). While the text is untouched, its lines are the file's; after a template, jinja_marks_t
 * maps them back, so that errors name the file and line to open. */
#include "common/render/render_int.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/py/py_peer.h"
#include "common/py/py_json.h"
#include "common/python/python.h"
#include "salt/limits.h"
#include "salt/log.h"

render_t *
render_new(call_ctx_t *ctx, fileclient_t *files)
{
    render_t *self = xcalloc(1, sizeof(*self));

    self->ctx = ctx;
    self->files = files;
    self->urls = map_new(free);
    return self;
}

void
render_destroy(render_t **self_p)
{
    render_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < NELEMS(self->engines); i++)
        jinja_destroy(&self->engines[i]);
    py_unref(self->salt);
    py_unref(self->opts);
    map_destroy(&self->urls);
    map_destroy(&self->allowed);
    free(self->missing);
    python_destroy(&self->python);
    free(self);
}

static void
free_render(void *value)
{
    render_t *self = value;

    render_destroy(&self);
}

/* The context's own renderer, made at the first call and kept in the context. */
render_t *
render_of(call_ctx_t *ctx)
{
    static const char key;
    render_t *self = call_attached(ctx, &key);

    if (self == NULL) {
        self = render_new(ctx, ctx_files(ctx));
        call_attach(ctx, &key, self, free_render);
    }
    return self;
}

/* A number of its own lets the files of pydsl tell one compilation from the next. NEW dict. */
py_t *
render_kept(render_t *self)
{
    py_t *kept = py_dict();

    py_dict_sets_new(kept, "compilation", py_int(++self->compilations));
    return kept;
}

void
render_show_paths(render_t *self)
{
    self->shows_paths = true;
}

/* ---- errors ------------------------------------------------------------------------------------------- */

/* The file as the user knows it: its URL, or its path where render_show_paths() asks for that. NEW, or
 * NULL. */
char *
run_file(const rendering_t *run)
{
    const render_source_t *s = run->source;

    if (s->tmplpath != NULL && !(run->render->shows_paths && s->path != NULL))
        return xasprintf("salt://%s", s->tmplpath);
    return s->path != NULL ? xstrdup(s->path) : NULL;
}

char *
run_url(const rendering_t *run, const char *path)
{
    const char *url = path != NULL ? map_get(run->render->urls, path) : NULL;

    return url != NULL ? xstrdup(url) : path != NULL ? xstrdup(path) : run_file(run);
}

char *
run_place(const rendering_t *run, int line, int *ret_line)
{
    const char *path = NULL, *p = buf_str(&run->text), *end = p + run->text.len;

    *ret_line = line;
    if (run->untouched)
        return run_url(run, NULL);

    /* The first word of the line tells where a template printed it from. */
    for (const char *nl; line > 1 && (nl = memchr(p, '\n', (size_t) (end - p))) != NULL; line--)
        p = nl + 1;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    *ret_line = jinja_marks_find(&run->marks, buf_str(&run->text), (size_t) (p - buf_str(&run->text)), &path);
    return run_url(run, path);
}

/* Appends the file and line to open for a line of the current text. */
static void
put_place(buf_t *b, const rendering_t *run, const char *word, int line)
{
    int made;
    AUTO_FREE char *file = run_place(run, line, &made);

    if (file != NULL && made > 0)
        buf_printf(b, "\n%s %s, line %d", word, file, made);
    else if (file != NULL)
        buf_printf(b, "\n%s line %d of what %s became", word, line, file);
}

/* Composes the error: message, lines around, place. `begun` is the line where the broken construct began; 0:
 * none. */
static int
render_tell(const rendering_t *run, const char *message, const char *where, int line, int begun, fail_t *err)
{
    AUTO_FREE char *around = jinja_salt_around(buf_str(&run->text), run->text.len, line);
    buf_auto_t place = BUF_INIT, first = BUF_INIT;

    put_place(&place, run, "in", line);
    if (begun > 0)
        put_place(&first, run, "in", begun);
    bool same = begun <= 0 || strcmp(buf_str(&first), buf_str(&place)) == 0;
    return fail_set(err, -EINVAL, "%s%s\n\n%s%s%s%s", message, where, around, buf_str(&place),
                    same ? "" : "\nbegun ", same ? "" : buf_str(&first) + 1);
}

int
run_failed_at(const rendering_t *run, const char *message, int line, int begun, fail_t *err)
{
    AUTO_FREE char *where = xasprintf("; line %d", line);

    return render_tell(run, message, where, line, begun, err);
}

int
run_failed_near(const rendering_t *run, const char *message, int line, int begun, fail_t *err)
{
    return render_tell(run, message, "", line, begun, err);
}

/* ---- running ------------------------------------------------------------------------------------------ */

/* Runs the pipeline's steps on the text so far. A step that fails without a message gets the pending
 * exception's, or that of its errno. */
static int
render_run_steps(rendering_t *run, const pipeline_t *pipeline, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < pipeline->n; i++) {
        /* Runs the renderer on the text so far. */
        int64_t started = clock_mono_us();
        run->user = pipeline->steps[i].user;
        rc = pipeline->steps[i].renderer->fn(run, pipeline->steps[i].argline, err);
        log_profile("Time (in seconds) to render '%s' using '%s' renderer: %.6f",
                    run->source->path != NULL ? run->source->path : ":string:",
                    run->user != NULL ? run->user : pipeline->steps[i].renderer->name,
                    (double) (clock_mono_us() - started) / 1e6);
        run->untouched = false;
    }
    if (rc < 0 && (err == NULL || err->code == 0))
        return fail_set(err, rc, "%s", py_raised() != NULL ? py_raised_text() : strerror(-rc));
    return rc;
}

/* For renderers that call others: one more step on the run's text or data, in the limits of the outer one. */
int
run_step(rendering_t *run, const char *name, const char *argline, fail_t *err)
{
    pipeline_t one = { .n = 0 };
    const char *user = run->user;
    AUTO_FREE char *part = xasprintf("%s %s", name, argline);
    int rc = pipeline_add(&one, run->render->ctx, name, part, err);

    if (rc == 0)
        rc = render_run_steps(run, &one, err);
    pipeline_free(&one);
    run->user = user;
    return rc;
}

/* Runs the pipeline within one scope of limits. `saltenv` and `lacked` are saved around it, as renders may
 * nest. */
static int
run_limited(rendering_t *run, const pipeline_t *pipeline, fail_t *err)
{
    const py_limits_t limits = { .bytes = LIMIT_TEMPLATE_BYTES,
                                 .depth = LIMIT_TEMPLATE_DEPTH,
                                 .steps = LIMIT_TEMPLATE_STEPS,
                                 .deadline_ms = clock_mono_ms() + LIMIT_TEMPLATE_TIME };
    render_t *self = run->render;
    const char *outer = self->saltenv;
    int lacked = self->lacked;
    py_scope_t scope;

    self->saltenv = run->source->saltenv != NULL ? run->source->saltenv : "base";
    self->lacked = 0;
    py_scope_enter(&scope, &limits);
    int rc = render_run_steps(run, pipeline, err);
    if (rc == 0 && run->is_data && py_json_fits(run->data) < 0)
        rc = fail_set(err, -EINVAL, "%s", py_raised_text());
    py_clear();
    py_scope_leave(&scope);
    self->saltenv = outer;
    /* The outer run fails for the same reason, so `lacked` stays set. */
    if (rc == 0 || self->lacked == 0) {
        self->lacked = lacked;
        return rc;
    }
    if (err != NULL)
        err->code = self->lacked;
    return self->lacked;
}

static int
render_run_all(rendering_t *run, fail_t *err)
{
    const render_source_t *s = run->source;
    pipeline_t pipeline = { .n = 0 };

    if (s->len > LIMIT_TEMPLATE)
        return fail_set(err, -EFBIG, "the text has %zu bytes, at most %d are allowed", s->len,
                        LIMIT_TEMPLATE);
    int rc = pipeline_parse(&pipeline, run->render->ctx, s, err);
    if (rc == 0) {
        run->untouched = true;
        buf_add(&run->text, s->text, s->len);
        run_begin_peer(run);
        rc = run_limited(run, &pipeline, err);
    }
    pipeline_free(&pipeline);
    if (rc != 0 || s->fixed || run->is_data)
        return rc;

    /* CRLF line ends come back if the source had them, as in Salt. */
    if (memmem(s->text, s->len, "\r\n", 2) != NULL &&
        memmem(buf_str(&run->text), run->text.len, "\r\n", 2) == NULL) {
        AUTO_FREE char *text = str_replace(buf_str(&run->text), "\n", "\r\n");
        buf_clear(&run->text);
        buf_puts(&run->text, text);
    }
    return 0;
}

void
run_free(rendering_t *run)
{
    buf_free(&run->text);
    py_unref(run->data);
    jinja_marks_free(&run->marks);
    spans_free(&run->peer);
}

py_t *
render_data(render_t *self, const render_source_t *source, fail_t *err)
{
    rendering_t run = { .render = self, .source = source, .text = BUF_INIT };
    py_t *data = NULL;

    /* A file without any text is a file without states, whichever its renderers. */
    size_t blank = 0;
    while (blank < source->len && source->text[blank] != '\0' &&
           strchr(" \t\r\n\v\f", source->text[blank]) != NULL)
        blank++;
    if (!source->fixed && blank == source->len)
        return py_dict();
    if (render_run_all(&run, err) == 0)
        data = run.is_data      ? STEAL(run.data)
               : run.peer.n > 0 ? py_str_spans(buf_str(&run.text), run.text.len, &run.peer)
                                : py_str_utf8(buf_str(&run.text), run.text.len);
    run_free(&run);
    return data;
}

/* Appends the rendered text; a pipeline that ends in data is an error here. */
int
render_text(render_t *self, const render_source_t *source, buf_t *out, fail_t *err)
{
    rendering_t run = { .render = self, .source = source, .text = BUF_INIT };
    int rc = render_run_all(&run, err);

    if (rc == 0 && run.is_data)
        rc = fail_set(err, -EINVAL, "the renderers '%s' make data, and a text is needed",
                      source->pipeline != NULL ? source->pipeline : "jinja|yaml");
    if (rc == 0)
        buf_add(out, buf_str(&run.text), run.text.len);
    run_free(&run);
    return rc;
}
