/* render_int.h - shared by the files of this folder: a run of a pipeline, its renderers, its errors.
 *
 * Layer      common/render, private
 * Threads    as render.h
 * Ownership  said per function */
#ifndef COMMON_RENDER_RENDER_INT_H
#define COMMON_RENDER_RENDER_INT_H

#include "common/base/map.h"
#include "common/jinja/jinja_salt.h"
#include "common/render/render.h"

struct render {
    call_ctx_t *ctx;
    fileclient_t *files;  /* NULL: templates import nothing */
    jinja_t *engines[2];  /* of other files and of SLS files, made when first used */
    py_t *salt, *opts;    /* `salt` and `opts` of templates; made when first used */
    map_t *urls;          /* path on this machine -> origin, "salt://lib/m.jinja" */
    const char *saltenv;  /* of the run that is under way */
    bool shows_paths;     /* render_show_paths() */
    char *missing;        /* owned: last function that was looked up and not found */
    int lacked;           /* passing error (a negative errno) that kept a template from being read; 0: none */
    map_t *allowed;       /* verdicts of allow.c by name; NULL: none yet */
    int64_t compilations; /* that were begun */
    struct python *python; /* NULL until a file of Python's is rendered */
};

/* State of a pipeline's run. `text` and `data` are the last renderer's output. */
typedef struct rendering {
    render_t *render;
    const render_source_t *source;
    bool is_data;
    buf_t text;
    py_t *data;
    bool untouched;      /* `text` is the source's: its lines are the file's */
    jinja_marks_t marks; /* of `text` when a template made it */
    spans_t peer;        /* parts of `text` that come from peers */
    const char *user;    /* the step's name when it is a user's renderer; BORROWED */
} rendering_t;

typedef int renderer_fn(rendering_t *run, const char *argline, fail_t *err);
typedef struct renderer {
    const char *name;
    renderer_fn *fn;
    const char *missing; /* without `fn`: why it is unavailable */
    const char *doc;     /* with `fn` */
} renderer_t;

/* BORROWED row, or NULL. */
const renderer_t *renderer_find(const char *name);
/* True when the package `salt` of this program has the renderer, and no user's file has its name. */
bool renderer_is_packaged(call_ctx_t *ctx, const char *name);
/* NEW text: "; did you mean ...", or the list of renderers. */
char *renderer_suggest(const char *name);

/* True when a text has tags in the syntax of SLS files or that of other files. */
bool render_has_tags(render_t *self, const char *text, size_t len);

renderer_fn render_jinja, render_yaml, render_json, render_gpg, render_py, render_stateconf, render_user;

/* Sets the run's output to `data`, which it TAKES; a false value becomes an empty dict, as in Salt. Returns
 * 0. */
int run_give_data(rendering_t *run, py_t *data);

/* Runs another renderer on the run, by its name. 0, or a negative errno with *err. */
int run_step(rendering_t *run, const char *name, const char *argline, fail_t *err);
/* Frees what a run holds. */
void run_free(rendering_t *run);

/* ---- pipelines ---------------------------------------------------------------------------------------- */

enum { PIPELINE_MAX = 16 };
typedef struct pipeline {
    struct {
        const renderer_t *renderer;
        char *argline; /* owned, as the next */
        char *user;    /* name of a user's renderer; NULL: a row of renderers.def */
    } steps[PIPELINE_MAX];
    size_t n;
} pipeline_t;
/* `ctx`: whose options and users' files count. 0, or a negative errno with *err. */
int pipeline_parse(pipeline_t *self, call_ctx_t *ctx, const render_source_t *source, fail_t *err);
void pipeline_free(pipeline_t *self);
/* Adds a step, as "yaml -o" in the pipeline `spec`. `part` is changed. 0, or a negative errno with *err. */
int pipeline_add(pipeline_t *self, call_ctx_t *ctx, const char *spec, char *part, fail_t *err);

/* ---- errors ------------------------------------------------------------------------------------------- */

/* File name for messages: "salt://nginx/init.sls", or a path (render_show_paths); NULL for a text without a
 * file. NEW. */
char *run_file(const rendering_t *run);
/* The same for a template's path on this machine. NEW. */
char *run_url(const rendering_t *run, const char *path);
/* Sets *err to "MESSAGE; line N", with the lines of run->text around it and the file. `begun` is the line
 * where the broken construct began, or 0. Returns -EINVAL. */
int run_failed_at(const rendering_t *run, const char *message, int line, int begun, fail_t *err);
/* The same for a message that names its place itself. */
int run_failed_near(const rendering_t *run, const char *message, int line, int begun, fail_t *err);

/* Origin of a line of run->text: file name (NEW, NULL for a text without a file), and *ret_line there; 0:
 * unknown. */
char *run_place(const rendering_t *run, int line, int *ret_line);

/* ---- what peers said (peer.c) -------------------------------------------------------------------------- */

/* Marks the source's parts that come from peers; all of a file that a minion sent to the master. */
void run_begin_peer(rendering_t *run);
/* Sets the marks of run->text to those the template reported: empties *spans. */
void run_take_peer(rendering_t *run, spans_t *spans);
/* Check that peers' parts stay inside scalars of YAML, or inside texts of the JSON that begins at `from`: 0,
 * or -EINVAL with *err. With the option peer_data: warn only a warning is logged. */
int run_check_yaml(rendering_t *run, fail_t *err);
int run_check_json(rendering_t *run, size_t from, fail_t *err);
/* The same for words with a meaning beyond text in `data`, the parsed text: top-level keys of an SLS file
 * such as `include`, slots of states, messages to be decrypted. */
int run_check_words(rendering_t *run, py_t *data, fail_t *err);
/* First text in the data that is one argument of a function but names a keyword of it in a peer's words;
 * `reaction`: the data is a reactor's file. BORROWED, or NULL. */
const py_t *run_find_keyword(const py_t *data, bool reaction);
/* Before the text is read as a template: moves peers' parts into `context`, so that they are printed and
 * never parsed as template code. */
int run_check_template(rendering_t *run, const jsyntax_t *syntax, py_t *context, fail_t *err);
/* Before the text runs as a program: refuses any part of a peer's. */
int run_check_program(rendering_t *run, fail_t *err);
/* Warns of what peers said that stands in a command without the filter `quote`, once for each place. */
void run_look_for_shells(rendering_t *run);

/* ---- templates ---------------------------------------------------------------------------------------- */

/* salt[name]: whether it is there; what a call of it gives: NEW, or NULL raised. */
bool render_has(render_t *self, const char *name);
py_t *render_call(render_t *self, const char *name, const py_args_t *args);
/* Checks that the rendered file may call `fun`, and the function that it calls in turn: 0, or -EPERM with
 * *err. */
int render_may_call(render_t *self, const char *fun, const py_args_t *args, fail_t *err);
/* True when a file was sent by a minion to the master, also through links; true when an argument names a path
 * below the master's cache, where minions' data lies. */
bool render_is_sent(const render_t *self, const char *path);
bool render_reads_peers(const render_t *self, const py_args_t *args);
/* The same for running Python. */
int render_may_python(render_t *self, fail_t *err);
/* All variables of a template. NEW dict. */
py_t *run_context(rendering_t *run);
jinja_load_fn render_load;

#endif
