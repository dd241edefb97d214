/* network_rings.c - more of execution module `network`: ring buffers of interfaces, shown and changed by
 * ethtool. Failures are answers {result: False, comment}. */
#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* "RX: 256" below "Pre-set maximums:" or "Current hardware settings:". Keys are "rx-max" above and "rx"
 * below, letters small and blanks as hyphens. Lines of newer releases that are no number ("n/a") are skipped.
 * Any number read makes the answer's result True. */
static void
parse_rings(char **lines, json_t *out)
{
    const char *suffix = "max-";

    for (size_t i = 0; lines[i] != NULL; i++) {
        char *colon = strchr(lines[i], ':');
        long long n;
        if (str_ends(lines[i], "maximums:"))
            suffix = "-max";
        else if (str_ends(lines[i], "settings:"))
            suffix = "";
        else if (colon != NULL && str_to_int(colon + 1 + strspn(colon + 1, " \t"), 0, INT32_MAX, &n)) {
            *colon = '\0';
            AUTO_FREE char *name = str_replace(lines[i], " ", "-");
            for (char *p = name; *p != '\0'; p++)
                *p = (char) tolower((unsigned char) *p);
            AUTO_FREE char *key = xasprintf("%s%s", name, suffix);
            json_object_set_new(out, key, json_integer(n));
            json_object_set_new(out, "result", json_true());
        }
    }
}

/* {} without ethtool, as by Salt. ethtool's complaint about an interface without rings becomes the
 * comment. */
static int
network_get_bufsize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *program = fs_which("ethtool");
    json_auto_t *out = json_object();
    prog_auto_t prog = PROG_INIT;

    if (program != NULL) {
        prog_adds(&prog, program, "-g", NULL);
        if (prog_operand(&prog, "iface", value_str(args, "iface", ""), err) < 0)
            return err->code;
        prog.merge_stderr = true;
        AUTO_FREE char *text = prog_stdout(&prog, NULL, err);
        if (text == NULL)
            return -EIO;
        char **lines = str_split(text, "\n", true);
        json_object_set_new(out, "result", json_false());
        parse_rings(lines, out);
        strv_free(lines);
        if (!value_bool(out, "result", false))
            json_object_set_new(out, "comment", value_utf8(text, strlen(text)));
    }
    *ret_value = json_incref(out);
    return 0;
}

static json_t *
network_rings_outcome(bool result, const char *comment)
{
    return json_pack("{s:b, s:s}", "result", result, "comment", comment);
}

/* Any output of ethtool means a failure. The comment of a success lists the values set. */
static int
network_mod_bufsize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const names[] = { "rx", "tx", "rx-mini", "rx-jumbo" };
    AUTO_FREE char *program = fs_which("ethtool");
    json_t *kwargs = value_get(args, "kwargs");
    buf_auto_t shown = BUF_INIT;
    prog_auto_t prog = PROG_INIT;

    if (program == NULL) {
        *ret_value = json_false();
        return 0;
    }
    prog_adds(&prog, program, "-G", NULL);
    if (prog_operand(&prog, "iface", value_str(args, "iface", ""), err) < 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(kwargs, names[i]);
        if (v == NULL || json_is_null(v))
            continue;
        AUTO_FREE char *text = value_pystr(v);
        prog_add(&prog, names[i]);
        if (prog_operand(&prog, names[i], text, err) < 0)
            return err->code;
        buf_printf(&shown, "%s%s %s", shown.len > 0 ? " " : "", names[i], text);
    }
    /* Words without a name beside named values are refused, all of them named; without any named value the
     * text below tells what is needed. */
    if (json_object_size(kwargs) > 0 && json_array_size(value_get(args, "args")) > 0) {
        AUTO_FREE char *words = value_joined(value_get(args, "args"), " ");
        AUTO_FREE char *comment = xasprintf("Unknown arguments: %s", words);
        *ret_value = network_rings_outcome(false, comment);
        return 0;
    }
    if (shown.len == 0) {
        *ret_value = network_rings_outcome(false,
                                           "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>");
        return 0;
    }
    prog.merge_stderr = true;
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    *ret_value = network_rings_outcome(*out == '\0', *out != '\0' ? out : buf_str(&shown));
    return 0;
}

static const arg_t iface_args[] = { ARG("iface", ARG_STR, ARG_REQUIRED, "Name of the interface"), ARGS_END };
static const arg_t mod_bufsize_args[] = { ARG("iface", ARG_STR, ARG_REQUIRED, "Name of the interface"),
                                          ARG("args", ARG_ANY, ARG_STAR, "None are known"),
                                          ARG("kwargs", ARG_ANY, ARG_STARSTAR, "rx, tx, rx-mini, rx-jumbo"),
                                          ARGS_END };

static const func_t funcs[] = {
    { "get_bufsize", network_get_bufsize, iface_args, FN_READONLY,
      "Return the sizes of an interface's ring buffers." CLI_EXAMPLE("salt '*' network.get_bufsize eth0") },
    { "mod_bufsize", network_mod_bufsize, mod_bufsize_args, 0,
      "Change the sizes of an interface's ring buffers." CLI_EXAMPLE(
          "salt '*' network.mod_bufsize <iface name> rx=<val> tx=<val>") },
};

PLUGIN(exec, network_rings, .provides = "network", .doc = "Ring buffers of interfaces", FUNCS(funcs));
