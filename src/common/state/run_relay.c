/* run_relay.c - the relay between a parallel step's child and the run: the child's side replaces the
 * context's functions by ones that send a question and wait for its answer; the parent's side calls the real
 * function. Protocol: see run_relay.h. */
#include "common/state/run_relay.h"

#include <sys/socket.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/files/fileserver.h"
#include "common/local/client.h"
#include "salt/state.h"

enum { READ_CHUNK = 64 * 1024 };

/* Write a whole frame. A child that is gone gives -EPIPE, not a signal. */
int
run_relay_send(int fd, const json_t *frame)
{
    buf_auto_t out = BUF_INIT;

    frame_add(&out, frame);
    for (size_t at = 0; at < out.len;) {
        ssize_t n = fs_write_nosig(fd, out.data + at, out.len - at);
        if (n < 0 && n != -EINTR)
            return (int) n;
        at += n > 0 ? (size_t) n : 0;
    }
    return 0;
}

/* Reads what is there, or waits for it: 1, 0 at the end of the stream, or a negative errno. */
int
run_relay_receive(int fd, buf_t *in)
{
    ssize_t n;

    buf_reserve(in, READ_CHUNK);
    do
        n = recv(fd, in->data + in->len, READ_CHUNK, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        in->len += (size_t) n;
    return n < 0 ? -errno : n > 0;
}

/* ---- in the child -------------------------------------------------------------------------- */

/* Ask, and unpack the answer. An error keeps its kind and code; a code without a text is returned as it is.
 * `ret_value` may be NULL. */
static int
run_relay_answered(run_line_t *self, const json_t *question, json_t **ret_value, fail_t *err)
{
    json_t *got = NULL;
    int rc = run_relay_send(self->fd, question);

    while (rc >= 0 && got == NULL) {
        rc = frame_take(&self->in, LIMIT_LOCAL_MSG, &got, err);
        if (rc == 0)
            rc = (rc = run_relay_receive(self->fd, &self->in)) == 0 ? -EPIPE : rc;
    }
    json_auto_t *answer = got;
    if (answer == NULL) {
        (void) fail_set(err, rc, "the state run does not answer: %s", strerror(-rc));
        return -EPIPE;
    }
    json_t *v = value_get(answer, "value");
    int code = (int) value_int(answer, "code", -EIO);
    if (!value_bool(answer, "ok", false) && value_get(answer, "error") == NULL)
        return code;
    if (!value_bool(answer, "ok", false))
        return fail_kind(err, (fail_kind_t) value_int(answer, "kind", FAIL_GENERIC), code, "%s",
                         value_str(answer, "error", ""));
    if (value_bool(answer, "sent", false))
        files_note_sent();
    if (ret_value != NULL)
        *ret_value = v != NULL ? json_incref(v) : json_null();
    return 0;
}

static int
fire_through(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_auto_t *question = json_pack("{s:s, s:s, s:O}", "t", "fire", "tag", tag, "data", data);

    return run_relay_answered(cookie, question, NULL, err);
}

static int
host_through(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    json_auto_t *question = json_pack("{s:s, s:O}", "t", "host", "request", request);

    return run_relay_answered(cookie, question, ret_value, err);
}

static int
share_through(void *cookie, const char *key, json_t *item, fail_t *err)
{
    json_auto_t *question = json_pack("{s:s, s:s, s:O}", "t", "share", "key", key, "item", item);

    return run_relay_answered(cookie, question, NULL, err);
}

/* The questions to the file client; each of the following functions stands in for one of its own. NEW. */
static json_t *
files_question(const char *fn, const char *path, const char *saltenv)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "t", "files", "fn", fn, "path", path, "saltenv", saltenv);
}

static int
cache_through(void *cookie, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    json_auto_t *question = files_question("cache", path, saltenv), *local = NULL;
    int rc = run_relay_answered(cookie, question, &local, err);

    if (rc == 0)
        *ret_local = xstrdup(json_is_string(local) ? json_string_value(local) : "");
    return rc;
}

static int
get_through(void *cookie, const char *path, const char *saltenv, const char *dest, fail_t *err)
{
    json_auto_t *question = files_question("get", path, saltenv);

    json_object_set_new(question, "dest", json_string(dest));
    return run_relay_answered(cookie, question, NULL, err);
}

static int
hash_through(void *cookie, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
             fail_t *err)
{
    json_auto_t *question = files_question("hash", path, saltenv);

    json_object_set_new(question, "size", json_integer(size));
    return run_relay_answered(cookie, question, ret_hash, err);
}

static int
put_through(void *cookie, const char *local, const char *path, fail_t *err)
{
    json_auto_t *question = files_question("put", path, "");

    json_object_set_new(question, "local", json_string(local));
    return run_relay_answered(cookie, question, NULL, err);
}

static json_t *
list_through(void *cookie, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    json_auto_t *question = files_question("list", prefix, saltenv);
    json_t *list = NULL;

    json_object_set_new(question, "kind", json_integer(kind));
    return run_relay_answered(cookie, question, &list, err) == 0 ? list : NULL;
}

static json_t *
envs_through(void *cookie, fail_t *err)
{
    json_auto_t *question = files_question("envs", "", "");
    json_t *envs = NULL;

    return run_relay_answered(cookie, question, &envs, err) == 0 ? envs : NULL;
}

static int
options_through(void *cookie, json_t **ret_told, fail_t *err)
{
    json_auto_t *question = files_question("options", "", ""), *told = NULL;
    int rc = run_relay_answered(cookie, question, &told, err);

    if (rc == 0 && !json_is_null(told))
        *ret_told = json_incref(told);
    return rc;
}

static const fileclient_class_t files_through = {
    .cache = cache_through,
    .get = get_through,
    .list = list_through,
    .hash = hash_through,
    .envs = envs_through,
    .options = options_through,
    .put = put_through,
};

/* From now on the context's events, host requests and files go through the line. Static, as the child is a
 * process with one context. */
void
run_relay_use(call_ctx_t *ctx, run_line_t *line)
{
    static call_relay_t relay;

    relay = (call_relay_t){ fire_through, host_through, share_through, line };
    call_set_relay(ctx, &relay);
    /* Files of this host need no relay. */
    if (ctx_files(ctx) != NULL && !str_eq(value_str(ctx_opts(ctx), "file_client", ""), "local"))
        fileclient_divert(ctx_files(ctx), &files_through, line);
}

/* ---- in the parent ------------------------------------------------------------------------- */

typedef int answer_fn(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err);

static int
answer_fire(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    return ctx_fire(ctx, value_str(q, "tag", ""), value_get(q, "data"), err);
}

static int
answer_host(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    return ctx_host(ctx, value_get(q, "request"), ret_value, err);
}

static int
answer_share(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    return ctx_share(ctx, value_str(q, "key", ""), value_get(q, "item"), err);
}

/* The child has parsed the path already; the leading "|" makes the file client take it literally. NEW. */
static char *
plain_path(const json_t *q)
{
    return xasprintf("|%s", value_str(q, "path", ""));
}

static int
answer_cache(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = plain_path(q), *local = NULL;
    int rc = fileclient_cache(ctx_files(ctx), path, value_str(q, "saltenv", ""), &local, err);

    if (rc == 0)
        *ret_value = json_string(local);
    return rc;
}

static int
answer_get(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = plain_path(q);

    return fileclient_get(ctx_files(ctx), path, value_str(q, "saltenv", ""), value_str(q, "dest", ""), err);
}

static int
answer_hash(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = plain_path(q);

    return fileclient_hash_of_size(ctx_files(ctx), path, value_str(q, "saltenv", ""),
                                   value_int(q, "size", -1), ret_value, err);
}

static int
answer_put(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    return fileclient_put(ctx_files(ctx), value_str(q, "local", ""), value_str(q, "path", ""), err);
}

static int
answer_list(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    *ret_value = fileclient_list(ctx_files(ctx), (files_kind_t) value_int(q, "kind", FILES_FILES),
                                 value_str(q, "saltenv", ""), value_str(q, "path", ""), err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
answer_envs(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    *ret_value = fileclient_envs(ctx_files(ctx), err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
answer_options(call_ctx_t *ctx, const json_t *q, json_t **ret_value, fail_t *err)
{
    return fileclient_options(ctx_files(ctx), ret_value, err);
}

static const struct {
    const char *type, *fn;
    answer_fn *answer;
} rows[] = {
    { "fire", "", answer_fire },      { "host", "", answer_host },
    { "share", "", answer_share },    { "files", "cache", answer_cache },
    { "files", "hash", answer_hash }, { "files", "list", answer_list },
    { "files", "envs", answer_envs }, { "files", "get", answer_get },
    { "files", "put", answer_put },   { "files", "options", answer_options },
};

json_t *
run_relay_answer(call_ctx_t *ctx, const json_t *question)
{
    fail_auto_t err = FAIL_INIT;
    json_t *value = NULL, *answer;
    int rc = -ENOTSUP;
    uint64_t sent = files_sent();

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (str_eq(rows[i].type, value_str(question, "t", "")) &&
            str_eq(rows[i].fn, value_str(question, "fn", "")))
            rc = rows[i].answer(ctx, question, &value, &err);
    }
    if (rc == 0)
        return json_pack("{s:b, s:b, s:o*}", "ok", 1, "sent", files_sent() != sent, "value", value);
    answer = json_pack("{s:b, s:i, s:i}", "ok", 0, "code", rc, "kind", (int) err.kind);
    if (err.code < 0)
        json_object_set_new(answer, "error", value_utf8(fail_text(&err), strlen(fail_text(&err))));
    return answer;
}
