/* audit.c - see audit.h. Each line is written by one write(), so that lines of several processes do not mix.
 * When writing fails, lines are counted and the gap is reported by a line "lost" once writing works again.
 * Lines that strangers can cause are rate-limited per crowd. */
#include "keyring/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/rate.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

struct audit {
    char *path;   /* "": none */
    int fd;       /* or a negative errno */
    bool trouble; /* said */
    json_int_t lost, unsaid[AUDIT_CROWDS];
    rate_t spare[AUDIT_CROWDS];
};

/* The path's folder is created when missing; a link in the file's place is not followed. */
static void
audit_open_file(audit_t *self)
{
    if (self->path[0] == '\0')
        return;
    (void) fs_own_parent(self->path, NULL);
    self->fd = fs_open_log(self->path, O_NOFOLLOW);
}

static void
close_file(audit_t *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

audit_t *
audit_new(const char *path)
{
    audit_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    self->fd = -1;
    for (int i = 0; i < AUDIT_CROWDS; i++)
        self->spare[i] = (rate_t) RATE(LIMIT_AUDIT_RATE, LIMIT_AUDIT_BURST);
    audit_open_file(self);
    return self;
}

void
audit_destroy(audit_t **self_p)
{
    audit_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    close_file(self);
    free(self->path);
    free(self);
}

/* For a changed configuration; "" ends the log. */
void
audit_reopen(audit_t *self, const char *path)
{
    char *old = self->path;

    self->path = xstrdup(path);
    free(old);
    close_file(self);
    audit_open_file(self);
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Reopens the log after a rotation: log rotation renames the file and sends no signal. When the new file
 * can't be created, writing continues in the old one. */
static void
follow_rotation(audit_t *self)
{
    if (self->fd >= 0 && fs_is_same(self->fd, self->path))
        return;
    int old = self->fd;
    audit_open_file(self);
    if (old < 0)
        return;
    if (self->fd < 0) {
        log_error("cannot reopen the audit log %s: %s; still writing to the old one", self->path,
                  strerror(-self->fd));
        self->fd = old;
    } else {
        (void) close(old);
    }
}

/* JSON in which characters that a reader does not see are escapes. Those of ASCII are so already. NEW. */
static char *
audit_visible(const char *json)
{
    buf_t out = BUF_INIT;
    uint32_t cp;

    while (*json != '\0') {
        size_t len = strlen(json), n = visible_run(json, len);
        buf_add(&out, json, n);
        json += n;
        if (n == len)
            break;
        json += utf8_next(json, len - n, &cp);
        if (cp > 0xffff)
            buf_printf(&out, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
        else
            buf_printf(&out, "\\u%04x", cp);
    }
    return buf_steal(&out);
}

/* Whole, or not at all: a file that ends in half a line would spoil the next one. */
static int
audit_append(audit_t *self, const json_t *line)
{
    AUTO_FREE char *json = json_dumps(line, JSON_COMPACT), *text = audit_visible(json != NULL ? json : "{}");
    AUTO_FREE char *whole = xasprintf("%s\n", text);
    size_t len = strlen(whole);

    follow_rotation(self);
    if (self->fd < 0)
        return self->fd;
    ssize_t n = write(self->fd, whole, len);

    if (n < 0)
        return -errno;
    if ((size_t) n == len)
        return 0;
    off_t end = lseek(self->fd, 0, SEEK_END);

    if (end >= n && ftruncate(self->fd, end - n) != 0)
        log_error("%s: half a line stays at its end", self->path);
    return -ENOSPC;
}

/* Never fails for the caller: a line that can't be written is counted, and the first one logged. */
void
audit_write(audit_t *self, json_t **line_p)
{
    json_auto_t *line = STEAL(*line_p);
    char stamp[CLOCK_STAMP_LEN];

    if (self->path[0] == '\0')
        return;
    clock_stamp(stamp, clock_wall_us());
    json_auto_t *whole = json_pack("{s:s}", "time", stamp);

    json_object_update(whole, line);
    if (self->lost > 0) {
        /* Writes the number of lost lines before the next one; on failure they stay counted. */
        json_auto_t *row = json_pack("{s:s, s:s, s:I}", "time", stamp, "op", "lost", "lines", self->lost);
        if (audit_append(self, row) == 0) {
            log_warning("the audit log %s can be written again; %d lines are missing", self->path,
                        (int) self->lost);
            self->lost = 0;
            self->trouble = false;
        }
    }
    int rc = self->lost > 0 ? -ENOSPC : audit_append(self, whole);

    if (rc == 0)
        return;
    self->lost++;
    if (!self->trouble)
        log_critical("the audit log %s can't be written: %s; the master goes on, and counts what is missing",
                     self->path, strerror(-rc));
    self->trouble = true;
}

/* A line beyond the crowd's rate is only counted; the next one that is written carries the number as
 * "unsaid". */
void
audit_write_spare(audit_t *self, audit_crowd_t crowd, json_t **line_p)
{
    json_int_t *unsaid = &self->unsaid[crowd];

    if (!rate_spare(&self->spare[crowd], clock_mono_ms())) {
        json_decref(STEAL(*line_p));
        ++*unsaid;
        return;
    }
    if (*unsaid > 0)
        json_object_set_new(*line_p, "unsaid", json_integer(*unsaid));
    *unsaid = 0;
    audit_write(self, line_p);
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* True for targets that are matched against pillar: their text may quote what the pillar hides, so the log
 * replaces it. */
static bool
looks_into_pillar(const json_t *request)
{
    const char *type = value_str(request, "tgt_type", ""), *tgt = value_str(request, "tgt", "");

    return str_starts(type, "pillar") ||
           (str_eq(type, "compound") && (strstr(tgt, "I@") != NULL || strstr(tgt, "J@") != NULL));
}

/* A copy of what a request says, of which at most *left bytes are kept: a list's beginning, and how many more
 * there are. NEW. */
static json_t *
audit_short(const json_t *value, size_t *left)
{
    const char *key;
    json_t *copy, *one;
    size_t i, size = json_is_string(value) ? json_string_length(value) : 1;

    if (json_is_string(value) && size > *left) {
        copy = value_fmt("(%zu bytes)", size);
        size = *left;
    } else {
        copy = json_is_array(value)    ? json_array()
               : json_is_object(value) ? json_object()
                                       : json_copy((json_t *) value);
    }
    *left -= size < *left ? size : *left;
    json_array_foreach (value, i, one) {
        if (*left == 0) {
            json_array_append_new(copy, value_fmt("(%zu more)", json_array_size(value) - i));
            break;
        }
        json_array_append_new(copy, audit_short(one, left));
    }
    json_object_foreach ((json_t *) value, key, one)
        if (*left > 0)
            json_object_set_new(copy, key, audit_short(one, left));
    return copy;
}

/* NEW line about a request: who asked what, and how it ended, never its arguments. */
json_t *
audit_request(const json_t *request, bool allowed, const json_t *reply, const fail_t *err)
{
    static const char *const said[] = { "op", "action", "fun", "tgt_type", "what", "tag", "from", "within" };
    static const char *const got[] = { "jid", "again", "finger", "serial" };
    json_t *line = json_object(), *v;
    size_t left = LIMIT_AUDIT_SAID;

    for (size_t i = 0; i < NELEMS(said); i++)
        if ((v = value_get(request, said[i])) != NULL)
            json_object_set_new(line, said[i], audit_short(v, &left));
    left = LIMIT_AUDIT_SAID;
    if ((v = value_get(request, "tgt")) != NULL)
        json_object_set_new(line, "tgt",
                            looks_into_pillar(request) ? json_string("(pillar)") : audit_short(v, &left));
    json_object_set_new(line, "allowed", json_boolean(allowed));
    for (size_t i = 0; i < NELEMS(got); i++)
        if ((v = value_get(reply, got[i])) != NULL)
            json_object_set(line, got[i], v);
    if ((v = value_get(reply, "minions")) != NULL)
        json_object_set_new(line, "minions", json_integer((json_int_t) json_array_size(v)));
    json_object_set_new(line, "outcome", json_string(reply != NULL ? "ok" : allowed ? "failed" : "refused"));
    /* A text could show an argument; of what was refused it is our own words. */
    if (reply == NULL && !allowed)
        json_object_set_new(line, "why", json_string(fail_text(err)));
    else if (reply == NULL)
        json_object_set_new(line, "why", json_string(strerror(-err->code)));
    return line;
}
