/* host.c - state module `host`: names of addresses in the file of host names, by the module `hosts`.
 * hosts.list_hosts answers {address: {"aliases": [names], "comment"?}}; a name may stand at several
 * addresses. */
#include <arpa/inet.h>

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

static bool
is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

/* The addresses of an argument that is one or a list. NEW. */
static json_t *
as_list(const json_t *v)
{
    return json_is_array(v) ? json_incref((json_t *) v) : json_pack("[O]", v);
}

/* One kind of step: the function with its argument, and what is said of it. */
typedef struct host_step {
    const char *fun, *argument, *change;
    const char *told, *done, *failed; /* formats: value and address */
} host_step_t;

static const host_step_t step_add = { "hosts.add_host",
                                      "alias",
                                      "added",
                                      "Host %s (%s) would be added",
                                      "Added host %s (%s)",
                                      "Failed to add host %s (%s)" };
static const host_step_t step_comment = { "hosts.set_comment",
                                          "comment",
                                          "comment_added",
                                          "Comment for %s (%s) would be added",
                                          "Set comment for host %s (%s)",
                                          "Failed to add comment for host %s (%s)" };
static const host_step_t step_remove = { "hosts.rm_host",
                                         "alias",
                                         "removed",
                                         "Host %s (%s) would be removed",
                                         "Removed host %s (%s)",
                                         "Failed to remove host %s (%s)" };

/* A sentence of a step; a comment's has the address first. The value may hold "%s" itself: the second place
 * is marked before the first is filled. NEW. */
static json_t *
sentence(const char *format, const char *first, const char *second)
{
    AUTO_FREE char *half = str_replace(format, "(%s)", "(\001)");
    AUTO_FREE char *one = str_replace(half, "%s", first), *both = str_replace(one, "\001", second);

    return json_string(both);
}

/* Takes the step at each address, or tells it in test mode. A failed step is a sentence and the result False,
 * and the others go on. A test sets the result None even after an invalid address, as Salt does. */
static int
host_take_step(call_ctx_t *ctx, const host_step_t *step, const json_t *ips, const char *value, json_t *ret,
               json_t *lines, fail_t *err)
{
    json_auto_t *by_ip = json_object();
    bool comment = strcmp(step->argument, "comment") == 0, test = ctx_test(ctx);
    json_t *ip;
    size_t i;

    json_array_foreach (ips, i, ip) {
        const char *at = json_string_value(ip);
        int done = test ? 1
                        : sub_call_bool(ctx, err, step->fun, "{s:O, s:s}", "ip", ip, step->argument, value);
        if (done < 0)
            return done;
        json_array_append_new(lines, sentence(test   ? step->told
                                              : done ? step->done
                                                     : step->failed,
                                              comment ? at : value, comment ? value : at));
        if (done == 0)
            json_object_set_new(ret, "result", json_false());
        else if (test && !json_is_false(value_get(ret, "result")))
            json_object_set_new(ret, "result", json_null());
        if (done > 0)
            json_object_set_new(by_ip, at, json_pack("[s]", value));
    }
    if (json_object_size(by_ip) > 0)
        state_change(ret, step->change, json_incref(by_ip));
    return 0;
}

/* A name has one line for each address. Steps follow in Salt's order: names are added, comments set, names
 * removed. */
static int
host_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *comment = value_str(args, "comment", "");
    const char *ip;
    json_t *ret = *ret_value = state_ret_args(args), *host, *one;
    json_auto_t *hosts = sub_call(ctx, err, "hosts.list_hosts", NULL),
                *wanted = as_list(value_get(args, "ip"));
    json_auto_t *add = json_array(), *remark = json_array(), *remove = json_array(), *lines = json_array();
    size_t i;

    if (hosts == NULL)
        return err->code;

    /* Addresses that the file has not are taken as they are. */
    json_array_foreach (wanted, i, one) {
        if (value_get(hosts, json_string_value(one)) != NULL)
            continue;
        json_array_append(add, one);
        if (*comment != '\0')
            json_array_append(remark, one);
    }
    /* Addresses of the file: wanted ones get name and comment; from others the name goes, or a warning comes. */
    json_object_foreach (hosts, ip, host) {
        bool named = value_lists(value_get(host, "aliases"), name);
        bool other = *comment != '\0' && !str_eq(value_str(host, "comment", NULL), comment);
        if (!value_lists(wanted, ip)) {
            if (named && value_bool(args, "clean", false))
                json_array_append_new(remove, json_string(ip));
            else if (named)
                state_ret_warn(ret,
                               "Host %s present for IP address %s. To get rid of this warning, either run "
                               "this state with 'clean' set to True to remove %s from %s, or add %s to the "
                               "'ip' argument.",
                               name, ip, name, ip, ip);
        } else if (!named && !is_address(ip)) {
            json_object_set_new(ret, "result", json_false());
            json_array_append_new(lines, value_fmt("Invalid IP Address for %s (%s)", name, ip));
        } else {
            if (!named)
                json_array_append_new(add, json_string(ip));
            if (other)
                json_array_append_new(remark, json_string(ip));
            if (named && !other)
                json_array_append_new(lines, value_fmt("Host %s (%s) already present", name, ip));
        }
    }

    int rc = host_take_step(ctx, &step_add, add, name, ret, lines, err);
    rc = rc == 0 ? host_take_step(ctx, &step_comment, remark, comment, ret, lines, err) : rc;
    rc = rc == 0 ? host_take_step(ctx, &step_remove, remove, name, ret, lines, err) : rc;
    AUTO_FREE char *all = value_joined(lines, "\n");
    state_ret_comment(ret, json_string(all));
    return rc;
}

static int
host_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *ip;
    json_auto_t *ips = as_list(value_get(args, "ip")), *lines = json_array();
    const char *name = value_str(args, "name", "");
    size_t i;

    /* Each address has its line. hosts.rm_host that did nothing has none, and is no failure. */
    json_array_foreach (ips, i, ip) {
        const char *at = json_string_value(ip);
        int there = sub_call_bool(ctx, err, "hosts.has_pair", "{s:O, s:s}", "ip", ip, "alias", name);
        int done = there > 0 && !ctx_test(ctx)
                       ? sub_call_bool(ctx, err, "hosts.rm_host", "{s:O, s:s}", "ip", ip, "alias", name)
                       : 0;
        if (there < 0 || done < 0)
            return err->code;
        if (there == 0) {
            json_array_append_new(lines, value_fmt("Host %s (%s) already absent", name, at));
        } else if (ctx_test(ctx)) {
            state_change(ret, "host", json_string(name));
            json_object_set_new(ret, "result", json_null());
            json_array_append_new(lines, value_fmt("Host %s (%s) needs to be removed", name, at));
        } else if (done > 0) {
            state_change(ret, "host", json_string(name));
            json_array_append_new(lines, value_fmt("Removed host %s (%s)", name, at));
        }
    }
    AUTO_FREE char *all = value_joined(lines, "\n");
    state_ret_comment(ret, json_string(all));
    return 0;
}

/* `name` is the address here. The names are compared as one text, so that another order is a change. */
static int
host_only(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *names = as_list(value_get(args, "hostnames")), *trimmed = json_array(), *is = NULL;
    json_t *ret = *ret_value = state_ret_args(args), *one;
    size_t i;

    if ((is = sub_call(ctx, err, "hosts.get_alias", "{s:s}", "ip", name)) == NULL)
        return err->code;
    json_array_foreach (names, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(trimmed, json_string(str_trim(text)));
    }
    AUTO_FREE char *old = value_joined(is, " "), *new = value_joined(trimmed, " ");
    if (strcmp(old, new) == 0)
        return state_ret_set(ret, STATE_TRUE, "IP address %s already set to \"%s\"", name, new);
    state_change_from(ret, name, json_string(old), json_string(new));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Would change %s from \"%s\" to \"%s\"", name, old, new);
    int done = sub_call_bool(ctx, err, "hosts.set_host", "{s:s, s:s}", "ip", name, "alias", new);
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "successfully changed %s from \"%s\" to \"%s\"", name, old,
                             new);
    state_change_set(ret, json_object());
    return done < 0
               ? done
               : state_ret_set(ret, STATE_FALSE, "hosts.set_host failed to change %s from \"%s\" to \"%s\"",
                               name, old, new);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The host name")
#define IP_ROW   ARG("ip", ARG_ANY, ARG_REQUIRED, "The address, or a list of them")

static const arg_t present_args[] = {
    NAME_ROW, IP_ROW, ARG("comment", ARG_STR, "\"\"", "A comment behind the names of the address"),
    ARG("clean", ARG_BOOL, "false", "Take the name away from other addresses"), ARGS_END
};
static const arg_t absent_args[] = { NAME_ROW, IP_ROW, ARGS_END };
static const arg_t only_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The address"),
                                   ARG("hostnames", ARG_ANY, ARG_REQUIRED, "A host name, or a list of them"),
                                   ARGS_END };

static const func_t funcs[] = {
    { "absent", host_absent, absent_args, 0, "Ensure that an address has not this name." },
    { "only", host_only, only_args, 0, "Ensure that an address has these names and no others." },
    { "present", host_present, present_args, 0, "Ensure that an address has this name." },
};

PLUGIN(state, host, .doc = "The file of host names", FUNCS(funcs));
