/* tags.c - tags that a minion may not fire: those that only the master fires, and those about another
 * minion. */
#include "common/net/tags.h"

#include "common/base/str.h"

/* The rule for what follows a prefix: reserved for the master, or a minion's id and then '/' or the end. */
typedef enum whose { WHOSE_MASTER, WHOSE_MINION } whose_t;

static const struct rule {
    const char *prefix;
    whose_t whose;
} rules[] = {
    { "salt/auth", WHOSE_MASTER },    { "salt/key", WHOSE_MASTER },        { "salt/run/", WHOSE_MASTER },
    { "salt/wheel/", WHOSE_MASTER },  { "salt/presence/", WHOSE_MASTER },  { "salt/reactor/", WHOSE_MASTER },
    { "salt/event/", WHOSE_MASTER },  { "salt/gate/", WHOSE_MASTER },      { "salt/minion/", WHOSE_MINION },
    { "salt/beacon/", WHOSE_MINION }, { "minion/refresh/", WHOSE_MINION },
};

/* Check tags under "salt/job/". The master fires .../new, .../ret/ID and .../sub/ID; a minion may fire only
 * its own progress, "salt/job/JID/prog/ID/N". */
static bool
of_job(const char *tag, const char *id)
{
    static const char job[] = "salt/job/", prog[] = "/prog/";
    if (!str_starts(tag, job))
        return true;
    const char *rest = strchr(tag + sizeof(job) - 1, '/');
    if (rest == NULL || !str_starts(rest, prog))
        return false;
    rest += sizeof(prog) - 1;
    size_t n = strlen(id);
    return strncmp(rest, id, n) == 0 && (rest[n] == '/' || rest[n] == '\0');
}

static bool
is_jid(const char *tag)
{
    return strlen(tag) == 20 && strspn(tag, "0123456789") == 20;
}

/* A bare jid is refused too: Salt's old tag of a job's publication. */
bool
tags_of_minion(const char *tag, const char *id, fail_t *err)
{
    bool own = of_job(tag, id) && !is_jid(tag);
    for (size_t i = 0; own && i < NELEMS(rules); i++) {
        size_t len = strlen(rules[i].prefix), n = strlen(id);
        if (strncmp(tag, rules[i].prefix, len) != 0)
            continue;
        const char *rest = tag + len;
        if (rules[i].whose == WHOSE_MINION)
            own = strncmp(rest, id, n) == 0 && (rest[n] == '/' || rest[n] == '\0');
        else
            own = rules[i].prefix[len - 1] != '/' && *rest != '\0' && *rest != '/';
    }
    if (!own)
        (void) fail_set(err, -EPERM, "the tag %s is the master's or another minion's; use one of your own",
                        tag);
    return own;
}
