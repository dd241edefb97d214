/* extracted.h - the steps of the state archive.extracted, in order: what is asked for, the archive's file,
 * what of it is there already, the unpacking. A note in the cache says while it is being unpacked, so that a
 * run that was killed in between is not taken for done by the next.
 *
 * Layer      plugins/lib/archive
 * Ownership  extracted_t owns what is said to be owned; extracted_free() frees that, not the struct
 * Errors     a step returns 0 to go on, 1 when the return is complete, a negative errno with *x->err
 * Tests      tests/cases/state/archive.extracted.json
 */
#ifndef PLUGINS_LIB_ARCHIVE_EXTRACTED_H
#define PLUGINS_LIB_ARCHIVE_EXTRACTED_H

#include "common/base/buf.h"
#include "salt/plugin.h"

typedef struct extracted {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    fail_t *err;
    char *name;           /* ends with "/" */
    char *source, *shown; /* the URL or path, and without its password */
    char *cached, *note;  /* the archive's file; the note of a run that has not ended */
    char *options;        /* NULL for none */
    const char *format;
    json_t *contents, *sum, *old_sum; /* owned; sums may be NULL */
    json_t *files;                    /* owned: what was extracted */
    json_t *trim;                     /* owned: a number, or false */
    bool local, cmd_unzip, needed, missing, hash_changed, made_dir, unfinished;
    uid_t uid;
    gid_t gid;
} extracted_t;

void extracted_free(extracted_t *x);
/* The state has failed, for this reason. Returns 1. */
int PRINTF(2, 3) extracted_fail(extracted_t *x, const char *fmt, ...);
/* An argument, BORROWED; NULL when it is None. */
json_t *extracted_arg(const extracted_t *x, const char *key);
bool extracted_asked(const extracted_t *x, const char *key);    /* whether it is true */
json_t *extracted_extra(const extracted_t *x, const char *key); /* of the other keyword arguments. BORROWED */

int extracted_check(extracted_t *x);   /* sets name, source, format, options, owner; needs no archive */
int extracted_fetch(extracted_t *x);   /* sets cached and the sums */
int extracted_compare(extracted_t *x); /* sets contents and needed */
int extracted_unpack(extracted_t *x);  /* sets files; nothing to do when it is not needed */

/* {"hash_type", "hsum"} that was kept of a file. NEW, NULL for none. */
json_t *extracted_kept_sum(const extracted_t *x, const char *path, const char *type);
/* A path below the name, without the slash at a folder's end. NEW. */
char *extracted_place(const extracted_t *x, const char *path);
/* Remove paths below the name: changes["removed"]. 1 with `sentence` and the errors as the comment. */
int extracted_remove(extracted_t *x, const json_t *paths, const char *sentence);
/* Why it is unpacked, for a comment. */
void extracted_reason(const extracted_t *x, buf_t *text);

#endif
