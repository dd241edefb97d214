/* key_change.c - salt-key's accept, reject and delete: choose the keys, ask, change them, tell. A running
 * master makes the changes, so that it learns of them at once; without one they are made on the files. */
#include <signal.h>
#include <unistd.h>

#include "cli/key_cli.h"
#include "cli/eauth.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "common/cli/ttyguard.h"
#include "common/local/client.h"
#include "keyring/audit.h"
#include "salt/value.h"

enum { KEYS_AT_ONCE = 200 };

/* ---- choose -------------------------------------------------------------------------------------- */

/* Key states that the --include options add to the action's own. */
unsigned
key_included(key_cli_t *cli, key_act_t act)
{
    static const struct {
        const char *option;
        unsigned states;
    } rows[] = {
        { "include_accepted", KEY_BIT(KEY_ACCEPTED) },
        { "include_rejected", KEY_BIT(KEY_REJECTED) },
        { "include_denied", KEY_BIT(KEY_DENIED) },
        { "include_all", KEY_BIT(KEY_ACCEPTED) | KEY_BIT(KEY_REJECTED) },
    };
    unsigned include = 0;

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (value_bool(cli->values, rows[i].option, false))
            include |= rows[i].states;
    return key_act_from(act, include);
}

/* ---- ask ----------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void
on_sigint(int sig)
{
    interrupted = 1;
}

/* Reads one answer. Ctrl-C and the end of input count as no answer, after which nothing is changed. */
key_answer_t
key_ask(key_cli_t *cli, bool enter_is_yes)
{
    struct sigaction on_int = { .sa_handler = on_sigint }, old;
    AUTO_FREE char *line = NULL;
    size_t cap = 0;

    fprintf(cli->prose, enter_is_yes ? "Proceed? [n/Y] " : "Proceed? [N/y] ");
    fflush(cli->prose);
    sigaction(SIGINT, &on_int, &old);
    ssize_t n = getline(&line, &cap, stdin);

    sigaction(SIGINT, &old, NULL);
    if (n < 0) {
        fprintf(stderr, interrupted ? "\nExiting on CTRL-c\n"
                                    : "\nNo answer, nothing was changed. Use -y to answer yes.\n");
        return KEY_ANSWER_NONE;
    }
    if (line[0] == '\n')
        return enter_is_yes ? KEY_ANSWER_YES : KEY_ANSWER_NO;
    return line[0] == 'y' || line[0] == 'Y' ? KEY_ANSWER_YES : KEY_ANSWER_NO;
}

/* ---- do ------------------------------------------------------------------------------------------ */

/* Changes the keys of one state and appends the ids done to `done`. */
typedef int apply_fn(key_cli_t *cli, local_client_t *line, key_act_t act, const char *state, json_t *ids,
                     json_t *done, fail_t *err);

/* Some at a time: the master has others to serve, and each answer comes within the time that it is waited
 * for. */
static int
apply_by_master(key_cli_t *cli, local_client_t *line, key_act_t act, const char *state, json_t *ids,
                json_t *done, fail_t *err)
{
    size_t n = json_array_size(ids), i = 0;
    int rc = 0;

    while (rc == 0 && i < n) {
        json_auto_t *some = json_array();
        for (; i < n && json_array_size(some) < KEYS_AT_ONCE; i++)
            json_array_append(some, json_array_get(ids, i));

        /* Sends one request; the ids done are appended to `done`. `more` tells the master that others
         * follow. */
        bool more = i < n;
        json_auto_t *reply = NULL;
        json_t *request = json_pack("{s:s, s:s, s:O, s:[s], s:o*}", "op", "key_apply", "action",
                                    key_act_name(act), "ids", some, "from", state, "more",
                                    more ? json_true() : NULL);
        rc = local_call(line, &request, &reply, err);
        if (rc == 0 && json_is_array(value_get(reply, "done")))
            json_array_extend(done, value_get(reply, "done"));
    }
    return rc;
}

/* Changes each key on the disk and audits it as the master would; syncs once at the end. */
static int
apply_on_files(key_cli_t *cli, local_client_t *line, key_act_t act, const char *state, json_t *ids,
               json_t *done, fail_t *err)
{
    size_t i;
    json_t *id;

    json_array_foreach (ids, i, id) {
        fail_auto_t why = FAIL_INIT;

        bool good = (str_eq(state, KEY_UNFIT) ? keystore_unfit_delete(cli->store, json_string_value(id), &why)
                                              : keyaction_one(cli->store, act, json_string_value(id),
                                                              key_state_of_dir(state), &why)) == 0;
        json_t *said = json_pack("{s:s, s:s, s:[s], s:O, s:b, s:s}", "op", "key_apply", "action",
                                 key_act_name(act), "from", state, "id", id, "allowed", true, "outcome",
                                 good ? "ok" : "failed");

        key_audit(cli, &said);
        if (good)
            json_array_append(done, id);
        else
            (void) key_out_fail("%s", fail_text(&why));
    }
    return keystore_sync(cli->store, err);
}

/* Say of each id what became of it. Returns how many failed. */
size_t
key_tell(key_cli_t *cli, key_act_t act, json_t *ids, json_t *done)
{
    json_auto_t *lookup = json_object();
    size_t i, failed = 0;
    json_t *id;

    json_array_foreach (done, i, id)
        json_object_set_new(lookup, json_string_value(id), json_true());
    json_array_foreach (ids, i, id) {
        const char *name = json_string_value(id);

        if (json_object_get(lookup, name) != NULL) {
            key_out_say(cli, "Key for minion %s%s %s.\n", name, ttyguard_bound(cli->prose),
                        key_act_done(act));
            continue;
        }
        fprintf(stderr,
                act == KEY_ACT_ACCEPT ? "Unable to accept invalid key for %s%s.\n"
                                      : "Key for minion %s%s was not changed.\n",
                name, ttyguard_bound(stderr));
        failed++;
    }
    return failed;
}

/* Adds user, pid and program to a line and writes it. TAKES *line_p. */
void
key_audit(const key_cli_t *cli, json_t **line_p)
{
    AUTO(audit) audit = audit_new(value_str(cli->opts, "audit_log", ""));
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_uid(&space, cli->uid);

    (void) json_object_update_new(*line_p, json_pack("{s:i, s:s*, s:i, s:s}", "uid", (int) cli->uid, "user",
                                                     pw != NULL ? pw->pw_name : NULL, "pid", (int) getpid(),
                                                     "program", "salt-key"));
    audit_write(audit, line_p);
}

local_client_t *
key_line(const key_cli_t *cli, fail_t *err)
{
    return eauth_connect(value_str(cli->opts, "sock_dir", ""), 1000 * value_int(cli->opts, "timeout", 5),
                         err);
}

/* True for errors that mean that no master runs, after which files may be changed. */
bool
key_no_master(const fail_t *err)
{
    return err->code == -ENOENT || err->code == -ECONNREFUSED;
}

/* ---- all together -------------------------------------------------------------------------------- */

/* NEW key table of what the user names. A name that is not an id, as -L lists it, is that one: as a pattern it
 * could be all the others. */
static json_t *
key_change_named(const key_cli_t *cli, const json_t *table, key_act_t act)
{
    json_auto_t *glob = json_string(cli->match);
    json_t *unfit = act == KEY_ACT_DELETE ? keyselect_unfit(table, cli->all ? NULL : cli->match) : NULL;

    if (unfit != NULL && !cli->all)
        return unfit;
    json_t *found = keyselect_match(table, glob);

    json_object_update(found, unfit);
    json_decref(unfit);
    return found;
}

/* The keys as the question shows them. A key that can't be read has no fingerprint. NEW. */
static json_t *
key_change_shown(const key_cli_t *cli, json_t *chosen)
{
    fail_auto_t err = FAIL_INIT;

    if (!key_details_wanted(cli))
        return json_incref(chosen);
    AUTO(local_client) line = key_line(cli, &err);
    fail_clear(&err);
    json_auto_t *fingers = json_object();
    const char *state, *hash_type = value_str(cli->opts, "hash_type", "sha256");
    json_t *ids, *id;
    size_t i;
    json_object_foreach (chosen, state, ids) {
        json_t *row = json_object();
        json_object_set_new(fingers, state, row);
        json_array_foreach (ids, i, id) {
            fail_auto_t unread = FAIL_INIT;
            json_auto_t *one = json_pack("{s:[O]}", state, id);
            json_auto_t *found = str_eq(state, KEY_UNFIT)
                                     ? NULL
                                     : keyaction_fingers(cli->store, one, hash_type, &unread);
            json_object_update(row, json_object_get(found, state));
        }
    }
    return key_details(cli, line, chosen, fingers);
}

/* The whole command: returns the exit code. */
int
key_run_change(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *table = keyaction_table(cli->store, &err);
    bool yes = value_bool(cli->values, "yes", false);
    int rc = 0;

    if (table == NULL)
        return key_out_fail("%s", fail_text(&err));
    json_auto_t *found = key_change_named(cli, table, verb->act);
    json_auto_t *chosen = keyselect_only(found, key_included(cli, verb->act));

    if (json_object_size(chosen) == 0) {
        /* "The key glob ... does not match": a failure where the user named keys, not for "all that there
         * are". */
        key_act_t act = verb->act;
        AUTO_FREE char *text = keyselect_no_match(act, key_included(cli, act), cli->match);
        rc = cli->structured ? key_out_show(cli, chosen) : 0;
        key_out_say(cli, "%s\n", text);
        return rc != 0 ? rc : cli->all ? 0 : 1;
    }
    key_out_say(cli, "The following keys are going to be %s:\n", key_act_done(verb->act));
    if (!yes || !value_bool(cli->values, "quiet", false)) {
        json_auto_t *shown = key_change_shown(cli, chosen);
        rc = key_out_show(cli, shown);
    }
    /* Enter alone means yes for accept and reject, no for delete. */
    key_answer_t answer = rc != 0 ? KEY_ANSWER_NONE
                          : yes   ? KEY_ANSWER_YES
                                  : key_ask(cli, verb->act != KEY_ACT_DELETE);

    if (answer != KEY_ANSWER_YES)
        return answer == KEY_ANSWER_NO ? 0 : 1;

    /* Exit code: 1 when a key was not changed. */
    key_act_t act = verb->act;
    fail_auto_t why = FAIL_INIT;
    AUTO(local_client) line = key_line(cli, &why);
    apply_fn *fn = line != NULL ? apply_by_master : apply_on_files;
    size_t failed = 0;
    const char *state;
    json_t *ids;
    if (line == NULL && !key_no_master(&why))
        return key_out_fail("%s", fail_text(&why));
    fail_clear(&why);
    json_object_foreach (chosen, state, ids) {
        json_auto_t *done = json_array();

        if (fn(cli, line, act, state, ids, done, &why) < 0) {
            (void) key_tell(cli, act, done, done);
            return key_out_fail("%s", fail_text(&why));
        }
        failed += key_tell(cli, act, ids, done);
    }
    return failed > 0 ? 1 : 0;
}
