/* iptables.c - execution module `iptables`: the kernel's packet filter, by iptables, ip6tables and their
 * -save programs. A rule is one text, as Salt has it; its words become the program's, without a shell. Calls
 * without what they need answer with a text "Error: ..." and are no failures: states and users' scripts
 * compare these texts. -save prints all tables, and plugins/lib/net/iptrules.h reads that. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/net/iptrules.h"
#include "salt/log.h"
#include "salt/plugin.h"

#define FAMILY(args) value_str(args, "family", "ipv4")
#define TABLE(args)  value_str(args, "table", "filter")
#define CHAIN(args)  value_str(args, "chain", "")

/* Every family but "ipv6" is IPv4, as by Salt. */
static const char *
program_of(const char *family)
{
    return strcmp(family, "ipv6") == 0 ? "ip6tables" : "iptables";
}

/* Salt's answer to a call without what it needs. */
static int
ipt_answer(json_t **ret_value, const char *text)
{
    *ret_value = json_string(text);
    return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Runs the program over the words of a line. NEW, or NULL with *err. A line is split as a shell would split
 * it, quotes included: --comment 'two words' is one argument. A quote that stays open is an error. */
static json_t *
ipt_run(call_ctx_t *ctx, const char *program, const char *line, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    char **words = NULL;

    if (tool_begin(&prog, program, err) < 0 || (words = prog_split(line, err)) == NULL)
        return NULL;
    for (size_t i = 0; words[i] != NULL; i++)
        prog_add(&prog, words[i]);
    strv_free(words);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_run(ctx, &prog, flags, err);
}

/* "--wait" where the program has it: 1.4.20 of 2013 and later. Asked once in a job. NULL with *err. Without
 * it two programs at once end with "Another app is currently holding the xtables lock". The answer is kept in
 * the job's context by the program's name, since both families may differ. */
static const char *
wait_option(call_ctx_t *ctx, const char *family, fail_t *err)
{
    AUTO_FREE char *key = xasprintf("iptables.wait.%s", program_of(family));
    const char *known = value_str(ctx_context(ctx), key, NULL);

    if (known != NULL)
        return known;
    json_auto_t *out = ipt_run(ctx, program_of(family), "--help", TOOL_QUIET, err);
    if (out == NULL)
        return NULL;
    json_object_set_new(ctx_context(ctx), key,
                        json_string(strstr(value_str(out, "stdout", ""), "--wait") != NULL ? "--wait" : ""));
    return value_str(ctx_context(ctx), key, "");
}

/* Runs "--wait -t TABLE LINE". *ret_said is what it has to complain of, "" when all is well. NEW. The exit
 * code is logged and becomes the job's, as by cmd.run_stderr, but the answer is made of the text alone. */
static int
ipt_change(call_ctx_t *ctx, const json_t *args, const char *line, json_t **ret_said, fail_t *err)
{
    const char *wait = wait_option(ctx, FAMILY(args), err);
    AUTO_FREE char *whole = wait != NULL ? xasprintf("%s -t %s %s", wait, TABLE(args), line) : NULL;
    json_auto_t *out = whole != NULL ? ipt_run(ctx, program_of(FAMILY(args)), whole, 0, err) : NULL;

    if (out == NULL)
        return err->code;
    *ret_said = json_incref(value_get(out, "stderr"));
    return 0;
}

/* What iptables-save prints, with `more` on its line. NEW text, or NULL with *err. */
static json_t *
ipt_save_text(call_ctx_t *ctx, const char *family, const char *more, fail_t *err)
{
    AUTO_FREE char *program = xasprintf("%s-save", program_of(family));
    json_auto_t *out = ipt_run(ctx, program, more, 0, err);

    return out != NULL ? json_incref(value_get(out, "stdout")) : NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* "iptables v1.8.9 (nf_tables)": the second word, with its "v". */
static int
ipt_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = ipt_run(ctx, program_of(FAMILY(args)), "--version", 0, err);
    char **words = out != NULL ? str_split(value_str(out, "stdout", ""), " \t\n", true) : NULL;

    if (out == NULL)
        return err->code;
    int rc = strv_len(words) > 1 ? ipt_answer(ret_value, words[1])
                                 : fail_kind(err, FAIL_COMMAND, -EIO, "%s --version tells no version",
                                             program_of(FAMILY(args)));
    strv_free(words);
    return rc;
}

/* The rule alone, or the whole command line with `full`. The path of the program and "--wait" are those of
 * this host, so that the line can be run as it is here. */
static int
ipt_build_rule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *command = value_str(args, "command", "");
    AUTO_FREE char *rule = ipt_rule(value_get(args, "kwargs")),
                   *position = value_pystr(value_get(args, "position"));

    /* ipt_rule() tells of keywords that it cannot use in place of a rule. */
    if (!value_truthy(value_get(args, "full")) || str_starts(rule, "Error: "))
        return ipt_answer(ret_value, rule);
    if (*TABLE(args) == '\0')
        return ipt_answer(ret_value, "Error: Table needs to be specified");
    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    if (*command == '\0')
        return ipt_answer(ret_value, "Error: Command needs to be specified");
    AUTO_FREE char *program = fs_which(program_of(FAMILY(args)));
    const char *wait = wait_option(ctx, FAMILY(args), err);
    if (wait == NULL)
        return err->code;
    /* A part of the letters is taken for an option's letter, any other command for its long name; Salt tests
     * so, too. */
    *ret_value = value_fmt("%s %s -t %s %s%s %s %s %s", program != NULL ? program : "None", wait, TABLE(args),
                           strstr("ACDIRLSFZNXPE", command) != NULL ? "-" : "--", command, CHAIN(args),
                           position, rule);
    return 0;
}

/* -C compares as the kernel keeps the rule. The exit code becomes the job's, as by cmd.run_stderr, though the
 * log keeps quiet. */
static int
ipt_check(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *rule = value_str(args, "rule", "");

    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    if (*rule == '\0')
        return ipt_answer(ret_value, "Error: Rule needs to be specified");
    AUTO_FREE char *line = xasprintf("-t %s -C %s %s", TABLE(args), CHAIN(args), rule);
    json_auto_t *out = ipt_run(ctx, program_of(FAMILY(args)), line, TOOL_QUIET, err);
    if (out == NULL)
        return err->code;
    int retcode = (int) value_int(out, "retcode", -1);
    ctx_set_retcode(ctx, retcode);
    *ret_value = json_boolean(retcode == 0);
    return 0;
}

/* False when the rule is there; else whether the program had nothing to say. A text from check, about what is
 * missing in the call, is passed on. */
static int
ipt_append(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *there = NULL, *said = NULL;
    int rc = ipt_check(ctx, args, &there, err);

    if (rc != 0 || json_is_string(there)) {
        *ret_value = STEAL(there);
        return rc;
    }
    AUTO_FREE char *line = xasprintf("-A %s %s", CHAIN(args), value_str(args, "rule", ""));
    rc = json_is_true(there) ? 0 : ipt_change(ctx, args, line, &said, err);
    if (rc == 0)
        *ret_value = json_boolean(!json_is_true(there) && !value_truthy(said));
    return rc;
}

/* The tables that are in the kernel. NEW, or NULL with *err. */
static json_t *
rules_now(call_ctx_t *ctx, const char *family, fail_t *err)
{
    json_auto_t *text = ipt_save_text(ctx, family, "", err);

    return text != NULL ? ipt_saved(json_string_value(text), err) : NULL;
}

/* The program counts from 1; below 0 it is from the end: -1 is before the last rule, and a place before the
 * first is the first. */
static int
ipt_insert(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *given = value_get(args, "position");
    json_auto_t *there = NULL, *now = NULL;

    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    if (!value_truthy(given))
        return ipt_answer(ret_value, "Error: Position needs to be specified or use append (-A)");
    AUTO_FREE char *position = value_pystr(given);
    long long at = 0;
    if (str_to_int(position, INT32_MIN, -1, &at)) {
        if ((now = rules_now(ctx, FAMILY(args), err)) == NULL)
            return err->code;
        json_t *chain = value_get(value_get(now, TABLE(args)), CHAIN(args));
        at += (long long) json_array_size(value_get(chain, "rules")) + 1;
        free(position);
        position = xasprintf("%lld", at == 0 ? 1 : at);
    }
    int rc = ipt_check(ctx, args, &there, err);
    if (rc != 0 || json_is_string(there)) {
        *ret_value = STEAL(there);
        return rc;
    }
    AUTO_FREE char *line = xasprintf("-I %s %s %s", CHAIN(args), position, value_str(args, "rule", ""));
    if (!json_is_true(there))
        return ipt_change(ctx, args, line, ret_value, err);
    *ret_value = json_false();
    return 0;
}

/* A rule is deleted by its place or by its words, never both. The answer is what the program said: "" is
 * success. */
static int
ipt_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *position = value_get(args, "position"), *rule = value_get(args, "rule");

    if (value_truthy(position) && value_truthy(rule))
        return ipt_answer(ret_value, "Error: Only specify a position or a rule, not both");
    AUTO_FREE char *which = value_pystr(value_truthy(position) ? position : rule);
    AUTO_FREE char *line = xasprintf("-D %s %s", CHAIN(args), which);
    return ipt_change(ctx, args, line, ret_value, err);
}

/* Without a chain every chain of the table loses its rules; policies stay. */
static int
ipt_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *line = xasprintf("-F %s", CHAIN(args));

    return ipt_change(ctx, args, line, ret_value, err);
}

/* ---- chains and policies --------------------------------------------------------------------- */

/* iptables-save tells each chain by ":NAME POLICY [packets:bytes]", so that no listing of rules is needed. */
static int
ipt_check_chain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *more = xasprintf("-t %s", TABLE(args)), *line = xasprintf(":%s ", CHAIN(args));

    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    json_auto_t *text = ipt_save_text(ctx, FAMILY(args), more, err);
    if (text == NULL)
        return err->code;
    *ret_value = json_boolean(strstr(json_string_value(text), line) != NULL);
    return 0;
}

/* The row's option: -N makes a chain, -X deletes it. True when all is well, else the program's words. */
static int
ipt_chain_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *line = xasprintf("%s %s", ctx_row(ctx)->data.text, CHAIN(args));

    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    int rc = ipt_change(ctx, args, line, ret_value, err);
    if (rc == 0 && !value_truthy(*ret_value)) {
        json_decref(*ret_value);
        *ret_value = json_true();
    }
    return rc;
}

/* Only built-in chains have a policy; iptables says so for others, and its words are the answer. */
static int
ipt_set_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *policy = value_str(args, "policy", "");
    AUTO_FREE char *line = xasprintf("-P %s %s", CHAIN(args), policy);

    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    if (*policy == '\0')
        return ipt_answer(ret_value, "Error: Policy needs to be specified");
    return ipt_change(ctx, args, line, ret_value, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Where a distribution keeps its rules: Salt's table of the files from which the systems' own services
 * restore them at boot. BORROWED, or NULL with *err. */
static const char *
conf_of(call_ctx_t *ctx, const char *family, fail_t *err)
{
    static const struct {
        const char *grain, *value, *ipv4, *ipv6;
    } rows[] = {
        { "os_family", "RedHat", "/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables" },
        { "os_family", "Arch", "/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules" },
        { "os_family", "Debian", "/etc/iptables/rules.v4", "/etc/iptables/rules.v6" },
        { "os", "Gentoo", "/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save" },
        { "os_family", "Suse", "/etc/sysconfig/scripts/SuSEfirewall2-custom",
          "/etc/sysconfig/scripts/SuSEfirewall2-custom" },
        { "os_family", "Void", "/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules" },
        { "os", "Alpine", "/etc/iptables/rules-save", "/etc/iptables/rules6-save" },
        { "os_family", "NILinuxRT", "/etc/natinst/share/iptables.conf", "/etc/natinst/share/ip6tables.conf" },
    };
    json_t *grains = ctx_grains(ctx);

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (strcmp(value_str(grains, rows[i].grain, ""), rows[i].value) == 0)
            return strcmp(family, "ipv6") == 0 ? rows[i].ipv6 : rows[i].ipv4;
    }
    fail_kind(err, FAIL_COMMAND, -ENOTSUP,
              "Saving iptables to file is not supported on %s. Please file an issue with SaltStack",
              value_str(grains, "os", "this system"));
    return NULL;
}

/* The row says whether the rules in the kernel are meant, or those of a file; a file that is not there has
 * none. NEW, or NULL with *err. */
static json_t *
rules_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const char *given = value_str(args, "conf_file", "");
    buf_auto_t text = BUF_INIT;

    if (ctx_row(ctx)->data.number != 0)
        return rules_now(ctx, FAMILY(args), err);
    const char *path = *given != '\0' ? given : conf_of(ctx, FAMILY(args), err);
    if (path == NULL || fs_read_any(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    return ipt_saved(buf_str(&text), err);
}

static int
ipt_get_rules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = rules_of(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* None for a chain that is not there or has no policy ("-"). */
static int
ipt_get_policy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (*CHAIN(args) == '\0')
        return ipt_answer(ret_value, "Error: Chain needs to be specified");
    json_auto_t *rules = rules_of(ctx, args, err);
    if (rules == NULL)
        return err->code;
    json_t *policy = value_get(value_get(value_get(rules, TABLE(args)), CHAIN(args)), "policy");
    *ret_value = policy != NULL ? json_incref(policy) : json_null();
    return 0;
}

/* Without the lines that one of the option's patterns finds. NEW text. Dynamic rules of other programs
 * (docker, fail2ban) are kept out of the file so. A pattern that can't be compiled is logged and skipped, and
 * the others still count. */
static json_t *
filtered(const char *text, const json_t *patterns)
{
    json_auto_t *lines = json_array();
    AUTO_FREE char *copy = xstrdup(text);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        bool drop = false;
        json_t *pattern;
        size_t i;
        json_array_foreach (patterns, i, pattern) {
            fail_auto_t why = FAIL_INIT;
            AUTO_FREE char *source = value_pystr(pattern);
            rx_t *rx = rx_new(source, 0, &why);
            if (rx == NULL)
                log_warning("Skipping regex rule: '%s': %s", source, fail_text(&why));
            drop = drop || (rx != NULL && rx_search(rx, line, strlen(line), 0, &why) > 0);
            rx_destroy(&rx);
        }
        if (!drop)
            json_array_append_new(lines, value_utf8(line, strlen(line)));
    }
    AUTO_FREE char *kept = value_joined(lines, "\n");
    return value_utf8(kept, strlen(kept));
}

/* file.write's answer. The rules pass through file.write, whose text ("Wrote 12 lines to ...") users know as
 * the result. */
static int
ipt_save(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "filename", "");
    const char *path = *given != '\0' ? given : conf_of(ctx, FAMILY(args), err);

    if (path == NULL)
        return err->code;
    json_auto_t *text = ipt_save_text(ctx, FAMILY(args), "", err);
    json_auto_t *patterns = text == NULL ? NULL
                                         : sub_call(ctx, err, "config.option", "{s:s, s:[]}", "value",
                                                    "iptables.save_filters", "default");
    /* A missing folder is made, since packages that bring it (iptables-persistent) need not be installed. */
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = slash != NULL ? xstrndup(path, (size_t) (slash - path)) : NULL;
    if (patterns == NULL || (!str_empty(folder) && fs_mkdirs(folder, 0755, err) < 0))
        return err->code;
    json_auto_t *content = value_truthy(patterns) ? filtered(json_string_value(text), patterns)
                                                  : json_incref(text);
    *ret_value = sub_call(ctx, err, "file.write", "{s:s, s:[O]}", "path", path, "args", content);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const char *
iptables_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("iptables");

    return path != NULL ? NULL : "The iptables execution module cannot be loaded: iptables not installed.";
}

#define FAMILY_ROW ARG("family", ARG_STR, "\"ipv4\"", "ipv4, or ipv6: ip6tables")
#define TABLE_ROW  ARG("table", ARG_STR, "\"filter\"", "The table")
#define CHAIN_ROW  ARG("chain", ARG_STR, "null", "The chain")
#define RULE_ROW   ARG("rule", ARG_STR, "null", "The rule as on iptables' command line, behind the chain")
#define POS_ROW    ARG("position", ARG_ANY, "null", "Place in the chain, from 1; -1 is before the last")
#define CONF_ROW   ARG("conf_file", ARG_STR, "null", "The file; by default the distribution's")

static const arg_t family_args[] = { FAMILY_ROW, ARGS_END };
static const arg_t build_args[] = { TABLE_ROW,
                                    CHAIN_ROW,
                                    ARG("command", ARG_STR, "null", "A, I, ..., or append, insert, ..."),
                                    ARG("position", ARG_ANY, "\"\"", "Place in the chain"),
                                    ARG("full", ARG_ANY, "null", "True: with the program and the chain"),
                                    FAMILY_ROW,
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                        "Options by their long names; match, connstate, jump, comment, ..."),
                                    ARGS_END };
static const arg_t chain_args[] = { TABLE_ROW, CHAIN_ROW, FAMILY_ROW, ARGS_END };
static const arg_t saved_args[] = { CONF_ROW, FAMILY_ROW, ARGS_END };
static const arg_t saved_policy_args[] = { TABLE_ROW, CHAIN_ROW, CONF_ROW, FAMILY_ROW, ARGS_END };
static const arg_t policy_args[] = { TABLE_ROW, CHAIN_ROW, ARG("policy", ARG_STR, "null", "ACCEPT or DROP"),
                                     FAMILY_ROW, ARGS_END };
static const arg_t save_args[] = {
    ARG("filename", ARG_STR, "null", "The file; by default the distribution's"), FAMILY_ROW, ARGS_END
};
static const arg_t rule_args[] = { TABLE_ROW, CHAIN_ROW, RULE_ROW, FAMILY_ROW, ARGS_END };
static const arg_t insert_args[] = { TABLE_ROW, CHAIN_ROW, POS_ROW, RULE_ROW, FAMILY_ROW, ARGS_END };
static const arg_t delete_args[] = {
    ARG("table", ARG_STR, ARG_REQUIRED, "The table"), CHAIN_ROW, POS_ROW, RULE_ROW, FAMILY_ROW, ARGS_END
};
static const arg_t flush_args[] = { TABLE_ROW, ARG("chain", ARG_STR, "\"\"", "The chain; by default all"),
                                    FAMILY_ROW, ARGS_END };

static const func_t funcs[] = {
    { "append", ipt_append, rule_args, 0,
      "Add a rule at the end of a chain; False when it is there." CLI_EXAMPLE(
          "salt '*' iptables.append filter INPUT rule='-p tcp --dport 22 -j ACCEPT'") },
    { "build_rule", ipt_build_rule, build_args, FN_READONLY,
      "Return the rule that keywords make." CLI_EXAMPLE(
          "salt '*' iptables.build_rule match=state connstate=NEW jump=ACCEPT") },
    { "check", ipt_check, rule_args, FN_READONLY,
      "Return whether a chain has a rule." CLI_EXAMPLE(
          "salt '*' iptables.check filter INPUT rule='-p tcp --dport 22 -j ACCEPT'") },
    { "check_chain", ipt_check_chain, chain_args, FN_READONLY,
      "Return whether a table has a chain." CLI_EXAMPLE("salt '*' iptables.check_chain filter INPUT") },
    { "delete", ipt_delete, delete_args, 0,
      "Delete a rule, given or by its place." CLI_EXAMPLE(
          "salt '*' iptables.delete filter INPUT position=3") },
    { "delete_chain", ipt_chain_change, chain_args, 0,
      "Delete a chain." CLI_EXAMPLE("salt '*' iptables.delete_chain filter CUSTOM"), .data.text = "-X" },
    { "flush", ipt_flush, flush_args, 0,
      "Delete all rules of a chain, or of a table." CLI_EXAMPLE("salt '*' iptables.flush filter INPUT") },
    { "get_policy", ipt_get_policy, chain_args, FN_READONLY,
      "Return the policy of a chain." CLI_EXAMPLE("salt '*' iptables.get_policy filter INPUT"),
      .data.number = 1 },
    { "get_rules", ipt_get_rules, family_args, FN_READONLY,
      "Return the rules in the kernel." CLI_EXAMPLE("salt '*' iptables.get_rules family=ipv6"),
      .data.number = 1 },
    { "get_saved_policy", ipt_get_policy, saved_policy_args, FN_READONLY,
      "Return the policy of a chain in a file." CLI_EXAMPLE(
          "salt '*' iptables.get_saved_policy filter INPUT") },
    { "get_saved_rules", ipt_get_rules, saved_args, FN_READONLY,
      "Return the rules in a file." CLI_EXAMPLE("salt '*' iptables.get_saved_rules") },
    { "insert", ipt_insert, insert_args, 0,
      "Put a rule at a place of a chain; False when it is there." CLI_EXAMPLE(
          "salt '*' iptables.insert filter INPUT position=1 rule='-p tcp --dport 22 -j ACCEPT'") },
    { "new_chain", ipt_chain_change, chain_args, 0,
      "Make a chain." CLI_EXAMPLE("salt '*' iptables.new_chain filter CUSTOM"), .data.text = "-N" },
    { "save", ipt_save, save_args, 0,
      "Write the rules in the kernel into a file." CLI_EXAMPLE(
          "salt '*' iptables.save /etc/iptables/rules.v4") },
    { "set_policy", ipt_set_policy, policy_args, 0,
      "Set the policy of a chain." CLI_EXAMPLE("salt '*' iptables.set_policy filter INPUT ACCEPT") },
    { "version", ipt_version, family_args, FN_READONLY,
      "Return the version of iptables." CLI_EXAMPLE("salt '*' iptables.version") },
};

PLUGIN(exec, iptables, .doc = "The packet filter", FUNCS(funcs), .unavailable = iptables_unavailable);
