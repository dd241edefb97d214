/* statefail.c - fire Salt's events for failed states of state.highstate and state.sls (salt/utils/event.py,
 * fire_ret_load): per failed state, the tag MODULE.FUNCTION with the state's data, and
 * salt/job/JID/sub/ID/error/FUN with the job's as well. */
#include "master/jobs/statefail.h"

#include <ctype.h>

#include "common/base/str.h"
#include "master/events/bus.h"
#include "master/events/facts.h"
#include "salt/log.h"
#include "salt/value.h"

#define PART_LEN 100 /* of a module's or a function's name */

/* From "cmd_|-ID_|-NAME_|-run" make "cmd.run", the first part and the last. The text comes from a minion and
 * becomes an event tag, so anything but letters, digits, _ and . is refused: false. */
static bool
statefail_short_tag(const char *state, char tag[2 * PART_LEN + 2])
{
    const char *first_end = strstr(state, "_|-"), *last = state;
    for (const char *at = first_end; at; at = strstr(last, "_|-"))
        last = at + strlen("_|-");
    size_t n = first_end != NULL ? (size_t) (first_end - state) : 0;
    if (n == 0 || n > PART_LEN || *last == '\0' || strlen(last) > PART_LEN)
        return false;
    (void) snprintf(tag, 2 * PART_LEN + 2, "%.*s.%s", (int) n, state, last);
    for (const char *c = tag; *c; c++)
        if (!isalnum((unsigned char) *c) && *c != '_' && *c != '.')
            return false;
    return true;
}

typedef struct failed {
    front_t *front;
    const char *id, *jid, *fun, *user;
    json_int_t retcode;
    bool known; /* the job is the master's */
} failed_t;

/* Two events own their data each. The facts of the job stand over what the minion says of its state. The short
 * tag has no job and no minion in it, so it is for jobs that are known: anybody can make up another. */
static void
statefail_own_fire(const failed_t *f, const char *short_tag, json_t *state)
{
    json_t *data = facts_claims(state);
    (void) json_object_update_new(data, json_pack("{s:s, s:s, s:s, s:s, s:b, s:I}", "id", f->id, "jid",
                                                  f->jid, "fun", f->fun, "user", f->user, "success", false,
                                                  "retcode", f->retcode));
    json_t *more = json_copy(data);
    if (f->known)
        (void) bus_fire(f->front, short_tag, &data);
    json_decref(data);
    json_object_set_new(more, "return", value_fmt("Error: %s", short_tag));
    AUTO_FREE char *tag = xasprintf("salt/job/%s/sub/%s/error/%s", f->jid, f->id, f->fun);
    (void) bus_fire(f->front, tag, &more);
}

/* For a job of several functions the member of this one; else the value itself. */
static json_t *
statefail_of(json_t *v, const char *fun, bool several)
{
    return several ? value_get(v, fun) : v;
}

/* True when the job had this function. A list is asked for membership only, so that a minion that names a
 * function twice fires its events once. */
static bool
statefail_names(const json_t *fun, const char *name)
{
    if (value_lists(fun, name))
        return true;
    return str_eq(json_string_value(fun), name);
}

void
statefail_fire(front_t *self, const char *id, const char *jid, const json_t *body, const char *user,
               bool known)
{
    static const char *const funs[] = { "state.highstate", "state.sls" };
    json_t *fun = value_get(body, "fun");
    bool several = json_is_array(fun);
    for (size_t k = 0; k < NELEMS(funs); k++) {
        json_int_t retcode = json_integer_value(statefail_of(value_get(body, "retcode"), funs[k], several));
        if (retcode == 0 || !statefail_names(fun, funs[k]))
            continue;
        failed_t f = { self, id, jid, funs[k], user, retcode, known };

        /* At most LIMIT_FAILED_STATES events of one return, so that a minion can't flood the bus. */
        json_t *states = statefail_of(value_get(body, "return"), funs[k], several);
        const char *name;
        json_t *state;
        size_t n = 0;
        json_object_foreach (states, name, state) {
            char tag[2 * PART_LEN + 2];
            json_t *result = value_get(state, "result");
            if (json_is_false(result) && statefail_short_tag(name, tag) && ++n <= LIMIT_FAILED_STATES)
                statefail_own_fire(&f, tag, state);
        }
        if (n > LIMIT_FAILED_STATES)
            log_warning("job %s on %s: %zu states failed, events tell of %d", f.jid, f.id, n,
                        LIMIT_FAILED_STATES);
    }
}
