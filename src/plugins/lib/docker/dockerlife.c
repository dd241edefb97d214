/* dockerlife.c - containers are made, started, stopped and removed: see dockerfuns.h. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/docker/dockerfuns.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/log.h"

enum { STOP_TIMEOUT = 10, MS_PER_S = 1000 };

static const char *
dockerlife_name_of(const json_t *args)
{
    return value_str(args, "name", "");
}

/* {"result", "state": {"old", "new"}}, which Salt's functions of this kind return; a state that is unknown is
 * null. */
static json_t *
life_result(bool result, const char *old, const char *now, const char *comment)
{
    json_t *ret = json_pack("{s:b, s:{s:s?, s:s?}}", "result", result, "state", "old", old, "new", now);

    if (comment != NULL)
        json_object_set_new(ret, "comment", json_string(comment));
    return ret;
}

/* POST /containers/NAME/ACTION; TAKES the query, which may be NULL. */
static int
act(call_ctx_t *ctx, const char *name, const char *action, json_t *query, double timeout, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/containers/%s/%s", name, action);
    json_auto_t *own = query;
    json_auto_t *answer = engine_json(
        ctx, &(engine_ask_t){ .method = "POST", .path = path, .query = own, .timeout = timeout }, err);

    return answer != NULL ? 0 : err->code;
}

/* Brings a container from one state to another. NEW life_result(), or NULL with *err. */
static json_t *
change_state(call_ctx_t *ctx, const char *name, const char *action, const char *expected, json_t *query,
             double timeout, fail_t *err)
{
    json_auto_t *own = query;
    const char *pre = docker_state_now(ctx, name, err);

    if (pre == NULL)
        return NULL;
    if (strcmp(action, "restart") != 0 && strcmp(pre, expected) == 0) {
        AUTO_FREE char *text = xasprintf("Container '%s' already %s", name, expected);
        return life_result(false, expected, expected, text);
    }
    /* A container with auto_remove may be gone after it: that is no state, and no error. */
    if (act(ctx, name, action, json_incref(own), timeout, err) < 0)
        return NULL;
    fail_auto_t gone = FAIL_INIT;
    const char *post = docker_state_now(ctx, name, &gone);
    return life_result(post != NULL && strcmp(post, expected) == 0, pre, post, NULL);
}

/* Ends a function that changed a container. */
static int
changed(call_ctx_t *ctx, json_t *answer, json_t **ret_value, fail_t *err)
{
    if (answer == NULL)
        return err->code;
    docker_tell_mine(ctx);
    *ret_value = answer;
    return 0;
}

/* SIGKILL, after which the container must be stopped. */
int
docker_fn_kill(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return changed(ctx, change_state(ctx, dockerlife_name_of(args), "kill", "stopped", NULL, 0, err),
                   ret_value, err);
}

/* A signal promises no state, so none is compared: true as soon as the engine has sent it. */
int
docker_fn_signal(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *query = json_pack("{s:O}", "signal", value_get(args, "signal"));

    return changed(ctx, act(ctx, dockerlife_name_of(args), "kill", query, 0, err) < 0 ? NULL : json_true(),
                   ret_value, err);
}

/* A paused container is running for the engine, so it is refused here. */
int
docker_fn_start(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = dockerlife_name_of(args), *now = docker_state_now(ctx, name, err);
    AUTO_FREE char *text = xasprintf("Container '%s' is paused, cannot start", name);

    if (now == NULL)
        return err->code;
    return changed(ctx,
                   strcmp(now, "paused") == 0 ? life_result(false, now, now, text)
                                              : change_state(ctx, name, "start", "running", NULL, 0, err),
                   ret_value, err);
}

/* pause and unpause: the row's word. */
int
docker_fn_pause(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = dockerlife_name_of(args), *now = docker_state_now(ctx, name, err),
               *action = ctx_row(ctx)->data.text;
    AUTO_FREE char *text = xasprintf("Container '%s' is stopped, cannot %s", name, action);

    if (now == NULL)
        return err->code;
    return changed(ctx,
                   strcmp(now, "stopped") == 0
                       ? life_result(false, now, now, text)
                       : change_state(ctx, name, action, strcmp(action, "pause") == 0 ? "paused" : "running",
                                      NULL, 0, err),
                   ret_value, err);
}

/* The engine waits `timeout` seconds for the end before it kills: the answer may take so long and its own
 * time. */
int
docker_fn_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t timeout = value_int(args, "timeout", STOP_TIMEOUT);

    *ret_value = change_state(ctx, dockerlife_name_of(args), "restart", "running",
                              json_pack("{s:I}", "t", timeout), (double) timeout + ENGINE_TIMEOUT, err);
    if (*ret_value == NULL)
        return err->code;
    if (value_bool(*ret_value, "result", false))
        json_object_set_new(*ret_value, "restarted", json_true());
    return 0;
}

/* Stops it; `timeout` NULL or null: the container's own. A paused container gets no signal, so it is unpaused
 * first or refused. NEW life_result(), or NULL with *err. */
static json_t *
stop_it(call_ctx_t *ctx, const char *name, json_t *timeout, bool unpause, fail_t *err)
{
    json_auto_t *container = docker_container(ctx, name, err);

    if (container == NULL)
        return NULL;
    json_int_t seconds = json_is_integer(timeout)
                             ? json_integer_value(timeout)
                             : value_int(value_get(container, "Config"), "StopTimeout", STOP_TIMEOUT);
    const char *pre = docker_state_of(container);
    if (strcmp(pre, "paused") == 0 && !unpause) {
        AUTO_FREE char *text = xasprintf(
            "Container '%s' is paused, run with unpause=True to unpause before stopping", name);
        return life_result(false, pre, pre, text);
    }
    if (strcmp(pre, "paused") == 0) {
        json_t *done = change_state(ctx, name, "unpause", "running", NULL, 0, err);
        if (done == NULL || !value_bool(done, "result", false)) {
            if (done != NULL)
                json_object_set_new(done, "comment", value_fmt("Failed to unpause container '%s'", name));
            return done;
        }
        json_decref(done);
    }
    json_t *done = change_state(ctx, name, "stop", "stopped", json_pack("{s:I}", "t", seconds),
                                (double) seconds + ENGINE_TIMEOUT, err);
    if (done != NULL)
        json_object_set_new(value_get(done, "state"), "old", json_string(pre));
    return done;
}

/* unpause=True stops a paused container too. */
int
docker_fn_stop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool unpause = value_truthy(value_get(value_get(args, "kwargs"), "unpause"));

    return changed(ctx, stop_it(ctx, dockerlife_name_of(args), value_get(args, "timeout"), unpause, err),
                   ret_value, err);
}

/* Waits without a deadline of its own: the job's is the only one. A container that is absent or had stopped
 * already is a success only with ignore_already_stopped. */
int
docker_fn_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = dockerlife_name_of(args), *pre = docker_state_now(ctx, name, err);
    bool ignore = value_bool(args, "ignore_already_stopped", false);
    AUTO_FREE char *path = engine_path("/containers/%s/wait", name);

    if (pre == NULL && err->code == -ENOENT) {
        fail_clear(err);
        *ret_value = json_pack("{s:b, s:o}", "result", ignore, "comment",
                               value_fmt("Container '%s' absent", name));
        return 0;
    }
    json_auto_t *answer = pre != NULL
                              ? engine_json(ctx,
                                            &(engine_ask_t){ .method = "POST", .path = path, .timeout = -1 },
                                            err)
                              : NULL;
    if (answer == NULL)
        return err->code;
    fail_auto_t gone = FAIL_INIT;
    const char *post = docker_state_now(ctx, name, &gone);
    bool already = strcmp(pre, "stopped") == 0,
         ok = already ? ignore : post != NULL && strcmp(post, "stopped") == 0;
    if (value_bool(args, "fail_on_exit_status", false) && ok)
        ok = value_int(answer, "StatusCode", 0) == 0;
    *ret_value = life_result(ok, pre, post, NULL);
    json_object_set(*ret_value, "exit_status", value_get(answer, "StatusCode"));
    if (already)
        json_object_set_new(*ret_value, "comment", value_fmt("Container '%s' already stopped", name));
    return 0;
}

/* The id tells whether the new name is the old container's, which Salt checks too. */
int
docker_fn_rename(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *now = value_str(args, "new_name", "");
    json_auto_t *before = docker_container(ctx, dockerlife_name_of(args), err);

    if (before == NULL ||
        act(ctx, value_str(before, "Id", ""), "rename", json_pack("{s:s}", "name", now), 0, err) < 0)
        return err->code;
    json_auto_t *after = docker_container(ctx, now, err);
    *ret_value = json_boolean(after != NULL && value_equal(value_get(before, "Id"), value_get(after, "Id")));
    return err->code;
}

/* ---- removal ----------------------------------------------------------------------------------- */

/* The ids that are gone from a list of all. A container with auto_remove removes itself as soon as it is
 * stopped, and a request would find nothing. */
static json_t *
remove_container(call_ctx_t *ctx, const char *name, bool force, bool volumes, bool stop, json_t *timeout,
                 fail_t *err)
{
    AUTO_FREE char *path = engine_path("/containers/%s", name);
    json_auto_t *container = docker_container(ctx, name, err);
    bool itself = stop && !force && value_truthy(value_path(container, "HostConfig:AutoRemove", ":"));

    if (container == NULL)
        return NULL;
    if (strcmp(docker_state_of(container), "running") == 0 && !force && !stop) {
        (void) fail_kind(err, FAIL_COMMAND, -EBUSY,
                         "Container '%s' is running, use force=True to forcibly remove this container", name);
        return NULL;
    }
    json_auto_t *pre = docker_ps(ctx, NULL, true, err);
    json_auto_t *stopped = pre != NULL && stop && !force ? stop_it(ctx, name, timeout, false, err)
                                                         : json_null();
    if (pre == NULL || stopped == NULL)
        return NULL;
    if (!itself && engine_delete(ctx, err, path,
                                 json_pack("{s:b, s:b, s:b}", "v", volumes, "link", 0, "force", force)) < 0)
        return NULL;
    json_auto_t *post = docker_ps(ctx, NULL, true, err);
    return post != NULL ? docker_gone(pre, post) : NULL;
}

/* stop=True stops it first, as force=True would kill it. */
int
docker_fn_rm(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *more = value_get(args, "kwargs");

    return changed(ctx,
                   remove_container(ctx, dockerlife_name_of(args), value_bool(args, "force", false),
                                    value_bool(args, "volumes", false), value_truthy(value_get(more, "stop")),
                                    value_get(more, "timeout"), err),
                   ret_value, err);
}

/* Without a part all but the volumes are pruned, as `docker system prune` does: volumes hold data and must be
 * named. */
int
docker_fn_prune(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const parts[] = { "containers", "images", "networks", "build", "volumes" };
    json_t *system = value_get(args, "system"), *v, *one;
    json_auto_t *filters = json_object();
    const char *key;
    bool any = false;
    size_t k;

    json_object_foreach (value_get(args, "filters"), key, v) {
        json_auto_t *list = json_is_boolean(v) ? json_pack("[s]", json_is_true(v) ? "true" : "false")
                                               : stateopts_split(v);
        json_t *texts = json_array();
        json_array_foreach (list, k, one) {
            AUTO_FREE char *text = value_pystr(one);
            json_array_append_new(texts, json_string(text));
        }
        json_object_set_new(filters, key, texts);
    }
    for (size_t i = 0; i < NELEMS(parts) - 1; i++)
        any = any || value_bool(args, parts[i], false);
    bool all = json_is_null(system) ? !any : value_truthy(system);
    json_auto_t *out = json_object();
    for (size_t i = 0; i < NELEMS(parts); i++) {
        bool last = i == NELEMS(parts) - 1;
        AUTO_FREE char *path = xasprintf("/%s/prune", parts[i]);
        if (!value_bool(args, parts[i], false) && (!all || last))
            continue;
        json_t *answer = engine_post(ctx, err, path, json_pack("{s:O}", "filters", filters), NULL);
        if (answer == NULL)
            return err->code;
        json_object_set_new(out, parts[i], answer);
    }
    *ret_value = json_incref(out);
    return 0;
}

/* ---- making ------------------------------------------------------------------------------------ */

/* Makes the container that `given` describes. NEW {"Id", "Warnings"}, or NULL with *err. */
static json_t *
make_container(call_ctx_t *ctx, const json_t *args, json_t *given, fail_t *err)
{
    docker_way_t way = docker_way(args);
    const char *image = value_str(args, "image", "");
    AUTO_FREE char *unused = NULL;
    AUTO_FREE char *id = NULL;
    json_auto_t *inspect = json_incref(value_get(given, "inspect"));

    json_object_del(given, "inspect");
    if (inspect == NULL || value_truthy(inspect)) {
        /* The engine pulls nothing by itself when a container is made. */
        int there = docker_has_image(ctx, image, &id, err);
        json_auto_t *pulled = there == 0 ? docker_pull_now(ctx, image, docker_seconds(args), false, err)
                                         : NULL;
        if (there < 0 || (there == 0 && pulled == NULL))
            return NULL;
    }
    /* One network can be set up at once, the one that is the network mode; the others are connected later. */
    const char *mode = value_str(given, "network_mode", "");
    json_t *net = value_get(value_get(given, "networks"), mode);
    json_t *endpoint = net != NULL ? docker_endpoint(net, err) : NULL;
    json_auto_t *network = endpoint != NULL ? json_pack("{s:{s:o}}", "EndpointsConfig", mode, endpoint)
                                            : NULL;
    json_object_del(given, "networks");
    json_auto_t *translated = err->code == 0 ? docker_translate_container(&way, given, err) : NULL;
    if (translated == NULL)
        return NULL;
    if (network != NULL)
        json_object_set(translated, "networking_config", network);
    json_t *body = docker_container_body(image, translated, &unused, err);
    if (body == NULL)
        return NULL;
    if (unused != NULL)
        log_warning(
            "The following arguments were ignored because they are not recognized by the Docker Engine: %s",
            unused);
    json_t *query = json_pack(
        "{s:O, s:O}", "name", json_is_null(value_get(args, "name")) ? json_null() : value_get(args, "name"),
        "platform",
        value_get(translated, "platform") != NULL ? value_get(translated, "platform") : json_null());
    return engine_post(ctx, err, "/containers/create", query, body);
}

/* The name that the engine gave or was given. NEW, or NULL with *err. */
static char *
dockerlife_made_name(call_ctx_t *ctx, const json_t *args, const json_t *made, fail_t *err)
{
    const char *given = value_str(args, "name", NULL);
    json_auto_t *container = given == NULL ? docker_container(ctx, value_str(made, "Id", ""), err) : NULL;
    const char *name = value_str(container, "Name", NULL);

    return given != NULL ? xstrdup(given) : name != NULL ? xstrdup(name + strspn(name, "/")) : NULL;
}

/* Seconds with their fraction, as Salt's Time_Elapsed. */
static json_t *
elapsed_since(int64_t start)
{
    return json_real((double) (clock_mono_ms() - start) / MS_PER_S);
}

/* A container that was made and can't start stays: the answer to that, its id, is in the error. */
int
docker_fn_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *given = json_deep_copy(value_get(args, "kwargs"));
    int64_t start = clock_mono_ms();
    json_auto_t *made = make_container(ctx, args, given, err);
    AUTO_FREE char *name = made != NULL ? dockerlife_made_name(ctx, args, made, err) : NULL;

    if (name == NULL)
        return err->code;
    json_object_set_new(made, "Time_Elapsed", elapsed_since(start));
    json_object_set_new(made, "Name", json_string(name));
    if (value_bool(args, "start", false)) {
        fail_auto_t bad = FAIL_INIT;
        json_auto_t *started = change_state(ctx, name, "start", "running", NULL, 0, &bad);
        if (started == NULL) {
            json_auto_t *info = json_pack("{s:O, s:s}", "response", made, "error", fail_text(&bad));
            AUTO_FREE char *text = docker_with_info("Failed to start container after creation", info);
            return fail_kind(err, FAIL_COMMAND, bad.code, "%s", text);
        }
        json_object_set_new(made, "Started", json_true());
    }
    return changed(ctx, json_incref(made), ret_value, err);
}

/* A container that has the name already is removed, or is an error. */
static int
make_room(call_ctx_t *ctx, const json_t *args, json_t **ret_removed, fail_t *err)
{
    const char *name = value_str(args, "name", NULL);
    bool replace = value_bool(args, "replace", false), force = value_bool(args, "force", false);
    fail_auto_t bad = FAIL_INIT;
    const char *now = name != NULL ? docker_state_now(ctx, name, &bad) : NULL;

    *ret_removed = NULL;
    if (name == NULL || bad.code == -ENOENT)
        return 0;
    if (now == NULL)
        return fail_kind(err, FAIL_COMMAND, bad.code, "%s", fail_text(&bad));
    if (strcmp(now, "running") == 0 && !(replace && force))
        return fail_kind(
            err, FAIL_COMMAND, -EEXIST,
            "Container '%s' exists and is running. Run with replace=True and force=True to force removal of "
            "the existing container.",
            name);
    if (!replace)
        return fail_kind(err, FAIL_COMMAND, -EEXIST,
                         "Container '%s' exists. Run with replace=True to remove the existing container",
                         name);
    *ret_removed = remove_container(ctx, name, force, false, false, NULL, err);
    return *ret_removed != NULL ? 0 : err->code;
}

/* {NAME: {}} of "a,b", or the object itself. NEW, or NULL with *err. */
static json_t *
run_networks(const json_t *given, fail_t *err)
{
    json_t *out = json_object(), *one;
    const char *key;
    size_t i;

    json_auto_t *names = json_is_string(given) ? docker_parts(json_string_value(given), ',', 0) : NULL;
    json_array_foreach (names, i, one)
        json_object_set_new(out, json_string_value(one), json_object());
    bool ok = !value_truthy(given) || names != NULL || json_is_object(given);
    json_object_foreach ((json_t *) given, key, one) {
        ok = ok && json_is_object(one);
        json_object_set(out, key, one);
    }
    if (ok)
        return out;
    json_decref(out);
    (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid format for networks argument");
    return NULL;
}

/* Waits for its end and adds its output and exit code; a
 * failure to read it is a warning, as a container with auto_remove may have gone before the first byte. */
static int
collect_run(call_ctx_t *ctx, const char *id, bool removes_itself, json_t *ret, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/containers/%s/logs", id);
    json_auto_t *query = json_pack("{s:b, s:b, s:b, s:b, s:s}", "stderr", 1, "stdout", 1, "timestamps", 0,
                                   "follow", 1, "tail", "all");
    buf_auto_t raw = BUF_INIT, text = BUF_INIT;
    fail_auto_t bad = FAIL_INIT;

    if (engine_bytes(ctx, &(engine_ask_t){ .method = "GET", .path = path, .query = query, .timeout = -1 },
                     &raw, &bad) < 0)
        json_object_set_new(
            ret, "Warnings",
            json_pack("[s]", "Failed to get logs from container. This may be because the container exited "
                             "before Salt was able to attach to it to retrieve the logs. Consider setting "
                             "auto_remove to False."));
    docker_demux(&raw, &text, &text);
    json_object_set_new(ret, "Logs", value_utf8(buf_str(&text), text.len));
    if (removes_itself)
        return 0;
    /* The log ends with the last program that has it open, a moment before the engine knows of the container's end.
     * Two seconds are enough for a busy engine; what has its log closed and runs on for longer is told as such. */
    enum { LOOKS = 40 };
    const double look_s = 0.05;
    json_auto_t *container = docker_container(ctx, id, err);
    bool ended = strcmp(value_str(value_get(container, "State"), "Status", ""), "exited") == 0;
    for (int i = 0; container != NULL && !ended && i < LOOKS; i++) {
        clock_pause(look_s);
        json_decref(container);
        container = docker_container(ctx, id, err);
        ended = strcmp(value_str(value_get(container, "State"), "Status", ""), "exited") == 0;
    }
    if (container == NULL)
        return err->code;
    if (!ended)
        json_object_set_new(ret, "Warnings", json_pack("[s]", "Container state is not 'exited'"));
    json_object_set(ret, "ExitCode", value_get(value_get(container, "State"), "ExitCode"));
    return 0;
}

/* Makes, connects and starts a container, and waits for its output unless bg=True. What was made so far is in
 * the error when one of the steps fails. */
int
docker_fn_run_container(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const log_names[] = { "stdout", "stderr", "stream", "timestamps",
                                             "tail",   "since",  "follow", "until" };
    json_auto_t *given = json_deep_copy(value_get(args, "kwargs"));
    json_auto_t *networks = run_networks(value_get(args, "networks"), err);
    json_t *removed = NULL;
    int64_t start = clock_mono_ms();

    if (networks == NULL || make_room(ctx, args, &removed, err) < 0)
        return err->code;
    json_auto_t *gone = removed;
    for (size_t i = 0; i < NELEMS(log_names); i++)
        /* Arguments of docker.logs, which Salt takes here and has no use for. */
        json_object_del(given, log_names[i]);
    /* Read now, as the translation moves `rm` to its other name. */
    bool removes = value_truthy(value_get(given, "auto_remove")) || value_truthy(value_get(given, "rm"));
    json_auto_t *ret = make_container(ctx, args, given, err);
    AUTO_FREE char *name = ret != NULL ? dockerlife_made_name(ctx, args, ret, err) : NULL;
    if (name == NULL)
        return err->code;
    const char *id = value_str(ret, "Id", "");
    if (value_truthy(gone))
        json_object_set(ret, "Replaces", gone);
    json_object_set_new(ret, "Name", json_string(name));
    bool background = value_bool(args, "bg", false);
    fail_auto_t bad = FAIL_INIT;
    const char *net;
    json_t *conf;
    /* The networks are connected before the start: the program inside finds its addresses. */
    json_object_foreach (networks, net, conf) {
        json_auto_t *names = json_pack("[s, s]", id, net);
        json_t *answer = NULL;
        if (bad.code == 0 && ctx_call(ctx, "docker.connect_container_to_network", names,
                                      json_is_object(conf) ? conf : NULL, &answer, &bad) == 0)
            json_decref(answer);
    }
    json_auto_t *started = bad.code == 0 ? change_state(ctx, id, "start", "running", NULL, 0, &bad) : NULL;
    if (started == NULL || (!background && collect_run(ctx, id, removes, ret, &bad) < 0)) {
        json_auto_t *info = json_pack("{s:O}", "return", ret);
        AUTO_FREE char *text = docker_with_info(fail_text(&bad), info);
        return fail_kind(err, FAIL_COMMAND, bad.code, "%s", text);
    }
    json_object_set_new(ret, "Time_Elapsed", elapsed_since(start));
    return changed(ctx, json_incref(ret), ret_value, err);
}
