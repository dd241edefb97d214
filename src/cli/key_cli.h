/* key_cli.h - salt-key: one run's options, and the actions that share them.
 *
 * Reading goes to the key folders; accept, reject and delete go through the running master, so that live
 * connections follow at once, and to the folders when no master runs.
 *
 * Layer      cli
 * Threads    one
 * Errors     texts on stderr; the exit code is 0, 1, or 64 for a bad command line
 * Tests      tests/t/0100-salt-key.bats
 */
#ifndef CLI_KEY_CLI_H
#define CLI_KEY_CLI_H

#include <sys/types.h>

#include "cli/show.h"
#include "keyring/keyaction.h"
#include "salt/base.h"

struct local_client;

typedef struct key_cli {
    const json_t *values; /* BORROWED: the options given */
    const json_t *opts;   /* BORROWED: the master's configuration; NULL for what works without it */
    keystore_t *store;    /* BORROWED; NULL as `opts` */
    const char *match;    /* BORROWED: the glob or the word of the action */
    bool all;             /* the action's ..._all form */
    uid_t uid;            /* of who started it */
    show_t show;
    bool structured; /* stdout belongs to a program: prose goes to stderr */
    FILE *prose;
} key_cli_t;

/* The action that the options ask for, with what it needs. */
typedef struct key_verb {
    const char *option;
    const char *match;                                       /* NULL: the option's value */
    int (*run)(key_cli_t *cli, const struct key_verb *verb); /* returns the exit code */
    key_act_t act;                                           /* for those that change */
    bool bare;                                               /* needs neither configuration nor key folders */
} key_verb_t;

/* The first of Salt's order whose option is given; listing all without any. */
const key_verb_t *key_verb_of(const json_t *values);
/* The next one that is given, too; NULL: there is none. */
const key_verb_t *key_verb_other(const json_t *values);
/* The first whose option is given with nothing: a variable of a script that has no value, and no wish to
 * list keys. NULL: none is. */
const key_verb_t *key_verb_empty(const json_t *values);

/* The verbs of key_verbs.c; each returns the exit code. Those that change keys ask a master that runs, and
 * change the files themselves when none does. */
int key_run_list(key_cli_t *cli, const key_verb_t *verb);
int key_run_print(key_cli_t *cli, const key_verb_t *verb);
int key_run_finger(key_cli_t *cli, const key_verb_t *verb);
int key_run_change(key_cli_t *cli, const key_verb_t *verb);
int key_run_gen_keys(key_cli_t *cli, const key_verb_t *verb);
int key_run_gen_signature(key_cli_t *cli, const key_verb_t *verb);
int key_run_import(key_cli_t *cli, const key_verb_t *verb);
int key_run_rotate(key_cli_t *cli, const key_verb_t *verb);
/* Any of them, in the name of who logs in: key_eauth.c. */
int key_run_eauth(key_cli_t *cli, const key_verb_t *verb);

/* States from which the action takes keys, with the --include options. */
unsigned key_included(key_cli_t *cli, key_act_t act);
/* Says of each id whether it is among those done. Returns how many are not. */
size_t key_tell(key_cli_t *cli, key_act_t act, json_t *ids, json_t *done);

/* True when the question is put to a person at a terminal, who is shown more of each key. */
bool key_details_wanted(const key_cli_t *cli);
/* {state: {id: fingerprint, address and age as text}} of a key table, for the outputter `key`. `fingers` as of
 * keyaction_fingers(); `line` NULL: no master runs, and addresses are unknown. NEW. */
json_t *key_details(const key_cli_t *cli, struct local_client *line, const json_t *chosen,
                    const json_t *fingers);
/* "4 minutes", "12 days". NEW. Pure. */
char *key_age(int64_t seconds);

typedef enum key_answer { KEY_ANSWER_YES, KEY_ANSWER_NO, KEY_ANSWER_NONE } key_answer_t;
/* "Proceed?" on the terminal. Enter alone is an answer; the end of input is none, and said. */
key_answer_t key_ask(key_cli_t *cli, bool enter_is_yes);
/* A line to the master that waits for it no longer than other commands do. NEW; NULL with *err. */
struct local_client *key_line(const key_cli_t *cli, fail_t *err);
/* True when the connection failed because no master runs. */
bool key_no_master(const fail_t *err);

/* A line of the audit log, for what is done without a master. TAKES *line_p. */
void key_audit(const key_cli_t *cli, json_t **line_p);

/* Initialises the outputter from options and configuration. Returns the exit code. */
int key_out_init(key_cli_t *cli);
/* Show data by the chosen outputter, on stdout or in --out-file. Returns the exit code. */
int key_out_show(key_cli_t *cli, const json_t *data);
/* A sentence for people: stdout, or stderr beside structured output. Silent with --quiet. */
void key_out_say(const key_cli_t *cli, const char *fmt, ...) PRINTF(2, 3);
/* "salt-key: ..." on stderr; returns 1. */
int key_out_fail(const char *fmt, ...) PRINTF(1, 2);

#endif
