/* callbus.c - a client of the minion's bus for one request.
 *
 * refresh_pillar is an event and then the event that tells its end: the bus answers requests at once, and a
 * pillar takes its time.
 */
#include "minion/callbus.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/value.h"

#define PILLAR_S     30 /* Salt's default */
#define PILLAR_MAX_S 3600

/* Waits for an event of this tag. NEW data; NULL when none came in time or the minion has gone. */
static json_t *
callbus_await(local_client_t *line, const char *tag, int64_t until_ms)
{
    int64_t left;
    while ((left = until_ms - clock_mono_ms()) > 0) {
        json_auto_t *push = NULL;
        if (local_next(line, (int) left, &push, NULL) <= 0)
            return NULL;
        if (str_eq(value_str(push, "push", ""), "event") && str_eq(value_str(push, "tag", ""), tag))
            return json_incref(value_get(push, "data"));
    }
    return NULL;
}

/* {timeout: seconds, clean_cache} -> whether the new pillar came in time. */
static int
callbus_refresh_pillar(local_client_t *line, json_t *request, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = NULL, *done = NULL;
    json_t *listen = json_pack("{s:s, s:[s]}", "op", "events", "tags", MINION_PILLAR_REFRESHED);
    json_t *event = json_pack("{s:s, s:s, s:{s:b}}", "op", "event", "tag", "pillar_refresh", "data",
                              "clean_cache", value_bool(request, "clean_cache", true));
    json_int_t asked = value_int(request, "timeout", PILLAR_S),
               seconds = asked > 0 && asked < PILLAR_MAX_S ? asked : PILLAR_S; /* as the minion bounds it */
    int rc = local_call(line, &listen, &reply, err);
    json_decref(STEAL(reply));
    if (rc == 0)
        rc = local_call(line, &event, &reply, err);
    json_decref(event);
    if (rc < 0)
        return rc;
    done = callbus_await(line, MINION_PILLAR_REFRESHED, clock_mono_ms() + seconds * 1000);
    *ret_value = json_boolean(value_bool(done, "complete", false));
    return 0;
}

int
callbus_ask(const char *sock_dir, const char *none, json_t *request, json_t **ret_value, fail_t *err)
{
    AUTO(local_client) line = local_connect_minion(sock_dir, NULL);
    if (line == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "%s", none);
    if (str_eq(value_str(request, "op", ""), "refresh_pillar"))
        return callbus_refresh_pillar(line, request, ret_value, err);
    json_t *copy = json_copy(request), *reply = NULL;
    int rc = local_call(line, &copy, &reply, err);
    if (rc == 0)
        *ret_value = value_get(reply, "value") != NULL ? json_incref(value_get(reply, "value")) : json_true();
    json_decref(reply);
    return rc;
}
