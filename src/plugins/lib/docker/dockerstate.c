/* dockerstate.c - see dockerstate.h. */
#include "plugins/lib/docker/dockerstate.h"

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"

/* Salt's join: no dot behind a single part, which may have one. */
void
docker_comment(json_t *ret, const json_t *parts)
{
    AUTO_FREE char *text = value_joined(parts, ". ");

    json_object_set_new(ret, "comment", value_fmt("%s%s", text, json_array_size(parts) > 1 ? "." : ""));
}

/* {NAME: conf} of a list of names and of objects of one name, of a text, or of an object. NEW, or NULL. */
static json_t *
named_networks(json_t *given)
{
    json_auto_t *list = json_is_array(given) || json_is_object(given) ? json_incref(given)
                                                                      : docker_stringlist(given);
    json_auto_t *out = json_object();
    json_t *one;
    size_t i;

    if (json_is_object(list))
        return json_deep_copy(list);
    json_array_foreach (list, i, one) {
        AUTO_FREE char *name = value_pystr(one);
        if (json_is_object(one) && json_object_size(one) == 1)
            json_object_update(out, one);
        else if (json_is_string(one) || json_is_number(one))
            json_object_set_new(out, name, json_null());
        else
            return NULL;
    }
    return json_incref(out);
}

/* A network's own settings, repacked. NEW, or NULL with *err. */
static json_t *
network_conf(const char *name, json_t *given, fail_t *err)
{
    static const char *const lists[] = { "links", "aliases" };
    json_auto_t *packed = given == NULL || json_is_null(given) ? json_object() : docker_repacked(given);
    json_auto_t *conf = json_is_object(packed) ? json_copy(packed) : NULL;

    if (conf == NULL || (!json_is_null(given) && json_object_size(conf) == 0 && !json_is_object(given))) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Invalid configuration for network '%s' (see documentation)", name);
        return NULL;
    }
    for (size_t i = 0; i < NELEMS(lists); i++) {
        json_t *v = value_get(conf, lists[i]);
        if (v != NULL && !json_is_null(v))
            json_object_set_new(conf, lists[i], docker_stringlist(v));
    }
    return json_incref(conf);
}

/* Each network must be there before a container is made: the engine would tell of the first that is missing
 * only. */
static int
check_present(call_ctx_t *ctx, const json_t *wanted, fail_t *err)
{
    json_auto_t *there = sub_call(ctx, err, "docker.networks", NULL);
    json_auto_t *names = json_array();
    json_auto_t *missing = json_array();
    json_t *one;
    size_t i;

    if (there == NULL) {
        AUTO_FREE char *text = xstrdup(fail_text(err));
        fail_clear(err);
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Failed to get list of existing networks: %s.", text);
    }
    json_array_foreach (there, i, one)
        json_array_append(names, value_get(one, "Name"));
    json_auto_t *keys = value_sorted_keys(wanted);
    json_array_foreach (keys, i, one) {
        if (!value_has(names, one))
            json_array_append(missing, one);
    }
    AUTO_FREE char *text = value_joined(missing, ", ");
    return *text == '\0'
               ? 0
               : fail_kind(err, FAIL_COMMAND, -ENOENT, "The following networks are not present: %s", text);
}

/* All values that are missing are told at once. */
json_t *
docker_wanted_networks(call_ctx_t *ctx, json_t *given, fail_t *err)
{
    json_auto_t *bad = json_array();
    json_auto_t *out = json_object();
    const char *name, *key;
    json_t *conf, *v;

    if (!value_truthy(given))
        return json_incref(out);
    json_auto_t *named = named_networks(given);
    if (named == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid network configuration (see documentation)");
        return NULL;
    }
    json_object_foreach (named, name, conf) {
        json_t *own = network_conf(name, conf, err);
        if (own == NULL)
            return NULL;
        json_object_set_new(out, name, own);
        json_object_foreach (own, key, v) {
            if (json_is_null(v))
                json_array_append_new(
                    bad, value_fmt("Config option '%s' for network '%s' is missing a value", key, name));
        }
    }
    if (json_array_size(bad) > 0) {
        AUTO_FREE char *text = value_joined(bad, ". ");
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s%s", text, json_array_size(bad) > 1 ? "." : "");
        return NULL;
    }
    return check_present(ctx, out, err) < 0 ? NULL : json_incref(out);
}

json_t *
docker_resolved_image(call_ctx_t *ctx, const char *image, json_t *timeout, json_t *ret, fail_t *err)
{
    json_t *id = sub_call(ctx, err, "docker.resolve_image_id", "{s:s}", "name", image);

    if (id == NULL || !json_is_false(id) || ctx_test(ctx))
        return id;
    json_t *pulled = sub_call(ctx, err, "docker.pull", "{s:s, s:O}", "image", image, "client_timeout",
                              timeout);
    if (pulled == NULL) {
        AUTO_FREE char *why = xstrdup(fail_text(err));
        fail_clear(err);
        (void) fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Failed to pull %s: %s", image, why);
        return NULL;
    }
    state_change(ret, "image", pulled);
    id = sub_call(ctx, err, "docker.resolve_image_id", "{s:s}", "name", image);
    if (id != NULL && json_is_false(id))
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "Image '%s' not present despite a docker pull raising no errors", image);
    return err->code < 0 ? NULL : id;
}
