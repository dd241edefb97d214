/* tlsdir.c - the folder of an authority: paths, reading and writing. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/x509/tlsdir.h"

enum { DOC_MAX = 4 * 1024 * 1024, DAY = 24 * 60 * 60, DAYS_MAX = 2000000 };

/* ---- paths -------------------------------------------------------------------------------------- */

char *
tls_base(call_ctx_t *ctx, const json_t *cacert_path, fail_t *err)
{
    static const char *const keys[] = { "ca.contextual_cert_base_path", "ca.cert_base_path" };
    json_auto_t *found = NULL;

    if (value_truthy(cacert_path))
        json_object_set(ctx_context(ctx), keys[0], (json_t *) cacert_path);
    for (size_t i = 0; i < NELEMS(keys) && !value_truthy(found); i++) {
        json_decref(found);
        json_t *own = value_get(ctx_context(ctx), keys[i]);
        found = own != NULL ? json_incref(own)
                            : sub_call(ctx, err, "config.option", "{s:s}", "value", keys[i]);
        if (found == NULL)
            return NULL;
    }
    return value_pystr(found);
}

/* The name must be one part of a path. */
char *
tls_path(const char *folder, const char *what, const char *file, const char *ext, fail_t *err)
{
    if (beneath_is_name(file))
        return xasprintf("%s/%s.%s", folder, file, ext);
    fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: %s can't be the name of a file in %s", what, file, folder);
    return NULL;
}

/* Fills the paths; nothing is looked at on disk yet. */
int
tlsdir_open(call_ctx_t *ctx, const json_t *args, const char *key, tlsdir_t *out, fail_t *err)
{
    out->name = value_str(args, key, "");
    if (!beneath_is_name(out->name))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: %s can't be the name of a folder", key,
                         out->name);
    out->base = tls_base(ctx, value_get(args, "cacert_path"), err);
    if (out->base == NULL)
        return err->code;
    AUTO_FREE char *usual = xasprintf("%s_ca_cert", out->name);
    const char *given = value_str(args, "ca_filename", ""), *file = *given != '\0' ? given : usual;
    out->dir = xasprintf("%s/%s", out->base, out->name);
    out->ca_cert = tls_path(out->dir, "ca_filename", file, "crt", err);
    out->ca_key = out->ca_cert != NULL ? tls_path(out->dir, "ca_filename", file, "key", err) : NULL;
    return out->ca_key != NULL ? 0 : err->code;
}

void
tlsdir_free(tlsdir_t *self)
{
    free(self->base);
    free(self->dir);
    free(self->ca_cert);
    free(self->ca_key);
}

char *
tls_file_of(const json_t *args, const char *given)
{
    bool typed = value_truthy(value_get(args, "type_ext"));
    const char *own = value_str(args, given, "");

    return *own != '\0' ? xstrdup(own)
                        : xasprintf("%s%s%s", value_str(args, "CN", ""), typed ? "_" : "",
                                    typed ? value_str(args, "cert_type", "") : "");
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The first block of the kind; others before it are passed over. */
xdoc_t *
tls_doc_of(xdoc_kind_t kind, const char *pem)
{
    static const char *const labels[][3] = { { "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE" },
                                             { "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST",
                                               "CERTIFICATE REQUEST" },
                                             { "X509 CRL", "X509 CRL", "X509 CRL" } };

    for (bool more = true; more;) {
        AUTO_FREE char *label = NULL;
        buf_wiped_t der = BUF_INIT;
        more = pem_next(&pem, &label, &der);
        for (size_t i = 0; more && i < NELEMS(labels[kind]); i++)
            if (str_eq(label, labels[kind][i]))
                return xdoc_parse(kind, buf_str(&der), der.len);
    }
    return NULL;
}

/* 1 with the document, 0 when the file isn't there, or negative. */
int
tls_read_doc(xdoc_kind_t kind, const char *path, xdoc_t **ret_doc, fail_t *err)
{
    static const char *const names[] = { "certificate", "certificate signing request",
                                         "certificate revocation list" };
    buf_wiped_t bytes = BUF_INIT;
    int there = fs_read_any(path, DOC_MAX, &bytes, err);

    if (there <= 0)
        return there;
    *ret_doc = tls_doc_of(kind, buf_str(&bytes));
    return *ret_doc != NULL
               ? 1
               : fail_kind(err, FAIL_COMMAND, -EINVAL, "%s holds no %s in PEM", path, names[kind]);
}

/* As tls_read_doc(). Keys of an authority here have no passphrase. */
int
tls_read_key(const char *path, pkey_t **ret_key, pkey_trouble_t *ret_trouble, fail_t *err)
{
    buf_wiped_t bytes = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int there = fs_read_any(path, DOC_MAX, &bytes, err);

    if (there <= 0)
        return there;
    *ret_key = pkey_read(&bytes, NULL, NULL, ret_trouble, &why);
    return *ret_key != NULL ? 1 : fail_kind(err, why.kind, why.code, "%s: %s", path, fail_text(&why));
}

/* 1 with both, 0 when one of the files isn't there. A pair that does not fit is an error. */
int
tlsdir_authority(const tlsdir_t *self, xdoc_t **ret_cert, pkey_t **ret_key, fail_t *err)
{
    int there = tls_read_doc(XDOC_CERT, self->ca_cert, ret_cert, err);

    if (there > 0)
        there = tls_read_key(self->ca_key, ret_key, NULL, err);
    if (there <= 0)
        return there;
    AUTO(pkey) public = xdoc_key(*ret_cert, err);
    if (public == NULL)
        return err->code;
    return pkey_equal(public, *ret_key) ? 1
                                        : fail_kind(err, FAIL_COMMAND, -EINVAL, "%s is not the key of %s",
                                                    self->ca_key, self->ca_cert);
}

/* ---- writing ------------------------------------------------------------------------------------ */

int
tls_write_doc(const char *path, const char *label, const buf_t *der, fail_t *err)
{
    buf_auto_t pem = BUF_INIT;

    pem_armour(label, der->data, der->len, &pem);
    return fs_rewrite(path, pem.data, pem.len, 0644, err);
}

/* A file that is there keeps its owner and its mode without the bits of others. */
int
tls_write_secret(const char *path, const buf_t *bytes, fail_t *err)
{
    struct stat st;

    if (stat(path, &st) == 0 && (st.st_mode & 07) != 0 && chmod(path, st.st_mode & 07770) != 0)
        return fs_fail(err, -errno, "protect", path);
    return fs_rewrite(path, bytes->data, bytes->len, 0600, err);
}

/* The key first: a certificate without its key is of no use. When the second file can't be written the first
 * is put back. */
int
tls_write_pair(const char *key_path, pkey_t *key, const char *path, const char *label, const buf_t *der,
               fail_t *err)
{
    buf_wiped_t before = BUF_INIT, pem = BUF_INIT;
    fail_auto_t ignored = FAIL_INIT;
    int had = fs_read_any(key_path, DOC_MAX, &before, err);

    if (had < 0 || encode_key(key, "pem", NULL, false, &pem, err) != 0 ||
        tls_write_secret(key_path, &pem, err) != 0)
        return err->code;
    if (tls_write_doc(path, label, der, err) == 0)
        return 0;
    if (had > 0)
        (void) tls_write_secret(key_path, &before, &ignored);
    else
        (void) unlink(key_path);
    return err->code;
}

int
tls_days(issue_t *out, json_int_t days, fail_t *err)
{
    if (days < -DAYS_MAX || days > DAYS_MAX)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "days must be between -%d and %d, not %" JSON_INTEGER_FORMAT, DAYS_MAX, DAYS_MAX,
                         days);
    out->from = clock_wall_us() / 1000000;
    out->until = out->from + days * DAY;
    return 0;
}
