/* authkeys.h - the keys that may log in: a user's authorized_keys, as Salt reads and writes it.
 *
 * Shape      {KEY: {"enc": "ssh-rsa", "comment": "a@b", "options": [...], "fingerprint": "aa:bb:..."}}
 *
 * Layer      plugins/lib/system
 * Threads    a job's child
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND in Salt's words
 * Tests      tests/unit/plugins/test_authkeys.c, tests/cases/exec/ssh.*.json, cases/state/ssh_auth.*.json
 */
#ifndef PLUGINS_LIB_SYSTEM_AUTHKEYS_H
#define PLUGINS_LIB_SYSTEM_AUTHKEYS_H

#include <sys/types.h>

#include "salt/plugin.h"

/* One line of the file: "from=... ssh-rsa KEY a@b". All owned; options as they are written. */
typedef struct auth_line {
    char *options, *enc, *key, *comment;
} auth_line_t;
#define AUTH_LINE_INIT   ROW(NULL, NULL, NULL, NULL)
#define auth_line_auto_t __attribute__((cleanup(auth_line_free))) auth_line_t
void auth_line_free(auth_line_t *line);
/* False for comments and what is not a key. */
bool auth_line_parse(const char *text, size_t len, auth_line_t *out);
/* "OPTIONS ENC KEY COMMENT\n" */
char *auth_line_text(const char *key, const char *enc, const char *comment, const json_t *options);
/* False for options that sshd would read to an end before theirs, so that what follows is another key: a blank
 * outside of quotes, or quotes that are not closed. */
bool auth_options_sound(const json_t *options);
/* "a,b" as a list. */
json_t *auth_options(const char *text);

/* "rsa" is "ssh-rsa"; NULL with *err for what is not a type of a key. BORROWED. */
const char *auth_enc(const char *enc, fail_t *err);
/* "aa:bb:..." of a key; NULL: it is none, or *err. `hash` NULL: sha256. */
char *auth_fingerprint(const char *key, const char *hash, fail_t *err);

/* The owner of the keys and the file's path. All owned. */
typedef struct auth_file {
    char *path, *home;
    uid_t uid;
    gid_t gid;
} auth_file_t;
#define auth_file_auto_t __attribute__((cleanup(auth_file_free))) auth_file_t
void auth_file_free(auth_file_t *file);
/* `config` is a path with %u and %h, or one below the user's home. */
int auth_file_of(const char *user, const char *config, auth_file_t *out, fail_t *err);

/* The keys of a file; {} when there is none. NULL with *err. */
json_t *auth_keys_read(const char *path, const char *hash, fail_t *err);
/* The line of `key` becomes `line`; NULL: it goes; a new one comes to the end. The file is replaced in one
 * piece, with its owner and mode, or 0600 for a new one; a link to it stays (partfile.h). */
int auth_keys_write(const auth_file_t *file, const char *key, const char *line, fail_t *err);

#endif
