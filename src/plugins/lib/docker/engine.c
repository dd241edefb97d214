/* engine.c - see engine.h. The socket's file is given to curl, so that unix:// and tcp:// are the same HTTP.
 * No proxy is used in either case: an engine is asked directly, also where http_proxy is set for the
 * minion. */
#include "plugins/lib/docker/engine.h"

#include <ctype.h>

#include "common/base/base64.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "plugins/lib/http/web.h"
#include "salt/log.h"

#define ENGINE_ADDRESS "unix:///run/docker.sock"
#define CONTEXT_API    "docker.api_version"

enum {
    HTTP_OK = 200,
    HTTP_ERRORS = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_CONFLICT = 409,
    REFUSAL_MAX = 4096,
    CONFIG_MAX = 1024 * 1024
};

/* The name as it stands is looked for first and then as a path, as config.get does for "docker.url" and
 * docker: {url: ...}. */
json_t *
engine_option(call_ctx_t *ctx, const char *name)
{
    json_t *v = value_get(ctx_opts(ctx), name);

    if (v == NULL || json_is_null(v))
        v = value_path(ctx_opts(ctx), name, ":");
    if (v == NULL || json_is_null(v))
        v = value_get(ctx_pillar(ctx), name);
    return v;
}

/* Percent-encoding (RFC 3986, 2.1) of all but letters, digits and `safe`. */
static void
add_encoded(buf_t *out, const char *text, const char *safe)
{
    for (const unsigned char *p = (const unsigned char *) text; *p != '\0'; p++) {
        if (isalnum(*p) || strchr(safe, *p) != NULL)
            buf_putc(out, (char) *p);
        else
            buf_printf(out, "%%%02X", *p);
    }
}

char *
engine_path(const char *fmt, ...)
{
    buf_t out = BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    for (; *fmt != '\0'; fmt++) {
        if (fmt[0] == '%' && fmt[1] == 's') {
            const char *name = va_arg(ap, const char *);
            add_encoded(&out, name,
                        strstr(name, "..") == NULL ? "-._~/:" : "-._~"); /* names of images have slashes */
            fmt++;
        } else
            buf_putc(&out, *fmt);
    }
    va_end(ap);
    return buf_steal(&out);
}

/* Where the engine listens. BORROWED. */
static const char *
address_of(call_ctx_t *ctx)
{
    json_t *set = engine_option(ctx, "docker.url");
    const char *host = getenv("DOCKER_HOST");

    if (json_is_string(set) && json_string_length(set) > 0)
        return json_string_value(set);
    return !str_empty(host) ? host : ENGINE_ADDRESS;
}

/* The part of the URL before the version, and the socket in *ret_socket (NULL: TCP). NEW. */
static char *
base_url(const char *address, const char **ret_socket, fail_t *err)
{
    *ret_socket = NULL;
    if (str_starts(address, "unix://") || str_starts(address, "http+unix://")) {
        *ret_socket = strstr(address, "://") + strlen("://");
        return xstrdup("http://localhost");
    }
    if (str_starts(address, "https://") || str_starts(address, "http://"))
        return xstrdup(address);
    if (str_starts(address, "tcp://"))
        return xasprintf("http://%s", address + strlen("tcp://"));
    (void) fail_kind(
        err, FAIL_COMMAND, -EINVAL,
        "docker.url: '%s' is no address of a Docker Engine: unix:///run/docker.sock, tcp://HOST:PORT "
        "and https://HOST:PORT are",
        address);
    return NULL;
}

/* Sends the request to `url`; the status in *ret_status. */
static int
exchange(call_ctx_t *ctx, const engine_ask_t *ask, const char *url, buf_t *out, long *ret_status, fail_t *err)
{
    const char *address = address_of(ctx), *socket;
    web_auto_t web = WEB_INIT;
    AUTO_FREE char *base = base_url(address, &socket, err);
    AUTO_FREE char *whole = base != NULL ? xasprintf("%s%s", base, url) : NULL;
    json_t *timeout = engine_option(ctx, "docker.timeout");

    if (base == NULL || web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, out, err) < 0)
        return err->code;
    web_no_proxy(&web);
    if (socket != NULL)
        web_text(&web, CURLOPT_UNIX_SOCKET_PATH, socket);
    web_text(&web, CURLOPT_URL, whole);
    web_text(&web, CURLOPT_CUSTOMREQUEST, ask->method);
    web_limit(&web, ask->to > 0 ? 0 : LIMIT_FILE_READ);
    web_seconds(&web, CURLOPT_CONNECTTIMEOUT_MS, ENGINE_TIMEOUT);
    if (ask->timeout >= 0)
        web_seconds(&web, CURLOPT_TIMEOUT_MS,
                    ask->timeout > 0           ? ask->timeout
                    : json_is_integer(timeout) ? (double) json_integer_value(timeout)
                                               : ENGINE_TIMEOUT);
    if (ask->field != NULL)
        web_field(&web, ask->field);
    if (ask->to > 0)
        web.fd = ask->to;
    if (ask->file != NULL || ask->bytes != NULL) {
        AUTO_FREE char *type = xasprintf("Content-Type: %s", ask->type);
        web_field(&web, type);
        web_field(&web, "Expect:");
        if (ask->file != NULL)
            web_send_file(&web, ask->file, ask->file_size);
        else
            web_send(&web, ask->bytes);
    } else if (strcmp(ask->method, "POST") == 0) {
        AUTO_FREE char *text = ask->body != NULL ? value_dump(ask->body) : xstrdup("");
        buf_t body = BUF_INIT;
        buf_puts(&body, text);
        web_field(&web, "Content-Type: application/json");
        web_field(&web, "Expect:");
        web_send(&web, &body);
        buf_free(&body);
    }
    if (web_run(&web, err) < 0)
        return err->code;
    /* Answers that go to ask->to have no limit. */
    if (web.too_large)
        return fail_kind(err, FAIL_COMMAND, -EFBIG,
                         "The answer of the Docker Engine to %s %s is larger than %d bytes", ask->method,
                         ask->path, LIMIT_FILE_READ);
    if (web.trouble != NULL)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "No answer of the Docker Engine at %s to %s %s: %s",
                         address, ask->method, ask->path, web.trouble);
    *ret_status = web.status;
    return 0;
}

/* "1.41", from the option or the engine. NEW, or NULL with *err. Podman and old engines refuse a version
 * above their own, so the engine's is used and not one that is built in. Once it is known it stays in the
 * job's context. */
static char *
api_version(call_ctx_t *ctx, fail_t *err)
{
    json_t *known = value_get(ctx_context(ctx), CONTEXT_API), *set = engine_option(ctx, "docker.version");
    engine_ask_t ask = { .method = "GET", .path = "/version" };
    buf_auto_t answer = BUF_INIT;
    long status = 0;

    if (json_is_string(known))
        return xstrdup(json_string_value(known));
    if (set != NULL && value_truthy(set)) {
        AUTO_FREE char *given = value_pystr(set);
        if (strcmp(given, "auto") != 0)
            return STEAL(given);
    }
    if (exchange(ctx, &ask, "/version", &answer, &status, err) < 0) {
        fail_prefix(err, "Error while fetching server API version: ");
        return NULL;
    }
    json_auto_t *told = value_parse_peer(buf_str(&answer), answer.len, LIMIT_FILE_READ, "the engine", NULL);
    const char *version = value_str(told, "ApiVersion", NULL);
    if (status != HTTP_OK || version == NULL || version[strspn(version, "0123456789.")] != '\0') {
        (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO,
                         "Error while fetching server API version: %s names none; is it a Docker Engine?",
                         address_of(ctx));
        return NULL;
    }
    json_object_set(ctx_context(ctx), CONTEXT_API, value_get(told, "ApiVersion"));
    return xstrdup(version);
}

/* The answer as it came; a status from 400 on is an error by the engine's own words. */
int
engine_bytes(call_ctx_t *ctx, const engine_ask_t *ask, buf_t *out, fail_t *err)
{
    AUTO_FREE char *version = api_version(ctx, err);
    buf_auto_t url = BUF_INIT;
    long status = 0;
    const char *key;
    json_t *v;
    char sign = '?';

    if (version == NULL)
        return err->code;
    buf_printf(&url, "/v%s%s", version, ask->path);
    /* Booleans are 1 and 0 and containers JSON, as the API reads them; null stands for the API's default. */
    json_object_foreach (ask->query, key, v) {
        if (json_is_null(v))
            continue;
        AUTO_FREE char *text = json_is_boolean(v)                      ? xstrdup(json_is_true(v) ? "1" : "0")
                               : json_is_object(v) || json_is_array(v) ? value_dump(v)
                                                                       : value_pystr(v);
        buf_putc(&url, sign);
        add_encoded(&url, key, "-._~");
        buf_putc(&url, '=');
        add_encoded(&url, text, "-._~");
        sign = '&';
    }
    if (exchange(ctx, ask, buf_str(&url), out, &status, err) < 0)
        return err->code;
    if (status < HTTP_ERRORS)
        return 0;
    /* The engine's own words, {"message": text}; a proxy before it answers with a page. */
    json_auto_t *told = value_parse_peer(buf_str(out), out->len, LIMIT_FILE_READ, "the engine", NULL);
    const char *why = value_str(told, "message", NULL);
    AUTO_FREE char *plain = xstrndup(buf_str(out), out->len < REFUSAL_MAX ? out->len : REFUSAL_MAX);
    return fail_kind(err, FAIL_COMMAND,
                     status == HTTP_NOT_FOUND  ? -ENOENT
                     : status == HTTP_CONFLICT ? -EBUSY
                                               : -EREMOTEIO,
                     "Error %ld: %s", status, why != NULL ? why : str_trim(plain));
}

/* An answer to a change that is no JSON is null: Docker's is empty, podman's a blank line or "OK". */
json_t *
engine_json(call_ctx_t *ctx, const engine_ask_t *ask, fail_t *err)
{
    buf_auto_t answer = BUF_INIT;

    if (engine_bytes(ctx, ask, &answer, err) < 0)
        return NULL;
    size_t blank = strspn(buf_str(&answer), " \t\r\n");
    if (answer.len == blank ||
        (strcmp(ask->method, "GET") != 0 && strchr("{[\"", buf_str(&answer)[blank]) == NULL))
        return json_null();
    return value_parse_peer(buf_str(&answer), answer.len, LIMIT_FILE_READ, "the answer of the Docker Engine",
                            err);
}

/* An object a line: the engine ends each event with CR LF. */
json_t *
engine_stream(call_ctx_t *ctx, const engine_ask_t *ask, fail_t *err)
{
    buf_auto_t answer = BUF_INIT;
    json_auto_t *list = json_array();

    if (engine_bytes(ctx, ask, &answer, err) < 0)
        return NULL;
    for (const char *p = buf_str(&answer); *p != '\0';) {
        size_t n = strcspn(p, "\r\n");
        if (n > 0) {
            json_t *one = value_parse_peer(p, n, LIMIT_FILE_READ, "an event of the Docker Engine", err);
            if (one == NULL)
                return NULL;
            json_array_append_new(list, one);
        }
        p += n + (p[n] != '\0');
    }
    return json_incref(list);
}

json_t *
engine_get(call_ctx_t *ctx, fail_t *err, const char *path)
{
    return engine_json(ctx, &(engine_ask_t){ .method = "GET", .path = path }, err);
}

json_t *
engine_post(call_ctx_t *ctx, fail_t *err, const char *path, json_t *query, json_t *body)
{
    json_t *answer = engine_json(
        ctx, &(engine_ask_t){ .method = "POST", .path = path, .query = query, .body = body }, err);

    json_decref(query);
    json_decref(body);
    return answer;
}

int
engine_delete(call_ctx_t *ctx, fail_t *err, const char *path, json_t *query)
{
    buf_auto_t answer = BUF_INIT;
    int rc = engine_bytes(ctx, &(engine_ask_t){ .method = "DELETE", .path = path, .query = query }, &answer,
                          err);

    json_decref(query);
    return rc;
}

/* ---- logins ------------------------------------------------------------------------------------ */

/* `docker login` writes {"auths": {REGISTRY: {"auth": base64 of "user:password"}}}, with the registry as a
 * name or as a URL. A login that a credential helper keeps is not there, and is not asked for. */
char *
engine_auth(const char *image)
{
    const char *folder = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
    AUTO_FREE char *path = !str_empty(folder)
                               ? xasprintf("%s/config.json", folder)
                               : xasprintf("%s/.docker/config.json", home != NULL ? home : "/root");
    /* The registry is what is before the first slash when that looks like a host. */
    size_t n = strcspn(image, "/");
    AUTO_FREE char *first = xstrndup(image, n);
    bool host = image[n] == '/' && (strpbrk(first, ".:") != NULL || strcmp(first, "localhost") == 0);
    AUTO_FREE char *registry = xstrdup(host ? first : "https://index.docker.io/v1/");
    buf_auto_t text = BUF_INIT;

    if (fs_read(path, CONFIG_MAX, &text, NULL) < 0)
        return NULL;
    json_auto_t *config = value_parse(buf_str(&text), text.len, CONFIG_MAX, path, NULL);
    const json_t *auths = value_get(config, "auths");
    AUTO_FREE char *url = xasprintf("https://%s", registry);
    const json_t *found = value_get(auths, registry) != NULL ? value_get(auths, registry)
                                                             : value_get(auths, url);
    const char *coded = value_str(found, "auth", NULL);
    AUTO_FREE char *why = NULL;
    size_t len = 0;
    AUTO_FREE char *plain = coded != NULL ? yaml_from_base64(coded, strlen(coded), &len, &why) : NULL;
    char *colon = plain != NULL ? strchr(plain, ':') : NULL;

    if (colon == NULL)
        return NULL;
    AUTO_FREE char *user = xstrndup(plain, (size_t) (colon - plain));
    json_auto_t *login = json_pack("{s:s, s:s, s:s}", "username", user, "password", colon + 1,
                                   "serveraddress", registry);
    AUTO_FREE char *dumped = value_dump(login);
    AUTO_FREE char *line = base64_encode(dumped, strlen(dumped), 0);
    /* The header is base64url. */
    for (char *p = line; *p != '\0'; p++)
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
    char *field = xasprintf("X-Registry-Auth: %s", line);
    explicit_bzero(dumped, strlen(dumped));
    explicit_bzero(line, strlen(line));
    explicit_bzero(plain, len);
    return field;
}
