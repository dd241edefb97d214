/* knownhosts.h - known_hosts of ssh: what it says of a host, what the host itself says, and its next content.
 *
 * Entries are as Salt's: {"hostname", "key", "enc", "fingerprint"}, the name as the line has it (maybe
 * hashed). ssh-keygen finds, removes and hashes lines, on a private copy: the file itself is replaced whole
 * (partfile.h).
 *
 * Layer      plugins/lib/system
 * Ownership  results are NEW
 * Errors     negative errno; what Salt answers as {"status": "error"} is an answer here too
 * Tests      tests/cases/exec/ssh.*known_host*.json, tests/t/4970-known-hosts.bats
 */
#ifndef PLUGINS_LIB_SYSTEM_KNOWNHOSTS_H
#define PLUGINS_LIB_SYSTEM_KNOWNHOSTS_H

#include <sys/types.h>

#include "salt/plugin.h"

/* A call's own arguments, BORROWED, and its file. */
typedef struct knownhosts {
    const char *user, *host, *fingerprint, *key, *enc, *hash;
    const json_t *port, *timeout;
    bool hashed; /* names are to be hashed */
    char *path;  /* owned */
    uid_t uid;   /* the user's; (uid_t) -1 without one */
    gid_t gid;
} knownhosts_t;
#define knownhosts_auto_t __attribute__((cleanup(knownhosts_free))) knownhosts_t
void knownhosts_free(knownhosts_t *self);

/* From a function's arguments; the host is the argument `host`. */
int knownhosts_of(knownhosts_t *self, const json_t *args, const char *host, fail_t *err);
/* Salt's {"status": "error", "error": ...} where there is no host, no user or no path; NULL: all is well, or
 * *err. */
json_t *knownhosts_wrong(const knownhosts_t *self);

/* The file's entries of the host; None when there are none. NULL with *err. */
json_t *knownhosts_entries(call_ctx_t *ctx, const knownhosts_t *self, fail_t *err);
/* The same from the host, by ssh-keyscan. */
json_t *knownhosts_scan(call_ctx_t *ctx, const knownhosts_t *self, fail_t *err);
/* "add", "update" or "exists"; NULL with *err. BORROWED. */
const char *knownhosts_check(const knownhosts_t *self, const json_t *entries);

/* ssh.set_known_host's answer; with `dry` nothing is written. */
json_t *knownhosts_set(call_ctx_t *ctx, const knownhosts_t *self, bool dry, fail_t *err);
/* ssh-keygen -R of the host, or -H when `hash`, over the file, which must be there. *ret_said is its output. */
int knownhosts_rewrite(call_ctx_t *ctx, const knownhosts_t *self, bool hash, json_t **ret_said, fail_t *err);

#endif
