/* sessions.c - one thread that polls the job server's socketpair and the libzmq sockets of every session.
 *
 * A line is one master as the job server sees it. With master_type failover one line has every configured
 * master as a candidate, and failover.c decides which serves; else each line has one. Frames from the job
 * server are dispatched by the table `downs`. Outgoing frames are buffered without a limit of their own: the
 * outbox bounds what it has under way.
 */
#include "uplink/sessions.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>
#include <zmq.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "uplink/download.h"
#include "uplink/failover.h"
#include "uplink/masters.h"
#include "uplink/connfail.h"
#include "uplink/renewal.h"
#include "uplink/session.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define RECON_DEFAULT_MS 1000
#define RECON_MAX_MS     10000
#define REAUTH_MS        100 /* shortest reconnect pause under random_reauth_delay */
#define FAILBACK_S       30  /* when neither interval is set */
#define READ_CHUNK       (64 * 1024)
#define REST_MS          1000 /* idle this long: give memory back to the system */

typedef struct sessions sessions_t;

typedef struct line line_t;

/* A configured master, and the session with it. */
typedef struct candidate {
    line_t *line;
    session_conf_t conf;
    char host[256], *name, *known_file, *sign_file;
    session_t *session;  /* NULL: not tried now */
    connfail_log_t told; /* why it is not connected */
} candidate_t;

/* A master as the job server sees it: the only candidate, or with master_type failover one of several. */
struct line {
    sessions_t *owner;
    int index;
    bool ready; /* as last reported to the job server */
    /* The job server has answered that "ready". Events received before would overtake those that the last
     * connection may have lost. */
    bool again;
    downloads_t *downloads;
    candidate_t *all; /* owned */
    int n;
    candidate_t *now; /* the one that serves, or is tried */
    failover_t failover;
};

struct sessions {
    int fd;
    const sessions_begin_t *begin;
    buf_t in, out;
    void *zctx;
    line_t lines[LIMIT_MASTERS];
    int n;
    json_t *pending;        /* {jid: asker, or null}: jobs that run or wait for an acknowledgement */
    size_t returns, events; /* so many wait for a master, while there is none */
    key_pair_t *keys;
    renewal_t *renewal;
    bool quit;
};

/* ---- to and from the job server -------------------------------------------------------------- */

/* Queues a frame to the job server. TAKES `frame`. */
static void
sessions_up(sessions_t *self, json_t *frame)
{
    json_auto_t *msg = frame;
    frame_add(&self->out, msg);
}

/* ---- a new key for this minion --------------------------------------------------------------- */

/* Sends the new key to the masters that have not confirmed it, when that is due. */
static void
renewal_ask(sessions_t *self)
{
    json_auto_t *question = renewal_question(self->renewal, clock_mono_ms());
    for (int i = 0; question != NULL && i < self->n; i++)
        if (!renewal_answered_by(self->renewal, i))
            (void) session_send(self->lines[i].now->session, MSG_rekey, question, NULL);
}

/* Begins a new key for this minion. Refused under failover: only the serving master can be told, and the
 * others would refuse the new key. */
static void
sessions_renewal_begin(sessions_t *self)
{
    fail_auto_t err = FAIL_INIT;
    bool failover = false;
    for (int i = 0; i < self->n; i++)
        failover = failover || self->lines[i].n > 1;
    if (failover)
        (void) fail_set(&err, -ENOTSUP,
                        "with master_type failover the other masters would not know the new key");
    else if (renewal_begin(self->renewal, &err) == 0)
        renewal_ask(self);
    if (err.text != NULL)
        log_error("this minion gets no new key: %s", fail_text(&err));
}

/* Switches to the new key once every master has confirmed it. True: every session has new sockets, so the
 * poll list is stale. */
static bool
renewal_end(sessions_t *self)
{
    fail_auto_t err = FAIL_INIT;
    key_pair_t *fresh = renewal_take(self->renewal, &err), *old = self->keys;
    char finger[FINGER_LEN];
    if (fresh == NULL) {
        if (err.text != NULL)
            log_error("the new key can't be taken: %s", fail_text(&err));
        return false;
    }
    self->keys = fresh;
    for (int i = 0; i < self->n; i++)
        for (int k = 0; k < self->lines[i].n; k++) {
            candidate_t *c = &self->lines[i].all[k];
            c->conf.keys = fresh;
            if (c->session != NULL)
                session_set_keys(c->session, fresh);
        }
    key_pair_destroy(&old);
    key_finger(key_pair_public(fresh), finger);
    log_info("this minion has a new key, fingerprint %s", finger);
    return true;
}

/* The first connected master; `otherwise` when none is. */
static int
any_master(const sessions_t *self, int otherwise)
{
    for (int i = 0; i < self->n; i++)
        if (self->lines[i].ready)
            return i;
    return otherwise;
}

/* Reports a line's state to the job server. `again` is cleared until the job server answers. */
static void
tell_state(line_t *line, session_state_t state, const char *reason)
{
    line->ready = state == SESSION_READY;
    line->again = false;
    (line->ready ? downloads_ready : downloads_lost)(line->downloads);

    /* Moves the open questions of disconnected masters to a connected one. */
    sessions_t *self = line->owner;
    int to = any_master(self, -1);
    for (int i = 0; to >= 0 && i < self->n; i++)
        if (!self->lines[i].ready)
            downloads_take(self->lines[to].downloads, self->lines[i].downloads);

    sessions_up(line->owner, json_pack("{s:s, s:i, s:s*, s:s, s:s*}", "t", "state", "master", line->index,
                                       "host", line->now != NULL ? line->now->host : NULL, "state",
                                       session_state_name(state), "reason", reason));
}

/* Logs a reason, at a rate that connfail_log_due() limits. */
static void
log_why(candidate_t *c, const char *sentence)
{
    if (connfail_log_due(&c->told, sentence, clock_mono_ms()))
        log_error("master %s: %s", c->host, sentence);
}

static void
sessions_on_why(void *cookie, const char *sentence)
{
    candidate_t *c = cookie;
    log_why(c, sentence);
    if (c == c->line->now)
        sessions_up(c->line->owner, json_pack("{s:s, s:i, s:s, s:s}", "t", "why", "master", c->line->index,
                                              "host", c->host, "reason", sentence));
}

/* A session changed its state. Candidates that do not serve (a probe for failback) are logged but not
 * reported. */
static void
sessions_on_state(void *cookie, session_state_t state, const char *reason)
{
    candidate_t *c = cookie;
    bool waits = state == SESSION_PENDING, refused = state == SESSION_REFUSED || state == SESSION_STRANGER;
    if (reason != NULL && refused)
        log_why(c, reason);
    else if (reason != NULL && waits && connfail_log_due(&c->told, reason, clock_mono_ms()))
        log_warning("master %s: %s", c->host, reason);
    else if (state == SESSION_READY)
        log_info("master %s: connected", c->host);
    if (state == SESSION_READY)
        connfail_log_reset(&c->told);
    if (c == c->line->now)
        tell_state(c->line, state, reason);
    if (state == SESSION_READY)
        renewal_soon(c->line->owner->renewal);
}

/* Remembers who asked, so that the return finds its way, and passes the job up. */
static void
on_job(void *cookie, json_t *job)
{
    const candidate_t *c = cookie;
    line_t *line = c->line;
    json_object_set_new(line->owner->pending, value_str(job, "jid", ""), json_string(c->name));
    sessions_up(line->owner, json_pack("{s:s, s:i, s:s, s:O}", "t", "job", "master", line->index, "asker",
                                       c->name, "job", job));
}

/* Master `asker` waits for a return that another master has stored: record and report it. */
static void
sessions_tell_elsewhere(sessions_t *self, const char *jid, const char *asker)
{
    seen_elsewhere_add(self->begin->seen, jid, asker);
    for (int i = 0; i < self->n; i++)
        for (int k = 0; k < self->lines[i].n; k++) {
            const candidate_t *c = &self->lines[i].all[k];
            if (c->session != NULL && str_eq(c->name, asker))
                session_elsewhere(c->session, jid);
        }
}

/* A master stored returns and events. Jobs that another master asked for are reported to that one. */
static void
sessions_on_ack(void *cookie, json_t *jids, json_t *events)
{
    const candidate_t *c = cookie;
    sessions_t *self = c->line->owner;
    size_t i;
    json_t *jid;
    json_array_foreach (jids, i, jid) {
        const char *text = json_is_string(jid) ? json_string_value(jid) : "";
        json_auto_t *asker = json_incref(value_get(self->pending, text));
        json_object_del(self->pending, text);
        if (json_is_string(asker) && !str_eq(json_string_value(asker), c->name))
            sessions_tell_elsewhere(self, text, json_string_value(asker));
    }
    sessions_up(
        self, json_pack("{s:s, s:s, s:O*, s:O*}", "t", "ack", "by", c->name, "jids", jids, "events", events));
}

/* Messages of a candidate that does not serve are ignored. */
static void
sessions_on_answer(void *cookie, wire_msg_t msg, json_t *body, const void *bytes, size_t n)
{
    candidate_t *c = cookie;
    line_t *line = c->line;
    if (c != line->now)
        return;
    if (msg == MSG_renew)
        sessions_renewal_begin(line->owner);
    else if (msg == MSG_rekeyed)
        renewal_answered(line->owner->renewal, line->index, body);
    else
        downloads_message(line->downloads, msg, body, bytes, n);
}

/* Passes a pillar on to the job server as it came: large ones take longer to parse than to fetch. */
static void
sessions_on_pillar(void *cookie, const char *text, size_t len)
{
    candidate_t *c = cookie;
    line_t *line = c->line;
    if (c != line->now)
        return;
    json_auto_t *frame = json_pack("{s:s, s:i}", "t", "pillar", "master", line->index);
    frame_add_with(&line->owner->out, frame, text, len);
}

static int
sessions_file_send(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    session_t *session = ((line_t *) cookie)->now->session;
    return bytes != NULL ? session_send_bytes(session, msg, body, bytes, n, NULL)
                         : session_send(session, msg, body, NULL);
}

static void
sessions_file_done(void *cookie, json_int_t id, json_t *answer)
{
    line_t *line = cookie;
    sessions_up(line->owner, json_pack("{s:s, s:I, s:O}", "t", "answer", "id", id, "answer", answer));
}

/* Asks the job server to fire an event: a master changed its key. */
static void
on_new_key(void *cookie, const char *finger)
{
    candidate_t *c = cookie;
    sessions_up(c->line->owner, json_pack("{s:s, s:s, s:{s:s, s:s}}", "t", "tell", "tag", "master_key",
                                          "data", "master", c->host, "finger", finger));
}

/* NEW array of jids for the hello. */
static json_t *
sessions_pending(void *cookie)
{
    line_t *line = ((candidate_t *) cookie)->line;
    json_t *all = json_array();
    const char *jid;
    json_t *unused;
    json_object_foreach (line->owner->pending, jid, unused)
        json_array_append_new(all, json_string(jid));
    return all;
}

static void
sessions_kept(void *cookie, size_t *ret_returns, size_t *ret_events)
{
    const sessions_t *self = ((candidate_t *) cookie)->line->owner;
    *ret_returns = self->returns;
    *ret_events = self->events;
}

/* `text`: what travels behind the frame, `len` bytes; NULL: nothing. */
typedef void down_fn(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len);

/* Sends to the master; only messages that can't be encoded are logged, as the outbox repeats what a lost
 * connection swallows. */
static void
sessions_send(session_t *session, wire_msg_t msg, json_t *body)
{
    fail_auto_t err = FAIL_INIT;
    if (session_send(session, msg, body, &err) < 0 && err.text != NULL)
        log_error("%s", fail_text(&err));
}

static void
down_ret(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    if (text != NULL)
        (void) session_send_return(session, value_str(frame, "jid", ""), text, len);
}

/* The line that `session` serves. It must serve one. */
static line_t *
sessions_line_of(sessions_t *self, const session_t *session)
{
    int i = 0;
    while (self->lines[i].now->session != session)
        i++;
    return &self->lines[i];
}

static void
down_again(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    sessions_line_of(self, session)->again = true;
}

/* Events before "again" are dropped: the outbox sends them again, in order, after it. */
static void
down_event(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    json_object_del(frame, "t");
    if (sessions_line_of(self, session)->again)
        sessions_send(session, MSG_event, frame);
}

static void
down_grains(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    json_auto_t *body = json_pack("{s:O}", "grains", value_get(frame, "grains"));
    sessions_send(session, MSG_grains, body);
}

static void
down_started(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    json_auto_t *body = json_pack("{s:O, s:O}", "jid", value_get(frame, "jid"), "pid",
                                  value_get(frame, "pid"));
    sessions_send(session, MSG_started, body);
}

static void
down_pillar_ask(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    sessions_send(session, MSG_pillar_ask, value_get(frame, "body"));
}

static void
down_revoke(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    json_auto_t *body = json_pack("{s:b}", "preserve_minion_cache",
                                  value_bool(frame, "preserve_minion_cache", false));
    sessions_send(session, MSG_revoke, body);
}

static void
down_ask(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    downloads_ask(sessions_line_of(self, session)->downloads, value_int(frame, "id", 0),
                  value_get(frame, "ask"));
}

static void
down_cancel(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    downloads_cancel(sessions_line_of(self, session)->downloads, value_int(frame, "id", 0));
}

static void
down_ping(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    sessions_up(self, json_pack("{s:s}", "t", "pong"));
}

/* The frame is dispatched once per master; the renewal is of all, so only the first counts. */
static void
down_rekey(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    if (session == self->lines[0].now->session)
        sessions_renewal_begin(self);
}

static void
down_kept(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    self->returns = (size_t) value_int(frame, "returns", 0);
    self->events = (size_t) value_int(frame, "events", 0);
}

static void
down_quit(sessions_t *self, session_t *session, json_t *frame, const char *text, size_t len)
{
    self->quit = true;
}

static const struct {
    const char *name;
    down_fn *fn;
} downs[] = { { "ret", down_ret },       { "again", down_again },           { "event", down_event },
              { "grains", down_grains }, { "started", down_started },       { "quit", down_quit },
              { "ping", down_ping },     { "pillar_ask", down_pillar_ask }, { "ask", down_ask },
              { "cancel", down_cancel }, { "revoke", down_revoke },         { "rekey", down_rekey },
              { "kept", down_kept } };

/* Dispatches a frame to the masters it names. A question for a master that is not connected goes to any
 * connected one, else waits at the one it names. */
static void
sessions_down(sessions_t *self, json_t *frame, const char *text, size_t len)
{
    const char *name = value_str(frame, "t", "");
    int master = (int) value_int(frame, "master", -1);
    down_fn *fn = NULL;
    for (size_t i = 0; i < NELEMS(downs); i++)
        if (str_eq(name, downs[i].name))
            fn = downs[i].fn;
    if (fn == down_ask && (master < 0 || master >= self->n || !self->lines[master].ready))
        master = any_master(self, master >= 0 && master < self->n ? master : 0);
    for (int i = 0; fn != NULL && i < self->n; i++)
        if (master < 0 || master == i)
            fn(self, self->lines[i].now->session, frame, text, len);
}

/* Reads the socketpair until it is empty. EOF means that the job server is gone: quit. */
static void
sessions_read(sessions_t *self)
{
    for (;;) {
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, MSG_DONTWAIT);
        if (n > 0)
            self->in.len += (size_t) n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            self->quit = true;

        /* Handles the whole frames in the buffer. A frame that can't be parsed is skipped, as its length is
         * known; one that is too large ends the process, because the stream has no next frame boundary. */
        for (;;) {
            fail_auto_t err = FAIL_INIT;
            const char *text;
            size_t len;
            int rc = frame_peek(&self->in, 0, LIMIT_LOCAL_MSG, &text, &len, &err);
            if (rc == 0)
                break;
            const char *behind = rc > 0 ? memchr(text, '\0', len) : NULL;
            size_t head = behind != NULL ? (size_t) (behind - text) : len;
            json_auto_t *frame = rc > 0 ? frame_parse(text, head, &err) : NULL;
            if (frame == NULL && err.code == -ENOMEM) /* the next networking process gets all that waits */
                salt_no_memory(self->in.cap);
            if (frame == NULL)
                log_error("a message of the job server can't be read: %s", fail_text(&err));
            else
                sessions_down(self, frame, behind != NULL ? behind + 1 : NULL, len - head - (behind != NULL));
            if (rc < 0) {
                self->quit = true;
                break;
            }
            buf_consume(&self->in, FRAME_HEAD + len);
        }

        if (n <= 0)
            return;
    }
}

/* ---- masters --------------------------------------------------------------------------------- */

/* Fills a candidate's session_conf_t from the configuration. Its texts belong to `conf` or the candidate. */
static void
sessions_prepare(candidate_t *c, line_t *line, const conf_t *conf, int nth, const json_t *master)
{
    c->line = line;
    c->told = (connfail_log_t) CONNFAIL_LOG_INIT;
    c->name = master_name(master);
    (void) str_copy(c->host, sizeof(c->host), value_str(master, "host", ""));
    masters_key_files(conf, (size_t) nth, c->host, &c->known_file, &c->sign_file);
    c->conf = (session_conf_t){ .id = conf_str(conf, "id"),
                                .role = "minion",
                                .host = c->host,
                                .name = c->name,
                                .port = (int) value_int(master, "port", 0),
                                .publish_port = (int) conf_int(conf, "publish_port"),
                                .hello_port = (int) conf_int(conf, "hello_port"),
                                .source = conf_str(conf, "source_address"),
                                .finger = conf_str(conf, "master_finger"),
                                .known_file = c->known_file,
                                .sign_file = c->sign_file,
                                .verify_sign = conf_bool(conf, "verify_master_pubkey_sign"),
                                .always_verify = conf_bool(conf, "always_verify_signature"),
                                .retry_dns_ms = (int) (conf_float(conf, "retry_dns") * 1000),
                                .wait_ms = (int) (conf_float(conf, "acceptance_wait_time") * 1000),
                                .wait_max_ms = (int) (conf_float(conf, "acceptance_wait_time_max") * 1000) };
    if (c->conf.wait_max_ms < c->conf.wait_ms)
        c->conf.wait_max_ms = c->conf.wait_ms;

    /* Takes recon_* or random_reauth_delay when one is set. They have no default here: the session's own
     * pauses suit a fleet better than Salt's defaults. */
    session_conf_t *sc = &c->conf;
    const json_t *first = conf_get(conf, "recon_default"), *more = conf_get(conf, "recon_max"),
                 *spread = conf_get(conf, "random_reauth_delay");
    if (first == NULL && more == NULL && json_is_number(spread) && json_number_value(spread) > 0) {
        sc->recon_ms = REAUTH_MS;
        sc->recon_spread_ms = (int) (json_number_value(spread) * 1000);
        sc->recon_max_ms = sc->recon_spread_ms;
    }
    if (first == NULL && more == NULL)
        return;
    sc->recon_ms = first != NULL ? (int) conf_float(conf, "recon_default") : RECON_DEFAULT_MS;
    sc->recon_max_ms = more != NULL ? (int) conf_float(conf, "recon_max") : RECON_MAX_MS;
    sc->recon_spread_ms = conf_bool(conf, "recon_randomize") ? sc->recon_max_ms : 0;
}

/* Starts a session with a candidate, unless it has one. */
static void
sessions_open(candidate_t *c)
{
    const session_host_t host = { .on_state = sessions_on_state,
                                  .on_job = on_job,
                                  .on_ack = sessions_on_ack,
                                  .on_answer = sessions_on_answer,
                                  .on_pillar = sessions_on_pillar,
                                  .pending = sessions_pending,
                                  .kept = sessions_kept,
                                  .on_new_key = on_new_key,
                                  .on_why = sessions_on_why,
                                  .cookie = c };
    if (c->session == NULL)
        c->session = session_new(c->line->owner->zctx, &c->conf, &host);
}

/* Adds a line for n candidates. `first`: the index of the first in the option `master`. */
static void
sessions_start_line(sessions_t *self, const conf_t *conf, const key_pair_t *keys, const json_t *masters,
                    int first, int n)
{
    line_t *line = &self->lines[self->n];
    failover_conf_t fc;
    line->owner = self;
    line->index = self->n;
    line->n = n;
    line->all = xcalloc((size_t) n, sizeof(*line->all));
    for (int i = 0; i < n; i++) {
        sessions_prepare(&line->all[i], line, conf, first + i, json_array_get(masters, (size_t) (first + i)));
        line->all[i].conf.boot = self->begin->boot;
        line->all[i].conf.series = self->begin->series;
        line->all[i].conf.claim = self->begin->claim;
        line->all[i].conf.seen = self->begin->seen;
        line->all[i].conf.keys = keys;
    }
    const download_host_t files = { sessions_file_send, sessions_file_done, line };
    line->downloads = downloads_new(&files);

    /* Salt's options in ms. master_alive_interval is how long a lost master is waited for; auth_timeout
     * how long one that never answered is. */
    json_int_t alive = conf_int(conf, "master_alive_interval"),
               back = conf_int(conf, "master_failback_interval");
    int answer_ms = (int) conf_int(conf, "auth_timeout") * 1000;
    fc = (failover_conf_t){ .n = n,
                            .answer_ms = answer_ms,
                            .gone_ms = alive > 0 ? (int) alive * 1000 : answer_ms,
                            .shuffle = conf_bool(conf, "random_master") ||
                                       conf_bool(conf, "master_shuffle") };
    if (conf_bool(conf, "master_failback"))
        fc.back_ms = (int) (back > 0 ? back : alive > 0 ? alive : FAILBACK_S) * 1000;

    failover_init(&line->failover, &fc, clock_mono_ms());
    line->now = &line->all[failover_now(&line->failover)];
    self->n++;
    sessions_open(line->now);
}

/* ---- failover -------------------------------------------------------------------------------- */

/* PENDING counts: a master that waits for salt-key -a is alive, so failover stays with it. */
static bool
sessions_answers(const candidate_t *c)
{
    session_state_t state = session_state(c->session);
    return state == SESSION_READY || state == SESSION_PENDING;
}

/* Makes `c` the serving candidate and ends every other session. The job server is told that the line is lost
 * first, so that it marks everything as unsent. */
static void
sessions_serve(line_t *line, candidate_t *c)
{
    tell_state(line, SESSION_CONNECTING, "another master is taken");
    line->now = c;
    for (int i = 0; i < line->n; i++)
        if (&line->all[i] != c)
            session_destroy(&line->all[i].session);
}

/* Runs one step of failover; milliseconds until the next at the latest. */
static long
sessions_failover(line_t *line)
{
    int64_t now = clock_mono_ms();
    candidate_t *first = &line->all[failover_first(&line->failover)], *was = line->now;
    bool probe_good = first != was && first->session != NULL &&
                      session_state(first->session) == SESSION_READY;
    switch (failover_step(&line->failover, now, sessions_answers(was), probe_good)) {
    case FAILOVER_STAY:
        break;
    case FAILOVER_MOVE:
        sessions_serve(line, &line->all[failover_now(&line->failover)]);
        log_warning("master %s does not answer; master %s is tried", was->host, line->now->host);
        sessions_open(line->now);
        break;
    case FAILOVER_PROBE:
        sessions_open(first);
        break;
    case FAILOVER_PROBE_END:
        session_destroy(&first->session);
        break;
    case FAILOVER_BACK:
        log_info("master %s is back", first->host);
        sessions_serve(line, first);
        tell_state(line, SESSION_READY, NULL);
        break;
    }
    return (long) failover_wait(&line->failover, now);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Runs what is due on a line; milliseconds until it must be called again at the latest. */
static long
line_step(line_t *line)
{
    long wait = downloads_step(line->downloads);
    for (int i = 0; i < line->n; i++) {
        long w = line->all[i].session != NULL ? session_step(line->all[i].session, NULL) : wait;
        wait = w < wait ? w : wait;
    }
    long w = line->n > 1 ? sessions_failover(line) : wait;
    return w < wait ? w : wait;
}

/* Adds a line's sockets to the poll list; their number. */
static int
line_sockets(const line_t *line, zmq_pollitem_t *items)
{
    void *socks[SESSION_SOCKETS];
    int n = 0;
    for (int i = 0; i < line->n; i++) {
        size_t k = line->all[i].session != NULL ? session_sockets(line->all[i].session, socks) : 0;
        while (k-- > 0)
            items[n++] = (zmq_pollitem_t){ socks[k], 0, ZMQ_POLLIN, 0 };
    }
    return n;
}

static void
loop(sessions_t *self)
{
    int64_t rest_ms = 0, now; /* monotonic: when memory is given back; 0: done since the last event */
    while (!self->quit) {
        zmq_pollitem_t items[1 + LIMIT_MASTERS * SESSION_SOCKETS];
        int n_items = 1;
        long wait = 60000;
        for (int i = 0; i < self->n; i++) {
            long w = line_step(&self->lines[i]);
            wait = w < wait ? w : wait;
            n_items += line_sockets(&self->lines[i], items + n_items);
        }
        renewal_ask(self);
        if (renewal_end(self))
            continue;

        /* Sends what the socket takes. An error other than EAGAIN means that the job server is gone: quit. */
        while (self->out.len > 0) {
            ssize_t n = send(self->fd, self->out.data, self->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n > 0)
                buf_consume(&self->out, (size_t) n);
            else if (errno != EINTR) {
                self->quit = self->quit || errno != EAGAIN;
                break;
            }
        }

        items[0] = (zmq_pollitem_t){ NULL, self->fd, (short) (ZMQ_POLLIN | (self->out.len ? ZMQ_POLLOUT : 0)),
                                     0 };
        now = clock_mono_ms();
        if (rest_ms && rest_ms <= now) {
            rest_ms = 0;
            memory_rest();
        }
        if (rest_ms && rest_ms - now < wait)
            wait = (long) (rest_ms - now);
        if (zmq_poll(items, n_items, wait) > 0)
            rest_ms = clock_mono_ms() + REST_MS;
        sessions_read(self);
    }
}

int
sessions_main(const conf_t *conf, const sessions_begin_t *begin, int fd)
{
    fail_auto_t err = FAIL_INIT;
    /* A single malloc arena is enough for one busy thread, and saves what libzmq's threads would reserve. */
    (void) mallopt(M_ARENA_MAX, 1);
    sessions_t self = { .fd = fd,
                        .begin = begin,
                        .pending = json_incref(begin->pending),
                        .returns = begin->returns,
                        .events = begin->events };
    json_auto_t *masters = masters_parse(conf, &err);
    self.keys = masters != NULL ? key_pair_open(conf_str(conf, "pki_dir"), "minion", NULL, &err) : NULL;
    self.renewal = renewal_new(conf_str(conf, "pki_dir"), (int) json_array_size(masters));
    self.zctx = zmq_ctx_new();
    if (self.zctx == NULL)
        (void) fail_set(&err, -errno, "libzmq can't begin: %s", strerror(errno));
    else
        (void) zmq_ctx_set(self.zctx, ZMQ_BLOCKY, 0);
    if (self.keys != NULL && self.zctx != NULL) {
        /* With failover the job server sees one master; else as many as there are. */
        int n = (int) json_array_size(masters), at_once = masters_at_once(conf, masters);
        if (n == 1 && conf_bool(conf, "random_master"))
            log_warning("random_master is True but there is only one master specified. Ignoring.");
        for (int i = 0; i < n; i += at_once)
            sessions_start_line(&self, conf, self.keys, masters, i, at_once);
    }
    if (err.text != NULL)
        log_critical("%s", fail_text(&err));
    else
        loop(&self);
    for (int k = 0; k < self.n; k++) {
        for (int i = 0; i < self.lines[k].n; i++) {
            session_destroy(&self.lines[k].all[i].session);
            connfail_log_reset(&self.lines[k].all[i].told);
            free(self.lines[k].all[i].name);
            free(self.lines[k].all[i].known_file);
            free(self.lines[k].all[i].sign_file);
        }
        downloads_destroy(&self.lines[k].downloads);
        free(self.lines[k].all);
    }
    (void) zmq_ctx_term(self.zctx);
    renewal_destroy(&self.renewal);
    key_pair_destroy(&self.keys);
    json_decref(self.pending);
    buf_free(&self.in);
    buf_free(&self.out);
    (void) close(fd);
    return err.text != NULL ? 1 : 0;
}
