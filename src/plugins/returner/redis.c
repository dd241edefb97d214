/* redis.c - returner `redis`: jobs and returns in a Redis server, under Salt's keys:
 *
 *   ret:JID    hash of minion to return, for keep_jobs_seconds      load:JID   what was published, as long
 *   ID:FUN     the jid of the minion's last return of it            minions    set of ids
 *
 * Every write of these is the same when it comes again. Of minions with the ids `ret` and `load` the last
 * returns of functions are not kept, as those keys would be of jobs. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/database/resp.h"
#include "plugins/lib/returner/retopts.h"

enum { PORT = 6379, KEEP_S = 86400, SCAN_MAX = 1000000 };

/* A database other than 0 is chosen on each connection; a socket's path wins over host and port. */
static const retopt_t options[] = {
    { "host", NULL, "\"localhost\"" }, { "port", NULL, "6379" },   { "unix_socket_path", NULL, NULL },
    { "db", NULL, "\"0\"" },           { "password", NULL, NULL }, { "username", NULL, NULL },
};

/* ---- the connection ------------------------------------------------------------------------------------ */

/* The connection that a context keeps, and the options that it was made with. */
typedef struct redis_kept {
    json_t *opts; /* owned */
    resp_t *line;
} redis_kept_t;

static void
redis_free(void *value)
{
    redis_kept_t *self = value;

    resp_close(&self->line);
    json_decref(self->opts);
    free(self);
}

/* Says who is there (AUTH, with a user since Redis 6), and picks the database. An error of either is the
 * server's words. */
static int
redis_greet(resp_t *line, const json_t *opts, fail_t *err)
{
    AUTO_FREE char *db = value_pystr(value_get(opts, "db"));
    const char *password = value_str(opts, "password", NULL), *user = value_str(opts, "username", NULL);

    if (password != NULL && user != NULL)
        resp_add(line, "AUTH", user, password, NULL);
    else if (password != NULL)
        resp_add(line, "AUTH", password, NULL);
    resp_add(line, "SELECT", db, NULL);
    json_auto_t *replies = resp_run(line, err);
    return replies != NULL ? 0 : err->code;
}

/* NEW connection that has said who is there, or NULL with *err. */
static resp_t *
redis_open(const json_t *opts, fail_t *err)
{
    AUTO_FREE char *port_text = value_pystr(value_get(opts, "port"));
    long long port = PORT;

    if (!str_to_int(port_text, 1, 65535, &port)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "redis.port '%s' is no number from 1 to 65535",
                         port_text);
        return NULL;
    }
    resp_t *line = resp_open(value_str(opts, "host", "localhost"), (int) port,
                             value_str(opts, "unix_socket_path", NULL), err);
    if (line != NULL && redis_greet(line, opts, err) < 0)
        resp_close(&line);
    return line;
}

/* The connection of this context, made anew when it broke or the options differ. BORROWED from the context,
 * or NULL with *err. */
static resp_t *
redis_line(call_ctx_t *ctx, const json_t *ret, fail_t *err)
{
    static const int key;
    json_auto_t *opts = retopts(ctx, "redis", ret, options, NELEMS(options));
    redis_kept_t *kept = call_attached(ctx, &key);

    if (value_truthy(retopts_setting(ctx, "redis.cluster_mode"))) {
        (void) fail_kind(err, FAIL_INVOCATION, -ENOTSUP,
                         "redis.cluster_mode: a cluster needs Salt's own returner in Python");
        return NULL;
    }
    if (kept == NULL) {
        kept = xcalloc(1, sizeof(*kept));
        call_attach(ctx, &key, kept, redis_free);
    }
    if (kept->line != NULL && !resp_is_bad(kept->line) && json_equal(kept->opts, opts))
        return kept->line;
    resp_close(&kept->line);
    json_decref(kept->opts);
    kept->opts = json_incref(opts);
    kept->line = redis_open(opts, err);
    return kept->line;
}

/* The one reply to one command. NEW, or NULL with *err. */
static json_t *
redis_reply(resp_t *line, fail_t *err)
{
    json_auto_t *replies = resp_run(line, err);

    return replies != NULL ? json_incref(json_array_get(replies, 0)) : NULL;
}

/* ---- storing ------------------------------------------------------------------------------------------- */

/* Seconds that a job is kept, as text; "0": for ever. NEW. */
static char *
redis_keep(call_ctx_t *ctx)
{
    return xasprintf("%lld", (long long) value_int(ctx_opts(ctx), "keep_jobs_seconds", KEEP_S));
}

/* The key of a minion's last return of a function. NEW; NULL: it would be a job's. */
static char *
redis_last_key(const char *id, const char *fun)
{
    AUTO_FREE char *key = xasprintf("%s:%s", id, fun);

    return str_starts(key, "ret:") || str_starts(key, "load:") ? NULL : STEAL(key);
}

/* `jids`, `ids`: those of the batch (ret_told), or NULL. */
static void
redis_add_ret(call_ctx_t *ctx, resp_t *line, const json_t *ret, json_t *jids, json_t *ids)
{
    const char *id = value_str(ret, "id", ""), *jid = value_str(ret, "jid", "");
    const json_t *name = value_get(ret, "fun");
    AUTO_FREE char *fun = value_pystr(name != NULL ? name : json_null()), *text = ret_json(ret),
                   *seconds = redis_keep(ctx), *key = xasprintf("ret:%s", jid),
                   *last = redis_last_key(id, fun);

    resp_add(line, "HSET", key, id, text, NULL);
    if (!str_eq(seconds, "0") && !ret_told(jids, jid))
        resp_add(line, "EXPIRE", key, seconds, NULL);
    if (last != NULL)
        resp_add(line, "SET", last, jid, NULL);
    if (!ret_told(ids, id))
        resp_add(line, "SADD", "minions", id, NULL);
}

/* `fresh`: only where there is none. */
static void
redis_add_load(call_ctx_t *ctx, resp_t *line, const char *jid, const json_t *load, bool fresh)
{
    AUTO_FREE char *key = xasprintf("load:%s", jid), *text = ret_json(load), *seconds = redis_keep(ctx);
    bool ever = str_eq(seconds, "0");

    if (fresh && ever)
        resp_add(line, "SET", key, text, "NX", NULL);
    else if (fresh)
        resp_add(line, "SET", key, text, "EX", seconds, "NX", NULL);
    else if (ever)
        resp_add(line, "SET", key, text, NULL);
    else
        resp_add(line, "SETEX", key, seconds, text, NULL);
}

/* Sends what was added. */
static int
redis_send(resp_t *line, fail_t *err)
{
    json_auto_t *replies = resp_run(line, err);

    return replies != NULL ? 0 : err->code;
}

static int
redis_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *ret = value_get(args, "ret");
    resp_t *line = redis_line(ctx, ret, err);

    if (line == NULL)
        return err->code;
    redis_add_ret(ctx, line, ret, NULL, NULL);
    return redis_send(line, err);
}

static int
redis_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);

    if (line == NULL)
        return err->code;
    redis_add_load(ctx, line, value_str(args, "jid", ""), value_get(args, "load"), false);
    return redis_send(line, err);
}

/* All writes of a batch in one go; whoever stores them again stores the same. */
static int
redis_batch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);
    json_auto_t *loads = json_object(), *jids = json_object(), *ids = json_object();
    json_t *write;
    size_t i;
    int rc = line != NULL ? 0 : err->code;

    json_array_foreach (value_get(args, "writes"), i, write) {
        const json_t *ret = value_get(write, "ret"), *load = value_get(write, "load");
        const char *jid = value_str(ret != NULL ? ret : write, "jid", "");
        if (rc == 0 && value_get(write, "event") != NULL)
            rc = fail_kind(err, FAIL_INVOCATION, -ENOTSUP,
                           "redis keeps jobs and returns; as in Salt it is none for event_return");
        bool fresh = load != NULL && !ret_told(loads, jid);
        if (rc == 0 && (fresh || (load != NULL && ret == NULL)))
            redis_add_load(ctx, line, jid, load, ret != NULL);
        if (rc == 0 && ret != NULL)
            redis_add_ret(ctx, line, ret, jids, ids);
    }
    return rc < 0 ? rc : redis_send(line, err);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* The value of a text of JSON. NEW, or NULL. */
static json_t *
redis_value(const json_t *text)
{
    return json_is_string(text) ? json_loads(json_string_value(text), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL)
                                : NULL;
}

static int
redis_get_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);
    AUTO_FREE char *key = xasprintf("load:%s", value_str(args, "jid", ""));

    if (line == NULL)
        return err->code;
    resp_add(line, "GET", key, NULL);
    json_auto_t *text = redis_reply(line, err);
    if (text == NULL)
        return err->code;
    json_t *load = redis_value(text);
    *ret_value = load != NULL ? load : json_object();
    return 0;
}

static int
redis_get_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);
    AUTO_FREE char *key = xasprintf("ret:%s", value_str(args, "jid", ""));

    if (line == NULL)
        return err->code;
    resp_add(line, "HGETALL", key, NULL);
    json_auto_t *pairs = redis_reply(line, err);
    if (pairs == NULL)
        return err->code;
    *ret_value = json_object();
    for (size_t i = 0; i + 1 < json_array_size(pairs); i += 2) {
        json_t *ret = redis_value(json_array_get(pairs, i + 1));
        if (ret != NULL)
            json_object_set_new(*ret_value, json_string_value(json_array_get(pairs, i)), ret);
    }
    return 0;
}

static int
redis_get_minions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);

    if (line == NULL)
        return err->code;
    resp_add(line, "SMEMBERS", "minions", NULL);
    *ret_value = redis_reply(line, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The last return of each minion: by ID:FUN its jid, and by that the return. */
static int
redis_get_fun(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *minions = NULL;
    json_t *id;
    size_t i;
    resp_t *line = NULL;
    int rc = redis_get_minions(ctx, args, &minions, err);

    if (rc < 0 || (line = redis_line(ctx, NULL, err)) == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (minions, i, id) {
        AUTO_FREE char *last = redis_last_key(json_string_value(id), value_str(args, "fun", ""));
        if (last == NULL)
            continue;
        resp_add(line, "GET", last, NULL);
        json_auto_t *jid = redis_reply(line, err);
        if (jid == NULL)
            return err->code;
        if (!json_is_string(jid))
            continue;
        AUTO_FREE char *key = xasprintf("ret:%s", json_string_value(jid));
        resp_add(line, "HGET", key, json_string_value(id), NULL);
        json_auto_t *text = redis_reply(line, err);
        json_t *ret = redis_value(text);
        if (ret != NULL)
            json_object_set_new(*ret_value, json_string_value(id), ret);
    }
    return 0;
}

/* NEW array of all keys of the pattern, by SCAN, which holds nobody up; or NULL with *err. */
static json_t *
redis_keys(resp_t *line, const char *pattern, fail_t *err)
{
    AUTO_FREE char *cursor = xstrdup("0");
    json_t *keys = json_object(), *key;
    size_t i;

    do {
        resp_add(line, "SCAN", cursor, "MATCH", pattern, "COUNT", "1000", NULL);
        json_auto_t *reply = redis_reply(line, err);
        if (reply == NULL) {
            json_decref(keys);
            return NULL;
        }
        free(cursor);
        cursor = xstrdup(
            json_is_string(json_array_get(reply, 0)) ? json_string_value(json_array_get(reply, 0)) : "0");
        json_array_foreach (json_array_get(reply, 1), i, key)
            json_object_set_new(keys, json_string_value(key), json_true()); /* SCAN may say one twice */
    } while (!str_eq(cursor, "0") && json_object_size(keys) < SCAN_MAX);
    json_t *list = value_sorted_keys(keys);
    json_decref(keys);
    return list;
}

static int
redis_get_jids(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);
    json_auto_t *keys = line != NULL ? redis_keys(line, "load:*", err) : NULL;
    json_t *key;
    size_t i;

    if (keys == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (keys, i, key) {
        const char *jid = json_string_value(key) + strlen("load:");
        if (!clock_is_jid(jid)) /* of a minion `load`, by Salt's own returner */
            continue;
        resp_add(line, "GET", json_string_value(key), NULL);
        json_auto_t *text = redis_reply(line, err);
        if (text == NULL)
            return err->code;
        json_auto_t *load = redis_value(text);
        if (load != NULL)
            json_object_set_new(*ret_value, jid, ret_job_instance(jid, load));
    }
    return 0;
}

/* Returns of which the job has gone: one that came late begins the time of all anew. */
static int
redis_clean(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    resp_t *line = redis_line(ctx, NULL, err);
    json_auto_t *keys = line != NULL ? redis_keys(line, "ret:*", err) : NULL;
    json_t *key;
    size_t i;

    if (keys == NULL)
        return err->code;
    json_array_foreach (keys, i, key) {
        if (!clock_is_jid(json_string_value(key) + strlen("ret:")))
            continue;
        AUTO_FREE char *load = xasprintf("load:%s", json_string_value(key) + strlen("ret:"));
        resp_add(line, "EXISTS", load, NULL);
        json_auto_t *there = redis_reply(line, err);
        if (there == NULL)
            return err->code;
        if (json_integer_value(there) == 0)
            resp_add(line, "DEL", json_string_value(key), NULL);
        json_auto_t *gone = json_integer_value(there) == 0 ? redis_reply(line, err) : json_null();
        if (gone == NULL)
            return err->code;
    }
    return 0;
}

static const func_t funcs[] = {
    RET_ROW_RETURNER(redis_returner), RET_ROW_PREP,
    RET_ROW_SAVE(redis_save_load),    RET_ROW_LOAD(redis_get_load),
    RET_ROW_JID(redis_get_jid),       RET_ROW_FUN(redis_get_fun),
    RET_ROW_JIDS(redis_get_jids),     RET_ROW_MINIONS(redis_get_minions),
    RET_ROW_CLEAN(redis_clean),       RET_ROW_BATCH(redis_batch),
};

PLUGIN(returner, redis, .doc = "Keep jobs and returns in a Redis server", FUNCS(funcs));
