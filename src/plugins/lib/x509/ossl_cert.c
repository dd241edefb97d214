/* ossl_cert.c - certificates by libcrypto: its texts of extensions, and chains. As in ossl.c
 * its functions are found by name, and all types are opaque. */
#include "common/base/str.h"
#include "common/host/library.h"
#include "plugins/lib/x509/ossl.h"
#include "plugins/lib/x509/ossl_cert.h"

typedef struct x509 x509_t;
typedef struct x509_crl x509_crl_t;
typedef struct x509_ext x509_ext_t;
typedef struct x509_store x509_store_t;
typedef struct x509_store_ctx x509_store_ctx_t;
typedef struct bio bio_t;
typedef struct asn1_object asn1_object_t;

#define OCERT_FUNCTIONS(F)                                                                                   \
    F(d2i_X509, x509_t *, (x509_t **, const unsigned char **, long) )                                        \
    F(i2d_X509, int, (const x509_t *, unsigned char **) )                                                    \
    F(X509_free, void, (x509_t *) )                                                                          \
    F(d2i_X509_CRL, x509_crl_t *, (x509_crl_t **, const unsigned char **, long) )                            \
    F(X509_CRL_free, void, (x509_crl_t *) )                                                                  \
    F(X509_get_ext_count, int, (const x509_t *) )                                                            \
    F(X509_get_ext, x509_ext_t *, (const x509_t *, int) )                                                    \
    F(X509_EXTENSION_get_object, asn1_object_t *, (x509_ext_t *) )                                           \
    F(X509V3_EXT_print, int, (bio_t *, x509_ext_t *, unsigned long, int) )                                   \
    F(OBJ_obj2nid, int, (const asn1_object_t *) )                                                            \
    F(OBJ_obj2txt, int, (char *, int, const asn1_object_t *, int) )                                          \
    F(OBJ_txt2nid, int, (const char *) )                                                                     \
    F(OBJ_nid2sn, const char *, (int) )                                                                      \
    F(BIO_new, bio_t *, (const void *) )                                                                     \
    F(BIO_s_mem, const void *, (void) )                                                                      \
    F(BIO_ctrl, long, (bio_t *, int, long, void *) )                                                         \
    F(BIO_free, int, (bio_t *) )                                                                             \
    F(X509_STORE_new, x509_store_t *, (void) )                                                               \
    F(X509_STORE_free, void, (x509_store_t *) )                                                              \
    F(X509_STORE_add_cert, int, (x509_store_t *, x509_t *) )                                                 \
    F(X509_STORE_add_crl, int, (x509_store_t *, x509_crl_t *) )                                              \
    F(X509_STORE_set_flags, int, (x509_store_t *, unsigned long) )                                           \
    F(X509_STORE_CTX_new, x509_store_ctx_t *, (void) )                                                       \
    F(X509_STORE_CTX_free, void, (x509_store_ctx_t *) )                                                      \
    F(X509_STORE_CTX_init, int, (x509_store_ctx_t *, x509_store_t *, x509_t *, void *) )                     \
    F(X509_verify_cert, int, (x509_store_ctx_t *) )                                                          \
    F(X509_STORE_CTX_get_error, int, (const x509_store_ctx_t *) )                                            \
    F(X509_STORE_CTX_get_current_cert, x509_t *, (const x509_store_ctx_t *) )                                \
    F(X509_verify_cert_error_string, const char *, (long) )

#define OCERT_MEMBER(name, result, arguments) result(*name) arguments;
#define OCERT_SYMBOL(name, result, arguments) ROW(#name, offsetof(struct ocert, name)),

struct ocert {
    OCERT_FUNCTIONS(OCERT_MEMBER)
};
static const library_symbol_t ocert_symbols[] = { OCERT_FUNCTIONS(OCERT_SYMBOL) };

enum {
    BIO_INFO = 3,           /* BIO_CTRL_INFO: what a BIO in memory holds */
    DUMP_UNKNOWN = 3 << 16, /* X509V3_EXT_DUMP_UNKNOWN */
    CRL_CHECK = 0x4,        /* X509_V_FLAG_CRL_CHECK */
    CRL_CHECK_ALL = 0x8     /* X509_V_FLAG_CRL_CHECK_ALL */
};

static int
ocert_load(struct ocert *into, fail_t *err)
{
    return ossl_symbols(ocert_symbols, NELEMS(ocert_symbols), into, err);
}

static x509_t *
ocert_read(const struct ocert *o, const buf_t *der, fail_t *err)
{
    const unsigned char *at = (const unsigned char *) buf_str(der);
    x509_t *cert = o->d2i_X509(NULL, &at, (long) der->len);

    if (cert == NULL)
        fail_kind(err, FAIL_COMMAND, -EINVAL, "libcrypto does not take the certificate");
    return cert;
}

/* ---- texts -------------------------------------------------------------------------------------- */

static void
ocert_put_extension(const struct ocert *o, x509_ext_t *ext, json_t *into)
{
    const asn1_object_t *object = o->X509_EXTENSION_get_object(ext);
    int nid = o->OBJ_obj2nid(object);
    char oid[128] = "", *text = NULL;
    bio_t *bio = o->BIO_new(o->BIO_s_mem());

    if (nid == 0)
        (void) o->OBJ_obj2txt(oid, sizeof(oid), object, 1);
    if (bio != NULL && o->X509V3_EXT_print(bio, ext, DUMP_UNKNOWN, 0) == 1) {
        long len = o->BIO_ctrl(bio, BIO_INFO, 0, &text);
        AUTO_FREE char *copy = xstrndup(text != NULL ? text : "", len > 0 ? (size_t) len : 0);
        const char *shown = str_trim(copy);
        json_object_set_new(into, nid != 0 ? o->OBJ_nid2sn(nid) : oid, value_utf8(shown, strlen(shown)));
    }
    (void) o->BIO_free(bio);
}

json_t *
cert_extension_texts(const buf_t *der, fail_t *err)
{
    struct ocert o;
    x509_t *cert = ocert_load(&o, err) == 0 ? ocert_read(&o, der, err) : NULL;

    if (cert == NULL)
        return NULL;
    json_t *texts = json_object();
    for (int i = 0; i < o.X509_get_ext_count(cert); i++)
        ocert_put_extension(&o, o.X509_get_ext(cert, i), texts);
    o.X509_free(cert);
    return texts;
}

json_t *
cert_name_pairs(const json_t *name, fail_t *err)
{
    struct ocert o;
    json_t *pairs, *relative, *one;
    size_t i, k;

    if (ocert_load(&o, err) != 0)
        return NULL;
    pairs = json_array();
    json_array_foreach (name, i, relative)
        json_array_foreach (relative, k, one) {
            int nid = o.OBJ_txt2nid(json_string_value(json_array_get(one, 0)));
            json_array_append_new(pairs, json_pack("[s, O]", o.OBJ_nid2sn(nid), json_array_get(one, 1)));
        }
    return pairs;
}

json_t *
cert_name_members(const json_t *name, fail_t *err)
{
    json_auto_t *pairs = cert_name_pairs(name, err);
    json_t *members = pairs != NULL ? json_object() : NULL, *one;
    size_t i;

    json_array_foreach (pairs, i, one)
        json_object_set(members, json_string_value(json_array_get(one, 0)), json_array_get(one, 1));
    return members;
}

/* ---- chains ------------------------------------------------------------------------------------- */

/* The reason that X509_verify_cert gives. */
static void
ocert_tell_verdict(const struct ocert *o, const x509_store_ctx_t *ctx, char **ret_why, buf_t *ret_at)
{
    x509_t *at = o->X509_STORE_CTX_get_current_cert(ctx);
    int size = at != NULL ? o->i2d_X509(at, NULL) : 0;

    *ret_why = xstrdup(o->X509_verify_cert_error_string(o->X509_STORE_CTX_get_error(ctx)));
    if (size <= 0)
        return;
    buf_fill(ret_at, '\0', (size_t) size);
    unsigned char *into = (unsigned char *) ret_at->data + ret_at->len - size;
    (void) o->i2d_X509(at, &into);
}

int
cert_verify(const buf_t *cert, const buf_t *ca, const buf_t *crl, bool *ret_valid, char **ret_why,
            buf_t *ret_at, fail_t *err)
{
    struct ocert o;

    if (ocert_load(&o, err) != 0)
        return err->code;
    const unsigned char *at = (const unsigned char *) buf_str(crl);
    x509_t *leaf = ocert_read(&o, cert, err), *authority = leaf != NULL ? ocert_read(&o, ca, err) : NULL;
    x509_crl_t *list = crl->len > 0 ? o.d2i_X509_CRL(NULL, &at, (long) crl->len) : NULL;
    x509_store_t *store = o.X509_STORE_new();
    x509_store_ctx_t *ctx = o.X509_STORE_CTX_new();

    if (authority != NULL && (store == NULL || ctx == NULL || (crl->len > 0 && list == NULL) ||
                              o.X509_STORE_add_cert(store, authority) != 1 ||
                              (list != NULL && o.X509_STORE_add_crl(store, list) != 1) ||
                              o.X509_STORE_set_flags(store, CRL_CHECK | CRL_CHECK_ALL) != 1 ||
                              o.X509_STORE_CTX_init(ctx, store, leaf, NULL) != 1)) {
        fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not verify the certificate");
    } else if (authority != NULL) {
        *ret_valid = o.X509_verify_cert(ctx) == 1;
        if (!*ret_valid)
            ocert_tell_verdict(&o, ctx, ret_why, ret_at);
    }
    o.X509_STORE_CTX_free(ctx);
    o.X509_STORE_free(store);
    o.X509_CRL_free(list);
    o.X509_free(authority);
    o.X509_free(leaf);
    return err->code;
}
