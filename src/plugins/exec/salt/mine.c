/* mine.c - execution module `mine`: returns of functions that the master keeps for other minions. Without a
 * master (file_client: local) the minion keeps them itself, in datastore.h. What the master may hand to whom
 * is decided there (allow_tgt, mine_get); this file sends, asks and deletes. mine_functions are read by
 * Salt's rules, with each form of their definitions. */
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "common/plugin/call.h"
#include "plugins/lib/salt/datastore.h"
#include "salt/log.h"
#include "salt/value.h"

#define STORE_KEY "mine_cache"
/* Salt's markers of a mine value that is restricted to some minions. */
#define ACL_ID    "__saltmine_acl__"
#define ACL_DATA  "__data__"

/* Without a master; the master as a minion asks itself. */
static bool
exec_mine_is_local(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_opts(ctx), "file_client", "remote"), "local") &&
           !str_eq(value_str(ctx_opts(ctx), "__role", ""), "master");
}

/* NEW object, or NULL with *err: who stores it again would lose what could not be read. The object is {alias:
 * value}. */
static json_t *
mine_load(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);
    json_t *mine = value_get(data, STORE_KEY);

    if (data == NULL)
        return NULL;
    return json_is_object(mine) ? json_incref(mine) : json_object();
}

/* `data` BORROWED. True in *ret_value. */
static int
mine_store(call_ctx_t *ctx, json_t *data, json_t **ret_value, fail_t *err)
{
    int rc = datastore_set(ctx, STORE_KEY, data, err);
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* The master's answer to one operation on the mine. TAKES `ask`. */
static int
mine_ask(call_ctx_t *ctx, json_t *ask, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:o}", "op", "ask", "ask", ask);
    fail_auto_t why = FAIL_INIT;

    json_object_set_new(ask, "what", json_string("mine"));
    int rc = ctx_host(ctx, request, ret_value, &why);
    return rc < 0 ? fail_kind(err, FAIL_COMMAND, rc, "The mine: %s", fail_text(&why)) : 0;
}

/* Adds values to the mine, or replaces all of them with `clear`. The master, too, merges unless it is told to
 * clear. */
static int
mine_add(call_ctx_t *ctx, json_t *data, bool clear, json_t **ret_value, fail_t *err)
{
    if (!exec_mine_is_local(ctx))
        return mine_ask(ctx, json_pack("{s:s, s:O, s:b}", "op", "send", "data", data, "clear", clear),
                        ret_value, err);
    json_auto_t *all = clear ? json_object() : mine_load(ctx, err);

    if (all == NULL)
        return err->code;
    json_object_update(all, data);
    return mine_store(ctx, all, ret_value, err);
}

/* ---- definitions -------------------------------------------------------------------------------------- */

/* {alias: {mine_function, allow_tgt, ...}} or {alias: [args and {kwargs}]}: what to call. A list is the older
 * form, a mapping the newer one. The function is mine_function or, without it, the alias. allow_* stay out of
 * the function's arguments. */
typedef struct definition {
    char *fun;             /* owned */
    json_t *args, *kwargs; /* owned */
    json_t *allow, *allow_type;
} definition_t;

/* NEW; NULL for null. An empty allow_tgt is for nobody, and not for everybody. */
static json_t *
exec_mine_take(json_t *kwargs, const char *key)
{
    json_t *v = json_incref(value_get(kwargs, key));

    json_object_del(kwargs, key);
    if (!json_is_null(v))
        return v;
    json_decref(v);
    return NULL;
}

/* Everything in `d` is NEW: definition_free() in any case. Mappings of a list are keywords, its other
 * elements positional. */
static void
definition_init(definition_t *d, const char *alias, const json_t *spec)
{
    json_t *item;
    size_t i;

    *d = (definition_t){ .args = json_array(), .kwargs = json_object() };
    if (json_is_object(spec))
        json_object_update(d->kwargs, (json_t *) spec);
    json_array_foreach (spec, i, item) {
        if (json_is_object(item))
            json_object_update(d->kwargs, item);
        else
            json_array_append(d->args, item);
    }
    json_auto_t *fun = exec_mine_take(d->kwargs, "mine_function");
    d->fun = xstrdup(json_is_string(fun) && json_string_length(fun) > 0 ? json_string_value(fun) : alias);
    d->allow = exec_mine_take(d->kwargs, "allow_tgt");
    d->allow_type = exec_mine_take(d->kwargs, "allow_tgt_type");
}

static void
definition_free(definition_t *d)
{
    free(d->fun);
    json_decref(d->args);
    json_decref(d->kwargs);
    json_decref(d->allow);
    json_decref(d->allow_type);
}

/* Logs an error for a function that does not exist. */
static bool
exec_mine_is_available(call_ctx_t *ctx, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    if (ctx_find_named(ctx, fun, &err) != NULL)
        return true;
    log_error("Function %s in mine_functions not available", fun);
    return false;
}

/* Calls it and puts the value into `mine`; false with *err when it failed. With allow_tgt the value goes in an
 * envelope that the master opens for those targets alone. */
static bool
exec_mine_gather(call_ctx_t *ctx, const char *alias, const definition_t *d, json_t *mine, const char *who,
                 fail_t *err)
{
    json_t *value = NULL;

    if (ctx_find_named(ctx, d->fun, err) == NULL ||
        ctx_call(ctx, d->fun, d->args, d->kwargs, &value, err) < 0) {
        log_error("Function %s in %s failed to execute: %s", d->fun, who, fail_text(err));
        return false;
    }
    if (d->allow != NULL) {
        value = json_pack("{s:o, s:i, s:O}", ACL_DATA, value, ACL_ID, 1, "allow_tgt", d->allow);
        if (d->allow_type != NULL)
            json_object_set(value, "allow_tgt_type", d->allow_type);
    }
    json_object_set_new(mine, alias, value);
    return true;
}

/* mine_functions of configuration and pillar. NEW object, maybe empty; NULL with *err. config.merge joins
 * mappings of both, the configuration being the stronger. */
static json_t *
configured(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *args = json_pack("[s, {}]", "mine_functions");
    json_t *found = NULL;

    if (ctx_call(ctx, "config.merge", args, NULL, &found, err) < 0)
        return NULL;
    if (json_is_object(found))
        return found;
    json_decref(found);
    return json_object();
}

/* ---- update, send ------------------------------------------------------------------------------------- */

/* NEW object of what was asked for; NULL with *err or when that is nothing. A list names functions without
 * arguments. Null and nothing: the configured ones. */
static json_t *
exec_mine_wanted(call_ctx_t *ctx, json_t *given, fail_t *err)
{
    json_t *functions, *name;
    size_t i;

    if (!value_truthy(given))
        return configured(ctx, err);
    if (json_is_object(given))
        return json_incref(given);
    functions = json_object();
    json_array_foreach (given, i, name)
        json_object_set_new(functions, json_is_string(name) ? json_string_value(name) : "", json_object());
    return functions;
}

/* Functions that fail are logged and left out. None when nothing is configured, and the mine stays as it is
 * then. */
static int
exec_mine_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *functions = exec_mine_wanted(ctx, value_get(args, "mine_functions"), err);
    json_auto_t *mine = json_object();
    const char *alias;
    json_t *spec;

    if (functions == NULL)
        return -EINVAL;
    if (json_object_size(functions) == 0) {
        *ret_value = json_null();
        return 0;
    }
    json_object_foreach (functions, alias, spec) {
        fail_auto_t why = FAIL_INIT;
        definition_t d;
        definition_init(&d, alias, spec);
        if (exec_mine_is_available(ctx, d.fun))
            (void) exec_mine_gather(ctx, alias, &d, mine, "mine.update", &why);
        definition_free(&d);
    }
    return mine_add(ctx, mine, value_bool(args, "clear", false), ret_value, err);
}

/* Calls one function; False when it fails. Positional arguments stand behind those of the definition. */
static int
mine_send(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *mine = json_object();
    definition_t d;

    definition_init(&d, name, value_get(args, "kwargs"));
    json_array_extend(d.args, value_get(args, "args"));
    fail_auto_t why = FAIL_INIT;
    bool done = exec_mine_gather(ctx, name, &d, mine, "mine.send", &why);
    AUTO_FREE char *unknown = done || why.kind != FAIL_UNAVAILABLE ? NULL : call_unknown(ctx, d.fun, &why);
    definition_free(&d);
    if (done)
        return mine_add(ctx, mine, false, ret_value, err);
    ctx_absent(ctx, "Nothing was put into the mine: %s", unknown != NULL ? unknown : fail_text(&why));
    *ret_value = json_false();
    return 0;
}

/* Configured functions that exist, in Salt's shape. An alias of another function is shown as {alias:
 * {function: [arguments]}}. Functions that are not there are left out. */
static int
mine_valid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *functions = configured(ctx, err);
    const char *alias, *key;
    json_t *spec, *v;

    if (functions == NULL)
        return -EINVAL;
    *ret_value = json_object_size(functions) > 0 ? json_object() : json_null();
    json_object_foreach (functions, alias, spec) {
        definition_t d;
        definition_init(&d, alias, spec);
        if (exec_mine_is_available(ctx, d.fun) && strcmp(d.fun, alias) != 0) {
            json_t *list = json_incref(d.args);
            json_object_foreach (d.kwargs, key, v)
                json_array_append_new(list, json_pack("{s:O}", key, v));
            json_object_set_new(*ret_value, alias, json_pack("{s:o}", d.fun, list));
        } else if (ctx_has(ctx, d.fun)) {
            json_object_set(*ret_value, alias, spec);
        }
        definition_free(&d);
    }
    return 0;
}

/* ---- get, delete, flush ------------------------------------------------------------------------------- */

/* Matches this minion against a target: 1, 0, or a negative errno. Without a master the one minion in
 * question is this one. */
static int
exec_mine_is_target(call_ctx_t *ctx, const char *type, json_t *tgt, fail_t *err)
{
    static const char *const types[] = { "glob",   "pcre",     "list",   "grain",       "grain_pcre",
                                         "ipcidr", "compound", "pillar", "pillar_pcre", "nodegroup" };
    AUTO_FREE char *fun = xasprintf("match.%s", type);
    json_auto_t *args = json_pack("[O]", tgt);
    json_auto_t *answer = NULL;
    bool known = false;

    for (size_t i = 0; i < NELEMS(types); i++)
        known = known || strcmp(types[i], type) == 0;
    if (!known)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "the target type '%s' is unknown", type);
    int rc = ctx_call(ctx, fun, args, NULL, &answer, err);
    return rc < 0 ? rc : value_truthy(answer);
}

/* The names in "a,b" or a list. NEW array. */
static json_t *
exec_mine_names_of(const json_t *fun)
{
    json_t *names = json_array();

    if (json_is_array(fun))
        json_array_extend(names, (json_t *) fun);
    char **words = str_split(json_is_string(fun) ? json_string_value(fun) : "", ",", true);
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(names, json_string(words[i]));
    strv_free(words);
    return names;
}

/* One function asked for by a text: {id: value}; a list, or several: {function: {id: value}}. */
static void
add_found(call_ctx_t *ctx, json_t *found, const json_t *mine, const char *name, bool by_name)
{
    json_t *value = value_get(mine, name), *data = value_get(value, ACL_DATA);

    if (value == NULL)
        return;
    value = value_get(value, ACL_ID) != NULL && data != NULL ? data : value;
    if (by_name)
        json_object_set_new(found, name, json_pack("{s:O}", ctx_id(ctx), value));
    else
        json_object_set(found, ctx_id(ctx), value);
}

static int
exec_mine_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *fun = value_get(args, "fun");

    if (!exec_mine_is_local(ctx)) {
        /* The master's answer is {id: value}. */
        json_t *ask = json_pack("{s:s, s:O, s:O, s:O}", "op", "get", "tgt", value_get(args, "tgt"),
                                "tgt_type", value_get(args, "tgt_type"), "fun", value_get(args, "fun"));
        /* The master knows which minions the target means. */
        int rc = mine_ask(ctx, ask, ret_value, err);
        if (rc == 0 && value_bool(args, "exclude_minion", false))
            json_object_del(*ret_value, ctx_id(ctx));
        return rc;
    }
    json_auto_t *names = exec_mine_names_of(fun), *found = json_object();
    json_t *name;
    size_t i;
    int target = exec_mine_is_target(ctx, value_str(args, "tgt_type", "glob"), value_get(args, "tgt"), err);

    if (target < 0)
        return target;
    json_auto_t *mine = target > 0 ? mine_load(ctx, err) : json_object();
    if (mine == NULL)
        return err->code;
    json_array_foreach (names, i, name)
        add_found(ctx, found, mine, json_is_string(name) ? json_string_value(name) : "",
                  json_is_array(fun) || json_array_size(names) > 1);
    *ret_value = json_incref(found);
    return 0;
}

/* Also of a function that the mine does not have. */
static int
mine_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!exec_mine_is_local(ctx))
        return mine_ask(ctx, json_pack("{s:s, s:O}", "op", "delete", "fun", value_get(args, "fun")),
                        ret_value, err);
    json_auto_t *mine = mine_load(ctx, err);

    if (mine == NULL)
        return err->code;
    json_object_del(mine, value_str(args, "fun", ""));
    return mine_store(ctx, mine, ret_value, err);
}

/* All that this minion gave; other minions' values are theirs. */
static int
mine_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!exec_mine_is_local(ctx))
        return mine_ask(ctx, json_pack("{s:s}", "op", "flush"), ret_value, err);
    json_auto_t *mine = json_object();
    return mine_store(ctx, mine, ret_value, err);
}

/* ---- containers of hosts ------------------------------------------------------------------------------ */

/* Adds the IPv4 addresses of one interface that are in one of the networks, each once. NULL networks: all. */
static void
mine_add_addresses(json_t *addresses, const json_t *interface, const json_t *cidrs)
{
    json_t *one, *cidr;
    size_t i, k;

    json_array_foreach (value_get(interface, "inet"), i, one) {
        const char *text = value_str(one, "address", "");
        bool fits = cidrs == NULL;
        ip_t ip;
        if (ip_parse(text, &ip, NULL) != 0)
            continue;
        json_array_foreach (cidrs, k, cidr) {
            AUTO_FREE char *net_text = value_pystr(cidr);
            ipnet_t net;
            fits = fits || (ipnet_parse(net_text, true, &net, NULL) == 0 && ipnet_contains(&net, &ip));
        }
        if (fits && !value_lists(addresses, text))
            json_array_append_new(addresses, json_string(text));
    }
}

/* The addresses of a host that are asked for. NEW list. */
static json_t *
mine_host_addresses(const json_t *host, const json_t *names, const json_t *cidrs)
{
    json_t *addresses = json_array(), *interfaces = value_get(host, "interfaces"), *one;
    const char *name;
    size_t i;

    if (names == NULL)
        json_object_foreach (interfaces, name, one)
            mine_add_addresses(addresses, one, cidrs);
    json_array_foreach (names, i, one) {
        AUTO_FREE char *wanted = value_pystr(one);
        mine_add_addresses(addresses, value_get(interfaces, wanted), cidrs);
    }
    return addresses;
}

/* Adds a container's ports under its image: {"ipv4": {private port: ["address:port"]}}; with `id` [that, id]
 * instead. A port that listens everywhere (0.0.0.0) is told with each address of its host; one without a
 * public address is not told. */
static void
mine_add_container(json_t *images, const json_t *container, const json_t *addresses, json_t *id)
{
    json_t *port, *address, *image = value_get(container, "Image"), *ports = value_get(container, "Ports");
    size_t i, k;

    if (!json_is_string(image))
        return;
    if (value_get(images, json_string_value(image)) == NULL)
        json_object_set_new(images, json_string_value(image), json_object());
    json_t *of = value_get(images, json_string_value(image));
    json_array_foreach (ports, i, port) {
        json_t *ip = value_get(port, "IP");
        bool is_any = str_eq(json_string_value(ip), "0.0.0.0");
        json_auto_t *own = json_pack("[O]", value_truthy(ip) ? ip : json_null());
        AUTO_FREE char *inside = value_pystr(value_get(port, "PrivatePort"));
        AUTO_FREE char *outside = value_pystr(value_get(port, "PublicPort"));
        json_array_foreach (is_any ? addresses : value_truthy(ip) ? own : NULL, k, address) {
            AUTO_FREE char *ip_text = value_pystr(address), *text = xasprintf("%s:%s", ip_text, outside);
            json_auto_t *value = id != NULL ? json_pack("[s, O]", text, id) : json_string(text);
            if (value_get(of, "ipv4") == NULL)
                json_object_set_new(of, "ipv4", json_object());
            if (value_get(value_get(of, "ipv4"), inside) == NULL)
                json_object_set_new(value_get(of, "ipv4"), inside, json_array());
            json_t *list = value_get(value_get(of, "ipv4"), inside);
            if (!value_has(list, value))
                json_array_append(list, value);
        }
    }
}

/* An argument that is one value or a list: NEW list; NULL for none. */
static json_t *
mine_listed(json_t *given)
{
    return !value_truthy(given) ? NULL : json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
}

/* {image: {"ipv4": {port: [address:port]}}} over all minions whose mine has docker.ps, whose answer has the
 * host's interfaces under "host" beside its containers. */
static int
mine_get_docker(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = mine_listed(value_get(args, "interfaces")),
                *cidrs = mine_listed(value_get(args, "cidrs"));
    json_auto_t *all = json_pack("[s, s]", "*", "docker.ps"), *hosts = NULL;
    json_t *containers, *container, *images;
    const char *minion, *name;

    if (ctx_call(ctx, "mine.get", all, NULL, &hosts, err) < 0)
        return err->code;
    images = *ret_value = json_object();
    json_object_foreach (hosts, minion, containers) {
        json_auto_t *addresses = mine_host_addresses(value_get(containers, "host"), names, cidrs);
        json_object_foreach (containers, name, container) {
            json_t *id = value_get(value_get(container, "Info"), "Id");
            if (strcmp(name, "host") != 0)
                mine_add_container(images, container, addresses,
                                   value_bool(args, "with_container_id", false) && id != NULL ? id : NULL);
        }
    }
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------------- */

static const arg_t update_args[] = {
    ARG("clear", ARG_BOOL, "false", "Forget what was kept before"),
    ARG("mine_functions", ARG_ANY, "null", "These functions instead of the configured ones"),
    ARGS_END,
};
static const arg_t send_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The name to keep it by, and the function unless mine_function says"),
    ARG("args", ARG_ANY, ARG_STAR, "Arguments of the function"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "mine_function, allow_tgt, allow_tgt_type, and the function's own"),
    ARGS_END,
};
static const arg_t get_args[] = {
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "The minions"),
    ARG("fun", ARG_ANY, ARG_REQUIRED, "The name, several with commas between, or a list"),
    ARG("tgt_type", ARG_STR, "\"glob\"", "The kind of target"),
    ARG("exclude_minion", ARG_BOOL, "false", "Leave this minion out of what a master gives"),
    ARGS_END,
};
static const arg_t docker_args[] = {
    ARG("interfaces", ARG_ANY, "null", "Only addresses of this interface of the hosts, or of a list of them"),
    ARG("cidrs", ARG_ANY, "null", "Only addresses in this network, or a list of them"),
    ARG("with_container_id", ARG_BOOL, "false", "Pairs of an address and the container's id instead"),
    ARGS_END,
};
static const arg_t fun_args[] = { ARG("fun", ARG_STR, ARG_REQUIRED, "The name"), ARGS_END };

static const func_t funcs[] = {
    { "delete", mine_delete, fun_args, 0,
      "Forget what one function returned." CLI_EXAMPLE("salt '*' mine.delete 'network.interfaces'") },
    { "flush", mine_flush, NULL, 0, "Forget everything." CLI_EXAMPLE("salt '*' mine.flush") },
    { "get", exec_mine_get, get_args, FN_READONLY | FN_PEER,
      "Return what functions returned on the minions of a target, by minion." CLI_EXAMPLE(
          "salt '*' mine.get '*' network.interfaces\n    "
          "salt '*' mine.get 'os:Fedora' network.interfaces grain"),
      MORE_OF(.finds = "fun",
              .absent = "No minion of the target has put '{}' into the mine, or not for this one",
              .undefined = "{}") },
    { "get_docker", mine_get_docker, docker_args, FN_READONLY | FN_PEER,
      "Return where ports of containers are reached, by image and port, as the minions put ``docker.ps`` with verbose=True "
      "and host=True into the mine." CLI_EXAMPLE(
          "salt '*' mine.get_docker\n    salt '*' mine.get_docker interfaces='[\"eth0\", \"eth1\"]' cidrs='172.17.42.0/24'") },
    { "send", mine_send, send_args, FN_CALLS,
      "Call a function and keep its value." CLI_EXAMPLE(
          "salt '*' mine.send network.ip_addrs interface=eth0\n    "
          "salt '*' mine.send eth0_ip_addrs mine_function=network.ip_addrs interface=eth0") },
    { "update", exec_mine_update, update_args, FN_CALLS,
      "Call the functions under ``mine_functions`` and keep their values." CLI_EXAMPLE(
          "salt '*' mine.update") },
    { "valid", mine_valid, NULL, FN_READONLY,
      "Return the valid entries of ``mine_functions``." CLI_EXAMPLE("salt '*' mine.valid") },
};

PLUGIN(exec, mine, .doc = "Values of functions, kept for other minions", FUNCS(funcs));
