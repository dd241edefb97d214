/* publish.c - execution module `publish`: has the master run functions on other minions, or a runner, as the
 * master's options peer and peer_run allow. What is refused is an empty answer, as in Salt, and told in the
 * log. The answer is {minion: return}, or with full_data the whole of each return. A text NAME=VALUE whose
 * name a peer said is refused among the arguments (saidwords.h): it would become a keyword. */
#include "common/base/str.h"
#include "common/data/args.h"
#include "plugins/lib/salt/saidwords.h"
#include "salt/log.h"
#include "salt/value.h"

/* True when the job has no master to ask. salt-call --local has no link, either. */
static bool
publish_is_local(call_ctx_t *ctx)
{
    return str_eq(value_str(ctx_opts(ctx), "file_client", "remote"), "local");
}

/* ---- arguments ---------------------------------------------------------------------------------------- */

/* "a b c" as the words of one of several functions. NEW. Quotes have no meaning: Salt splits at blanks
 * alone. */
static json_t *
publish_words(const char *text)
{
    json_t *list = json_array();
    const char *at = text + strspn(text, " \t\r\n\v\f");
    for (size_t len; *at != '\0'; at += len + strspn(at + len, " \t\r\n\v\f")) {
        len = strcspn(at, " \t\r\n\v\f");
        json_array_append_new(list, json_stringn(at, len));
    }
    return list;
}

/* One argument as a word of a command line: typed, or a keyword of `last`. "name=value" is a keyword when
 * what stands before "=" could be a name; both sides are typed as on a command line. */
static void
publish_word(json_t *list, json_t *last, json_t *one)
{
    const char *text = json_string_value(one);
    size_t len = text != NULL ? args_keyword_len(text) : 0;
    if (len > 0) {
        AUTO_FREE char *name = xstrndup(text, len);
        json_object_set_new(last, name, arg_type_word(text + len + 1));
    } else if (text != NULL) {
        json_array_append_new(list, arg_type_word(text));
    } else if (value_get(one, "__kwarg__") != NULL) {
        json_object_update(last, one);
    } else {
        json_array_append(list, one);
    }
}

/* `arg` as Salt's list of arguments: a text is YAML, and what is no list is the only one. With several
 * functions each argument is the list of one. NEW; NULL with *err. Keywords come last, in one mapping with
 * Salt's mark. */
static json_t *
publish_arguments(call_ctx_t *ctx, json_t *arg, bool several, fail_t *err)
{
    json_auto_t *given = json_is_string(arg) ? arg_type_word(json_string_value(arg)) : json_incref(arg);
    json_auto_t *items = json_is_array(given)  ? json_incref(given)
                         : json_is_null(given) ? json_array()
                                               : json_pack("[O]", given);
    json_auto_t *list = json_array(), *last = json_pack("{s:b}", "__kwarg__", 1);
    json_t *one;
    size_t i;
    if (saidwords_check(ctx, items, err) < 0)
        return NULL;
    json_array_foreach (items, i, one) {
        if (several && json_is_string(one))
            json_array_append_new(list, publish_words(json_string_value(one)));
        else
            publish_word(list, last, one);
    }
    if (json_object_size(last) > 1)
        json_array_append(list, last);
    return json_incref(list);
}

/* The number of the master `via_master` among the configured ones; -1: none was named; -EINVAL with *err. A
 * host's port may be left out. Without a name any connected master is asked. */
static int
publish_master(call_ctx_t *ctx, const char *via, fail_t *err)
{
    json_t *masters = value_get(ctx_opts(ctx), "master"), *one;
    json_auto_t *all = json_is_array(masters) ? json_incref(masters) : json_pack("[O*]", masters);
    AUTO_FREE char *shown = value_pystr(all);
    size_t i, len = strlen(via);
    if (len == 0)
        return -1;
    json_array_foreach (all, i, one) {
        const char *host = json_is_string(one) ? json_string_value(one) : "";
        if (str_starts(host, via) && (host[len] == '\0' || host[len] == ':'))
            return (int) i;
    }
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "Could not find match for %s in list of configured masters %s when using `via_master` option", via,
        shown);
}

/* ---- asking ------------------------------------------------------------------------------------------- */

/* TAKES `ask`. The master's answer, `{}` of what it refuses, or `late` when it takes too long. Why it refuses
 * is in the log alone, since Salt's callers expect an object of minions. */
static int
publish_ask(call_ctx_t *ctx, json_t *ask, const char *late, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:o}", "op", "ask", "ask", ask), *answer = NULL;
    fail_auto_t why = FAIL_INIT;
    json_object_set_new(ask, "what", json_string("peer"));
    int rc = ctx_host(ctx, request, &answer, &why);
    if (rc == -ETIMEDOUT) {
        *ret_value = value_fmt("'%s' %s timed out", value_str(ask, "fun", ""), late);
        return 0;
    }
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "The master: %s", fail_text(&why));
    const char *refused = value_str(answer, "refused", "");
    if (*refused != '\0') {
        log_error("The master refuses: %s", refused);
        ctx_absent(ctx, "The master refuses: %s", refused);
    }
    json_t *value = value_get(answer, "value");
    *ret_value = value != NULL ? json_incref(value) : json_object();
    return 0;
}

/* publish and full_data: the row's number. Several functions with commas have a list of arguments each. */
static int
publish_publish(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(args, "fun", "");
    bool several = strchr(fun, ',') != NULL;
    /* A published publish could go round in circles among minions. */
    if (publish_is_local(ctx) || str_starts(fun, "publish.")) {
        const char *why =
            publish_is_local(ctx)
                ? "Publishing needs a connection to a master, and there is none: nothing was sent"
                : "Functions of the module publish can't be published: nothing was sent";
        log_error("%s", why);
        ctx_absent(ctx, "%s", why);
        *ret_value = json_object();
        return 0;
    }
    int master = publish_master(ctx, value_str(args, "via_master", ""), err);
    json_auto_t *arg = master >= -1 ? publish_arguments(ctx, value_get(args, "arg"), several, err) : NULL;
    if (arg == NULL)
        return err->code;
    json_t *ask = json_pack("{s:s, s:s, s:O, s:O, s:O, s:O, s:O, s:b}", "op", "publish", "fun", fun, "arg",
                            arg, "tgt", value_get(args, "tgt"), "tgt_type", value_get(args, "tgt_type"),
                            "ret", value_get(args, "returner"), "timeout", value_get(args, "timeout"), "full",
                            ctx_row(ctx)->data.number != 0);
    if (master >= 0)
        json_object_set_new(ask, "master", json_integer(master));
    if (several) {
        json_t *names = json_array();
        char **words = str_split(fun, ",", false);
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(names, json_string(words[i]));
        strv_free(words);
        json_object_set_new(ask, "fun", names);
    }
    log_info("Publishing '%s'", fun);
    return publish_ask(ctx, ask, "publish", ret_value, err);
}

/* The text for a call without a master is the result, as by Salt. */
static int
publish_runner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (publish_is_local(ctx)) {
        *ret_value = json_string("No access to master. If using salt-call with --local, please remove.");
        return 0;
    }
    json_auto_t *arg = publish_arguments(ctx, value_get(args, "arg"), false, err);
    if (arg == NULL)
        return err->code;
    log_info("Publishing runner '%s'", value_str(args, "fun", ""));
    return publish_ask(ctx,
                       json_pack("{s:s, s:O, s:O, s:O}", "op", "runner", "fun", value_get(args, "fun"), "arg",
                                 arg, "timeout", value_get(args, "timeout")),
                       "runner publish", ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------------------- */

#define TARGET_ARGS                                                                                          \
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "The minions"),                                                        \
        ARG("fun", ARG_STR, ARG_REQUIRED, "The function, or several with commas between"),                   \
        ARG("arg", ARG_ANY, "null",                                                                          \
            "Its argument or a list of them; NAME=VALUE is a keyword. With several functions: "              \
            "a text for each"),                                                                              \
        ARG("tgt_type", ARG_STR, "\"glob\"", "The kind of target"),                                          \
        ARG("returner", ARG_STR, "\"\"", "Returners that the minions use as well"),                          \
        ARG("timeout", ARG_INT, "5", "Seconds to wait for minions that have not returned")
static const arg_t publish_args[] = {
    TARGET_ARGS,
    ARG("via_master", ARG_STR, "null", "The master to ask, of several"),
    ARGS_END,
};
static const arg_t full_args[] = { TARGET_ARGS, ARGS_END };
static const arg_t runner_args[] = {
    ARG("fun", ARG_STR, ARG_REQUIRED, "The runner's function"),
    ARG("arg", ARG_ANY, "null", "Its argument or a list of them; NAME=VALUE is a keyword"),
    ARG("timeout", ARG_INT, "5", "Seconds to wait, at least a minute"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "full_data", publish_publish, full_args, FN_PEER | FN_CALLS | FN_REACHES,
      "Like publish.publish, with each return under ``ret``, beside the name of its outputter if it has one." CLI_EXAMPLE(
          "salt web1 publish.full_data '*' cmd.run 'ls -la /tmp'"),
      .data.number = 1 },
    { "publish", publish_publish, publish_args, FN_PEER | FN_CALLS | FN_REACHES,
      "Call a function on other minions, and return what they return, by minion. The master's option ``peer`` says "
      "what this minion may have called; all else returns nothing." CLI_EXAMPLE(
          "salt web1 publish.publish '*' network.ip_addrs\n    "
          "salt web1 publish.publish 'os:Fedora' test.arg arg=\"['a', 'k=v']\" tgt_type=grain timeout=10") },
    { "runner", publish_runner, runner_args, FN_PEER,
      "Run a runner on the master and return its result. The master's option ``peer_run`` says which this minion may "
      "run." CLI_EXAMPLE("salt web1 publish.runner manage.down") },
};

PLUGIN(exec, publish, .doc = "Functions on other minions and runners, by way of the master", FUNCS(funcs));
