/* stalekey.c - engine `stalekey`: deletes the keys of minions that have not been connected for long. When
 * each was last seen is kept in presence.json of cachedir. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "plugins/lib/engine/enginebus.h"
#include "salt/limits.h"
#include "salt/log.h"

#define US_PER_S 1000000

/* The times that the last round wrote. NEW {id: seconds since the epoch}, empty before the first round; NULL with
 * *err. */
static json_t *
stalekey_seen(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(path, LIMIT_FILE_READ, &text, err);

    if (rc < 0)
        return NULL;
    return rc == 0 ? json_object() : value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err);
}

/* Notes who is there now. One that was never seen before counts as seen now, so that it has its full time.
 * NEW {id: seconds}: of accepted minions alone; or NULL with *err. */
static json_t *
stalekey_look(call_ctx_t *ctx, const json_t *before, json_int_t now_s, fail_t *err)
{
    json_t *request = json_pack("{s:s}", "op", "minions"), *minion, *seen;
    json_auto_t *reply = enginebus_ask(ctx, &request, err);
    const char *id;

    if (reply == NULL)
        return NULL;
    seen = json_object();
    json_object_foreach (value_get(reply, "minions"), id, minion) {
        bool here = value_bool(minion, "connected", false) || value_get(before, id) == NULL;
        json_object_set_new(seen, id, here ? json_integer(now_s) : json_incref(value_get(before, id)));
    }
    return seen;
}

/* Deletes the keys that are too old, and forgets those that the master has deleted. */
static void
stalekey_delete(call_ctx_t *ctx, json_t *seen, json_int_t oldest_s)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *stale = json_array();
    json_t *when, *id;
    const char *name;
    size_t i;

    json_object_foreach (seen, name, when)
        if (json_integer_value(when) < oldest_s)
            json_array_append_new(stale, json_string(name));
    if (json_array_size(stale) == 0)
        return;
    AUTO_FREE char *names = value_joined(stale, ", ");
    log_info("engine stalekey: removing the keys of %s", names);
    json_t *request = json_pack("{s:s, s:s, s:O, s:[s]}", "op", "key_apply", "action", "delete", "ids", stale,
                                "from", "minions");
    json_auto_t *reply = enginebus_ask(ctx, &request, &err);
    if (reply == NULL) {
        log_error("engine stalekey: %s", fail_text(&err));
        return;
    }
    json_array_foreach (value_get(reply, "done"), i, id)
        json_object_del(seen, json_string_value(id));
}

/* A round: the minions that are there, whose key is too old, and what to remember. A failure leaves everything to the next
 * round. */
static void
stalekey_round(call_ctx_t *ctx, const char *path, double expire_s)
{
    fail_auto_t err = FAIL_INIT;
    json_int_t now_s = (json_int_t) (clock_wall_us() / US_PER_S);
    json_auto_t *before = stalekey_seen(path, &err);
    json_auto_t *seen = before != NULL ? stalekey_look(ctx, before, now_s, &err) : NULL;

    if (seen == NULL) {
        log_error("engine stalekey: %s", fail_text(&err));
        return;
    }
    stalekey_delete(ctx, seen, (json_int_t) ((double) now_s - expire_s));
    AUTO_FREE char *text = value_dump(seen);
    if (fs_write_atomic(path, text, strlen(text), 0600, &err) < 0)
        log_error("engine stalekey: %s", fail_text(&err));
}

/* Only the master has keys and sees its minions. */
static int
stalekey_start(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "presence.json");

    if (!enginebus_is_master(ctx))
        return fail_kind(err, FAIL_INVOCATION, -ENOTSUP, "stalekey is an engine of the master");
    for (;;) {
        stalekey_round(ctx, path, value_num(args, "expire", 0));
        clock_pause(value_num(args, "interval", 0));
    }
}

static const arg_t args[] = { ARG("interval", ARG_FLOAT, "3600", "Seconds between two looks"),
                              ARG("expire", ARG_FLOAT, "604800",
                                  "Seconds after which a minion that was not there loses its key"),
                              ARGS_END };

static const func_t funcs[] = {
    { "start", stalekey_start, args, 0,
      "Delete the keys of minions that have not been connected for ``expire`` seconds." }
};

PLUGIN(engine, stalekey, .doc = "Deletes keys of minions that are gone", FUNCS(funcs));
