/* docker_container.c - state module `docker_container`: containers of a Docker Engine or of podman. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/docker/dockerstate.h"

/* ---- run --------------------------------------------------------------------------------------- */

/* The error about arguments that run() does not take; NULL: none. */
static const char *
unsupported(const json_t *given)
{
    static const char *const names[] = { "watch_action", "start", "shutdown_timeout", "follow" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (value_get(given, names[i]) != NULL)
            return names[i];
    }
    return NULL;
}

/* Takes auto_remove and rm out of `given`: the state removes the container itself, when its exit code is known.
 * 1, 0, or negative: both are there. */
static int
take_remove(json_t *given, bool collisions)
{
    json_t *first = value_get(given, "auto_remove"), *second = value_get(given, "rm");
    bool any = first != NULL || second != NULL, remove = value_truthy(first != NULL ? first : second);

    if (first != NULL && second != NULL && !collisions)
        return -EINVAL;
    json_object_del(given, "rm");
    if (any)
        json_object_set_new(given, "auto_remove", json_false());
    return remove;
}

/* Words of the engine are the state's comment, and no error of the function. */
static int
docker_container_state_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const passed[] = { "skip_translate",
                                          "ignore_collisions",
                                          "validate_ip_addrs",
                                          "client_timeout",
                                          "bg",
                                          "replace",
                                          "force",
                                          "name",
                                          "image" };
    json_auto_t *given = json_copy(value_get(args, "kwargs"));
    bool background = value_bool(args, "bg", false);
    json_t *ret = *ret_value = state_ret_args(args), *changes = NULL,
           *networks = value_get(given, "networks");
    AUTO_FREE char *image = value_pystr(value_get(args, "image"));

    if (unsupported(given) != NULL)
        return state_ret_set(ret, STATE_FALSE, "The '%s' argument is not supported", unsupported(given));
    if (json_is_null(value_get(args, "image")))
        return state_ret_set(ret, STATE_FALSE, "The 'image' argument is required");
    json_auto_t *wanted = docker_wanted_networks(ctx, networks, err);
    json_auto_t *id = wanted != NULL
                          ? docker_resolved_image(ctx, image, value_get(args, "client_timeout"), ret, err)
                          : NULL;
    if (id == NULL)
        return state_ret_fail(ret, err);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Container would be run%s",
                             background ? " in the background" : "");
    int remove = background ? 0 : take_remove(given, value_bool(args, "ignore_collisions", false));
    if (remove < 0)
        return state_ret_set(ret, STATE_FALSE,
                             "'rm' is an alias for 'auto_remove', they cannot both be used");
    if (networks != NULL)
        json_object_set(given, "networks", wanted);
    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(given, passed[i], value_get(args, passed[i]));
    if (ctx_call(ctx, "docker.run_container", NULL, given, &changes, err) < 0) {
        state_ret_set(ret, STATE_FALSE, "Encountered error running container: %s", fail_text(err));
        fail_clear(err);
        return 0;
    }
    state_change_set(ret, changes);
    json_t *code = value_path(ret, "changes:ExitCode", ":");
    if (value_bool(args, "bg", false))
        json_object_set_new(ret, "comment", json_string("Container was run in the background"));
    else if (code != NULL) {
        bool ok = !value_bool(args, "failhard", true) || json_integer_value(code) == 0;
        state_ret_set(ret, ok ? STATE_TRUE : STATE_FALSE,
                      "Container ran and exited with a return code of %lld",
                      (long long) json_integer_value(code));
    }
    json_auto_t *gone = remove
                            ? sub_call(ctx, err, "docker.rm", "{s:s}", "name", value_str(changes, "Id", ""))
                            : NULL;
    if (remove && gone == NULL)
        state_ret_warn(ret, "Failed to auto_remove container: %s", fail_text(err));
    fail_clear(err);
    return 0;
}

/* ---- stopped ----------------------------------------------------------------------------------- */

/* The containers that are meant. NEW, or NULL with the state's comment. */
static json_t *
stop_targets(json_t *args, json_t *ret)
{
    json_t *name = value_get(args, "name"), *list = value_get(args, "containers");

    if (!value_truthy(name) && !value_truthy(list)) {
        state_ret_set(ret, STATE_FALSE, "One of 'name' and 'containers' must be provided");
        return NULL;
    }
    if (list != NULL && !json_is_null(list) && !json_is_array(list)) {
        state_ret_set(ret, STATE_FALSE, "containers must be a list");
        return NULL;
    }
    json_auto_t *one = json_pack("[O]", name);
    return docker_stringlist(json_is_array(list) ? list : one);
}

/* {"running": [...], "absent": [...] ...}. NEW, or NULL with *err. */
static json_t *
by_state(call_ctx_t *ctx, const json_t *targets, fail_t *err)
{
    json_auto_t *out = json_pack("{s:[], s:[], s:[], s:[]}", "running", "paused", "stopped", "absent");
    json_t *one;
    size_t i;

    json_array_foreach (targets, i, one) {
        json_auto_t *state = sub_call_text(ctx, err, "docker.state", "{s:O}", "name", one);
        if (state == NULL && err->code != -ENOENT)
            return NULL;
        fail_clear(err);
        json_array_append(value_get(out, state != NULL ? json_string_value(state) : "absent"), one);
    }
    return json_incref(out);
}

/* True with the comment: containers that are not as the options allow. */
static int
stop_errors(json_t *args, const json_t *found, json_t *ret)
{
    json_auto_t *errors = json_array();
    AUTO_FREE char *absent = value_joined(value_get(found, "absent"), ", ");
    AUTO_FREE char *paused = value_joined(value_get(found, "paused"), ", ");

    if (value_bool(args, "error_on_absent", true) && *absent != '\0')
        json_array_append_new(errors, value_fmt("The following container(s) are absent: %s", absent));
    if (!value_bool(args, "unpause", false) && *paused != '\0')
        json_array_append_new(errors, value_fmt("The following container(s) are paused: %s", paused));
    AUTO_FREE char *text = value_joined(errors, ". ");
    if (*text != '\0')
        state_ret_set(ret, STATE_FALSE, "%s", text);
    return *text != '\0';
}

/* Stops each; what failed with "; " between. NEW. */
static char *
stop_each(call_ctx_t *ctx, json_t *args, const json_t *names, json_t *ret)
{
    json_t *one, *timeout = value_get(args, "shutdown_timeout");
    json_auto_t *errors = json_array();
    size_t i;

    json_array_foreach (names, i, one) {
        fail_auto_t bad = FAIL_INIT;
        json_auto_t *kwargs = json_pack("{s:O, s:O}", "name", one, "unpause", value_get(args, "unpause"));
        json_t *done = NULL;
        if (value_truthy(timeout))
            json_object_set(kwargs, "timeout", timeout);
        if (ctx_call(ctx, "docker.stop", NULL, kwargs, &done, &bad) < 0)
            json_array_append_new(errors, json_string(fail_text(&bad)));
        else if (value_bool(done, "result", false))
            state_change(ret, json_string_value(one), json_incref(done));
        else
            json_array_append_new(errors,
                                  value_get(done, "comment") != NULL
                                      ? json_incref(value_get(done, "comment"))
                                      : value_fmt("Failed to stop container '%s'", json_string_value(one)));
        json_decref(done);
    }
    return value_joined(errors, "; ");
}

/* All containers are looked at before the first one is stopped. */
static int
docker_container_state_stopped(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *targets = stop_targets(args, ret);
    json_auto_t *found = targets != NULL ? by_state(ctx, targets, err) : NULL;

    if (targets == NULL)
        return 0;
    if (found == NULL)
        return state_ret_fail(ret, err);
    if (stop_errors(args, found, ret))
        return 0;
    json_auto_t *running = json_copy(value_get(found, "running"));
    json_array_extend(running, value_get(found, "paused"));
    const char *absent = json_array_size(value_get(found, "absent")) > 0 ? "absent or " : "";
    if (json_array_size(running) == 0 && json_array_size(targets) == 1)
        return state_ret_set(ret, STATE_TRUE, "Container '%s' is %snot running",
                             json_string_value(json_array_get(targets, 0)), absent);
    if (json_array_size(running) == 0)
        return state_ret_set(ret, STATE_TRUE, "All specified containers are %snot running", absent);
    AUTO_FREE char *names = value_joined(running, ", ");
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The following container(s) will be stopped: %s", names);
    AUTO_FREE char *errors = stop_each(ctx, args, running, ret);
    if (*errors != '\0')
        return state_ret_set(ret, STATE_FALSE, "%s", errors);
    return state_ret_set(ret, STATE_TRUE, "The following container(s) were stopped: %s", names);
}

/* ---- absent ------------------------------------------------------------------------------------ */

/* 1, 0, or negative with *err. */
static int
docker_container_is_there(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *names = sub_call(ctx, err, "docker.list_containers", "{s:b}", "all", 1);

    return names != NULL ? value_lists(names, name) : err->code;
}

/* Success is that the container is gone afterwards, whatever the engine said. */
static int
docker_container_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    bool force = value_bool(args, "force", false);
    json_t *ret = *ret_value = state_ret_args(args), *removed = NULL;
    int there = docker_container_is_there(ctx, name, err);
    json_auto_t *state = there > 0 ? sub_call_text(ctx, err, "docker.state", "{s:s}", "name", name) : NULL;

    if (there == 0)
        return state_ret_set(ret, STATE_TRUE, "Container '%s' does not exist", name);
    if (state == NULL)
        return state_ret_fail(ret, err);
    bool stopped = strcmp(json_string_value(state), "stopped") == 0;
    if (!stopped && !force)
        return state_ret_set(ret, STATE_FALSE,
                             "Container is running, set force to True to forcibly remove it");
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Container '%s' will be removed", name);
    removed = sub_call(ctx, err, "docker.rm", "{s:s, s:b}", "name", name, "force", force);
    if (removed == NULL) {
        state_ret_set(ret, STATE_FALSE, "Failed to remove container '%s': %s", name, fail_text(err));
        fail_clear(err);
        return 0;
    }
    state_change(ret, "removed", removed);
    there = docker_container_is_there(ctx, name, err);
    if (there != 0) {
        fail_clear(err);
        return state_ret_set(ret, STATE_FALSE, "Failed to remove container '%s'", name);
    }
    return state_ret_set(ret, STATE_TRUE, "%s removed container '%s'", stopped ? "Successfully" : "Forcibly",
                         name);
}

/* ---- watch ------------------------------------------------------------------------------------- */

/* A change replaces a running container, or sends it a signal; the others just do their own again. */
static int
docker_container_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sfun = value_str(args, "sfun", "");
    json_auto_t *given = json_copy(value_get(args, "kwargs"));

    json_object_set(given, "name", value_get(args, "name"));
    if (strcmp(sfun, "running") == 0) {
        bool force = strcmp(value_str(given, "watch_action", "force"), "force") == 0;
        json_object_set_new(given, "force", json_boolean(force));
        if (!force)
            json_object_set_new(given, "send_signal", json_true());
        return ctx_state(ctx, "docker_container.running", given, ret_value, err);
    }
    if (strcmp(sfun, "stopped") == 0)
        return ctx_state(ctx, "docker_container.stopped", given, ret_value, err);
    if (strcmp(sfun, "run") == 0)
        return ctx_state(ctx, "docker_container.run", given, ret_value, err);
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "watch requisite is not implemented for %s", sfun);
}

/* ---- table ------------------------------------------------------------------------------------- */

#define ROW_CONFIG                                                                                           \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,                                                                     \
        "Configuration of the container: binds, environment, port_bindings ...")

static const arg_t running_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the container"),
    ARG("image", ARG_ANY, "null", "Its image, which is pulled where it is missing"),
    DOCKER_ROWS_WAY,
    ARG("force", ARG_BOOL, "false", "Replace it whatever it has"),
    ARG("watch_action", ARG_ANY, "\"force\"",
        "When a watched state has changed: force replaces it, else the signal to send"),
    ARG("start", ARG_BOOL, "true", "Start it where it does not run"),
    ARG("shutdown_timeout", ARG_ANY, "null", "Seconds until one that is replaced is killed"),
    DOCKER_ROW_TIMEOUT,
    ARG("networks", ARG_ANY, "null", "Networks to be connected to, and how"),
    ROW_CONFIG,
    ARGS_END,
};
static const arg_t run_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the container"),
    ARG("image", ARG_ANY, "null", "Its image, which is pulled where it is missing"),
    ARG("bg", ARG_BOOL, "false", "Do not wait for its end"),
    ARG("failhard", ARG_BOOL, "true", "An exit code other than 0 fails the state"),
    ARG("replace", ARG_BOOL, "false", "Remove the container that has the name"),
    ARG("force", ARG_BOOL, "false", "Also when that runs"),
    DOCKER_ROWS_WAY,
    DOCKER_ROW_TIMEOUT,
    ROW_CONFIG,
    ARGS_END,
};
static const arg_t stopped_args[] = {
    ARG("name", ARG_ANY, "null", "Name of the container"),
    ARG("containers", ARG_ANY, "null", "Names instead"),
    ARG("shutdown_timeout", ARG_ANY, "null", "Seconds until it is killed"),
    ARG("unpause", ARG_BOOL, "false", "Unpause it before"),
    ARG("error_on_absent", ARG_BOOL, "true", "One that is not there is an error"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the container"),
    ARG("force", ARG_BOOL, "false", "Also when it runs"),
    ARGS_END,
};
static const arg_t watch_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the container"),
    ARG("sfun", ARG_STR, "null", "The function that watches"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its arguments"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", docker_container_state_absent, absent_args, 0, "The container is not there." },
    { "mod_watch", docker_container_mod_watch, watch_args, 0,
      "What the functions do when a watched state has changed." },
    { "run", docker_container_state_run, run_args, 0, "Run a container to its end." },
    { "running", docker_state_running, running_args, 0, "The container is there, configured so, and runs." },
    { "stopped", docker_container_state_stopped, stopped_args, 0, "The container does not run." },
};

PLUGIN(state, docker_container, .doc = "Containers of a Docker Engine", FUNCS(funcs));
