/* fstate.h - what the states of `file` share: a call's arguments with their defaults, owners, kept files,
 * accumulated text; and those states that others are built on.
 *
 * Layer      plugins/lib/file; the states stand in plugins/state/files
 * Threads    a job's child
 * Ownership  results are NEW unless said
 * Tests      tests/cases/state
 */
#ifndef PLUGINS_LIB_FILE_FSTATE_H
#define PLUGINS_LIB_FILE_FSTATE_H

#include "common/base/buf.h"
#include "salt/state.h"

typedef struct fstate {
    call_ctx_t *ctx;
    json_t *args; /* the call's own copy: may be changed */
    char *name;   /* "~" expanded; owned: may be replaced */
    json_t *ret;  /* {name, changes: {}, result: True, comment: ""} at first */
    bool test;
} fstate_t;

/* A state's body: changes s->ret. 0, or what is an exception in Salt. */
typedef int fstate_fn(fstate_t *s, fail_t *err);
/* Run a body. An empty name fails the state with the comment `nameless`, and one that can't be looked up
 * with the reason: it may stand for anything. */
int fstate_run(call_ctx_t *ctx, json_t *args, const char *nameless, fstate_fn *body, json_t **ret_value,
               fail_t *err);
#define FILE_STATE(id, nameless, body)                                                                       \
    int id(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                                   \
    {                                                                                                        \
        return fstate_run(ctx, args, nameless, body, ret_value, err);                                        \
    }                                                                                                        \
    _Static_assert(true, "so that a semicolon follows")

/* Arguments; a missing one is the default. Texts are BORROWED, NULL for None. */
bool fstate_on(const fstate_t *s, const char *key, bool dflt);
const char *fstate_str(const fstate_t *s, const char *key);
json_t *fstate_arg(const fstate_t *s, const char *key); /* BORROWED; NULL for None */
/* result False with that comment. Returns 0. */
int fstate_error(fstate_t *s, const char *fmt, ...) PRINTF(2, 3);
/* changes[key] = text */
void fstate_note(fstate_t *s, const char *key, const char *text);
/* Call a function of fileops. TAKES `args`. NULL with *err. */
json_t *fstate_call(fstate_t *s, func_fn *fn, json_t *args, fail_t *err);

/* `user`, or the `owner` that users write in its place. BORROWED, NULL for none. */
json_t *fstate_user(const fstate_t *s);
/* NULL, or Salt's sentence about a user or group that is not there; in test mode that is a warning in the
 * log. */
char *fstate_check_user(const fstate_t *s, const json_t *user, const json_t *group);
/* User and group of links and copies when none are given: the minion's own, and that user's group. */
void fstate_default_owner(const fstate_t *s, json_t **ret_user, json_t **ret_group);
/* Existence of the path: 1, 0, or -1 when it can't be decided; the state has failed with the reason then. */
int fstate_exists(fstate_t *s, const char *path);
/* The same of a folder, or of a regular file, links followed: 0 also where something else has the path. */
int fstate_is_dir(fstate_t *s, const char *path);
int fstate_is_file(fstate_t *s, const char *path);
int fstate_is_link(fstate_t *s, const char *path);
/* The same of the path itself, be it a link that leads nowhere. */
int fstate_lexists(fstate_t *s, const char *path);
/* NULL, or why the file can't be edited. */
char *fstate_check_file(const fstate_t *s);
/* Make the folders above the name. */
int fstate_makedirs(fstate_t *s, json_t *user, json_t *group, const char *mode, fail_t *err);

/* _validate_str_list: a text, or a list, as a list of texts. */
json_t *fstate_texts(const json_t *v);
/* Lines of a text by Python's str.splitlines(), without their ends. */
json_t *fstate_splitlines(const char *text, size_t len);
/* The same lines, each with "\n" behind it, up to a NUL in it. */
void fstate_end_lines(const char *text, size_t len, buf_t *out);
/* The texts of a list in order, or the other way round. */
json_t *fstate_sorted(const json_t *list, bool backwards);

/* ---- accumulated text -------------------------------------------------------------------------- */

/* {"data": {FILE: {NAME: [text]}}, "deps": {FILE: {NAME: [id]}}} of this run. BORROWED. */
json_t *fstate_accumulators(call_ctx_t *ctx);
/* {"file", "name", "texts": [...], "ids": [...]} is added. `item` BORROWED. */
int fstate_accumulate(call_ctx_t *ctx, json_t *item, fail_t *err);
/* True when a list holds an equal value. */
bool fstate_has(const json_t *list, const json_t *v);

/* ---- states that other states call --------------------------------------------------------------- */

func_fn file_state_managed, file_state_directory, file_state_symlink, file_state_touch;

/* Rows of a state's table: name, default, help. */
#define STATE_ANY(name, dflt, help)  ARG(name, ARG_ANY, dflt, help)
#define STATE_TEXT(name, dflt, help) ARG(name, ARG_STR, dflt, help)
#define STATE_KWARGS                 ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE)
/* Predicts file.directory without `recurse` and `clean`: STATE_TRUE or STATE_NONE. */
state_result_t fstate_check_directory(fstate_t *s, const char *name, char **ret_comment, json_t *changes);

/* ---- edits --------------------------------------------------------------------------------------- */

/* Rendered texts of `source` and `sources`; an empty array when neither is given. NULL with the state failed.
 */
json_t *fstate_template_texts(fstate_t *s);
/* Searches the file by a regular expression: 1, 0, or -1 with *err. */
int fstate_search(fstate_t *s, const char *pattern, fail_t *err);
/* The file's bytes. */
int fstate_read(fstate_t *s, buf_t *out, fail_t *err);
/* changes["diff"] when the texts differ. `joined`: lines without their ends, joined by line feeds, as append
 * shows them. */
void fstate_diff(fstate_t *s, const buf_t *before, const buf_t *after, bool joined);

#endif
