/* dockernets.c - networks and volumes of module `docker`: see dockerfuns.h. Salt's functions name the same
 * things network_id, net_id and name. */
#include "common/base/str.h"
#include "plugins/lib/docker/dockerfuns.h"

static const char *
net_of(const json_t *args, const char *key)
{
    return value_str(args, key, "");
}

static json_t *
dockernets_network_now(call_ctx_t *ctx, const char *name, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/networks/%s", name);

    return engine_get(ctx, err, path);
}

/* Filters by names and ids, both lists. */
int
docker_fn_networks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[][2] = { { "names", "name" }, { "ids", "id" } };
    json_auto_t *filters = json_object();
    json_t *one;
    size_t i;

    for (size_t k = 0; k < NELEMS(names); k++) {
        json_t *v = value_get(args, names[k][0]);
        if (v != NULL && !json_is_null(v))
            json_object_set_new(filters, names[k][1], docker_stringlist(v));
    }
    json_auto_t *query = json_object_size(filters) > 0 ? json_pack("{s:O}", "filters", filters) : NULL;
    json_auto_t *list = engine_json(
        ctx, &(engine_ask_t){ .method = "GET", .path = "/networks", .query = query }, err);
    if (list == NULL)
        return err->code;
    json_array_foreach (list, i, one) {
        fail_auto_t bad = FAIL_INIT;
        /* The list of the API has no containers: each network is asked for its own. One that is gone
         * meanwhile stays as it was listed. */
        json_auto_t *net = dockernets_network_now(ctx, net_of(one, "Id"), &bad);
        if (value_truthy(value_get(net, "Containers")))
            json_object_set(one, "Containers", value_get(net, "Containers"));
    }
    *ret_value = json_incref(list);
    return 0;
}

/* The arguments of address management may be given one by one: they are put together unless `ipam` is
 * there. */
int
docker_fn_create_network(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    docker_way_t way = docker_way(args);
    json_auto_t *given = docker_translate_network(&way, value_get(args, "kwargs"), err);
    bool pools = false;
    const char *key;
    json_t *v;

    if (given == NULL)
        return err->code;
    json_object_foreach (given, key, v)
        pools = pools || docker_ipam_takes(key);
    if (value_get(given, "ipam") == NULL && pools) {
        json_t *ipam = docker_ipam(given, err);
        if (ipam == NULL)
            return err->code;
        json_object_set_new(given, "ipam", ipam);
    }
    json_t *body = docker_network_body(net_of(args, "name"), given, err);
    *ret_value = body != NULL ? engine_post(ctx, err, "/networks/create", NULL, body) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

int
docker_fn_remove_network(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/networks/%s", net_of(args, "network_id"));

    *ret_value = json_true();
    return engine_delete(ctx, err, path, NULL);
}

int
docker_fn_inspect_network(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = dockernets_network_now(ctx, net_of(args, "network_id"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The other arguments are the endpoint's: see docker_endpoint(). */
int
docker_fn_connect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/networks/%s/connect", net_of(args, "net_id"));
    json_t *endpoint = docker_endpoint(value_get(args, "kwargs"), err);

    if (endpoint == NULL)
        return err->code;
    json_auto_t *answer = engine_post(
        ctx, err, path, NULL,
        json_pack("{s:s, s:o}", "Container", net_of(args, "container"), "EndpointConfig", endpoint));
    *ret_value = answer != NULL ? json_true() : NULL;
    return answer != NULL ? 0 : err->code;
}

static int
disconnect(call_ctx_t *ctx, const char *container, const char *network, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/networks/%s/disconnect", network);
    json_auto_t *answer = engine_post(ctx, err, path, NULL, json_pack("{s:s}", "Container", container));

    return answer != NULL ? 0 : err->code;
}

int
docker_fn_disconnect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return disconnect(ctx, net_of(args, "container"), net_of(args, "network_id"), err);
}

/* {NAME: {..., "Id"}} of the containers of a network. NEW, or NULL with *err. */
static json_t *
connected_to(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *net = dockernets_network_now(ctx, name, err);
    json_t *out, *one;
    const char *id;

    if (net == NULL)
        return NULL;
    out = json_object();
    json_object_foreach (value_get(net, "Containers"), id, one) {
        const char *own = value_str(one, "Name", NULL);
        json_t *shown = json_copy(one);
        json_object_del(shown, "Name");
        json_object_set_new(shown, "Id", json_string(id));
        if (own != NULL)
            json_object_set(out, own, shown);
        json_decref(shown);
    }
    return out;
}

int
docker_fn_connected(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = connected_to(ctx, net_of(args, "name"), err);
    json_auto_t *names = json_array();
    const char *name;
    json_t *v;

    if (all == NULL)
        return err->code;
    json_object_foreach (all, name, v)
        json_array_append_new(names, json_string(name));
    *ret_value = json_incref(value_bool(args, "verbose", false) ? all : names);
    return 0;
}

/* A container that is gone by its turn is no failure; what was done is in the error when others are. */
int
docker_fn_disconnect_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *network = net_of(args, "network_id"), *name;
    json_auto_t *all = connected_to(ctx, network, err);
    json_auto_t *done = json_array();
    json_auto_t *failed = json_array();
    json_t *one;

    if (all == NULL)
        return err->code;
    json_object_foreach (all, name, one) {
        fail_auto_t bad = FAIL_INIT;
        if (disconnect(ctx, name, network, &bad) == 0)
            json_array_append_new(done, json_string(name));
        else if (bad.code != -ENOENT)
            json_array_append_new(failed, json_string(fail_text(&bad)));
    }
    if (json_array_size(failed) > 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "removed", done, "errors", failed);
        AUTO_FREE char *text = docker_with_info("One or more containers failed to be removed", info);
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s", text);
    }
    *ret_value = json_incref(done);
    return 0;
}

/* A network as it is given, inspected already, or by its name: NEW, or NULL with *err. */
static json_t *
compared_network(call_ctx_t *ctx, json_t *given, fail_t *err)
{
    AUTO_FREE char *name = value_pystr(given);

    return json_is_object(given) ? json_incref(given) : dockernets_network_now(ctx, name, err);
}

/* By docker_compare_networks(): {} when they are equal. */
int
docker_fn_compare_networks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "ignore");
    json_auto_t *ignore = value_truthy(given) ? docker_stringlist(given) : json_array();
    json_auto_t *first = compared_network(ctx, value_get(args, "first"), err);
    json_auto_t *second = first != NULL ? compared_network(ctx, value_get(args, "second"), err) : NULL;

    if (second == NULL)
        return err->code;
    *ret_value = docker_compare_networks(first, second, ignore);
    return 0;
}

/* ---- volumes ----------------------------------------------------------------------------------- */

/* Booleans of filters become the API's texts. */
int
docker_fn_volumes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *filters = json_object();
    json_auto_t *query = json_pack("{s:O}", "filters", filters);
    const char *key;
    json_t *v;

    json_object_foreach (value_get(args, "filters"), key, v)
        json_object_set_new(filters, key,
                            json_is_boolean(v) ? json_pack("[s]", json_is_true(v) ? "true" : "false")
                                               : docker_stringlist(v));
    *ret_value = engine_json(ctx,
                             &(engine_ask_t){ .method = "GET",
                                              .path = "/volumes",
                                              .query = json_object_size(filters) > 0 ? query : NULL },
                             err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Without a driver it is the engine's default, "local". */
int
docker_fn_create_volume(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *body = json_pack("{s:O}", "Name", value_get(args, "name")), *driver = value_get(args, "driver"),
           *options = value_get(args, "driver_opts");

    if (driver != NULL && !json_is_null(driver))
        json_object_set(body, "Driver", driver);
    if (value_truthy(options))
        json_object_set(body, "DriverOpts", options);
    *ret_value = engine_post(ctx, err, "/volumes/create", NULL, body);
    return *ret_value != NULL ? 0 : err->code;
}

int
docker_fn_remove_volume(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/volumes/%s", net_of(args, "name"));

    *ret_value = json_true();
    return engine_delete(ctx, err, path, NULL);
}

int
docker_fn_inspect_volume(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/volumes/%s", net_of(args, "name"));

    *ret_value = engine_get(ctx, err, path);
    return *ret_value != NULL ? 0 : err->code;
}
