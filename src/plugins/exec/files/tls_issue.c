/* tls_issue.c - execution module `tls`, second part: an authority signs requests and lists of what it has
 * revoked. Expected misses (no such authority, request or certificate, a file that is there) are sentences as
 * results, as by Salt; two functions of it answer with retcode 1 and a comment instead. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/x509/tlsdir.h"
#include "plugins/lib/x509/tlsrows.h"
#include "salt/log.h"

/* ---- certificates ------------------------------------------------------------------------------- */

/* A failure as data. The retcode becomes the job's, too. */
static int
tls_say_failed(call_ctx_t *ctx, json_t *comment, json_t **ret_value)
{
    ctx_set_retcode(ctx, 1);
    *ret_value = json_pack("{s:i, s:o}", "retcode", 1, "comment", comment);
    return 0;
}

/* The certificate of a request. TAKES `ca_key`. The request must prove that its sender has the key: its own
 * signature is checked. Its extensions are taken as they are, which is Salt's way: whoever runs the call has
 * seen the request. */
static int
sign_request(const xdoc_t *csr, const xdoc_t *ca, pkey_t *ca_key, const json_t *args, buf_t *ret_der,
             fail_t *err)
{
    issue_auto_t issue = { .kind = XDOC_CERT, .signer = ca_key };
    AUTO(pkey) own = xdoc_key(csr, err);

    if (own == NULL)
        return err->code;
    if (!xdoc_signed_by(csr, own))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "The request is not signed by the key that it is for");
    issue.digest = xstrdup(value_str(args, "digest", ""));
    issue.extensions = json_incref(csr->extensions);
    buf_add(&issue.spki, csr->spki.p, csr->spki.len);
    buf_add(&issue.subject, csr->subject_der.p, csr->subject_der.len);
    buf_add(&issue.issuer, ca->subject_der.p, ca->subject_der.len);
    return tls_days(&issue, value_int(args, "days", 0), err) != 0 || issue_serial(&issue.serial, err) != 0
               ? err->code
               : issue_sign(&issue, ret_der, err);
}

/* sign_request() takes the key; on every way that does not reach it the key is freed here. */
static int
tls_create_ca_signed_cert(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *cn = value_str(args, "CN", ""), *given = value_str(args, "cert_path", "");
    tlsdir_auto_t dir = { .name = NULL };
    buf_auto_t der = BUF_INIT;
    AUTO(xdoc) ca = NULL;
    AUTO(xdoc) csr = NULL;
    pkey_t *ca_key = NULL;

    /* type_ext puts the type into the file's name, so that there must be one; {} is Salt's answer. */
    if (value_truthy(value_get(args, "type_ext")) && *value_str(args, "cert_type", "") == '\0') {
        log_error("type_ext = True but cert_type is unset. Certificate not written.");
        *ret_value = json_object();
        return 0;
    }
    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *folder = *given != '\0' ? xstrdup(given) : xasprintf("%s/certs", dir.dir);
    AUTO_FREE char *csr_file = tls_file_of(args, ""), *file = tls_file_of(args, "cert_filename");
    AUTO_FREE char *path = tls_path(folder, "CN", file, "crt", err);
    AUTO_FREE char *csr_path = path != NULL ? tls_path(folder, "CN", csr_file, "csr", err) : NULL;
    int there = csr_path == NULL                           ? err->code
                : value_truthy(value_get(args, "replace")) ? 0
                                                           : fs_look(path, err);
    if (there != 0) {
        *ret_value = there < 0 ? NULL : value_fmt("Certificate \"%s\" already exists", file);
        return there < 0 ? there : 0;
    }
    /* Called by its name, which also mends an old certificate's version. */
    there = sub_call_bool(ctx, err, "tls.ca_exists", "{s:s, s:O, s:O}", "ca_name", dir.name, "cacert_path",
                          value_get(args, "cacert_path"), "ca_filename", value_get(args, "ca_filename"));
    there = there > 0 ? tlsdir_authority(&dir, &ca, &ca_key, err) : there;
    if (there <= 0) {
        pkey_destroy(&ca_key);
        return there < 0 ? there
                         : tls_say_failed(ctx, value_fmt("There is no CA named \"%s\"", dir.name), ret_value);
    }
    /* The request is found by the common name, or by a name that cert_type has been added to. */
    there = tls_read_doc(XDOC_CSR, csr_path, &csr, err);
    if (there <= 0) {
        pkey_destroy(&ca_key);
        return there < 0 ? there
                         : tls_say_failed(ctx, value_fmt("There is no CSR that matches the CN \"%s\"", file),
                                          ret_value);
    }
    if (sign_request(csr, ca, ca_key, args, &der, err) != 0 || tlsdir_note(ctx, &dir, &der, err) != 0 ||
        tls_write_doc(path, "CERTIFICATE", &der, err) != 0)
        return err->code;
    *ret_value = value_fmt("Created Certificate for \"%s\": \"%s\"", cn, path);
    return 0;
}

/* Key, certificate and the authority's certificate in one file, which others may not read. */
static int
tls_create_pkcs12(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *cn = value_str(args, "CN", "");
    tlsdir_auto_t dir = { .name = NULL };
    buf_wiped_t bytes = BUF_INIT;
    AUTO(xdoc) ca = NULL;
    AUTO(xdoc) cert = NULL;
    AUTO(pkey) key = NULL;

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *folder = xasprintf("%s/certs", dir.dir);
    AUTO_FREE char *path = tls_path(folder, "CN", cn, "p12", err);
    if (path == NULL)
        return err->code;
    AUTO_FREE char *cert_path = xasprintf("%s/%s.crt", folder, cn),
                   *key_path = xasprintf("%s/%s.key", folder, cn);
    int there = value_truthy(value_get(args, "replace")) ? 0 : fs_look(path, err);
    if (there != 0) {
        *ret_value = there < 0 ? NULL : value_fmt("Certificate \"%s\" already exists", cn);
        return there < 0 ? there : 0;
    }
    /* The authority's certificate goes into the file, so that who imports it can verify the chain. */
    there = tls_read_doc(XDOC_CERT, dir.ca_cert, &ca, err);
    if (there <= 0) {
        *ret_value = there < 0 ? NULL : value_fmt("There is no CA named \"%s\"", dir.name);
        return there;
    }
    there = tls_read_doc(XDOC_CERT, cert_path, &cert, err);
    there = there > 0 ? tls_read_key(key_path, &key, NULL, err) : there;
    if (there <= 0) {
        *ret_value = there < 0 ? NULL : value_fmt("There is no certificate that matches the CN \"%s\"", cn);
        return there;
    }
    const p12_t p12 = { .key = key, .cert = cert->der, .more = &ca->der, .n_more = 1 };
    if (p12_write(&p12, value_str(args, "passphrase", ""), false, &bytes, err) != 0 ||
        tls_write_secret(path, &bytes, err) != 0)
        return err->code;
    *ret_value = value_fmt("Created PKCS#12 Certificate for \"%s\": \"%s\"", cn, path);
    return 0;
}

/* ---- revocation lists --------------------------------------------------------------------------- */

/* Adds what index.txt says of revoked certificates: R, end, time of revocation, serial number. A line of
 * another status is skipped. A revoked line that can't be read ends the call: a list that lacks a revocation
 * would be worse than none. */
static int
add_revoked(const char *index, issue_t *issue, fail_t *err)
{
    char **lines = str_split(index, "\n", true);

    for (size_t i = 0; lines[i] != NULL && err->code == 0; i++) {
        char **fields = str_split(lines[i], "\t", false);
        buf_auto_t serial = BUF_INIT;
        int64_t when = 0;
        if (*lines[i] == 'R' && (strv_len(fields) < 4 || !tls_index_time(fields[2], &when) ||
                                 !der_unhex(fields[3], &serial) || serial.len == 0)) {
            fail_kind(err, FAIL_COMMAND, -EINVAL, "index.txt has a line that tells no revocation: %s",
                      lines[i]);
        } else if (*lines[i] == 'R') {
            AUTO_FREE char *hex = der_hex(serial.data, serial.len);
            json_array_append_new(issue->revoked, json_pack("{s:s, s:I, s:[]}", "serial", hex, "date",
                                                            (json_int_t) when, "extensions"));
        }
        strv_free(fields);
    }
    strv_free(lines);
    return err->code;
}

/* Signs a list of all that the index has as revoked, and writes it. TAKES `key`. A list without a revocation
 * is one too. A hundred days are pyOpenSSL's default. */
static int
write_list(const char *path, const xdoc_t *ca, pkey_t *key, const char *digest, const char *index,
           fail_t *err)
{
    enum { DAYS = 100 };
    issue_auto_t issue = { .kind = XDOC_CRL, .signer = key };
    buf_auto_t der = BUF_INIT;

    issue.digest = xstrdup(digest);
    issue.revoked = json_array();
    buf_add(&issue.issuer, ca->subject_der.p, ca->subject_der.len);
    if (tls_days(&issue, DAYS, err) != 0 || add_revoked(index, &issue, err) != 0 ||
        issue_sign(&issue, &der, err) != 0)
        return err->code;
    return tls_write_doc(path, "X509 CRL", &der, err);
}

/* crl_file, or crl.pem of the authority. NEW. */
static char *
list_path(const json_t *args, const tlsdir_t *dir)
{
    const char *given = value_str(args, "crl_file", "");

    return *given != '\0' ? xstrdup(given) : fs_join(dir->dir, "crl.pem");
}

/* A list that is there is never replaced by an empty one. */
static int
tls_create_empty_crl(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tlsdir_auto_t dir = { .name = NULL };
    AUTO(xdoc) ca = NULL;
    pkey_t *key = NULL;

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *path = list_path(args, &dir);
    int there = fs_look(path, err);
    if (there != 0) {
        *ret_value = there < 0 ? NULL : value_fmt("CRL \"%s\" already exists", path);
        return there < 0 ? there : 0;
    }
    there = tlsdir_authority(&dir, &ca, &key, err);
    if (there <= 0) {
        pkey_destroy(&key);
        *ret_value = there < 0 ? NULL : value_fmt("There is no CA named \"%s\"", dir.name);
        return there;
    }
    if (write_list(path, ca, key, value_str(args, "digest", ""), "", err) != 0)
        return err->code;
    *ret_value = value_fmt("Created an empty CRL: \"%s\"", path);
    return 0;
}

/* Marks the certificate as revoked in the index; a certificate that the index lacks is added. *ret_was is the
 * time of a revocation that stands there already, NEW. A certificate may stand in several lines; the first
 * valid one is replaced, further ones with it. */
static void
mark_revoked(const buf_t *index, const char *serial, const char *line, buf_t *out, char **ret_was)
{
    char **lines = str_split(buf_str(index), "\n", true);
    bool marked = false;

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **fields = str_split(lines[i], "\t", false);
        bool same = strv_len(fields) > 3 && str_eq(fields[3], serial);
        if (same && *lines[i] == 'R' && *ret_was == NULL)
            *ret_was = xstrdup(fields[2]);
        if (same && *lines[i] == 'V' && !marked)
            buf_puts(out, line);
        else
            buf_printf(out, "%s\n", lines[i]);
        marked = marked || same;
        strv_free(fields);
    }
    if (!marked)
        buf_puts(out, line);
    strv_free(lines);
}

/* The list is written before the index: a run that ends between both is done again by the next one. *ca_key
 * is taken once the list is written. */
static int
revoke_now(call_ctx_t *ctx, const json_t *args, const tlsdir_t *dir, const char *cert_path,
           const xdoc_t *cert, const xdoc_t *ca, pkey_t **ca_key, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *line = index_line(cert, 'R', clock_wall_us() / 1000000, err), *was = NULL;
    AUTO_FREE char *path = list_path(args, dir);
    buf_auto_t index = BUF_INIT, changed = BUF_INIT;
    int64_t when;

    /* From here on no other process changes the index: two revocations at once would lose one. */
    AUTO_FD held = line != NULL ? index_hold(dir, &index, err) : -1;
    if (held < 0)
        return err->code;
    AUTO_FREE char *serial = index_serial(cert);
    mark_revoked(&index, serial, line, &changed, &was);
    /* A second revocation changes nothing, not even its time. */
    if (was != NULL && tls_index_time(was, &when)) {
        *ret_value = value_fmt("\"%s\" was already revoked, serial number: %s", cert_path, serial);
        return 0;
    }
    if (was != NULL)
        return tls_say_failed(
            ctx, value_fmt("Revocation date '%s' does not matchformat '%%y%%m%%d%%H%%M%%SZ'", was),
            ret_value);
    int folder = fs_look_dir(path, err);
    if (folder != 0)
        return folder < 0 ? folder
                          : tls_say_failed(ctx, value_fmt("crl_file \"%s\" is an existing directory", path),
                                           ret_value);
    if (write_list(path, ca, STEAL(*ca_key), value_str(args, "digest", ""), buf_str(&changed), err) != 0 ||
        index_write(dir, &changed, err) != 0)
        return err->code;
    *ret_value = value_fmt("Revoked Certificate: \"%s\", serial number: %s", cert_path, serial);
    return 0;
}

/* Order of the checks as by Salt: the authority first, then the certificate. */
static int
tls_revoke_cert(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *cn = value_str(args, "CN", ""), *given = value_str(args, "cert_path", "");
    tlsdir_auto_t dir = { .name = NULL };
    AUTO(xdoc) ca = NULL;
    AUTO(xdoc) cert = NULL;
    AUTO(pkey) key = NULL;

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *folder = *given != '\0' ? xstrdup(given) : xasprintf("%s/certs", dir.dir);
    AUTO_FREE char *file = tls_file_of(args, "cert_filename");
    AUTO_FREE char *path = tls_path(folder, "CN", file, "crt", err);
    int there = path != NULL ? tlsdir_authority(&dir, &ca, &key, err) : err->code;
    if (there <= 0) {
        *ret_value = there < 0 ? NULL : value_fmt("There is no CA named \"%s\"", dir.name);
        return there;
    }
    there = tls_read_doc(XDOC_CERT, path, &cert, err);
    if (there <= 0) {
        *ret_value = there < 0 ? NULL : value_fmt("There is no client certificate named \"%s\"", cn);
        return there;
    }
    return revoke_now(ctx, args, &dir, path, cert, ca, &key, ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t signed_args[] = {
    TLS_ROW_CA,
    TLS_ROW_CN,
    TLS_ROW_DAYS,
    TLS_ROW_BASE,
    TLS_ROW_CA_FILE,
    TLS_STR("cert_path", "null", "Folder of the request and the certificate; else certs of the authority"),
    TLS_STR("cert_filename", "null", "Name of the certificate's file, without .crt"),
    TLS_ROW_DIGEST,
    TLS_STR("cert_type", "null", "As of the request"),
    ARG("type_ext", ARG_ANY, "false", "As of the request"),
    TLS_ROW_REPLACE,
    ARGS_END,
};

#define TLS_ROW_CRL_FILE TLS_STR("crl_file", "null", "The list's file; else crl.pem of the authority")

static const arg_t p12_args[] = {
    TLS_ROW_CA,   TLS_ROW_CN,      TLS_STR("passphrase", "\"\"", "By which the file is encrypted"),
    TLS_ROW_BASE, TLS_ROW_REPLACE, ARGS_END
};
static const arg_t empty_args[] = { TLS_ROW_CA,       TLS_ROW_BASE,   TLS_ROW_CA_FILE,
                                    TLS_ROW_CRL_FILE, TLS_ROW_DIGEST, ARGS_END };
static const arg_t revoke_args[] = {
    TLS_ROW_CA,
    TLS_ROW_CN,
    TLS_ROW_BASE,
    TLS_ROW_CA_FILE,
    TLS_STR("cert_path", "null", "Folder of the certificate; else certs of the authority"),
    TLS_STR("cert_filename", "null", "Name of the certificate's file, without .crt"),
    TLS_ROW_CRL_FILE,
    TLS_ROW_DIGEST,
    ARGS_END,
};

static const func_t funcs[] = {
    { "create_ca_signed_cert", tls_create_ca_signed_cert, signed_args, 0,
      "Create the certificate of a request, signed by an authority." CLI_EXAMPLE(
          "salt '*' tls.create_ca_signed_cert koji www.example.com") },
    { "create_empty_crl", tls_create_empty_crl, empty_args, 0,
      "Create a revocation list without entries, unless there is a list." CLI_EXAMPLE(
          "salt '*' tls.create_empty_crl koji crl_file=/etc/openvpn/team1/crl.pem") },
    { "create_pkcs12", tls_create_pkcs12, p12_args, 0,
      "Put a certificate, its key and the authority's certificate into one file for browsers." CLI_EXAMPLE(
          "salt '*' tls.create_pkcs12 koji www.example.com passphrase=secret") },
    { "revoke_cert", tls_revoke_cert, revoke_args, 0,
      "Revoke a certificate: note it in index.txt, and write the revocation list." CLI_EXAMPLE(
          "salt '*' tls.revoke_cert koji www.example.com crl_file=/etc/openvpn/team1/crl.pem") },
};

PLUGIN(exec, tls_issue, .provides = "tls", .doc = "Authorities, requests and certificates in folders",
       FUNCS(funcs), .unavailable = ossl_missing);
