/* tls.c - execution module `tls`: an authority in a folder of its own, requests, and certificates that their
 * own key signs. tls_issue.c signs for others and revokes, tls_read.c shows and checks. Salt's module stands
 * on pyOpenSSL; here documents are built by plugins/lib/x509, and tlsdir.h knows the folder. A document that
 * is there is not replaced unless `replace` asks for it, and a sentence tells so as the result of a call that
 * succeeded. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/tlsdir.h"
#include "plugins/lib/x509/tlsrows.h"
#include "salt/log.h"

#define STAMP_FORM "%Y%m%d%H%M%S"

/* ---- documents ------------------------------------------------------------------------------ */

/* The subject of the arguments, in the names of dn.h. NEW, or NULL with *err. The bounds are RFC 5280's,
 * appendix A.1 (ub-common-name and its like). Bytes that continue a character of UTF-8 do not count. */
static json_t *
subject_of(const json_t *args, fail_t *err)
{
    static const struct {
        const char *argument, *name;
        size_t most;   /* characters, by RFC 5280 */
        bool may_lack; /* left out when it is empty */
    } parts[] = {
        { "C", "C", 2, false },
        { "ST", "ST", 128, false },
        { "L", "L", 128, false },
        { "O", "O", 64, false },
        { "OU", "OU", 64, true },
        { "CN", "CN", 64, false },
        { "emailAddress", "MAIL", 128, true },
    };
    json_auto_t *subject = json_object();

    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_t *v = value_get(args, parts[i].argument);
        const char *text = json_string_value(v) != NULL ? json_string_value(v) : "";
        size_t chars = 0;
        for (const char *p = text; *p != '\0'; p++)
            chars += ((unsigned char) *p & 0xc0) != 0x80;
        if (chars > parts[i].most) {
            fail_kind(err, FAIL_INVOCATION, -EINVAL,
                      "%s: a certificate takes %zu characters at most, not %zu", parts[i].argument,
                      parts[i].most, chars);
            return NULL;
        }
        if (*text != '\0' || !parts[i].may_lack)
            json_object_set(subject, parts[i].name, v);
    }
    return json_incref(subject);
}

/* All but extensions, of a document that its own key signs. TAKES `key`. A self-signed document has its
 * subject as its issuer. */
static int
begin_issue(issue_t *out, xdoc_kind_t kind, const json_t *subject, pkey_t *key, const char *digest,
            fail_t *err)
{
    out->kind = kind;
    out->signer = key;
    out->digest = xstrdup(digest);
    out->extensions = json_array();
    out->subject_name = dn_make(subject, err);
    if (out->subject_name == NULL || pkey_write_public(key, &out->spki, err) != 0 ||
        issue_serial(&out->serial, err) != 0)
        return err->code;
    dn_write(out->subject_name, &out->subject);
    buf_add(&out->issuer, out->subject.data, out->subject.len);
    return 0;
}

/* Adds an extension by its name, in OpenSSL's notation. A request has no authority, so that its extensions
 * cannot name one: keyid of the issuer stays empty. */
static int
add_extension(issue_t *out, const char *name, const json_t *value, fail_t *err)
{
    der_t spki = { (const uint8_t *) out->spki.data, out->spki.len };
    ext_about_t about = {
        .spki = spki, .ca_spki = spki, .own_name = &out->subject, .own_serial = &out->serial
    };
    size_t i = 0;

    while (i < ext_rows_n && (!str_eq(ext_rows[i].name, name) || (ext_rows[i].flags & EXT_CERT) == 0))
        i++;
    if (i == ext_rows_n)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s is the name of no extension", name);
    if (out->kind == XDOC_CSR) {
        about.ca_spki = (der_t){ NULL, 0 };
        about.own_name = NULL;
    }
    /* Written as `openssl.cnf` has it: "critical, CA:TRUE, pathlen:0". */
    json_t *made = ext_make(&ext_rows[i], value, &about, err);
    return made != NULL ? json_array_append_new(out->extensions, made) : err->code;
}

/* ---- authorities -------------------------------------------------------------------------------- */

/* The key that is there; one that can't be read is put aside. *ret_key stays NULL when there is none. An
 * authority that gets a new certificate keeps its key, so that what it signed stays valid. A file that can't
 * be opened is an error, since it may well hold the key. */
static int
reuse_key(const tlsdir_t *dir, pkey_t **ret_key, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    pkey_trouble_t trouble = PKEY_READ;
    int there = tls_read_key(dir->ca_key, ret_key, &trouble, &why);

    if (there >= 0)
        return 0;
    if (trouble == PKEY_READ)
        return fail_kind(err, why.kind, why.code, "%s", fail_text(&why));
    AUTO_FREE char *stamp = clock_strftime_utc(STAMP_FORM, clock_wall_us());
    AUTO_FREE char *aside = xasprintf("%s.unloadable.%s", dir->ca_key, stamp);
    log_warning("tls: %s; it becomes %s, and a new key is made", fail_text(&why), aside);
    return rename(dir->ca_key, aside) == 0 ? 0 : fs_fail(err, -errno, "rename", dir->ca_key);
}

/* Writes the key unless the file has these very bytes; other bytes stay beside it. A passphrase or another
 * line width makes other bytes of the same key; the old file is never thrown away. */
static int
write_ca_key(const tlsdir_t *dir, pkey_t *key, fail_t *err)
{
    enum { KEY_MAX = 1 << 20 };
    buf_wiped_t before = BUF_INIT, pem = BUF_INIT;
    int had = fs_read_any(dir->ca_key, KEY_MAX, &before, err);

    if (had < 0 || encode_key(key, "pem", NULL, false, &pem, err) != 0)
        return err->code;
    if (had > 0 && str_eq(buf_str(&before), buf_str(&pem)))
        return 0;
    AUTO_FREE char *stamp = clock_strftime_utc(STAMP_FORM, clock_wall_us());
    AUTO_FREE char *kept = xasprintf("%s.%s", dir->ca_key, stamp);
    if (had > 0 && tls_write_secret(kept, &before, err) != 0)
        return err->code;
    return tls_write_secret(dir->ca_key, &pem, err);
}

/* Makes the authority's certificate, with the key that is there or a new one. Noted in index.txt before the
 * files are written: a serial number is never given twice, at worst one is noted in vain. */
static int
make_ca(call_ctx_t *ctx, const tlsdir_t *dir, const json_t *subject, json_int_t bits, json_int_t days,
        const char *digest, fail_t *err)
{
    static const char *const extensions[][2] = { { "basicConstraints", "critical, CA:TRUE, pathlen:0" },
                                                 { "keyUsage", "critical, keyCertSign, cRLSign" },
                                                 { "subjectKeyIdentifier", "hash" },
                                                 { "authorityKeyIdentifier", "issuer:always,keyid:always" } };
    issue_auto_t issue = { .kind = XDOC_CERT };
    buf_auto_t der = BUF_INIT;
    pkey_t *key = NULL;

    if (digest_name(digest, err) == NULL || tls_days(&issue, days, err) != 0 ||
        fs_mkdirs(dir->dir, 0755, err) != 0 || reuse_key(dir, &key, err) != 0)
        return err->code;
    if (key == NULL && (key = pkey_make_rsa(bits, err)) == NULL)
        return err->code;
    if (begin_issue(&issue, XDOC_CERT, subject, key, digest, err) != 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(extensions); i++) {
        json_auto_t *value = json_string(extensions[i][1]);
        if (add_extension(&issue, extensions[i][0], value, err) != 0)
            return err->code;
    }
    if (issue_sign(&issue, &der, err) != 0 || tlsdir_note(ctx, dir, &der, err) != 0 ||
        write_ca_key(dir, key, err) != 0)
        return err->code;
    return tls_write_doc(dir->ca_cert, "CERTIFICATE", &der, err);
}

/* An old Salt wrote certificates of a version that X.509 does not have: such a one is made anew. 1 when there
 * is a certificate, 0 when there is none. The bits and days here are Salt's for a key or an end that can't be
 * read. */
static int
fix_version(call_ctx_t *ctx, const tlsdir_t *dir, fail_t *err)
{
    enum { WRONG_VERSION = 4, FIX_BITS = 2048, FIX_DAYS = 365 };
    AUTO(xdoc) cert = NULL;
    int there = tls_read_doc(XDOC_CERT, dir->ca_cert, &cert, err);

    if (there <= 0 || cert->version != WRONG_VERSION)
        return there;
    log_info("tls: the certificate %s has no version that X.509 knows and is made anew", dir->ca_cert);
    json_auto_t *subject = dn_dict(cert->subject);
    return make_ca(ctx, dir, subject, FIX_BITS, FIX_DAYS, "sha256", err) == 0 ? 1 : err->code;
}

/* A missing certificate is Python's error of opening it; None otherwise, changed or not. */
static int
tls_maybe_fix_ssl_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tlsdir_auto_t dir = { .name = NULL };

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    int there = fix_version(ctx, &dir, err);
    if (there <= 0)
        return there < 0 ? there
                         : fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", dir.ca_cert);
    *ret_value = json_null();
    return 0;
}

/* Looking also repairs: Salt's function does so. */
static int
tls_ca_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tlsdir_auto_t dir = { .name = NULL };

    if (tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    int there = fix_version(ctx, &dir, err);
    *ret_value = there >= 0 ? json_boolean(there) : NULL;
    return there < 0 ? there : 0;
}

/* onlyif and unless, a command or a truth: 1 when the call has nothing to do. onlyif must hold and unless
 * must not; both are run even where the first decides. A command holds when it exits with 0, and its exit
 * code is not the job's. */
static int
is_excused(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    static const char *const names[] = { "onlyif", "unless" };
    int excused = 0;

    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(args, names[i]);
        if (v == NULL || json_is_null(v))
            continue;
        bool holds = value_truthy(v);
        if (json_is_string(v)) {
            json_auto_t *code = sub_call(ctx, err, "cmd.retcode", "{s:O, s:b}", "cmd", v, "ignore_retcode",
                                         1);
            if (code == NULL)
                return err->code;
            holds = !value_truthy(code);
        }
        excused |= holds == (i == 1);
    }
    return excused;
}

/* None when onlyif or unless excuse the call. With `fixmode` there must be a certificate, and it is made
 * anew: the call by which Salt mends wrong versions, kept for users that make it. */
static int
tls_create_ca(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool fix = value_truthy(value_get(args, "fixmode"));
    tlsdir_auto_t dir = { .name = NULL };
    int excused = is_excused(ctx, args, err);

    if (excused != 0) {
        *ret_value = excused > 0 ? json_null() : NULL;
        return excused > 0 ? 0 : excused;
    }
    json_auto_t *subject = subject_of(args, err);
    if (subject == NULL || tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    /* replace: as if none were there. fixmode: only looked at, since fixing is under way. Else a wrong
     * version is mended first. */
    int there = value_truthy(value_get(args, "replace")) && !fix ? 0
                : fix                                            ? fs_look(dir.ca_cert, err)
                                                                 : fix_version(ctx, &dir, err);
    if (there < 0)
        return there;
    if (there > 0 && !fix) {
        *ret_value = value_fmt("Certificate for CA named \"%s\" already exists", dir.name);
        return 0;
    }
    if (fix && there == 0)
        return fail_set(err, -ENOENT, "%s does not exists, can't fix", dir.ca_cert);
    if (make_ca(ctx, &dir, subject, value_int(args, "bits", 0), value_int(args, "days", 0),
                value_str(args, "digest", ""), err) != 0)
        return err->code;
    *ret_value = value_fmt("Created Private Key: \"%s\" Created CA \"%s\": \"%s\"", dir.ca_key, dir.name,
                           dir.ca_cert);
    return 0;
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* tls.extensions:GROUP of the pillar, or what stands for it. NEW, or NULL with *err. Salt's own values, in
 * JSON. A group that the pillar names replaces its usual one whole. */
static json_t *
extension_group(call_ctx_t *ctx, const char *group, fail_t *err)
{
    static const struct {
        const char *group, *usual;
    } known[] = {
        { "common", "{\"csr\": {\"basicConstraints\": \"CA:FALSE\"}, \"cert\": {\"authorityKeyIdentifier\": "
                    "\"keyid,issuer:always\", \"subjectKeyIdentifier\": \"hash\"}}" },
        { "server", "{\"csr\": {\"extendedKeyUsage\": \"serverAuth\", \"keyUsage\": \"digitalSignature, "
                    "keyEncipherment\"}, \"cert\": {}}" },
        { "client", "{\"csr\": {\"extendedKeyUsage\": \"clientAuth\", \"keyUsage\": \"nonRepudiation, "
                    "digitalSignature, keyEncipherment\"}, \"cert\": {}}" },
    };
    AUTO_FREE char *key = xasprintf("tls.extensions:%s", group);
    json_auto_t *found = sub_call(ctx, err, "pillar.get", "{s:s, s:b}", "key", key, "default", 0);

    for (size_t i = 0; found != NULL && !value_truthy(found) && i < NELEMS(known); i++)
        if (str_eq(known[i].group, group))
            return json_loads(known[i].usual, 0, NULL);
    if (found != NULL && !json_is_object(found))
        fail_kind(err, FAIL_INVOCATION, -ENOENT,
                  "cert_type: %s is neither server nor client, and the pillar has no %s with csr and cert",
                  group, key);
    return json_is_object(found) ? json_deep_copy(found) : NULL;
}

/* {"csr": {...}, "cert": {...}}. NEW, or NULL with *err. The extensions of the type win over the common
 * ones. */
static json_t *
extensions_for(call_ctx_t *ctx, const char *cert_type, fail_t *err)
{
    if (*cert_type == '\0') {
        log_error("tls.get_extensions: cert_type is empty: server is taken");
        cert_type = "server";
    }
    json_auto_t *all = extension_group(ctx, "common", err);
    json_auto_t *own = all != NULL ? extension_group(ctx, cert_type, err) : NULL;
    const char *use;
    json_t *one;

    if (own == NULL)
        return NULL;
    json_object_foreach (all, use, one) {
        if (!json_is_object(one) || !json_is_object(value_get(own, use))) {
            fail_kind(err, FAIL_INVOCATION, -EINVAL,
                      "tls.extensions: common and %s must both have a mapping %s", cert_type, use);
            return NULL;
        }
        json_object_update(one, value_get(own, use));
    }
    return json_incref(all);
}

/* What create_csr would put into a request, and create_ca_signed_cert into a certificate, of this type. */
static int
tls_get_extensions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = extensions_for(ctx, value_str(args, "cert_type", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The request's extensions: those of its type, and the alternative names. subjectAltName is a list of
 * "DNS:..." and the like. */
static int
add_requested(call_ctx_t *ctx, const json_t *args, issue_t *issue, fail_t *err)
{
    json_auto_t *all = extensions_for(ctx, value_str(args, "cert_type", ""), err);
    json_t *names = value_get(args, "subjectAltName"), *value;
    const char *name;

    if (all == NULL)
        return err->code;
    json_object_foreach (value_get(all, "csr"), name, value)
        if (add_extension(issue, name, value, err) != 0)
            return err->code;
    return value_truthy(names) ? add_extension(issue, "subjectAltName", names, err) : 0;
}

/* With a new key of its own beside it, CN.key; both are written or neither. */
static int
tls_create_csr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    tlsdir_auto_t dir = { .name = NULL };
    issue_auto_t issue = { .kind = XDOC_CSR };
    buf_auto_t der = BUF_INIT;
    json_auto_t *subject = subject_of(args, err);

    if (subject == NULL || tlsdir_open(ctx, args, "ca_name", &dir, err) != 0)
        return err->code;
    int there = fix_version(ctx, &dir, err);
    if (there <= 0) {
        *ret_value = there < 0
                         ? NULL
                         : value_fmt(
                               "Certificate for CA named \"%s\" does not exist, please create it first.",
                               dir.name);
        return there;
    }
    const char *given = value_str(args, "csr_path", ""), *digest = value_str(args, "digest", "");
    AUTO_FREE char *folder = *given != '\0' ? xstrdup(given) : xasprintf("%s/certs/", dir.dir);
    AUTO_FREE char *file = tls_file_of(args, "csr_filename");
    AUTO_FREE char *csr_path = tls_path(folder, "CN", file, "csr", err);
    AUTO_FREE char *key_path = csr_path != NULL ? tls_path(folder, "CN", file, "key", err) : NULL;
    if (key_path == NULL || fs_mkdirs(folder, 0755, err) != 0)
        return err->code;
    /* The request's file decides; a key without a request is overwritten. */
    there = value_truthy(value_get(args, "replace")) ? 0 : fs_look(csr_path, err);
    if (there != 0) {
        *ret_value = there < 0 ? NULL : value_fmt("Certificate Request \"%s\" already exists", csr_path);
        return there < 0 ? there : 0;
    }
    pkey_t *key = digest_name(digest, err) != NULL ? pkey_make_rsa(value_int(args, "bits", 0), err) : NULL;
    if (key == NULL || begin_issue(&issue, XDOC_CSR, subject, key, digest, err) != 0 ||
        add_requested(ctx, args, &issue, err) != 0 || issue_sign(&issue, &der, err) != 0 ||
        tls_write_pair(key_path, key, csr_path, "CERTIFICATE REQUEST", &der, err) != 0)
        return err->code;
    *ret_value = value_fmt("Created Private Key: \"%s%s.key\" Created CSR for \"%s\": \"%s%s.csr\"", folder,
                           file, value_str(args, "CN", ""), folder, file);
    return 0;
}

/* ---- certificates ------------------------------------------------------------------------------- */

/* No extensions, as by Salt, and noted in the folder's index like an authority's. */
static int
tls_create_self_signed_cert(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "cert_filename", ""), *digest = value_str(args, "digest", "");
    const char *file = *given != '\0' ? given : value_str(args, "CN", "");
    tlsdir_auto_t dir = { .name = NULL };
    issue_auto_t issue = { .kind = XDOC_CERT };
    buf_auto_t der = BUF_INIT;
    json_auto_t *subject = subject_of(args, err);

    if (subject == NULL || tlsdir_open(ctx, args, "tls_dir", &dir, err) != 0)
        return err->code;
    AUTO_FREE char *folder = xasprintf("%s/certs", dir.dir);
    AUTO_FREE char *path = tls_path(folder, "CN", file, "crt", err);
    AUTO_FREE char *key_path = path != NULL ? tls_path(folder, "CN", file, "key", err) : NULL;
    if (key_path == NULL || fs_mkdirs(folder, 0755, err) != 0)
        return err->code;
    int there = value_truthy(value_get(args, "replace")) ? 0 : fs_look(path, err);
    if (there != 0) {
        *ret_value = there < 0 ? NULL : value_fmt("Certificate \"%s\" already exists", file);
        return there < 0 ? there : 0;
    }
    if (digest_name(digest, err) == NULL || tls_days(&issue, value_int(args, "days", 0), err) != 0)
        return err->code;
    pkey_t *key = pkey_make_rsa(value_int(args, "bits", 0), err);
    if (key == NULL || begin_issue(&issue, XDOC_CERT, subject, key, digest, err) != 0 ||
        issue_sign(&issue, &der, err) != 0 || tlsdir_note(ctx, &dir, &der, err) != 0 ||
        tls_write_pair(key_path, key, path, "CERTIFICATE", &der, err) != 0)
        return err->code;
    *ret_value = value_fmt("Created Private Key: \"%s\" Created Certificate: \"%s\"", key_path, path);
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------- */

#define TLS_ROWS_SUBJECT                                                                                     \
    TLS_STR("CN", "\"localhost\"", "Common name"), TLS_STR("C", "\"US\"", "Country, two letters"),           \
        TLS_STR("ST", "\"Utah\"", "State"), TLS_STR("L", "\"Salt Lake City\"", "Locality"),                  \
        TLS_STR("O", "\"SaltStack\"", "Organization"), TLS_STR("OU", "null", "Part of the organization"),    \
        TLS_STR("emailAddress", "null", "Address for mail")

static const arg_t ca_args[] = {
    TLS_ROW_CA,
    TLS_ROW_BITS,
    TLS_ROW_DAYS,
    TLS_ROWS_SUBJECT,
    ARG("fixmode", ARG_ANY, "false", "True: make a certificate that is there anew, with its key"),
    TLS_ROW_BASE,
    TLS_ROW_CA_FILE,
    TLS_ROW_DIGEST,
    ARG("onlyif", ARG_ANY, "null", "A command that must succeed, or a truth, for anything to be done"),
    ARG("unless", ARG_ANY, "null", "A command that must fail, or a truth, for anything to be done"),
    TLS_ROW_REPLACE,
    ARGS_END,
};

static const arg_t csr_args[] = {
    TLS_ROW_CA,
    TLS_ROW_BITS,
    TLS_ROWS_SUBJECT,
    ARG("subjectAltName", ARG_ANY, "null",
        "Alternative names: DNS:example.com, IP:192.0.2.1; a list of such"),
    TLS_ROW_BASE,
    TLS_ROW_CA_FILE,
    TLS_STR("csr_path", "null", "Folder for the request and its key; else certs of the authority"),
    TLS_STR("csr_filename", "null", "Name of the files, without .csr and .key"),
    TLS_ROW_DIGEST,
    ARG("type_ext", ARG_ANY, "false", "True: the files are called CN_TYPE"),
    TLS_STR("cert_type", "\"server\"", "server, client, or a group of the pillar's tls.extensions"),
    TLS_ROW_REPLACE,
    ARGS_END,
};

static const arg_t self_args[] = {
    TLS_STR("tls_dir", "\"tls\"", "Folder below that of all authorities"),
    TLS_ROW_BITS,
    TLS_ROW_DAYS,
    TLS_ROWS_SUBJECT,
    TLS_ROW_BASE,
    TLS_STR("cert_filename", "null", "Name of the files, without .crt and .key"),
    TLS_ROW_DIGEST,
    TLS_ROW_REPLACE,
    ARGS_END,
};

static const arg_t name_args[] = { TLS_ROW_CA, TLS_ROW_BASE, TLS_ROW_CA_FILE, ARGS_END };
static const arg_t type_args[] = {
    TLS_STR("cert_type", ARG_REQUIRED, "server, client, or a group of the pillar"), ARGS_END
};

static const func_t funcs[] = {
    { "ca_exists", tls_ca_exists, name_args, 0,
      "True when there is an authority of this name." CLI_EXAMPLE("salt '*' tls.ca_exists koji /etc/certs") },
    { "create_ca", tls_create_ca, ca_args, 0,
      "Create an authority, its key and certificate, unless there is one." CLI_EXAMPLE(
          "salt '*' tls.create_ca koji days=3650 CN=ca.example.com") },
    { "create_csr", tls_create_csr, csr_args, 0,
      "Create a key and a request for an authority." CLI_EXAMPLE(
          "salt '*' tls.create_csr koji CN=www.example.com") },
    { "create_self_signed_cert", tls_create_self_signed_cert, self_args, 0,
      "Create a key and a certificate that it signs." CLI_EXAMPLE(
          "salt '*' tls.create_self_signed_cert CN=test.example.com") },
    { "get_extensions", tls_get_extensions, type_args, FN_READONLY,
      "Return the extensions of a type of certificates, from the pillar or usual ones." CLI_EXAMPLE(
          "salt '*' tls.get_extensions client") },
    { "maybe_fix_ssl_version", tls_maybe_fix_ssl_version, name_args, 0,
      "Create an authority's certificate anew when an old Salt wrote it with a wrong version." CLI_EXAMPLE(
          "salt '*' tls.maybe_fix_ssl_version koji /etc/certs") },
};

PLUGIN(exec, tls, .doc = "Authorities, requests and certificates in folders", FUNCS(funcs),
       .unavailable = ossl_missing);
