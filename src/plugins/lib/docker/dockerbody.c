/* dockerbody.c - docker-py's arguments into bodies of the Engine's API: see dockerargs.h. The names of the
 * members are those of the API description. Salt leaves this to docker-py; the shapes follow its
 * types.ContainerConfig and types.HostConfig, with its odd errors. */
#include <ctype.h>
#include <math.h>

#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/docker/dockerargs.h"

/* The value in the API's shape. NEW, or NULL with the text in *bad. */
typedef json_t *shape_fn(const json_t *v, fail_t *bad);

typedef enum place { IN_CONFIG, IN_HOST } place_t;

typedef struct member {
    const char *name, *key;
    place_t place;
    bool empty; /* sent when it is empty or false too */
    shape_fn *shape;
} member_t;

/* docker-py's parse_bytes(): "1.5g", "512MB", "100". A unit is a power of 1024; the empty text is 0. */
static json_t *
shape_bytes(const json_t *v, fail_t *bad)
{
    static const char units[] = "bkmgt";
    const char *text = json_string_value(v);
    size_t n = text != NULL ? strlen(text) : 0;
    char *end;

    if (text == NULL)
        return json_incref((json_t *) v);
    if (n == 0)
        return json_integer(0);
    if (n > 1 && isalpha((unsigned char) text[n - 2]) && tolower(text[n - 1]) == 'b')
        n--;
    bool digit = isdigit((unsigned char) text[n - 1]) != 0;
    const char *unit = digit ? units : strchr(units, tolower(text[n - 1]));
    AUTO_FREE char *digits = xstrndup(text, digit ? n : n - 1);
    double number = strtod(digits, &end);
    if (unit == NULL || *unit == '\0')
        (void) fail_set(
            bad, -EINVAL,
            "The specified value for memory (%.*s) should specify the units. The postfix should be one of "
            "the `b` `k` `m` `g` characters",
            (int) n, text);
    else if (end == digits || *end != '\0' || !(fabs(ldexp(number, 10 * (int) (unit - units))) < 0x1p63))
        (void) fail_set(bad, -EINVAL, "Failed converting the string value for memory (%s) to an integer.",
                        digits);
    return bad->code < 0 ? NULL : json_integer((json_int_t) ldexp(number, 10 * (int) (unit - units)));
}

/* A list of "KEY SEP VALUE", of a list as it is. NULL values: the key alone. */
static json_t *
pairs_list(const json_t *v, const char *between, bool sorted)
{
    json_t *list = json_array(), *one;
    const char *key;

    json_object_foreach ((json_t *) v, key, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(list,
                              json_is_null(one) ? json_string(key) : value_fmt("%s%s%s", key, between, text));
    }
    if (!sorted)
        return list;
    json_t *ordered = value_sorted_texts(list);
    json_decref(list);
    return ordered;
}

static json_t *
shape_env(const json_t *v, fail_t *bad)
{
    return json_is_object(v) ? pairs_list(v, "=", false) : json_incref((json_t *) v);
}

/* Sorted, as docker-py sorts hosts: two bodies of one description are equal. */
static json_t *
shape_hosts(const json_t *v, fail_t *bad)
{
    return json_is_object(v) ? pairs_list(v, ":", true) : json_incref((json_t *) v);
}

/* A text is split as a shell would split it, without a shell; the engine runs the words. */
static json_t *
shape_words(const json_t *v, fail_t *bad)
{
    if (!json_is_string(v))
        return json_incref((json_t *) v);
    char **words = prog_split(json_string_value(v), bad);
    json_t *list = words != NULL ? json_array() : NULL;

    for (size_t i = 0; list != NULL && words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    return list;
}

/* {NAME: {}} of each, with `suffix` where the name has no protocol. */
static json_t *
names_object(const json_t *v, const char *suffix)
{
    json_t *out = json_object(), *one;
    size_t i;

    json_array_foreach (v, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        AUTO_FREE char *name = xasprintf("%s%s", text, strchr(text, '/') == NULL ? suffix : "");
        json_object_set_new(out, name, json_object());
    }
    return out;
}

static json_t *
shape_ports(const json_t *v, fail_t *bad)
{
    return json_is_array(v) ? names_object(v, "/tcp") : json_incref((json_t *) v);
}

/* Volumes are a set, which the API writes as an object of empty objects. */
static json_t *
shape_volumes(const json_t *v, fail_t *bad)
{
    json_auto_t *list = json_is_string(v) ? json_pack("[O]", v) : json_incref((json_t *) v);

    return json_is_array(list) ? names_object(list, "") : json_incref(list);
}

static json_t *
shape_text(const json_t *v, fail_t *bad)
{
    AUTO_FREE char *text = value_pystr(v);

    return json_string(text);
}

/* The kernel's values are texts in the API, and users write numbers. */
static json_t *
shape_texts(const json_t *v, fail_t *bad)
{
    json_t *out = json_object(), *one;
    const char *key;

    json_object_foreach ((json_t *) v, key, one)
        json_object_set_new(out, key, shape_text(one, bad));
    return out;
}

/* "/dev/x[:INNER[:rwm]]", the command line's notation; an object is the API's already. */
static json_t *
shape_devices(const json_t *v, fail_t *bad)
{
    json_t *out = json_array(), *one;
    size_t i;

    json_array_foreach (v, i, one) {
        if (json_is_object(one)) {
            json_array_append(out, one);
            continue;
        }
        AUTO_FREE char *text = value_pystr(one);
        char **parts = str_split(text, ":", false);
        json_array_append_new(out, json_pack("{s:s, s:s, s:s}", "PathOnHost", parts[0], "PathInContainer",
                                             parts[1] != NULL ? parts[1] : parts[0], "CgroupPermissions",
                                             parts[1] != NULL && parts[2] != NULL ? parts[2] : "rwm"));
        strv_free(parts);
    }
    return out;
}

/* {HOST: {"bind", "mode" or "ro", "propagation"}} or {HOST: INNER}. */
static json_t *
shape_binds(const json_t *v, fail_t *bad)
{
    json_t *out, *one;
    const char *host;

    if (!json_is_object(v))
        return json_incref((json_t *) v);
    out = json_array();
    json_object_foreach ((json_t *) v, host, one) {
        json_t *ro = value_get(one, "ro");
        const char *mode = ro != NULL ? (value_truthy(ro) ? "ro" : "rw") : value_str(one, "mode", "rw"),
                   *spread = value_str(one, "propagation", "");
        AUTO_FREE char *inner = json_is_object(one) ? xstrdup(value_str(one, "bind", "")) : value_pystr(one);
        json_array_append_new(out, value_fmt("%s:%s:%s%s%s", host, inner, mode,
                                             *mode != '\0' && *spread != '\0' ? "," : "", spread));
        if (*inner == '\0')
            (void) fail_set(bad, -EINVAL, "'bind'");
    }
    return out;
}

/* A link without an alias is the name alone, which pairs_list() makes of null. */
static json_t *
shape_links(const json_t *v, fail_t *bad)
{
    json_auto_t *links = json_is_object(v) ? json_copy((json_t *) v) : NULL;
    const char *key;
    json_t *one;
    void *next;

    json_object_foreach_safe (links, next, key, one) {
        if (!value_truthy(one))
            json_object_set_new(links, key, json_null());
    }
    return links != NULL ? pairs_list(links, ":", true) : json_incref((json_t *) v);
}

static json_t *
shape_bound(const json_t *v, fail_t *bad)
{
    return docker_bound_ports(v);
}

/* A list of "MOUNT[:OPTIONS]" as well. */
static json_t *
shape_tmpfs(const json_t *v, fail_t *bad)
{
    json_t *out, *one;
    size_t i;

    if (!json_is_array(v))
        return json_incref((json_t *) v);
    out = json_object();
    json_array_foreach (v, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        char *options = strchr(text, ':');
        if (options != NULL)
            *options++ = '\0';
        json_object_set_new(out, text, json_string(options != NULL ? options : ""));
    }
    return out;
}

/* LXC's own settings, for engines that still have that driver. */
static json_t *
shape_lxc(const json_t *v, fail_t *bad)
{
    json_t *out = json_array(), *one;
    const char *key;

    json_object_foreach ((json_t *) v, key, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(out, json_pack("{s:s, s:s}", "Key", key, "Value", text));
    }
    return out;
}

/* {"test", "interval", ...}, in the API's names or docker-py's. */
static json_t *
shape_health(const json_t *v, fail_t *bad)
{
    static const char *const names[][2] = { { "test", "Test" },
                                            { "interval", "Interval" },
                                            { "timeout", "Timeout" },
                                            { "retries", "Retries" },
                                            { "start_period", "StartPeriod" } };
    json_t *out = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *one = value_get(v, names[i][0]) != NULL ? value_get(v, names[i][0])
                                                        : value_get(v, names[i][1]);
        if (json_is_string(one) && i == 0)
            json_object_set_new(out, names[i][1], json_pack("[s, O]", "CMD-SHELL", one));
        else if (one != NULL && !json_is_null(one))
            json_object_set(out, names[i][1], one);
    }
    return out;
}

/* Members of the configuration are sent as soon as they are given, also when they are empty. Most of the
 * host's are sent when they are true, as docker-py's `if` lets them through; HOST_EMPTY marks those that it
 * compares with None. */
#define CONFIG(name, key, shape)                                                                             \
    {                                                                                                        \
        name, key, IN_CONFIG, true, shape                                                                    \
    }
#define HOST(name, key, shape)                                                                               \
    {                                                                                                        \
        name, key, IN_HOST, false, shape                                                                     \
    }
#define HOST_EMPTY(name, key, shape)                                                                         \
    {                                                                                                        \
        name, key, IN_HOST, true, shape                                                                      \
    }

static const member_t members[] = {
    CONFIG("hostname", "Hostname", NULL),
    CONFIG("domainname", "Domainname", NULL),
    CONFIG("ports", "ExposedPorts", shape_ports),
    CONFIG("user", "User", shape_text),
    CONFIG("tty", "Tty", NULL),
    CONFIG("stdin_open", "OpenStdin", NULL),
    CONFIG("environment", "Env", shape_env),
    CONFIG("command", "Cmd", shape_words),
    CONFIG("volumes", "Volumes", shape_volumes),
    CONFIG("network_disabled", "NetworkDisabled", NULL),
    CONFIG("entrypoint", "Entrypoint", shape_words),
    CONFIG("working_dir", "WorkingDir", NULL),
    CONFIG("networking_config", "NetworkingConfig", NULL),
    CONFIG("mac_address", "MacAddress", NULL),
    CONFIG("labels", "Labels", NULL),
    CONFIG("stop_signal", "StopSignal", NULL),
    CONFIG("healthcheck", "Healthcheck", shape_health),
    CONFIG("stop_timeout", "StopTimeout", NULL),
    HOST_EMPTY("mem_limit", "Memory", shape_bytes),
    HOST_EMPTY("memswap_limit", "MemorySwap", shape_bytes),
    HOST("mem_reservation", "MemoryReservation", shape_bytes),
    HOST("kernel_memory", "KernelMemory", shape_bytes),
    HOST_EMPTY("mem_swappiness", "MemorySwappiness", NULL),
    HOST_EMPTY("shm_size", "ShmSize", shape_bytes),
    HOST("pid_mode", "PidMode", NULL),
    HOST("ipc_mode", "IpcMode", NULL),
    HOST("privileged", "Privileged", NULL),
    HOST("oom_kill_disable", "OomKillDisable", NULL),
    HOST("oom_score_adj", "OomScoreAdj", NULL),
    HOST("publish_all_ports", "PublishAllPorts", NULL),
    HOST_EMPTY("read_only", "ReadonlyRootfs", NULL),
    HOST("dns_search", "DnsSearch", NULL),
    HOST("network_mode", "NetworkMode", NULL),
    HOST("restart_policy", "RestartPolicy", NULL),
    HOST("cap_add", "CapAdd", NULL),
    HOST("cap_drop", "CapDrop", NULL),
    HOST("devices", "Devices", shape_devices),
    HOST("group_add", "GroupAdd", NULL),
    HOST_EMPTY("dns", "Dns", NULL),
    HOST_EMPTY("dns_opt", "DnsOptions", NULL),
    HOST_EMPTY("security_opt", "SecurityOpt", NULL),
    HOST("sysctls", "Sysctls", shape_texts),
    HOST_EMPTY("volumes_from", "VolumesFrom", NULL),
    HOST_EMPTY("binds", "Binds", shape_binds),
    HOST_EMPTY("port_bindings", "PortBindings", shape_bound),
    HOST_EMPTY("extra_hosts", "ExtraHosts", shape_hosts),
    HOST_EMPTY("links", "Links", shape_links),
    HOST_EMPTY("lxc_conf", "LxcConf", shape_lxc),
    HOST_EMPTY("cgroup_parent", "CgroupParent", NULL),
    HOST_EMPTY("ulimits", "Ulimits", NULL),
    HOST_EMPTY("log_config", "LogConfig", NULL),
    HOST("cpu_quota", "CpuQuota", NULL),
    HOST("cpu_period", "CpuPeriod", NULL),
    HOST("cpu_shares", "CpuShares", NULL),
    HOST("cpuset_cpus", "CpusetCpus", NULL),
    HOST("cpuset_mems", "CpusetMems", NULL),
    HOST("cpu_rt_period", "CPURealtimePeriod", NULL),
    HOST("cpu_rt_runtime", "CPURealtimeRuntime", NULL),
    HOST("blkio_weight", "BlkioWeight", NULL),
    HOST("blkio_weight_device", "BlkioWeightDevice", NULL),
    HOST("device_read_bps", "BlkioDeviceReadBps", NULL),
    HOST("device_write_bps", "BlkioDeviceWriteBps", NULL),
    HOST("device_read_iops", "BlkioDeviceReadIOps", NULL),
    HOST("device_write_iops", "BlkioDeviceWriteIOps", NULL),
    HOST("tmpfs", "Tmpfs", shape_tmpfs),
    HOST("userns_mode", "UsernsMode", NULL),
    HOST("uts_mode", "UTSMode", NULL),
    HOST("pids_limit", "PidsLimit", NULL),
    HOST("isolation", "Isolation", NULL),
    HOST("auto_remove", "AutoRemove", NULL),
    HOST_EMPTY("storage_opt", "StorageOpt", NULL),
    HOST_EMPTY("init", "Init", NULL),
    HOST_EMPTY("volume_driver", "VolumeDriver", NULL),
    HOST("cpu_count", "CpuCount", NULL),
    HOST("cpu_percent", "CpuPercent", NULL),
    HOST("nano_cpus", "NanoCpus", NULL),
    HOST("runtime", "Runtime", NULL),
    HOST_EMPTY("mounts", "Mounts", NULL),
    HOST_EMPTY("device_cgroup_rules", "DeviceCgroupRules", NULL),
    HOST_EMPTY("device_requests", "DeviceRequests", NULL),
    HOST("cgroupns", "CgroupnsMode", NULL),
};

/* Names that the body is made of in another way. */
static bool
dockerbody_is_used(const char *name)
{
    static const char *const own[] = { "detach", "host_config", "name", "use_config_proxy", "platform" };

    for (size_t i = 0; i < NELEMS(own); i++) {
        if (strcmp(own[i], name) == 0)
            return true;
    }
    for (size_t i = 0; i < NELEMS(members); i++) {
        if (strcmp(members[i].name, name) == 0)
            return true;
    }
    return false;
}

json_t *
docker_container_body(const char *image, const json_t *args, char **ret_unused, fail_t *err)
{
    json_auto_t *host = json_object();
    bool attach = !value_truthy(value_get(args, "detach")), in = value_truthy(value_get(args, "stdin_open"));
    json_auto_t *config = json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "Image", image, "Tty", 0,
                                    "OpenStdin", 0, "StdinOnce", attach && in, "AttachStdin", attach && in,
                                    "AttachStdout", attach, "AttachStderr", attach, "NetworkDisabled", 0);
    json_auto_t *unused = json_array();
    const char *key;
    json_t *v;

    json_object_set_new(host, "NetworkMode", json_string("default"));
    for (size_t i = 0; i < NELEMS(members); i++) {
        const member_t *m = &members[i];
        v = value_get(args, m->name);
        if (v == NULL || json_is_null(v) || (!m->empty && !value_truthy(v)))
            continue;
        fail_auto_t bad = FAIL_INIT;
        json_t *shaped = m->shape != NULL ? m->shape(v, &bad) : json_incref(v);
        if (shaped == NULL || bad.code < 0) {
            json_decref(shaped);
            (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s: %s", m->name, fail_text(&bad));
            return NULL;
        }
        json_object_set_new(m->place == IN_HOST ? host : config, m->key, shaped);
    }
    /* docker-py refuses this pair itself: a container in the host's network has no ports to bind. */
    if (strcmp(value_str(args, "network_mode", ""), "host") == 0 &&
        value_truthy(value_get(args, "port_bindings"))) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "\"host\" network_mode is incompatible with port_bindings");
        return NULL;
    }
    /* A host_config of the user's own has the last word, member by member. */
    json_object_update(host, value_get(args, "host_config"));
    json_object_set(config, "HostConfig", host);
    /* Names that went nowhere are a warning and no error, as Salt's. */
    json_object_foreach ((json_t *) args, key, v) {
        if (!dockerbody_is_used(key))
            json_array_append_new(unused, json_string(key));
    }
    json_auto_t *sorted = value_sorted_texts(unused);
    *ret_unused = json_array_size(sorted) > 0 ? value_joined(sorted, ", ") : NULL;
    return json_incref(config);
}

/* ---- networks ---------------------------------------------------------------------------------- */

/* Addresses are members of IPAMConfig, the others of the endpoint itself; what is empty is left out. */
json_t *
docker_endpoint(const json_t *given, fail_t *err)
{
    static const char *const plain[][2] = { { "aliases", "Aliases" },
                                            { "mac_address", "MacAddress" },
                                            { "driver_opt", "DriverOpts" } };
    static const char *const addresses[][2] = { { "ipv4_address", "IPv4Address" },
                                                { "ipv6_address", "IPv6Address" },
                                                { "link_local_ips", "LinkLocalIPs" } };
    json_auto_t *out = json_object();
    json_auto_t *ipam = json_object();
    json_t *links = value_get(given, "links");

    for (size_t i = 0; i < NELEMS(plain); i++) {
        if (value_truthy(value_get(given, plain[i][0])))
            json_object_set(out, plain[i][1], value_get(given, plain[i][0]));
    }
    for (size_t i = 0; i < NELEMS(addresses); i++) {
        if (value_truthy(value_get(given, addresses[i][0])))
            json_object_set(ipam, addresses[i][1], value_get(given, addresses[i][0]));
    }
    if (value_truthy(links)) {
        json_t *shaped = shape_links(links, err);
        if (shaped == NULL)
            return NULL;
        json_object_set_new(out, "Links", shaped);
    }
    if (json_object_size(ipam) > 0)
        json_object_set(out, "IPAMConfig", ipam);
    return json_incref(out);
}

static const char *const pool_names[][2] = {
    { "subnet", "Subnet" },
    { "iprange", "IPRange" },
    { "gateway", "Gateway" },
    { "aux_addresses", "AuxiliaryAddresses" },
};

/* docker_fn_create_network() asks it whether an IPAM has to be made. */
bool
docker_ipam_takes(const char *name)
{
    for (size_t i = 0; i < NELEMS(pool_names); i++) {
        if (strcmp(pool_names[i][0], name) == 0)
            return true;
    }
    return strcmp(name, "ipam_driver") == 0 || strcmp(name, "ipam_opts") == 0 ||
           strcmp(name, "ipam_pools") == 0;
}

/* A pool of the API; *ret_any: something was given. */
static json_t *
dockerbody_pool_of(const json_t *given, bool *ret_any)
{
    json_t *pool = json_object();

    *ret_any = false;
    for (size_t i = 0; i < NELEMS(pool_names); i++) {
        json_t *v = value_get(given, pool_names[i][0]);
        *ret_any = *ret_any || v != NULL;
        if (v != NULL && !json_is_null(v))
            json_object_set(pool, pool_names[i][1], v);
    }
    return pool;
}

/* The arguments of one pool may stand beside ipam_pools; they are the first pool then. All of them leave
 * `args`, where docker_network_body() would refuse them. */
json_t *
docker_ipam(json_t *args, fail_t *err)
{
    json_auto_t *pools = json_array();
    json_t *driver = value_get(args, "ipam_driver"), *options = value_get(args, "ipam_opts"), *one;
    bool any;
    size_t i;

    json_auto_t *alone = dockerbody_pool_of(args, &any);
    if (any)
        json_array_append(pools, alone);
    json_array_foreach (value_get(args, "ipam_pools"), i, one)
        json_array_append_new(pools, dockerbody_pool_of(one, &any));
    json_array_foreach (pools, i, one) {
        if (value_get(one, "Subnet") == NULL) {
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "A subnet is required in each IPAM pool");
            return NULL;
        }
    }
    json_t *ipam = json_pack("{s:o, s:O}", "Driver",
                             driver != NULL ? json_incref(driver) : json_string("default"), "Config", pools);
    if (value_truthy(options))
        json_object_set_new(ipam, "Options", docker_repacked(options));
    const char *key;
    void *next;
    json_object_foreach_safe (args, next, key, one) {
        if (docker_ipam_takes(key))
            json_object_del(args, key);
    }
    return ipam;
}

/* Unlike a container's, an unknown name of a network is an error: docker-py's method has named arguments
 * only. */
json_t *
docker_network_body(const char *name, const json_t *args, fail_t *err)
{
    static const char *const names[][2] = {
        { "driver", "Driver" }, { "options", "Options" },
        { "ipam", "IPAM" },     { "check_duplicate", "CheckDuplicate" },
        { "labels", "Labels" }, { "scope", "Scope" },
    };
    static const char *const flags[][2] = { { "enable_ipv6", "EnableIPv6" },
                                            { "internal", "Internal" },
                                            { "attachable", "Attachable" },
                                            { "ingress", "Ingress" } };
    json_auto_t *body = json_pack("{s:s}", "Name", name);
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) args, key, v) {
        bool known = false;
        for (size_t i = 0; i < NELEMS(names); i++) {
            if (strcmp(names[i][0], key) == 0) {
                known = true;
                json_object_set(body, names[i][1], v);
            }
        }
        for (size_t i = 0; i < NELEMS(flags); i++) {
            if (strcmp(flags[i][0], key) == 0) {
                known = true;
                if (value_truthy(v))
                    json_object_set_new(body, flags[i][1], json_true());
            }
        }
        if (!known) {
            (void) fail_kind(
                err, FAIL_COMMAND, -EINVAL,
                "Unable to perform create_network: NetworkApiMixin.create_network() got an unexpected "
                "keyword argument '%s'",
                key);
            return NULL;
        }
    }
    return json_incref(body);
}
