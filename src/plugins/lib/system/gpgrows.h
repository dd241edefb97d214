/* gpgrows.h - rows of arguments that functions of gpg share.
 *
 * Layer      plugins/lib/system
 */
#ifndef PLUGINS_LIB_SYSTEM_GPGROWS_H
#define PLUGINS_LIB_SYSTEM_GPGROWS_H

#include "salt/plugin.h"

#define GPG_ROW_USER    ARG("user", ARG_STR, "null", "Whose keyring; salt: gpgkeys beside the configuration")
#define GPG_ROW_HOME    ARG("gnupghome", ARG_STR, "null", "Folder of the keyring")
#define GPG_ROW_KEYRING ARG("keyring", ARG_ANY, "null", "File of keys to use in place of the folder's own")
#define GPG_ROWS_RING   GPG_ROW_USER, GPG_ROW_HOME, GPG_ROW_KEYRING
#define GPG_ROW_KEYID   ARG("keyid", ARG_STR, "null", "The key: the last 8 or 16 digits of its fingerprint")
#define GPG_ROW_PRINT   ARG("fingerprint", ARG_STR, "null", "Or its fingerprint")
#define GPG_ROW_SERVER  ARG("keyserver", ARG_STR, "null", "Key server, keys.openpgp.org by default")
#define GPG_ROW_PASS    ARG("use_passphrase", ARG_ANY, "false", "With gpg_passphrase of the pillar")
#define GPG_ROW_TEXT    ARG("text", ARG_STR, "null", "The text")
#define GPG_ROW_FILE    ARG("filename", ARG_STR, "null", "Or a file")
#define GPG_ROW_OUTPUT  ARG("output", ARG_STR, "null", "File for the result")
#define GPG_ROW_BARE    ARG("bare", ARG_ANY, "false", "True: return the text alone")

#endif
