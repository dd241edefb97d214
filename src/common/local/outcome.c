/* outcome.c - the table of outcomes. */
#include "common/local/outcome.h"

#include "common/base/str.h"

#define MAY_RETURN                                                                                           \
    "The minions may not have all finished running and any remaining minions will return upon completion. "  \
    "To look up the return data for this job later, run the following command:\n\n"                          \
    "salt-run jobs.lookup_jid "

typedef struct row {
    const char *word;    /* the master's; NULL: only said here */
    const char *bracket; /* as shown */
    const char *advice;  /* NULL: it may still return */
} row_t;

static const row_t rows[OUTCOMES] = {
    [OUTCOME_UNHEARD] = { NULL, "No response", NULL },
    [OUTCOME_DELIVERED] = { "delivered", "Delivered, not started", NULL },
    [OUTCOME_RUNNING] = { "running", "Running", NULL },
    [OUTCOME_RETURNED] = { "returned", "Returned", NULL },
    [OUTCOME_NOT_CONNECTED] = { "not_connected", "Not connected",
                                "The job was not sent to it: it has no connection to this master. Check "
                                "that salt-minion runs there and reaches the master, then run the command "
                                "again. To list the minions that are connected, run the following "
                                "command:\n\nsalt-run manage.up" },
    [OUTCOME_NOT_DELIVERED] = { "not_delivered", "Not delivered",
                                "It was connected, but never said that the job arrived, so it has most "
                                "likely not run. Check the minion and its network, then run the command "
                                "again. Should it have run after all, the following command shows its "
                                "return:\n\nsalt-run jobs.lookup_jid " },
    [OUTCOME_LOST] = { "lost", "Lost",
                       "It had received the job, and knows nothing of it any more, as after a restart: the "
                       "job may be done, in part or not at all. Check the minion, then run the command "
                       "again." },
    [OUTCOME_ELSEWHERE] = { "elsewhere", "Returned to another master",
                            "The job has run. This master was away when it ended, so its return went to "
                            "another of the minion's masters. To look it up, run the following command "
                            "there:\n\nsalt-run jobs.lookup_jid " },
    [OUTCOME_NOT_BEGUN] = { "not_begun", "Not begun",
                            "The batch was halted before its turn. To see why, run the following "
                            "command:\n\nsalt-run batch.status " },
    [OUTCOME_NOT_ACCEPTED] = { NULL, "Not accepted",
                               "No accepted key has this id. To list the keys, run the following "
                               "command:\n\nsalt-key -L" },
};

outcome_t
outcome_parse(const char *word)
{
    for (size_t i = 0; i < OUTCOMES; i++)
        if (rows[i].word != NULL && str_eq(rows[i].word, word))
            return (outcome_t) i;
    return OUTCOME_UNHEARD;
}

bool
outcome_final(outcome_t o)
{
    return o >= OUTCOME_RETURNED;
}

char *
outcome_text(outcome_t o, bool away, const char *jid)
{
    const row_t *row = &rows[o];
    const char *advice = row->advice != NULL ? row->advice : MAY_RETURN;

    return xasprintf("Minion did not return. [%s%s]\n%s%s", row->bracket, away ? ", not connected" : "",
                     advice, str_ends(advice, " ") ? jid : "");
}
