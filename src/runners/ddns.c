/* ddns.c - runner `ddns`: records of a name server that takes dynamic updates (RFC 2136), by nsupdate.h.
 * Functions query first and update only when something changes. Answers are {name: text}; a refused update
 * sets the retcode. */
#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

#include "common/base/str.h"
#include "common/host/nsupdate.h"
#include "salt/plugin.h"

/* Length of a name without its final dots. */
static size_t
bare_length(const char *name)
{
    size_t n = strlen(name);

    while (n > 0 && name[n - 1] == '.')
        n--;
    return n;
}

/* `name` in `zone` as a whole name. It has the zone already only as its last labels, in any case of the
 * letters: "wexample.orgww" in example.org is a name of one's own. NEW. */
static char *
fqdn_of(const char *name, const char *zone)
{
    size_t n = bare_length(name), zone_n = bare_length(zone);

    if (zone_n > 0 && n >= zone_n && strncasecmp(name + n - zone_n, zone, zone_n) == 0 &&
        (n == zone_n || name[n - zone_n - 1] == '.'))
        n -= zone_n;
    while (n > 0 && name[n - 1] == '.')
        n--;
    return n > 0 ? xasprintf("%.*s.%s", (int) n, name, zone) : xstrdup(zone);
}

/* NEW {fqdn: text}. TAKES text. */
static json_t *
ddns_said(const char *fqdn, json_t *text)
{
    return json_pack("{s:o}", fqdn, text);
}

/* Result of an update from `rc` of zone_update. Failed updates are not errors, as in Salt; the retcode tells.
 * NEW; NULL: the server did not answer. */
static json_t *
ddns_outcome(call_ctx_t *ctx, int rc, const char *fqdn, json_t *done, json_t *failed, const char *why)
{
    json_auto_t *good = done, *bad = failed;

    if (rc < 0)
        return NULL;
    if (rc > 0)
        return ddns_said(fqdn, json_incref(good));
    ctx_set_retcode(ctx, 1);
    return ddns_said(fqdn, value_fmt("%s (%s)", json_string_value(bad), why));
}

/* ---- one record ---------------------------------------------------------------------------------------- */

typedef struct record {
    const char *fqdn, *type, *data; /* type and data may be NULL where all are meant */
    json_int_t ttl;
} record_t;

/* The member of `found` with this data. BORROWED; NULL: none. */
static json_t *
find_data(json_t *found, const char *data)
{
    json_t *one;
    size_t i;

    json_array_foreach (found, i, one)
        if (zone_same_data(value_str(one, "data", ""), data))
            return one;
    return NULL;
}

/* Adds a record unless one with the same data exists, whatever its TTL. */
static json_t *
ddns_own_create(call_ctx_t *ctx, const zone_t *zone, const record_t *r, fail_t *err)
{
    json_auto_t *found = zone_check_data(r->data, err) == 0 ? zone_query(zone, r->fqdn, r->type, err) : NULL;
    AUTO_FREE char *why = NULL;

    if (found == NULL)
        return NULL;
    const json_t *same = find_data(found, r->data);
    if (same != NULL)
        return ddns_said(r->fqdn, value_fmt("Record of type '%s' already exists with ttl of %lld", r->type,
                                            (long long) value_int(same, "ttl", 0)));
    AUTO_FREE char *lines = xasprintf("update add %s %lld %s %s", r->fqdn, (long long) r->ttl, r->type,
                                      r->data);
    int rc = zone_update(zone, lines, &why, err);
    return ddns_outcome(ctx, rc, r->fqdn,
                        value_fmt("Created record of type '%s': %s -> %s", r->type, r->fqdn, r->data),
                        value_fmt("Failed to create record of type '%s'", r->type), why);
}

/* Replaces all records of the type by one. A record with the same data and TTL is left alone unless `replace`
 * has others to remove. */
static json_t *
ddns_own_update(call_ctx_t *ctx, const zone_t *zone, const record_t *r, bool replace, fail_t *err)
{
    json_auto_t *found = zone_check_data(r->data, err) == 0 ? zone_query(zone, r->fqdn, r->type, err) : NULL;
    AUTO_FREE char *why = NULL;

    if (found == NULL)
        return NULL;
    if (json_array_size(found) == 0)
        return ddns_said(r->fqdn, json_string("No matching DNS record(s) found"));
    const json_t *same = find_data(found, r->data);
    if (same != NULL && value_int(same, "ttl", -1) == r->ttl && !(replace && json_array_size(found) > 1))
        return ddns_said(r->fqdn, value_fmt("Record of type '%s' already present with ttl of %lld", r->type,
                                            (long long) r->ttl));
    AUTO_FREE char *lines = xasprintf("update delete %s %s\nupdate add %s %lld %s %s", r->fqdn, r->type,
                                      r->fqdn, (long long) r->ttl, r->type, r->data);
    int rc = zone_update(zone, lines, &why, err);
    return ddns_outcome(ctx, rc, r->fqdn, value_fmt("Updated record of type '%s'", r->type),
                        value_fmt("Failed to update record of type '%s'", r->type), why);
}

/* Deletes the records of a name: all, those of a type, or the one with the data. */
static json_t *
ddns_own_delete(call_ctx_t *ctx, const zone_t *zone, const record_t *r, fail_t *err)
{
    json_auto_t *found = r->data == NULL || zone_check_data(r->data, err) == 0
                             ? zone_query(zone, r->fqdn, r->type != NULL ? r->type : "ANY", err)
                             : NULL;
    AUTO_FREE char *why = NULL;

    if (found == NULL)
        return NULL;
    if (json_array_size(found) == 0)
        return ddns_said(r->fqdn, json_string("No matching DNS record(s) found"));
    AUTO_FREE char *lines = xasprintf("update delete %s %s %s", r->fqdn, r->type != NULL ? r->type : "",
                                      r->type != NULL && r->data != NULL ? r->data : "");
    int rc = zone_update(zone, lines, &why, err);
    return ddns_outcome(ctx, rc, r->fqdn, json_string("Deleted DNS record(s)"),
                        json_string("Failed to delete DNS record(s)"), why);
}

/* The record that the arguments name. `fqdn` is where its name will be: NEW. */
static record_t
record_of(const json_t *args, char **fqdn)
{
    *fqdn = fqdn_of(value_str(args, "name", ""), value_str(args, "zone", ""));
    return (record_t){ *fqdn, value_str(args, "rdtype", NULL), value_str(args, "data", NULL),
                       value_int(args, "ttl", 0) };
}

static int
ddns_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    zone_auto_t zone = { 0 };
    AUTO_FREE char *fqdn = NULL;
    record_t r = record_of(args, &fqdn);

    *ret_value = zone_init(&zone, args, err) == 0 ? ddns_own_create(ctx, &zone, &r, err) : NULL;
    return *ret_value != NULL ? 0 : -EIO;
}

static int
ddns_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    zone_auto_t zone = { 0 };
    AUTO_FREE char *fqdn = NULL;
    record_t r = record_of(args, &fqdn);

    *ret_value = zone_init(&zone, args, err) == 0
                     ? ddns_own_update(ctx, &zone, &r, value_bool(args, "replace", false), err)
                     : NULL;
    return *ret_value != NULL ? 0 : -EIO;
}

static int
ddns_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    zone_auto_t zone = { 0 };
    AUTO_FREE char *fqdn = NULL;
    record_t r = record_of(args, &fqdn);

    *ret_value = zone_init(&zone, args, err) == 0 ? ddns_own_delete(ctx, &zone, &r, err) : NULL;
    return *ret_value != NULL ? 0 : -EIO;
}

/* ---- hosts: a name and its address, in both directions ------------------------------------------------- */

typedef json_t *reverse_fn(call_ctx_t *ctx, const zone_t *zone, const record_t *r, fail_t *err);

/* True for answers that end the search for the reverse zone. */
static bool
is_settled(const char *text)
{
    static const char *const good[] = { "Created", "Deleted", "already exists" };

    for (size_t i = 0; i < NELEMS(good); i++)
        if (strstr(text, good[i]) != NULL)
            return true;
    return false;
}

/* The address's name in each zone that may hold it, the smallest first, until one of them takes it. What was
 * said last: NEW text, or NULL with *err. */
static json_t *
ddns_reverse(call_ctx_t *ctx, const zone_t *zone, const char *ip, const record_t *host, reverse_fn *act,
             fail_t *err)
{
    struct in_addr address;
    AUTO_FREE char *data = xasprintf("%s%s", host->fqdn, str_ends(host->fqdn, ".") ? "" : ".");
    int retcode = ctx_retcode(ctx);

    if (inet_pton(AF_INET, ip, &address) != 1) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "ip: '%s' is not an IPv4 address", ip);
        return NULL;
    }
    const uint8_t *b = (const uint8_t *) &address.s_addr;
    AUTO_FREE char *name = xasprintf("%u.%u.%u.%u.in-addr.arpa.", b[3], b[2], b[1], b[0]);
    json_t *last = NULL;
    const char *at = name;
    for (int i = 0; i < 3; i++) {
        at = strchr(at, '.') + 1;
        zone_t up = *zone;
        up.name = at;
        record_t r = { name, "PTR", data, host->ttl };
        json_auto_t *one = act(ctx, &up, &r, err);
        if (one == NULL)
            break;
        json_decref(last);
        last = json_incref(value_get(one, name));
        if (is_settled(json_string_value(last))) {
            ctx_set_retcode(ctx, retcode);
            return last;
        }
    }
    if (err->code == 0)
        return last;
    json_decref(last);
    return NULL;
}

/* Creates the A record and its PTR record; the answer holds both texts. */
static int
ddns_add_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    zone_auto_t zone = { 0 };
    AUTO_FREE char *fqdn = NULL;
    record_t r = record_of(args, &fqdn);

    r.type = "A";
    r.data = value_str(args, "ip", "");
    json_auto_t *one = zone_init(&zone, args, err) == 0 ? ddns_own_create(ctx, &zone, &r, err) : NULL;
    json_t *back = one != NULL ? ddns_reverse(ctx, &zone, r.data, &r, ddns_own_create, err) : NULL;
    if (back == NULL)
        return -EIO;
    *ret_value = json_pack("{s:[O, o]}", fqdn, value_get(one, fqdn), back);
    return 0;
}

/* The reverse records of each address that there was. */
static int
delete_reverse(call_ctx_t *ctx, const zone_t *zone, const record_t *r, json_t *found, json_t *all,
               fail_t *err)
{
    json_t *one;
    size_t i;

    json_array_foreach (found, i, one) {
        json_auto_t *back = ddns_reverse(ctx, zone, value_str(one, "data", ""), r, ddns_own_delete, err);
        if (back == NULL)
            return -EIO;
        json_array_append_new(all, strstr(json_string_value(back), "Deleted") != NULL
                                       ? value_fmt("%s of type 'PTR'", json_string_value(back))
                                       : json_incref(back));
    }
    return 0;
}

static int
ddns_delete_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    zone_auto_t zone = { 0 };
    AUTO_FREE char *fqdn = NULL;
    record_t r = record_of(args, &fqdn);
    json_auto_t *found = zone_init(&zone, args, err) == 0 ? zone_query(&zone, fqdn, "A", err) : NULL;
    json_auto_t *one = found != NULL ? ddns_own_delete(ctx, &zone, &r, err) : NULL;
    json_auto_t *all = json_array();

    if (one == NULL)
        return -EIO;
    json_array_append_new(all, value_fmt("%s of type 'A'", value_str(one, fqdn, "")));
    int rc = delete_reverse(ctx, &zone, &r, found, all, err);
    if (rc == 0)
        *ret_value = json_pack("{s:O}", fqdn, all);
    return rc;
}

/* ---- table --------------------------------------------------------------------------------------------- */

#define ZONE_NAME                                                                                            \
    ARG("zone", ARG_STR, ARG_REQUIRED, "The zone"),                                                          \
        ARG("name", ARG_STR, ARG_REQUIRED, "The name in it, with or without the zone")
#define TTL ARG("ttl", ARG_INT, ARG_REQUIRED, "Seconds that others may keep it")
#define KEY_SERVER                                                                                           \
    ARG("keyname", ARG_ANY, ARG_REQUIRED, "Name of the TSIG key; None: the file's first"),                   \
        ARG("keyfile", ARG_ANY, ARG_REQUIRED, "JSON file {name: secret}; None: updates are not signed"),     \
        ARG("nameserver", ARG_STR, ARG_REQUIRED, "Its IP address"),                                          \
        ARG("timeout", ARG_INT, "5", "Seconds to wait for it")
#define PORT_ALGORITHM                                                                                       \
    ARG("port", ARG_INT, "53", "Its port"),                                                                  \
        ARG("keyalgorithm", ARG_STR, "\"hmac-md5\"", "hmac-md5, hmac-sha1, hmac-sha256, ...")

static const arg_t create_args[] = { ZONE_NAME,
                                     TTL,
                                     ARG("rdtype", ARG_STR, ARG_REQUIRED,
                                         "Type of record: A, CNAME, TXT, ..."),
                                     ARG("data", ARG_STR, ARG_REQUIRED, "Its data"),
                                     KEY_SERVER,
                                     PORT_ALGORITHM,
                                     ARGS_END };
static const arg_t update_args[] = {
    ZONE_NAME,
    TTL,
    ARG("rdtype", ARG_STR, ARG_REQUIRED, "Type of record: A, CNAME, TXT, ..."),
    ARG("data", ARG_STR, ARG_REQUIRED, "Its data"),
    KEY_SERVER,
    ARG("replace", ARG_BOOL, "false", "It shall be the only one of its type"),
    PORT_ALGORITHM,
    ARGS_END
};
static const arg_t delete_args[] = { ZONE_NAME,
                                     KEY_SERVER,
                                     ARG("rdtype", ARG_STR, "null", "Only records of this type"),
                                     ARG("data", ARG_STR, "null", "Only the one with this data"),
                                     PORT_ALGORITHM,
                                     ARGS_END };
static const arg_t add_host_args[] = {
    ZONE_NAME, TTL, ARG("ip", ARG_STR, ARG_REQUIRED, "Its IPv4 address"), KEY_SERVER, PORT_ALGORITHM, ARGS_END
};
static const arg_t delete_host_args[] = { ZONE_NAME, KEY_SERVER, PORT_ALGORITHM, ARGS_END };

static const func_t funcs[] = {
    { "add_host", ddns_add_host, add_host_args, FN_ACCESS_ADMIN,
      "Create the A record of a host and the PTR record of its address, in the smallest reverse zone that "
      "the server takes it for." CLI_EXAMPLE("salt-run ddns.add_host domain.com my-test-vm 3600 10.20.30.40 "
                                             "my-tsig-key /etc/salt/tsig.keyring 10.0.0.1 5") },
    { "create", ddns_create, create_args, FN_ACCESS_ADMIN,
      "Create a record." CLI_EXAMPLE(
          "salt-run ddns.create domain.com my-test-vm 3600 A 10.20.30.40 my-tsig-key "
          "/etc/salt/tsig.keyring 10.0.0.1 5") },
    { "delete", ddns_delete, delete_args, FN_ACCESS_ADMIN,
      "Delete the records of a name: all, those of a type, or one." CLI_EXAMPLE(
          "salt-run ddns.delete domain.com my-test-vm my-tsig-key /etc/salt/tsig.keyring 10.0.0.1 5 A") },
    { "delete_host", ddns_delete_host, delete_host_args, FN_ACCESS_ADMIN,
      "Delete a host's records, and the PTR records of its addresses." CLI_EXAMPLE(
          "salt-run ddns.delete_host domain.com my-test-vm my-tsig-key /etc/salt/tsig.keyring 10.0.0.1 5") },
    { "update", ddns_update, update_args, FN_ACCESS_ADMIN,
      "Change a record that is there.\n\nreplace : False\n    Others of its name and type "
      "go." CLI_EXAMPLE("salt-run ddns.update domain.com my-test-vm 3600 A 10.20.30.40 my-tsig-key "
                        "/etc/salt/tsig.keyring 10.0.0.1 5") },
};

PLUGIN(runner, ddns, .doc = "Records of a name server that takes dynamic updates", FUNCS(funcs));
