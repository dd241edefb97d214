/* client_master.c - clients that call a function of the master: runner, wheel, and both without waiting. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/low.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/value.h"

enum { WORD_NODES = 10000 };

/* Keys of a chunk that are no keyword arguments. */
static const char *const own_keys[] = { "client",  "fun",   "arg",        "kwarg",    "full_return",
                                        "timeout", "token", "username",   "password", "eauth",
                                        "user",    "key",   "print_event" };

static bool
is_own_key(const char *key)
{
    for (size_t i = 0; i < NELEMS(own_keys); i++)
        if (str_eq(own_keys[i], key))
            return true;
    return str_starts(key, "__");
}

/* Adds a positional argument of a request: a text is read as on the command line, where name=value is by
 * keyword. */
static int
master_word(json_t *args, json_t *kwargs, json_t *value, fail_t *err)
{
    const char *word = json_string_value(value);
    size_t name = word != NULL ? args_keyword_len(word) : 0;

    if (word == NULL)
        return json_array_append(args, value);
    json_t *typed = arg_type_word_within(word + (name > 0 ? name + 1 : 0), WORD_NODES, err);
    if (typed == NULL)
        return err->code;
    if (name == 0)
        return json_array_append_new(args, typed);
    AUTO_FREE char *key = xstrndup(word, name);
    return json_object_set_new(kwargs, key, typed);
}

/* The arguments as runners and wheel functions take them; NEW, or NULL with *err. */
static json_t *
master_arg(const json_t *chunk, fail_t *err)
{
    json_t *args = json_array(), *value;
    json_auto_t *kwargs = json_object();
    const char *key;
    size_t i;

    json_array_foreach (value_get(chunk, "arg"), i, value)
        if (master_word(args, kwargs, value, err) < 0) {
            json_decref(args);
            return NULL;
        }
    json_object_update(kwargs, value_get(chunk, "kwarg"));
    json_object_foreach ((json_t *) chunk, key, value)
        if (!is_own_key(key))
            json_object_set(kwargs, key, value);
    if (json_object_size(kwargs) > 0) {
        json_object_set_new(kwargs, "__kwarg__", json_true());
        json_array_append(args, kwargs);
    }
    return args;
}

static bool
master_begin(low_t *low, const char *op, bool follow)
{
    const char *fun = value_str(low->chunk, "fun", "");
    double limit_s = value_num(low->request->api->set->opts, "rest_timeout", 300),
           timeout = low_number(value_get(low->chunk, "timeout"));
    fail_auto_t err = FAIL_INIT;
    json_t *arg = NULL;

    if (strchr(fun, '.') == NULL) {
        AUTO_FREE char *text = xasprintf("fun is wanted as module.function, not '%s'", fun);
        low_fail(low, MHD_HTTP_BAD_REQUEST, text);
        return false;
    }
    if ((arg = master_arg(low->chunk, &err)) == NULL) {
        low_fail(low, MHD_HTTP_BAD_REQUEST, fail_text(&err));
        return false;
    }
    json_t *request = json_pack("{s:s, s:s, s:o}", "op", op, "fun", fun, "arg", arg);
    if (follow)
        json_object_set_new(request, "follow", json_true());
    if (follow)
        low->until_ms = clock_mono_ms() + (int64_t) ((timeout > 0 ? timeout : limit_s) * 1000);
    low_ask(low, &request);
    return true;
}

static void
master_reply(low_t *low, const json_t *msg)
{
    free(low->jid);
    low->jid = xstrdup(value_str(msg, "jid", ""));
}

/* {tag, jid} of what has begun. */
static void
master_async_reply(low_t *low, const json_t *msg)
{
    const char *jid = value_str(msg, "jid", ""),
               *prefix = value_str(low->chunk, "client", "")[0] == 'r' ? "run" : "wheel";
    json_t *value = json_pack("{s:o, s:s}", "tag", value_fmt("salt/%s/%s", prefix, jid), "jid", jid);

    low_return(low, &value);
}

static bool
is_end_of(const low_t *low, const json_t *push)
{
    return str_eq(value_str(push, "push", ""), "runner") && low->jid != NULL &&
           str_eq(value_str(push, "jid", ""), low->jid);
}

static json_t *
master_stamp(void)
{
    char stamp[CLOCK_STAMP_LEN];

    clock_stamp(stamp, clock_wall_us());
    return json_string(stamp);
}

/* ---- runner ------------------------------------------------------------------------------------ */

static bool
runner_begin(low_t *low)
{
    return master_begin(low, "runner", true);
}

static bool
runner_async_begin(low_t *low)
{
    return master_begin(low, "runner", false);
}

static void
runner_push(low_t *low, const json_t *push)
{
    AUTO_FREE char *absent = xasprintf("'%s' is not available.", value_str(low->chunk, "fun", ""));

    if (!is_end_of(low, push))
        return;
    if (!value_bool(push, "success", true) && str_eq(value_str(push, "return", ""), absent)) {
        low_fail(low, MHD_HTTP_BAD_REQUEST, absent);
        return;
    }
    json_t *ret = json_incref(value_get(push, "return"));
    if (value_bool(low->chunk, "full_return", false)) {
        json_t *args = value_get(low->chunk, "arg"), *none = json_array();
        ret = json_pack(
            "{s:o, s:{s:o, s:s, s:s, s:O, s:o, s:b, s:o}}", "tag", value_fmt("salt/run/%s/ret", low->jid),
            "data", "fun", value_fmt("runner.%s", value_str(low->chunk, "fun", "")), "jid", low->jid, "user",
            low->request->user != NULL ? low->request->user : value_str(low->chunk, "username", ""),
            "fun_args", args != NULL ? args : none, "return", ret, "success",
            value_bool(push, "success", true), "_stamp", master_stamp());
        json_decref(none);
    }
    low_return(low, &ret);
}

/* ---- wheel -------------------------------------------------------------------------------------- */

static bool
wheel_begin(low_t *low)
{
    return master_begin(low, "wheel", true);
}

static bool
wheel_async_begin(low_t *low)
{
    return master_begin(low, "wheel", false);
}

static void
wheel_return(low_t *low, const char *jid, json_t *ret, bool success)
{
    AUTO_FREE char *tag = xasprintf("salt/wheel/%s", jid);
    json_t *value = json_pack(
        "{s:s, s:{s:o, s:s, s:s, s:s, s:o, s:o, s:b}}", "tag", tag, "data", "fun",
        value_fmt("wheel.%s", value_str(low->chunk, "fun", "")), "jid", jid, "tag", tag, "user",
        low->request->user != NULL ? low->request->user : value_str(low->chunk, "username", ""), "_stamp",
        master_stamp(), "return", ret, "success", success);

    low_return(low, &value);
}

static void
wheel_push(low_t *low, const json_t *push)
{
    if (is_end_of(low, push))
        wheel_return(low, low->jid, json_incref(value_get(push, "return")),
                     value_bool(push, "success", true));
}

/* Salt calls a function that is not there, and says so in the result. */
static bool
wheel_refused(low_t *low, const char *text)
{
    char jid[CLOCK_STAMP_LEN];

    if (strstr(text, "is not available") == NULL)
        return false;
    clock_jid(jid);
    wheel_return(low, jid, json_string(text), false);
    return true;
}

/* ---- ssh ---------------------------------------------------------------------------------------- */

static bool
ssh_begin(low_t *low)
{
    low_fail(low, MHD_HTTP_BAD_REQUEST, "There is no salt-ssh here: the client 'ssh' has nothing to call.");
    return false;
}

static const client_t client_runner = { "runner", runner_begin, master_reply, runner_push },
                      client_runner_async = { "runner_async", runner_async_begin, master_async_reply },
                      client_wheel = { "wheel", wheel_begin, master_reply, wheel_push, wheel_refused },
                      client_wheel_async = { "wheel_async", wheel_async_begin, master_async_reply },
                      client_ssh = { "ssh", ssh_begin };

const client_t *const low_clients[] = {
    &client_local,        &client_async, &client_batch,       &client_subset, &client_runner,
    &client_runner_async, &client_wheel, &client_wheel_async, &client_ssh,    NULL
};
