/* cert.c - see cert.h. A handshake borrows the certificate, so one that is replaced stays for a while. */
#include "api/cert.h"

#include <gnutls/abstract.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"

#define CERT_MAX (1024 * 1024) /* bytes of a file */
enum { CHAIN_MAX = 16 };

typedef struct cert {
    struct cert *next; /* that it has replaced */
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned n_chain;
    gnutls_privkey_t key;
    int64_t until_ms; /* monotonic: then it goes; 0: it is the newest */
} cert_t;

static cert_t *certs; /* the newest first */

static void
cert_free(cert_t *self)
{
    for (unsigned i = 0; i < self->n_chain; i++)
        gnutls_pcert_deinit(&self->chain[i]);
    if (self->key != NULL)
        gnutls_privkey_deinit(self->key);
    free(self);
}

static gnutls_datum_t
datum(const buf_t *text)
{
    return (gnutls_datum_t){ (unsigned char *) text->data, (unsigned) text->len };
}

/* GnuTLS's code; GNUTLS_E_SUCCESS: it is whole, and the key is the certificate's. */
static int
cert_parse(cert_t *self, const buf_t *crt, const buf_t *key)
{
    const gnutls_datum_t crt_pem = datum(crt), key_pem = datum(key);
    gnutls_certificate_credentials_t pair = NULL;
    unsigned n = CHAIN_MAX;
    int rc = gnutls_certificate_allocate_credentials(&pair);

    if (rc == GNUTLS_E_SUCCESS)
        rc = gnutls_certificate_set_x509_key_mem2(pair, &crt_pem, &key_pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (pair != NULL)
        gnutls_certificate_free_credentials(pair);
    if (rc < 0)
        return rc;
    rc = gnutls_pcert_list_import_x509_raw(self->chain, &n, &crt_pem, GNUTLS_X509_FMT_PEM, 0);
    if (rc < 0)
        return rc;
    self->n_chain = n;
    rc = gnutls_privkey_init(&self->key);
    return rc < 0 ? rc : gnutls_privkey_import_x509_raw(self->key, &key_pem, GNUTLS_X509_FMT_PEM, NULL, 0);
}

int
cert_load(const settings_t *set, fail_t *err)
{
    const char *crt = settings_str(set, "ssl_crt"), *key = settings_str(set, "ssl_key");
    const char *more = settings_str(set, "ssl_chain");
    buf_auto_t crt_pem = BUF_INIT, key_pem = BUF_INIT;

    if (fs_read(crt, CERT_MAX, &crt_pem, err) < 0 ||
        (*more != '\0' && fs_read(more, CERT_MAX, &crt_pem, err) < 0) ||
        fs_read(key, CERT_MAX, &key_pem, err) < 0)
        return err->code;
    cert_t *self = xcalloc(1, sizeof(*self));
    int rc = cert_parse(self, &crt_pem, &key_pem);
    if (key_pem.data != NULL)
        explicit_bzero(key_pem.data, key_pem.len);
    if (rc < 0) {
        cert_free(self);
        return fail_set(err, -EINVAL,
                        "ssl_crt (%s) and ssl_key (%s) are no certificate and its key in PEM: %s", crt, key,
                        gnutls_strerror(rc));
    }
    if (certs != NULL)
        certs->until_ms = clock_mono_ms() + CERT_KEPT_S * 1000;
    self->next = certs;
    certs = self;
    return 0;
}

/* gnutls_certificate_retrieve_function2 */
static int
cert_retrieve(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
              const gnutls_pk_algorithm_t *algos, int n_algos, gnutls_pcert_st **ret_chain, unsigned *ret_n,
              gnutls_privkey_t *ret_key)
{
    *ret_chain = certs->chain;
    *ret_n = certs->n_chain;
    *ret_key = certs->key;
    return 0;
}

void *
cert_callback(void)
{
    gnutls_certificate_retrieve_function2 *fn = cert_retrieve;

    return (void *) fn;
}

void
cert_tick(int64_t now_ms)
{
    for (cert_t **link = &certs, *self; (self = *link) != NULL;) {
        if (self->until_ms == 0 || now_ms < self->until_ms) {
            link = &self->next;
            continue;
        }
        *link = self->next;
        cert_free(self);
    }
}

void
cert_end(void)
{
    for (cert_t *self; (self = certs) != NULL;) {
        certs = self->next;
        cert_free(self);
    }
}
