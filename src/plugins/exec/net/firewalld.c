/* firewalld.c - execution module `firewalld`: zones and services of firewalld, by firewall-cmd. A function is
 * a row with the words of its command line; a few of them ask something first. A function's answer is what
 * the program prints ("success"), a list of its words or lines, or, for zones and forwarded ports, an object
 * made of its text (firewall-cmd(1)). Changes go to the permanent configuration by default; firewalld applies
 * that when it is reloaded. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* How the output is returned. FW_TEXT is the output as it is; the others are parsed. */
typedef enum fw_answer { FW_TEXT, FW_WORDS, FW_LINES, FW_ZONES, FW_FORWARDS } fw_answer_t;

/* A function's command line: {name} is an argument; a word with an argument that is empty is left out when a
 * "?" stands before it. --permanent is added where the argument `permanent` says so. */
typedef struct fw_line {
    fw_answer_t answer;
    const char *words[4];
} fw_line_t;

/* ---- the program ------------------------------------------------------------------------------ */

/* A word with its arguments; NULL: it is left out. NEW. Each value stays within one argument, whatever is in
 * it, since no shell sees the line. */
static char *
fw_word(const char *pattern, const json_t *args)
{
    bool optional = *pattern == '?', empty = false;
    buf_auto_t out = BUF_INIT;

    for (const char *at = pattern + (optional ? 1 : 0); *at != '\0';) {
        size_t len = strcspn(at, "{");
        buf_add(&out, at, len);
        at += len;
        if (*at == '\0')
            break;
        size_t name_len = strcspn(at, "}");
        AUTO_FREE char *name = xstrndup(at + 1, name_len - 1), *text = NULL;
        const json_t *value = value_get(args, name);
        text = value != NULL && !json_is_null(value) ? value_pystr(value) : xstrdup("");
        empty = empty || *text == '\0';
        buf_puts(&out, text);
        at += name_len + 1;
    }
    return optional && empty ? NULL : xstrdup(buf_str(&out));
}

/* NEW output of firewall-cmd, or NULL with *err. Every exit code but 0 is an error with the program's own
 * words: firewall-cmd tells on stderr, and some releases on stdout. */
static json_t *
fw_run(call_ctx_t *ctx, const char *const *words, const json_t *args, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "firewall-cmd", err) < 0)
        return NULL;
    for (; *words != NULL; words++) {
        AUTO_FREE char *word = fw_word(*words, args);
        if (word != NULL)
            prog_add(&prog, word);
    }
    /* Functions without this argument (reload, get_zones, new_zone, ...) have it in their words or not at
     * all. */
    if (value_truthy(value_get(args, "permanent")))
        prog_add(&prog, "--permanent");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return NULL;
    const char *said = value_str(out, "stderr", "");
    if (value_int(out, "retcode", -1) == 0)
        return json_incref(value_get(out, "stdout"));
    fail_kind(err, FAIL_COMMAND, -EIO, "firewall-cmd failed: %s",
              *said != '\0' ? said : value_str(out, "stdout", ""));
    return NULL;
}

/* Words, or lines, of a text. NEW list. */
static json_t *
fw_list(const char *text, const char *separators)
{
    json_t *list = json_array();
    char **parts = str_split(text, separators, true);

    for (size_t i = 0; parts[i] != NULL; i++)
        json_array_append_new(list, value_utf8(parts[i], strlen(parts[i])));
    strv_free(parts);
    return list;
}

/* Zones as --list-all prints them: {zone: {key: [value, lines below it]}}. NEW. A line at the left margin
 * begins a zone, " key: value" is a member, and lines with a tab, or without a colon, go on with the member
 * before them: rich rules stand so. A member is a list even with one value, as Salt has it. */
static json_t *
fw_zones(const char *output)
{
    json_t *zones = json_object(), *zone = NULL, *list = NULL;
    AUTO_FREE char *text = xstrdup(output);

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        if (*line != ' ' && *line != '\t') {
            AUTO_FREE char *name = xstrdup(str_trim(line));
            json_object_set_new(zones, name, zone = json_object());
            list = NULL;
            continue;
        }
        char *colon = strchr(line, ':');
        if (*line == '\t' || zone == NULL || colon == NULL) {
            const char *more = str_trim(line);
            if (list != NULL)
                json_array_append_new(list, value_utf8(more, strlen(more)));
            continue;
        }
        *colon = '\0';
        const char *value = str_trim(colon + 1);
        json_object_set_new(zone, str_trim(line), list = json_array());
        json_array_append_new(list, value_utf8(value, strlen(value)));
    }
    return zones;
}

/* "port=80:proto=tcp:toport=443:toaddr=" in each line. NEW list. The texts before "=" are not looked at:
 * order is the format. A line with fewer than three parts is an error rather than a row of empty texts. */
static json_t *
fw_forwards(const char *output, fail_t *err)
{
    static const char *const keys[] = { "Source port", "Protocol", "Destination port",
                                        "Destination address" };
    json_auto_t *list = json_array();
    char **lines = str_split(output, "\n", true);

    for (size_t i = 0; lines[i] != NULL && err->code == 0; i++) {
        json_auto_t *one = json_object();
        const char *at = lines[i];
        for (size_t k = 0; k < NELEMS(keys); k++) {
            const char *value = at + strcspn(at, "=");
            value += *value == '=' ? 1 : 0;
            size_t len = k + 1 < NELEMS(keys) ? strcspn(value, ":") : strlen(value);
            json_object_set_new(one, keys[k], value_utf8(value, len));
            at = value + len + (value[len] == ':' ? 1 : 0);
            if (*at == '\0' && k + 2 < NELEMS(keys))
                fail_kind(err, FAIL_COMMAND, -EINVAL, "firewall-cmd tells no forwarding of ports: %s",
                          lines[i]);
        }
        json_array_append(list, one);
    }
    strv_free(lines);
    return err->code == 0 ? json_incref(list) : NULL;
}

/* A line's answer. NEW, or NULL with *err. */
static json_t *
fw_ask(call_ctx_t *ctx, const fw_line_t *line, const json_t *args, fail_t *err)
{
    json_auto_t *out = fw_run(ctx, line->words, args, err);
    const char *text = json_string_value(out);

    if (out == NULL)
        return NULL;
    switch (line->answer) {
    case FW_WORDS:
        return fw_list(text, " \t\r\n");
    case FW_LINES:
        return fw_list(text, "\n");
    case FW_ZONES:
        return fw_zones(text);
    case FW_FORWARDS:
        return fw_forwards(text, err);
    default:
        return json_incref(out);
    }
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Most functions are just their row: the line is run and its answer returned. */
static int
fw_plain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = fw_ask(ctx, ctx_row(ctx)->data.ptr, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The same; firewalld reads its configuration again with `restart`. A new zone or service is known to the
 * daemon only after that, and the answer of the reload takes the place of the first one. */
static int
fw_then_reload(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const reload[] = { "--reload", NULL };
    int rc = fw_plain(ctx, args, ret_value, err);

    if (rc != 0 || !value_truthy(value_get(args, "restart")) ||
        !str_eq(json_string_value(*ret_value), "success"))
        return rc;
    json_decref(*ret_value);
    *ret_value = fw_run(ctx, reload, NULL, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The same for a service that must be there: the list is asked first, and the error is Salt's own text rather
 * than the program's. */
static int
fw_of_service(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = sub_call(ctx, err, "firewalld.get_services", NULL);

    if (all == NULL)
        return err->code;
    if (!value_has(all, value_get(args, "service")))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "The service does not exist.");
    return fw_plain(ctx, args, ret_value, err);
}

/* Whether none of the zones says no. The row's line is --list-all of the zone, the same text that list_all
 * parses. */
static int
fw_get_masquerade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *zones = fw_ask(ctx, ctx_row(ctx)->data.ptr, args, err);
    const char *name;
    json_t *zone;
    bool on = true;

    if (zones == NULL)
        return err->code;
    json_object_foreach (zones, name, zone)
        on = on && !str_eq(json_string_value(json_array_get(value_get(zone, "masquerade"), 0)), "no");
    *ret_value = json_boolean(on);
    return 0;
}

/* Adds what the row says, and masquerading before it when that is forced. */
static int
fw_with_masquerade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (value_truthy(value_get(args, "force_masquerade"))) {
        /* By the modules' own names, so that a user's replacement of them is called too. */
        int on = sub_call_bool(ctx, err, "firewalld.get_masquerade", "{s:O}", "zone",
                               value_get(args, "zone"));
        json_auto_t *done = on == 0 ? sub_call(ctx, err, "firewalld.add_masquerade", "{s:O}", "zone",
                                               value_get(args, "zone"))
                                    : NULL;
        if (on < 0 || (on == 0 && done == NULL))
            return err->code;
    }
    return fw_plain(ctx, args, ret_value, err);
}

static const fw_line_t blocks = { FW_TEXT, { "--zone={zone}", "--add-icmp-block={icmp}" } };
static const fw_line_t allows = { FW_TEXT, { "--zone={zone}", "--remove-icmp-block={icmp}" } };

/* False for a type that firewalld does not know; "success" when there is nothing to do. blocks and allows are
 * the rows' lines, and by their address the function knows which of the two it is. */
static int
fw_icmp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *permanent = value_get(args, "permanent"), *icmp = value_get(args, "icmp");
    json_auto_t *types = sub_call(ctx, err, "firewalld.get_icmp_types", "{s:O}", "permanent", permanent);
    json_auto_t *blocked = types != NULL ? sub_call(ctx, err, "firewalld.list_icmp_block", "{s:O, s:O}",
                                                    "zone", value_get(args, "zone"), "permanent", permanent)
                                         : NULL;

    if (blocked == NULL)
        return err->code;
    *ret_value = json_false();
    if (value_has(types, icmp) && value_has(blocked, icmp) == (ctx_row(ctx)->data.ptr == &blocks))
        *ret_value = json_string("success");
    else if (value_has(types, icmp))
        *ret_value = fw_ask(ctx, ctx_row(ctx)->data.ptr, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table ------------------------------------------------------------------------------------ */

/* Whether the daemon runs is not asked: each call tells by itself. */
static const char *
firewalld_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("firewall-cmd");

    return path != NULL
               ? NULL
               : "The firewalld execution module cannot be loaded: the firewall-cmd binary is not in "
                 "the path.";
}

#define PERMANENT_ROW       ARG("permanent", ARG_BOOL, "true", "In the configuration; False: in what runs")
#define ZONE_ROW            ARG("zone", ARG_STR, ARG_REQUIRED, "The zone")
#define ANY_ZONE_ROW        ARG("zone", ARG_STR, "null", "The zone; None: the default one")
#define SERVICE_ROW         ARG("service", ARG_STR, ARG_REQUIRED, "The service")
#define RESTART_ROW         ARG("restart", ARG_BOOL, "true", "Reload firewalld when it is done")
#define FORCE_ROW           ARG("force_masquerade", ARG_BOOL, "false", "Masquerade in the zone, too")
#define OF_ZONE(name, help) ZONE_ROW, ARG(name, ARG_STR, ARG_REQUIRED, help), PERMANENT_ROW

static const arg_t permanent_args[] = { PERMANENT_ROW, ARGS_END };
static const arg_t zone_args[] = { ZONE_ROW, PERMANENT_ROW, ARGS_END };
static const arg_t any_zone_args[] = { ANY_ZONE_ROW, PERMANENT_ROW, ARGS_END };
static const arg_t one_zone_args[] = { ZONE_ROW, ARGS_END };
static const arg_t new_zone_args[] = { ZONE_ROW, RESTART_ROW, ARGS_END };
static const arg_t new_service_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The service"), RESTART_ROW,
                                          ARGS_END };
static const arg_t zone_service_args[] = { SERVICE_ROW, ANY_ZONE_ROW, PERMANENT_ROW, ARGS_END };
static const arg_t service_args[] = { SERVICE_ROW, ARGS_END };
static const arg_t service_port_args[] = { SERVICE_ROW, ARG("port", ARG_STR, ARG_REQUIRED, "80/tcp"),
                                           ARGS_END };
static const arg_t service_protocol_args[] = { SERVICE_ROW,
                                               ARG("protocol", ARG_STR, ARG_REQUIRED, "The protocol"),
                                               ARGS_END };
static const arg_t port_args[] = { OF_ZONE("port", "443/tcp"), ARGS_END };
static const arg_t add_port_args[] = { OF_ZONE("port", "443/tcp"), FORCE_ROW, ARGS_END };
#define FORWARD_ROWS                                                                                         \
    ZONE_ROW, ARG("src", ARG_STR, ARG_REQUIRED, "The port here"),                                            \
        ARG("dest", ARG_STR, ARG_REQUIRED, "The port there"),                                                \
        ARG("proto", ARG_STR, "\"tcp\"", "The protocol"),                                                    \
        ARG("dstaddr", ARG_STR, "\"\"", "The address there; by default this host"), PERMANENT_ROW
static const arg_t forward_args[] = { FORWARD_ROWS, ARGS_END };
static const arg_t add_forward_args[] = { FORWARD_ROWS, FORCE_ROW, ARGS_END };
static const arg_t icmp_args[] = { OF_ZONE("icmp", "A type of ICMP: echo-reply"), ARGS_END };
static const arg_t interface_args[] = { OF_ZONE("interface", "eth0"), ARGS_END };
static const arg_t source_args[] = { OF_ZONE("source", "192.168.1.0/24"), ARGS_END };
static const arg_t rule_args[] = { OF_ZONE("rule", "A rich rule"), ARGS_END };

#define LINE(answer, ...)                                                                                    \
    .data.ptr = &(const fw_line_t)                                                                           \
    {                                                                                                        \
        answer,                                                                                              \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define EXAMPLE(call) CLI_EXAMPLE("salt '*' firewalld." call)

static const func_t funcs[] = {
    { "add_interface", fw_plain, interface_args, 0,
      "Bind an interface to a zone." EXAMPLE("add_interface dmz eth0"),
      LINE(FW_TEXT, "--zone={zone}", "--add-interface={interface}") },
    { "add_masquerade", fw_plain, any_zone_args, 0, "Masquerade in a zone." EXAMPLE("add_masquerade dmz"),
      LINE(FW_TEXT, "?--zone={zone}", "--add-masquerade") },
    { "add_port", fw_with_masquerade, add_port_args, 0,
      "Open a port in a zone." EXAMPLE("add_port internal 443/tcp"),
      LINE(FW_TEXT, "--zone={zone}", "--add-port={port}") },
    { "add_port_fwd", fw_with_masquerade, add_forward_args, 0,
      "Forward a port." EXAMPLE("add_port_fwd public 80 443 tcp"),
      LINE(FW_TEXT, "--zone={zone}",
           "--add-forward-port=port={src}:proto={proto}:toport={dest}:toaddr={dstaddr}") },
    { "add_rich_rule", fw_plain, rule_args, 0,
      "Add a rich rule to a zone." EXAMPLE("add_rich_rule dmz 'rule'"),
      LINE(FW_TEXT, "--zone={zone}", "--add-rich-rule={rule}") },
    { "add_service", fw_plain, zone_service_args, 0,
      "Let a service into a zone." EXAMPLE("add_service ssh dmz"),
      LINE(FW_TEXT, "?--zone={zone}", "--add-service={service}") },
    { "add_service_port", fw_of_service, service_port_args, 0,
      "Add a port to a service." EXAMPLE("add_service_port web 80/tcp"),
      LINE(FW_TEXT, "--permanent", "--service={service}", "--add-port={port}") },
    { "add_service_protocol", fw_plain, service_protocol_args, 0,
      "Add a protocol to a service." EXAMPLE("add_service_protocol web igmp"),
      LINE(FW_TEXT, "--permanent", "--service={service}", "--add-protocol={protocol}") },
    { "add_source", fw_plain, source_args, 0,
      "Bind a source to a zone." EXAMPLE("add_source dmz 192.168.1.0/24"),
      LINE(FW_TEXT, "--zone={zone}", "--add-source={source}") },
    { "allow_icmp", fw_icmp, icmp_args, 0,
      "Let a type of ICMP into a zone." EXAMPLE("allow_icmp dmz echo-reply"), .data.ptr = &allows },
    { "block_icmp", fw_icmp, icmp_args, 0,
      "Keep a type of ICMP out of a zone." EXAMPLE("block_icmp dmz echo-reply"), .data.ptr = &blocks },
    { "change_interface", fw_plain, interface_args, 0,
      "Bind an interface to another zone." EXAMPLE("change_interface dmz eth0"),
      LINE(FW_TEXT, "--zone={zone}", "--change-interface={interface}") },
    { "default_zone", fw_plain, NULL, FN_READONLY, "Return the default zone." EXAMPLE("default_zone"),
      LINE(FW_TEXT, "--get-default-zone") },
    { "delete_service", fw_then_reload, new_service_args, 0,
      "Delete a service." EXAMPLE("delete_service web"),
      LINE(FW_TEXT, "--delete-service={name}", "--permanent") },
    { "delete_zone", fw_then_reload, new_zone_args, 0, "Delete a zone." EXAMPLE("delete_zone mine"),
      LINE(FW_TEXT, "--delete-zone={zone}", "--permanent") },
    { "get_icmp_types", fw_plain, permanent_args, FN_READONLY,
      "Return the types of ICMP." EXAMPLE("get_icmp_types"), LINE(FW_WORDS, "--get-icmptypes") },
    { "get_interfaces", fw_plain, zone_args, FN_READONLY,
      "Return the interfaces of a zone." EXAMPLE("get_interfaces dmz"),
      LINE(FW_WORDS, "--zone={zone}", "--list-interfaces") },
    { "get_masquerade", fw_get_masquerade, any_zone_args, FN_READONLY,
      "Return whether a zone masquerades." EXAMPLE("get_masquerade dmz"),
      LINE(FW_ZONES, "?--zone={zone}", "--list-all") },
    { "get_rich_rules", fw_plain, zone_args, FN_READONLY,
      "Return the rich rules of a zone." EXAMPLE("get_rich_rules dmz"),
      LINE(FW_LINES, "--zone={zone}", "--list-rich-rules") },
    { "get_service_ports", fw_plain, service_args, FN_READONLY,
      "Return the ports of a service." EXAMPLE("get_service_ports web"),
      LINE(FW_WORDS, "--permanent", "--service={service}", "--get-ports") },
    { "get_service_protocols", fw_plain, service_args, FN_READONLY,
      "Return the protocols of a service." EXAMPLE("get_service_protocols web"),
      LINE(FW_WORDS, "--permanent", "--service={service}", "--get-protocols") },
    { "get_services", fw_plain, permanent_args, FN_READONLY, "Return all services." EXAMPLE("get_services"),
      LINE(FW_WORDS, "--get-services") },
    { "get_sources", fw_plain, zone_args, FN_READONLY,
      "Return the sources of a zone." EXAMPLE("get_sources dmz"),
      LINE(FW_WORDS, "--zone={zone}", "--list-sources") },
    { "get_zones", fw_plain, permanent_args, FN_READONLY, "Return all zones." EXAMPLE("get_zones"),
      LINE(FW_WORDS, "--get-zones") },
    { "list_all", fw_plain, any_zone_args, FN_READONLY, "Return all about a zone." EXAMPLE("list_all dmz"),
      LINE(FW_ZONES, "?--zone={zone}", "--list-all") },
    { "list_icmp_block", fw_plain, zone_args, FN_READONLY,
      "Return the types of ICMP that a zone keeps out." EXAMPLE("list_icmp_block dmz"),
      LINE(FW_WORDS, "--zone={zone}", "--list-icmp-blocks") },
    { "list_port_fwd", fw_plain, zone_args, FN_READONLY,
      "Return the ports that a zone forwards." EXAMPLE("list_port_fwd public"),
      LINE(FW_FORWARDS, "--zone={zone}", "--list-forward-ports") },
    { "list_ports", fw_plain, zone_args, FN_READONLY,
      "Return the open ports of a zone." EXAMPLE("list_ports dmz"),
      LINE(FW_WORDS, "--zone={zone}", "--list-ports") },
    { "list_services", fw_plain, any_zone_args, FN_READONLY,
      "Return the services of a zone." EXAMPLE("list_services dmz"),
      LINE(FW_WORDS, "?--zone={zone}", "--list-services") },
    { "list_zones", fw_plain, permanent_args, FN_READONLY,
      "Return all about all zones." EXAMPLE("list_zones"), LINE(FW_ZONES, "--list-all-zones") },
    { "make_permanent", fw_plain, NULL, 0, "Make what runs the configuration." EXAMPLE("make_permanent"),
      LINE(FW_TEXT, "--runtime-to-permanent") },
    { "new_service", fw_then_reload, new_service_args, 0, "Make a service." EXAMPLE("new_service web"),
      LINE(FW_TEXT, "--new-service={name}", "--permanent") },
    { "new_zone", fw_then_reload, new_zone_args, 0, "Make a zone." EXAMPLE("new_zone mine"),
      LINE(FW_TEXT, "--new-zone={zone}", "--permanent") },
    { "reload_rules", fw_plain, NULL, 0, "Make the configuration what runs." EXAMPLE("reload_rules"),
      LINE(FW_TEXT, "--reload") },
    { "remove_interface", fw_plain, interface_args, 0,
      "Take an interface out of a zone." EXAMPLE("remove_interface dmz eth0"),
      LINE(FW_TEXT, "--zone={zone}", "--remove-interface={interface}") },
    { "remove_masquerade", fw_plain, any_zone_args, 0,
      "Stop masquerading in a zone." EXAMPLE("remove_masquerade dmz"),
      LINE(FW_TEXT, "?--zone={zone}", "--remove-masquerade") },
    { "remove_port", fw_plain, port_args, 0,
      "Close a port in a zone." EXAMPLE("remove_port internal 443/tcp"),
      LINE(FW_TEXT, "--zone={zone}", "--remove-port={port}") },
    { "remove_port_fwd", fw_plain, forward_args, 0,
      "Stop forwarding a port." EXAMPLE("remove_port_fwd public 80 443 tcp"),
      LINE(FW_TEXT, "--zone={zone}",
           "--remove-forward-port=port={src}:proto={proto}:toport={dest}:toaddr={dstaddr}") },
    { "remove_rich_rule", fw_plain, rule_args, 0,
      "Remove a rich rule from a zone." EXAMPLE("remove_rich_rule dmz 'rule'"),
      LINE(FW_TEXT, "--zone={zone}", "--remove-rich-rule={rule}") },
    { "remove_service", fw_plain, zone_service_args, 0,
      "Keep a service out of a zone." EXAMPLE("remove_service ssh dmz"),
      LINE(FW_TEXT, "?--zone={zone}", "--remove-service={service}") },
    { "remove_service_port", fw_of_service, service_port_args, 0,
      "Remove a port from a service." EXAMPLE("remove_service_port web 80/tcp"),
      LINE(FW_TEXT, "--permanent", "--service={service}", "--remove-port={port}") },
    { "remove_service_protocol", fw_plain, service_protocol_args, 0,
      "Remove a protocol from a service." EXAMPLE("remove_service_protocol web igmp"),
      LINE(FW_TEXT, "--permanent", "--service={service}", "--remove-protocol={protocol}") },
    { "remove_source", fw_plain, source_args, 0,
      "Take a source out of a zone." EXAMPLE("remove_source dmz 192.168.1.0/24"),
      LINE(FW_TEXT, "--zone={zone}", "--remove-source={source}") },
    { "set_default_zone", fw_plain, one_zone_args, 0, "Set the default zone." EXAMPLE("set_default_zone dmz"),
      LINE(FW_TEXT, "--set-default-zone={zone}") },
    { "version", fw_plain, NULL, FN_READONLY, "Return the version of firewalld." EXAMPLE("version"),
      LINE(FW_TEXT, "--version") },
};

PLUGIN(exec, firewalld, .doc = "Zones and services of firewalld", FUNCS(funcs),
       .unavailable = firewalld_unavailable);
