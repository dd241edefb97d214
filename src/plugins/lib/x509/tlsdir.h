/* tlsdir.h - the folder of an authority as Salt's module tls keeps it:
 *
 *   BASE/NAME/NAME_ca_cert.crt, .key        the authority; the names by ca_filename
 *   BASE/NAME/certs/CN.crt, .key, .csr      what it issued
 *   BASE/NAME/index.txt                     a line of each, in the form of `openssl ca`; subjects as Salt writes them
 *   CACHEDIR/NAME.serial                    digits of all numbers given
 *
 * Names come from what others say at times (a CN from the mine): one that would leave its folder is refused.
 *
 * Layer      plugins/lib/x509
 * Ownership  tlsdir_free frees what tlsdir_open filled; results are NEW
 * Errors     negative errno with *err
 * Tests      tests/cases/exec/tls.*.json
 */
#ifndef PLUGINS_LIB_X509_TLSDIR_H
#define PLUGINS_LIB_X509_TLSDIR_H

#include "plugins/lib/x509/issue.h"

typedef struct tlsdir {
    const char *name; /* BORROWED from the arguments */
    char *base, *dir;
    char *ca_cert, *ca_key; /* paths */
} tlsdir_t;
#define tlsdir_auto_t __attribute__((cleanup(tlsdir_free))) tlsdir_t

/* cacert_path, which holds for the rest of the job, or what the configuration says. NEW, or NULL with *err. */
char *tls_base(call_ctx_t *ctx, const json_t *cacert_path, fail_t *err);
/* By the arguments `key` (ca_name, tls_dir), cacert_path and ca_filename. */
int tlsdir_open(call_ctx_t *ctx, const json_t *args, const char *key, tlsdir_t *out, fail_t *err);
void tlsdir_free(tlsdir_t *self);
/* FOLDER/FILE.EXT, NEW; NULL with *err when the file would be elsewhere. `what` names the argument. */
char *tls_path(const char *folder, const char *what, const char *file, const char *ext, fail_t *err);

/* The argument `given`, or CN, with "_TYPE" of cert_type behind it when type_ext asks for that. NEW. */
char *tls_file_of(const json_t *args, const char *given);
/* Valid from now on, for so many days. */
int tls_days(issue_t *out, json_int_t days, fail_t *err);

/* The first certificate or request of a file, which may hold other blocks too: 1 and *ret_doc, 0 when there is
 * no file, negative with *err. */
int tls_read_doc(xdoc_kind_t kind, const char *path, xdoc_t **ret_doc, fail_t *err);
/* The first of a text in PEM; NULL: it has none. */
xdoc_t *tls_doc_of(xdoc_kind_t kind, const char *pem);
/* The same for a private key. */
int tls_read_key(const char *path, pkey_t **ret_key, pkey_trouble_t *ret_trouble, fail_t *err);
/* The authority's certificate and key, which are a pair: 1, 0 when a file is not there, negative with *err. */
int tlsdir_authority(const tlsdir_t *self, xdoc_t **ret_cert, pkey_t **ret_key, fail_t *err);

/* Write PEM; a key is never readable by others, also where its file was. */
int tls_write_doc(const char *path, const char *label, const buf_t *der, fail_t *err);
int tls_write_secret(const char *path, const buf_t *bytes, fail_t *err);
/* A key and what goes with it. When the second can't be written, the file of the key is as before. */
int tls_write_pair(const char *key_path, pkey_t *key, const char *path, const char *label, const buf_t *der,
                   fail_t *err);

/* The serial number as index.txt has it: capital hexadecimal digits without zeros before them. NEW. */
char *index_serial(const xdoc_t *cert);
/* A time of index.txt: "260131100000Z". */
bool tls_index_time(const char *text, int64_t *ret_seconds);
/* A line of index.txt; `status` V, or R with the time of revocation. NEW */
char *index_line(const xdoc_t *cert, char status, int64_t revoked, fail_t *err);
/* Notes a certificate that is about to be issued, in index.txt and CACHEDIR/NAME.serial. */
int tlsdir_note(call_ctx_t *ctx, const tlsdir_t *self, const buf_t *der, fail_t *err);
/* index.txt; a missing one is empty. While the descriptor is open no other process changes it. A descriptor, or
 * negative with *err. */
int index_hold(const tlsdir_t *self, buf_t *out, fail_t *err);
int index_write(const tlsdir_t *self, const buf_t *text, fail_t *err);

#endif
