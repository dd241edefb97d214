/* docker_network.c - state module `docker_network`: networks of a Docker Engine or of podman. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/docker/dockerstate.h"

/* The state's run; whoever makes it frees what it owns. */
typedef struct netstate {
    call_ctx_t *ctx;
    json_t *args, *ret;
    fail_t *err;
    const char *name;
    json_t *network; /* owned: what is there; NULL: nothing */
    json_t *body;    /* owned: translated arguments, with ipam */
    json_t *before;  /* owned: containers that the old one had, by id */
    bool replaced;
} netstate_t;

/* The engine's network of that name. NEW, or NULL with *err: -ENOENT for none. */
static json_t *
docker_network_now(netstate_t *self)
{
    return sub_call(self->ctx, self->err, "docker.inspect_network", "{s:s}", "network_id", self->name);
}

/* The running containers that the state names, {id: {"Name"}}; others are warnings. NEW, or NULL with *err. */
static json_t *
wanted_containers(netstate_t *self)
{
    json_t *given = value_get(self->args, "containers"), *one;
    json_auto_t *names = value_truthy(given) ? docker_stringlist(given) : json_array();
    json_auto_t *out = json_object();
    json_auto_t *missing = json_array();
    json_auto_t *stopped = json_array();
    size_t i;

    json_array_foreach (names, i, one) {
        json_auto_t *container = sub_call(self->ctx, self->err, "docker.inspect_container", "{s:O}", "name",
                                          one);
        if (container == NULL && self->err->code != -ENOENT)
            return NULL;
        fail_clear(self->err);
        if (container == NULL)
            json_array_append(missing, one);
        else if (!value_truthy(value_path(container, "State:Running", ":")))
            json_array_append(stopped, one);
        else
            json_object_set_new(out, value_str(container, "Id", ""), json_pack("{s:O}", "Name", one));
    }
    AUTO_FREE char *lost = value_joined(missing, ", ");
    AUTO_FREE char *still = value_joined(stopped, ", ");
    if (*lost != '\0')
        state_ret_warn(self->ret, "The following containers do not exist: %s.", lost);
    if (*still != '\0')
        state_ret_warn(self->ret, "The following containers are not running: %s.", still);
    return json_incref(out);
}

/* The state's arguments as the engine takes them, with ipam. False with the comment. */
static bool
docker_network_wanted(netstate_t *self)
{
    docker_way_t way = docker_way(self->args);
    json_auto_t *body = docker_translate_network(&way, value_get(self->args, "kwargs"), self->err);
    bool own = value_get(body, "ipam") != NULL, parts = false;
    const char *key;
    json_t *v;

    json_object_foreach (body, key, v)
        parts = parts || docker_ipam_takes(key);
    if (own && parts) {
        state_ret_set(
            self->ret, STATE_FALSE,
            "Cannot mix the 'ipam' argument with any of the IPAM config arguments. See documentation for details.");
        return false;
    }
    json_t *ipam = body != NULL && !own ? docker_ipam(body, self->err) : NULL;
    if (ipam != NULL)
        json_object_set_new(body, "ipam", ipam);
    self->body = body != NULL && self->err->code == 0 ? json_incref(body) : NULL;
    if (self->body == NULL)
        state_ret_fail(self->ret, self->err);
    return self->body != NULL;
}

/* A network of these arguments, as inspect_network would tell it. Only what is given can differ, so none has
 * to be made for that. NEW. */
static json_t *
imagined(const netstate_t *self)
{
    static const char *const names[][2] = { { "driver", "Driver" },         { "options", "Options" },
                                            { "labels", "Labels" },         { "internal", "Internal" },
                                            { "attachable", "Attachable" }, { "ingress", "Ingress" } };
    json_t *out = json_deep_copy(self->network);

    json_object_set_new(out, "Driver", json_string("bridge"));
    json_object_set_new(out, "Options", json_object());
    json_object_set_new(out, "Labels", json_object());
    json_object_set_new(out, "Internal", json_false());
    json_object_set_new(out, "Attachable", json_false());
    json_object_set_new(out, "Ingress", json_false());
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(self->body, names[i][0]);
        if (v != NULL && !json_is_null(v))
            json_object_set(out, names[i][1], v);
    }
    json_object_set_new(out, "EnableIPv6", json_boolean(value_truthy(value_get(self->body, "enable_ipv6"))));
    json_object_set(out, "IPAM", value_get(self->body, "ipam"));
    return out;
}

/* NEW {KEY: {"old", "new"}}. */
static json_t *
docker_network_differences(netstate_t *self)
{
    static const char *const ignored[] = { "Name",  "Id",         "Created",   "Containers",
                                           "Scope", "ConfigFrom", "ConfigOnly" };
    json_auto_t *ignore = json_array();
    json_auto_t *now = json_deep_copy(self->network);
    json_auto_t *wanted = imagined(self);
    json_t *pools = value_path(now, "IPAM:Config", ":"), *pool = json_array_get(pools, 0);

    for (size_t i = 0; i < NELEMS(ignored); i++)
        json_array_append_new(ignore, json_string(ignored[i]));
    /* The pool that the engine chose is none of the state's. */
    if (json_array_size(value_path(wanted, "IPAM:Config", ":")) == 0 && json_array_size(pools) == 1 &&
        json_object_size(pool) == 2 && value_get(pool, "Gateway") != NULL &&
        value_get(pool, "Subnet") != NULL)
        json_array_clear(pools);
    return docker_compare_networks(now, wanted, ignore);
}

/* Disconnects the containers of the network and removes it. False with the comment. */
static bool
remove_network(netstate_t *self, json_t *changes)
{
    json_auto_t *errors = json_array();
    const char *id;
    json_t *one;

    json_object_foreach (value_get(self->network, "Containers"), id, one) {
        const char *name = value_str(one, "Name", id);
        if (sub_call_bool(self->ctx, self->err, "docker.disconnect_container_from_network", "{s:s, s:s}",
                          "container", id, "network_id", self->name) < 0) {
            json_array_append_new(
                errors, value_fmt("Failed to disconnect container '%s' : %s", name, fail_text(self->err)));
            fail_clear(self->err);
            continue;
        }
        if (changes != NULL && value_get(changes, "disconnected") == NULL)
            json_object_set_new(changes, "disconnected", json_array());
        if (changes != NULL)
            json_array_append_new(value_get(changes, "disconnected"), json_string(name));
    }
    AUTO_FREE char *text = value_joined(errors, "\n");
    if (*text != '\0')
        return state_ret_set(self->ret, STATE_FALSE, "%s", text) != 0;
    if (sub_call_bool(self->ctx, self->err, "docker.remove_network", "{s:s}", "network_id", self->name) < 0) {
        state_ret_set(self->ret, STATE_FALSE, "Failed to remove network: %s", fail_text(self->err));
        fail_clear(self->err);
        return false;
    }
    return true;
}

/* Makes the network of the translated arguments. False with the comment. */
static bool
create_network(netstate_t *self)
{
    json_auto_t *kwargs = json_copy(self->body);
    json_t *done = NULL;
    bool again = self->network != NULL;

    json_object_set_new(kwargs, "name", json_string(self->name));
    json_object_set_new(kwargs, "skip_translate", json_true());
    if (ctx_call(self->ctx, "docker.create_network", NULL, kwargs, &done, self->err) < 0) {
        state_ret_set(self->ret, STATE_FALSE, "Failed to create network '%s': %s", self->name,
                      fail_text(self->err));
        fail_clear(self->err);
        return false;
    }
    json_decref(done);
    state_change(self->ret, again ? "recreated" : "created", json_true());
    state_ret_set(self->ret, STATE_TRUE, "Network '%s' %s", self->name,
                  again ? "was replaced with updated config" : "created");
    return true;
}

/* The arguments of a connection that was there before. NEW. */
static json_t *
connection_args(const json_t *info)
{
    static const char *const names[][2] = { { "IPv4Address", "ipv4_address" },
                                            { "IPv6Address", "ipv6_address" },
                                            { "Links", "links" },
                                            { "Aliases", "aliases" } };
    json_t *out = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(info, names[i][0]);
        if (json_is_string(v))
            json_object_set_new(
                out, names[i][1],
                value_fmt("%.*s", (int) strcspn(json_string_value(v), "/"), json_string_value(v)));
        else if (value_truthy(v))
            json_object_set(out, names[i][1], v);
    }
    return out;
}

/* Connects a container, as it was, or as it can be. */
static bool
connect_container(netstate_t *self, const char *id, const json_t *info)
{
    json_auto_t *names = json_pack("[s, s]", id, self->name);
    json_auto_t *as = value_get(self->before, id) != NULL ? connection_args(info) : json_object();
    json_t *answer = NULL;
    int rc = ctx_call(self->ctx, "docker.connect_container_to_network", names, as, &answer, self->err);

    if (rc < 0 && json_object_size(as) > 0) {
        fail_clear(self->err);
        rc = ctx_call(self->ctx, "docker.connect_container_to_network", names, NULL, &answer, self->err);
    }
    json_decref(answer);
    return rc == 0;
}

/* Connects what is not connected; errors go to the comment. */
static void
docker_network_connect_all(netstate_t *self, json_t *wanted)
{
    json_auto_t *errors = json_array();
    json_t *has = self->replaced || self->network == NULL ? NULL : value_get(self->network, "Containers"),
           *info, *changes;
    const char *id;

    json_object_foreach (wanted, id, info) {
        const char *key = value_get(self->before, id) != NULL ? "reconnected" : "connected";
        if (value_get(has, id) != NULL)
            continue;
        if (!ctx_test(self->ctx) && !connect_container(self, id, info)) {
            json_array_append_new(errors, json_string(fail_text(self->err)));
            fail_clear(self->err);
            continue;
        }
        changes = value_get(self->ret, "changes");
        if (value_get(changes, key) == NULL)
            json_object_set_new(changes, key, json_array());
        json_array_append(value_get(changes, key), value_get(info, "Name"));
        if (ctx_test(self->ctx))
            json_object_set_new(self->ret, "result", json_null());
    }
    AUTO_FREE char *text = value_joined(errors, ". ");
    if (*text != '\0')
        state_ret_set(self->ret, STATE_FALSE, "%s. %s.", value_str(self->ret, "comment", ""), text);
    json_object_foreach (self->before, id, info) {
        changes = value_get(self->ret, "changes");
        if (value_get(wanted, id) != NULL)
            continue;
        if (value_get(changes, "disconnected") == NULL)
            json_object_set_new(changes, "disconnected", json_array());
        json_array_append(value_get(changes, "disconnected"), value_get(info, "Name"));
    }
}

/* The network that is there, compared. 1: to be made; 0: it stays, or the state has ended; *ret_end says
 * which. */
static int
look_at_network(netstate_t *self, bool *ret_end)
{
    json_auto_t *changes = docker_network_differences(self);

    *ret_end = false;
    state_ret_set(self->ret, STATE_TRUE, "Network '%s' already exists, and is configured as specified",
                  self->name);
    if (json_object_size(changes) == 0)
        return 0;
    state_change(self->ret, self->name, json_incref(changes));
    if (ctx_test(self->ctx)) {
        *ret_end = true;
        state_change(self->ret, "recreated", json_true());
        return state_ret_set(self->ret, STATE_NONE, "Network would be recreated with new config");
    }

    /* Adds how the containers were connected, so that they can be again. */
    const char *id;
    json_t *one;
    self->before = json_deep_copy(value_get(self->network, "Containers"));
    json_object_foreach (self->before, id, one) {
        json_auto_t *container = sub_call(self->ctx, self->err, "docker.inspect_container", "{s:s}", "name",
                                          id);
        json_t *net = value_get(value_path(container, "NetworkSettings:Networks", ":"), self->name);
        if (value_truthy(value_get(net, "Links")))
            json_object_set(one, "Links", value_get(net, "Links"));
        if (value_truthy(value_get(net, "Aliases")))
            json_object_set(one, "Aliases", value_get(net, "Aliases"));
        fail_clear(self->err);
    }
    if (!remove_network(self, NULL)) {
        *ret_end = true;
        return 0;
    }
    self->replaced = true;
    return 1;
}

/* The arguments are checked before anything is done. 0, or negative with *err. */
static int
docker_network_present_in(netstate_t *self)
{
    json_auto_t *wanted = NULL;
    bool end = false, named = value_truthy(value_get(self->args, "containers"));
    int make = 1;

    self->network = docker_network_now(self);
    if (self->network == NULL && self->err->code != -ENOENT)
        return self->err->code;
    fail_clear(self->err);
    wanted = wanted_containers(self);
    if (wanted == NULL)
        return self->err->code;
    if (!docker_network_wanted(self))
        return 0;
    if (self->network != NULL)
        make = look_at_network(self, &end);
    if (end)
        return 0;
    if (make == 1 && ctx_test(self->ctx)) {
        state_change(self->ret, "created", json_true());
        state_ret_set(self->ret, STATE_NONE, "Network will be created");
    } else if (make == 1 && !create_network(self))
        return 0;
    if (!named && value_bool(self->args, "reconnect", true) && self->before != NULL) {
        json_decref(STEAL(wanted));
        wanted = json_incref(self->before);
    }
    docker_network_connect_all(self, wanted);
    return 0;
}

static int
docker_network_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    netstate_t self = { .ctx = ctx, .args = args, .err = err, .name = value_str(args, "name", "") };

    *ret_value = self.ret = state_ret_args(args);
    int rc = docker_network_present_in(&self);
    json_decref(self.network);
    json_decref(self.body);
    json_decref(self.before);
    return rc < 0 ? state_ret_fail(*ret_value, err) : 0;
}

/* Containers are disconnected first, as the engine keeps a network that is in use. */
static int
docker_network_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    netstate_t self = { .ctx = ctx, .args = args, .err = err, .name = value_str(args, "name", "") };

    *ret_value = self.ret = state_ret_args(args);
    self.network = docker_network_now(&self);
    json_auto_t *own = self.network;
    if (own == NULL && err->code != -ENOENT)
        return state_ret_fail(self.ret, err);
    fail_clear(err);
    if (own == NULL)
        return state_ret_set(self.ret, STATE_TRUE, "Network '%s' already absent", self.name);
    if (ctx_test(ctx)) {
        const char *id;
        json_t *one;
        json_auto_t *names = json_array();
        json_object_foreach (value_get(own, "Containers"), id, one)
            json_array_append_new(names, json_string(value_str(one, "Name", id)));
        if (json_array_size(names) > 0)
            state_change(self.ret, "disconnected", json_incref(names));
        state_change(self.ret, "removed", json_true());
        return state_ret_set(self.ret, STATE_NONE, "Network '%s' will be removed", self.name);
    }
    if (!remove_network(&self, value_get(self.ret, "changes")))
        return 0;
    state_change(self.ret, "removed", json_true());
    return state_ret_set(self.ret, STATE_TRUE, "Removed network '%s'", self.name);
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Name of the network"),
    DOCKER_ROWS_WAY,
    ARG("containers", ARG_ANY, "null", "Containers that are to be connected"),
    ARG("reconnect", ARG_BOOL, "true", "Connect those that a network that is replaced had"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "driver, options, labels, internal, subnet, gateway ..."),
    ARGS_END,
};
static const arg_t absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of the network"), ARGS_END };

static const func_t funcs[] = {
    { "absent", docker_network_state_absent, absent_args, 0, "The network is not there." },
    { "present", docker_network_state_present, present_args, 0, "The network is there, configured so." },
};

PLUGIN(state, docker_network, .doc = "Networks of a Docker Engine", FUNCS(funcs));
