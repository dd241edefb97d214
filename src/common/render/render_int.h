/* render_int.h - what the files of this folder share: a run of a pipeline, its renderers, its errors.
 *
 * Layer      common/render, private
 * Threads    as render.h
 * Ownership  said per function
 */
#ifndef COMMON_RENDER_RENDER_INT_H
#define COMMON_RENDER_RENDER_INT_H

#include "common/base/map.h"
#include "common/jinja/jinja_salt.h"
#include "common/render/render.h"

struct render {
    call_ctx_t *ctx;
    fileclient_t *files;   /* NULL: templates import nothing */
    jinja_t *engines[2];   /* of other files and of SLS files, made when first used */
    py_t *salt, *opts;     /* what templates see; made when first used */
    map_t *urls;           /* path on this machine to where it came from: "salt://lib/m.jinja" */
    const char *saltenv;   /* of the run that is under way */
    bool shows_paths;      /* render_show_paths() */
    char *missing;         /* the function that was last asked for in vain */
    int lacked;            /* why a template could not be read for now, a negative errno; 0: it was not so */
    map_t *allowed;        /* names that allow.c has decided on; NULL: none yet */
    struct python *python; /* NULL until a file of Python's is rendered */
};

/* One run. `text` and `data` are what the last renderer made. */
typedef struct run {
    render_t *render;
    const render_source_t *source;
    bool is_data;
    buf_t text;
    py_t *data;
    bool untouched;      /* `text` is the source's: its lines are the file's */
    jinja_marks_t marks; /* of `text` when a template made it */
    spans_t peer;        /* the parts of `text` that peers said */
} run_t;

typedef int renderer_fn(run_t *run, const char *argline, fail_t *err);
typedef struct renderer {
    const char *name;
    renderer_fn *fn;
    const char *missing; /* without `fn`: why it is not here */
    const char *doc;     /* with `fn` */
} renderer_t;

/* BORROWED row, or NULL. */
const renderer_t *renderer_find(const char *name);
/* NEW text: what could have been meant. "" when nothing is near. */
char *renderer_suggest(const char *name);

/* Whether a text is a template by the syntax of SLS files or of other files. */
bool render_has_tags(render_t *self, const char *text, size_t len);

renderer_fn render_jinja, render_yaml, render_json, render_gpg, render_py;

/* The next renderer gets `data`, which it TAKES; what is empty becomes an empty dict, as Salt has it. 0. */
int run_give_data(run_t *run, py_t *data);

/* ---- pipelines ---------------------------------------------------------------------------------------- */

enum { PIPELINE_MAX = 16 };
typedef struct pipeline {
    struct {
        const renderer_t *renderer;
        char *argline; /* owned */
    } steps[PIPELINE_MAX];
    size_t n;
} pipeline_t;
/* 0, or a negative errno with *err. */
int pipeline_parse(pipeline_t *self, const json_t *opts, const render_source_t *source, fail_t *err);
void pipeline_free(pipeline_t *self);

/* ---- errors ------------------------------------------------------------------------------------------- */

/* What a person opens: "salt://nginx/init.sls", or a path (render_show_paths); NULL for a text without a
 * file. NEW. */
char *run_file(const run_t *run);
/* The same for a template's path on this machine. NEW. */
char *run_url(const run_t *run, const char *path);
/* Records "MESSAGE; line N", the lines of run->text around it and the file. `begun` is the line where what is
 * broken began, or 0. -EINVAL. */
int run_failed_at(const run_t *run, const char *message, int line, int begun, fail_t *err);
/* The same for a message that has its place itself. */
int run_failed_near(const run_t *run, const char *message, int line, int begun, fail_t *err);

/* Where a line of run->text was made: what a person opens, or NULL for a text without a file, and
 * *ret_line there; 0: not known. NEW. */
char *run_place(const run_t *run, int line, int *ret_line);

/* ---- what peers said (peer.c) --------------------------------------------------------------------------- */

/* The parts of the source that peers said: all of a file that a minion sent to the master. */
void run_begin_peer(run_t *run);
/* The parts of run->text that peers said, as the template told: empties *spans. */
void run_take_peer(run_t *run, spans_t *spans);
/* Whether they stay inside the scalars of YAML, or the texts of JSON that begins at `from`: 0, or -EINVAL
 * with *err. With the option peer_data: warn, a warning and 0. */
int run_check_yaml(run_t *run, fail_t *err);
int run_check_json(run_t *run, size_t from, fail_t *err);
/* The same for words that mean more than a text in `data`, which is the text's: keys that an SLS file has
 * at its top, such as `include`, slots of states, messages to be decrypted. */
int run_check_words(run_t *run, py_t *data, fail_t *err);
/* The first text of the data that is to be one argument of a function and names a keyword of it in a peer's
 * words; in a reactor's file, `reaction`, as these are laid out there. BORROWED, or NULL. */
const py_t *run_find_keyword(const py_t *data, bool reaction);
/* The text becomes a template: what peers said goes into `context`, so that it is printed and never read
 * as a template. */
int run_check_template(run_t *run, const jsyntax_t *syntax, py_t *context, fail_t *err);
/* The text becomes a program: no part of it may be a peer's. */
int run_check_program(run_t *run, fail_t *err);
/* Warns of what peers said that stands in a command without the filter `quote`, once for each place. */
void run_look_for_shells(run_t *run);

/* ---- templates ---------------------------------------------------------------------------------------- */

/* salt[name]: whether it is there; what a call of it gives: NEW, or NULL raised. */
bool render_has(render_t *self, const char *name);
py_t *render_call(render_t *self, const char *name, const py_args_t *args);
/* Whether what is rendered may call this here, and what that in turn calls: 0, or -EPERM with *err. */
int render_may_call(render_t *self, const char *fun, const py_args_t *args, fail_t *err);
/* Whether a file is one that a minion sent to the master, by whatever path; and whether a path below the
 * master's cache is among the arguments: what minions sent lies there. */
bool render_is_sent(const render_t *self, const char *path);
bool render_reads_peers(const render_t *self, const py_args_t *args);
/* The same for a file in Python. */
int render_may_python(render_t *self, fail_t *err);
/* Everything that a template sees. NEW dict. */
py_t *run_context(run_t *run);
jinja_load_fn render_load;

#endif
