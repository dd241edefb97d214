/* key_eauth.c - salt-key in the name of who logs in: keys are looked at and changed by wheel functions, as
 * the user's rules of external_auth allow, and never on the files. */
#include "cli/eauth.h"
#include "cli/key_cli.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "keyring/keyselect.h"
#include "salt/value.h"

/* Calls a wheel function and waits for its end. TAKES kwargs. NEW return, or NULL with *err. */
static json_t *
key_wheel(local_client_t *line, const char *fun, json_t *kwargs, fail_t *err)
{
    json_auto_t *reply = NULL;

    json_object_set_new(kwargs, "__kwarg__", json_true());
    json_t *request = json_pack("{s:s, s:s, s:[o]}", "op", "wheel", "fun", fun, "arg", kwargs);
    if (local_call(line, &request, &reply, err) < 0)
        return NULL;
    for (;;) {
        json_auto_t *push = NULL;
        int rc = local_next(line, -1, &push, err);
        if (rc < 0 && rc != -EINTR)
            return NULL;
        if (push == NULL || !str_eq(value_str(push, "jid", ""), value_str(reply, "jid", "-")))
            continue;
        if (value_bool(push, "success", false))
            return json_incref(value_get(push, "return"));
        AUTO_FREE char *text = value_pystr(value_get(push, "return"));
        (void) fail_set(err, -EIO, "%s", text);
        return NULL;
    }
}

static json_t *
key_wheel_match(local_client_t *line, const char *fun, const char *match, fail_t *err)
{
    return key_wheel(line, fun, json_pack("{s:s}", "match", match), err);
}

/* ---- looking ----------------------------------------------------------------------------------------- */

static int
eauth_list_keys(key_cli_t *cli, local_client_t *line, const key_verb_t *verb, fail_t *err)
{
    json_auto_t *table = key_wheel(line, "key.list_all", json_object(), err);
    json_auto_t *listed = table != NULL ? keyselect_status(table, cli->match) : NULL;

    return listed != NULL ? key_out_show(cli, listed) : err->code;
}

static int
eauth_print(key_cli_t *cli, local_client_t *line, const key_verb_t *verb, fail_t *err)
{
    bool fingers = verb->run == key_run_finger;
    json_auto_t *found = key_wheel_match(line, fingers ? "key.finger" : "key.key_str", cli->match, err);

    if (found == NULL)
        return err->code;
    if (json_object_size(found) == 0 && !cli->all && !cli->structured)
        return fail_set(err, -ENOENT, "The key glob '%s' does not match any keys.", cli->match);
    return key_out_show(cli, found);
}

/* ---- changing ---------------------------------------------------------------------------------------- */

static int
eauth_apply(key_cli_t *cli, local_client_t *line, key_act_t act, json_t *chosen, fail_t *err)
{
    AUTO_FREE char *fun = xasprintf("key.%s_dict", key_act_name(act));
    json_t *kwargs = json_pack("{s:O}", "match", chosen), *ids;
    size_t failed = 0;
    const char *state;

    if (act == KEY_ACT_ACCEPT)
        (void) json_object_update_new(
            kwargs, json_pack("{s:b, s:b}", "include_rejected", true, "include_denied", true));
    if (act == KEY_ACT_REJECT)
        (void) json_object_update_new(
            kwargs, json_pack("{s:b, s:b}", "include_accepted", true, "include_denied", true));
    json_auto_t *changed = key_wheel(line, fun, kwargs, err);
    json_auto_t *table = changed != NULL ? key_wheel(line, "key.list_all", json_object(), err) : NULL;
    if (table == NULL)
        return err->code;
    json_object_foreach (chosen, state, ids) {
        /* The wheel function names no keys: those count as changed that are now where the change brings them.
         */
        static const key_state_t states[] = {
            [KEY_ACT_ACCEPT] = KEY_ACCEPTED, [KEY_ACT_REJECT] = KEY_REJECTED
        };
        const json_t *now = act == KEY_ACT_DELETE ? NULL : json_object_get(table, key_state_dir(states[act]));
        json_auto_t *done = json_array();
        json_t *id;
        size_t i;

        json_array_foreach (ids, i, id)
            if (act == KEY_ACT_DELETE ? !value_has(json_object_get(table, state), id) : value_has(now, id))
                json_array_append(done, id);
        failed += key_tell(cli, act, ids, done);
    }
    return failed > 0 ? 1 : 0;
}

/* The keys as the question shows them. Fingerprints that the user's rules keep from him are left out. NEW. */
static json_t *
eauth_shown(key_cli_t *cli, local_client_t *line, json_t *chosen)
{
    fail_auto_t err = FAIL_INIT;

    if (!key_details_wanted(cli))
        return json_incref(chosen);
    json_auto_t *fingers = key_wheel_match(line, "key.finger", cli->match, &err);
    return fingers != NULL ? key_details(cli, line, chosen, fingers) : json_incref(chosen);
}

static int
eauth_change(key_cli_t *cli, local_client_t *line, const key_verb_t *verb, fail_t *err)
{
    json_auto_t *found = key_wheel_match(line, "key.name_match", cli->match, err);
    bool yes = value_bool(cli->values, "yes", false);

    if (found == NULL)
        return err->code;
    unsigned from = key_included(cli, verb->act);
    json_auto_t *chosen = keyselect_only(found, from);
    if (json_object_size(chosen) == 0) {
        AUTO_FREE char *text = keyselect_no_match(verb->act, from, cli->match);
        key_out_say(cli, "%s\n", text);
        return cli->all ? 0 : 1;
    }
    key_out_say(cli, "The following keys are going to be %s:\n", key_act_done(verb->act));
    json_auto_t *shown = eauth_shown(cli, line, chosen);
    (void) key_out_show(cli, shown);
    key_answer_t answer = yes ? KEY_ANSWER_YES : key_ask(cli, verb->act != KEY_ACT_DELETE);
    if (answer != KEY_ANSWER_YES)
        return answer == KEY_ANSWER_NO ? 0 : 1;
    return eauth_apply(cli, line, verb->act, chosen, err);
}

int
key_run_eauth(key_cli_t *cli, const key_verb_t *verb)
{
    static const struct {
        int (*verb)(key_cli_t *cli, const key_verb_t *verb);
        int (*fn)(key_cli_t *cli, local_client_t *line, const key_verb_t *verb, fail_t *err);
    } rows[] = { { key_run_list, eauth_list_keys },
                 { key_run_print, eauth_print },
                 { key_run_finger, eauth_print },
                 { key_run_change, eauth_change } };
    fail_auto_t err = FAIL_INIT;
    size_t i = 0;

    while (i < NELEMS(rows) && rows[i].verb != verb->run)
        i++;
    if (i == NELEMS(rows))
        return key_out_fail(
            "only keys of minions can be listed, printed and changed after a login (--auth): run this "
            "as root or as the user that the master runs as");
    AUTO(local_client) line = key_line(cli, &err);
    int rc = line != NULL ? rows[i].fn(cli, line, verb, &err) : err.code;
    return rc >= 0 ? rc : key_out_fail("%s", fail_text(&err));
}
