/* network.c - state module `network`: interfaces, their routes, and the network's settings, by the module
 * `ip`, which knows the files of the distribution. Functions `get` of that module read a file's lines,
 * functions `build` write them, or with test=True answer the lines that they would write: the difference of
 * both is the change. */
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/net/netdiff.h"
#include "salt/state.h"

/* ---- what is and what is to be ------------------------------------------------------------------ */

/* The call with the settings besides. NEW, or NULL with *err. */
static json_t *
network_call_with(call_ctx_t *ctx, const char *fun, const json_t *settings, json_t *more, fail_t *err)
{
    json_auto_t *kwargs = json_copy((json_t *) settings), *mine = more;
    json_t *value = NULL;

    json_object_set_new(kwargs, "test", json_boolean(ctx_test(ctx)));
    json_object_update(kwargs, mine);
    return ctx_call(ctx, fun, NULL, kwargs, &value, err) < 0 ? NULL : value;
}

/* A pair of functions of `ip`, and the words of what they are about. */
typedef struct net_thing {
    const char *get, *build, *change, *added; /* the key of changes, and its value for a new one */
    const char *what;                         /* the subject of comments */
    const char *verb;                         /* "is", "are" */
} net_thing_t;

/* Builds the thing, or has it told, and puts difference and comment into `ret`. `more` are further arguments
 * of `build`, TAKEN. 1 when it differs, 0, or negative with *err. */
static int
build_thing(call_ctx_t *ctx, const net_thing_t *thing, const char *iface, const json_t *settings,
            json_t *more, json_t *ret, fail_t *err)
{
    json_auto_t *old = iface != NULL ? sub_call(ctx, err, thing->get, "{s:s}", "iface", iface)
                                     : sub_call(ctx, err, thing->get, NULL);
    json_auto_t *new = NULL, *mine = more;

    new = old != NULL ? network_call_with(ctx, thing->build, settings, json_incref(mine), err) : NULL;
    if (new == NULL)
        return err->code;
    if (value_equal(old, new))
        return 0;
    AUTO_FREE char *diff = value_truthy(old) ? netdiff_of(old, new) : NULL;
    state_change(ret, thing->change, diff != NULL ? json_string(diff) : json_string(thing->added));
    if (ctx_test(ctx))
        (void) state_ret_set(ret, STATE_NONE,
                             diff != NULL ? "%s %s set to be updated:\n%s" : "%s %s set to be added.",
                             thing->what, thing->verb, diff);
    else if (iface != NULL)
        (void) state_ret_set(ret, STATE_TRUE, diff != NULL ? "%s updated." : "%s added.", thing->what);
    return 1;
}

/* A failure of `ip` is the state's comment, and nothing counts as changed: what was built before it is not
 * told, as in Salt. */
static int
told_failure(json_t *ret, fail_t *err)
{
    json_object_clear(value_get(ret, "changes"));
    return state_ret_fail(ret, err);
}

/* ---- interfaces ------------------------------------------------------------------------------- */

/* True when some address in the list has the label. */
static bool
has_label(const json_t *list, const char *label)
{
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        if (strcmp(value_str(one, "label", ""), label) == 0)
            return true;
    }
    return false;
}

/* Whether the interface, or what is labelled so, is up: 1, 0, or negative with *err. */
static int
is_up(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *all = sub_call(ctx, err, "network.interfaces", NULL);
    const char *iface;
    json_t *one;

    if (all == NULL)
        return err->code;
    if (value_get(all, name) != NULL)
        return value_truthy(value_get(value_get(all, name), "up"));
    json_object_foreach (all, iface, one) {
        bool lo = strcmp(iface, "lo") == 0;
        if (has_label(value_get(one, "secondary"), name) || (lo && has_label(value_get(one, "inet"), name)) ||
            (lo && has_label(value_get(one, "inet6"), name)))
            return 1;
    }
    return 0;
}

/* Takes the interface down, up, or down and up, or in test mode tells it. */
static int
switch_iface(call_ctx_t *ctx, const char *name, const char *type, bool down, bool up, const char *told,
             json_t *ret, fail_t *err)
{
    AUTO_FREE char *text = str_replace(told, "%s", name);

    for (int i = 0; !ctx_test(ctx) && i < 2; i++) {
        json_auto_t *did = (i == 0 ? down : up) ? sub_call(ctx, err, i == 0 ? "ip.down" : "ip.up",
                                                           "{s:s, s:s}", "iface", name, "iface_type", type)
                                                : json_true();
        if (did == NULL)
            return err->code;
    }
    state_change(ret, "status", json_string(text));
    return 0;
}

/* Adds slaves to a bond that runs without them, by ifenslave. The kernel's list is the truth; a bond that is
 * not there has none. */
static int
enslave(call_ctx_t *ctx, const char *name, const json_t *slaves, json_t *ret, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/sys/class/net/%s/bonding/slaves", name), *now = root_read(NULL, path);
    AUTO_FREE char *text = value_joined(slaves, " ");
    char **wanted = str_split(text, " \t\n", true), **has = str_split(now != NULL ? now : "", " \t\n", true);
    json_auto_t *missing = json_array();
    prog_auto_t prog = PROG_INIT;
    int rc = 0, code;

    for (size_t i = 0; wanted[i] != NULL; i++) {
        size_t k = 0;
        while (has[k] != NULL && strcmp(has[k], wanted[i]) != 0)
            k++;
        if (has[k] == NULL && !value_lists(missing, wanted[i]))
            json_array_append_new(missing, json_string(wanted[i]));
    }
    strv_free(wanted);
    strv_free(has);
    if (json_array_size(missing) == 0)
        return 0;
    AUTO_FREE char *words = value_joined(missing, " ");
    if (!ctx_test(ctx)) {
        if (tool_begin(&prog, "ifenslave", err) < 0 || prog_operand(&prog, "name", name, err) < 0 ||
            prog_operands(&prog, "slaves", missing, err) < 0)
            return err->code;
        prog.timeout_ms = LIMIT_TOOL_MS;
        rc = tool_retcode(ctx, &prog, 0, &code, err);
    }
    state_change(ret, "enslave", value_fmt("Added slaves '%s' to master '%s'", words, name));
    return rc;
}

/* Brings the interface into its state once its file is right. */
static int
network_bring(call_ctx_t *ctx, const char *name, const char *type, bool enabled, const json_t *settings,
              json_t *ret, fail_t *err)
{
    int up = is_up(ctx, name, err), rc = 0;

    if (up < 0)
        return up;
    if (enabled && up > 0 && state_changed(ret))
        rc = switch_iface(ctx, name, type, true, true, "Interface %s restart to validate", ret, err);
    else if (enabled && up == 0)
        rc = switch_iface(ctx, name, type, false, true, "Interface %s is up", ret, err);
    else if (!enabled && up > 0)
        rc = switch_iface(ctx, name, type, true, false, "Interface %s down", ret, err);
    if (rc == 0 && strcmp(type, "bond") == 0 && value_truthy(value_get(settings, "slaves")))
        rc = enslave(ctx, name, value_get(settings, "slaves"), ret, err);
    /* Grains hold the addresses; an interface that was only restarted has kept them. */
    if (rc == 0 && !ctx_test(ctx) && !(enabled && up > 0))
        ctx_refresh_grains(ctx);
    return rc;
}

/* Red Hat's files of ranges take effect when the network is restarted. */
static int
restart_for_range(call_ctx_t *ctx, json_t *ret, bool differs, fail_t *err)
{
    int did = differs && !ctx_test(ctx)
                  ? sub_call_bool(ctx, err, "service.restart", "{s:s}", "name", "network")
                  : 1;

    if (did < 0 || ctx_test(ctx))
        return did < 0 ? did : 0;
    return state_ret_set(ret, did > 0 ? STATE_TRUE : STATE_FALSE, "%s",
                         differs ? "network restarted for change of ranged interfaces"
                                 : "no change, passing it");
}

/* The interface's file first, a bond's second; then the interface is brought into its state, unless `noifupdown`. */
static int
network_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *given = value_get(args, "kwargs"),
           *enabled = value_get(args, "enabled");
    AUTO_FREE char *type = value_get(given, "type") != NULL ? value_pystr(value_get(given, "type"))
                                                            : xstrdup("eth");
    AUTO_FREE char *what = xasprintf("Interface %s", name), *bond = xasprintf("Bond interface %s", name),
                   *added = xasprintf("Added bond %s.", name);
    net_thing_t iface = { "ip.get_interface",
                          "ip.build_interface",
                          "interface",
                          "Added network interface.",
                          what,
                          "is" },
                bonds = { "ip.get_bond", "ip.build_bond", "bond", added, bond, "is" };
    json_auto_t *settings = json_copy(given);
    int differs, other = 0, rc = 0;

    json_object_del(settings, "type");
    /* Older SLS files say `addr` where `hwaddr` is meant. */
    json_auto_t *addr = json_incref(value_get(settings, "addr"));
    if (addr != NULL) {
        bool has = value_get(settings, "hwaddr") != NULL;
        json_object_del(settings, "addr");
        if (!has)
            json_object_set(settings, "hwaddr", addr);
        state_ret_warn(
            ret, "'addr' is not a valid argument name, %s Update your SLS file to get rid of this warning.",
            has ? "it has been ignored in favor of 'hwaddr'."
                : "its value has been assigned to 'hwaddr' instead.");
    }
    state_ret_comment(ret, value_fmt("Interface %s is up to date.", name));
    differs = build_thing(ctx, &iface, name, settings,
                          json_pack("{s:s, s:s, s:O}", "iface", name, "iface_type", type, "enabled", enabled),
                          ret, err);
    /* A line that sources other files is no interface: there is nothing to bring up. */
    if (differs >= 0 && strcmp(type, "source") == 0)
        return 0;
    if (differs >= 0 && strcmp(type, "bond") == 0 && ctx_has(ctx, "ip.get_bond"))
        other = build_thing(ctx, &bonds, name, settings, json_pack("{s:s}", "iface", name), ret, err);
    if (differs < 0 || other < 0)
        return told_failure(ret, err);
    if (strstr(name, "range") != NULL)
        rc = restart_for_range(ctx, ret, differs > 0 || other > 0, err);
    else if (value_get(settings, "noifupdown") == NULL)
        rc = network_bring(ctx, name, type, value_truthy(enabled), settings, ret, err);
    else if (!ctx_test(ctx))
        ctx_refresh_grains(ctx);
    if (rc < 0)
        return state_ret_fail(ret, err);
    if (ctx_test(ctx) && state_changed(ret))
        json_object_set_new(ret, "result", json_null());
    return 0;
}

/* ---- routes and settings ------------------------------------------------------------------------- */

/* The distribution's files are compared with those that the settings give; applying them restarts what the
 * distribution restarts. */
static int
network_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *settings = value_get(args, "kwargs");
    AUTO_FREE char *what = xasprintf("Interface %s routes", name),
                   *added = xasprintf("Added interface %s routes.", name);
    net_thing_t thing = { "ip.get_routes", "ip.build_routes", "network_routes", added, what, "are" };
    json_auto_t *did = NULL;
    int differs;

    state_ret_comment(ret, value_fmt("Interface %s routes are up to date.", name));
    differs = build_thing(ctx, &thing, name, settings, json_pack("{s:s}", "iface", name), ret, err);
    if (differs < 0)
        return told_failure(ret, err);
    if (differs > 0 && !ctx_test(ctx)) {
        did = network_call_with(ctx, "ip.apply_network_settings", settings, NULL, err);
        return did != NULL ? 0 : state_ret_fail(ret, err);
    }
    return 0;
}

/* The same for settings of the host itself: its name, its gateway. */
static int
network_system(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *settings = value_get(args, "kwargs");
    net_thing_t thing = { "ip.get_network_settings",        "ip.build_network_settings", "network_settings",
                          "Added global network settings.", "Global network settings",   "are" };
    json_auto_t *did = NULL;
    int differs;

    state_ret_comment(ret, json_string("Global network settings are up to date."));
    differs = build_thing(ctx, &thing, NULL, settings, NULL, ret, err);
    if (differs < 0)
        return told_failure(ret, err);
    if (differs > 0 && !ctx_test(ctx)) {
        did = network_call_with(ctx, "ip.apply_network_settings", settings, NULL, err);
        return did != NULL ? 0 : state_ret_fail(ret, err);
    }
    return 0;
}

static const char *
state_network_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "ip.get_interface") ? NULL : "ip module could not be loaded";
}

static const arg_t managed_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The interface"),
    ARG("enabled", ARG_ANY, "true", "It is up, and comes up with the machine"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its type and settings"), ARGS_END
};
static const arg_t routes_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The interface"),
                                     ARG("kwargs", ARG_ANY, ARG_STARSTAR, "routes: a list of routes"),
                                     ARGS_END };
static const arg_t system_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A name for this setting"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "enabled, hostname, search and others"), ARGS_END
};

static const func_t funcs[] = {
    { "managed", network_managed, managed_args, 0, "Ensure that an interface has these settings." },
    { "routes", network_routes, routes_args, 0, "Ensure that an interface has these routes alone." },
    { "system", network_system, system_args, 0, "Ensure that the network has these settings." },
};

PLUGIN(state, network, .doc = "Network interfaces and settings", FUNCS(funcs),
       .unavailable = state_network_unavailable);
