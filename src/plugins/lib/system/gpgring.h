/* gpgring.h - a keyring of GnuPG by its program gpg: no terminal, a deadline, passphrases by its standard input.
 *
 * Layer      plugins/lib/system
 * Ownership  gpgring_free frees what gpg_begin filled; results are NEW
 * Errors     negative errno or NULL with *err; what gpg itself refuses is in its status lines
 * Tests      tests/cases/exec/gpg.*.json
 */
#ifndef PLUGINS_LIB_SYSTEM_GPGRING_H
#define PLUGINS_LIB_SYSTEM_GPGRING_H

#include "common/host/prog.h"
#include "salt/plugin.h"

typedef struct gpg {
    prog_t prog; /* options stand; the caller adds the command */
    proc_result_t res;
    char *home, *user; /* user NULL: as we are */
    buf_t in;          /* bytes for gpg's input: the passphrase's line, then the caller's data */
} gpg_t;
#define gpg_auto_t __attribute__((cleanup(gpgring_free))) gpg_t

/* Why the module can't be used, or NULL. */
const char *gpg_missing(call_ctx_t *ctx);
/* The keyring of the arguments gnupghome, user and keyring; a folder that is not there is made when `make` is set. `pass`
 * NULL: none. */
int gpg_begin(call_ctx_t *ctx, const json_t *args, const char *pass, bool make, gpg_t *out, fail_t *err);
void gpgring_free(gpg_t *self);
/* Runs gpg on what is in `in`. */
int gpg_go(gpg_t *self, int timeout_s, fail_t *err);
/* The next status line from *at on: "KEYWORD" and the rest. False at the end. Both NEW. */
bool gpg_status(const char **at, char **ret_key, char **ret_rest);
/* The rest of the first status line with the keyword. NEW, or NULL. */
char *gpg_said(const gpg_t *self, const char *keyword);
/* gpg_passphrase of the pillar: NEW, to be wiped; NULL: there is none, or *err. */
char *gpg_passphrase(call_ctx_t *ctx, fail_t *err);
void gpg_wipe(char **pass);
#define AUTO_GPG_PASS __attribute__((cleanup(gpg_wipe))) char *

/* Salt's list of keys: [{keyid, fingerprint, uids, expires, created, keyLength, ownerTrust, trust}]. */
json_t *gpg_keys(call_ctx_t *ctx, const json_t *args, bool secret, fail_t *err);
/* The same of lines in colons. */
json_t *gpg_keys_of(const char *colons);
/* True when a key of the list is the one that is named: fingerprint, its last 16 or 8 digits, with or without
 * 0x. */
bool gpg_is_key(const json_t *key, const char *wanted);
/* "not_trusted" to "Not Trusted"; NULL: no such level. *ret_number is GnuPG's. */
const char *gpg_trust(const char *level, int *ret_number);

/* ---- gpgtell.c: answers in Salt's form ----------------------------------------------------------- */

/* The output of --search-keys as Salt's list: [{keyid, uids, expires, created, keyLength}]. */
json_t *gpg_found_keys(const char *colons);
/* The output of --import-ownertrust in Salt's words; "" when it says nothing. NEW text. */
char *gpg_trust_said(const char *errs);
/* A list, or a text with commas between its words. NEW list. */
json_t *gpg_words(const json_t *v);
/* A status line that tells a key was not imported. */
bool gpg_is_import_problem(const char *keyword);
/* {"res", "comment"}, or when `bare` the text alone or False. `written` is said of the file `output`, if one is
 * given; `why` is the comment of a failure, NULL: none. */
json_t *gpg_result(bool good, bool bare, const char *output, const char *written, const buf_t *text,
                   const char *why);
/* Salt's answer of gpg.verify to the status lines: {res, message, ...}. With `any` or `all`, which are fingerprints, the
 * keys that must have signed; NULL for neither. Trust does not count then. */
json_t *gpg_verdict(const char *errs);
json_t *gpg_signers(const char *errs, const json_t *any, const json_t *all);
/* How an encryption or decryption went, by its status lines. NEW; *ret_good. */
char *gpg_crypt_status(const char *errs, bool *ret_good);
/* Adds created, expires: a day of a time in seconds, in local time; nothing for no time. */
void gpg_put_day(json_t *key, const char *name, const char *seconds);
json_t *gpg_uid_text(const char *field); /* with what gpg escapes as it is */

#endif
