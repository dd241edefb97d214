/* mstatus.c - one line about the minion for systemctl status: which master it is connected to, or why to none. */
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

/* On the way to a connection the last reason stays: it is why there was none so far. */
void
mstatus_master(jobserver_t *self, const json_t *frame)
{
    AUTO_FREE char *line = xasprintf("%d", (int) value_int(frame, "master", 0));
    const char *host = value_str(frame, "host", ""), *reason = value_str(frame, "reason", "");
    const char *said = NULL, *was = value_str(self->masters_said, line, "");
    for (size_t i = 0; i < NELEMS(words); i++)
        if (str_eq(words[i].state, value_str(frame, "state", "")))
            said = words[i].text;
    if (!said && *was != '\0' && !str_ends(was, words[0].text))
        return;
    AUTO_FREE char *text = xasprintf("%s: %s%s%s", host, said ? said : "not connected yet",
                                     *reason != '\0' ? ": " : "", reason);
    json_object_set_new(self->masters_said, line, value_utf8(text, strlen(text)));
    s_tell(self);
}

void
mstatus_nobody(jobserver_t *self)
{
    (void) json_object_clear(self->masters_said);
    s_tell(self);
}
