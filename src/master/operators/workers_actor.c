/* workers_actor.c - see workers_actor.h. For each task the actor makes an api handle and a call context, runs
 * the function, and sends the result as two texts. */
#include "master/operators/workers_actor.h"

#include <malloc.h>

#include "common/base/str.h"
#include "common/net/sock.h"
#include "common/plugin/call.h"
#include "master/api.h"
#include "salt/log.h"
#include "salt/value.h"

#define RETURN_MAX   (LIMIT_LOCAL_MSG - 65536) /* bytes of a return: the rest of its message is short */
#define RETURN_LONG  (1024 * 1024)
#define RETURN_DEPTH (LIMIT_FRAME_DEPTH - 4) /* levels of a return, for the same reason */
#define STORE_LOST   "The job store can't be written: the function was not begun"
#define ROWS_WAIT_MS 2000  /* for rows that were queued when the function was requested */
#define NOTE_WAIT_MS 60000 /* for the row with its note, without which it does not begin */

static int
workers_actor_env_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    json_auto_t *reply = NULL;
    return api_request(cookie, &request, &reply, err);
}

/* ctx_progress(): send it to the master as the request `progress`. */
static void
workers_actor_env_progress(void *cookie, size_t step, size_t of, const char *what)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;
    json_t *request = json_pack("{s:s, s:s, s:I, s:I, s:s}", "op", "progress", "jid", api_run(cookie), "step",
                                (json_int_t) step, "of", (json_int_t) of, "what", what);
    (void) api_request(cookie, &request, &reply, &err);
}

/* call_env's `show`, the same way. An event `progress` is one that salt-run listens to. */
static void
workers_actor_env_show(void *cookie, const char *suffix, json_t *event)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;
    json_t *request = json_pack("{s:s, s:s, s:s, s:O}", "op", "progress", "jid", api_run(cookie), "suffix",
                                suffix, "event", event);
    if (!str_eq(suffix, "progress"))
        (void) api_request(cookie, &request, &reply, &err);
    else
        json_decref(request);
}

/* NEW: an error in the words of Salt's runners. */
static char *
workers_actor_words(const registry_t *registry, call_ctx_t *ctx, bool wheel, const char *fun,
                    const fail_t *err)
{
    fail_auto_t unused = FAIL_INIT;
    const func_t *f = registry_find(registry, ctx, fun, &unused);
    if (f == NULL)
        return call_unknown(ctx, fun, err);
    if (err->kind == FAIL_UNAVAILABLE)
        return xstrdup(fail_text(err));
    if (err->kind != FAIL_ARGUMENTS)
        return xasprintf("Exception occurred in %s %s: %s", wheel ? "wheel" : "runner", fun, fail_text(err));
    AUTO_FREE char *doc = func_docstring(f);
    return xasprintf("\nPassed invalid arguments: %s\n\nUsage:\n%s", fail_text(err), doc);
}

/* NEW result of a failure. Errors may quote bytes that are not UTF-8. */
static json_t *
workers_actor_failed(const char *words)
{
    return json_pack("{s:o, s:i, s:b}", "return", value_utf8(words, strlen(words)), "retcode", 1, "success",
                     false);
}

/* NEW configuration for a task: its `timeout` replaces the configured one. */
static json_t *
workers_actor_opts(const workers_env_t *env, const json_t *task)
{
    json_t *timeout = value_get(task, "timeout");
    if (timeout == NULL)
        return json_incref(env->opts);
    json_t *opts = json_copy(env->opts);
    json_object_set(opts, "timeout", timeout);
    return opts;
}

/* Run a task with a connection and reader of its own. NEW {return, retcode, success, failed?}. */
static json_t *
run_task(const workers_env_t *env, const json_t *task)
{
    fail_auto_t err = FAIL_INIT;
    __attribute__((cleanup(api_destroy))) master_api_t *api = api_new(env->sock_dir, env->store_path, &err);
    if (api == NULL)
        return workers_actor_failed(fail_text(&err));
    api_set_modules(api, env->modules);
    api_set_host(api, env->host);
    api_set_store(api, env->store);
    api_set_functions(api, env->runners, env->wheels);
    api_set_run(api, value_str(task, "jid", ""));
    api_set_user(api, value_str(task, "user", ""));
    log_job(value_str(task, "jid", "")); /* until this thread gets another task */
    api_set_peer(api, value_bool(task, "peer", false));
    json_auto_t *opts = workers_actor_opts(env, task);
    call_env_t call = { .registry = value_bool(task, "wheel", false) ? env->wheels : env->runners,
                        .modules = env->modules,
                        .returners = env->host != NULL ? env->host->returners : NULL,
                        .opts = opts,
                        .jid = value_str(task, "jid", ""),
                        .user = value_str(task, "user", ""),
                        .show = workers_actor_env_show,
                        .fire = workers_actor_env_fire,
                        .progress = workers_actor_env_progress,
                        .cookie = api,
                        .private_data = api };
    AUTO(call_ctx) ctx = call_ctx_new(&call);
    json_t *value = NULL;
    int rc = call_function(ctx, value_str(task, "fun", ""), value_get(task, "arg"), NULL, &value, &err);
    if (rc < 0) {
        AUTO_FREE char *words = workers_actor_words(call.registry, ctx, value_bool(task, "wheel", false),
                                                    value_str(task, "fun", ""), &err);
        json_t *result = workers_actor_failed(words);
        json_object_set_new(result, "failed", json_integer(err.kind));
        return result;
    }
    int retcode = ctx_retcode(ctx);
    return json_pack("{s:o, s:i, s:b, s:s*}", "return", value, "retcode", retcode, "success", retcode == 0,
                     "absent", call_absent(ctx));
}

/* NEW JSON text of the return; NULL with *err when no message can hold it. */
static char *
return_text(const json_t *value, fail_t *err)
{
    if (!value_nests(value, RETURN_DEPTH)) {
        (void) fail_set(err, -EMSGSIZE, "is nested deeper than the %d levels of a message", RETURN_DEPTH);
        return NULL;
    }
    AUTO_FREE char *text = value_dump(value);
    size_t len = strlen(text);
    if (len <= RETURN_MAX)
        return STEAL(text);
    (void) fail_set(err, -EMSGSIZE, "has %zu bytes, more than the %d of a message", len, RETURN_MAX);
    return NULL;
}

/* Texts that workers.c sends, in order. */
enum { TASK, OPTS, TICKET, N_TEXTS };

void
workers_env_destroy(workers_env_t **self_p)
{
    workers_env_t *self = STEAL(*self_p);
    json_decref(self->opts);
    free(self->sock_dir);
    free(self->store_path);
    free(self);
}

void
workers_actor(zsock_t *pipe, void *arg)
{
    workers_env_t *env = arg;
    (void) zsock_signal(pipe, 0);
    for (bool ended = false; !ended;) {
        char *texts[N_TEXTS];
        ended = sock_hear(pipe, texts, N_TEXTS) != N_TEXTS; /* "$TERM" is a single text */
        if (!ended) {
            /* Apply a new configuration, wait for the rows that the function must see, run it and answer. */
            json_auto_t *task = json_loads(texts[TASK], JSON_ALLOW_NUL, NULL);
            const bool noted = value_get(task, "note");
            /* Wait for rows queued before the request, so that an operator who saw a return finds it in
             * the store. */
            bool kept = store_wait(env->store, strtoull(texts[TICKET], NULL, 10),
                                   noted ? NOTE_WAIT_MS : ROWS_WAIT_MS);
            json_t *fresh = *texts[OPTS] ? json_loads(texts[OPTS], JSON_ALLOW_NUL, NULL) : NULL;
            if (fresh != NULL) {
                json_decref(env->opts);
                env->opts = fresh;
            }
            /* Send {retcode, success, failed?} and the return's JSON text: a long return is dumped here,
             * so that the front loop need not. */
            json_t *result = kept || !noted ? run_task(env, task) : workers_actor_failed(STORE_LOST);
            fail_auto_t err = FAIL_INIT;
            json_t *value = json_incref(value_get(result, "return"));
            json_object_del(result, "return");
            AUTO_FREE char *text = return_text(value, &err);
            json_decref(value);
            if (text == NULL) {
                json_auto_t *told = value_fmt("%s: the return %s; ask for less of it (salt-run doc.%s)",
                                              value_str(task, "fun", ""), fail_text(&err),
                                              value_bool(task, "wheel", false) ? "wheel" : "runner");
                text = value_dump(told);

                (void) json_object_update_new(result,
                                              json_pack("{s:i, s:b}", "retcode", 1, "success", false));
            }
            AUTO_FREE char *head = value_dump(result);
            json_decref(result);
            sock_tell(pipe, head, text, NULL);
            /* The function itself used more than its return. */
            if (strlen(text) > RETURN_LONG || err.code < 0)
                (void) malloc_trim(0);
        }
        for (size_t i = 0; i < NELEMS(texts); i++)
            free(texts[i]);
    }
    workers_env_destroy(&env);
}
