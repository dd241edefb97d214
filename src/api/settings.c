/* settings.c - see settings.h. The table has every name that Salt's section rest_cherrypy knows, so that a
 * misspelt one is noticed; those that say who may ask were looked at when the configuration was read
 * (common/conf/conf_rules.c). */
#include "api/settings.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/value.h"

typedef enum kind { TEXT, NUMBER, FLAG, LIST, MAPPING } kind_t;

typedef struct setting {
    const char *name;
    kind_t kind;
    const char *dflt;     /* JSON */
    json_int_t min, max;  /* of a number */
    const char *needless; /* why it has no effect; NULL: it has */
} setting_t;

#define ONE_THREAD "one thread serves all connections"
static const setting_t rows[] = {
    { "port", NUMBER, "null", 1, 65535 },
    { "host", TEXT, "\"0.0.0.0\"" },
    { "ssl_crt", TEXT, "\"\"" },
    { "ssl_key", TEXT, "\"\"" },
    { "ssl_chain", TEXT, "\"\"" },
    { "disable_ssl", FLAG, "false" },
    { "debug", FLAG, "false", .needless = "log_level debug tells more" },
    { "log_access_file", TEXT, "\"\"" },
    { "log_error_file", TEXT, "\"\"", .needless = "errors go to api_logfile" },
    { "webhook_url", TEXT, "\"/hook\"" },
    { "webhook_disable_auth", FLAG, "false" },
    { "static", TEXT, "\"\"" },
    { "static_path", TEXT, "\"/static\"" },
    { "favicon", TEXT, "\"\"" },
    { "app", TEXT, "\"\"" },
    { "app_path", TEXT, "\"/app\"" },
    { "page", FLAG, "true" },
    { "root_prefix", TEXT, "\"/\"" },
    { "stats_disable_auth", FLAG, "false" },
    { "collect_stats", FLAG, "false" },
    { "metrics_disable_auth", FLAG, "false" },
    { "enable_sessions", FLAG, "true" },
    { "max_request_body_size", NUMBER, "1048576", 1024, 64 * 1024 * 1024 },
    { "cors_origin", LIST, "[]" },
    { "api_acl", MAPPING, "{}" },
    { "authorized_ips", LIST, "[]" },
    { "socket_queue_size", NUMBER, "128", 1, 65535 },
    { "request_timeout", NUMBER, "30", 1, 3600 },
    { "connections", NUMBER, "10000", 8, 1000000 },
    { "connections_per_address", NUMBER, "1000", 1, 1000000 },
    { "expire_responses", FLAG, "true",
      .needless = "answers carry no Expires, and Cache-Control says private" },
    { "thread_pool", NUMBER, "100", 0, 1000000, ONE_THREAD },
    { "websockets", FLAG, "true", .needless = "they are served" },
    { "num_processes", NUMBER, "1", 0, 1000000, ONE_THREAD },
    { "backlog", NUMBER, "128", 0, 1000000, "socket_queue_size says how many connections wait" },
};

static const setting_t *
setting_of(const char *name)
{
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (str_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static const char *
setting_next(void *cookie)
{
    size_t *at = cookie;

    return *at < NELEMS(rows) ? rows[(*at)++].name : NULL;
}

/* A text stands for a list of one. */
static int
setting_fits(const setting_t *row, const json_t *value, fail_t *err)
{
    static const char *const words[] = { "a text", "a number", "true or false", "a list", "a mapping" };
    bool fits[] = { json_is_string(value), json_is_integer(value), json_is_boolean(value),
                    json_is_array(value) || json_is_string(value), json_is_object(value) };

    if (!fits[row->kind])
        return fail_set(err, -EINVAL, "rest_cherrypy: %s: %s is wanted", row->name, words[row->kind]);
    json_int_t number = json_integer_value(value);
    if (row->kind == NUMBER && (number < row->min || number > row->max))
        return fail_set(err, -EINVAL, "rest_cherrypy: %s: %lld is not from %lld to %lld", row->name,
                        (long long) number, (long long) row->min, (long long) row->max);
    return 0;
}

/* One name of the section. */
static int
setting_take(json_t *rest, const char *name, json_t *value, json_t *warnings, fail_t *err)
{
    const setting_t *row = setting_of(name);

    if (row == NULL) {
        size_t at = 0;
        const char *near = str_suggest(name, setting_next, &at);
        json_array_append_new(warnings, value_fmt("rest_cherrypy: unknown option '%s'%s%s%s", name,
                                                  near != NULL ? "; is '" : "", near != NULL ? near : "",
                                                  near != NULL ? "' meant?" : ""));
        return 0;
    }
    if (json_is_null(value))
        return 0;
    if (setting_fits(row, value, err) < 0)
        return err->code;
    if (row->needless != NULL)
        json_array_append_new(warnings,
                              value_fmt("rest_cherrypy: '%s' has no effect: %s", name, row->needless));
    json_t *kept = row->kind == LIST && json_is_string(value) ? json_pack("[O]", value) : json_incref(value);
    return json_object_set_new(rest, name, kept);
}

/* Without TLS only this host may be served, or a proxy on it. */
bool
settings_loopback(const char *host)
{
    struct in_addr address;

    if (inet_pton(AF_INET, host, &address) == 1)
        return ntohl(address.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    return str_eq(host, "::1") || str_eq(host, "localhost");
}

/* Without TLS, passwords and tokens are readable to everybody on the way: only this machine may see them. */
static int
check_transport(settings_t *self, fail_t *err)
{
    bool has_crt = *settings_str(self, "ssl_crt") != '\0', has_key = *settings_str(self, "ssl_key") != '\0';

    self->tls = !settings_flag(self, "disable_ssl");
    if (self->tls && (!has_crt || !has_key))
        return fail_set(err, -EINVAL,
                        "rest_cherrypy: ssl_crt and ssl_key are wanted: files of a certificate and its key. "
                        "Without TLS set disable_ssl: True and host: 127.0.0.1, for a proxy on this machine");
    if (!self->tls && !settings_loopback(settings_str(self, "host")))
        return fail_set(err, -EINVAL,
                        "rest_cherrypy: disable_ssl with host '%s': passwords would cross the network in the "
                        "clear. Set host: 127.0.0.1, or ssl_crt and ssl_key",
                        settings_str(self, "host"));
    return 0;
}

/* Names, as one text or a list. */
static bool
settings_names(const json_t *list, const char *name)
{
    return json_is_string(list) ? str_eq(json_string_value(list), name) : value_lists(list, name);
}

static const char *const client_names[] = { "local",        "local_async", "local_batch",
                                            "local_subset", "runner",      "runner_async",
                                            "ssh",          "wheel",       "wheel_async" };

/* Defaults of all names first, so that readers never meet a missing one. */
static int
settings_read(settings_t *self, const json_t *section, json_t *warnings, fail_t *err)
{
    json_t *value;
    const char *name;

    for (size_t i = 0; i < NELEMS(rows); i++)
        json_object_set_new(self->rest, rows[i].name, json_loads(rows[i].dflt, JSON_DECODE_ANY, NULL));
    json_object_foreach ((json_t *) section, name, value)
        if (setting_take(self->rest, name, value, warnings, err) < 0)
            return err->code;
    if (value_int(self->rest, "port", 0) == 0)
        return fail_set(err, -EINVAL, "rest_cherrypy: port is wanted, as 8000");
    if (check_transport(self, err) < 0)
        return err->code;

    AUTO_FREE char *prefix = xstrdup(settings_str(self, "root_prefix"));
    while (str_ends(prefix, "/"))
        prefix[strlen(prefix) - 1] = '\0';
    json_object_set_new(self->rest, "root_prefix", json_string(prefix));
    self->prefix = settings_str(self, "root_prefix");
    self->body_max = (size_t) value_int(self->rest, "max_request_body_size", 0);
    const json_t *enabled = value_get(self->opts, "netapi_enable_clients"),
                 *disabled = value_get(self->opts, "netapi_disable_clients");
    json_t *clients = json_array();

    for (size_t i = 0; i < NELEMS(client_names); i++)
        if (settings_names(enabled, client_names[i]) && !settings_names(disabled, client_names[i]))
            json_array_append_new(clients, json_string(client_names[i]));
    self->clients = clients;
    return 0;
}

settings_t *
settings_new(const json_t *opts, json_t *warnings, fail_t *err)
{
    AUTO(settings) self = xcalloc(1, sizeof(*self));
    const json_t *section = value_get(opts, "rest_cherrypy");

    self->rest = json_object();
    self->opts = opts;
    if (json_object_size(section) == 0 && json_object_size(value_get(opts, "rest_tornado")) > 0) {
        section = value_get(opts, "rest_tornado");
        json_array_append_new(warnings, json_string("rest_tornado is read as rest_cherrypy, whose routes are "
                                                    "served: rename the section"));
    }
    if (json_object_size(section) == 0) {
        fail_set(err, -EINVAL, "the configuration has no section rest_cherrypy; it begins with port: 8000");
        return NULL;
    }
    return settings_read(self, section, warnings, err) < 0 ? NULL : STEAL(self);
}

settings_t *
settings_metrics(const json_t *opts)
{
    json_int_t port = value_int(opts, "metrics_port", 0);
    json_auto_t *section = json_pack("{s:I, s:s, s:b, s:b}", "port", port, "host", "127.0.0.1", "disable_ssl",
                                     1, "metrics_disable_auth", 1),
                *warnings = json_array();
    settings_t *self = port > 0 ? xcalloc(1, sizeof(*self)) : NULL;

    if (self == NULL)
        return NULL;
    self->rest = json_object();
    self->opts = opts;
    salt_assert(settings_read(self, section, warnings, NULL) == 0);
    return self;
}

void
settings_destroy(settings_t **self_p)
{
    settings_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    json_decref(self->rest);
    json_decref(self->clients);
    free(self);
}

const char *
settings_str(const settings_t *self, const char *name)
{
    return value_str(self->rest, name, "");
}

bool
settings_flag(const settings_t *self, const char *name)
{
    return value_bool(self->rest, name, false);
}

/* Salt's order: a list of the user's own, or else that of "*"; an empty api_acl admits all. */
bool
settings_admits(const settings_t *self, const char *user, const char *address)
{
    const json_t *ips = value_get(self->rest, "authorized_ips"),
                 *users = value_get(value_get(self->rest, "api_acl"), "users");

    if (json_array_size(ips) > 0 && !value_lists(ips, address) && !value_lists(ips, "*"))
        return false;
    if (user == NULL || json_object_size(users) == 0)
        return true;
    const json_t *list = value_get(users, user);
    if (list == NULL)
        list = value_get(users, "*");
    return value_lists(list, address) || value_lists(list, "*");
}
