/* keyfiles.h - the master's folder of keys in one archive: what a backup of the store does not hold.
 *
 * Layer      runners
 * Threads    the worker's that runs the runner
 * Errors     negative errno with *err set; nothing is left of an archive that failed
 * Tests      tests/t/7030-backup.bats
 */
#ifndef RUNNERS_LIB_KEYFILES_H
#define RUNNERS_LIB_KEYFILES_H

#include "salt/plugin.h"

/* All files below pki_dir, as a tar archive with the name `to`, which is replaced: written beside it and
 * renamed, 0600 from its first moment on. */
int keyfiles_save(call_ctx_t *ctx, const char *to, fail_t *err);
/* Texts for who keeps a backup: NEW where the signing key is; NEW command that saves the keys. */
char *keyfiles_signing(call_ctx_t *ctx);
char *keyfiles_command(call_ctx_t *ctx, const char *to);

#endif
