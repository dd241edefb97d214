/* ip_api.c - see ip_api.h: what the providers of `ip` share. */
#include "plugins/lib/net/ip_api.h"

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/net/debiface.h"

#define IFACE_ROW      ARG("iface", ARG_STR, ARG_REQUIRED, "The interface")
#define TYPE_ROW(dflt) ARG("iface_type", ARG_STR, dflt, "Its type: eth, bond, bridge, slave, vlan and others")
#define SETTINGS_ROW                                                                                         \
    ARG("settings", ARG_ANY, ARG_STARSTAR,                                                                   \
        "Settings as the states of network take them; test: change nothing")

const arg_t ip_iface_args[] = { IFACE_ROW, ARGS_END };
const arg_t ip_switch_args[] = { IFACE_ROW, TYPE_ROW(ARG_REQUIRED), ARGS_END };
const arg_t ip_switch_any_args[] = { IFACE_ROW, TYPE_ROW("null"), ARGS_END };
const arg_t ip_build_args[] = { IFACE_ROW, TYPE_ROW(ARG_REQUIRED),
                                ARG("enabled", ARG_ANY, ARG_REQUIRED, "Comes up with the machine"),
                                SETTINGS_ROW, ARGS_END };
const arg_t ip_iface_settings_args[] = { IFACE_ROW, SETTINGS_ROW, ARGS_END };
const arg_t ip_settings_args[] = { SETTINGS_ROW, ARGS_END };

/* The name becomes a word of commands and a part of paths: no blanks, no slash. */
int
ip_check_iface(const json_t *args, fail_t *err)
{
    return field_check_text("iface", value_str(args, "iface", ""), FIELD_WORD "/", err);
}

/* A value becomes a line of a file, so it has no line break; objects are checked where they are used. */
int
ip_check_settings(const json_t *settings, fail_t *err)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *) settings, key, value) {
        if (!json_is_object(value) && field_check(key, value, FIELD_LINE, err) < 0)
            return err->code;
    }
    return 0;
}

/* An exact word; no part of one. */
bool
ip_word_in(const char *list, const char *text)
{
    size_t n = text != NULL ? strlen(text) : 0;

    for (const char *at = list; n > 0 && *at != '\0'; at += *at == '|') {
        size_t len = strcspn(at, "|");
        if (len == n && memcmp(at, text, n) == 0)
            return true;
        at += len;
    }
    return false;
}

char *
ip_small(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        *c = (char) (*c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
    return text;
}

/* Salt compares types in lower case. */
char *
ip_type(const json_t *args)
{
    return ip_small(xstrdup(value_str(args, "iface_type", "")));
}

/* A package that is there already is not asked of the package manager, which may need the network. */
int
ip_install(call_ctx_t *ctx, const char *package, fail_t *err)
{
    json_auto_t *names = json_pack("[s*]", package), *version = NULL;

    if (package == NULL)
        return 0;
    if (ctx_call(ctx, "pkg.version", names, NULL, &version, err) < 0)
        return err->code;
    json_auto_t *did = value_truthy(version) ? json_true()
                                             : sub_call(ctx, err, "pkg.install", "{s:s}", "name", package);
    return did != NULL ? 0 : err->code;
}

/* The answer is the program's text, as Salt's cmd.run has it, whatever its exit code is. */
int
ip_switch_iface(call_ctx_t *ctx, json_t *args, const char *still, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *type = ip_type(args);
    prog_auto_t prog = PROG_INIT;

    *ret_value = NULL;
    if (ip_word_in(still, type)) {
        *ret_value = json_null();
        return 0;
    }
    if (tool_begin(&prog, ctx_row(ctx)->data.text, err) < 0 ||
        prog_operand(&prog, "iface", value_str(args, "iface", ""), err) < 0)
        return err->code;
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_text(ctx, &prog, ret_value, err);
}

/* `require_reboot` says that the settings need one, so nothing is restarted; the host's name is set all the
 * same. */
int
ip_apply(call_ctx_t *ctx, const json_t *args, const ip_service_t *calls, size_t n, json_t **ret_value,
         fail_t *err)
{
    json_t *settings = value_get(args, "settings"), *host = value_get(settings, "hostname");
    bool reboots = netword_truth(value_get(settings, "require_reboot")) > 0;
    int named = 1, done = 1;

    if (netword_truth(value_get(settings, "apply_hostname")) > 0)
        named = host != NULL ? sub_call_bool(ctx, err, "network.mod_hostname", "{s:O}", "hostname", host) : 0;
    for (size_t i = 0; named >= 0 && !reboots && done > 0 && i < n; i++)
        done = sub_call_bool(ctx, err, calls[i].function, "{s:s}", "name", calls[i].service);
    if (named < 0 || done < 0)
        return err->code;
    *ret_value = json_boolean(named > 0 && done > 0);
    return 0;
}
