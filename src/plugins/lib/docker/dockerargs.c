/* dockerargs.c - from arguments of containers and networks as users write them to docker-py's: see
 * dockerargs.h. */
#include "plugins/lib/docker/dockerargs.h"

#include <limits.h>
#include <math.h>

#include "common/base/str.h"

/* Salt's conversion of an argument. NEW, or NULL with the text in *bad. */
typedef json_t *take_fn(const docker_way_t *way, const json_t *v, fail_t *bad);

typedef struct row {
    const char *name;
    take_fn *take;
} row_t;

/* The take_* functions below are Salt's translations, one for each kind of argument. Their refusals are its
 * words, and all of a call are collected before the call fails, so that a user mends them in one go. */
static json_t *
dockerargs_take_text(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    AUTO_FREE char *text = value_pystr(v);

    return json_string(text);
}

/* Python's int(): NULL for what is none. */
static json_t *
as_int(const json_t *v)
{
    AUTO_FREE char *text = value_pystr(v);
    long long n;

    if (json_is_integer(v))
        return json_incref((json_t *) v);
    if (json_is_boolean(v))
        return json_integer(json_is_true(v));
    if (json_is_real(v) && fabs(json_real_value(v)) < 0x1p63)
        return json_integer((json_int_t) json_real_value(v));
    return str_to_int(str_trim(text), LLONG_MIN, LLONG_MAX, &n) ? json_integer(n) : NULL;
}

/* NULL with "FMT" about the value. */
static json_t *
refuse(const json_t *v, const char *rest, fail_t *bad)
{
    AUTO_FREE char *text = value_pystr(v);

    (void) fail_set(bad, -EINVAL, "'%s' %s", text, rest);
    return NULL;
}

/* Python's int(): "5", 5.9 and True are numbers too. */
static json_t *
take_int(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_t *n = as_int(v);

    return n != NULL ? n : refuse(v, "is not an integer", bad);
}

/* Python's truth of any value: "false" is true, as in Salt. */
static json_t *
take_bool(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return json_boolean(value_truthy(v));
}

static json_t *
take_dict(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return json_is_object(v) ? json_deep_copy(v) : refuse(v, "is not a dictionary", bad);
}

/* Salt's list of texts: "a,b" on a command line is the list that YAML writes. */
static json_t *
take_list(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return docker_stringlist(v);
}

/* The engine wants words or one text, and docker-py splits the text: see shape_words() in dockerbody.c. */
static json_t *
take_command(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return json_is_array(v) ? docker_stringlist(v) : dockerargs_take_text(way, v, bad);
}

/* "512m" stays a text until dockerbody.c, as docker-py reads the units and a bare number alike. */
static json_t *
take_bytes(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_t *n = as_int(v);

    return n != NULL ? n : dockerargs_take_text(way, v, bad);
}

/* {name: value} of "name=value" texts; an object stays as it is. */
static json_t *
take_pairs(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return docker_key_values(v, '=', bad);
}

/* {container: alias} of "container:alias" texts. */
static json_t *
take_links(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return docker_key_values(v, ':', bad);
}

/* --add-host: "name:address" pairs. The addresses are checked unless validate_ip_addrs is false. */
static json_t *
take_hosts(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *hosts = docker_key_values(v, ':', bad);
    const char *name;
    json_t *address;

    json_object_foreach (hosts, name, address) {
        AUTO_FREE char *text = value_pystr(address);
        if (!way->any_address && docker_check_ip(text, bad) < 0)
            return NULL;
    }
    return json_incref(hosts);
}

/* A list of addresses, checked unless validate_ip_addrs is false. */
static json_t *
take_dns(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *list = docker_stringlist(v);
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        if (!way->any_address && docker_check_ip(json_string_value(one), bad) < 0)
            return NULL;
    }
    return json_incref(list);
}

/* Labels come as "a=1,b", as a list of such texts, of objects of one key or of both, or as one object. A
 * label without a value has the empty one; a list's object of several keys is refused, as YAML meant
 * something else then. */
static json_t *
take_labels(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    AUTO_FREE char *whole = value_pystr(v);
    json_auto_t *list = json_is_array(v) ? json_incref((json_t *) v) : docker_parts(whole, ',', 0);
    json_auto_t *out = json_object();
    json_t *one;
    size_t i;

    if (json_is_object(v))
        return json_deep_copy(v);
    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_auto_t *pair = docker_parts(text, '=', 2);
        if (json_is_object(one) && json_object_size(one) != 1) {
            (void) fail_set(bad, -EINVAL, "Invalid label(s)");
            return NULL;
        }
        if (json_is_object(one)) {
            void *only = json_object_iter(one);
            AUTO_FREE char *value = value_pystr(json_object_iter_value(only));
            json_object_set_new(out, json_object_iter_key(only), json_string(value));
        } else if (json_array_size(pair) == 2)
            json_object_set(out, json_string_value(json_array_get(pair, 0)), json_array_get(pair, 1));
        else
            json_object_set_new(out, text, json_string(""));
    }
    return json_incref(out);
}

/* "A:B" into {first: A, second: B}; `fill` stands for a B that is missing. A list of them, or NULL. */
static json_t *
take_mapped(const json_t *v, const char *first, const char *second, const char *fill, fail_t *bad)
{
    json_auto_t *list = json_is_array(v) ? json_incref((json_t *) v) : docker_stringlist(v);
    json_auto_t *out = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_auto_t *parts = docker_parts(text, ':', 0);
        size_t n = json_array_size(parts);
        if (n > 2 || (n < 2 && fill == NULL)) {
            (void) fail_set(bad, -EINVAL, "'%s' contains %zu value(s) (expected %s2)", text, n,
                            fill != NULL ? "up to " : "");
            return NULL;
        }
        json_array_append_new(out,
                              json_pack("{s:O, s:o}", first, json_array_get(parts, 0), second,
                                        n == 2 ? json_incref(json_array_get(parts, 1)) : json_string(fill)));
    }
    return json_incref(out);
}

/* "on-failure:5" of the command line, or the API's own object. Only on-failure may have a count; the engine
 * checks that, here a count that is missing is 0. */
static json_t *
take_restart(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    if (json_is_object(v)) { /* as the API has it */
        json_t *policy = json_copy((json_t *) v);
        if (value_get(policy, "MaximumRetryCount") == NULL)
            json_object_set_new(policy, "MaximumRetryCount", json_integer(0));
        return policy;
    }
    json_auto_t *list = take_mapped(v, "Name", "MaximumRetryCount", "0", bad);
    json_t *policy = json_array_get(list, 0);

    if (list == NULL)
        return NULL;
    if (json_array_size(list) != 1) {
        (void) fail_set(bad, -EINVAL, "Only one policy is permitted");
        return NULL;
    }
    json_t *count = as_int(value_get(policy, "MaximumRetryCount"));
    if (count == NULL) {
        (void) fail_set(bad, -EINVAL, "Retry count '%s' is non-numeric",
                        value_str(policy, "MaximumRetryCount", ""));
        return NULL;
    }
    json_object_set_new(policy, "MaximumRetryCount", count);
    return json_incref(policy);
}

/* "/dev/sda:500": an IO weight of a device, which has no default. */
static json_t *
take_weights(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *list = take_mapped(v, "Path", "Weight", NULL, bad);
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        json_t *n = as_int(value_get(one, "Weight"));
        if (n == NULL) {
            (void) fail_set(bad, -EINVAL, "Weight '%s' for path '%s' is not an integer",
                            value_str(one, "Weight", ""), value_str(one, "Path", ""));
            return NULL;
        }
        json_object_set_new(one, "Weight", n);
    }
    return json_incref(list);
}

/* Limits of a device. A rate in bytes may have a unit ("/dev/sda:1mb"), which stays a text; a rate in
 * operations is a number only. */
static json_t *
take_rates(const json_t *v, bool numeric, fail_t *bad)
{
    json_auto_t *list = take_mapped(v, "Path", "Rate", NULL, bad);
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        const char *path = value_str(one, "Path", "");
        json_t *n = as_int(value_get(one, "Rate"));
        if (*path != '/')
            (void) fail_set(bad, -EINVAL, "Path '%s' is not absolute", path);
        else if (n == NULL && numeric)
            (void) fail_set(bad, -EINVAL, "Rate '%s' for path '%s' is non-numeric",
                            value_str(one, "Rate", ""), path);
        if (n != NULL)
            json_object_set_new(one, "Rate", n);
        if (bad->code < 0)
            return NULL;
    }
    return json_incref(list);
}

/* Bytes a second: "1mb" stays a text, which the engine reads. */
static json_t *
take_rates_bytes(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return take_rates(v, false, bad);
}

/* Operations a second: a number. */
static json_t *
take_rates_count(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return take_rates(v, true, bad);
}

/* "/host:/inside:ro,...": only the commas are read here, dockerbody.c makes the rest. */
static json_t *
take_binds(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    if (json_is_object(v) || json_is_array(v))
        return json_deep_copy(v);
    if (json_is_string(v))
        return docker_parts(json_string_value(v), ',', 0);
    return refuse(v, "is not a dictionary or list of bind definitions", bad);
}

static json_t *
take_port_bindings(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return docker_port_bindings(v, way->any_address, bad);
}

static json_t *
take_ports(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return docker_ports(v, bad);
}

/* "nofile=1024:2048"; one number is the soft and the hard limit. */
static json_t *
take_ulimits(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *list = json_is_array(v) ? json_incref((json_t *) v) : docker_stringlist(v);
    json_auto_t *out = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_auto_t *pair = docker_parts(text, '=', 2);
        const char *limits = json_string_value(json_array_get(pair, 1));
        json_auto_t *numbers = docker_parts(limits != NULL ? limits : "", ':', 2);
        json_t *soft = as_int(json_array_get(numbers, 0)),
               *hard = as_int(json_array_get(numbers, json_array_size(numbers) - 1));
        if (limits == NULL)
            (void) fail_set(bad, -EINVAL,
                            "Ulimit definition '%s' is not in the format type=soft_limit[:hard_limit]", text);
        else if (soft == NULL || hard == NULL)
            (void) fail_set(bad, -EINVAL, "Limit '%s' contains non-numeric value(s)", text);
        else
            json_array_append_new(out, json_pack("{s:O, s:O, s:O}", "Name", json_array_get(pair, 0), "Soft",
                                                 soft, "Hard", hard));
        json_decref(soft);
        json_decref(hard);
        if (bad->code < 0)
            return NULL;
    }
    return json_incref(out);
}

/* A uid or a name; a negative number is neither. */
static json_t *
dockerargs_take_user(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *uid = as_int(v);

    if (uid == NULL && !json_is_string(v)) {
        (void) fail_set(bad, -EINVAL, "Value must be a username or uid");
        return NULL;
    }
    if (uid != NULL && json_integer_value(uid) < 0)
        return refuse(uid, "is an invalid uid", bad);
    return json_incref(uid != NULL ? uid : (json_t *) v);
}

/* Mount points of anonymous volumes: paths inside of the container. */
static json_t *
take_volumes(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *list = docker_stringlist(v);
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        if (*json_string_value(one) != '/')
            return refuse(one, "is not an absolute path", bad);
    }
    return json_incref(list);
}

static json_t *
dockerargs_take_folder(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    return json_is_string(v) && *json_string_value(v) == '/' ? json_incref((json_t *) v)
                                                             : refuse(v, "is not an absolute path", bad);
}

/* All that docker.create understands, by docker-py's names. An argument without a row stays as it is, and
 * dockerbody.c knows it or tells that it was not used. */
static const row_t container_rows[] = {
    { "auto_remove", take_bool },
    { "binds", take_binds },
    { "blkio_weight", take_int },
    { "blkio_weight_device", take_weights },
    { "cap_add", take_list },
    { "cap_drop", take_list },
    { "command", take_command },
    { "cpu_group", take_int },
    { "cpu_period", take_int },
    { "cpu_shares", take_int },
    { "cpuset_cpus", dockerargs_take_text },
    { "cpuset_mems", dockerargs_take_text },
    { "detach", take_bool },
    { "device_read_bps", take_rates_bytes },
    { "device_read_iops", take_rates_count },
    { "device_write_bps", take_rates_bytes },
    { "device_write_iops", take_rates_count },
    { "devices", take_list },
    { "dns", take_dns },
    { "dns_opt", take_list },
    { "dns_search", take_list },
    { "domainname", dockerargs_take_text },
    { "entrypoint", take_command },
    { "environment", take_pairs },
    { "extra_hosts", take_hosts },
    { "group_add", take_list },
    { "host_config", take_dict },
    { "hostname", dockerargs_take_text },
    { "ipc_mode", dockerargs_take_text },
    { "isolation", dockerargs_take_text },
    { "labels", take_labels },
    { "links", take_links },
    { "log_driver", dockerargs_take_text },
    { "log_opt", take_pairs },
    { "lxc_conf", take_pairs },
    { "mac_address", dockerargs_take_text },
    { "mem_limit", take_bytes },
    { "mem_swappiness", take_int },
    { "memswap_limit", take_bytes },
    { "name", dockerargs_take_text },
    { "network_disabled", take_bool },
    { "network_mode", dockerargs_take_text },
    { "oom_kill_disable", take_bool },
    { "oom_score_adj", take_int },
    { "pid_mode", dockerargs_take_text },
    { "pids_limit", take_int },
    { "port_bindings", take_port_bindings },
    { "ports", take_ports },
    { "privileged", take_bool },
    { "publish_all_ports", take_bool },
    { "read_only", take_bool },
    { "restart_policy", take_restart },
    { "security_opt", take_list },
    { "shm_size", take_bytes },
    { "stdin_open", take_bool },
    { "stop_signal", dockerargs_take_text },
    { "stop_timeout", take_int },
    { "storage_opt", take_pairs },
    { "sysctls", take_pairs },
    { "tmpfs", take_dict },
    { "tty", take_bool },
    { "ulimits", take_ulimits },
    { "user", dockerargs_take_user },
    { "userns_mode", dockerargs_take_text },
    { "volume_driver", dockerargs_take_text },
    { "volumes", take_volumes },
    { "volumes_from", take_list },
    { "working_dir", dockerargs_take_folder },
    { NULL, NULL },
};

/* Other names of the same, Salt's and the command line's. */
static const char *const container_aliases[][2] = {
    { "cmd", "command" },
    { "cpuset", "cpuset_cpus" },
    { "dns_option", "dns_opt" },
    { "env", "environment" },
    { "expose", "ports" },
    { "interactive", "stdin_open" },
    { "ipc", "ipc_mode" },
    { "label", "labels" },
    { "memory", "mem_limit" },
    { "memory_swap", "memswap_limit" },
    { "publish", "port_bindings" },
    { "publish_all", "publish_all_ports" },
    { "restart", "restart_policy" },
    { "rm", "auto_remove" },
    { "sysctl", "sysctls" },
    { "security_opts", "security_opt" },
    { "ulimit", "ulimits" },
    { "user_ns_mode", "userns_mode" },
    { "volume", "volumes" },
    { "workdir", "working_dir" },
    { NULL, NULL },
};

/* "10.0.0.0/24", checked unless validate_ip_addrs is false. */
static json_t *
take_subnet(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    AUTO_FREE char *text = value_pystr(v);

    return !way->any_address && docker_check_subnet(text, bad) < 0 ? NULL : json_string(text);
}

static json_t *
take_gateway(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    AUTO_FREE char *text = value_pystr(v);

    return !way->any_address && docker_check_ip(text, bad) < 0 ? NULL : json_string(text);
}

/* Addresses that the pool gives to no container, by a name that only people read. */
static json_t *
take_aux(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *pairs = docker_key_values(v, '=', bad);
    const char *name;
    json_t *address;

    json_object_foreach (pairs, name, address) {
        AUTO_FREE char *text = value_pystr(address);
        if (!way->any_address && docker_check_ip(text, bad) < 0)
            return NULL;
    }
    return json_incref(pairs);
}

static take_fn take_pools;

static const row_t network_rows[] = {
    { "attachable", take_bool },
    { "aux_addresses", take_aux },
    { "check_duplicate", take_bool },
    { "driver", dockerargs_take_text },
    { "enable_ipv6", take_bool },
    { "gateway", take_gateway },
    { "ingress", take_bool },
    { "internal", take_bool },
    { "ipam", take_dict },
    { "ipam_driver", dockerargs_take_text },
    { "ipam_opts", take_pairs },
    { "ipam_pools", take_pools },
    { "iprange", take_subnet },
    { "labels", take_labels },
    { "options", take_pairs },
    { "subnet", take_subnet },
    { NULL, NULL },
};

static const char *const network_aliases[][2] = {
    { "driver_opt", "options" }, { "driver_opts", "options" },       { "ipv6", "enable_ipv6" },
    { "ip_range", "iprange" },   { "aux_address", "aux_addresses" }, { NULL, NULL },
};

/* The name that a row has; a name that is no alias is its own. BORROWED. */
static const char *
real_name(const char *const aliases[][2], const char *name)
{
    for (; (*aliases)[0] != NULL; aliases++) {
        if (strcmp((*aliases)[0], name) == 0)
            return (*aliases)[1];
    }
    return name;
}

/* NULL: an argument that is not translated. BORROWED. */
static const row_t *
dockerargs_row_of(const row_t *rows, const char *name)
{
    while (rows->name != NULL && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name != NULL ? rows : NULL;
}

/* A list of pools, each an object of the arguments of one network. Values of unknown names stay. */
static json_t *
take_pools(const docker_way_t *way, const json_t *v, fail_t *bad)
{
    json_auto_t *out = json_array();
    json_t *pool, *one;
    const char *key;
    size_t i;
    bool ok = json_is_array(v);

    json_array_foreach (v, i, pool)
        ok = ok && json_is_object(pool);
    if (!ok) {
        (void) fail_set(bad, -EINVAL, "ipam_pools must be a list of dictionaries");
        return NULL;
    }
    json_array_foreach (v, i, pool) {
        json_auto_t *taken = json_object();
        json_object_foreach (pool, key, one) {
            const char *name = real_name(network_aliases, key);
            const row_t *row = dockerargs_row_of(network_rows, name);
            json_t *value = row != NULL && row->take != take_pools ? row->take(way, one, bad)
                                                                   : json_incref(one);
            if (value == NULL)
                return NULL;
            json_object_set_new(taken, name, value);
        }
        json_array_append(out, taken);
    }
    return json_incref(out);
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* skip_translate may be true or a list of names: its value is looked at where it is used. */
docker_way_t
docker_way(const json_t *args)
{
    return (docker_way_t){ .skip = value_get(args, "skip_translate"),
                           .collisions = value_bool(args, "ignore_collisions", false),
                           .any_address = !value_bool(args, "validate_ip_addrs", true) };
}

static bool
dockerargs_skipped(const json_t *skip, const char *name)
{
    return value_lists(skip, name);
}

/* The error of a translation. */
static int
tell_bad(const json_t *invalid, const json_t *collisions, fail_t *err)
{
    json_auto_t *info = json_object();

    if (json_object_size(invalid) > 0)
        json_object_set(info, "invalid", (json_t *) invalid);
    if (json_array_size(collisions) > 0)
        json_object_set(info, "collisions", (json_t *) collisions);
    if (json_object_size(info) == 0)
        return 0;
    AUTO_FREE char *text = docker_with_info("Failed to translate input", info);
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", text);
}

/* Each argument by its row; what is wrong goes to `invalid`. NEW. */
static json_t *
take_each(const docker_way_t *way, const json_t *skip, const row_t *rows, const char *const aliases[][2],
          const json_t *given, json_t *invalid)
{
    json_t *out = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) given, key, v) {
        const char *name = real_name(aliases, key);
        const row_t *row = dockerargs_row_of(rows, name);
        if (str_starts(key, "__"))
            continue;
        json_auto_t *packed = strcmp(key, "ipam_pools") == 0 || dockerargs_skipped(skip, name)
                                  ? json_incref(v)
                                  : docker_repacked(v);
        if (row == NULL || dockerargs_skipped(skip, name)) {
            json_object_set(out, key, packed);
            continue;
        }
        fail_auto_t bad = FAIL_INIT;
        json_t *value = row->take(way, packed, &bad);
        if (value != NULL)
            json_object_set_new(out, key, value);
        else
            json_object_set_new(invalid, key, json_string(fail_text(&bad)));
    }
    return out;
}

/* Aliases get their real name; what is there already by that name is a collision. */
static void
resolve_aliases(json_t *args, const char *const aliases[][2], json_t *collisions)
{
    for (; (*aliases)[0] != NULL; aliases++) {
        json_auto_t *v = json_incref(json_object_get(args, (*aliases)[0]));
        if (v == NULL)
            continue;
        json_object_del(args, (*aliases)[0]);
        if (json_object_get(args, (*aliases)[1]) == NULL)
            json_object_set(args, (*aliases)[1], v);
        else
            json_array_append_new(collisions, value_fmt("'%s' is an alias for '%s', they cannot both be used",
                                                        (*aliases)[0], (*aliases)[1]));
    }
}

/* The folders that are bound are volumes too. */
static void
add_bound_volumes(json_t *args)
{
    json_t *binds = value_get(args, "binds"), *one;
    json_auto_t *all = json_is_array(value_get(args, "volumes")) ? json_copy(value_get(args, "volumes"))
                                                                 : json_array();
    size_t before = json_array_size(all), i;
    const char *key;

    json_object_foreach (binds, key, one) {
        const char *inner = value_str(one, "bind", NULL);
        if (inner != NULL && !value_lists(all, inner))
            json_array_append_new(all, json_string(inner));
    }
    json_array_foreach (binds, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_auto_t *parts = docker_parts(text, ':', 0);
        json_t *inner = json_array_get(parts, 1);
        if (inner != NULL && !value_has(all, inner))
            json_array_append(all, inner);
    }
    if (json_array_size(all) > before)
        json_object_set_new(args, "volumes", value_sorted_texts(all));
}

/* The ports that are bound are exposed too. */
static void
add_bound_ports(json_t *args)
{
    json_auto_t *all = json_is_array(value_get(args, "ports")) ? json_copy(value_get(args, "ports"))
                                                               : json_array();
    const char *port;
    json_t *v;

    json_object_foreach (value_get(args, "port_bindings"), port, v) {
        AUTO_FREE char *name = docker_port_name(port);
        if (!value_lists(all, name))
            json_array_append_new(all, json_string(name));
    }
    if (json_array_size(all) > 0)
        json_object_set(args, "ports", all);
}

/* Salt's order: each argument by its own name first, and aliases are resolved only then, so that an error
 * names the argument that the user wrote. */
json_t *
docker_translate_container(const docker_way_t *way, const json_t *given, fail_t *err)
{
    json_auto_t *invalid = json_object();
    json_auto_t *collisions = json_array();

    if (json_is_true(way->skip))
        return json_deep_copy(given);
    json_auto_t *skip = value_truthy(way->skip) ? docker_stringlist(way->skip) : json_array();
    json_auto_t *args = take_each(way, skip, container_rows, container_aliases, given, invalid);

    /* The API has one member for the two, which goes before them where it is given. */
    json_auto_t *driver = json_incref(json_object_get(args, "log_driver"));
    json_auto_t *opt = json_incref(json_object_get(args, "log_opt"));
    json_object_del(args, "log_driver");
    json_object_del(args, "log_opt");
    if (value_get(args, "log_config") == NULL && (driver != NULL || opt != NULL))
        json_object_set_new(args, "log_config",
                            json_pack("{s:o, s:o}", "Type",
                                      driver != NULL ? json_incref(driver) : json_string("none"), "Config",
                                      opt != NULL ? json_incref(opt) : json_object()));
    resolve_aliases(args, container_aliases, collisions);

    /* Pairs that contradict each other: one of the two goes, and the call fails with the text. "network_mode=True" is Salt's text. */
    if (json_is_object(value_get(args, "port_bindings")) &&
        value_truthy(value_get(args, "publish_all_ports"))) {
        json_object_del(args, "port_bindings");
        json_object_set_new(invalid, "port_bindings",
                            json_string("Cannot be used when publish_all_ports=True"));
    }
    if (json_is_string(value_get(args, "hostname")) &&
        strcmp(value_str(args, "network_mode", ""), "host") == 0) {
        json_object_del(args, "hostname");
        json_object_set_new(invalid, "hostname", json_string("Cannot be used when network_mode=True"));
    }

    /* An argument that was not translated has a shape that can't be read. */
    if (!dockerargs_skipped(skip, "binds") && !dockerargs_skipped(skip, "volume") &&
        !dockerargs_skipped(skip, "volumes"))
        add_bound_volumes(args);
    if (!dockerargs_skipped(skip, "port_bindings") && !dockerargs_skipped(skip, "expose") &&
        !dockerargs_skipped(skip, "ports"))
        add_bound_ports(args);
    return tell_bad(invalid, way->collisions ? NULL : collisions, err) < 0 ? NULL : json_incref(args);
}

/* check_duplicate is on unless the user says otherwise: the engine would take two networks of one name. */
json_t *
docker_translate_network(const docker_way_t *way, const json_t *given, fail_t *err)
{
    json_auto_t *invalid = json_object();
    json_auto_t *collisions = json_array();

    if (json_is_true(way->skip))
        return json_deep_copy(given);
    json_auto_t *skip = value_truthy(way->skip) ? docker_stringlist(way->skip) : json_array();
    json_auto_t *args = take_each(way, skip, network_rows, network_aliases, given, invalid);
    resolve_aliases(args, network_aliases, collisions);
    if (value_get(args, "check_duplicate") == NULL)
        json_object_set_new(args, "check_duplicate", json_true());
    return tell_bad(invalid, way->collisions ? NULL : collisions, err) < 0 ? NULL : json_incref(args);
}
