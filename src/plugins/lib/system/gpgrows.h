/* gpgrows.h - rows of arguments that functions of gpg share.
 *
 * Layer      plugins/lib/system
 */
#ifndef PLUGINS_LIB_SYSTEM_GPGROWS_H
#define PLUGINS_LIB_SYSTEM_GPGROWS_H

#include "salt/plugin.h"

#define GPG_ROW_USER                                                                                         \
    ROW("user", ARG_STR, "null", "Whose keyring; salt: gpgkeys beside the configuration", NULL)
#define GPG_ROW_HOME ROW("gnupghome", ARG_STR, "null", "Folder of the keyring", NULL)
#define GPG_ROW_KEYRING                                                                                      \
    ROW("keyring", ARG_ANY, "null", "File of keys to use in place of the folder's own", NULL)
#define GPG_ROWS_RING GPG_ROW_USER, GPG_ROW_HOME, GPG_ROW_KEYRING
#define GPG_ROW_KEYID                                                                                        \
    ROW("keyid", ARG_STR, "null", "The key: the last 8 or 16 digits of its fingerprint", NULL)
#define GPG_ROW_PRINT  ROW("fingerprint", ARG_STR, "null", "Or its fingerprint", NULL)
#define GPG_ROW_SERVER ROW("keyserver", ARG_STR, "null", "Key server, keys.openpgp.org by default", NULL)
#define GPG_ROW_PASS   ROW("use_passphrase", ARG_ANY, "false", "With gpg_passphrase of the pillar", NULL)
#define GPG_ROW_TEXT   ROW("text", ARG_STR, "null", "The text", NULL)
#define GPG_ROW_FILE   ROW("filename", ARG_STR, "null", "Or a file", NULL)
#define GPG_ROW_OUTPUT ROW("output", ARG_STR, "null", "File for the result", NULL)
#define GPG_ROW_BARE   ROW("bare", ARG_ANY, "false", "True: return the text alone", NULL)

#endif
