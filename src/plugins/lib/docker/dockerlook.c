/* dockerlook.c - facts of containers, and of the engine, in module `docker`: see dockerfuns.h. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "plugins/lib/docker/dockerfuns.h"
#include "salt/log.h"

static const char *
dockerlook_name_of(const json_t *args)
{
    return value_str(args, "name", "");
}

/* POST-like names with a slash are encoded by engine_path(). NEW, or NULL with *err, -ENOENT for none. */
json_t *
docker_container(call_ctx_t *ctx, const char *name, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/containers/%s/json", name);

    return engine_get(ctx, err, path);
}

/* A number that is missing adds nothing: engines of API 1.44 and later have no VirtualSize. */
void
docker_add_size(json_t *of, const char *key)
{
    AUTO_FREE char *human = xasprintf("%s_Human", key);

    if (json_is_number(value_get(of, key)))
        json_object_set_new(of, human, docker_size(value_get(of, key)));
}

/* The sizes get a form that people read beside them. */
json_t *
docker_image(call_ctx_t *ctx, const char *name, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/images/%s/json", name);
    json_t *image = engine_get(ctx, err, path);

    if (image != NULL) {
        docker_add_size(image, "Size");
        docker_add_size(image, "VirtualSize");
    }
    return image;
}

/* A paused container is "Running" too in the engine's answer, so that is looked at first. */
const char *
docker_state_of(const json_t *container)
{
    const json_t *state = value_get(container, "State");

    return value_truthy(value_get(state, "Paused"))    ? "paused"
           : value_truthy(value_get(state, "Running")) ? "running"
                                                       : "stopped";
}

/* A text that stays: no copy is needed. */
const char *
docker_state_now(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *container = docker_container(ctx, name, err);

    return container != NULL ? docker_state_of(container) : NULL;
}

/* The engine's seconds since 1970, and the same in the machine's time zone. */
void
docker_add_time(json_t *of, json_t *epoch)
{
    enum { US_PER_S = 1000000 };
    AUTO_FREE char *local = clock_strftime("%Y-%m-%d %H:%M:%S %Z", json_integer_value(epoch) * US_PER_S);

    json_object_set(of, "Time_Created_Epoch", epoch);
    if (local != NULL)
        json_object_set_new(of, "Time_Created_Local", json_string(local));
}

/* Salt stops at petabytes and returns None beyond. */
json_t *
docker_size(const json_t *bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    enum { STEP = 1024 };
    double n = json_number_value(bytes);

    if (n < STEP)
        return value_fmt("%lld bytes", (long long) n);
    n /= STEP;
    for (size_t i = 0; i < NELEMS(units); i++, n /= STEP) {
        if (n < STEP)
            return value_fmt("%3.1f %s", n, units[i]);
    }
    return json_null();
}

/* For a list, its elements; for an object, its keys. The loop of the other kind finds nothing to do. */
json_t *
docker_gone(const json_t *before, const json_t *after)
{
    json_t *out = json_array(), *v;
    const char *key;
    size_t i;

    json_object_foreach ((json_t *) before, key, v) {
        if (value_get(after, key) == NULL)
            json_array_append_new(out, json_string(key));
    }
    json_array_foreach (before, i, v) {
        if (!value_has(after, v))
            json_array_append(out, v);
    }
    return out;
}

/* The mine is a service to other minions: its failure is logged and spoils no function. */
void
docker_tell_mine(call_ctx_t *ctx)
{
    json_t *set = engine_option(ctx, "docker.update_mine"), *answer = NULL;
    fail_auto_t bad = FAIL_INIT;

    if ((set != NULL && !value_truthy(set)) || !ctx_has(ctx, "mine.send"))
        return;
    json_auto_t *names = json_pack("[s]", "docker.ps");
    json_auto_t *more = json_pack("{s:b, s:b, s:b}", "verbose", 1, "all", 1, "host", 1);
    if (ctx_call(ctx, "mine.send", names, more, &answer, &bad) < 0)
        log_warning("docker: the mine does not take the list of containers: %s", fail_text(&bad));
    json_decref(answer);
}

double
docker_seconds(const json_t *args)
{
    return value_num(args, "client_timeout", ENGINE_TIMEOUT);
}

/* ---- ps ---------------------------------------------------------------------------------------- */

/* Python's filters: each value a list of texts. */
static json_t *
filters_of(const json_t *given)
{
    json_t *out = json_object(), *v, *one;
    const char *key;
    size_t i;

    json_object_foreach ((json_t *) given, key, v) {
        json_t *list = json_array();
        json_auto_t *all = json_is_array(v) ? json_incref(v) : json_pack("[O]", v);
        json_array_foreach (all, i, one) {
            AUTO_FREE char *text = json_is_boolean(one) ? xstrdup(json_is_true(one) ? "true" : "false")
                                                        : value_pystr(one);
            json_array_append_new(list, json_string(text));
        }
        json_object_set_new(out, key, list);
    }
    return out;
}

/* All containers are asked for; the word "Up" in the status tells which of them run. Those come first, the
 * others only with `all`. */
json_t *
docker_ps(call_ctx_t *ctx, json_t *filters, bool all, fail_t *err)
{
    json_auto_t *query = json_pack("{s:b, s:i, s:i, s:i}", "all", 1, "limit", -1, "size", 0, "trunc_cmd", 0);
    json_t *out, *one, *v;
    const char *key;
    size_t i;

    if (value_truthy(filters))
        json_object_set_new(query, "filters", filters_of(filters));
    json_auto_t *list = engine_json(
        ctx, &(engine_ask_t){ .method = "GET", .path = "/containers/json", .query = query }, err);
    if (list == NULL)
        return NULL;
    out = json_object();
    for (int running = 1; running >= (all ? 0 : 1); running--) {
        json_array_foreach (list, i, one) {
            const char *id = value_str(one, "Id", NULL);
            if (id == NULL || (strncasecmp(value_str(one, "Status", ""), "up ", 3) == 0) != (running == 1))
                continue;
            json_t *shown = json_object();
            json_object_foreach (one, key, v) {
                if (strcmp(key, "Created") == 0)
                    docker_add_time(shown, v);
                else if (strcmp(key, "Id") != 0)
                    json_object_set(shown, key, v);
            }
            json_object_set_new(out, id, shown);
        }
    }
    return out;
}

/* `verbose` inspects each container, `host` adds the interfaces of this machine. */
int
docker_fn_ps(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *more = value_get(args, "kwargs");
    json_auto_t *out = docker_ps(ctx, value_get(args, "filters"), value_truthy(value_get(more, "all")), err);
    json_t *one;
    const char *id;

    if (out == NULL)
        return err->code;
    if (value_truthy(value_get(more, "verbose"))) {
        json_object_foreach (out, id, one) {
            json_t *info = docker_container(ctx, id, err);
            if (info == NULL)
                return err->code;
            json_object_set_new(one, "Info", info);
        }
    }
    if (value_truthy(value_get(more, "host"))) {
        json_t *interfaces = NULL;
        if (ctx_call(ctx, "network.interfaces", NULL, NULL, &interfaces, err) < 0)
            return err->code;
        json_object_set_new(out, "host", json_pack("{s:o}", "interfaces", interfaces));
    }
    *ret_value = json_incref(out);
    return 0;
}

/* Names of containers, sorted. */
static json_t *
container_names(call_ctx_t *ctx, bool all, fail_t *err)
{
    json_auto_t *found = docker_ps(ctx, NULL, all, err);
    json_auto_t *names = json_array();
    const char *id;
    json_t *one, *name;
    size_t i;

    if (found == NULL)
        return NULL;
    json_object_foreach (found, id, one) {
        json_array_foreach (value_get(one, "Names"), i, name) {
            const char *text = json_string_value(name);
            text += strspn(text, "/");
            if (!value_lists(names, text))
                json_array_append_new(names, json_string(text));
        }
    }
    return value_sorted_texts(names);
}

int
docker_fn_list_containers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = container_names(ctx, value_truthy(value_get(value_get(args, "kwargs"), "all")), err);
    return *ret_value != NULL ? 0 : err->code;
}

int
docker_fn_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *state = docker_state_now(ctx, dockerlook_name_of(args), err);

    *ret_value = state != NULL ? json_string(state) : NULL;
    return state != NULL ? 0 : err->code;
}

/* Only the engine's "not found" is false; any other failure is an error. */
int
docker_fn_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *container = docker_container(ctx, dockerlook_name_of(args), err);

    if (container == NULL && err->code != -ENOENT)
        return err->code;
    fail_clear(err);
    *ret_value = json_boolean(container != NULL);
    return 0;
}

int
docker_fn_inspect_container(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = docker_container(ctx, dockerlook_name_of(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The first of a container, an image, a volume and a network that has the name, in Salt's order. */
int
docker_fn_inspect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = dockerlook_name_of(args);
    AUTO_FREE char *volume = engine_path("/volumes/%s", name);
    AUTO_FREE char *network = engine_path("/networks/%s", name);
    const char *const paths[] = { volume, network };
    json_t *found = docker_container(ctx, name, err);

    if (found == NULL && err->code == -ENOENT) {
        fail_clear(err);
        found = docker_image(ctx, name, err);
    }
    for (size_t i = 0; i < NELEMS(paths) && found == NULL && err->code == -ENOENT; i++) {
        fail_clear(err);
        found = engine_get(ctx, err, paths[i]);
    }
    if (found == NULL && err->code == -ENOENT) {
        fail_clear(err);
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Error 404: No such image/container/volume/network: %s",
                         name);
    }
    *ret_value = found;
    return found != NULL ? 0 : err->code;
}

/* A container that is stopped has pid 0. */
int
docker_fn_pid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *container = docker_container(ctx, dockerlook_name_of(args), err);

    if (container == NULL)
        return err->code;
    *ret_value = json_integer(value_int(value_get(container, "State"), "Pid", 0));
    return 0;
}

/* ---- ports ------------------------------------------------------------------------------------- */

/* The pattern of ports that is meant. NEW, or NULL with *err. */
static char *
port_pattern(const json_t *port, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(port);
    size_t digits = strspn(text, "0123456789");

    if (port == NULL || json_is_null(port))
        return xstrdup("*");
    if (json_is_integer(port))
        return xasprintf("%s/*", text);
    if (digits > 0 && (strcasecmp(text + digits, "/tcp") == 0 || strcasecmp(text + digits, "/udp") == 0)) {
        for (char *p = text + digits; *p != '\0'; p++)
            *p = (char) (*p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : *p);
        return STEAL(text);
    }
    (void) fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "Invalid private_port '%s'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)",
        text);
    return NULL;
}

/* The engine's own object of ports, of which the pattern picks. NEW, or NULL with *err. */
static json_t *
ports_of(call_ctx_t *ctx, const char *name, const char *pattern, fail_t *err)
{
    json_auto_t *container = docker_container(ctx, name, err);
    json_t *out, *v;
    const char *port;

    if (container == NULL)
        return NULL;
    out = json_object();
    json_object_foreach (value_path(container, "NetworkSettings:Ports", ":"), port, v) {
        if (match_glob(pattern, port))
            json_object_set(out, port, v);
    }
    return out;
}

/* A name with wildcards answers with an object by container, one without with the ports themselves. */
int
docker_fn_port(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = dockerlook_name_of(args);
    AUTO_FREE char *pattern = port_pattern(value_get(args, "private_port"), err);
    json_t *one;
    size_t i;

    if (pattern == NULL)
        return err->code;
    if (strpbrk(name, "*?[") == NULL) {
        *ret_value = ports_of(ctx, name, pattern, err);
        return *ret_value != NULL ? 0 : err->code;
    }
    json_auto_t *names = container_names(ctx, true, err);
    json_auto_t *out = json_object();
    if (names == NULL)
        return err->code;
    json_array_foreach (names, i, one) {
        json_t *ports = match_glob(name, json_string_value(one))
                            ? ports_of(ctx, json_string_value(one), pattern, err)
                            : NULL;
        if (err->code < 0)
            return err->code;
        if (ports != NULL)
            json_object_set_new(out, json_string_value(one), ports);
    }
    *ret_value = json_incref(out);
    return 0;
}

/* ---- inside ------------------------------------------------------------------------------------ */

/* Rows of `ps` in the container, with its titles as keys. */
int
docker_fn_top(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = engine_path("/containers/%s/top", dockerlook_name_of(args));
    json_auto_t *answer = engine_get(ctx, err, path);
    json_t *row, *v;
    size_t i, k;

    if (answer == NULL)
        return err->code;
    *ret_value = json_array();
    json_array_foreach (value_get(answer, "Processes"), i, row) {
        json_t *one = json_object();
        json_array_foreach (row, k, v) {
            const char *title = json_string_value(json_array_get(value_get(answer, "Titles"), k));
            json_object_set(one, title != NULL ? title : "", v);
        }
        json_array_append_new(*ret_value, one);
    }
    return 0;
}

/* The engine writes kinds as numbers. */
int
docker_fn_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const kinds[] = { "Changed", "Added", "Deleted" };
    AUTO_FREE char *path = engine_path("/containers/%s/changes", dockerlook_name_of(args));
    json_auto_t *answer = engine_get(ctx, err, path);
    json_t *one;
    size_t i;

    if (answer == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (answer, i, one) {
        json_int_t kind = value_int(one, "Kind", -1);
        const char *key = kind >= 0 && kind < (json_int_t) NELEMS(kinds) ? kinds[kind] : "Unknown";
        if (value_get(*ret_value, key) == NULL)
            json_object_set_new(*ret_value, key, json_array());
        json_array_append(value_get(*ret_value, key), value_get(one, "Path"));
    }
    return 0;
}

/* Frames of eight bytes, {stream, 0, 0, 0, length}, and what they hold; anything else is text. */
void
docker_demux(const buf_t *raw, buf_t *out, buf_t *errs)
{
    enum { HEAD = 8, STREAMS = 2 };
    const unsigned char *p = (const unsigned char *) buf_str(raw);
    size_t left = raw->len;

    while (left >= HEAD && p[0] <= STREAMS && p[1] == 0 && p[2] == 0 && p[3] == 0) {
        size_t n = (size_t) p[4] << 24 | (size_t) p[5] << 16 | (size_t) p[6] << 8 | p[7];
        n = n < left - HEAD ? n : left - HEAD;
        buf_add(p[0] == STREAMS ? errs : out, p + HEAD, n);
        p += HEAD + n;
        left -= HEAD + n;
    }
    buf_add(out, p, left);
}

/* Both streams as one text, in the order in which the engine kept them. */
int
docker_fn_logs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = {
        "stdout", "stderr", "timestamps", "follow", "tail", "since", "until"
    };
    const json_t *more = value_get(args, "kwargs");
    AUTO_FREE char *path = engine_path("/containers/%s/logs", dockerlook_name_of(args));
    json_auto_t *query = json_pack("{s:b, s:b, s:b, s:b, s:s}", "stderr", 1, "stdout", 1, "timestamps", 0,
                                   "follow", 0, "tail", "all");
    buf_auto_t raw = BUF_INIT, text = BUF_INIT;

    if (value_get(more, "stream") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "The 'stream' argument is not supported");
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(more, names[i]);
        if (v != NULL)
            json_object_set(query, names[i], v);
    }
    if (engine_bytes(ctx, &(engine_ask_t){ .method = "GET", .path = path, .query = query }, &raw, err) < 0)
        return err->code;
    docker_demux(&raw, &text, &text);
    *ret_value = value_utf8(buf_str(&text), text.len);
    return 0;
}

/* ---- the engine -------------------------------------------------------------------------------- */

int
docker_fn_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = engine_get(ctx, err, "/info");
    return *ret_value != NULL ? 0 : err->code;
}

/* The numbers that a version begins with, as a list beside it: "20.10.5+dfsg1" is [20, 10, 5]. A version that
 * begins with none has no such list. */
int
docker_fn_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[][2] = { { "Version", "VersionInfo" },
                                            { "ApiVersion", "ApiVersionInfo" } };

    *ret_value = engine_get(ctx, err, "/version");
    if (*ret_value == NULL)
        return err->code;
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_auto_t *numbers = json_array();
        for (const char *p = value_str(*ret_value, names[i][0], NULL); p != NULL && *p >= '0' && *p <= '9';) {
            json_array_append_new(numbers, json_integer(strtoll(p, (char **) &p, 10)));
            p += *p == '.';
        }
        if (json_array_size(numbers) > 0)
            json_object_set(*ret_value, names[i][1], numbers);
    }
    return 0;
}

/* ---- comparisons ------------------------------------------------------------------------------- */

int
docker_fn_compare_containers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *first = docker_container(ctx, value_str(args, "first", ""), err);
    json_auto_t *second = first != NULL ? docker_container(ctx, value_str(args, "second", ""), err) : NULL;
    const json_t *const both[] = { first, second };
    json_auto_t *ids = json_object();
    json_t *given = value_get(args, "ignore");
    json_auto_t *ignore = value_truthy(given) ? docker_stringlist(given) : json_array();

    if (second == NULL)
        return err->code;
    /* A container keeps the name by which its image was asked for; what that means now is compared. */
    for (size_t i = 0; i < NELEMS(both); i++) {
        const char *name = value_str(value_get(both[i], "Config"), "Image", "");
        json_auto_t *image = docker_image(ctx, name, err);
        if (image == NULL)
            return err->code;
        json_object_set(ids, name, value_get(image, "Id"));
    }
    *ret_value = docker_compare_containers(first, second, ids, ignore);
    return 0;
}

/* A container as it is given, inspected already, or by its name; NEW. A running one has only the networks
 * whose list names it. */
static json_t *
compared_container(call_ctx_t *ctx, json_t *given, fail_t *err)
{
    AUTO_FREE char *name = value_pystr(given);
    json_auto_t *container = json_is_object(given) ? json_deep_copy(given) : docker_container(ctx, name, err);
    json_t *nets = value_path(container, "NetworkSettings:Networks", ":"), *v;
    const char *key, *id = value_str(container, "Id", "");
    void *next;

    if (container == NULL)
        return NULL;
    json_object_foreach_safe (nets, next, key, v) {
        fail_auto_t bad = FAIL_INIT;
        AUTO_FREE char *path = engine_path("/networks/%s", key);
        json_auto_t *net = engine_get(ctx, &bad, path);
        bool lost = strcmp(docker_state_of(container), "running") == 0 &&
                    value_get(value_get(net, "Containers"), id) == NULL;
        if (net != NULL && lost)
            json_object_del(nets, key);
    }
    return json_incref(container);
}

int
docker_fn_compare_container_networks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *first = compared_container(ctx, value_get(args, "first"), err);
    json_auto_t *second = first != NULL ? compared_container(ctx, value_get(args, "second"), err) : NULL;
    json_t *set = engine_option(ctx, "docker.compare_container_networks");
    json_auto_t *keys = set != NULL ? json_incref(set)
                                    : json_pack("{s:[s, s, s], s:[s, s, s, s]}", "static", "Aliases", "Links",
                                                "IPAMConfig", "automatic", "IPAddress", "Gateway",
                                                "GlobalIPv6Address", "IPv6Gateway");

    if (second == NULL)
        return err->code;
    *ret_value = docker_compare_endpoints(first, second, keys);
    return 0;
}
