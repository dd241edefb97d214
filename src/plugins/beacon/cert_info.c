/* cert_info.c - beacon cert_info: certificates that expire soon, as the program openssl reads them. Salt's
 * beacon uses pyOpenSSL: names, times and extensions are told in its forms. A file that can't be read as a
 * certificate is logged and left out. */
#include <ctype.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"
#include "salt/log.h"
#include "salt/plugin.h"

enum { NOTIFY_DAYS = 45, OPENSSL_MS = 10000, DAY_S = 86400, DIGITS = 64 };

/* OpenSSL's long names of extensions, and the short ones that pyOpenSSL tells. */
static const char *const extensions[][2] = {
    { "X509v3 Subject Key Identifier", "subjectKeyIdentifier" },
    { "X509v3 Authority Key Identifier", "authorityKeyIdentifier" },
    { "X509v3 Basic Constraints", "basicConstraints" },
    { "X509v3 Subject Alternative Name", "subjectAltName" },
    { "X509v3 Issuer Alternative Name", "issuerAltName" },
    { "X509v3 Extended Key Usage", "extendedKeyUsage" },
    { "X509v3 Key Usage", "keyUsage" },
    { "X509v3 CRL Distribution Points", "crlDistributionPoints" },
    { "X509v3 Certificate Policies", "certificatePolicies" },
    { "X509v3 Name Constraints", "nameConstraints" },
    { "Authority Information Access", "authorityInfoAccess" },
    { "CT Precertificate SCTs", "ct_precert_scts" },
    { "TLS Feature", "tlsfeature" },
    { "Netscape Comment", "nsComment" },
    { "Netscape Cert Type", "nsCertType" },
};

static char *
cert_info_validate(const json_t *list, const json_t *config)
{
    if (!json_is_array(value_get(config, "files")))
        return xstrdup("Configuration for cert_info beacon must contain files option.");
    return NULL;
}

/* NEW decimal digits of hexadecimal ones, at most DIGITS of them: a serial number has up to 20 bytes. */
static char *
cert_info_decimal(const char *hex)
{
    char digits[DIGITS + 1] = { 0 };
    size_t used = 1;
    for (const char *at = hex; isxdigit((unsigned char) *at); at++) {
        int carry = isdigit((unsigned char) *at) ? *at - '0' : tolower((unsigned char) *at) - 'a' + 10;
        for (size_t i = 0; i < used || carry > 0; i++) {
            if (i == DIGITS)
                return xstrdup("");
            carry += digits[i] * 16;
            digits[i] = (char) (carry % 10);
            carry /= 10;
            used = i + 1 > used ? i + 1 : used;
        }
    }
    char *out = xcalloc(1, used + 1);
    for (size_t i = 0; i < used; i++)
        out[i] = (char) ('0' + digits[used - 1 - i]);
    return out;
}

/* NEW output of `openssl x509` about a file; NULL when it is no certificate, which is logged. */
static char *
cert_info_ask(const char *path, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    fail_auto_t why = FAIL_INIT;
    int code = 0;
    prog_adds(&prog, "openssl", "x509", "-noout", "-serial", "-dates", "-issuer", "-subject", "-nameopt",
              "sep_multiline,sname,utf8", "-text", "-certopt",
              "no_pubkey,no_sigdump,no_serial,no_validity,no_issuer,no_subject", "-in", path, NULL);
    prog.timeout_ms = OPENSSL_MS;
    char *text = prog_stdout(&prog, &code, &why);
    if (text == NULL) {
        (void) fail_set(err, why.code, "%s", fail_text(&why));
        return NULL;
    }
    if (code != 0) {
        log_error("Unable to load certificate %s (openssl x509 ends with %d)", path, code);
        free(STEAL(text));
    }
    return text;
}

/* Reads "C=DE" lines of a name into its text and its dict. */
static void
cert_info_name(json_t *cert, const char *what, const char *line)
{
    AUTO_FREE char *dict_key = xasprintf("%s_dict", what);
    json_t *dict = value_get(cert, dict_key);
    const char *eq = strchr(line, '='), *before = value_str(cert, what, "");
    if (eq == NULL || dict == NULL)
        return;
    AUTO_FREE char *key = xstrndup(line, (size_t) (eq - line));
    json_object_set_new(dict, key, value_utf8(eq + 1, strlen(eq + 1)));
    AUTO_FREE char *more = xasprintf("%s%s%s=\"%s\"", before, *before != '\0' ? "," : "", key, eq + 1);
    json_object_set_new(cert, what, value_utf8(more, strlen(more)));
}

/* Reads "Nov 26 22:56:14 2026 GMT" in both of Salt's forms. -1: it is no time. */
static time_t
cert_info_date(json_t *cert, const char *what, const char *text)
{
    struct tm tm = { 0 };
    char raw[32], plain[32];
    AUTO_FREE char *raw_key = xasprintf("%s_raw", what);
    if (strptime(text, "%b %d %H:%M:%S %Y", &tm) == NULL)
        return -1;
    (void) strftime(raw, sizeof(raw), "%Y%m%d%H%M%SZ", &tm);
    (void) strftime(plain, sizeof(plain), "%Y-%m-%d %H:%M:%SZ", &tm);
    json_object_set_new(cert, raw_key, json_string(raw));
    json_object_set_new(cert, what, json_string(plain));
    return timegm(&tm);
}

/* Begins an extension ("X509v3 Key Usage: critical") or adds a line of its data. */
static void
cert_info_extension(json_t *list, const char *line, bool head)
{
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    if (!head) {
        const char *before = value_str(last, "ext_data", "");
        if (last != NULL)
            json_object_set_new(last, "ext_data",
                                value_fmt("%s%s%s", before, *before != '\0' ? "\n" : "", line));
        return;
    }
    const char *colon = strchr(line, ':');
    AUTO_FREE char *name = xstrndup(line, colon != NULL ? (size_t) (colon - line) : strlen(line));
    const char *shown = name;
    for (size_t i = 0; i < NELEMS(extensions); i++)
        if (str_eq(extensions[i][0], name))
            shown = extensions[i][1];
    json_array_append_new(list, json_pack("{s:s, s:s}", "ext_name", shown, "ext_data", ""));
}

/* NEW certificate as Salt tells it. *ret_end: when it expires. NULL: something is missing in what openssl
 * says. */
static json_t *
cert_info_read(const char *path, char *text, time_t *ret_end)
{
    json_t *exts = json_array();
    json_t *cert = json_pack("{s:s, s:s, s:{}, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{}, s:i, s:o}",
                             "cert_path", path, "issuer", "", "issuer_dict", "notAfter_raw", "", "notAfter",
                             "", "notBefore_raw", "", "notBefore", "", "serial_number", "",
                             "signature_algorithm", "", "subject", "", "subject_dict", "version", 0,
                             "extensions", exts);
    const char *name = NULL;
    bool in_text = false;
    *ret_end = -1;
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        size_t indent = strspn(line, " ");
        const char *word = line + indent;
        int version;
        if (indent == 0) {
            name = str_starts(line, "issuer=") ? "issuer" : str_starts(line, "subject=") ? "subject" : NULL;
            in_text = str_starts(line, "Certificate:");
            if (str_starts(line, "serial=")) {
                AUTO_FREE char *serial = cert_info_decimal(line + strlen("serial="));
                long long small;
                json_object_set_new(cert, "serial_number",
                                    str_to_int(serial, 0, INT64_MAX, &small) ? json_integer(small)
                                                                             : json_string(serial));
            } else if (str_starts(line, "notBefore="))
                (void) cert_info_date(cert, "notBefore", line + strlen("notBefore="));
            else if (str_starts(line, "notAfter="))
                *ret_end = cert_info_date(cert, "notAfter", line + strlen("notAfter="));
        } else if (name != NULL)
            cert_info_name(cert, name, word);
        else if (in_text && sscanf(word, "Version: %d", &version) == 1)
            json_object_set_new(cert, "version", json_integer(version - 1));
        else if (in_text && str_starts(word, "Signature Algorithm: "))
            json_object_set_new(cert, "signature_algorithm",
                                json_string(word + strlen("Signature Algorithm: ")));
        else if (in_text && indent >= 12)
            cert_info_extension(exts, word, indent == 12);
    }
    if (*ret_end != -1)
        return cert;
    log_error("Unable to load certificate %s (openssl tells no end)", path);
    json_decref(cert);
    return NULL;
}

static int
cert_info_look(beacon_look_t *look, fail_t *err)
{
    double days = value_num(look->config, "notify_days", NOTIFY_DAYS);
    json_auto_t *all = json_array();
    time_t now = (time_t) (clock_wall_us() / 1000000), end;
    json_t *file;
    size_t i;
    json_array_foreach (value_get(look->config, "files"), i, file) {
        void *at = json_object_iter(file);
        const char *path = at != NULL ? json_object_iter_key(at) : json_string_value(file);
        double own = at != NULL ? value_num(json_object_iter_value(at), "notify_days", days) : days;
        AUTO_FREE char *text = path != NULL ? cert_info_ask(path, err) : NULL;
        if (err->text != NULL)
            return err->code;
        json_auto_t *cert = text != NULL ? cert_info_read(path, text, &end) : NULL;
        if (cert == NULL)
            continue;
        /* Salt counts whole days: one that ends in 45.9 days is within 45. A negative limit tells all
         * certificates. */
        double left = (double) (end - now) / DAY_S;
        json_object_set_new(cert, "has_expired", json_boolean(end < now));
        if (own < 0 || left < own + 1)
            json_array_append(all, cert);
    }
    if (json_array_size(all) > 0)
        json_array_append_new(look->events, json_pack("{s:O}", "certificates", all));
    return 0;
}

static const beacon_row_t row = {
    .validate = cert_info_validate, .look = cert_info_look, .every_s = 3600, .calls = true
};

PLUGIN(beacon, cert_info, .doc = "Certificates: fires those that expire within some days.", .beacon = &row);
