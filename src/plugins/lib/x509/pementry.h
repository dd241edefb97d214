/* pementry.h - PEM texts put in order: one block, its base64 in lines of 64.
 *
 * Layer      plugins/lib/x509
 * Errors     -EINVAL in Salt's words, without the text, which may be a private key
 * Tests      tests/cases/exec/x509.get_pem_entry.json
 */
#ifndef PLUGINS_LIB_X509_PEMENTRY_H
#define PLUGINS_LIB_X509_PEMENTRY_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* The first block of the kind in a path's file or a text; NULL: of any kind; Salt's "(?:RSA )?PRIVATE KEY" is
 * both. Appends. */
int pem_entry(const json_t *source, const char *kind, buf_t *out, fail_t *err);
/* Puts a text's block into a file; *ret_said NEW. */
int pem_write_file(const json_t *text, const char *path, bool overwrite, const char *kind, json_t **ret_said,
                   fail_t *err);
/* Writes encoded bytes to the file: PEM as pem_write_file, others as they are. */
int pem_write_encoded(const buf_t *bytes, const char *encoding, const char *path, bool overwrite,
                      const char *kind, const char *what, json_t **ret_said, fail_t *err);

#endif
