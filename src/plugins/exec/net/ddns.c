/* ddns.c - execution module `ddns`: records of a name server that takes dynamic updates (RFC 2136), by
 * nsupdate.h. Answers are Salt's: True when the server has changed something, None when there was nothing to
 * change, False when it refuses. */
#include <arpa/inet.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/nsupdate.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* Outcomes of an update beside a negative errno. */
enum { DDNS_REFUSED, DDNS_DONE, DDNS_NOTHING };

/* The server and the key by the call's keywords, or by the options ddns.*. The arguments that zone_init()
 * reads: NEW, or NULL with *err. A keyword of the call wins over the option; a key that is in neither is left
 * out, and the update is sent unsigned. */
static json_t *
server_args(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    static const char *const keys[] = { "keyfile", "keyname", "keyalgorithm" };
    static const char *const own[] = { "nameserver", "timeout", "port" };
    json_auto_t *all = json_pack("{s:O}", "zone", value_get(args, "zone"));

    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set(all, own[i], value_get(args, own[i]));
    for (size_t i = 0; i < NELEMS(keys); i++) {
        AUTO_FREE char *option = xasprintf("ddns.%s", keys[i]);
        json_t *given = value_get(value_get(args, "kwargs"), keys[i]);
        json_auto_t *set = given != NULL ? json_incref(given)
                                         : sub_call(ctx, err, "config.option", "{s:s}", "value", option);
        if (set == NULL)
            return NULL;
        if (value_truthy(set))
            json_object_set(all, keys[i], set);
    }
    return json_incref(all);
}

/* A name in the zone; one that ends with a dot is whole. NEW. */
static char *
whole_name(const char *name, const char *zone)
{
    return str_ends(name, ".") ? xasprintf("%s", name) : xasprintf("%s.%s", name, zone);
}

/* A record as it is to be; `type` and `data` may be NULL where all are meant. */
typedef struct ddns_record {
    const char *name, *type, *data;
    json_int_t ttl;
} ddns_record_t;

/* Which of the reasons of RFC 2136 a server gives (REFUSED, NOTAUTH, YXRRSET) is only in the log: Salt's
 * answer is False for each. */
static int
sent(const zone_t *zone, const char *lines, fail_t *err)
{
    AUTO_FREE char *why = NULL;
    int rc = zone_update(zone, lines, &why, err);

    if (rc == 0)
        log_info("ddns: the name server %s refuses: %s", zone->server, why);
    return rc < 0 ? rc : rc > 0 ? DDNS_DONE : DDNS_REFUSED;
}

/* Adds the record, or puts it in the place of the others of its type. One of the same data and TTL stays.
 * Without `replace` other records of the name and type stay beside the new one. */
static int
put_record(const zone_t *zone, const ddns_record_t *r, bool replace, fail_t *err)
{
    AUTO_FREE char *fqdn = whole_name(r->name, zone->name);
    json_auto_t *found = zone_check_data(r->data, err) == 0 ? zone_query(zone, fqdn, r->type, err) : NULL;
    bool there = false;
    json_t *one;
    size_t i;

    if (found == NULL)
        return err->code;
    json_array_foreach (found, i, one)
        there = there ||
                (zone_same_data(value_str(one, "data", ""), r->data) && value_int(one, "ttl", -1) == r->ttl);
    if (there && !replace)
        return DDNS_NOTHING;
    AUTO_FREE char *removes = replace ? xasprintf("update delete %s %s\n", fqdn, r->type) : xstrdup("");
    AUTO_FREE char *lines = xasprintf("%supdate add %s %lld %s %s", removes, fqdn, (long long) r->ttl,
                                      r->type, r->data);
    return sent(zone, lines, err);
}

/* Removes a name's records: all, those of a type, or the one with the data. The name is asked first: a name
 * server takes the deletion of what is not there for a success, and Salt tells None. */
static int
drop_record(const zone_t *zone, const ddns_record_t *r, fail_t *err)
{
    AUTO_FREE char *fqdn = whole_name(r->name, zone->name);
    const char *type = r->type != NULL ? r->type : "ANY";
    json_auto_t *found = r->data == NULL || zone_check_data(r->data, err) == 0
                             ? zone_query(zone, fqdn, type, err)
                             : NULL;

    if (found == NULL)
        return err->code;
    if (json_array_size(found) == 0)
        return DDNS_NOTHING;
    AUTO_FREE char *lines = xasprintf("update delete %s %s %s", fqdn, r->type != NULL ? r->type : "",
                                      r->type != NULL && r->data != NULL ? r->data : "");
    return sent(zone, lines, err);
}

/* NEW True, None or False. */
static json_t *
outcome(int rc)
{
    return rc == DDNS_DONE ? json_true() : rc == DDNS_NOTHING ? json_null() : json_false();
}

/* update and delete: the row's number is 1 for update. */
static int
ddns_one(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *server = server_args(ctx, args, err);
    ddns_record_t r = { value_str(args, "name", ""), value_str(args, "rdtype", NULL),
                        value_str(args, "data", NULL), value_int(args, "ttl", 0) };
    zone_auto_t zone = { 0 };

    if (server == NULL || zone_init(&zone, server, err) < 0)
        return err->code;
    /* ddns_record_t has NULL for a type or data that the call leaves out, which only delete allows. */
    int rc = ctx_row(ctx)->data.number != 0
                 ? put_record(&zone, &r, value_truthy(value_get(args, "replace")), err)
                 : drop_record(&zone, &r, err);
    *ret_value = rc >= 0 ? outcome(rc) : NULL;
    return rc < 0 ? rc : 0;
}

/* ---- hosts ---------------------------------------------------------------------------------------- */

/* Puts or drops the PTR record of an address in the first reverse zone that takes it: 7.168.192.in-addr.arpa.
 * for the name 9, then 168.192.in-addr.arpa. for 9.7, .... Which of the three zones a server has is not known
 * beforehand: a refusal is the sign to go on with the next larger one. The zone's name is put into `zone` for
 * that and not put back. */
static int
in_reverse(zone_t *zone, const char *ip, const char *fqdn, const json_t *args, bool puts, fail_t *err)
{
    unsigned char byte[4];
    int rc = DDNS_REFUSED;

    if (inet_pton(AF_INET, ip, byte) != 1)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "ip: '%s' is no address of IPv4", ip);
    for (int n = 1; n < (int) NELEMS(byte) && rc == DDNS_REFUSED; n++) {
        buf_auto_t name = BUF_INIT, reverse = BUF_INIT;
        for (int i = (int) NELEMS(byte) - 1; i >= 0; i--) {
            buf_t *into = (int) NELEMS(byte) - i <= n ? &name : &reverse;
            buf_printf(into, "%s%u", into->len > 0 ? "." : "", byte[i]);
        }
        buf_puts(&reverse, ".in-addr.arpa.");
        ddns_record_t r = { buf_str(&name), "PTR", fqdn, value_int(args, "ttl", 0) };
        zone->name = buf_str(&reverse);
        rc = puts ? put_record(zone, &r, value_truthy(value_get(args, "replace")), err)
                  : drop_record(zone, &r, err);
    }
    return rc;
}

/* A host's name and its address, in both directions. True only when the PTR record was changed; a failure of
 * it leaves the answer of the address, as by Salt. */
static int
ddns_put_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *server = server_args(ctx, args, err);
    const char *ip = value_str(args, "ip", ""), *name = value_str(args, "name", "");
    ddns_record_t r = { name, "A", ip, value_int(args, "ttl", 0) };
    zone_auto_t zone = { 0 };

    if (server == NULL || zone_init(&zone, server, err) < 0)
        return err->code;
    AUTO_FREE char *fqdn = xasprintf("%s.%s.", name, zone.name);
    int rc = put_record(&zone, &r, value_truthy(value_get(args, "replace")), err);
    int ptr = rc == DDNS_DONE || rc == DDNS_NOTHING ? in_reverse(&zone, ip, fqdn, args, true, err) : rc;
    if (rc < 0 || ptr < 0)
        return err->code;
    *ret_value = outcome(rc != DDNS_REFUSED && ptr == DDNS_DONE ? DDNS_DONE : rc);
    return 0;
}

/* The addresses are asked before the name goes, since they lead to the PTR records. */
static int
ddns_drop_host(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *server = server_args(ctx, args, err), *addresses = NULL;
    const char *name = value_str(args, "name", "");
    ddns_record_t r = { name, NULL, NULL, 0 };
    zone_auto_t zone = { 0 };
    json_t *one;
    size_t i;

    if (server == NULL || zone_init(&zone, server, err) < 0)
        return err->code;
    AUTO_FREE char *fqdn = xasprintf("%s.%s", name, zone.name), *target = xasprintf("%s.", fqdn);
    if ((addresses = zone_query(&zone, fqdn, "A", err)) == NULL)
        return err->code;
    int rc = drop_record(&zone, &r, err);
    json_array_foreach (rc >= 0 ? addresses : NULL, i, one) {
        int ptr = in_reverse(&zone, value_str(one, "data", ""), target, args, false, err);
        if (ptr < 0)
            return ptr;
        rc = ptr == DDNS_DONE ? DDNS_DONE : rc;
    }
    *ret_value = rc >= 0 ? outcome(rc) : NULL;
    return rc < 0 ? rc : 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define ZONE_ROWS                                                                                            \
    ARG("zone", ARG_STR, ARG_REQUIRED, "The zone"), ARG("name", ARG_STR, ARG_REQUIRED, "The name in it")
#define SERVER_ROW  ARG("nameserver", ARG_STR, "\"127.0.0.1\"", "Address of the name server")
#define TIMEOUT_ROW ARG("timeout", ARG_INT, "5", "Seconds to wait for it")
#define PORT_ROW    ARG("port", ARG_INT, "53", "Its port")
#define KEYS_ROW                                                                                             \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,                                                                     \
        "keyfile (JSON: {name: secret}), keyname, keyalgorithm; by default the options ddns.keyfile, ...",   \
        "keyfile keyname keyalgorithm *")
#define REPLACE_ROW(value) ARG("replace", ARG_ANY, value, "Remove the name's other records of the type")

static const arg_t update_args[] = { ZONE_ROWS,
                                     ARG("ttl", ARG_INT, ARG_REQUIRED, "Seconds that others may keep it"),
                                     ARG("rdtype", ARG_STR, ARG_REQUIRED,
                                         "Type of the record: A, AAAA, CNAME"),
                                     ARG("data", ARG_STR, ARG_REQUIRED, "Data of the record"),
                                     SERVER_ROW,
                                     TIMEOUT_ROW,
                                     REPLACE_ROW("false"),
                                     PORT_ROW,
                                     KEYS_ROW,
                                     ARGS_END };
static const arg_t delete_args[] = { ZONE_ROWS,
                                     ARG("rdtype", ARG_STR, "null", "Type of the records; by default all"),
                                     ARG("data", ARG_STR, "null", "Data of the record; by default any"),
                                     SERVER_ROW,
                                     TIMEOUT_ROW,
                                     PORT_ROW,
                                     KEYS_ROW,
                                     ARGS_END };
static const arg_t add_args[] = { ZONE_ROWS,
                                  ARG("ttl", ARG_INT, ARG_REQUIRED, "Seconds that others may keep it"),
                                  ARG("ip", ARG_STR, ARG_REQUIRED, "The address"),
                                  SERVER_ROW,
                                  REPLACE_ROW("true"),
                                  TIMEOUT_ROW,
                                  PORT_ROW,
                                  KEYS_ROW,
                                  ARGS_END };
static const arg_t drop_args[] = { ZONE_ROWS, SERVER_ROW, TIMEOUT_ROW, PORT_ROW, KEYS_ROW, ARGS_END };

static const func_t funcs[] = {
    { "add_host", ddns_put_host, add_args, 0,
      "Add a host's address and the way back." CLI_EXAMPLE(
          "salt ns1 ddns.add_host example.com host1 60 10.1.1.1") },
    { "delete", ddns_one, delete_args, 0,
      "Remove records of a name." CLI_EXAMPLE("salt ns1 ddns.delete example.com host1 A") },
    { "delete_host", ddns_drop_host, drop_args, 0,
      "Remove a host's records and the ways back." CLI_EXAMPLE(
          "salt ns1 ddns.delete_host example.com host1") },
    { "update", ddns_one, update_args, 0,
      "Add or replace a record." CLI_EXAMPLE("salt ns1 ddns.update example.com host1 60 A 10.0.0.1"),
      .data.number = 1 },
};

PLUGIN(exec, ddns, .doc = "Dynamic updates of name servers", FUNCS(funcs));
