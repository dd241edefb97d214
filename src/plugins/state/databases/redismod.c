/* redismod.c - state module `redis`: keys of a Redis server, and which master it follows. Salt's `string` and
 * `absent` know no test mode. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Calls a function of `redis` with the state's access to the server. `fmt` as in subcall.h; NEW, or NULL with
 * *err. */
#define REDIS_CALL(ctx, args, err, fun, fmt, ...)                                                            \
    redis_call(ctx, args, json_pack(fmt, ##__VA_ARGS__), fun, err)

static json_t *
redis_call(call_ctx_t *ctx, const json_t *args, json_t *more, const char *fun, fail_t *err)
{
    json_auto_t *kwargs = more;
    json_t *answer = NULL;

    json_object_update_missing(kwargs, value_get(args, "connection_args"));
    return ctx_call(ctx, fun, NULL, kwargs, &answer, err) == 0 ? answer : NULL;
}

/* Sets one end of the key's time: the state's argument by its name and the function of the same name. */
static int
redis_end_key(call_ctx_t *ctx, const json_t *args, const char *fun, const char *argument, const json_t *when,
              fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:O, s:O}", "key", value_get(args, "name"), argument, when);
    json_auto_t *did = redis_call(ctx, args, json_incref(kwargs), fun, err);

    return did != NULL ? 0 : err->code;
}

/* Redis stores texts alone, so a number is compared by its text. A time to live begins anew with each run: it
 * is a change each time. */
static int
redis_string(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *name = value_get(args, "name"), *value = value_get(args, "value"),
           *at = value_get(args, "expireat"), *in = value_get(args, "expire");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *old = REDIS_CALL(ctx, args, err, "redis.get_key", "{s:O}", "key", name);
    AUTO_FREE char *key = value_pystr(name), *text = value_pystr(value);
    int rc = 0;

    if (old == NULL)
        return err->code;
    (void) state_ret_set(ret, STATE_TRUE, "Key already set to defined value");
    if (!json_is_string(old) || !str_eq(json_string_value(old), text)) {
        state_change(ret, key, json_string("Value updated"));
        (void) state_ret_set(ret, STATE_TRUE, "Key updated to new value");
        json_auto_t *did = ctx_test(ctx) ? json_true()
                                         : REDIS_CALL(ctx, args, err, "redis.set_key", "{s:O, s:O}", "key",
                                                      name, "value", value);
        if (did == NULL)
            return err->code;
    }
    if (value_truthy(at)) {
        AUTO_FREE char *when = value_pystr(at);
        state_change(ret, "expireat", value_fmt("Key expires at %s", when));
        if (!ctx_test(ctx))
            rc = redis_end_key(ctx, args, "redis.expireat", "timestamp", at, err);
    } else if (value_truthy(in)) {
        AUTO_FREE char *seconds = value_pystr(in);
        state_change(ret, "expire", value_fmt("TTL set to %s seconds", seconds));
        if (!ctx_test(ctx))
            rc = redis_end_key(ctx, args, "redis.expire", "seconds", in, err);
    }
    if (rc == 0 && ctx_test(ctx) && state_changed(ret))
        (void) state_ret_set(ret, STATE_NONE, "Key would be updated");
    return rc;
}

/* `keys` instead of the name when it is given. */
static int
redis_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *keys = value_get(args, "keys"), *key;
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *wanted = value_truthy(keys) ? json_incref(keys) : json_pack("[O]", value_get(args, "name"));
    json_auto_t *there = json_array();
    size_t i;

    if (!json_is_array(wanted))
        return state_ret_set(ret, STATE_FALSE, "`keys` not formed as a list type");
    json_array_foreach (wanted, i, key) {
        json_auto_t *is = REDIS_CALL(ctx, args, err, "redis.exists", "{s:O}", "key", key);
        if (is == NULL)
            return err->code;
        if (value_truthy(is))
            json_array_append(there, key);
    }
    if (json_array_size(there) == 0)
        return state_ret_set(ret, STATE_TRUE, "Key(s) specified already absent");
    state_change(ret, "deleted", json_incref(there));
    const char *what = value_truthy(keys) ? "Keys" : "Key";
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s would be deleted", what);
    json_t *did = NULL;
    if (ctx_call(ctx, "redis.delete", there, value_get(args, "connection_args"), &did, err) < 0)
        return err->code;
    json_decref(did);
    return state_ret_set(ret, STATE_TRUE, "%s deleted", what);
}

/* The master that the server follows. NEW, or NULL with *err. */
static json_t *
redis_master(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *access = value_get(args, "connection_args");

    return sub_call(ctx, err, "redis.get_master_ip", "{s:O*, s:O*, s:O*}", "host", value_get(access, "host"),
                    "port", value_get(access, "port"), "password", value_get(access, "password"));
}

/* A sentinel tells where the master of this name is; it may be this machine. */
static int
redis_state_slaveof(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *wanted = sub_call(ctx, err, "redis.sentinel_get_master_ip", "{s:s, s:O, s:O, s:O}", "master",
                                   name, "host", value_get(args, "sentinel_host"), "port",
                                   value_get(args, "sentinel_port"), "password",
                                   value_get(args, "sentinel_password"));
    json_auto_t *own = wanted != NULL ? sub_call(ctx, err, "network.ip_addrs", NULL) : NULL;

    if (own == NULL)
        return err->code;
    if (value_has(own, value_get(wanted, "master_host")))
        return state_ret_set(ret, STATE_TRUE, "Minion is the master: %s", name);
    json_auto_t *before = redis_master(ctx, args, err);
    if (before == NULL)
        return err->code;
    if (json_equal(before, wanted))
        return state_ret_set(ret, STATE_TRUE, "Minion already slave of master: %s", name);
    if (ctx_test(ctx)) {
        state_change_set(ret, json_pack("{s:O, s:O}", "old", before, "new", wanted));
        return state_ret_set(ret, STATE_NONE, "Minion will be made a slave of %s: %s", name,
                             value_str(wanted, "master_host", ""));
    }
    json_auto_t *did = redis_call(ctx, args, json_copy(wanted), "redis.slaveof", err);
    json_auto_t *now = did != NULL ? redis_master(ctx, args, err) : NULL;
    if (now == NULL)
        return err->code;
    if (!json_equal(now, wanted))
        return state_ret_set(ret, STATE_FALSE, "Failed to setup slave");
    state_change_set(ret, json_pack("{s:O, s:O}", "old", before, "new", now));
    return state_ret_set(ret, STATE_TRUE, "Minion successfully connected to master: %s", name);
}

#define ROW_NAME ARG("name", ARG_ANY, ARG_REQUIRED, "The key")
#define ROW_MORE                                                                                             \
    ARG("connection_args", ARG_ANY, ARG_STARSTAR,                                                            \
        "host, port, db and password of the server, where the options redis.* do not say them",              \
        "host port db password")

static const arg_t string_args[] = { ROW_NAME,
                                     ARG("value", ARG_ANY, ARG_REQUIRED, "Its value"),
                                     ARG("expire", ARG_ANY, "null", "Seconds that it lives, from the run on"),
                                     ARG("expireat", ARG_ANY, "null",
                                         "When it ends, in seconds since 1970; wins over `expire`"),
                                     ROW_MORE,
                                     ARGS_END };
static const arg_t absent_args[] = { ROW_NAME, ARG("keys", ARG_ANY, "null", "These keys instead"), ROW_MORE,
                                     ARGS_END };
static const arg_t slaveof_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The master's name, as the sentinel knows it"),
    ARG("sentinel_host", ARG_ANY, "null", "The sentinel; by default the option redis_sentinel.host"),
    ARG("sentinel_port", ARG_ANY, "null", "Its port"),
    ARG("sentinel_password", ARG_ANY, "null", "Its password"),
    ROW_MORE,
    ARGS_END
};

static const func_t funcs[] = {
    { "absent", redis_absent, absent_args, 0, "The key, or the keys, are not there." },
    { "slaveof", redis_state_slaveof, slaveof_args, 0, "The server follows a master that a sentinel names." },
    { "string", redis_string, string_args, 0, "The key has this value." },
};

PLUGIN(state, redismod, .provides = "redis", .doc = "Keys of a Redis server", FUNCS(funcs));
