/* pillar_int.h - state of one compile, shared by the files of this folder.
 *
 * Layer      common/pillar, private to it
 * Threads    one
 * Tests      tests/unit/minion/test_pillar.c */
#ifndef COMMON_PILLAR_PILLAR_INT_H
#define COMMON_PILLAR_PILLAR_INT_H

#include "common/pillar/pillar.h"
#include "common/py/py_error.h"
#include "common/render/render.h"

typedef struct compile {
    const pillar_env_t *env;
    json_t *opts;   /* owned: as templates see them, with the minion's id, grains and environments */
    json_t *grains; /* owned: with the minion's id */
    json_t *roots;  /* BORROWED: pillar_roots of opts, __env__ made real */
    const char *saltenv, *pillarenv; /* NULL: none chosen */
    const char *strategy, *renderer;
    bool merge_lists, nested;  /* nested: of one git branch or of master_tops: without ext_pillar, override */
    json_t *on_demand;         /* owned: [the source that the minion names], or empty */
    fileclient_t *files;       /* owned: the pillar's */
    fileclient_t *state_files; /* owned: what functions see as the file server */
    call_ctx_t *ctx;
    render_t *render;
    py_t *known;        /* owned */
    json_t *avail;      /* {saltenv: [sls]}, as far as asked for */
    json_t *missing_ok; /* {saltenv: {sls: true}} of ignore_missing */
    json_t *errors;     /* texts, in Salt's words */
    int64_t deadline_ms;
    int depth; /* of includes */
} compile_t;

/* pillar.c */
compile_t *compile_new(const pillar_env_t *env, bool nested); /* NEW */
void compile_destroy(compile_t **self_p);
py_t *compile_run(compile_t *self, fail_t *err);
/* Merges `over` into *into_p by the configured strategy. 0, or negative with *err. */
int compile_merge(compile_t *self, py_t **into_p, py_t *over, fail_t *err);
void compile_error(compile_t *self, const char *fmt, ...) PRINTF(2, 3);
/* Moves the pending exception to *err. Returns -EINVAL. */
int compile_raised(fail_t *err);
const char *compile_env(const compile_t *self); /* the environment that __env__ means */

/* pillar_sls.c */
/* File of the SLS "a.b": NEW path on this machine and NEW path below the roots; -ENOENT. */
int sls_find(compile_t *self, const char *sls, const char *saltenv, char **ret_local, char **ret_path,
             fail_t *err);
/* Renders one file; an empty one gives an empty dict. `sls` NULL: a top file. NEW, or NULL with *err. */
py_t *sls_load(compile_t *self, const char *local, const char *path, const char *sls, const char *saltenv,
               py_t *defaults, fail_t *err);
/* Renders the SLS of {saltenv: [sls]} and merges them into *pillar_p. */
int sls_render_all(compile_t *self, const json_t *matches, py_t **pillar_p, fail_t *err);

/* pillar_top.c */
/* NEW {saltenv: {target: {"data": [...], "order": N, "path"}}}; failures are added to self->errors. */
json_t *top_gather(compile_t *self, fail_t *err);
/* NEW {saltenv: [sls]}: the part that matches this minion. */
json_t *top_matches(compile_t *self, const json_t *top, fail_t *err);

/* pillar_ext.c */
/* Merges the data of the sources of `list` into *pillar_p. */
int ext_run(compile_t *self, const json_t *list, py_t **pillar_p, fail_t *err);

/* Runs an external source; `args` is the value of its key in ext_pillar. NEW, or NULL with err. */
typedef py_t *ext_fn(compile_t *self, py_t *pillar, const json_t *args, fail_t *err);
/* The same of a user's file in Python of that name. FAIL_UNAVAILABLE: there is none. */
py_t *ext_python(compile_t *self, const char *name, py_t *pillar, const json_t *args, fail_t *err);
ext_fn ext_cmd_yaml, ext_cmd_yamlex, ext_cmd_json, ext_file_tree, ext_git, ext_stack, ext_vault;

/* pillar_decrypt.c */
void decrypt_pillar(compile_t *self, py_t *pillar);

/* pillar_claims.c */
/* Reports that `target` in the file `path` depends on a minion's claims. */
void claims_tell(const compile_t *self, const char *path, const char *target);

/* pillar_reads.c */
/* NEW client that records in `reads` every request to `*inner_p`, which it TAKES. */
fileclient_t *reads_watch(pillar_reads_t *reads, json_t *roots, fileclient_t **inner_p);
void reads_called(pillar_reads_t *reads, const char *fun);
void reads_mark_world(pillar_reads_t *reads);

#endif
