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

/* NEW renderer. Templates see opts, grains and salt of `ctx` and import from `files`; both BORROWED while it
 * lives. It caches compiled templates. */
render_t *render_new(call_ctx_t *ctx, fileclient_t *files);
void render_destroy(render_t **self_p);
/* From now on errors name files by their paths on this machine, for sources outside of the file server, as
 * the pillar's. */
void render_show_paths(render_t *self);
/* The renderer that all functions of `ctx` share, over ctx_files(). BORROWED while `ctx` lives. */
render_t *render_of(call_ctx_t *ctx);

typedef struct render_source {
    const char *text;
    size_t len;
    const char *path;     /* on this machine; NULL: a text without a file */
    int64_t version;      /* of the file (mtime in ns); 0: do not cache */
    const char *pipeline; /* when the text has no "#!" line: "jinja|yaml"; NULL: the option `renderer` */
    bool fixed;           /* a "#!" line has no meaning */
    const char *sls;      /* "nginx.config"; NULL: not an SLS */
    bool reaction;        /* a file of the reactor: its lists are arguments */
    const char *tmplpath; /* path below the roots, "nginx/config.sls" */
    const char *saltenv;
    py_t *pillar;  /* value of `pillar`; BORROWED; NULL: ctx's */
    py_t *context; /* more variables; BORROWED dict or NULL */
    py_t *kept;    /* render_kept() that the files of a compilation share; BORROWED; NULL: none is */
    /* Renders another SLS file into the same compilation; NULL: there is none. 0 or a negative errno. */
    int (*include)(void *cookie, const char *saltenv, const char *sls, fail_t *err);
    void *cookie;
    const spans_t *peer; /* parts of `text` that come from a peer; NULL: none */
} render_source_t;

/* NEW dict for render_source_t.kept, in which renderers keep things from file to file. */
py_t *render_kept(render_t *self);

/* Runs the pipeline. NEW data, or NULL with *err: mappings keep their order, an empty text gives an empty
 * dict, a pipeline that ends in text gives a str. */
py_t *render_data(render_t *self, const render_source_t *source, fail_t *err);
/* Runs a pipeline that ends in text, as file.managed's `template: jinja`, and appends its output. 0 or a
 * negative errno. */
int render_text(render_t *self, const render_source_t *source, buf_t *out, fail_t *err);

/* True when `template: NAME` is one of Salt's template engines available here. */
bool render_is_template(const char *name);
/* Available renderers: NEW {name: docstring}. */
json_t *render_docs(void);

/* decrypt_pillar: every text in `v` through `renderer` ("gpg"), "\n" in it read as a line break. Dicts and
 * lists are changed in place. NEW (the same container), or NULL with *err. */
py_t *render_decrypt(render_t *self, const char *renderer, py_t *v, fail_t *err);

#endif
