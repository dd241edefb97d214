/* schedule_copy.c - more of execution module `schedule`: gives a job to other minions. The master has
 * schedule.add called there, as its option `peer` allows. */
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/salt/scheduling.h"
#include "salt/value.h"

/* NEW arguments of schedule.add that make the job again. schedule.add has other names for a job's arguments
 * than the job itself. */
static json_t *
copy_words(const char *name, const json_t *job)
{
    json_t *words = json_pack("{s:b}", "__kwarg__", 1), *v;
    const char *key;
    json_object_foreach ((json_t *) job, key, v)
        json_object_set(words,
                        str_eq(key, "args")     ? "job_args"
                        : str_eq(key, "kwargs") ? "job_kwargs"
                                                : key,
                        v);
    json_object_set_new(words, "name", json_string(name));
    return json_pack("[o]", words);
}

/* schedule.copy and, with the row's number, schedule.move. A job is moved only when every minion that
 * answered has it; one of the pillar can't be moved, since the pillar would bring it again. */
static int
schedule_copy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool moves = ctx_row(ctx)->data.number;
    const char *name = value_str(args, "name", "");
    const scheduling_list_t own = { .show_all = true, .where = "opts" }, all = { .show_all = true };
    json_auto_t *mine = scheduling_list(ctx, moves ? &own : &all, err), *response = NULL,
                *took = json_array(), *failed = json_array();
    const char *minion;
    json_t *said;
    if (mine == NULL)
        return err->code;
    json_t *job = value_get(mine, name);
    if (!json_is_object(job)) {
        *ret_value = json_pack(
            "{s:o, s:b}", "comment",
            value_fmt(moves ? "Job %s does not exist, or is in the pillar: schedule.copy copies it."
                            : "Job %s does not exist.",
                      name),
            "result", false);
        return 0;
    }
    if (ctx_test(ctx) || value_bool(value_get(args, "kwargs"), "test", false)) {
        *ret_value = json_pack(
            "{s:o, s:b}", "comment",
            value_fmt("Job: %s would be %s from schedule.", name, moves ? "moved" : "copied"), "result",
            true);
        return 0;
    }

    json_auto_t *words = json_pack("[O, s, o]", value_get(args, "target"), "schedule.add",
                                   copy_words(name, job));
    json_auto_t *how = json_object();
    int rc = ctx_call(ctx, "publish.publish", words, how, &response, err);
    if (rc < 0)
        return rc;
    /* A minion that answers with an error text has not added it. */
    json_object_foreach (response, minion, said)
        json_array_append_new(value_bool(said, "result", false) ? took : failed, json_string(minion));
    if (json_object_size(response) == 0 || json_array_size(failed) > 0) {
        *ret_value = json_object_size(response) == 0
                         ? json_pack("{s:s, s:b}", "comment",
                                     "no servers answered the published schedule.add command", "result",
                                     false)
                         : json_pack("{s:s, s:b, s:O}", "comment", "the following minions return False",
                                     "result", false, "minions", failed);
        return 0;
    }
    /* Deleted here last, so that a failure on the way leaves the job where it was. */
    json_auto_t *gone = moves ? scheduling_ask(ctx,
                                               json_pack("{s:s, s:s, s:b}", "do", "delete", "name", name,
                                                         "persist", true),
                                               err)
                              : json_null();
    if (gone == NULL)
        return err->code;
    *ret_value = json_pack(
        "{s:o, s:b, s:O}", "comment",
        value_fmt(moves ? "Moved Job %s from schedule." : "Copied Job %s from schedule to minion(s).", name),
        "result", true, "minions", took);
    return 0;
}

static const arg_t copy_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("target", ARG_STR, ARG_REQUIRED, "The minions, as a glob"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "test=True: only say what would be done"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "copy", schedule_copy, copy_args, FN_CALLS | FN_REACHES,
      "Copy a job of the schedule to other minions. The master's option ``peer`` must let this minion have "
      "``schedule.add``, and the job's function, called on them." CLI_EXAMPLE(
          "salt '*' schedule.copy jobname target"),
      .data.number = false },
    { "move", schedule_copy, copy_args, FN_CALLS | FN_REACHES,
      "Move a job of the schedule to other minions; it stays here unless all that answer take it. The master's option "
      "``peer`` must let this minion have ``schedule.add``, and the job's function, called on them." CLI_EXAMPLE(
          "salt '*' schedule.move jobname target"),
      .data.number = true },
};

PLUGIN(exec, schedule_copy, .provides = "schedule", .doc = "Jobs of the schedule for other minions",
       FUNCS(funcs));
