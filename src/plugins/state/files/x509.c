/* x509.c - state module `x509`: keys, certificates, requests and revocation lists are there as asked, and
 * made anew when they are not, or end soon. What another version of Salt or OpenSSL wrote stays as long as it
 * means the same. Each kind has a function that compares, which fills changes with Salt's keys, and one that
 * makes; plugins/lib/x509/xstate.h runs both and writes the file. A change of encoding, passphrase or chain
 * alone keeps the key or certificate. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/x509rows.h"
#include "plugins/lib/x509/xstate.h"

enum { DAY = 24 * 60 * 60 };

/* Argument of the SLS. BORROWED, or NULL. */
static json_t *
x509_arg(const xstate_t *s, const char *name)
{
    return value_get(s->args, name);
}

/* How the file is written: pem, der, pkcs12, pkcs7_pem, pkcs7_der. */
static const char *
encoding_of(const xstate_t *s)
{
    return value_str(s->args, "encoding", "pem");
}

/* changes["extensions"], ["subject_name"], ... */
static void
differ(xstate_t *s, const char *key, json_t *v)
{
    json_object_set_new(s->changes, key, v);
}

/* Compares names (RFC 5280) part by part, and shows the wanted one. */
static void
x509_compare_name(xstate_t *s, const char *key, const json_t *now, const json_t *wanted)
{
    AUTO_FREE char *text = dn_text(wanted);

    if (!dn_equal(now, wanted))
        differ(s, key, json_string(text));
}

/* Compares the extensions with those that would be issued: {"added", "changed", "removed"}. */
static void
compare_extensions(xstate_t *s)
{
    json_t *difference = ext_compare(s->doc->extensions, s->issue.extensions);

    if (difference != NULL)
        differ(s, "extensions", difference);
}

/* The hash that signed; Edwards curves have none apart from their own. */
static void
compare_digest(xstate_t *s, const char *digest)
{
    const char *now = xdoc_digest(s->doc), *wanted = digest_name(digest, NULL);

    if (now != NULL && wanted != NULL && !str_eq(now, wanted))
        differ(s, "digest", json_string(digest));
}

/* True when it ends within the days; days_remaining may be text. */
static int
compare_end(xstate_t *s, long long dflt, fail_t *err)
{
    json_t *given = x509_arg(s, "days_remaining");
    AUTO_FREE char *text = given != NULL ? value_pystr(given) : NULL;
    long long days = dflt;

    if (text != NULL && !str_to_int(text, -2000000, 2000000, &days))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "days_remaining must be a number of days, not %s",
                         text);
    if (s->doc->until < clock_wall_us() / 1000000 + days * DAY)
        differ(s, "expiration", json_true());
    return 0;
}

/* Reads what is there; a file that is no such document is replaced. False: it is to be replaced. */
static bool
read_there(xstate_t *s, xdoc_kind_t kind, const char *pass)
{
    fail_auto_t why = FAIL_INIT;

    s->doc = xdoc_load(kind, s->real, pass, &s->kept, &why);
    s->current = s->doc != NULL;
    if (s->doc == NULL)
        differ(s, "replaced", json_string(s->name));
    else if (!str_eq(s->kept.encoding, encoding_of(s)))
        differ(s, "encoding", json_string(encoding_of(s)));
    return s->current;
}

/* ---- private_key_managed ------------------------------------------------------------------------ */

/* What of the key is not as asked: type, size, encoding, passphrase. A key that can be read with the wrong
 * passphrase only has another one. */
static int
compare_key(xstate_t *s, fail_t *err)
{
    const char *algo = value_str(s->args, "algo", "rsa"), *encoding = NULL;
    AUTO_FREE char *size = value_pystr(x509_arg(s, "keysize") != NULL ? x509_arg(s, "keysize") : json_null());
    pkey_trouble_t trouble = PKEY_READ;
    fail_auto_t why = FAIL_INIT;
    long long bits = str_eq(algo, "ec") ? 256 : 2048;

    if (value_truthy(x509_arg(s, "new"))) {
        differ(s, "replaced", json_string(s->name));
        s->current = true; /* it is made anew, whatever it is: "recreated" */
        return 0;
    }
    s->key = issue_key(s->real, x509_arg(s, "passphrase"), &encoding, &trouble, &why);
    if (s->key == NULL && trouble == PKEY_PLAIN) {
        fail_clear(&why);
        differ(s, "passphrase", json_true());
        s->key = issue_key(s->real, NULL, &encoding, &trouble, &why);
    }
    s->current = true;
    if (s->key == NULL) {
        /* A key that can't be read is left alone unless `overwrite` says otherwise. */
        static const char *const refusals[] = {
            [PKEY_BROKEN] =
                "The existing file does not seem to be a private key formatted as DER, PEM or embedded in PKCS12. Pass "
                "overwrite: true to force regeneration",
            [PKEY_ENCRYPTED] =
                "The existing file is encrypted. Pass overwrite: true to force regeneration without passphrase",
            [PKEY_WRONG] =
                "The provided passphrase cannot decrypt the private key. Pass overwrite: true to force regeneration",
        };
        if (trouble == PKEY_READ)
            return fail_kind(err, FAIL_COMMAND, -EIO, "%s", fail_text(&why));
        if (!value_truthy(x509_arg(s, "overwrite")))
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", refusals[trouble]);
        if (trouble == PKEY_BROKEN)
            differ(s, "replaced", json_string(s->name));
        else
            differ(s, "passphrase", json_true());
        return 0;
    }
    const char *type = pkey_type_name(pkey_type(s->key));
    if (x509_arg(s, "keysize") != NULL && !str_to_int(size, 1, 1 << 20, &bits))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "keysize must be a number of bits, not %s", size);
    if (!str_eq(type, algo))
        differ(s, "algo", json_string(algo));
    else if ((str_eq(algo, "rsa") || str_eq(algo, "ec")) && pkey_bits(s->key) != bits)
        differ(s, "keysize",
               x509_arg(s, "keysize") != NULL ? json_incref(x509_arg(s, "keysize")) : json_null());
    if (!str_eq(encoding, encoding_of(s)))
        differ(s, "encoding", json_string(encoding_of(s)));
    return 0;
}

/* Makes a key, or writes the one that is there in another encoding. */
static int
make_key(xstate_t *s, bool anew, buf_t *out, fail_t *err)
{
    AUTO_FREE char *size = value_pystr(x509_arg(s, "keysize") != NULL ? x509_arg(s, "keysize") : json_null());
    long long bits = 0;

    if (x509_arg(s, "keysize") != NULL && !str_to_int(size, 1, 1 << 20, &bits))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "keysize must be a number of bits, not %s", size);
    if (anew || s->key == NULL) {
        pkey_destroy(&s->key);
        s->key = pkey_make(value_str(s->args, "algo", "rsa"), bits, err);
    }
    return s->key != NULL ? encode_key(s->key, encoding_of(s), x509_arg(s, "passphrase"),
                                       value_truthy(x509_arg(s, "pkcs12_encryption_compat")), out, err)
                          : err->code;
}

static const char *const key_kept[] = { "encoding", "passphrase", NULL };
static const xstate_kind_t key_kind = { "private key", "0400", key_kept, compare_key, make_key };

static int
private_key_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *algo = value_str(args, "algo", "rsa");

    if ((str_eq(algo, "ed25519") || str_eq(algo, "ed448")) && value_truthy(value_get(args, "keysize"))) {
        *ret_value = state_ret_args(args);
        return state_ret_set(*ret_value, STATE_FALSE, "keysize is an invalid parameter for %s", algo);
    }
    return xstate_run(ctx, &key_kind, args, ret_value, err);
}

/* ---- certificate_managed ------------------------------------------------------------------------ */

/* True when the file has the same further certificates behind its own, in the same order. */
static bool
same_chain(const xstate_t *s, fail_t *err)
{
    json_t *append = x509_arg(s, "append_certs"), *one;
    json_auto_t *list = json_is_array(append)  ? json_incref(append)
                        : value_truthy(append) ? json_pack("[O]", append)
                                               : json_array();
    bool same = json_array_size(list) == s->kept.n_chain;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO(xdoc) cert = xdoc_load(XDOC_CERT, one, NULL, NULL, err);
        if (cert == NULL)
            return false;
        const buf_t *had = same ? &s->kept.chain[i]->der : NULL;
        same = same && had->len == cert->der.len && memcmp(had->data, cert->der.data, had->len) == 0;
    }
    return same;
}

/* What of the certificate is not as asked. The signing policy of the minion, or of a server, overrides the
 * arguments. */
static int
compare_cert(xstate_t *s, fail_t *err)
{
    json_t *ca_server = x509_arg(s, "ca_server"), *friendly = x509_arg(s, "pkcs12_friendlyname");
    json_auto_t *policy = NULL, *final = NULL;

    if (!read_there(s, XDOC_CERT, value_str(s->args, "pkcs12_passphrase", NULL)))
        return 0;
    if (str_eq(encoding_of(s), "pkcs12") && str_eq(s->kept.encoding, "pkcs12") &&
        !str_eq(s->kept.name, json_string_value(friendly)))
        differ(s, "pkcs12_friendlyname", friendly != NULL ? json_incref(friendly) : json_null());
    if (compare_end(s, 90, err) != 0)
        return err->code;
    if (!same_chain(s, err)) {
        if (err->code != 0)
            return err->code;
        differ(s, "additional_certs", json_true());
    }
    if (policy_get(s->ctx, x509_arg(s, "signing_policy"), ca_server, &policy, err) != 0)
        return err->code;
    final = json_copy(s->args);
    policy_merge(policy, final);
    if (issue_cert(final, s->doc, value_truthy(ca_server), &s->issue, err) != 0)
        return err->code;

    /* Compares the certificate with one as it would be issued now. */
    const issue_t *want = &s->issue;
    AUTO(pkey) wanted = pkey_read_public(want->spki.data, want->spki.len);
    AUTO(pkey) has = xdoc_key(s->doc, err);
    if (wanted == NULL || has == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Did not recognize key type");
    compare_digest(s, want->digest);
    if (want->serial_given && (want->serial.len != s->doc->serial.len ||
                               memcmp(want->serial.data, s->doc->serial.p, want->serial.len) != 0))
        differ(s, "serial_number", json_incref(x509_arg(s, "serial_number")));
    if (!pkey_equal(wanted, has))
        differ(s, "private_key", json_true());
    if (want->ca != NULL) {
        AUTO(pkey) signer = xdoc_key(want->ca, err);
        if (signer == NULL)
            return err->code;
        if (!xdoc_signed_by(s->doc, signer))
            differ(s, "signing_private_key", json_true());
    }
    x509_compare_name(s, "subject_name", s->doc->subject, want->subject_name);
    x509_compare_name(s, "issuer_name", s->doc->issuer, want->issuer_name);
    compare_extensions(s);
    return 0;
}

/* A new one by x509.create_certificate, which knows ca_servers; the old one in another encoding. */
static int
make_cert(xstate_t *s, bool anew, buf_t *out, fail_t *err)
{
    json_auto_t *call = json_copy(s->args), *made = NULL;
    const char *const ours[] = { "name", "days_remaining" };

    for (size_t i = 0; i < NELEMS(ours); i++)
        json_object_del(call, ours[i]);
    if (anew) {
        if (ctx_call(s->ctx, "x509.create_certificate", NULL, call, &made, err) != 0)
            return err->code;
        if (!str_ends(encoding_of(s), "pem"))
            return xdoc_bytes(made, out, err);
        buf_puts(out, json_is_string(made) ? json_string_value(made) : "");
        return 0;
    }
    AUTO(pkey) key = NULL;
    if (str_eq(encoding_of(s), "pkcs12") && x509_arg(s, "private_key") != NULL) {
        key = issue_key(x509_arg(s, "private_key"), x509_arg(s, "private_key_passphrase"), NULL, NULL, err);
        if (key == NULL)
            return err->code;
    }
    const encoding_t how = { encoding_of(s),
                             x509_arg(s, "append_certs"),
                             key,
                             x509_arg(s, "pkcs12_passphrase"),
                             x509_arg(s, "pkcs12_friendlyname"),
                             value_truthy(x509_arg(s, "pkcs12_encryption_compat")) };
    return encode_cert(&s->doc->der, &how, out, err);
}

static const char *const cert_kept[] = { "additional_certs", "encoding", "pkcs12_friendlyname", NULL };
static const xstate_kind_t cert_kind = { "certificate", NULL, cert_kept, compare_cert, make_cert };

static int
certificate_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return xstate_run(ctx, &cert_kind, args, ret_value, err);
}

/* ---- csr_managed, crl_managed ------------------------------------------------------------------- */

/* What of the request is not as asked. */
static int
compare_csr(xstate_t *s, fail_t *err)
{
    if (!read_there(s, XDOC_CSR, NULL))
        return 0;
    if (s->doc->version != 1) { /* the older module wrote such, which others refuse */
        differ(s, "invalid_version", json_true());
        differ(s, "replaced", json_string(s->name));
        s->current = false;
        return 0;
    }
    if (issue_csr(s->args, &s->issue, err) != 0)
        return err->code;
    compare_digest(s, s->issue.digest);
    AUTO(pkey) has = xdoc_key(s->doc, err);
    if (has == NULL)
        return err->code;
    if (!pkey_equal(has, s->issue.signer))
        differ(s, "private_key", json_true());
    x509_compare_name(s, "subject_name", s->doc->subject, s->issue.subject_name);
    compare_extensions(s);
    return 0;
}

/* A new request, or the old one in another encoding. Its key signs it anew. */
static int
make_csr(xstate_t *s, bool anew, buf_t *out, fail_t *err)
{
    buf_auto_t der = BUF_INIT;

    issue_free(&s->issue);
    if (!anew)
        return encode_doc(XDOC_CSR, &s->doc->der, encoding_of(s), out, err);
    if (issue_csr(s->args, &s->issue, err) != 0 || issue_sign(&s->issue, &der, err) != 0)
        return err->code;
    return encode_doc(XDOC_CSR, &der, encoding_of(s), out, err);
}

static const char *const encoding_kept[] = { "encoding", NULL };
static const xstate_kind_t csr_kind = { "certificate signing request", NULL, encoding_kept, compare_csr,
                                        make_csr };

static int
csr_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return xstate_run(ctx, &csr_kind, args, ret_value, err);
}

/* An entry by its serial number, BORROWED. */
static json_t *
revoked_entry(const json_t *list, const json_t *entry)
{
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one)
        if (json_equal(value_get(one, "serial"), value_get(entry, "serial")))
            return one;
    return NULL;
}

/* Adds a serial number as Salt writes it: "0A:1B:...". */
static void
note_serial(json_t *list, const json_t *entry)
{
    buf_auto_t serial = BUF_INIT;

    (void) der_unhex(value_str(entry, "serial", ""), &serial);
    AUTO_FREE char *text = der_pretty(serial.data, serial.len);
    json_array_append_new(list, json_string(text));
}

/* cRLNumber: auto counts by itself: `number` None leaves it out. */
static json_t *
with_crl_number(const xstate_t *s, json_t *number)
{
    json_t *args = json_copy(s->args), *extensions = json_copy(x509_arg(s, "extensions"));

    if (number != NULL)
        json_object_set(extensions, "cRLNumber", number);
    else
        json_object_del(extensions, "cRLNumber");
    json_object_set_new(args, "extensions", extensions);
    return args;
}

/* True when the list's number counts by itself. */
static bool
counts(const xstate_t *s)
{
    return str_eq(value_str(x509_arg(s, "extensions"), "cRLNumber", ""), "auto");
}

/* What of the revocation list is not as asked. A number that counts by itself is no difference. */
static int
compare_crl(xstate_t *s, fail_t *err)
{
    json_auto_t *args = counts(s) ? with_crl_number(s, NULL) : json_incref(s->args);

    if (!read_there(s, XDOC_CRL, NULL))
        return 0;
    if (issue_crl(args, &s->issue, err) != 0 || compare_end(s, 30, err) != 0)
        return err->code;
    compare_digest(s, s->issue.digest);
    x509_compare_name(s, "issuer_name", s->doc->issuer, s->issue.issuer_name);
    if (!xdoc_signed_by(s->doc, s->issue.signer))
        differ(s, "public_key", json_true());
    json_t *added = json_array(), *changed = json_array(), *gone = json_array(), *entry;
    json_auto_t *all = json_pack("{s:o, s:o, s:o}", "added", added, "changed", changed, "removed", gone);
    size_t i;
    json_array_foreach (s->issue.revoked, i, entry) {
        json_t *had = revoked_entry(s->doc->revoked, entry);
        if (had == NULL) {
            note_serial(added, entry);
            continue;
        }
        json_auto_t *difference = ext_compare(value_get(had, "extensions"), value_get(entry, "extensions"));
        if (difference != NULL)
            note_serial(changed, entry);
    }
    json_array_foreach (s->doc->revoked, i, entry)
        if (revoked_entry(s->issue.revoked, entry) == NULL)
            note_serial(gone, entry);
    if (json_array_size(added) + json_array_size(changed) + json_array_size(gone) > 0)
        differ(s, "revocations", json_incref(all));
    compare_extensions(s);
    json_t *difference = value_get(s->changes, "extensions"), *removed = value_get(difference, "removed");
    for (i = json_array_size(removed); counts(s) && i > 0; i--)
        if (str_eq(json_string_value(json_array_get(removed, i - 1)), "cRLNumber"))
            json_array_remove(removed, i - 1);
    if (difference != NULL && json_array_size(removed) + json_array_size(value_get(difference, "added")) +
                                      json_array_size(value_get(difference, "changed")) ==
                                  0)
        json_object_del(s->changes, "extensions");
    return 0;
}

/* A new list with the next number, or the old one in another encoding. 2.5.29.20 is cRLNumber. */
static int
make_crl(xstate_t *s, bool anew, buf_t *out, fail_t *err)
{
    json_t *had = s->doc != NULL ? xdoc_extension(s->doc, "2.5.29.20") : NULL;
    json_auto_t *number = json_integer(1), *args = NULL;
    buf_auto_t der = BUF_INIT, value = BUF_INIT;
    json_int_t n = 0;
    der_t body;

    if (!anew)
        return encode_doc(XDOC_CRL, &s->doc->der, encoding_of(s), out, err);
    if (had != NULL && der_unhex(value_str(had, "value", ""), &value)) {
        der_t in = { (const uint8_t *) buf_str(&value), value.len };
        if (der_take(&in, DER_INT, &body) && der_to_int(body, &n))
            json_integer_set(number, n + 1);
    }
    args = counts(s) ? with_crl_number(s, number) : json_incref(s->args);
    issue_free(&s->issue);
    if (issue_crl(args, &s->issue, err) != 0 || issue_sign(&s->issue, &der, err) != 0)
        return err->code;
    return encode_doc(XDOC_CRL, &der, encoding_of(s), out, err);
}

static const xstate_kind_t crl_kind = { "certificate revocation list", NULL, encoding_kept, compare_crl,
                                        make_crl };

static int
crl_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return xstate_run(ctx, &crl_kind, args, ret_value, err);
}

/* ---- pem_managed -------------------------------------------------------------------------------- */

/* A file with one entry of a text of several, by file.managed; the difference would show keys. */
static int
pem_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *file = json_copy(value_get(args, "kwargs"));
    fail_auto_t why = FAIL_INIT;
    json_t *pem = sub_call(ctx, &why, "x509.get_pem_entry", "{s:O}", "text", value_get(args, "text"));

    if (pem == NULL) {
        *ret_value = state_ret_args(args);
        return state_ret_fail(*ret_value, &why);
    }
    json_object_set_new(file, "contents", pem);
    json_object_set(file, "name", value_get(args, "name"));
    json_object_set_new(file, "show_changes", json_false());
    return ctx_state(ctx, "file.managed", file, ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------------- */

#define X509_FILE                                                                                            \
    "user group mode attrs makedirs dir_mode backup create follow_symlinks check_cmd tmp_dir tmp_ext selinux encoding_errors "
#define X509_ROW_NAME X509_ANY("name", ARG_REQUIRED, "The file")

static const arg_t key_args[] = {
    X509_ROW_NAME,
    X509_ANY("algo", "\"rsa\"", "rsa, ec, ed25519 or ed448"),
    X509_ANY("keysize", "null", "Bits: 2048, 3072 or 4096 of RSA, 256, 384 or 521 of EC"),
    X509_ANY("passphrase", "null", "The key is encrypted by it"),
    X509_ROW_KEY_ENCODING,
    X509_ANY("new", "false", "Always make a new one, as with prereq before a certificate"),
    X509_ANY("overwrite", "false", "Replace what can't be read"),
    X509_ROW_COMPAT,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "Arguments of file.managed; bits is keysize; cipher, verbose and text are not used",
        X509_FILE "bits cipher verbose text"),
    ARGS_END,
};

static const arg_t cert_args[] = {
    X509_ROW_NAME,
    X509_ANY("days_remaining", "null", "Days before its end at which it is made anew: 90"),
    X509_ROWS_CERT,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Parts of the subject, extensions, and arguments of file.managed",
        X509_FILE "replace managed_private_key " X509_PARTS),
    ARGS_END,
};

static const arg_t csr_args[] = {
    X509_ROW_NAME,
    X509_ANY("private_key", ARG_REQUIRED, "Key that signs the request: path or text"),
    X509_ANY("private_key_passphrase", "null", "Its passphrase"),
    X509_ROW_DIGEST,
    X509_ROW_DOC_ENCODING,
    X509_ANY("subject", "null", "The subject by RFC 4514, a list of its parts, or a mapping"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Parts of the subject, extensions, and arguments of file.managed",
        X509_FILE X509_PARTS),
    ARGS_END,
};

static const arg_t crl_args[] = {
    X509_ROW_NAME,
    X509_ROWS_CRL,
    X509_ANY("days_remaining", "null", "Days before the next update at which it is made anew: 30"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Arguments of file.managed; algorithm is digest; text is not used",
        X509_FILE "algorithm text"),
    ARGS_END,
};

static const arg_t pem_args[] = {
    X509_ROW_NAME,
    X509_ANY("text", ARG_REQUIRED, "The PEM text, or a path of it"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Arguments of file.managed", X509_FILE),
    ARGS_END,
};

static const func_t funcs[] = {
    { "certificate_managed", certificate_managed, cert_args, 0,
      "Make sure that a certificate is there as asked, and does not end soon." },
    { "crl_managed", crl_managed, crl_args, 0,
      "Make sure that a revocation list is there as asked, and its next update is not near." },
    { "csr_managed", csr_managed, csr_args, 0,
      "Make sure that a request for a certificate is there as asked." },
    { "pem_managed", pem_managed, pem_args, 0, "Make sure that a file holds a PEM text." },
    { "private_key_managed", private_key_managed, key_args, 0,
      "Make sure that a private key is there; it is kept as long as it is of the kind and size." },
};

PLUGIN(state, x509, .doc = "Keys, certificates, requests and revocation lists", FUNCS(funcs),
       .unavailable = ossl_missing);
