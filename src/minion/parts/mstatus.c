/* mstatus.c - talks to the service manager (common/base/notify.h): its watchdog, and the line of systemctl
 * status that says to which master the minion is connected, or why to none.
 *
 * The part's state is {master's index: text}.
 */
#include "minion/jobs/jobserver.h"

#include "common/base/buf.h"
#include "common/base/notify.h"
#include "common/base/str.h"
#include "salt/value.h"

static const struct {
    const char *state, *text;
} words[] = { { "ready", "connected" },
              { "pending", "this minion's key waits for acceptance (salt-key -a, on the master)" },
              { "refused", "refused" },
              { "stranger", "its key is not the one that this minion knows" } };

static void
mstatus_tell(json_t *said)
{
    buf_auto_t text = BUF_INIT;
    const char *line;
    json_t *one;
    json_object_foreach (said, line, one)
        buf_printf(&text, "%smaster %s", text.len > 0 ? "; " : "", json_string_value(one));
    notify_status("%s", text.len > 0 ? buf_str(&text) : "no master");
}

/* NEW key of a master in the state. */
static char *
mstatus_line_of(const json_t *frame)
{
    return xasprintf("%d", (int) value_int(frame, "master", 0));
}

/* Replaces a master's text and sends the line. A reason from the network may not be UTF-8, so it is made
 * so. */
static void
mstatus_say(json_t *said, const json_t *frame, const char *what, const char *reason)
{
    AUTO_FREE char *line = mstatus_line_of(frame);
    AUTO_FREE char *text = xasprintf("%s: %s%s%s", value_str(frame, "host", ""), what,
                                     *what != '\0' && *reason != '\0' ? ": " : "", reason);
    json_object_set_new(said, line, value_utf8(text, strlen(text)));
    mstatus_tell(said);
}

/* Handles {master, host, state, reason}. While connecting, the last reason stays: it says why there has been
 * no connection. A reason is a whole sentence and stands alone. */
static void
mstatus_state(void *said, json_t *frame)
{
    AUTO_FREE char *line = mstatus_line_of(frame);
    const char *reason = value_str(frame, "reason", ""), *was = value_str(said, line, "");
    for (size_t i = 0; i < NELEMS(words); i++)
        if (str_eq(words[i].state, value_str(frame, "state", ""))) {
            mstatus_say(said, frame, *reason != '\0' ? "" : words[i].text, reason);
            return;
        }
    if (*was == '\0' || str_ends(was, words[0].text))
        mstatus_say(said, frame, "not connected yet", reason);
}

/* Handles {master, host, reason}: still not connected, the reason in connfail.h's words. */
static void
mstatus_why(void *said, json_t *frame)
{
    mstatus_say(said, frame, "", value_str(frame, "reason", ""));
}

static void
mstatus_link_down(void *said)
{
    (void) json_object_clear(said);
    mstatus_tell(said);
}

/* Feeds the watchdog. */
static void
mstatus_tick(void *said, int64_t now_ms)
{
    notify_turn(now_ms);
}

static int64_t
mstatus_next_ms(void *said)
{
    return notify_next_ms();
}

static void *
mstatus_start(jobserver_t *js, fail_t *err)
{
    return json_object();
}

static void
mstatus_destroy(void *said)
{
    json_decref(said);
}

static const part_message_t messages[] = { { "state", mstatus_state }, { "why", mstatus_why }, { 0 } };

const minion_part_t minion_part_status = {
    .name = "status",
    .start = mstatus_start,
    .destroy = mstatus_destroy,
    .tick = mstatus_tick,
    .next_ms = mstatus_next_ms,
    .link_down = mstatus_link_down,
    .messages = messages,
};
