/* tlsrows.h - rows of arguments that the files of the module tls share.
 *
 * Layer      plugins/lib/x509
 */
#ifndef PLUGINS_LIB_X509_TLSROWS_H
#define PLUGINS_LIB_X509_TLSROWS_H

#include "salt/plugin.h"

#define TLS_STR(name, dflt, help) ARG(name, ARG_STR, dflt, help)
#define TLS_ROW_CA                TLS_STR("ca_name", ARG_REQUIRED, "Name of the authority")
#define TLS_ROW_BASE                                                                                         \
    TLS_STR("cacert_path", "null",                                                                           \
            "Folder of all authorities, for the rest of the job; else ca.cert_base_path")
#define TLS_ROW_CA_FILE TLS_STR("ca_filename", "null", "Name of the authority's files, without .crt and .key")
#define TLS_ROW_DIGEST  TLS_STR("digest", "\"sha256\"", "Hash of the signature")
#define TLS_ROW_REPLACE ARG("replace", ARG_ANY, "false", "True: also over a file that is there")
#define TLS_ROW_DAYS    ARG("days", ARG_INT, "365", "Days of validity")
#define TLS_ROW_BITS    ARG("bits", ARG_INT, "2048", "Bits of the key, which is of RSA")
#define TLS_ROW_CN      TLS_STR("CN", ARG_REQUIRED, "Common name, by which the files are called")

#endif
