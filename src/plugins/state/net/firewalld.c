/* firewalld.c - state module `firewalld`: zones and services of firewalld. A zone's lists (ports, services,
 * ...) are rows of one table: how what is there is asked, and how one is added or removed. Lists only grow,
 * unless the `prune_` argument of that name is True: then they are exact. A service's lists are always exact.
 * The permanent configuration is what is compared and changed; firewalld takes it over when it reads its
 * rules again, once at the end. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"
#include "salt/state.h"

/* A list of a zone, or of a service, which has no `prune`. `ask`, `add` and `drop` are functions of the
 * module, `item` the argument of the latter two; NULL: ports that are forwarded, with four arguments. */
typedef struct zone_list {
    const char *arg, *prune, *change, *ask, *add, *drop, *item;
} zone_list_t;

/* Apart from the others: it is done first, and its values are checked against the types that firewalld
 * knows. */
static const zone_list_t icmp_list = {
    "block_icmp",           "prune_block_icmp",     "icmp_types", "firewalld.list_icmp_block",
    "firewalld.block_icmp", "firewalld.allow_icmp", "icmp"
};
static const zone_list_t lists[] = {
    { "ports", "prune_ports", "ports", "firewalld.list_ports", "firewalld.add_port", "firewalld.remove_port",
      "port" },
    { "port_fwd", "prune_port_fwd", "port_fwd", "firewalld.list_port_fwd", "firewalld.add_port_fwd",
      "firewalld.remove_port_fwd", NULL },
    { "services", "prune_services", "services", "firewalld.list_services", "firewalld.add_service",
      "firewalld.remove_service", "service" },
    { "interfaces", "prune_interfaces", "interfaces", "firewalld.get_interfaces",
      "firewalld.change_interface", "firewalld.remove_interface", "interface" },
    { "sources", "prune_sources", "sources", "firewalld.get_sources", "firewalld.add_source",
      "firewalld.remove_source", "source" },
    { "rich_rules", "prune_rich_rules", "rich_rules", "firewalld.get_rich_rules", "firewalld.add_rich_rule",
      "firewalld.remove_rich_rule", "rule" },
};

/* The request of the SLS. BORROWED. */
typedef struct want {
    call_ctx_t *ctx;
    json_t *args, *ret;
    const char *name;
    bool fresh; /* test mode, and the zone is not there yet: firewalld can't be asked about it */
    fail_t *err;
} want_t;

/* "Error: ...": what firewall-cmd says ends the state; other failures stay failures. */
static int
zone_failed(want_t *w)
{
    if (w->err->kind != FAIL_COMMAND)
        return w->err->code;
    state_ret_set(w->ret, STATE_FALSE, "Error: %s", fail_text(w->err));
    fail_clear(w->err);
    return 1;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* "80:443:tcp[:address]" as firewalld.list_port_fwd has it. NEW, or NULL with *err. */
static json_t *
forward_of(const char *text, fail_t *err)
{
    char **parts = str_split(text, ":", false);
    size_t n = strv_len(parts);
    json_t *one = NULL;

    if (n == 3 || n == 4)
        one = json_pack("{s:s, s:s, s:s, s:s}", "Source port", parts[0], "Destination port", parts[1],
                        "Protocol", parts[2], "Destination address", n == 4 ? parts[3] : "");
    else
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "%s is no forwarding of a port; write from:to:protocol or from:to:protocol:address", text);
    strv_free(parts);
    return one;
}

/* A rule with double quotes around its values, in the form in which firewall-cmd prints it, so that a rule of
 * the SLS file with single quotes or none compares equal. A value with a blank in it is split all the same.
 * NEW. */
static char *
rule_quoted(const char *rule)
{
    char **words = str_split(rule, " ", false);
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; words[i] != NULL; i++) {
        char *value = strchr(words[i], '=');
        size_t len = value != NULL ? strlen(value + 1) : 0;
        buf_puts(&out, i > 0 ? " " : "");
        if (value == NULL || value[1] == '"' || (len > 0 && value[len] == '"')) {
            buf_puts(&out, words[i]);
            continue;
        }
        bool quoted = len > 1 && value[1] == '\'' && value[len] == '\'';
        buf_add(&out, words[i], (size_t) (value - words[i]) + 1);
        buf_putc(&out, '"');
        buf_add(&out, value + (quoted ? 2 : 1), len - (quoted ? 2 : 0));
        buf_putc(&out, '"');
    }
    strv_free(words);
    const char *text = buf_str(&out);
    return xstrdup(text + strspn(text, " "));
}

/* The values of the SLS file in the form in which firewalld tells them; a single value stands for a list of
 * it. NEW, or NULL with *err. */
static json_t *
wanted_of(const json_t *given, const zone_list_t *row, fail_t *err)
{
    json_auto_t *list = json_array(), *all = json_is_array(given)  ? json_incref((json_t *) given)
                                             : value_truthy(given) ? json_pack("[O]", given)
                                                                   : json_array();
    json_t *one;
    size_t i;

    json_array_foreach (all, i, one) {
        AUTO_FREE char *text = value_pystr(one), *rule = rule_quoted(text);
        json_t *value = row->item == NULL                     ? forward_of(text, err)
                        : strcmp(row->arg, "rich_rules") == 0 ? value_utf8(rule, strlen(rule))
                                                              : value_utf8(text, strlen(text));
        if (value == NULL)
            return NULL;
        json_array_append_new(list, value);
    }
    return json_incref(list);
}

/* Those of `in` that `of` has not, each once. NEW. */
static json_t *
values_without(const json_t *in, const json_t *of)
{
    json_t *list = json_array(), *one;
    size_t i;

    json_array_foreach (in, i, one) {
        if (!value_has(of, one) && !value_has(list, one))
            json_array_append(list, one);
    }
    return list;
}

/* ---- a zone ----------------------------------------------------------------------------------- */

/* Adds or removes each of them. 0, 1: failed and told, or negative with *err. */
static int
zone_change(want_t *w, const zone_list_t *row, const char *fun, const json_t *values)
{
    json_t *one;
    size_t i;

    json_array_foreach (values, i, one) {
        json_auto_t *call = json_pack("{s:s}", "zone", w->name), *done = NULL;
        if (row->item != NULL)
            json_object_set(call, row->item, one);
        else
            json_object_update_new(
                call, json_pack("{s:O, s:O, s:O, s:O}", "src", value_get(one, "Source port"), "dest",
                                value_get(one, "Destination port"), "proto", value_get(one, "Protocol"),
                                "dstaddr", value_get(one, "Destination address")));
        if (!ctx_test(w->ctx) && ctx_call(w->ctx, fun, NULL, call, &done, w->err) != 0)
            return zone_failed(w);
    }
    return 0;
}

/* One list of the zone. 0, 1 or negative, as above. */
static int
zone_list(want_t *w, const zone_list_t *row)
{
    bool prune = value_truthy(value_get(w->args, row->prune));

    if (!value_truthy(value_get(w->args, row->arg)) && !prune)
        return 0;
    json_auto_t *wanted = wanted_of(value_get(w->args, row->arg), row, w->err);
    json_auto_t *now = wanted == NULL ? NULL
                       : w->fresh     ? json_array()
                                      : sub_call(w->ctx, w->err, row->ask, "{s:s}", "zone", w->name);
    if (now == NULL)
        return wanted == NULL ? w->err->code : zone_failed(w);
    /* Types of ICMP that firewalld does not know are logged and left out. */
    if (row == &icmp_list && json_array_size(wanted) > 0) {
        json_auto_t *known = sub_call(w->ctx, w->err, "firewalld.get_icmp_types", "{s:b}", "permanent", 1);
        json_t *kept = json_array(), *one;
        size_t i;
        json_array_foreach (wanted, i, one) {
            if (value_has(known, one))
                json_array_append(kept, one);
            else if (known != NULL)
                log_error("%s is an invalid ICMP type", json_string_value(one));
        }
        json_decref(wanted);
        wanted = kept;
        if (known == NULL)
            return zone_failed(w);
    }
    json_auto_t *more = values_without(wanted, now);
    json_auto_t *gone = prune ? values_without(now, wanted) : json_array();
    int rc = zone_change(w, row, row->add, more);
    if (rc != 0 || (rc = zone_change(w, row, row->drop, gone)) != 0)
        return rc;
    if (json_array_size(more) + json_array_size(gone) == 0)
        return 0;
    /* Without prune the zone keeps what else it has: the change shows all of it. */
    if (!prune) {
        json_decref(wanted);
        wanted = json_copy(now);
        json_array_extend(wanted, more);
    }
    state_change_from(w->ret, row->change, json_incref(now), json_incref(wanted));
    return 0;
}

/* The zone itself and all about it. 0, 1 or negative, as above. */
static int
zone_all(want_t *w)
{
    json_auto_t *zones = sub_call(w->ctx, w->err, "firewalld.get_zones", "{s:b}", "permanent", 1),
                *done = NULL;

    /* A test can't ask firewalld about a zone that is not there: its lists count as empty. */
    if (zones == NULL)
        return zone_failed(w);
    if (!value_lists(zones, w->name)) {
        w->fresh = ctx_test(w->ctx);
        if (!w->fresh &&
            (done = sub_call(w->ctx, w->err, "firewalld.new_zone", "{s:s}", "zone", w->name)) == NULL)
            return zone_failed(w);
        state_change_from(w->ret, w->name, json_incref(zones), json_string(w->name));
    }
    int rc = zone_list(w, &icmp_list);
    if (rc != 0)
        return rc;

    /* The default zone; there is always one, so that False takes nothing away. */
    if (value_truthy(value_get(w->args, "default"))) {
        json_auto_t *now = sub_call(w->ctx, w->err, "firewalld.default_zone", NULL), *set = NULL;
        if (now == NULL)
            return zone_failed(w);
        bool other = !str_eq(json_string_value(now), w->name);
        if (other && !ctx_test(w->ctx) &&
            (set = sub_call(w->ctx, w->err, "firewalld.set_default_zone", "{s:s}", "zone", w->name)) == NULL)
            return zone_failed(w);
        if (other)
            state_change_from(w->ret, "default", json_incref(now), json_string(w->name));
    }

    /* Masquerading is switched off as well, where the SLS file says nothing about it. */
    bool want = value_truthy(value_get(w->args, "masquerade"));
    int on = w->fresh ? 0
                      : sub_call_bool(w->ctx, w->err, "firewalld.get_masquerade", "{s:s}", "zone", w->name);
    if (on < 0)
        return zone_failed(w);
    if ((on != 0) != want) {
        const char *fun = want ? "firewalld.add_masquerade" : "firewalld.remove_masquerade";
        json_auto_t *did = ctx_test(w->ctx) ? json_true()
                                            : sub_call(w->ctx, w->err, fun, "{s:s}", "zone", w->name);
        if (did == NULL)
            return zone_failed(w);
        state_change_from(
            w->ret, "masquerade", json_string(""),
            json_string(want ? "Masquerading successfully set." : "Masquerading successfully disabled."));
    }

    for (size_t i = 0; i < NELEMS(lists) && rc == 0; i++)
        rc = zone_list(w, &lists[i]);
    return rc;
}

/* firewalld reads its configuration again once something has changed, after a failure too: what was done
 * until then shall hold. */
static int
reload_changed(want_t *w)
{
    json_auto_t *done = state_changed(w->ret) && !ctx_test(w->ctx)
                            ? sub_call(w->ctx, w->err, "firewalld.reload_rules", NULL)
                            : json_true();

    return done != NULL ? 0 : w->err->code;
}

/* Changes are made in the permanent configuration, and take effect by a reload at the end. */
static int
firewalld_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    want_t w = { .ctx = ctx, .args = args, .ret = *ret_value = state_ret_args(args), .err = err };
    output_opts_t how = OUTPUT_OPTS_INIT;
    buf_auto_t text = BUF_INIT;

    w.name = value_str(args, "name", "");
    int rc = zone_all(&w);
    if (rc < 0)
        return rc;
    if (rc > 0)
        return reload_changed(&w);
    if (!state_changed(w.ret))
        return state_ret_set(w.ret, STATE_TRUE, "'%s' is already in the desired state.", w.name);
    if (!ctx_test(ctx)) {
        state_ret_set(w.ret, STATE_TRUE, "'%s' was configured.", w.name);
        return reload_changed(&w);
    }
    output_format(value_get(w.ret, "changes"), &how, &text);
    return state_ret_set(w.ret, STATE_NONE, "Configuration for '%s' will change:\n%s", w.name,
                         text.len > 0 ? str_trim(text.data) : "");
}

/* ---- a service -------------------------------------------------------------------------------- */

static const zone_list_t service_lists[] = {
    { "ports", NULL, "ports", "firewalld.get_service_ports", "firewalld.add_service_port",
      "firewalld.remove_service_port", "port" },
    { "protocols", NULL, "protocols", "firewalld.get_service_protocols", "firewalld.add_service_protocol",
      "firewalld.remove_service_protocol", "protocol" },
};

/* Adds or removes each of them. 0, 1 or negative, as above. */
static int
service_change(want_t *w, const zone_list_t *row, const char *fun, const json_t *values)
{
    json_t *one;
    size_t i;

    json_array_foreach (values, i, one) {
        json_auto_t *done = ctx_test(w->ctx) ? json_true()
                                             : sub_call(w->ctx, w->err, fun, "{s:s, s:O}", "service", w->name,
                                                        row->item, one);
        if (done == NULL)
            return zone_failed(w);
    }
    return 0;
}

/* A service that firewalld does not know is made first, without a reload; test mode takes it as empty. */
static int
firewalld_service(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    want_t w = { .ctx = ctx, .args = args, .ret = *ret_value = state_ret_args(args), .err = err };
    json_auto_t *all = sub_call(ctx, err, "firewalld.get_services", NULL), *made = NULL;
    int rc = 0;

    w.name = value_str(args, "name", "");
    if (all == NULL)
        return err->code;
    bool missing = !value_lists(all, w.name);
    w.fresh = missing && ctx_test(ctx);
    if (missing && !w.fresh &&
        (made = sub_call(ctx, err, "firewalld.new_service", "{s:s, s:b}", "name", w.name, "restart", 0)) ==
            NULL)
        return err->code;
    /* The service has the listed ports and protocols and no others. A failure that was told ends the state. */
    for (size_t i = 0; i < NELEMS(service_lists); i++) {
        const zone_list_t *row = &service_lists[i];
        json_auto_t *wanted = wanted_of(value_get(args, row->arg), row, err);
        if (wanted == NULL)
            return err->code;
        json_auto_t *now = w.fresh ? json_array() : sub_call(ctx, err, row->ask, "{s:s}", "service", w.name);
        json_auto_t *more = values_without(wanted, now), *gone = values_without(now, wanted);
        if ((rc = now == NULL ? zone_failed(&w) : service_change(&w, row, row->add, more)) != 0 ||
            (rc = service_change(&w, row, row->drop, gone)) != 0)
            return rc < 0 ? rc : 0;
        if (json_array_size(more) + json_array_size(gone) > 0)
            state_change_from(w.ret, row->change, json_incref(now), json_incref(wanted));
    }
    /* A new service without ports and protocols is a change, too. */
    if (missing && !state_changed(w.ret))
        state_change_from(w.ret, w.name, NULL, json_string(w.name));
    if (!state_changed(w.ret))
        return state_ret_set(w.ret, STATE_TRUE, "'%s' is already in the desired state.", w.name);
    if (ctx_test(ctx))
        return state_ret_set(w.ret, STATE_NONE, "Configuration for '%s' will change.", w.name);
    state_ret_set(w.ret, STATE_TRUE, "'%s' was configured.", w.name);
    return reload_changed(&w);
}

/* ---- table ------------------------------------------------------------------------------------ */

static const char *
state_firewalld_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "firewalld.version")
               ? NULL
               : "firewall-cmd is not available, firewalld is probably not installed.";
}

#define LIST_ROWS(name, what)                                                                                \
    ARG(name, ARG_ANY, "null", what), ARG("prune_" name, ARG_BOOL, "false", "Remove all others of the zone")

static const arg_t present_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The zone"),
                                      LIST_ROWS("block_icmp", "Types of ICMP that are kept out, a list"),
                                      ARG("default", ARG_ANY, "null", "True: make it the default zone"),
                                      ARG("masquerade", ARG_BOOL, "false", "Masquerade in the zone"),
                                      LIST_ROWS("ports", "Open ports, a list: 22/tcp"),
                                      LIST_ROWS("port_fwd",
                                                "Forwarded ports, a list: from:to:protocol:address"),
                                      LIST_ROWS("services", "Services, a list"),
                                      LIST_ROWS("interfaces", "Interfaces, a list"),
                                      LIST_ROWS("sources", "Sources, a list: 10.0.0.0/8"),
                                      LIST_ROWS("rich_rules", "Rich rules, a list"),
                                      ARGS_END };
static const arg_t service_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The service"),
                                      ARG("ports", ARG_ANY, "null", "All its ports, a list: 80/tcp"),
                                      ARG("protocols", ARG_ANY, "null", "All its protocols, a list"),
                                      ARGS_END };

static const func_t funcs[] = {
    { "present", firewalld_present, present_args, 0, "Ensure that a zone is there and has what is listed." },
    { "service", firewalld_service, service_args, 0, "Ensure that a service is there, with these ports." },
};

PLUGIN(state, firewalld, .doc = "Zones and services of firewalld", FUNCS(funcs),
       .unavailable = state_firewalld_unavailable);
