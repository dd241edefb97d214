/* aptrepo.h - what the functions about apt's sources and keys share.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time
 * Ownership  said per function
 * Errors     Salt's texts
 * Tests      tests/unit/plugins/test_apt.c
 */
#ifndef PLUGINS_LIB_APT_APTREPO_H
#define PLUGINS_LIB_APT_APTREPO_H

#include "plugins/lib/apt/apt.h"
#include "plugins/lib/apt/aptsources.h"

#define APT_KEYRINGS "/etc/apt/keyrings"

/* True when this host understands "ppa:OWNER/NAME". */
bool apt_is_ppa_host(call_ctx_t *ctx);
/* The line that "ppa:OWNER/NAME" stands for, with credentials when `auth` is not NULL. NEW, or NULL with
 * *err. */
char *apt_ppa_line(call_ctx_t *ctx, const char *repo, const char *auth, fail_t *err);
/* Launchpad's description of "ppa:OWNER/NAME". NEW, or NULL with *err. */
json_t *apt_ppa_info(call_ctx_t *ctx, const char *repo, fail_t *err);
/* pkg.get_repo: NEW {} when there is none. */
json_t *apt_find_repo(call_ctx_t *ctx, const char *repo, const char *auth, fail_t *err);
/* {"file", "comps", "disabled", "dist", "type", "uri", "line", "architectures", "signedby"}. NEW. */
json_t *apt_source_json(const apt_source_t *entry);

/* True for addresses that differ by slashes at their ends only. */
bool apt_same_uri(const char *a, const char *b);

/* `wanted`, unless there is no apt-key. */
bool apt_has_apt_key(bool wanted);
/* pkg.get_repo_keys; `keydir` NULL: APT_KEYRINGS. */
json_t *apt_keys(call_ctx_t *ctx, bool aptkey, const char *keydir, fail_t *err);

/* pkg.add_repo_key: 1 done, 0 not done. Texts may be NULL. */
typedef struct apt_key {
    const char *path, *text, *keyserver, *keyid, *saltenv, *keydir, *keyfile;
    bool aptkey;
} apt_key_t;
int apt_add_key(call_ctx_t *ctx, const apt_key_t *key, fail_t *err);

#endif
