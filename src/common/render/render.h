/* render.h - renderers as pipelines: a text with its "#!jinja|yaml" line to data, or to text.
 *
 * Layer      common/render
 * Threads    a renderer, its engines and values belong to one thread
 * Ownership  results are NEW
 * Errors     what Salt's SaltRenderError says, with the lines around the place and the chain that led there:
 *            "Jinja variable 'x' is undefined\n\n---\n[...]". The caller puts "Rendering SLS 'base:x' failed:
 *            " before.
 * Tests      tests/unit/common/test_render.c, tests/cases/render
 */
#ifndef COMMON_RENDER_RENDER_H
#define COMMON_RENDER_RENDER_H

#include "common/base/span.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "common/py/py.h"
#include "salt/plugin.h"

typedef struct render render_t;

/* What templates see as opts, grains, salt comes from `ctx`; imports come from `files`. All BORROWED while it
 * lives. Compiled templates are cached in it. */
render_t *render_new(call_ctx_t *ctx, fileclient_t *files);
void render_destroy(render_t **self_p);
/* Errors name files by their paths on this machine: for sources that are not the file server's, as the
 * pillar's. */
void render_show_paths(render_t *self);
/* The one that functions of `ctx` share, over ctx_files(). BORROWED while `ctx` lives. */
render_t *render_of(call_ctx_t *ctx);

typedef struct render_source {
    const char *text;
    size_t len;
    const char *path;     /* on this machine; NULL: a text without a file */
    int64_t version;      /* of the file (mtime in ns); 0: do not cache */
    const char *pipeline; /* when the text has no "#!" line: "jinja|yaml"; NULL: the option `renderer` */
    bool fixed;           /* a "#!" line is text like any other */
    const char *sls;      /* "nginx.config"; NULL: not an SLS */
    bool reaction;        /* a file of the reactor: its lists are arguments */
    const char *tmplpath; /* path below the roots, "nginx/config.sls" */
    const char *saltenv;
    py_t *pillar;        /* what `pillar` is; BORROWED; NULL: ctx's */
    py_t *context;       /* more variables; BORROWED dict or NULL */
    const spans_t *peer; /* the parts of `text` that a peer said; NULL: none */
} render_source_t;

/* The data that the pipeline ends with, or NULL with *err: mappings keep their order, an empty text is an
 * empty dict, and a pipeline that ends in text gives a str. */
py_t *render_data(render_t *self, const render_source_t *source, fail_t *err);
/* For pipelines that end in text: file.managed's `template: jinja`. Appends. */
int render_text(render_t *self, const render_source_t *source, buf_t *out, fail_t *err);

/* Whether `template: NAME` makes a text: Salt's registry of templates. */
bool render_is_template(const char *name);
/* The renderers that there are: {name: what it does, as a docstring}. */
json_t *render_docs(void);

/* decrypt_pillar: every text in `v` through `renderer` ("gpg"), "\n" in it read as a line break. Dicts and
 * lists are changed in place. NEW (the same container), or NULL with *err. */
py_t *render_decrypt(render_t *self, const char *renderer, py_t *v, fail_t *err);

#endif
