/* cmd.h - one run of the salt command, shared by its modes: plain, --static, --batch, --subset, --async, -d.
 *
 * Layer      cli
 * Threads    one
 * Errors     texts printed where they arise; functions return the exit code
 * Tests      tests/unit/cli/test_cli.c, tests/t/0310-salt-cli.bats
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/jobline.h"
#include "cli/show.h"
#include "cli/startup.h"
#include "cli/where.h"

typedef struct cmd {
    startup_t start;
    show_t show;
    jobline_t *line;
    json_t *request;  /* owned: {tgt, tgt_type, fun, arg, ...} */
    char *fun;        /* owned; "" for several functions */
    const char *out;  /* the outputter that suits it; NULL: none of its own */
    where_t *where;   /* where the job's minions are; NULL: it is not watched. Its mode's */
    bool verbose;     /* -v */
    bool show_silent; /* not --hide-timeout */
    bool failed;      /* a minion returned a code other than 0, or did not return */
} cmd_t;

/* The whole program (salt.c). Returns the exit code. */
int salt_main(int argc, char **argv);

/* Callbacks by which a mode consumes the news of its job. */
typedef struct cmd_sink {
    void (*on_return)(cmd_t *self, const char *id, json_t *push, void *state);
    void (*on_silent)(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state);
    bool announce; /* print the jid as -v and --show-jid say */
} cmd_sink_t;
/* Publish `request` (TAKES) and hand every piece of news to the sink. 0 when the job is over; else the exit
 * code. */
int cmd_follow(cmd_t *self, json_t **request_p, const cmd_sink_t *sink, void *state);

/* True when a person at a terminal waits for a state run. */
bool cmd_is_watched(const cmd_t *self);
/* Begins `where` and asks for the events of the job's minions (`jid` as in where_new). A user without the
 * right to listen waits without them. */
void cmd_watch(cmd_t *self, const char *jid);
/* The part of the news that says where minions are. */
void cmd_where_news(cmd_t *self, const news_t *news);
/* The lines of `where` go above the line of progress. */
void cmd_show_where(cmd_t *self);

/* Calls one operation: 0 and *ret_reply NEW, or the exit code. TAKES *request_p. */
int cmd_call(cmd_t *self, const char *op, json_t **request_p, json_t **ret_reply);
/* Print why a request failed. Returns the exit code. */
int cmd_refused(cmd_t *self, const fail_t *err);
/* A node group as the target becomes what the configuration says it is now: the master may have read it
 * long ago. 0, or the exit code when there is no such group. */
int cmd_nodegroup(cmd_t *self, json_t *request);
/* Prints that the target matched no minion. Returns the exit code. */
int cmd_no_match(cmd_t *self);
/* True for a word without wildcards that is a file's name in this folder: the shell may have put it there. */
bool cmd_is_file_here(const char *word);
/* The exit code after all returns: 0, or 1 with its sentence. */
int cmd_finish(cmd_t *self);

/* Salt's retcode of a return: a number, or the highest of several functions'. */
int cmd_retcode(const json_t *push);
/* Says on stderr which thing that the call names a minion did not find, if its return tells. */
void cmd_show_absent(cmd_t *self, const char *id, const json_t *push);
/* The outputter that suits a return; NULL for none. BORROWED. */
const char *cmd_outputter(const cmd_t *self, const json_t *push);
/* True when a minion that did not return is to be printed and makes the run fail. */
bool cmd_mentions(const cmd_t *self, outcome_t outcome);

/* The other modes: batch.c, doc.c, subset.c. Each returns the exit code. */
int batch_run(cmd_t *self, const json_t *size);
int doc_run(cmd_t *self);
int subset_choose(cmd_t *self, size_t want); /* narrows the request's target; 0 to go on */

#endif
