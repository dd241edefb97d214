/* http_request.c - one request: the call's arguments and the options over them become settings of web.h, and
 * what comes an answer. Neither logins nor bodies leave this process but to the server. */
#include "plugins/lib/http/http_int.h"

#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/http/web.h"

#define AGENT     "Salt/" HALITE_VERSION " http.query()"
#define SCHEMES   (CURLPROTO_HTTP | CURLPROTO_HTTPS)
#define REDIRECTS 5
#define CONNECT_S 20
#define REQUEST_S 3600

typedef struct request {
    call_ctx_t *ctx;
    const json_t *args;
    web_t web;
    bool has_type; /* the caller says the Content-Type */
} request_t;

/* The argument, or the option of the same name. BORROWED; NULL for none. */
static json_t *
http_request_setting(const request_t *r, const char *name)
{
    json_t *v = value_get(r->args, name);

    if (v == NULL || json_is_null(v))
        v = value_get(value_get(r->args, "opts"), name);
    if (v == NULL || json_is_null(v))
        v = value_get(ctx_opts(r->ctx), name);
    return v == NULL || json_is_null(v) ? NULL : v;
}

/* BORROWED; NULL for none, and for an empty text. */
static const char *
text_setting(const request_t *r, const char *name)
{
    const char *text = json_string_value(http_request_setting(r, name));

    return str_empty(text) ? NULL : text;
}

/* Sets a time limit from the setting, else `dflt`; seconds with fractions. */
static void
set_seconds(request_t *r, CURLoption option, const char *name, double dflt)
{
    json_t *v = http_request_setting(r, name);

    web_seconds(&r->web, option, json_is_number(v) ? json_number_value(v) : dflt);
}

/* ---- where to ------------------------------------------------------------------------------------------ */

/* Adds `params` as a query. Only http and https are allowed. */
static int
set_url(request_t *r, fail_t *err)
{
    const json_t *params = value_get(r->args, "params");
    const char *url = value_str(r->args, "url", ""), *test = value_str(r->args, "test_url", NULL);
    buf_auto_t query = BUF_INIT;

    if (value_truthy(params))
        http_form(params, &query);
    if (value_bool(r->args, "test", false) && test != NULL)
        url = test;
    if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0) {
        AUTO_FREE char *shown = str_redacted(url);
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not an http:// or https:// URL", shown);
    }
    AUTO_FREE char *whole = query.len == 0 ? xstrdup(url)
                                           : xasprintf("%s%c%s", url, strchr(url, '?') != NULL ? '&' : '?',
                                                       buf_str(&query));
    web_text(&r->web, CURLOPT_URL, whole);
    return 0;
}

/* The option, else cacert.pem of the master's files, else the bundle of the distribution. NEW; NULL: none is
 * there, and libcurl uses its own. */
char *
http_ca_bundle(json_t *opts)
{
    static const char *const known[] = {
        "/etc/ssl/certs/ca-certificates.crt",     "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/tls/certs/ca-bundle.trust.crt", "/etc/ssl/certs/ca-bundle.crt",
        "/var/lib/ca-certificates/ca-bundle.pem", "/etc/ssl/cert.pem"
    };
    static const char *const own[] = { "cacert.pem", "ca-bundle.crt" };
    const char *configured = value_str(opts, "ca_bundle", "");
    json_t *root;
    size_t i;

    /* A configured bundle that is unreadable is kept: no other replaces it silently, and the reader reports
     * the reason. */
    if (configured[0] != '\0' && !fs_absent(configured))
        return xstrdup(configured);
    json_array_foreach (value_get(value_get(opts, "file_roots"), "base"), i, root)
        for (size_t k = 0; json_is_string(root) && k < NELEMS(own); k++) {
            char *path = fs_join(json_string_value(root), own[k]);
            if (fs_exists(path))
                return path;
            free(path);
        }
    for (i = 0; i < NELEMS(known); i++)
        if (fs_exists(known[i]))
            return xstrdup(known[i]);
    return NULL;
}

/* verify_ssl, CA bundle, client certificate and key. */
static void
set_tls(request_t *r)
{
    const char *asked = value_str(r->args, "ca_bundle", NULL);
    AUTO_FREE char *bundle = asked != NULL ? xstrdup(asked) : http_ca_bundle(ctx_opts(r->ctx));
    json_t *cert = http_request_setting(r, "cert"), *verify = http_request_setting(r, "verify_ssl");

    if (verify != NULL && !value_truthy(verify))
        web_insecure(&r->web);
    else if (bundle != NULL)
        web_text(&r->web, CURLOPT_CAINFO, bundle);
    if (json_is_string(cert))
        web_text(&r->web, CURLOPT_SSLCERT, json_string_value(cert));
    const char *own = json_string_value(json_array_get(cert, 0)),
               *key = json_string_value(json_array_get(cert, 1));
    if (own != NULL)
        web_text(&r->web, CURLOPT_SSLCERT, own);
    if (key != NULL)
        web_text(&r->web, CURLOPT_SSLKEY, key);
}

/* ---- what is sent -------------------------------------------------------------------------------------- */

/* Add a file's bytes; templates in it are refused. */
static int
http_request_add_file(const request_t *r, const char *path, const char *render, const char *renderer,
                      buf_t *out, fail_t *err)
{
    if (value_bool(r->args, render, false))
        return fail_kind(err, FAIL_INVOCATION, -ENOTSUP,
                         "%s and %s: render the file by a function first (slsutil.renderer, file.managed)",
                         render, renderer);
    return fs_read(path, LIMIT_FILE_READ, out, err);
}

/* Names the header in libcurl's syntax, in which "Name;" is an empty header. */
static void
add_header(request_t *r, const char *name, const char *value)
{
    AUTO_FREE char *line = xasprintf(value[0] != '\0' ? "%s: %s" : "%s;", name, value);

    r->has_type = r->has_type || strcasecmp(name, "Content-Type") == 0;
    web_field(&r->web, line);
}

/* A line break would begin another header. The value may be a secret, and is not shown. */
static int
check_header(const char *name, const char *value, fail_t *err)
{
    return strpbrk(name, "\r\n") == NULL && strpbrk(value, "\r\n") == NULL
               ? 0
               : fail_kind(err, FAIL_INVOCATION, -EINVAL,
                           "A header has one line: there is a line break in the name or the value of '%s'",
                           name);
}

/* "Name: value"; a line without a colon is left out, as in Salt. */
static int
add_header_line(request_t *r, const char *text, fail_t *err)
{
    AUTO_FREE char *line = xstrdup(text);
    char *colon = strchr(line, ':');

    if (colon == NULL)
        return 0;
    *colon = '\0';
    int rc = check_header(line, colon + 1, err);
    if (rc == 0)
        add_header(r, str_trim(line), str_trim(colon + 1));
    return rc;
}

/* Headers from dict, list and file, in this order, and the user agent. */
static int
set_headers(request_t *r, fail_t *err)
{
    const char *file = value_str(r->args, "header_file", NULL), *agent = value_str(r->args, "agent", NULL);
    json_t *line;
    size_t i;

    int rc = 0;
    json_t *dict = value_get(r->args, "header_dict");
    const char *name;
    json_t *v;

    json_object_foreach (dict, name, v) {
        AUTO_FREE char *value = value_pystr(v);
        if (check_header(name, value, err) < 0) {
            rc = -EINVAL;
            break;
        }
        add_header(r, name, value);
    }

    json_array_foreach (value_get(r->args, "header_list"), i, line)
        if (rc == 0 && json_is_string(line))
            rc = add_header_line(r, json_string_value(line), err);
    if (rc == 0 && file != NULL) {
        buf_auto_t text = BUF_INIT;
        rc = http_request_add_file(r, file, "header_render", "header_renderer", &text, err);
        char **lines = str_split(buf_str(&text), "\r\n", true);
        for (i = 0; rc == 0 && lines[i] != NULL; i++)
            rc = add_header_line(r, lines[i], err);
        strv_free(lines);
    }
    if (rc == 0 && agent != NULL)
        rc = check_header("User-Agent", agent, err);
    web_text(&r->web, CURLOPT_USERAGENT, agent != NULL ? agent : AGENT);
    return rc;
}

/* Appends the request's body, any bytes: 1, 0 when there is none, or a negative errno. */
static int
http_request_add_data(const request_t *r, buf_t *out, fail_t *err)
{
    const char *file = value_str(r->args, "data_file", NULL);
    const json_t *data = value_get(r->args, "data");

    if (file != NULL) {
        int rc = http_request_add_file(r, file, "data_render", "data_renderer", out, err);
        return rc < 0 ? rc : 1;
    }
    if (data == NULL || json_is_null(data))
        return 0;
    http_form(data, out);
    return 1;
}

/* GET without data has no body; POST has one even when it is empty. */
static int
set_data(request_t *r, fail_t *err)
{
    const char *method = value_str(r->args, "method", "GET"),
               *name = value_str(r->args, "formdata_filename", NULL);
    buf_auto_t data = BUF_INIT;
    bool post = str_eq(method, "POST");
    static const char signs[] = "!#$%&'*+-.^_`|~"; /* of a token: RFC 9110, 5.6.2 */
    const char *c = method;

    /* A blank would end the method, a line break the line, and what follows would be a request of its own. */
    while (isalnum((unsigned char) *c) || (*c != '\0' && strchr(signs, *c) != NULL))
        c++;
    if (c == method || *c != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not the name of a method", method);
    int some = http_request_add_data(r, &data, err);
    if (some < 0)
        return some;
    if (str_eq(method, "HEAD"))
        web_number(&r->web, CURLOPT_NOBODY, 1);
    else if (!post && (some > 0 || !str_eq(method, "GET")))
        web_text(&r->web, CURLOPT_CUSTOMREQUEST, method);
    if (some == 0 && !post)
        return 0;
    if (value_bool(r->args, "formdata", false)) {
        web_send_form(&r->web, value_str(r->args, "formdata_fieldname", ""), name != NULL ? name : "", &data);
        return 0;
    }
    web_send(&r->web, &data);
    if (!post && !r->has_type)
        web_field(&r->web, "Content-Type:");
    return 0;
}

/* ---- the request --------------------------------------------------------------------------------------- */

/* All settings. */
static int
http_request_build(request_t *r, fail_t *err)
{
    set_seconds(r, CURLOPT_CONNECTTIMEOUT_MS, "http_connect_timeout", CONNECT_S);
    set_seconds(r, CURLOPT_TIMEOUT_MS, "http_request_timeout", REQUEST_S);

    /* http_max_body bounds the answer; LIMIT_FILE_READ is the most. */
    const json_t *asked = http_request_setting(r, "http_max_body");
    json_int_t bytes = json_is_integer(asked) ? json_integer_value(asked) : 0;
    web_limit(&r->web, bytes > 0 && bytes < LIMIT_FILE_READ ? (uintmax_t) bytes : LIMIT_FILE_READ);

    /* The environment's proxies are not Salt's: without the options there is none. */
    const char *proxy = text_setting(r, "proxy_host");
    json_t *port = http_request_setting(r, "proxy_port");
    if (proxy == NULL || !json_is_integer(port) || json_integer_value(port) == 0)
        web_no_proxy(&r->web);
    else
        web_proxy(&r->web, proxy, json_integer_value(port), text_setting(r, "proxy_username"),
                  text_setting(r, "proxy_password"), http_request_setting(r, "no_proxy"));
    set_tls(r);

    /* Basic authentication; `auth` wins over username and password. */
    const char *user = value_str(r->args, "username", NULL), *password = value_str(r->args, "password", NULL);
    json_t *auth = value_get(r->args, "auth");

    if (json_array_size(auth) == 2) {
        user = json_string_value(json_array_get(auth, 0));
        password = json_string_value(json_array_get(auth, 1));
    }
    /* A name without a password is no login. */
    if (user != NULL && password != NULL) {
        web_text(&r->web, CURLOPT_USERNAME, user);
        web_text(&r->web, CURLOPT_PASSWORD, password);
    }

    const char *cachedir = value_str(ctx_opts(r->ctx), "cachedir", "");
    static const struct {
        const char *flag, *file, *dflt;
        /* Cookies that outlive the session, and those of the session, each in a jar of its own, as in Salt. */
    } jars[] = { { "cookies", "cookie_jar", "cookies.txt" },
                 { "persist_session", "session_cookie_jar", "cookies.session" } };

    for (size_t i = 0; i < NELEMS(jars); i++) {
        const char *own = value_str(r->args, jars[i].file, NULL);
        AUTO_FREE char *path = own != NULL ? xstrdup(own) : fs_join(cachedir, jars[i].dflt);
        if (!value_truthy(value_get(r->args, jars[i].flag)))
            continue;
        web_text(&r->web, CURLOPT_COOKIEFILE, path);
        web_text(&r->web, CURLOPT_COOKIEJAR, path);
    }

    int rc = set_url(r, err);
    if (rc == 0)
        rc = set_headers(r, err);
    return rc == 0 ? set_data(r, err) : rc;
}

/* 0 with *ret also when the server did not answer: ret->trouble says why then. */
int
http_send(call_ctx_t *ctx, const json_t *args, http_answer_t *ret, fail_t *err)
{
    request_t r = { .ctx = ctx, .args = args, .web = WEB_INIT };
    int rc = web_open(&r.web, SCHEMES, REDIRECTS, &ret->body, err);

    if (rc == 0)
        rc = http_request_build(&r, err);
    if (rc == 0)
        rc = web_run(&r.web, err);
    if (rc == 0) {
        ret->headers = json_object();
        http_parse_headers(buf_str(&r.web.headers), ret);
        ret->trouble = r.web.too_large
                           ? xasprintf("The answer has more than %ju bytes (option http_max_body)",
                                       r.web.limit)
                           : STEAL(r.web.trouble);
    }
    web_close(&r.web);
    return rc;
}

void
http_answer_free(http_answer_t *self)
{
    json_decref(self->headers);
    buf_free(&self->body);
    free(self->reason);
    free(self->trouble);
}
