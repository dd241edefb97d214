/* reactor.c - runner `reactor`: what the running master reacts to. Changes concern the running master, not
 * its configuration. */
#include "runners/lib/ask.h"
#include "salt/plugin.h"

/* TAKES *fields_p. */
static int
ask_reactor(call_ctx_t *ctx, const char *action, json_t **fields_p, json_t **ret_value, fail_t *err)
{
    json_object_set_new(*fields_p, "action", json_string(action));
    json_auto_t *reply = ask_master_with(ctx, "reactor", fields_p, err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_incref(value_get(reply, "result"));
    return 0;
}

static int
reactor_ask(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_object();
    return ask_reactor(ctx, ctx_row(ctx)->name, &fields, ret_value, err);
}

static int
reactor_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *reactors = value_get(args, "reactors");
    json_t *fields = json_pack("{s:O, s:o}", "event", value_get(args, "event"), "reactors",
                               json_is_string(reactors) ? json_pack("[O]", reactors) : json_incref(reactors));
    return ask_reactor(ctx, "add", &fields, ret_value, err);
}

static int
reactor_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:O}", "event", value_get(args, "event"));
    int rc = ask_reactor(ctx, "delete", &fields, ret_value, err);

    if (rc == 0 && !value_bool(*ret_value, "status", true))
        ctx_absent(ctx, "Nothing reacts to '%s'; 'salt-run reactor.list' lists what there is",
                   value_str(args, "event", ""));
    return rc;
}

static int
reactor_set_leader(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:O}", "value", value_get(args, "value"));
    return ask_reactor(ctx, "set_leader", &fields, ret_value, err);
}

static const arg_t list_args[] = { ARG("saltenv", ARG_STR, "\"base\"", "Not used"),
                                   ARG("test", ARG_ANY, "null", "Not used"), ARGS_END };
static const arg_t add_args[] = {
    ARG("event", ARG_STR, ARG_REQUIRED, "The tag, a glob"),
    ARG("reactors", ARG_ANY, ARG_REQUIRED, "A file or a list of files: paths or salt:// URLs"),
    ARG("saltenv", ARG_STR, "\"base\"", "Not used"), ARG("test", ARG_ANY, "null", "Not used"), ARGS_END
};
static const arg_t delete_args[] = { ARG("event", ARG_STR, ARG_REQUIRED, "The tag as it is listed"),
                                     ARG("saltenv", ARG_STR, "\"base\"", "Not used"),
                                     ARG("test", ARG_ANY, "null", "Not used"), ARGS_END };
static const arg_t leader_args[] = { ARG("value", ARG_BOOL, "true", "Whether events are reacted to"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "list", reactor_ask, list_args, FN_ACCESS_ADMIN | FN_READONLY,
      "List what the running master reacts to." CLI_EXAMPLE("salt-run reactor.list") },
    { "add", reactor_add, add_args, FN_ACCESS_ADMIN,
      "React to another event, until the master reads its configuration again." CLI_EXAMPLE(
          "salt-run reactor.add 'salt/cloud/*/destroyed' reactors='/srv/reactor/destroy/*.sls'") },
    { "delete", reactor_delete, delete_args, FN_ACCESS_ADMIN,
      "React to an event no more, until the master reads its configuration again." CLI_EXAMPLE(
          "salt-run reactor.delete 'salt/cloud/*/destroyed'") },
    { "is_leader", reactor_ask, NULL, FN_ACCESS_ADMIN | FN_READONLY,
      "Whether the running master reacts to events." CLI_EXAMPLE("salt-run reactor.is_leader") },
    { "set_leader", reactor_set_leader, leader_args, FN_ACCESS_ADMIN,
      "Let the running master react to events, or not: those that pass meanwhile set off "
      "nothing." CLI_EXAMPLE("salt-run reactor.set_leader True") },
    { "status", reactor_ask, NULL, FN_ACCESS_ADMIN | FN_READONLY,
      "What the reactor of the running master does: events that it has not looked at (behind), files that wait to be "
      "rendered (waiting), functions of the master under way; and since the master began, of each file that reacts, its events, "
      "the reactions that were begun and that failed, its events a minute, the last event and the last error." CLI_EXAMPLE(
          "salt-run reactor.status") },
};

PLUGIN(runner, reactor, .doc = "What the running master reacts to", FUNCS(funcs));
