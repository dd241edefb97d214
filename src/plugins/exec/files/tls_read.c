/* tls_read.c - execution module `tls`, third part: where an authority's files are, what certificates say, and
 * whether they hold. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/x509/ossl_cert.h"
#include "plugins/lib/x509/tlsdir.h"
#include "plugins/lib/x509/tlsrows.h"
#include "salt/log.h"

enum { TEXT_MAX = 4 * 1024 * 1024 };

/* ---- paths -------------------------------------------------------------------------------------- */

/* cert_base_path looks at a path for this call alone. set_ca_path keeps it for the job. */
static int
tls_cert_base_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "cacert_path");
    AUTO_FREE char *base = value_truthy(given) ? value_pystr(given) : tls_base(ctx, NULL, err);

    *ret_value = base != NULL ? json_string(base) : NULL;
    return base != NULL ? 0 : err->code;
}

/* Where all functions of this job look from now on. */
static int
tls_set_ca_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *base = tls_base(ctx, value_get(args, "cacert_path"), err);

    *ret_value = base != NULL ? json_string(base) : NULL;
    return base != NULL ? 0 : err->code;
}

/* The path, or the text of the file. `lacks` is what is said of a missing one. The texts of both callers
 * differ in a letter ("exist", "exists"): Salt's. */
static int
path_or_text(const char *path, const json_t *args, const char *lacks, const char *name, json_t **ret_value,
             fail_t *err)
{
    buf_wiped_t bytes = BUF_INIT;
    int there = fs_look(path, err);

    if (there <= 0)
        return there < 0 ? there : fail_set(err, -ENOENT, "%s for %s", lacks, name);
    if (value_truthy(value_get(args, "as_text")) && fs_read(path, TEXT_MAX, &bytes, err) != 0)
        return err->code;
    *ret_value = value_truthy(value_get(args, "as_text")) ? value_utf8(buf_str(&bytes), bytes.len)
                                                          : json_string(path);
    return 0;
}

/* The certificate's path; an authority without one is an error here, other than in ca_exists. */
static int
tls_get_ca(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tlsdir_auto_t dir = { .name = NULL };

    return tlsdir_open(ctx, args, "ca_name", &dir, err) != 0
               ? err->code
               : path_or_text(dir.ca_cert, args, "Certificate does not exist", dir.name, ret_value, err);
}

/* get_ca_signed_cert, get_ca_signed_key: the row says which. */
static int
tls_get_ca_signed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool key = ctx_row(ctx)->data.number != 0;
    const char *cn = value_str(args, "CN", "");
    const char *given = value_str(args, key ? "key_filename" : "cert_filename", "");
    tlsdir_auto_t dir = { .name = NULL };

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *folder = fs_join(dir.dir, "certs");
    AUTO_FREE char *path = tls_path(folder, "CN", *given != '\0' ? given : cn, key ? "key" : "crt", err);
    return path != NULL ? path_or_text(path, args, "Certificate does not exists", cn, ret_value, err)
                        : err->code;
}

/* ---- certificates ------------------------------------------------------------------------------- */

/* A certificate by its path; what is wrong is in the log. Salt logs the reason and tells only that there is
 * one; *err has its words. */
static xdoc_t *
cert_at(const char *path, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    xdoc_t *cert = NULL;

    if (tls_read_doc(XDOC_CERT, path, &cert, &why) > 0)
        return cert;
    log_error("Failed to read cert from path %s: %s", path,
              why.code != 0 ? fail_text(&why) : "there is no file");
    fail_kind(err, FAIL_COMMAND, -ENOENT, "Failed to read cert from %s, see log for details", path);
    return NULL;
}

/* `date_format` is strftime's, and the time is UTC. */
static int
tls_get_expiration_date(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(xdoc) cert = cert_at(value_str(args, "cert", ""), err);

    if (cert == NULL)
        return err->code;
    AUTO_FREE char *text = clock_strftime_utc(value_str(args, "date_format", ""), cert->until * 1000000);
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

/* By libcrypto's own verification, with the list checked for each certificate of the chain: without a list
 * every certificate fails, as by Salt with its empty one. */
static int
tls_validate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *list = value_get(args, "crl_file");
    tlsdir_auto_t dir = { .name = NULL };
    buf_auto_t at = BUF_INIT, pem = BUF_INIT;
    const buf_t none = BUF_INIT;
    AUTO(xdoc) crl = NULL;
    AUTO_FREE char *why = NULL;
    bool valid = false;

    AUTO(xdoc) cert = cert_at(value_str(args, "cert", ""), err);
    if (cert == NULL || tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    AUTO(xdoc) ca = cert_at(dir.ca_cert, err);
    if (ca == NULL)
        return err->code;
    if (!json_is_null(list)) {
        AUTO_FREE char *path = value_pystr(list);
        int there = tls_read_doc(XDOC_CRL, path, &crl, err);
        if (there <= 0)
            return there < 0 ? there
                             : fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", path);
    }
    if (cert_verify(&cert->der, &ca->der, crl != NULL ? &crl->der : &none, &valid, &why, &at, err) != 0)
        return err->code;
    /* The text and the certificate at which the chain breaks. */
    *ret_value = json_pack("{s:b}", "valid", valid);
    if (!valid) {
        pem_armour("CERTIFICATE", at.data, at.len, &pem);
        json_object_set_new(*ret_value, "error", json_string(why));
        json_object_set_new(*ret_value, "error_cert", json_string(at.len > 0 ? buf_str(&pem) : ""));
    }
    return 0;
}

/* ---- cert_info ---------------------------------------------------------------------------------- */

/* A certificate by its path or text. A text that holds a block of PEM anywhere is the certificate itself. */
static xdoc_t *
cert_named(const char *source, fail_t *err)
{
    xdoc_t *cert = NULL;
    int there = 1;

    if (strstr(source, "-----BEGIN") != NULL)
        cert = tls_doc_of(XDOC_CERT, source);
    else
        there = tls_read_doc(XDOC_CERT, source, &cert, err);
    if (there == 0)
        fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", source);
    else if (there > 0 && cert == NULL)
        fail_kind(err, FAIL_COMMAND, -EINVAL, "The text holds no certificate in PEM");
    return cert;
}

/* The names of hosts and addresses of subjectAltName's text. NEW, or NULL when there is no such extension.
 * OpenSSL's text parts the names by ", "; each name is told once, other kinds (email, URI) are not. */
static json_t *
alt_names(const json_t *extensions)
{
    static const char *const kinds[] = { "DNS:", "IP Address:" };
    const char *text = value_str(extensions, "subjectAltName", NULL);
    json_t *names = text != NULL ? json_array() : NULL;

    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, ", ");
        size_t len = end != NULL ? (size_t) (end - text) : strlen(text);
        for (size_t i = 0; i < NELEMS(kinds); i++) {
            json_auto_t *name = str_starts(text, kinds[i])
                                    ? value_utf8(text + strlen(kinds[i]), len - strlen(kinds[i]))
                                    : NULL;
            if (name != NULL && !value_has(names, name))
                json_array_append(names, name);
        }
        text = end != NULL ? end + 2 : NULL;
    }
    return names;
}

/* All but the serial number, which JSON may not hold. NEW, or NULL with *err. Dates are seconds since
 * 1970. */
static json_t *
tell_cert(const xdoc_t *cert, const char *digest, fail_t *err)
{
    buf_auto_t hash = BUF_INIT;
    const sigalg_t *alg = sigalg_of(cert);

    if (ossl_digest(digest, cert->der.data, cert->der.len, &hash, err) != 0)
        return NULL;
    AUTO_FREE char *print = der_pretty(hash.data, hash.len);
    json_auto_t *subject = cert_name_members(cert->subject, err),
                *issuer = cert_name_members(cert->issuer, err);
    json_auto_t *extensions = cert_extension_texts(&cert->der, err);
    if (subject == NULL || issuer == NULL || extensions == NULL)
        return NULL;
    json_t *told = json_pack("{s:s, s:O, s:O, s:n, s:I, s:I, s:O}", "fingerprint", print, "subject", subject,
                             "issuer", issuer, "serial_number", "not_before", (json_int_t) cert->from,
                             "not_after", (json_int_t) cert->until, "extensions", extensions);
    json_t *names = alt_names(extensions);
    if (names != NULL)
        json_object_set_new(told, "subject_alt_names", names);
    json_object_set_new(told, "signature_algorithm", json_string(alg != NULL ? alg->name : cert->sig_oid));
    return told;
}

/* The serial number has up to 160 bits, which Python's int takes and JSON's integers do not: hence py_t. */
static py_t *
tls_cert_info(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(xdoc) cert = cert_named(pyarg_text(args, "cert", ""), err);
    json_auto_t *told = cert != NULL ? tell_cert(cert, pyarg_text(args, "digest", ""), err) : NULL;

    if (told == NULL)
        return NULL;
    AUTO_FREE char *digits = der_decimal(cert->serial.p, cert->serial.len);
    py_t *ret = py_from_json(told);
    py_dict_sets_new(ret, "serial_number", py_int_digits(digits, strlen(digits)));
    return ret;
}

/* ---- table -------------------------------------------------------------------------------------- */

#define TLS_ROW_CN_USUAL TLS_STR("CN", "\"localhost\"", "Common name, by which the file is called")
#define TLS_ROW_TEXT     ARG("as_text", ARG_ANY, "false", "True: the content instead of the path")

static const arg_t base_args[] = { TLS_STR("cacert_path", "null", "Folder of all authorities"), ARGS_END };
static const arg_t set_args[] = { TLS_STR("cacert_path", ARG_REQUIRED, "Folder of all authorities"),
                                  ARGS_END };
static const arg_t ca_args[] = { TLS_ROW_CA, TLS_ROW_TEXT, TLS_ROW_BASE, ARGS_END };
static const arg_t cert_args[] = { TLS_ROW_CA,
                                   TLS_ROW_CN_USUAL,
                                   TLS_ROW_TEXT,
                                   TLS_ROW_BASE,
                                   TLS_STR("cert_filename", "null", "Name of the file, without .crt"),
                                   ARGS_END };
static const arg_t key_args[] = { TLS_ROW_CA,
                                  TLS_ROW_CN_USUAL,
                                  TLS_ROW_TEXT,
                                  TLS_ROW_BASE,
                                  TLS_STR("key_filename", "null", "Name of the file, without .key"),
                                  ARGS_END };
static const arg_t date_args[] = {
    TLS_STR("cert", ARG_REQUIRED, "Path of the certificate"),
    TLS_STR("date_format", "\"%Y-%m-%d\"", "In the notation of strftime, in UTC"), ARGS_END
};
static const arg_t validate_args[] = { TLS_STR("cert", ARG_REQUIRED, "Path of the certificate"), TLS_ROW_CA,
                                       ARG("crl_file", ARG_ANY, ARG_REQUIRED, "Path of the revocation list"),
                                       ARGS_END };
static const arg_t info_args[] = { ARG("cert", ARG_ANY, ARG_REQUIRED, "Path or text of the certificate"),
                                   ARG("digest", ARG_ANY, "\"sha256\"", "Hash of the fingerprint"),
                                   ARGS_END };

static const func_t funcs[] = {
    { "cert_base_path", tls_cert_base_path, base_args, FN_READONLY,
      "Return the folder of all authorities." CLI_EXAMPLE("salt '*' tls.cert_base_path") },
    { "cert_info", NATIVE(tls_cert_info), info_args, FN_READONLY | FN_NATIVE,
      "Return what a certificate says." CLI_EXAMPLE("salt '*' tls.cert_info /etc/pki/tls/certs/www.crt") },
    { "get_ca", tls_get_ca, ca_args, FN_READONLY,
      "Return the path of an authority's certificate, or its text." CLI_EXAMPLE(
          "salt '*' tls.get_ca koji as_text=True") },
    { "get_ca_signed_cert", tls_get_ca_signed, cert_args, FN_READONLY,
      "Return the path of a certificate that an authority signed, or its text." CLI_EXAMPLE(
          "salt '*' tls.get_ca_signed_cert koji CN=www.example.com") },
    { "get_ca_signed_key", tls_get_ca_signed, key_args, FN_READONLY,
      "Return the path of the key of such a certificate, or its text." CLI_EXAMPLE(
          "salt '*' tls.get_ca_signed_key koji CN=www.example.com"),
      .data.number = 1 },
    { "get_expiration_date", tls_get_expiration_date, date_args, FN_READONLY,
      "Return until when a certificate is valid." CLI_EXAMPLE(
          "salt '*' tls.get_expiration_date /etc/pki/www.crt date_format='%d/%m/%Y'") },
    { "set_ca_path", tls_set_ca_path, set_args, FN_READONLY,
      "Set the folder of all authorities for the rest of the job; return it." CLI_EXAMPLE(
          "salt '*' tls.set_ca_path /etc/certs") },
    { "validate", tls_validate, validate_args, FN_READONLY,
      "Check a certificate against an authority and its revocation list." CLI_EXAMPLE(
          "salt '*' tls.validate /etc/pki/www.crt koji /etc/pki/koji/crl.pem") },
};

PLUGIN(exec, tls_read, .provides = "tls", .doc = "Authorities, requests and certificates in folders",
       FUNCS(funcs), .unavailable = ossl_missing);
