/* http.c - see http.h: checks the call, sends it by http_request.c, and makes Salt's return of the answer:
 * body, status, headers, decoded data, files. */
#include "plugins/lib/http/http_int.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "salt/log.h"

#define BUNDLE_URL "https://curl.se/ca/cacert.pem"

/* ---- decoding ------------------------------------------------------------------------------------------ */

/* "dict" of the return, whatever kind of value it is. */
static int
decode_json(const char *text, size_t len, json_t *into, fail_t *err)
{
    json_t *v = value_parse(text, len, LIMIT_FILE_READ, "the answer", err);

    return v != NULL ? json_object_set_new(into, "dict", v) : -EINVAL;
}

/* "dict" of the return, read by the safe loader. */
static int
decode_yaml(const char *text, size_t len, json_t *into, fail_t *err)
{
    json_t *v = yaml_load(text, len, "the answer", NULL, err);

    return v != NULL ? json_object_set_new(into, "dict", v) : -EINVAL;
}

/* Always fails: there is no parser of XML. */
static int
decode_xml(const char *text, size_t len, json_t *into, fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                     "decode_type xml: XML is not taken apart here; ask for text=True instead");
}

/* "text" of the return; bytes that are no UTF-8 are replaced, as JSON can't hold them. */
static int
decode_plain(const char *text, size_t len, json_t *into, fail_t *err)
{
    return json_object_set_new(into, "text", value_utf8(text, len));
}

static const struct decoder {
    const char *name;
    int (*fn)(const char *text, size_t len, json_t *into, fail_t *err);
} decoders[] = {
    { "xml", decode_xml }, { "json", decode_json }, { "yaml", decode_yaml }, { "plain", decode_plain }
};

/* An unknown decode_type is the return's "error". */
static int
lib_http_decode(const json_t *args, const http_answer_t *answer, json_t *into, fail_t *err)
{
    /* "auto": by what the answer says of itself, which is JSON when it says nothing. */
    const char *type = value_str(args, "decode_type", "auto"),
               *content = value_str(answer->headers, "Content-Type", "application/json");
    const struct decoder *decoder = NULL;
    bool by_content = str_eq(type, "auto");

    for (size_t i = 0; decoder == NULL && i < NELEMS(decoders); i++)
        if (by_content ? strstr(content, decoders[i].name) != NULL : str_eq(type, decoders[i].name))
            decoder = &decoders[i];
    if (decoder == NULL && by_content)
        decoder = &decoders[NELEMS(decoders) - 1];

    if (decoder != NULL)
        return decoder->fn(buf_str(&answer->body), answer->body.len, into, err);
    json_object_set_new(
        into, "error",
        json_string("Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', "
                    "'plain')"));
    return 0;
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* Nothing when the argument is not given. */
static int
write_out(const json_t *args, const char *key, const char *text, size_t len, fail_t *err)
{
    const char *path = value_str(args, key, NULL);

    return path != NULL ? fs_write_atomic(path, text, len, 0644, err) : 0;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

/* Error of the request in Salt's words. NEW; NULL when there is none. */
static json_t *
lib_http_failure(const json_t *args, const http_answer_t *answer)
{
    json_t *out = json_object();

    if (answer->trouble != NULL) {
        if (value_bool(args, "status", false))
            json_object_set_new(out, "status", json_integer(answer->status));
        json_object_set_new(out, "error", json_string(answer->trouble));
        return out;
    }
    if (value_bool(args, "raise_error", true) && (answer->status < 200 || answer->status >= 300)) {
        json_object_set_new(out, "status", json_integer(answer->status));
        json_object_set_new(out, "error", value_fmt("HTTP %d: %s", answer->status, answer->reason));
        return out;
    }
    json_decref(out);
    return NULL;
}

/* An answer that was received, of any status that is not an error. */
static int
success(const json_t *args, const http_answer_t *answer, json_t *out, fail_t *err)
{
    const char *body = buf_str(&answer->body);
    json_auto_t *text = value_utf8(body, answer->body.len);
    int rc = write_out(args, "text_out", body, answer->body.len, err);

    if (rc == 0) {
        /* Writes the answer's headers. */
        buf_auto_t words = BUF_INIT;
        const char *name;
        json_t *v;
        json_object_foreach (answer->headers, name, v)
            buf_printf(&words, "%s: %s\n", name, json_string_value(v));
        rc = write_out(args, "headers_out", buf_str(&words), words.len, err);
    }
    if (rc < 0)
        return rc;
    json_object_set(out, "body", text);
    if (value_bool(args, "status", false))
        json_object_set_new(out, "status", json_integer(answer->status));
    if (value_bool(args, "headers", false))
        json_object_set(out, "headers", answer->headers);
    if (value_bool(args, "decode", false)) {
        rc = lib_http_decode(args, answer, out, err);
        if (rc == 0)
            rc = write_out(args, "decode_out", body, answer->body.len, err);
    }
    if (value_bool(args, "text", false))
        json_object_set(out, "text", text);
    return rc;
}

/* Problems of the server are data ("error"); *err is for wrong calls and for files that can't be written. */
int
http_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    http_answer_auto_t answer = { 0 };
    json_auto_t *out = json_object();
    bool test = value_bool(args, "test", false);

    if (value_bool(args, "formdata", false) && value_str(args, "formdata_fieldname", NULL) == NULL) {
        *ret_value = json_pack("{s:s}", "error", "formdata_fieldname is required when formdata=True");
        return 0;
    }
    if (test && value_str(args, "test_url", NULL) == NULL) {
        *ret_value = json_incref(out);
        return 0;
    }
    if (test)
        json_object_set_new(out, "test", json_true());
    int rc = http_send(ctx, args, &answer, err);
    if (rc < 0)
        return rc;
    json_auto_t *failed = lib_http_failure(args, &answer);
    if (failed != NULL)
        json_object_update(out, failed);
    else
        rc = success(args, &answer, out, err);
    if (rc == 0)
        *ret_value = json_incref(out);
    return rc;
}

/* ---- certificates -------------------------------------------------------------------------------------- */

/* The old bundle stays when the answer has no certificate. */
int
http_update_ca_bundle(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *asked = value_str(args, "target", NULL), *source = value_str(args, "source", NULL);
    AUTO_FREE char *target = asked != NULL ? xstrdup(asked) : http_ca_bundle(ctx_opts(ctx));
    json_auto_t *call = json_pack(
        "{s:s}", "url", source != NULL ? source : value_str(ctx_opts(ctx), "ca_bundle_url", BUNDLE_URL));
    http_answer_auto_t answer = { 0 };

    if (target == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "There is no bundle of certificates yet: say where by 'target'");
    int rc = http_send(ctx, call, &answer, err);
    if (rc < 0)
        return rc;
    json_auto_t *failed = lib_http_failure(call, &answer);
    if (failed != NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s: %s", value_str(call, "url", ""),
                         value_str(failed, "error", ""));
    if (strstr(buf_str(&answer.body), "-----BEGIN ") == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s holds no certificate; %s stays as it is",
                         value_str(call, "url", ""), target);
    if (value_truthy(value_get(args, "merge_files"))) {
        /* Appends the files; an unreadable one is skipped and reported. */
        const json_t *files = value_get(args, "merge_files");
        buf_t *into = &answer.body;
        json_auto_t *list = json_is_string(files) ? json_pack("[O]", files) : json_incref((json_t *) files);
        json_t *path;
        size_t i;
        json_array_foreach (list, i, path) {
            fail_auto_t why = FAIL_INIT;
            buf_puts(into, "\n");
            if (json_is_string(path) && fs_read(json_string_value(path), LIMIT_FILE_READ, into, &why) < 0)
                log_error("http.update_ca_bundle: %s", fail_text(&why));
        }
    }
    *ret_value = json_null();
    return fs_write_atomic(target, buf_str(&answer.body), answer.body.len, 0644, err);
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

#define TAKEN "Accepted for Salt's sake"

const arg_t http_query_args[] = {
    ARG("url", ARG_STR, ARG_REQUIRED, "Where to"),
    ARG("method", ARG_STR, "\"GET\"", "GET, POST, PUT, ..."),
    ARG("params", ARG_ANY, "null", "Added to the URL's query: a dictionary, or text"),
    ARG("data", ARG_ANY, "null", "What is sent: text, or a dictionary as a form"),
    ARG("data_file", ARG_STR, "null", "The same from a file"),
    ARG("header_dict", ARG_DICT, "null", "Header fields"),
    ARG("header_list", ARG_LIST, "null", "Header fields as 'Name: value'"),
    ARG("header_file", ARG_STR, "null", "The same from a file"),
    ARG("username", ARG_STR, "null", "Login"),
    ARG("password", ARG_STR, "null", "Its password"),
    ARG("auth", ARG_LIST, "null", "Both in a list"),
    ARG("decode", ARG_BOOL, "false", "Return the answer's data as 'dict'"),
    ARG("decode_type", ARG_STR, "\"auto\"", "json, yaml or plain; auto: by its Content-Type"),
    ARG("status", ARG_BOOL, "false", "Return the status"),
    ARG("headers", ARG_BOOL, "false", "Return the answer's header fields"),
    ARG("text", ARG_BOOL, "false", "Return the answer as 'text' too"),
    ARG("cookies", ARG_ANY, "null", "Keep cookies in cookie_jar"),
    ARG("cookie_jar", ARG_STR, "null", "A file; cookies.txt below cachedir"),
    ARG("cookie_format", ARG_STR, "\"lwp\"", TAKEN ": a jar has Mozilla's format"),
    ARG("persist_session", ARG_BOOL, "false", "Keep cookies in session_cookie_jar"),
    ARG("session_cookie_jar", ARG_STR, "null", "A file; cookies.session below cachedir"),
    ARG("data_render", ARG_BOOL, "false", "Refused: render the file first"),
    ARG("data_renderer", ARG_STR, "null", TAKEN),
    ARG("header_render", ARG_BOOL, "false", "Refused: render the file first"),
    ARG("header_renderer", ARG_STR, "null", TAKEN),
    ARG("template_dict", ARG_DICT, "null", TAKEN),
    ARG("test", ARG_BOOL, "false", "Ask test_url, or nobody"),
    ARG("test_url", ARG_STR, "null", "Where to when 'test' is on"),
    ARG("node", ARG_STR, "\"minion\"", TAKEN),
    ARG("port", ARG_INT, "80", TAKEN ": it stands in the URL"),
    ARG("opts", ARG_DICT, "null", "Options over the configured ones: verify_ssl, proxy_host, ..."),
    ARG("backend", ARG_STR, "null", TAKEN ": libcurl sends all"),
    ARG("ca_bundle", ARG_STR, "null", "File with the certificates of authorities"),
    ARG("verify_ssl", ARG_BOOL, "null", "False: any certificate will do"),
    ARG("cert", ARG_ANY, "null", "Our own certificate: a file, or certificate and key"),
    ARG("text_out", ARG_STR, "null", "File for the answer"),
    ARG("headers_out", ARG_STR, "null", "File for its header fields"),
    ARG("decode_out", ARG_STR, "null", "File for the answer when it is decoded"),
    ARG("stream", ARG_BOOL, "false", TAKEN),
    ARG("streaming_callback", ARG_ANY, "null", TAKEN),
    ARG("header_callback", ARG_ANY, "null", TAKEN),
    ARG("handle", ARG_BOOL, "false", TAKEN),
    ARG("agent", ARG_STR, "null", "What we call ourselves"),
    ARG("hide_fields", ARG_ANY, "null", TAKEN ": no URL is logged"),
    ARG("raise_error", ARG_BOOL, "true", "False: an answer of status 400 and above is one like any other"),
    ARG("formdata", ARG_BOOL, "false", "Send the data as a file in a form"),
    ARG("formdata_fieldname", ARG_STR, "null", "The form's field"),
    ARG("formdata_filename", ARG_STR, "null", "The file's name in it"),
    ARG("decode_body", ARG_BOOL, "true", TAKEN),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, TAKEN),
    ARGS_END,
};

const arg_t http_bundle_args[] = {
    ARG("target", ARG_STR, "null", "The file; the bundle that http.query uses when not given"),
    ARG("source", ARG_STR, "null", "Where from; option ca_bundle_url, or curl's own"),
    ARG("merge_files", ARG_ANY, "null", "Files that are appended"),
    ARGS_END,
};
