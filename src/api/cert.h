/* cert.h - the certificate of the HTTP server, and its key, which change without new connections being
 * refused or old ones cut.
 *
 * libmicrohttpd's call for a certificate has no argument, so the process has one.
 *
 * Layer      api; the only user of GnuTLS
 * Threads    one
 * Tests      tests/t/6330-api-streams.bats
 */
#ifndef API_CERT_H
#define API_CERT_H

#include "api/settings.h"
#include "salt/base.h"

/* Handshakes use a certificate as long as this after it was replaced; they end sooner. */
#define CERT_KEPT_S 600

/* Reads the files of ssl_crt, ssl_key and ssl_chain for connections that begin from now on. Negative errno
 * with *err, and what was there stays: a file can't be read, is no PEM, or the key is not the
 * certificate's. */
int cert_load(const settings_t *set, fail_t *err);
/* libmicrohttpd's option MHD_OPTION_HTTPS_CERT_CALLBACK: a gnutls_certificate_retrieve_function2. */
void *cert_callback(void);
/* Forgets what was replaced long ago. */
void cert_tick(int64_t now_ms);
void cert_end(void);

#endif
