/* stage.h - a stage for runners: a scripted master on a local socket, a real store, and a way to call
 * functions.
 *
 * The script is a table: operation, the reply's JSON ("!text" refuses), and pushes that follow it. Of several
 * rows with one operation each answers once, the last one always. Requests are kept as they came.
 */
#ifndef TESTS_UNIT_RUNNERS_STAGE_H
#define TESTS_UNIT_RUNNERS_STAGE_H

#include "unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/local/client.h"
#include "common/plugin/call.h"
#include "common/plugin/registry.h"
#include "master/api.h"
#include "master/store/store.h"
#include "salt/limits.h"
#include "salt/value.h"

#define STAGE_PATIENCE_MS 60000
#define STAGE_QUIET_MS    20

typedef struct line {
    const char *op;
    const char *reply;
    const char *pushes; /* a JSON list, or NULL */
} line_t;

typedef struct stage {
    char dir[64];
    int listener;
    const line_t *script;
    size_t n_script;
    pthread_t thread;
    pthread_mutex_t lock;
    json_t *requests;    /* under the lock */
    size_t n_unscripted; /* of those, before this script */
    store_t *store;
    master_api_t *api;
    registry_t *registry;
    json_t *opts, *fired;
    call_ctx_t *ctx;
} stage_t;

static json_t *
stage_json(const char *text)
{
    fail_auto_t err = FAIL_INIT;
    json_t *v = value_parse(text, strlen(text), 1 << 20, text, &err);

    if (v == NULL)
        fail_msg("%s", fail_text(&err));
    return v;
}

/* With the lock held. */
static const line_t *
stage_line(const stage_t *s, const char *op)
{
    const line_t *line = NULL;
    size_t asked = 0;

    for (size_t i = s->n_unscripted; i < json_array_size(s->requests); i++)
        asked += strcmp(value_str(json_array_get(s->requests, i), "op", ""), op) == 0;
    for (size_t i = 0; i < s->n_script; i++) {
        if (strcmp(s->script[i].op, op) != 0)
            continue;
        line = &s->script[i];
        if (asked-- == 0)
            break;
    }
    return line;
}

/* Sends what is gathered. A client that has gone shows when the next request is read. */
static void
stage_send(int fd, buf_t *out)
{
    (void) fs_write_all(fd, out->data, out->len);
    buf_clear(out);
}

static void
stage_push(int fd, const char *list, buf_t *out)
{
    json_auto_t *pushes = list != NULL ? stage_json(list) : NULL;
    size_t i;
    json_t *push;

    json_array_foreach (pushes, i, push) {
        if (json_is_null(push)) {
            stage_send(fd, out);
            poll(NULL, 0, STAGE_QUIET_MS);
        } else {
            frame_add(out, push);
        }
    }
    stage_send(fd, out);
}

static void
stage_answer(const line_t *line, const json_t *request, buf_t *out)
{
    json_t *reply;

    if (line == NULL || line->reply[0] == '!')
        reply = json_pack("{s:b, s:s}", "ok", 0, "error",
                          line != NULL ? line->reply + 1 : "no such operation");
    else
        reply = stage_json(line->reply);
    if (json_object_get(reply, "ok") == NULL)
        json_object_set_new(reply, "ok", json_true());
    json_object_set(reply, "n", value_get(request, "n"));
    frame_add(out, reply);
    json_decref(reply);
}

/* One connection until it ends. */
static void
stage_serve(stage_t *s, int fd)
{
    buf_auto_t in = BUF_INIT;
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        json_t *request = NULL;
        buf_add(&in, chunk, (size_t) n);
        while (frame_take(&in, LIMIT_LOCAL_MSG, &request, NULL) == 1) {
            buf_auto_t out = BUF_INIT;
            pthread_mutex_lock(&s->lock);
            const line_t *line = stage_line(s, value_str(request, "op", ""));
            json_array_append(s->requests, request);
            pthread_mutex_unlock(&s->lock);
            stage_answer(line, request, &out);
            json_decref(request);
            stage_push(fd, line != NULL ? line->pushes : NULL, &out);
        }
    }
}

static void *
stage_main(void *arg)
{
    stage_t *s = arg;
    int fd;

    while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
        stage_serve(s, fd);
        close(fd);
    }
    return NULL;
}

static int
stage_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    stage_t *s = cookie;

    (void) err;
    json_array_append_new(s->fired, json_pack("{s:s, s:O}", "tag", tag, "data", data));
    return 0;
}

static void
stage_listen(stage_t *s)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" LOCAL_SOCKET_NAME, s->dir);
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s->listener >= 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *) &addr, sizeof(addr)), 0);
    assert_int_equal(listen(s->listener, 4), 0);
    pthread_mutex_init(&s->lock, NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, stage_main, s), 0);
}

/* `plugins`: what is under test, and what it calls. */
static stage_t *
stage_new(const plugin_t *const *plugins, size_t n)
{
    fail_auto_t err = FAIL_INIT;
    stage_t *s = xcalloc(1, sizeof(*s));

    signal(SIGPIPE, SIG_IGN);
    strcpy(s->dir, "/tmp/halite-stage-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    s->requests = json_array();
    s->fired = json_array();
    s->opts = stage_json("{\"timeout\": 5, \"file_roots\": {\"base\": [\"/srv/salt\"]}}");
    AUTO_FREE char *path = fs_join(s->dir, "store.db");
    s->store = store_new(path, &err);
    stage_listen(s);
    s->api = api_new(s->dir, path, &err);
    if (s->store == NULL || s->api == NULL)
        fail_msg("%s", fail_text(&err));
    s->registry = registry_new(PLUGIN_RUNNER, plugins, n);
    if (registry_check(s->registry, &err) < 0)
        fail_msg("%s", fail_text(&err));
    call_env_t env = { .registry = s->registry,
                       .opts = s->opts,
                       .jid = "20261120094000000000",
                       .fire = stage_fire,
                       .cookie = s,
                       .private_data = s->api };
    s->ctx = call_ctx_new(&env);
    return s;
}

static void
stage_destroy(stage_t **s_p)
{
    stage_t *s = STEAL(*s_p);

    call_ctx_destroy(&s->ctx);
    registry_destroy(&s->registry);
    api_destroy(&s->api);             /* ends the connection, */
    shutdown(s->listener, SHUT_RDWR); /* and this the wait for another */
    pthread_join(s->thread, NULL);
    close(s->listener);
    pthread_mutex_destroy(&s->lock);
    store_destroy(&s->store);
    json_decref(s->requests);
    json_decref(s->fired);
    json_decref(s->opts);
    fs_remove_tree(s->dir, NULL);
    free(s);
}

static void
stage_set_script(stage_t *s, const line_t *script, size_t n)
{
    pthread_mutex_lock(&s->lock);
    s->script = script;
    s->n_script = n;
    s->n_unscripted = json_array_size(s->requests);
    pthread_mutex_unlock(&s->lock);
}
#define stage_script(s, table) stage_set_script((s), (table), NELEMS(table))

/* NEW JSON text of what a function returns for a list of arguments; "KIND: text" of its failure. */
static UNUSED char *
stage_call(stage_t *s, const char *fun, const char *args)
{
    static const char *const kinds[] = { "failed",     "command",   "program",
                                         "invocation", "arguments", "unavailable" };
    fail_auto_t err = FAIL_INIT;
    json_auto_t *arg = stage_json(args);
    json_auto_t *value = NULL;

    if (call_function(s->ctx, fun, arg, NULL, &value, &err) == 0)
        return value_dump(value);
    return xasprintf("%s: %s", kinds[err.kind], fail_text(&err));
}

#define assert_call(s, fun, args, expected)                                                                  \
    do {                                                                                                     \
        AUTO_FREE char *call_text_ = stage_call((s), (fun), (args));                                         \
        assert_string_equal(call_text_, expected);                                                           \
    } while (0)

/* NEW JSON text of the n-th request from the end (0: the last), without its number. */
static UNUSED char *
stage_request(stage_t *s, size_t from_end)
{
    pthread_mutex_lock(&s->lock);
    size_t n = json_array_size(s->requests);
    json_t *request = n > from_end ? json_copy(json_array_get(s->requests, n - 1 - from_end)) : json_null();
    pthread_mutex_unlock(&s->lock);
    json_object_del(request, "n");
    char *text = value_dump(request);
    json_decref(request);
    return text;
}

#define assert_request(s, from_end, expected)                                                                \
    do {                                                                                                     \
        AUTO_FREE char *request_text_ = stage_request((s), (from_end));                                      \
        assert_string_equal(request_text_, expected);                                                        \
    } while (0)

#endif
