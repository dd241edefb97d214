/* sessions.c - see sessions.h. */
#include "minion/sessions.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>
#include <zmq.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "minion/download.h"
#include "minion/session.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define MASTERS_MAX      16
#define RECON_DEFAULT_MS 1000
#define RECON_MAX_MS     10000
#define READ_CHUNK       (64 * 1024)

typedef struct sessions sessions_t;

typedef struct line {
    sessions_t *owner;
    int index;
    session_t *session;
    downloads_t *downloads;
    char host[256], *known_file;
} line_t;

struct sessions {
    int fd;
    buf_t in, out;
    line_t lines[MASTERS_MAX];
    int n;
    json_t *pending; /* {jid: true}: run, or wait for an acknowledgement */
    bool quit;
};

bool
master_parse(const char *text, int default_port, char host[256], int *ret_port)
{
    const char *colon = strrchr(text, ':'), *close = strrchr(text, ']');
    long long port = default_port;
    size_t len = strlen(text);
    bool bracket = text[0] == '[';
    if (bracket ? !close || (close[1] != '\0' && close[1] != ':') : strpbrk(text, "[]") != NULL)
        return false;
    /* More than one colon without brackets is a bare IPv6 address. */
    if (colon && (bracket ? colon == close + 1 : strchr(text, ':') == colon)) {
        if (!str_to_int(colon + 1, 1, 65535, &port))
            return false;
        len = (size_t) (colon - text);
    }
    if (bracket)
        text++, len = (size_t) (close - text);
    if (len == 0 || len >= 256)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    /* It names a file too. */
    for (const char *p = host; *p; p++)
        if ((unsigned char) *p <= ' ' || *p == 127 || strchr("/[]", *p))
            return false;
    *ret_port = (int) port;
    return true;
}

json_t *
masters_parse(const conf_t *conf, fail_t *err)
{
    json_t *option = conf_get(conf, "master"), *one;
    json_auto_t *list = json_is_array(option) ? json_incref(option) : json_pack("[O]", option);
    json_auto_t *out = json_array();
    size_t i;
    if (str_eq(conf_str(conf, "master_type"), "disable"))
        return json_incref(out);
    json_array_foreach (list, i, one) {
        char host[256];
        int port;
        if (!json_is_string(one) ||
            !master_parse(json_string_value(one), (int) conf_int(conf, "master_port"), host, &port)) {
            AUTO_FREE char *shown = value_pystr(one);
            (void) fail_set(err, -EINVAL, "master: '%s' is not a host, host:port or [ipv6]:port", shown);
            return NULL;
        }
        json_array_append_new(out, json_pack("{s:s, s:i}", "host", host, "port", port));
    }
    if (json_array_size(out) == 0 || json_array_size(out) > MASTERS_MAX) {
        (void) fail_set(err, -EINVAL, "master: 1 to %d masters can be named", MASTERS_MAX);
        return NULL;
    }
    return json_incref(out);
}

/* ---- to and from the job server
 * ------------------------------------------------------------------------------------ */

static void
s_up(sessions_t *self, json_t *frame)
{
    json_auto_t *msg = frame;
    frame_add(&self->out, msg);
}

static void
s_flush(sessions_t *self)
{
    while (self->out.len > 0) {
        ssize_t n = send(self->fd, self->out.data, self->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            buf_consume(&self->out, (size_t) n);
        else if (errno != EINTR) {
            self->quit = self->quit || errno != EAGAIN;
            return;
        }
    }
}

static void
s_on_state(void *cookie, session_state_t state, const char *reason)
{
    line_t *line = cookie;
    if (reason && (state == SESSION_REFUSED || state == SESSION_STRANGER))
        log_error("master %s: %s", line->host, reason);
    else if (state == SESSION_PENDING)
        log_warning("master %s: this minion's key waits for acceptance: salt-key -a, on the master",
                    line->host);
    else if (state == SESSION_READY)
        log_info("master %s: connected", line->host);
    (state == SESSION_READY ? downloads_ready : downloads_lost)(line->downloads);
    s_up(line->owner, json_pack("{s:s, s:i, s:s, s:s*}", "t", "state", "master", line->index, "state",
                                session_state_name(state), "reason", reason));
}

static void
s_on_job(void *cookie, json_t *job)
{
    line_t *line = cookie;
    json_object_set_new(line->owner->pending, value_str(job, "jid", ""), json_true());
    s_up(line->owner, json_pack("{s:s, s:i, s:O}", "t", "job", "master", line->index, "job", job));
}

static void
s_on_ack(void *cookie, json_t *jids, json_t *events)
{
    line_t *line = cookie;
    size_t i;
    json_t *jid;
    json_array_foreach (jids, i, jid)
        if (json_is_string(jid))
            json_object_del(line->owner->pending, json_string_value(jid));
    s_up(line->owner, json_pack("{s:s, s:O*, s:O*}", "t", "ack", "jids", jids, "events", events));
}

static void
s_on_answer(void *cookie, wire_msg_t msg, json_t *body, const void *bytes, size_t n)
{
    line_t *line = cookie;
    if (msg != MSG_pillar) {
        downloads_message(line->downloads, msg, body, bytes, n);
        return;
    }
    s_up(line->owner, json_pack("{s:s, s:i, s:O}", "t", wire_name(msg), "master", line->index, "body", body));
}

static int
s_file_send(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    session_t *session = ((line_t *) cookie)->session;
    return bytes ? session_send_bytes(session, msg, body, bytes, n, NULL)
                 : session_send(session, msg, body, NULL);
}

static void
s_file_done(void *cookie, json_int_t id, json_t *answer)
{
    line_t *line = cookie;
    s_up(line->owner, json_pack("{s:s, s:I, s:O}", "t", "answer", "id", id, "answer", answer));
}

static json_t *
s_pending(void *cookie)
{
    line_t *line = cookie;
    json_t *all = json_array();
    const char *jid;
    json_t *unused;
    json_object_foreach (line->owner->pending, jid, unused)
        json_array_append_new(all, json_string(jid));
    return all;
}

typedef void down_fn(sessions_t *self, session_t *session, json_t *frame);

static void
s_send(session_t *session, wire_msg_t msg, json_t *body)
{
    fail_auto_t err = FAIL_INIT;
    if (session_send(session, msg, body, &err) < 0 && err.text)
        log_error("%s", fail_text(&err));
}

static void
s_down_ret(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    s_send(session, MSG_ret, value_get(frame, "ret"));
}

static void
s_down_event(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    json_object_del(frame, "t");
    s_send(session, MSG_event, frame);
}

static void
s_down_grains(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    json_auto_t *body = json_pack("{s:O}", "grains", value_get(frame, "grains"));
    s_send(session, MSG_grains, body);
}

static void
s_down_started(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    json_auto_t *body = json_pack("{s:O, s:O}", "jid", value_get(frame, "jid"), "pid",
                                  value_get(frame, "pid"));
    s_send(session, MSG_started, body);
}

static void
s_down_pillar_ask(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    s_send(session, MSG_pillar_ask, value_get(frame, "body"));
}

static void
s_down_revoke(sessions_t *self, session_t *session, json_t *frame)
{
    (void) self;
    json_auto_t *body = json_pack("{s:b}", "preserve_minion_cache",
                                  value_bool(frame, "preserve_minion_cache", false));
    s_send(session, MSG_revoke, body);
}

static downloads_t *
s_downloads_of(sessions_t *self, const session_t *session)
{
    int i = 0;
    while (self->lines[i].session != session)
        i++;
    return self->lines[i].downloads;
}

static void
s_down_ask(sessions_t *self, session_t *session, json_t *frame)
{
    downloads_ask(s_downloads_of(self, session), value_int(frame, "id", 0), value_get(frame, "ask"));
}

static void
s_down_cancel(sessions_t *self, session_t *session, json_t *frame)
{
    downloads_cancel(s_downloads_of(self, session), value_int(frame, "id", 0));
}

static void
s_down_known(sessions_t *self, session_t *session, json_t *frame)
{
    size_t i;
    json_t *jid;
    json_array_foreach (value_get(frame, "jids"), i, jid) {
        session_remember(session, json_string_value(jid));
        json_object_set_new(self->pending, json_string_value(jid), json_true());
    }
}

static void
s_down_ping(sessions_t *self, session_t *session, json_t *frame)
{
    (void) session, (void) frame;
    s_up(self, json_pack("{s:s}", "t", "pong"));
}

static void
s_down_quit(sessions_t *self, session_t *session, json_t *frame)
{
    (void) session, (void) frame;
    self->quit = true;
}

static const struct {
    const char *name;
    down_fn *fn;
} downs[] = { { "ret", s_down_ret },         { "event", s_down_event },           { "grains", s_down_grains },
              { "started", s_down_started }, { "known", s_down_known },           { "quit", s_down_quit },
              { "ping", s_down_ping },       { "pillar_ask", s_down_pillar_ask }, { "ask", s_down_ask },
              { "cancel", s_down_cancel },   { "revoke", s_down_revoke } };

/* Who no master has asked for anything asks one that is there, or the first. */
static int
s_any_master(const sessions_t *self)
{
    for (int i = 0; i < self->n; i++)
        if (session_state(self->lines[i].session) == SESSION_READY)
            return i;
    return 0;
}

static void
s_down(sessions_t *self, json_t *frame)
{
    const char *name = value_str(frame, "t", "");
    int master = (int) value_int(frame, "master", -1);
    down_fn *fn = NULL;
    for (size_t i = 0; i < NELEMS(downs); i++)
        if (str_eq(name, downs[i].name))
            fn = downs[i].fn;
    if (fn == s_down_ask && (master < 0 || master >= self->n))
        master = s_any_master(self);
    for (int i = 0; fn && i < self->n; i++)
        if (master < 0 || master == i)
            fn(self, self->lines[i].session, frame);
}

static void
s_read(sessions_t *self)
{
    for (;;) {
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, MSG_DONTWAIT);
        if (n > 0)
            self->in.len += (size_t) n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            self->quit = true;
        json_t *frame = NULL;
        while (frame_take(&self->in, LIMIT_LOCAL_MSG, &frame, NULL) > 0) {
            s_down(self, frame);
            json_decref(frame);
        }
        if (n <= 0)
            return;
    }
}

/* ---- the loop
 * ----------------------------------------------------------------------------------------------------------
 */

/* recon_*, when one of them is set: our own pauses suit a fleet of minions of Halite better than Salt's
 * defaults. */
static void
s_take_recon(session_conf_t *sc, const conf_t *conf)
{
    const json_t *first = conf_get(conf, "recon_default"), *more = conf_get(conf, "recon_max");
    if (!first && !more)
        return;
    sc->recon_ms = first ? (int) conf_float(conf, "recon_default") : RECON_DEFAULT_MS;
    sc->recon_max_ms = more ? (int) conf_float(conf, "recon_max") : RECON_MAX_MS;
    sc->recon_spread_ms = conf_bool(conf, "recon_randomize") ? sc->recon_max_ms : 0;
}

static int
s_start_line(sessions_t *self, void *zctx, const conf_t *conf, const char *boot, const key_pair_t *keys,
             const json_t *master, fail_t *err)
{
    line_t *line = &self->lines[self->n];
    line->owner = self;
    line->index = self->n;
    (void) str_copy(line->host, sizeof(line->host), value_str(master, "host", ""));
    AUTO_FREE char *file = self->n == 0 ? xstrdup("minion_master.pub")
                                        : xasprintf("minion_master.%s.pub", line->host);
    line->known_file = fs_join(conf_str(conf, "pki_dir"), file);
    session_conf_t sc = { .id = conf_str(conf, "id"),
                          .role = "minion",
                          .boot = boot,
                          .host = line->host,
                          .port = (int) value_int(master, "port", 0),
                          .publish_port = (int) conf_int(conf, "publish_port"),
                          .hello_port = (int) conf_int(conf, "hello_port"),
                          .source = conf_str(conf, "source_address"),
                          .finger = conf_str(conf, "master_finger"),
                          .known_file = line->known_file,
                          .keys = keys,
                          .retry_dns_ms = (int) (conf_float(conf, "retry_dns") * 1000),
                          .wait_ms = (int) (conf_float(conf, "acceptance_wait_time") * 1000),
                          .wait_max_ms = (int) (conf_float(conf, "acceptance_wait_time_max") * 1000) };
    if (sc.wait_max_ms < sc.wait_ms)
        sc.wait_max_ms = sc.wait_ms;
    s_take_recon(&sc, conf);
    session_host_t host = { s_on_state, s_on_job, s_on_ack, s_on_answer, s_pending, line };
    const download_host_t files = { s_file_send, s_file_done, line };
    line->downloads = downloads_new(&files);
    line->session = session_new(zctx, &sc, &host, err);
    if (!line->session)
        return err->code;
    self->n++;
    return 0;
}

static void
s_loop(sessions_t *self)
{
    while (!self->quit) {
        zmq_pollitem_t items[1 + MASTERS_MAX * SESSION_SOCKETS];
        void *socks[SESSION_SOCKETS];
        int n_items = 1;
        long wait = 60000;
        for (int i = 0; i < self->n; i++) {
            long w = session_step(self->lines[i].session), d = downloads_step(self->lines[i].downloads);
            wait = w < wait ? w : wait;
            wait = d < wait ? d : wait;
            size_t k = session_sockets(self->lines[i].session, socks);
            while (k-- > 0)
                items[n_items++] = (zmq_pollitem_t){ socks[k], 0, ZMQ_POLLIN, 0 };
        }
        s_flush(self);
        items[0] = (zmq_pollitem_t){ NULL, self->fd, (short) (ZMQ_POLLIN | (self->out.len ? ZMQ_POLLOUT : 0)),
                                     0 };
        (void) zmq_poll(items, n_items, wait);
        s_read(self);
    }
}

int
sessions_main(const conf_t *conf, const char *boot, int fd)
{
    fail_auto_t err = FAIL_INIT;
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* One arena is enough for one busy thread, and saves what libzmq's threads would reserve. */
    (void) mallopt(M_ARENA_MAX, 1);
    sessions_t self = { .fd = fd, .pending = json_object() };
    json_auto_t *masters = masters_parse(conf, &err);
    key_pair_t *keys = masters ? key_pair_open(conf_str(conf, "pki_dir"), "minion", NULL, &err) : NULL;
    void *zctx = zmq_ctx_new();
    (void) zmq_ctx_set(zctx, ZMQ_BLOCKY, 0);
    size_t i;
    json_t *one;
    json_array_foreach (masters, i, one)
        if (keys && s_start_line(&self, zctx, conf, boot, keys, one, &err) < 0)
            break;
    if (err.text)
        log_critical("%s", fail_text(&err));
    else
        s_loop(&self);
    for (int k = 0; k < self.n; k++) {
        session_destroy(&self.lines[k].session);
        downloads_destroy(&self.lines[k].downloads);
        free(self.lines[k].known_file);
    }
    (void) zmq_ctx_term(zctx);
    key_pair_destroy(&keys);
    json_decref(self.pending);
    buf_free(&self.in);
    buf_free(&self.out);
    (void) close(fd);
    return err.text ? 1 : 0;
}
