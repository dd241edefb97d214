/* docker_volume.c - state module `docker_volume`: volumes of a Docker Engine or of podman. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/docker/dockerstate.h"

/* The volume: NEW; null when there is none, NULL with *err. */
static json_t *
find_volume(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *all = sub_call(ctx, err, "docker.volumes", NULL);
    json_t *one;
    size_t i;

    if (all == NULL)
        return NULL;
    json_array_foreach (value_get(all, "Volumes"), i, one) {
        if (strcmp(value_str(one, "Name", ""), name) == 0)
            return json_incref(one);
    }
    return json_null();
}

/* Runs a function whose return is changes[key]; a failure is the comment. */
static int
change_by(call_ctx_t *ctx, json_t *ret, const char *key, json_t *done, const char *verb, const char *name,
          fail_t *err)
{
    if (done == NULL) {
        state_ret_set(ret, STATE_FALSE, "Failed to %s volume '%s': %s", verb, name, fail_text(err));
        fail_clear(err);
        return -EIO;
    }
    state_change(ret, key, done);
    return 0;
}

/* A volume's driver can't be changed, so a volume of another one is replaced, if `force` allows that. Options
 * are not compared. */
static int
docker_volume_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *driver = value_str(args, "driver", NULL);
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *volume = find_volume(ctx, name, err);
    json_auto_t *options = docker_repacked(value_get(args, "driver_opts"));
    bool there = json_is_object(volume);
    const char *has = value_str(volume, "Driver", "");

    if (volume == NULL)
        return state_ret_fail(ret, err);
    if (there && (driver == NULL || strcmp(has, driver) == 0))
        return state_ret_set(ret, STATE_TRUE, "Volume '%s' already exists.", name);
    if (there && !value_bool(args, "force", false))
        return state_ret_set(
            ret, ctx_test(ctx) ? STATE_NONE : STATE_FALSE,
            "Driver for existing volume '%s' ('%s') does not match specified driver ('%s') and force is "
            "False",
            name, has, driver);
    if (ctx_test(ctx))
        return there ? state_ret_set(ret, STATE_NONE,
                                     "The volume '%s' will be replaced with a new one using the driver '%s'",
                                     name, driver)
                     : state_ret_set(ret, STATE_NONE, "The volume '%s' will be created", name);
    if (there &&
        change_by(ctx, ret, "removed", sub_call(ctx, err, "docker.remove_volume", "{s:s}", "name", name),
                  "remove", name, err) < 0)
        return 0;
    return change_by(ctx, ret, "created",
                     sub_call(ctx, err, "docker.create_volume", "{s:s, s:O, s:O}", "name", name, "driver",
                              value_get(args, "driver"), "driver_opts", options),
                     "create", name, err) < 0
               ? 0
               : state_ret_set(ret, STATE_TRUE, "%s", "");
}

/* The engine refuses a volume in use, which fails the state. */
static int
docker_volume_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *volume = find_volume(ctx, name, err);

    if (volume == NULL)
        return state_ret_fail(ret, err);
    if (!json_is_object(volume))
        return state_ret_set(ret, STATE_TRUE, "Volume '%s' already absent", name);
    if (ctx_test(ctx)) {
        state_change(ret, "removed", json_true());
        return state_ret_set(ret, STATE_NONE, "The volume '%s' will be removed", name);
    }
    (void) change_by(ctx, ret, "removed", sub_call(ctx, err, "docker.remove_volume", "{s:s}", "name", name),
                     "remove", name, err);
    return 0;
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the volume"),
    ARG("driver", ARG_STR, "null", "Its driver"),
    ARG("driver_opts", ARG_ANY, "null", "Options of the driver"),
    ARG("force", ARG_BOOL, "false", "Replace one that has another driver"),
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the volume"),
    ARG("driver", ARG_STR, "null", "Accepted for Salt's sake"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", docker_volume_state_absent, absent_args, 0, "The volume is not there." },
    { "present", docker_volume_state_present, present_args, 0, "The volume is there." },
};

PLUGIN(state, docker_volume, .doc = "Volumes of a Docker Engine", FUNCS(funcs));
