/* conf_addresses.c - values at addresses (sdb://PROFILE/KEY) in the configuration.
 *
 * Drivers of stores are plug-ins, or files in Python, which programs that read a configuration may not have,
 * and which may block. salt-engine asks them: it gets the options on its standard input and writes lines,
 * {"option", "address"} before it asks for a value, and one at its end, {"values": {option: value}} or
 * {"option", "address", "why"}. It runs as the user whom the daemon becomes, so that a reload finds what the
 * start found, and no file of that user runs as root. */
#include <unistd.h>

#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "common/host/keeper.h"
#include "common/host/proc.h"
#include "salt/limits.h"
#include "salt/value.h"

const char *
conf_address(const json_t *v)
{
    const char *key, *found = NULL;
    json_t *one;
    size_t i;

    json_array_foreach ((json_t *) v, i, one)
        if (found == NULL)
            found = conf_address(one);
    json_object_foreach ((json_t *) v, key, one)
        if (found == NULL)
            found = conf_address(one);
    return json_is_string(v) && str_starts(json_string_value(v), "sdb://") ? json_string_value(v) : found;
}

void
conf_addresses_drop(conf_said_t *said, conf_side_t side)
{
    const char *name;
    json_t *v;
    void *next;

    json_object_foreach_safe (said->values, next, name, v)
        if (conf_row(name, side) != NULL && conf_address(v) != NULL)
            json_object_del(said->values, name);
}

/* {"values": all options, "own": [options of the table with an address], "others": [those of modules]}; NULL
 * when there is no address. Options without effect are not asked for. NEW. */
static json_t *
addresses_question(const conf_said_t *said, conf_side_t side)
{
    json_auto_t *own = json_array(), *others = json_array();
    const char *name;
    json_t *v;

    json_object_foreach (said->values, name, v) {
        const option_row_t *row = conf_row(name, side);
        if (conf_address(v) != NULL && (row == NULL || row->effect == CONF_HEEDED))
            json_array_append_new(row != NULL ? own : others, json_string(name));
    }
    if (json_array_size(own) + json_array_size(others) == 0)
        return NULL;
    return json_pack("{s:O, s:O, s:O}", "values", said->values, "own", own, "others", others);
}

/* Runs salt-engine. 0 with its streams in *res, which the caller frees in any case. */
static int
addresses_ask(const char *dir, conf_side_t side, const conf_said_t *said, const json_t *question, int wait_ms,
              proc_result_t *res, fail_t *err)
{
    AUTO_FREE char *program = keeper_program("salt-engine");
    json_auto_t *told = json_pack("{s:b, s:s, s:s}", "resolve", true, "conf", dir, "side",
                                  side == CONF_MASTER ? "master" : "minion");
    AUTO_FREE char *argument = value_dump(told);
    const char *user = value_str(said->values, "user", "");

    if (program == NULL)
        return fail_set(err, -ENOENT, "the program salt-engine, which asks for it, is not beside this one");
    char *const argv[] = { program, argument, NULL };
    char *in = value_dump(question);
    const proc_spec_t spec = { .argv = argv,
                               .run_as = geteuid() == 0 && !str_empty(user) ? user : NULL,
                               .in = in,
                               .in_len = strlen(in),
                               .timeout_ms = wait_ms,
                               .out_limit = LIMIT_ADDRESSES,
                               .umask = -1 };
    int rc = proc_run(&spec, res, err);
    explicit_bzero(in, strlen(in));
    free(in);
    return rc;
}

/* The last line of its output, whole or not. NEW object; NULL for none. */
static json_t *
addresses_answer(const proc_result_t *res)
{
    json_t *last = NULL;

    for (const char *at = buf_str(&res->out), *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *line = value_parse(at, (size_t) (end - at), LIMIT_ADDRESSES, "salt-engine", NULL);
        if (line != NULL)
            json_decref(last);
        last = line != NULL ? line : last;
    }
    return last;
}

/* Lines of a driver's log become warnings. */
static void
addresses_tell(const buf_t *lines, json_t *warnings)
{
    for (const char *at = buf_str(lines), *end; *at != '\0'; at = *end != '\0' ? end + 1 : end) {
        end = strchrnul(at, '\n');
        if (end > at)
            conf_warn(warnings, "%.*s", (int) (end - at), at);
    }
}

/* Names the option, the address and the reason. */
static int
addresses_fail(const conf_said_t *said, const json_t *question, const json_t *answer, const char *why,
               fail_t *err)
{
    json_t *first = json_array_get(value_get(question, "own"), 0);
    const char *guess = json_string_value(first != NULL ? first
                                                        : json_array_get(value_get(question, "others"), 0));
    const char *option = value_str(answer, "option", guess);
    const char *address = value_str(answer, "address", conf_address(value_get(said->values, option)));

    fail_clear(err);
    return fail_set(err, -EINVAL, "%s: option '%s': there is no value from %s: %s",
                    value_str(said->where, option, "the configuration"), option, address, why);
}

int
conf_addresses_resolve(const char *dir, conf_side_t side, conf_said_t *said, int wait_ms, json_t *warnings,
                       fail_t *err)
{
    json_auto_t *question = addresses_question(said, side);
    proc_result_t res = { 0 };
    const char *option;
    json_t *v;

    if (question == NULL)
        return 0;
    fail_auto_t start = FAIL_INIT;
    int rc = addresses_ask(dir, side, said, question, wait_ms, &res, &start);
    json_auto_t *answer = rc == 0 ? addresses_answer(&res) : NULL;
    if (rc == 0)
        addresses_tell(&res.errs, warnings);
    if (rc < 0) {
        rc = addresses_fail(said, question, NULL, fail_text(&start), err);
    } else if (res.timed_out) {
        AUTO_FREE char *late = xasprintf("its store, or those before it, took more than %d s; see whether it "
                                         "can be reached",
                                         wait_ms / 1000);
        rc = addresses_fail(said, question, answer, late, err);
    } else if (!json_is_object(value_get(answer, "values"))) {
        rc = addresses_fail(said, question, answer,
                            value_str(answer, "why", "salt-engine ended before it had an answer"), err);
    } else {
        said->addresses = json_object();
        json_object_foreach (value_get(answer, "values"), option, v) {
            const char *address = conf_address(value_get(said->values, option));
            if (address == NULL)
                continue;
            json_object_set_new(said->addresses, option, json_string(address));
            json_object_set(said->values, option, v);
        }
    }
    if (res.out.data != NULL)
        explicit_bzero(res.out.data, res.out.len);
    proc_result_free(&res);
    return rc;
}

int
conf_refuse_hidden(const conf_said_t *said, const char *name, fail_t *err)
{
    const char *address = value_str(said->addresses, name, NULL);

    if (address == NULL)
        return -EINVAL;
    fail_clear(err);
    return fail_set(err, -EINVAL, "%s: option '%s': what is at %s is no value of this option",
                    value_str(said->where, name, ""), name, address);
}
