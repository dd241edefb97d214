/* mstatus.c - one line about the minion for systemctl status: which master it is connected to, or why to
 * none. */
#include "minion/mstatus.h"

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
s_tell(const jobserver_t *self)
{
    buf_auto_t text = BUF_INIT;
    const char *line;
    json_t *one;
    json_object_foreach (self->masters_said, line, one)
        buf_printf(&text, "%smaster %s", text.len > 0 ? "; " : "", json_string_value(one));
    notify_status("%s", text.len > 0 ? buf_str(&text) : "no master");
}

/* The line of a master's number. NEW */
static char *
s_line_of(const json_t *frame)
{
    return xasprintf("%d", (int) value_int(frame, "master", 0));
}

static void
s_say(jobserver_t *self, const json_t *frame, const char *what, const char *reason)
{
    AUTO_FREE char *line = s_line_of(frame);
    AUTO_FREE char *text = xasprintf("%s: %s%s%s", value_str(frame, "host", ""), what,
                                     *what != '\0' && *reason != '\0' ? ": " : "", reason);
    json_object_set_new(self->masters_said, line, value_utf8(text, strlen(text)));
    s_tell(self);
}

/* On the way to a connection the last reason stays: it is why there was none so far. A reason says all
 * that the state's words do. */
void
mstatus_master(jobserver_t *self, const json_t *frame)
{
    AUTO_FREE char *line = s_line_of(frame);
    const char *reason = value_str(frame, "reason", ""), *was = value_str(self->masters_said, line, "");
    for (size_t i = 0; i < NELEMS(words); i++)
        if (str_eq(words[i].state, value_str(frame, "state", ""))) {
            s_say(self, frame, *reason != '\0' ? "" : words[i].text, reason);
            return;
        }
    if (*was == '\0' || str_ends(was, words[0].text))
        s_say(self, frame, "not connected yet", reason);
}

void
mstatus_why(jobserver_t *self, const json_t *frame)
{
    s_say(self, frame, "", value_str(frame, "reason", ""));
}

void
mstatus_nobody(jobserver_t *self)
{
    (void) json_object_clear(self->masters_said);
    s_tell(self);
}
