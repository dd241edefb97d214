/* state_request.c - execution module `state`: state runs that are requested, tried in test mode, and run
 * later by the host's administrator. Requests wait in a file of the cache. The file is CACHEDIR/req_state.p.
 * A request has a name, "default" unless it is given, and replaces another of that name. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/plugin.h"

enum { MODE_FILE = 0600 };

/* Salt's name for it, though its content is JSON here. */
static char *
request_path(call_ctx_t *ctx)
{
    return fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "req_state.p");
}

/* NEW {name: {test_run, mods, kwargs, peer?}}, or NULL with *err. `peer`: the arguments may be another
 * minion's words. A file that can't be parsed is an error: what it held is not to be written over. */
static json_t *
requests(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = request_path(ctx);
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path))
        return json_object();
    if (fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    return value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err);
}

/* None left: no file. Only its owner reads it: keywords may hold secrets. */
static int
save_requests(call_ctx_t *ctx, const json_t *all, fail_t *err)
{
    AUTO_FREE char *path = request_path(ctx), *text = value_dump(all);

    if (json_object_size(all) > 0)
        return fs_write_quick(path, text, strlen(text), MODE_FILE, err);
    return unlink(path) < 0 && errno != ENOENT ? fail_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

/* Keywords without the publisher's own (__pub_*). NEW. */
static json_t *
kwargs_of(const json_t *args)
{
    json_t *out = json_object(), *v;
    const char *key;

    json_object_foreach (value_get(args, "kwargs"), key, v) {
        if (!str_starts(key, "__pub_"))
            json_object_set(out, key, v);
    }
    return out;
}

/* state.apply with these modules and keywords. */
static int
state_request_apply(call_ctx_t *ctx, json_t *mods, json_t *kwargs, json_t **ret_value, fail_t *err)
{
    json_auto_t *args = json_pack("[O]", mods);

    return ctx_call(ctx, "state.apply", args, kwargs, ret_value, err);
}

/* Runs in test mode and stores the request with that result; words of a minion stay marked. The answer is
 * what the test run told. Its result is kept for whoever decides on it. */
static int
state_request(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *mods = value_get(args, "mods"), *ret = NULL;
    json_auto_t *kwargs = kwargs_of(args);

    json_object_set_new(kwargs, "test", json_true());
    int rc = state_request_apply(ctx, mods, kwargs, &ret, err);
    if (rc < 0)
        return rc;
    json_auto_t *all = requests(ctx, err);
    if (all != NULL) {
        json_t *request = json_pack("{s:O, s:O, s:O}", "test_run", ret, "mods", mods, "kwargs", kwargs);
        if (call_has_peer_args(ctx))
            json_object_set_new(request, "peer", json_true());
        json_object_set_new(all, value_str(kwargs, "name", "default"), request);
        rc = save_requests(ctx, all, err);
    }
    if (all == NULL || rc < 0) {
        json_decref(ret);
        return -EIO;
    }
    *ret_value = ret;
    return 0;
}

/* All requests, or the one named, with the test run of each. */
static int
state_check_request(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", NULL);
    json_auto_t *all = requests(ctx, err);
    json_t *one = name != NULL ? value_get(all, name) : all;

    if (all == NULL)
        return -EIO;
    if (one == NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "there is no state request '%s'", name);
    *ret_value = json_incref(one);
    return 0;
}

/* One request by its name, or all. False when there is none. */
static int
state_clear_request(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", NULL);
    json_auto_t *all = requests(ctx, err);
    bool found = all != NULL && (name == NULL || value_get(all, name) != NULL);

    if (all == NULL)
        return -EIO;
    if (name == NULL)
        json_object_clear(all);
    else
        json_object_del(all, name);
    *ret_value = json_boolean(found);
    return found ? save_requests(ctx, all, err) : 0;
}

/* Runs the request without test mode; {} when there is none. A request is removed once its run is done.
 * Keywords of this call lie over the stored ones. A failed state does not keep it: the run was done. */
static int
state_run_request(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "default");
    json_auto_t *all = requests(ctx, err), *more = kwargs_of(args);
    json_t *request = value_get(all, name), *kwargs = value_get(request, "kwargs");

    if (all == NULL)
        return -EIO;
    if (value_get(request, "mods") == NULL || kwargs == NULL) {
        *ret_value = json_object();
        return 0;
    }
    if (value_bool(request, "peer", false))
        call_set_peer_args(ctx);
    json_object_update(kwargs, more);
    json_object_del(kwargs, "test");
    json_object_del(kwargs, "name");
    int rc = state_request_apply(ctx, value_get(request, "mods"), kwargs, ret_value, err);
    if (rc < 0)
        return rc;
    json_object_del(all, name);
    return save_requests(ctx, all, err);
}

static const arg_t request_args[] = {
    ARG("mods", ARG_ANY, "null", "SLS, with commas or as a list; none: those of the top file"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As state.apply's; `name` of the request",
        STATE_APPLY_WORDS " name"),
    ARGS_END,
};
static const arg_t name_args[] = {
    ARG("name", ARG_STR, "null", "One request; none: all"),
    ARGS_END,
};
static const arg_t run_args[] = {
    ARG("name", ARG_STR, "\"default\"", "The request"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "More arguments of state.apply", STATE_APPLY_WORDS),
    ARGS_END,
};

static const func_t funcs[] = {
    { "check_request", state_check_request, name_args, FN_READONLY | FN_PEER,
      "The state runs that were asked for, with what they would do." CLI_EXAMPLE(
          "salt '*' state.check_request") },
    { "clear_request", state_clear_request, name_args, 0,
      "Forget state runs that were asked for." CLI_EXAMPLE("salt '*' state.clear_request"),
      ABSENT("name", "There is no state request '{}'; 'state.check_request' lists those there are") },
    { "request", state_request, request_args, 0,
      "Ask the host's own administrator for a state run, with ``salt-call state.run_request``. Shows what it "
      "would do." CLI_EXAMPLE("salt '*' state.request stuff,pkgs") },
    { "run_request", state_run_request, run_args, 0,
      "Run what was asked for." CLI_EXAMPLE("salt '*' state.run_request"),
      ABSENT("name", "There is no state request '{}'; 'state.check_request' lists those there are") },
};

PLUGIN(exec, state_request, .provides = "state", .doc = "State runs, and what they are made from",
       FUNCS(funcs));
