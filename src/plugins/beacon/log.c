/* log.c - beacon log: lines of a file that match, as they are written. Each tag of the configuration has a
 * regular expression, which must match from the beginning of the line, as Python's re.match. Reading and what
 * becomes of a file that is rotated are plugins/lib/beacon/tail.h. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/beacon/tail.h"
#include "salt/limits.h"
#include "salt/plugin.h"

enum { BUDGET_US = 5000 }; /* of matching in one look; the rest waits for the next one */

static char *
log_validate(const json_t *list, const json_t *config)
{
    if (!json_is_string(value_get(config, "file")))
        return xstrdup("Configuration for log beacon must contain file option.");
    return NULL;
}

typedef struct log_own {
    tail_t *tail;
    bool late; /* a look ended before all lines were looked at */
} log_own_t;

static void *
log_open(beacon_look_t *look, fail_t *err)
{
    tail_t *tail = tail_new(value_str(look->config, "file", ""), look->context, err);
    if (tail == NULL)
        return NULL;
    log_own_t *self = xcalloc(1, sizeof(*self));
    self->tail = tail;
    return self;
}

/* Adds an event; `match` is "yes", or "no" with an error, as in Salt. */
static void
log_add(json_t *events, const char *tag, const char *match, const char *raw, size_t len, const char *error)
{
    json_array_append_new(events, json_pack("{s:s, s:s, s:o, s:s}", "tag", tag, "match", match, "raw",
                                            value_utf8(raw, len), "error", error));
}

/* Compiles the patterns; one that can't be is told, as in Salt. */
static void
log_compile(beacon_look_t *look, rx_t **all)
{
    const char *tag;
    json_t *how;
    size_t i = 0;
    json_object_foreach (value_get(look->config, "tags"), tag, how) {
        fail_auto_t why = FAIL_INIT;
        const char *pattern = value_str(how, "regex", "");
        all[i] = *pattern != '\0' ? rx_new(pattern, 0, &why) : NULL;
        if (*pattern != '\0' && all[i] == NULL)
            log_add(look->events, tag, "no", "", 0, "bad regex");
        i++;
    }
}

static int
log_look(beacon_look_t *look, fail_t *err)
{
    log_own_t *self = look->own;
    json_t *tags = value_get(look->config, "tags"), *how;
    size_t n = json_object_size(tags), i, at = 0;
    int64_t until = clock_mono_us() + BUDGET_US;
    buf_auto_t text = BUF_INIT;
    self->late = false;
    if (tail_read(self->tail, look->context, &text, err) < 0)
        return err->code;
    if (text.len == 0)
        return 0;
    AUTO_FREE rx_t **all = xcalloc(n + 1, sizeof(rx_t *));
    log_compile(look, all);
    while (at < text.len && !self->late) {
        const char *line = (const char *) text.data + at, *end = memchr(line, '\n', text.len - at), *tag;
        /* The last line may not be whole yet; one that fills all the room, or ends with its file, never will
         * be. */
        if (end == NULL && (text.len < LIMIT_BEACON_READ ? !tail_is_last(self->tail) : at > 0))
            break;
        size_t len = end != NULL ? (size_t) (end - line) : text.len - at;
        i = 0;
        json_object_foreach (tags, tag, how) {
            if (all[i] != NULL && rx_match(all[i], line, len, 0, NULL) == 1)
                log_add(look->events, tag, "yes", line, len, "");
            i++;
        }
        at += len + (end != NULL ? 1 : 0);
        self->late = clock_mono_us() >= until && at < text.len;
    }
    tail_unread(self->tail, look->context, text.len - at);
    for (i = 0; i < n; i++)
        rx_destroy(&all[i]);
    return 0;
}

static int
log_fd(const void *own)
{
    return tail_fd(((const log_own_t *) own)->tail);
}

static int
log_again_ms(const void *own)
{
    const log_own_t *self = own;
    return self->late ? 0 : tail_again_ms(self->tail);
}

static void
log_close(void *own, bool copied)
{
    log_own_t *self = own;
    tail_destroy(&self->tail);
    free(self);
}

static const beacon_row_t row = { .validate = log_validate,
                                  .look = log_look,
                                  .edges = true,
                                  .open = log_open,
                                  .fd = log_fd,
                                  .close = log_close,
                                  .again_ms = log_again_ms };

PLUGIN(beacon, log, .doc = "Lines of a log: fires those that match, as they are written.", .beacon = &row);
