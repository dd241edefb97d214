/* watch.c - see watch.h.
 *
 * `since` always holds where to continue: first the user's, then the number of the last event. After a break
 * the watch reconnects and asks for the events from there, so that none is lost while the master restarts. */
#include "common/local/watch.h"

#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/ttyguard.h"
#include "common/local/client.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define RECONNECT_MS 100

typedef struct watch {
    const char *tagmatch;
    long long count; /* events left; below 0: no limit */
    bool pretty;
    bool minion;      /* the minion's bus; else the master's */
    char *sock_dir;   /* owned */
    int64_t until_ms; /* monotonic; -1: for ever */
    FILE *out;        /* NULL: quiet */
    json_t *since;    /* owned: fields of the request that select the first event */
    local_client_t *line;
} watch_t;

/* ---- arguments ------------------------------------------------------------------------------- */

#define ROWS(node)                                                                                           \
    ARG("tagmatch", ARG_STR, "\"*\"", "Glob or regular expression for tags"),                                \
        ARG("count", ARG_INT, "-1", "How many events to wait for; -1: for ever"),                            \
        ARG("quiet", ARG_BOOL, "false", "Write nothing, only wait"),                                         \
        ARG("sock_dir", ARG_STR, "null", "Where the bus's socket is; as configured by default"),             \
        ARG("pretty", ARG_BOOL, "false", "JSON on several lines, sorted"),                                   \
        ARG("node", ARG_STR, node, "Whose bus: master or minion"),                                           \
        ARG("since", ARG_ANY, "null", "Number, time or age of the first event"),                             \
        ARG("timeout", ARG_ANY, "null", "Seconds after which to give up"), ARGS_END

const arg_t watch_args[] = { ROWS("\"master\"") };
const arg_t watch_args_minion[] = { ROWS("\"minion\"") };

bool
watch_age(const char *text, double *ret_s)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
    char *end;

    if (!isdigit((unsigned char) *text))
        return false;
    double n = strtod(text, &end);
    for (size_t i = 0; i < NELEMS(units); i++) {
        if (end[0] == units[i].letter && end[1] == '\0') {
            *ret_s = n * units[i].seconds;
            return true;
        }
    }
    return false;
}

/* Parse `since` into fields of the request. NEW, or NULL with *err. */
static json_t *
since_fields(const json_t *since, fail_t *err)
{
    const char *text = json_string_value(since);
    long long seq = json_integer_value(since);
    int64_t us;
    double age;

    if (since == NULL || json_is_null(since))
        return json_object();
    if ((json_is_integer(since) || (text != NULL && str_to_int(text, 0, INT64_MAX, &seq))) && seq >= 0)
        return json_pack("{s:I}", "since_seq", (json_int_t) (seq > 0 ? seq - 1 : 0));
    if (text != NULL && watch_age(text, &age))
        return json_pack("{s:f}", "since", age);
    if (text != NULL && clock_stamp_parse(text, &us))
        return json_pack("{s:s}", "since", text);
    AUTO_FREE char *shown = value_repr(since);
    (void) fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "since=%s is neither an event's number, nor a time such as 2026-11-20T10:00:00, nor an age such as "
        "10m",
        shown);
    return NULL;
}

static int
read_node(watch_t *self, const json_t *args, const json_t *opts, fail_t *err)
{
    const char *node = value_str(args, "node", ""), *own = value_str(opts, "sock_dir", "");
    const char *dir = value_str(args, "sock_dir", NULL);

    self->minion = str_eq(node, "minion");
    if (!self->minion && !str_eq(node, "master"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "node=%s: it is master or minion", node);
    if (self->minion && json_object_size(self->since) > 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "since: a minion's bus keeps no journal; node=master has one");
    /* The two socket folders lie next to each other; a configuration names one of them. */
    const char *other = self->minion ? "/master" : "/minion";
    if (dir == NULL && str_ends(own, other))
        self->sock_dir = xasprintf("%.*s%s", (int) (strlen(own) - strlen(other)), own,
                                   self->minion ? "/minion" : "/master");
    else
        self->sock_dir = xstrdup(dir != NULL ? dir : own);
    return 0;
}

static int
read_args(watch_t *self, const json_t *args, const json_t *opts, FILE *out, fail_t *err)
{
    const json_t *timeout = value_get(args, "timeout");
    bool forever = timeout == NULL || json_is_null(timeout);

    if (!forever && (!json_is_number(timeout) || json_number_value(timeout) < 0))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "timeout is a number of seconds");
    self->tagmatch = value_str(args, "tagmatch", "*");
    self->count = value_int(args, "count", -1);
    self->pretty = value_bool(args, "pretty", false);
    self->out = value_bool(args, "quiet", false) ? NULL : out;
    self->until_ms = forever ? -1 : clock_mono_ms() + clock_us_of(json_number_value(timeout)) / 1000;
    self->since = since_fields(value_get(args, "since"), err);
    return self->since != NULL ? read_node(self, args, opts, err) : err->code;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Pass a pattern to the bus only if it means the same there; "*" otherwise, with the match made here. */
static const char *
plain_glob(const char *tagmatch)
{
    return strpbrk(tagmatch, "\\.+()|^$[]{}?") == NULL ? tagmatch : "*";
}

/* Milliseconds left, -1: no limit. */
static int
watch_left_ms(const watch_t *self)
{
    int64_t left = self->until_ms - clock_mono_ms();

    return self->until_ms < 0 ? -1 : left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int) left;
}

static watch_open_fn *opener; /* of the program */

void
watch_open_by(watch_open_fn *open)
{
    opener = open;
}

static int
listen_now(watch_t *self, fail_t *err)
{
    json_auto_t *reply = NULL;
    json_t *request = json_pack("{s:s, s:[s]}", "op", "events", "tags", plain_glob(self->tagmatch));

    local_client_destroy(&self->line);
    self->line = self->minion     ? local_connect_minion(self->sock_dir, err)
                 : opener != NULL ? opener(self->sock_dir, err)
                                  : local_connect(self->sock_dir, err);
    if (self->line == NULL) {
        json_decref(request);
        return err->code;
    }
    if (!self->minion)
        (void) json_object_update(request, self->since);
    local_timeout(self->line, watch_left_ms(self), NULL);
    int rc = local_call(self->line, &request, &reply, err);
    /* From now on the next event's number is known, for a reconnect. */
    if (rc == 0 && json_object_size(self->since) == 0)
        json_object_set(self->since, "since_seq", value_get(reply, "seq"));
    return rc;
}

/* Reconnect every RECONNECT_MS until the bus is back, it refuses, or the time is up. */
static int
listen_again(watch_t *self, fail_t *err)
{
    log_debug("%s; waiting for the bus to come back", fail_text(err));
    for (;;) {
        fail_clear(err);
        int rc = listen_now(self, err);
        if (rc == 0 || rc == -EREMOTEIO || watch_left_ms(self) == 0)
            return rc;
        (void) poll(NULL, 0, RECONNECT_MS);
    }
}

static int
watch_too_late(fail_t *err)
{
    return fail_set(err, -ETIME, "The events did not come in time.");
}

/* Wait for data. -ETIME at the deadline, -EPIPE when the reader of our output has gone. */
static int
watch_await(watch_t *self, fail_t *err)
{
    struct pollfd fds[2] = { { local_fd(self->line), POLLIN, 0 },
                             { self->out != NULL ? ttyguard_fd(self->out) : -1, 0, 0 } };
    int left = watch_left_ms(self), n = poll(fds, NELEMS(fds), left);

    if (n < 0 && errno != EINTR)
        return fail_set(err, -errno, "poll: %s", strerror(errno));
    if (fds[1].revents & (POLLERR | POLLNVAL))
        return -EPIPE;
    if (n == 0 && left == 0)
        return watch_too_late(err);
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Error of a failed write: -EPIPE when the reader has gone; any other reason is in *err. */
static int
watch_unwritten(fail_t *err)
{
    int code = errno;

    return code == EPIPE ? -EPIPE
                         : fail_set(err, -code, "The events can't be written any more: %s", strerror(code));
}

static int
show_event(watch_t *self, const json_t *event, fail_t *err)
{
    AUTO(py) data = py_from_json(value_get(event, "data"));
    py_dumps_t how = PY_DUMPS_INIT;

    how.ensure_ascii = false;
    how.sort_keys = self->pretty;
    how.indent = self->pretty ? 4 : -1;
    AUTO(py) text = py_json_dumps(data, &how);
    /* Python's writer gives up where values are nested too deep for it: those are shown as they came. */
    AUTO_FREE char *plain = text == NULL ? value_dump(value_get(event, "data")) : NULL;
    if (text == NULL)
        py_clear();
    int n = fprintf(self->out, "%s%s\t%s\n", value_str(event, "tag", ""), ttyguard_bound(self->out),
                    text != NULL ? py_cstr(text) : plain);
    return n < 0 ? watch_unwritten(err) : 0;
}

/* Handle a push. 1 when it was the last event wanted, 0, or a negative errno. */
static int
watch_take(watch_t *self, const json_t *push, fail_t *err)
{
    const char *tag = value_str(push, "tag", "");

    if (str_eq(value_str(push, "push", ""), "missed")) {
        /* Report events that the bus dropped because this client was too slow. */
        long long from = value_int(push, "from", 0), to = value_int(push, "to", 0);
        (void) fprintf(stderr,
                       "%lld events were missed, between the numbers %lld and %lld; since=%lld shows them\n",
                       (long long) value_int(push, "count", 0), from, to, from);
    }
    if (!str_eq(value_str(push, "push", ""), "event"))
        return 0;
    json_object_clear(self->since);
    json_object_set(self->since, "since_seq", value_get(push, "seq"));
    if (plain_glob(self->tagmatch) != self->tagmatch && !match_expr(self->tagmatch, tag))
        return 0;
    int rc = self->out != NULL ? show_event(self, push, err) : 0;
    if (rc < 0)
        return rc;
    self->count -= self->count > 0;
    return self->count == 0;
}

/* Handle all pushes that are there. 1 when all wanted events came, 0, or a negative errno. */
static int
watch_take_all(watch_t *self, fail_t *err)
{
    int rc = 1, done = 0;

    while (rc > 0 && done == 0) {
        json_auto_t *push = NULL;
        rc = local_next(self->line, 0, &push, err);
        if (rc > 0)
            done = watch_take(self, push, err);
        else if (rc == -EINTR)
            rc = 0;
        else if (rc < 0 && (rc = listen_again(self, err)) == 0)
            rc = 1; /* more may have come with the answer */
        if (rc > 0 && done == 0 && watch_left_ms(self) == 0)
            rc = watch_too_late(err); /* they may come faster than they are written */
    }
    if (done >= 0 && self->out != NULL && fflush(self->out) != 0)
        return watch_unwritten(err);
    return done != 0 ? done : rc;
}

int
watch_run(const json_t *args, const json_t *opts, FILE *out, fail_t *err)
{
    watch_t self = { 0 };

    /* A vanished reader is detected by a failed write, not a signal. */
    if (out != NULL)
        (void) signal(SIGPIPE, SIG_IGN);
    int rc = read_args(&self, args, opts, out, err);

    if (rc == 0)
        rc = listen_now(&self, err);
    while (rc == 0) {
        rc = watch_take_all(&self, err);
        if (rc == 0)
            rc = watch_await(&self, err);
    }
    local_client_destroy(&self.line);
    json_decref(self.since);
    free(self.sock_dir);
    return rc < 0 ? rc : 0;
}
