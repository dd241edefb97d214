/* pipeline.c - which renderers a text passes: those of its "#!" line, or the default.
 *
 * renderers.def lists all of Salt's renderers; those without a function explain in the error why they are
 * missing. renderer_whitelist and renderer_blacklist skip steps, as in Salt. */
#include "common/render/render_int.h"

#include "common/base/str.h"
#include "common/python/userfile.h"
#include "salt/log.h"

static const renderer_t renderers[] = {
#define RENDERER(name, fn, doc) { #name, fn, NULL, doc },
#define ELSEWHERE(name, why)    { #name, NULL, why, NULL },
#include "common/render/renderers.def"
};

const renderer_t *
renderer_find(const char *name)
{
    for (size_t i = 0; i < NELEMS(renderers); i++)
        if (strcmp(renderers[i].name, name) == 0)
            return &renderers[i];
    return NULL;
}

bool
render_is_template(const char *name)
{
    return str_eq(name, "jinja") || str_eq(name, "py");
}

/* Iterates over the available renderers, for str_suggest. */
static const char *
pipeline_next_name(void *cookie)
{
    size_t *i = cookie;

    while (*i < NELEMS(renderers) && renderers[*i].fn == NULL)
        (*i)++;
    return *i < NELEMS(renderers) ? renderers[(*i)++].name : NULL;
}

json_t *
render_docs(void)
{
    json_t *docs = json_object();

    for (size_t i = 0; i < NELEMS(renderers); i++)
        if (renderers[i].fn != NULL)
            json_object_set_new(docs, renderers[i].name, value_fmt("\n    %s\n    ", renderers[i].doc));
    return docs;
}

/* NEW. */
static char *
renderers_known(void)
{
    buf_auto_t b = BUF_INIT;
    size_t i = 0;

    for (const char *known = pipeline_next_name(&i); known != NULL; known = pipeline_next_name(&i))
        buf_printf(&b, "%s%s", b.len > 0 ? ", " : "; there are ", known);
    return buf_steal(&b);
}

char *
renderer_suggest(const char *name)
{
    size_t i = 0;
    const char *near = str_suggest(name, pipeline_next_name, &i);

    return near != NULL ? xasprintf("; did you mean '%s'?", near) : renderers_known();
}

/* ---- parsing ------------------------------------------------------------------------------------------ */

/* Expands Salt's old names for two renderers, "yaml_jinja". */
static const char *
modern_name(const char *spec)
{
    static const struct {
        const char *old, *now;
    } rows[] = {
#define PAIR(old, now) { #old, now },
#include "common/render/renderers.def"
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (strcmp(rows[i].old, spec) == 0)
            return rows[i].now;
    return spec;
}

/* -ENOTSUP for a renderer of Salt's that is missing here, -EINVAL for an unknown one. `why`: of a user's file
 * that can't be used; "": there is none. */
static int
unknown(const char *spec, const char *name, const char *why, fail_t *err)
{
    const renderer_t *r = renderer_find(name);

    AUTO_FREE char *near = r != NULL ? renderers_known() : renderer_suggest(name);
    if (*why != '\0')
        return fail_set(err, -EINVAL, "The renderer \"%s\" is not available: %s", name, why);
    if (r != NULL)
        return fail_set(err, -ENOTSUP, "The renderer \"%s\" is not available: %s%s", name, r->missing, near);
    if (strcmp(spec, name) == 0)
        return fail_set(err, -EINVAL, "The renderer \"%s\" is not available%s", name, near);
    return fail_set(err, -EINVAL, "The renderer \"%s\" is not available: there is no \"%s\"%s", spec, name,
                    near);
}

/* The row of a name: a user's file of that name precedes what is built in. *ret_why is set without one. */
static const renderer_t *
renderer_for(call_ctx_t *ctx, const char *name, fail_t *ret_why)
{
    static const renderer_t user = { .fn = render_user };
    const renderer_t *r = userfile_is_named(ctx, "renderers", name) ? NULL : renderer_find(name);
    const userfile_t what = { .kind = "renderers", .module = name, .fun = "render" };

    if (r != NULL && r->fn != NULL)
        return r;
    return userfile_has(ctx, &what, ret_why) ? &user : NULL;
}

/* True for one of our own in Python (pyobjects, pydsl), unless a user's file of that name precedes it. */
bool
renderer_is_packaged(call_ctx_t *ctx, const char *name)
{
    const renderer_t *r = renderer_find(name);

    return r != NULL && r->fn == render_user && !userfile_is_named(ctx, "renderers", name);
}

/* Adds "NAME ARGUMENTS" as a step; `part` is cut in place. `spec` is the whole line, for errors. */
int
pipeline_add(pipeline_t *self, call_ctx_t *ctx, const char *spec, char *part, fail_t *err)
{
    char *name = str_trim(part), *rest = strchr(name, ' ');

    if (rest != NULL)
        *rest++ = '\0';
    /* A renderer that the configuration forbids is logged and skipped, as in Salt. */
    const json_t *opts = ctx_opts(ctx), *white = value_get(opts, "renderer_whitelist");
    if ((value_truthy(white) && !value_lists(white, name)) ||
        value_lists(value_get(opts, "renderer_blacklist"), name)) {
        log_warning("The renderer \"%s\" is disallowed by configuration and will be skipped.", name);
        return 0;
    }
    fail_auto_t why = FAIL_INIT;
    const renderer_t *r = renderer_for(ctx, name, &why);
    if (r == NULL)
        return unknown(spec, name, fail_text(&why), err);
    if (self->n == PIPELINE_MAX)
        return fail_set(err, -E2BIG, "\"%s\" has more than %d renderers", spec, PIPELINE_MAX);
    self->steps[self->n].renderer = r;
    self->steps[self->n].user = r->fn == render_user ? xstrdup(name) : NULL;
    self->steps[self->n++].argline = xstrdup(rest != NULL ? str_trim(rest) : "");
    return 0;
}

int
pipeline_parse(pipeline_t *self, call_ctx_t *ctx, const render_source_t *source, fail_t *err)
{
    const char *nl = memchr(source->text, '\n', source->len);
    size_t len = nl != NULL ? (size_t) (nl - source->text) : source->len;

    /* The pipeline of a first line "#!jinja|yaml", unless it names a program's path or a peer's value is in
     * it. */
    bool peers = source->peer != NULL && source->peer->n > 0 && source->peer->v[0].from < len;
    bool names = !source->fixed && !peers && len >= 2 && memcmp(source->text, "#!", 2) == 0 &&
                 (len == 2 || source->text[2] != '/');
    AUTO_FREE char *line = names ? xstrndup(source->text + 2, len - 2) : NULL;
    const char *spec = line != NULL ? str_trim(line) : source->pipeline;

    if (spec == NULL)
        spec = value_str(ctx_opts(ctx), "renderer", "jinja|yaml");
    char **parts = str_split(modern_name(spec), "|", false);
    int rc = 0;
    for (size_t i = 0; rc == 0 && parts[i] != NULL; i++)
        rc = pipeline_add(self, ctx, spec, parts[i], err);
    strv_free(parts);
    return rc;
}

void
pipeline_free(pipeline_t *self)
{
    for (size_t i = 0; i < self->n; i++) {
        free(self->steps[i].argline);
        free(self->steps[i].user);
    }
    self->n = 0;
}
