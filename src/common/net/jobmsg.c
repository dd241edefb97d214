/* jobmsg.c - see jobmsg.h. */
#include "common/net/jobmsg.h"

#include "salt/value.h"

json_t *
jobmsg_fields(const json_t *from)
{
    static const char *const fields[] = {
        "jid",        "fun",        "arg",    "tgt",  "tgt_type",         "user",   "ret", "metadata",
        "ret_config", "ret_kwargs", "kwargs", "peer", "module_executors", "watched"
    };
    json_t *job = json_object(), *v;

    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(from, fields[i])) != NULL)
            json_object_set(job, fields[i], v);
    return job;
}
