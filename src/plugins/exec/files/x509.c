/* x509.c - execution module `x509`: keys, certificates, requests and revocation lists are made and encoded;
 * x509_read.c reads and checks them. Arguments of Salt's older module of this name are taken too. Documents
 * are written byte by byte by plugins/lib/x509 (issue.h, xdoc.h); libcrypto makes keys and signatures alone.
 * A binary encoding is returned as base64, and with `path` it is written and a sentence is returned. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/issue.h"
#include "plugins/lib/x509/pementry.h"
#include "plugins/lib/x509/x509rows.h"
#include "salt/log.h"

/* NULL for "" as for None: the document is returned then, not written. */
static const char *
path_of(const json_t *args)
{
    const char *path = value_str(args, "path", "");

    return *path != '\0' ? path : NULL;
}

/* ---- private keys ------------------------------------------------------------------------------- */

/* Bytes of the key lie in a buffer that is wiped. */
static int
x509_create_private_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = issue_args(args);
    const char *encoding = value_str(all, "encoding", "pem"), *path = path_of(all);
    /* The older module had `bits` as text as well; anything that is no number of bits is refused here rather
     * than by libcrypto. */
    AUTO_FREE char *size = value_pystr(value_get(all, "keysize") != NULL ? value_get(all, "keysize")
                                                                         : json_null());
    buf_wiped_t bytes = BUF_INIT;
    long long bits = 0;

    if (value_get(all, "keysize") != NULL && !str_to_int(size, 1, 1 << 20, &bits))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "keysize must be a number of bits, not %s", size);
    AUTO(pkey) key = pkey_make(value_str(all, "algo", "rsa"), bits, err);
    if (key == NULL || encode_key(key, encoding, value_get(all, "passphrase"),
                                  value_truthy(value_get(all, "pkcs12_encryption_compat")), &bytes, err) != 0)
        return err->code;
    if (path != NULL)
        return pem_write_encoded(&bytes, encoding, path, true, NULL, NULL, ret_value, err);
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* Also the way to change or to remove a passphrase: `passphrase` is the new one. */
static int
x509_encode_private_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *encoding = value_str(args, "encoding", "pem");
    buf_wiped_t bytes = BUF_INIT;
    AUTO(pkey)
    key = issue_key(value_get(args, "private_key"), value_get(args, "private_key_passphrase"), NULL, NULL,
                    err);

    if (key == NULL ||
        encode_key(key, encoding, value_get(args, "passphrase"),
                   value_truthy(value_get(args, "pkcs12_encryption_compat")), &bytes, err) != 0)
        return err->code;
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* ---- certificates ------------------------------------------------------------------------------- */

/* What a ca_server is asked to sign: keys leave this machine as public ones. *ret_der gets the certificate.
 * Members of `own` are this minion's business: where the answer goes and how it is kept. Everything else
 * travels, and the other side decides by its policy what of it counts. */
static int
ask_ca(call_ctx_t *ctx, const json_t *all, buf_t *ret_der, fail_t *err)
{
    static const char *const own[] = { "ca_server",
                                       "signing_policy",
                                       "private_key",
                                       "private_key_passphrase",
                                       "path",
                                       "overwrite",
                                       "raw",
                                       "encoding",
                                       "append_certs",
                                       "pkcs12_passphrase",
                                       "pkcs12_encryption_compat",
                                       "pkcs12_friendlyname",
                                       "public_key_passphrase" };
    json_auto_t *asked = json_copy((json_t *) all), *data = NULL;
    json_t *private = value_get(all, "private_key"), *public = value_get(all, "public_key"),
           *csr = value_get(all, "csr");

    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_del(asked, own[i]);
    if (value_truthy(private) || value_truthy(public)) {
        buf_auto_t spki = BUF_INIT, pem = BUF_INIT;
        AUTO(pkey)
        key = value_truthy(private)
                  ? issue_key(private, value_get(all, "private_key_passphrase"), NULL, NULL, err)
                  : issue_public(public, value_get(all, "public_key_passphrase"), err);
        if (key == NULL || pkey_write_public(key, &spki, err) != 0)
            return err->code;
        pem_armour("PUBLIC KEY", spki.data, spki.len, &pem);
        json_object_set_new(asked, "public_key", json_string(buf_str(&pem)));
    }
    /* A path means a file of this machine, so that the request itself is sent. */
    if (value_truthy(csr)) {
        buf_auto_t pem = BUF_INIT;
        AUTO(xdoc) doc = xdoc_load(XDOC_CSR, csr, NULL, NULL, err);
        if (doc == NULL || encode_doc(XDOC_CSR, &doc->der, "pem", &pem, err) != 0)
            return err->code;
        json_object_set_new(asked, "csr", json_string(buf_str(&pem)));
    }
    if (policy_ask(ctx, value_get(all, "ca_server"), value_get(all, "signing_policy"), asked, false, &data,
                   err) != 0)
        return err->code;
    /* The answer of another machine is a claim until it parses as a certificate. */
    fail_auto_t why = FAIL_INIT;
    AUTO(xdoc) cert = xdoc_load(XDOC_CERT, data, NULL, NULL, &why);
    if (cert == NULL)
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "ca_server did not return a certificate: %s",
                         fail_text(&why));
    buf_add(ret_der, cert->der.data, cert->der.len);
    return 0;
}

/* A further copy in the folder `copypath`, by serial number. The serial number in hexadecimal, one leading
 * zero left out. A "/" in the name would lead out of the folder. */
static int
copy_issued(const json_t *all, const issue_t *issue, const buf_t *der, fail_t *err)
{
    const char *folder = value_str(all, "copypath", "");
    const char *cn = value_truthy(value_get(all, "prepend_cn")) ? dn_common(issue->subject_name) : NULL;
    AUTO_FREE char *hex = der_hex(issue->serial.data, issue->serial.len);
    buf_auto_t pem = BUF_INIT;

    if (*folder == '\0')
        return 0;
    if (cn != NULL && strchr(cn, '/') != NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "prepend_cn: the common name %s can't be part of a file's name", cn);
    AUTO_FREE char *name = xasprintf("%s%s%s.crt", cn != NULL ? cn : "", cn != NULL ? "-" : "",
                                     hex[0] == '0' && hex[1] != '\0' ? hex + 1 : hex);
    AUTO_FREE char *path = fs_join(folder, name);
    pem_armour("CERTIFICATE", der->data, der->len, &pem);
    return fs_rewrite(path, pem.data, pem.len, 0600, err);
}

/* Signs here. `all` gets the policy laid over it. The copy is part of the act: where it can't be written the
 * call fails, although nothing but the answer is lost. */
static int
sign_here(const json_t *all, issue_t *issue, buf_t *ret_der, fail_t *err)
{
    if (issue_cert(all, NULL, false, issue, err) != 0 || issue_sign(issue, ret_der, err) != 0)
        return err->code;
    return copy_issued(all, issue, ret_der, err);
}

/* By a ca_server, which then applies the policy, or here, with this minion's own policy laid over the
 * arguments. */
static int
x509_create_certificate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = issue_args(args);
    const char *encoding = value_str(all, "encoding", "pem"), *path = path_of(all);
    bool overwrite = value_get(all, "overwrite") == NULL || value_truthy(value_get(all, "overwrite"));
    json_auto_t *place = path != NULL ? json_string(path) : NULL;
    issue_auto_t issue = { .kind = XDOC_CERT };
    buf_auto_t der = BUF_INIT, bytes = BUF_INIT;
    AUTO(pkey) key = NULL;

    /* Before anything is signed, so that no serial number is spent. */
    if (path != NULL && !overwrite && xdoc_path(place) != NULL) {
        *ret_value = value_fmt("The file at %s exists and overwrite was set to false", path);
        return 0;
    }
    if (value_truthy(value_get(all, "ca_server"))) {
        if (value_get(all, "signing_policy") == NULL)
            return fail_kind(
                err, FAIL_INVOCATION, -EINVAL,
                "signing_policy must be specified to request a certificate from a remote ca_server");
        if (ask_ca(ctx, all, &der, err) != 0)
            return err->code;
    } else {
        json_auto_t *policy = policy_own(ctx, value_get(all, "signing_policy"));
        policy_merge(policy, all);
        if (sign_here(all, &issue, &der, err) != 0)
            return err->code;
    }
    /* PKCS#12 holds the private key beside the certificate; other encodings never do. */
    if (str_eq(encoding, "pkcs12") && value_get(all, "private_key") != NULL) {
        key = issue_key(value_get(all, "private_key"), value_get(all, "private_key_passphrase"), NULL, NULL,
                        err);
        if (key == NULL)
            return err->code;
    }
    const encoding_t how = { encoding,
                             value_get(all, "append_certs"),
                             key,
                             value_get(all, "pkcs12_passphrase"),
                             value_get(all, "pkcs12_friendlyname"),
                             value_truthy(value_get(all, "pkcs12_encryption_compat")) };
    if (encode_cert(&der, &how, &bytes, err) != 0)
        return err->code;
    if (path != NULL)
        return pem_write_encoded(&bytes, encoding, path, overwrite, "CERTIFICATE", "Certificate", ret_value,
                                 err);
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* From one form into another; nothing is signed. */
static int
x509_encode_certificate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *encoding = value_str(args, "encoding", "pem");
    json_t *private = value_get(args, "private_key");
    AUTO(xdoc) cert = xdoc_load(XDOC_CERT, value_get(args, "certificate"), NULL, NULL, err);
    AUTO(pkey) key = NULL;
    buf_auto_t bytes = BUF_INIT;

    if (cert == NULL)
        return err->code;
    if (value_truthy(private) &&
        (key = issue_key(private, value_get(args, "private_key_passphrase"), NULL, NULL, err)) == NULL)
        return err->code;
    const encoding_t how = { encoding,
                             value_get(args, "append_certs"),
                             key,
                             value_get(args, "pkcs12_passphrase"),
                             value_get(args, "pkcs12_friendlyname"),
                             value_truthy(value_get(args, "pkcs12_encryption_compat")) };
    if (encode_cert(&cert->der, &how, &bytes, err) != 0)
        return err->code;
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* ---- requests and lists ------------------------------------------------------------------------- */

/* Signs, encodes, and writes to `path` if there is one. */
static int
x509_finish(const issue_t *issue, const json_t *all, const char *what, json_t **ret_value, fail_t *err)
{
    const char *encoding = value_str(all, "encoding", "pem"), *path = path_of(all);
    buf_auto_t der = BUF_INIT, bytes = BUF_INIT;

    if (issue_sign(issue, &der, err) != 0 || encode_doc(issue->kind, &der, encoding, &bytes, err) != 0)
        return err->code;
    if (path != NULL)
        return pem_write_encoded(&bytes, encoding, path, true, NULL, what, ret_value, err);
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* The key that signs the request is the one that the certificate will be for. */
static int
x509_create_csr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = issue_args(args);
    issue_auto_t issue = { .kind = XDOC_CSR };

    return issue_csr(all, &issue, err) != 0 ? err->code : x509_finish(&issue, all, "CSR", ret_value, err);
}

/* Each call makes a whole new list; numbers of revoked certificates come from the arguments. */
static int
x509_create_crl(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = issue_args(args);
    issue_auto_t issue = { .kind = XDOC_CRL };

    return issue_crl(all, &issue, err) != 0 ? err->code : x509_finish(&issue, all, "CRL", ret_value, err);
}

/* encode_csr and encode_crl. Between PEM and DER. */
static int
x509_encode_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    xdoc_kind_t kind = (xdoc_kind_t) ctx_row(ctx)->data.number;
    const char *encoding = value_str(args, "encoding", "pem");
    AUTO(xdoc) doc = xdoc_load(kind, value_get(args, kind == XDOC_CSR ? "csr" : "crl"), NULL, NULL, err);
    buf_auto_t bytes = BUF_INIT;

    if (doc == NULL || encode_doc(kind, &doc->der, encoding, &bytes, err) != 0)
        return err->code;
    *ret_value = encoded_value(&bytes, encoding);
    return 0;
}

/* ---- for other minions -------------------------------------------------------------------------- */

/* Whether the minion may use the policy: 1, 0, or negative with *err. With "@" the pattern is compound
 * (G@os:...), and only that minion's own grains can tell: it is asked by way of the master's peer interface.
 * A plain glob is tested here. */
static int
may_use(call_ctx_t *ctx, const char *pattern, const char *minion, fail_t *err)
{
    bool compound = strchr(pattern, '@') != NULL;
    json_auto_t *args = compound ? json_pack("[s, s, [s]]", minion, "match.compound", pattern)
                                 : json_pack("[s, s]", pattern, minion);
    json_auto_t *ret = NULL;

    if (compound && !ctx_has(ctx, "publish.publish"))
        return fail_kind(err, FAIL_COMMAND, -ENOSYS, "%s needs the function publish.publish", pattern);
    if (ctx_call(ctx, compound ? "publish.publish" : "match.glob", args, NULL, &ret, err) != 0)
        return err->code;
    return value_truthy(compound ? value_get(ret, minion) : ret);
}

/* The requester's arguments: what would read or write files here, or bring a signer of its own, is not taken.
 * This runs with what another minion sent, under this minion's rights: the policy's values win over all that
 * is left. */
static int
take_request(const json_t *policy, json_t *asked, fail_t *err)
{
    static const char *const never[] = { "copypath",
                                         "prepend_cn",
                                         "ca_server",
                                         "signing_private_key",
                                         "signing_cert",
                                         "private_key",
                                         "path",
                                         "private_key_passphrase",
                                         "signing_private_key_passphrase" };
    static const char *const never_files[] = { "csr", "public_key" };

    for (size_t i = 0; i < NELEMS(never); i++)
        json_object_del(asked, never[i]);
    /* xdoc_load() would read a path here and sign for a key that the requester need not have. */
    for (size_t i = 0; i < NELEMS(never_files); i++)
        if (xdoc_path(value_get(asked, never_files[i])) != NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s must be sent, not named by a path",
                             never_files[i]);
    policy_merge(policy, asked);
    return 0;
}

/* The policy without its secrets, its certificate as text. */
static int
tell_policy(json_t *policy, fail_t *err)
{
    json_t *cert = value_get(policy, "signing_cert");
    buf_auto_t pem = BUF_INIT;

    json_object_del(policy, "signing_private_key");
    json_object_del(policy, "signing_private_key_passphrase");
    if (cert == NULL)
        return 0;
    AUTO(xdoc) doc = xdoc_load(XDOC_CERT, cert, NULL, NULL, err);
    if (doc == NULL)
        return err->code;
    pem_armour("CERTIFICATE", doc->der.data, doc->der.len, &pem);
    json_object_set_new(policy, "signing_cert", json_string(buf_str(&pem)));
    return 0;
}

/* *ret_data NEW: the policy, or the certificate. The master stamps __pub_id, so that a policy's `minions` is
 * tested against an identity that the requester cannot choose. */
static int
answer_request(call_ctx_t *ctx, json_t *args, json_t **ret_data, fail_t *err)
{
    json_auto_t *policy = policy_own(ctx, value_get(args, "signing_policy"));
    json_auto_t *asked = json_is_object(value_get(args, "kwargs")) ? json_deep_copy(value_get(args, "kwargs"))
                                                                   : json_object();
    json_t *minions = value_get(policy, "minions");
    const char *minion = value_str(value_get(args, "more_kwargs"), "__pub_id", NULL);
    issue_auto_t issue = { .kind = XDOC_CERT };
    buf_auto_t der = BUF_INIT, pem = BUF_INIT;

    if (json_object_size(policy) == 0)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                         "signing_policy must be specified and defined on signing minion");
    if (minions != NULL) {
        AUTO_FREE char *pattern = value_pystr(minions);
        if (minion == NULL)
            return fail_kind(err, FAIL_INVOCATION, -EACCES,
                             "minion sending this request could not be identified");
        int may = may_use(ctx, pattern, minion, err);
        if (may <= 0)
            return may < 0 ? may
                           : fail_kind(err, FAIL_INVOCATION, -EACCES,
                                       "minion not permitted to use specified signing policy");
    }
    /* Whoever may use the policy need not learn for whom else it is. */
    json_object_del(policy, "minions");
    if (value_truthy(value_get(args, "get_signing_policy_only"))) {
        if (tell_policy(policy, err) != 0)
            return err->code;
        *ret_data = json_incref(policy);
        return 0;
    }
    if (take_request(policy, asked, err) != 0 || sign_here(asked, &issue, &der, err) != 0)
        return err->code;
    pem_armour("CERTIFICATE", der.data, der.len, &pem);
    *ret_data = json_string(buf_str(&pem));
    return 0;
}

/* Errors are data, {"data": None, "errors": [text]}, since the requester gets only what a function returns;
 * they are logged here too. */
static int
x509_sign_remote_certificate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_t *data = NULL;

    if (answer_request(ctx, args, &data, &why) != 0)
        log_error("x509.sign_remote_certificate: %s", fail_text(&why));
    *ret_value = data != NULL ? json_pack("{s:o, s:[]}", "data", data, "errors")
                              : json_pack("{s:n, s:[o]}", "data", "errors",
                                          value_utf8(fail_text(&why), strlen(fail_text(&why))));
    return 0;
}

/* From the ca_server where one is named, without its secrets. */
static int
x509_get_signing_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return policy_get(ctx, value_get(args, "signing_policy"), value_get(args, "ca_server"), ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t key_args[] = {
    X509_ANY("algo", "\"rsa\"", "rsa, ec, ed25519 or ed448"),
    X509_ANY("keysize", "null", "Bits: 2048, 3072 or 4096 of RSA, 256, 384 or 521 of EC"),
    X509_ANY("passphrase", "null", "To encrypt it by"),
    X509_ROW_KEY_ENCODING,
    X509_ROW_COMPAT,
    X509_ROW_PATH,
    X509_ROW_RAW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "bits: the same as keysize; text, cipher and verbose are not used",
        "bits text cipher verbose"),
    ARGS_END,
};

static const arg_t encode_key_args[] = {
    X509_ANY("private_key", ARG_REQUIRED, "The key: path or text"),
    X509_ROW_KEY_ENCODING,
    X509_ANY("passphrase", "null", "To encrypt it by"),
    X509_ROW_COMPAT,
    X509_ROW_RAW,
    X509_ANY("private_key_passphrase", "null", "By which it is encrypted now"),
    ARGS_END,
};

static const arg_t certificate_args[] = {
    X509_ROWS_CERT, X509_ROW_PATH,  X509_ANY("overwrite", "true", "False: leave a file that is there"),
    X509_ROW_RAW,   X509_ROW_PARTS, ARGS_END,
};

static const arg_t encode_cert_args[] = {
    X509_ROW_CERTIFICATE,
    X509_ROW_CERT_ENCODING,
    X509_ANY("append_certs", "null", "Certificates to add: a list of paths or texts"),
    X509_ANY("private_key", "null", "Key for pkcs12"),
    X509_ANY("private_key_passphrase", "null", "Its passphrase"),
    X509_ROWS_PKCS12,
    X509_ROW_RAW,
    ARGS_END,
};

static const arg_t csr_args[] = {
    X509_ANY("private_key", ARG_REQUIRED, "Key that signs the request: path or text"),
    X509_ANY("private_key_passphrase", "null", "Its passphrase"),
    X509_ROW_DIGEST,
    X509_ROW_DOC_ENCODING,
    X509_ROW_PATH,
    X509_ROW_RAW,
    X509_ROW_PARTS,
    ARGS_END,
};

static const arg_t crl_args[] = {
    X509_ROWS_CRL,
    X509_ROW_PATH,
    X509_ROW_RAW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "algorithm: the same as digest; text is not used", "text algorithm"),
    ARGS_END,
};

static const arg_t encode_csr_args[] = { X509_ROW_CSR, X509_ROW_DOC_ENCODING, X509_ROW_RAW, ARGS_END };
static const arg_t encode_crl_args[] = { X509_ROW_CRL, X509_ROW_DOC_ENCODING, X509_ROW_RAW, ARGS_END };

static const arg_t policy_args[] = {
    X509_ANY("signing_policy", ARG_REQUIRED, "Name of the policy"),
    X509_ANY("ca_server", "null", "Id of the minion that has it"),
    ARGS_END,
};

static const arg_t remote_args[] = {
    X509_ANY("signing_policy", ARG_REQUIRED, "Name of the policy"),
    ARG("kwargs", ARG_DICT, ARG_REQUIRED, "Arguments of create_certificate"),
    X509_ANY("get_signing_policy_only", "false", "Return the policy"),
    ARG("more_kwargs", ARG_ANY, ARG_STARSTAR, "Who asks, by Salt's own keywords", "*"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "create_certificate", x509_create_certificate, certificate_args, 0,
      "Create a certificate, signed here or by a ca_server." CLI_EXAMPLE(
          "salt '*' x509.create_certificate signing_private_key=/etc/pki/ca.key CN=example.com") },
    { "create_crl", x509_create_crl, crl_args, 0,
      "Create a list of revoked certificates." CLI_EXAMPLE(
          "salt '*' x509.create_crl signing_private_key=/etc/pki/ca.key signing_cert=/etc/pki/ca.crt revoked=[]") },
    { "create_csr", x509_create_csr, csr_args, 0,
      "Create a request for a certificate." CLI_EXAMPLE(
          "salt '*' x509.create_csr private_key=/etc/pki/my.key CN=example.com") },
    { "create_private_key", x509_create_private_key, key_args, 0,
      "Create a private key; it is returned unless a path is given." CLI_EXAMPLE(
          "salt '*' x509.create_private_key algo=ec keysize=384 path=/etc/pki/my.key") },
    { "encode_certificate", x509_encode_certificate, encode_cert_args, FN_READONLY,
      "Return a certificate in another encoding." CLI_EXAMPLE(
          "salt '*' x509.encode_certificate /etc/pki/my.crt encoding=pkcs7_pem") },
    { "encode_crl", x509_encode_doc, encode_crl_args, FN_READONLY,
      "Return a revocation list in another encoding." CLI_EXAMPLE(
          "salt '*' x509.encode_crl /etc/pki/my.crl der"),
      .data.number = XDOC_CRL },
    { "encode_csr", x509_encode_doc, encode_csr_args, FN_READONLY,
      "Return a request in another encoding." CLI_EXAMPLE("salt '*' x509.encode_csr /etc/pki/my.csr der"),
      .data.number = XDOC_CSR },
    { "encode_private_key", x509_encode_private_key, encode_key_args, FN_READONLY,
      "Return a private key in another encoding." CLI_EXAMPLE(
          "salt '*' x509.encode_private_key /etc/pki/my.key encoding=der") },
    { "get_signing_policy", x509_get_signing_policy, policy_args, FN_READONLY,
      "Return a signing policy of x509_signing_policies." CLI_EXAMPLE(
          "salt '*' x509.get_signing_policy www") },
    { "sign_remote_certificate", x509_sign_remote_certificate, remote_args, FN_RAW_KWARGS | FN_PEER,
      "Sign a certificate for another minion, which calls this by publish.publish with its ca_server." CLI_EXAMPLE(
          "salt-call publish.publish ca x509.sign_remote_certificate arg=\"['www', {'CN': 'example.com'}]\"") },
};

PLUGIN(exec, x509, .doc = "Keys, certificates, requests and revocation lists", FUNCS(funcs),
       .unavailable = ossl_missing);
