/* facts.c - see facts.h. The names are those of the events that the master makes of jobs and returns, and
 * those that it puts around a minion's event. */
#include "master/events/facts.h"

static const char *const facts[] = {
    "_stamp", "arg",      "cmd",     "data",    "fun", "fun_args", "id",
    "jid",    "metadata", "minions", "missing", "out", "pretag",   "ret",
    "return", "retcode",  "success", "tag",     "tgt", "tgt_type", "user",
};

json_t *
facts_claims(const json_t *said)
{
    json_t *claims = json_is_object(said) ? json_copy((json_t *) said) : json_object();
    for (size_t i = 0; i < NELEMS(facts); i++)
        (void) json_object_del(claims, facts[i]);
    return claims;
}
