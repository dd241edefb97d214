/* front.c - the master's start, loop and end. See front.h for its parts. */
#include "master/front.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/notify.h"
#include "common/base/str.h"
#include "common/conf/startup.h"
#include "master/bus.h"
#include "master/fleeting.h"
#include "master/gate.h"
#include "master/notes.h"
#include "master/pillars.h"
#include "master/reactor.h"
#include "master/workers.h"
#include "salt/log.h"
#include "salt/value.h"

#define TICK_MS     100
#define STATUS_MS   1000
#define REST_MS     20000 /* nothing has come or gone */
#define STORE_FILE  "jobs.db"
#define LARGE_BYTES (1024 * 1024)
#define PORT_EVENTS (ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED)
#define ROUTER_EVENTS                                                                                        \
    (PORT_EVENTS | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
#define PUB_EVENTS (PORT_EVENTS | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)

static void
s_reload(front_t *self)
{
    fail_auto_t err = FAIL_INIT, load = FAIL_INIT;
    conf_t *fresh = startup_reload(self->conf, self->conf_dir, CONF_MASTER, self->overrides, &err);
    if (!fresh) {
        log_error("reload: the old configuration stays: %s", fail_text(&err));
        return;
    }
    conf_destroy(&self->conf);
    self->conf = fresh;
    self->opts = conf_opts(fresh);
    audit_reopen(self->audit, conf_str(self->conf, "audit_log"));
    lsock_reload(self->lsock);
    workers_reload(self->workers);
    files_reload(self->files, self->opts);
    pillars_reload(self->pillars);
    reactor_reload(self->reactor);
    self->keylife.next_ms = self->expire_next_ms = self->present_next_ms =
        0; /* their intervals may be others now */
    if (auth_load(self, &load) < 0)
        log_error("reload: keys: %s", fail_text(&load));
}

static int
s_signal(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    int sig;
    while ((sig = daemon_next_signal(item->fd)) != 0) {
        if (sig == SIGHUP) {
            s_reload(self);
            continue;
        }
        if (sig == SIGTERM || sig == SIGINT) {
            log_info("%s: the master ends", sig == SIGTERM ? "SIGTERM" : "SIGINT");
            notify_stopping();
            self->stop = true;
            return -1;
        }
    }
    return 0;
}

void
front_noise(front_t *self, const char *fmt, ...)
{
    va_list ap;
    if (!rate_spare(&self->noise, clock_mono_ms())) {
        self->noise_unsaid++;
        return;
    }
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    log_warning("%s", text);
}

static void
s_tell_refused(front_t *self, const char *address, const char *reason)
{
    log_warning("%s: %s", address, reason);
    json_t *data = json_pack("{s:s, s:s, s:I}", "address", address, "reason", reason, "refused",
                             (json_int_t) self->counters.refused);
    (void) bus_fire(self, "salt/gate/refused", &data);
}

void
front_refused(front_t *self, refusal_t kind, const char *address, const char *fmt, ...)
{
    va_list ap;
    self->counters.refused++;
    va_start(ap, fmt);
    AUTO_FREE char *reason = xvasprintf(fmt, ap);
    va_end(ap);
    if (refusals_add(self->refusals, kind, address, reason, clock_mono_ms()))
        s_tell_refused(self, address, reason);
}

static void
s_noise_tick(front_t *self, int64_t now_ms)
{
    char *address, *reason;
    while (refusals_due(self->refusals, now_ms, &address, &reason)) {
        s_tell_refused(self, address, reason);
        free(address);
        free(reason);
    }
    self->noise_unsaid += refusals_unsaid(self->refusals);
    if (self->noise_unsaid == 0 || !rate_spare(&self->noise, now_ms))
        return;
    log_warning("%llu more refusals were not written here", (unsigned long long) self->noise_unsaid);
    self->noise_unsaid = 0;
}

/* What busy times have taken goes back to the system when nothing has come or gone for a while: then the
 * pause that it makes is nobody's. */
static void
s_rest(front_t *self, int64_t now_ms)
{
    uint64_t done = self->counters.in + self->counters.out + self->counters.events;
    if (done != self->rest_done) {
        self->rest_done = done;
        self->rest_ms = now_ms + REST_MS;
    } else if (self->rest_ms && now_ms >= self->rest_ms) {
        self->rest_ms = 0;
        memory_rest();
    }
}

/* For systemctl status. */
static void
s_status(front_t *self, int64_t now)
{
    if (!notify_heard() || now < self->status_ms)
        return;
    self->status_ms = now + STATUS_MS;
    notify_status("%zu of %zu minions connected, %zu keys wait (salt-key -L); ports %d, %d and %d at %s",
                  presence_count(self), peers_count(self->peers, KEY_ACCEPTED),
                  peers_count(self->peers, KEY_PENDING), (int) conf_int(self->conf, "publish_port"),
                  (int) conf_int(self->conf, "ret_port"), (int) conf_int(self->conf, "hello_port"),
                  conf_str(self->conf, "interface"));
}

static int
s_tick(zloop_t *loop, int timer, void *arg)
{
    front_t *self = arg;
    int64_t now = clock_mono_ms();
    notify_turn(now);
    s_status(self, now);
    clockwatch_tick(self, now);
    inbound_monitors(self);
    auth_rivals(self, now);
    publish_tick(self, now);
    presence_tick(self, now);
    rotate_tick(self, now);
    keylife_tick(self, now);
    gate_tick(self, now);
    lsock_tick(self->lsock);
    workers_tick(self->workers);
    pillars_tick(self->pillars);
    known_tick(self);
    s_noise_tick(self, now);
    s_rest(self, now);
    if (now >= self->expire_next_ms) {
        int64_t pause = (int64_t) (conf_float(self->conf, "loop_interval") * 1000);
        /* What could be looked up before a restart can be after it, for as long as without one. */
        bool all = clockwatch_doubts(self) || now - self->started_ms < pause;
        store_keep_t keep = { .now_us = clock_wall_us(),
                              .jobs_s = all ? 0 : conf_int(self->conf, "keep_jobs_seconds"),
                              .bytes = (uint64_t) conf_int(self->conf, "keep_jobs_bytes"),
                              .events = LIMIT_EVENT_JOURNAL,
                              .settled = reactor_settled(self->reactor) };
        store_expire(self->store, &keep);
        self->expire_next_ms = now + pause;
        inbound_trouble(self);
    }
    return self->stop ? -1 : 0;
}

static int
s_open_sockets(front_t *self, fail_t *err)
{
    const char *host = conf_str(self->conf, "interface");
    bool ipv6 = conf_bool(self->conf, "ipv6");
    int hello_port = (int) conf_int(self->conf, "hello_port");
    self->router = sock_new(self->zctx, SOCK_ROUTER_SERVER, self->own.key.pair, NULL, err);
    self->pub = self->router ? sock_new(self->zctx, SOCK_PUB_SERVER, self->own.key.pair, NULL, err) : NULL;
    self->monitor = self->pub ? sock_monitor(self->zctx, self->router, "router", ROUTER_EVENTS, err) : NULL;
    self->pub_monitor = self->monitor ? sock_monitor(self->zctx, self->pub, "pub", PUB_EVENTS, err) : NULL;
    if (!self->pub_monitor)
        return err->code;
    int rc = sock_bind(self->pub, host, (int) conf_int(self->conf, "publish_port"), ipv6, err);
    if (rc == 0)
        rc = sock_bind(self->router, host, (int) conf_int(self->conf, "ret_port"), ipv6, err);
    if (rc < 0 || hello_port == 0)
        return rc;
    self->hello = sock_new(self->zctx, SOCK_HELLO_SERVER, NULL, NULL, err);
    self->hello_monitor = self->hello ? sock_monitor(self->zctx, self->hello, "hello", PORT_EVENTS, err)
                                      : NULL;
    return self->hello_monitor ? sock_bind(self->hello, host, hello_port, ipv6, err) : err->code;
}

static void
s_watch(front_t *self, void *sock, int fd, zloop_fn *fn)
{
    zmq_pollitem_t item = { sock, fd, ZMQ_POLLIN, 0 };
    if (!sock && fd < 0)
        return;
    (void) zloop_poller(self->loop, &item, fn, self);
    zloop_poller_set_tolerant(self->loop, &item);
}

static int
s_open_store(front_t *self, fail_t *err)
{
    const char *cachedir = conf_str(self->conf, "cachedir");
    int rc = fs_own_dir(cachedir, 0750, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *path = fs_join(cachedir, STORE_FILE);
    self->store = store_new(path, err);
    self->reader = self->store ? store_reader_new(path, err) : NULL;
    return self->reader ? 0 : err->code;
}

static int
s_open_keys(front_t *self, fail_t *err)
{
    self->keystore = keystore_new(conf_str(self->conf, "pki_dir"), err);
    return self->keystore ? rotate_open(self, err) : err->code;
}

static int
s_start(front_t *self, fail_t *err)
{
    long files = daemon_raise_files((long) conf_int(self->conf, "max_open_files"));
    if (daemon_need_files(LIMIT_MASTER_FILES, err) < 0)
        return err->code;
    self->signal_fd = daemon_signals(false, err);
    if (self->signal_fd < 0)
        return self->signal_fd;
    /* Large messages are the system's again when they are gone; glibc would keep more after each. */
    (void) mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    self->gate = gate_new(files);
    fleeting_open();
    zsys_handler_set(NULL);
    zsys_set_max_sockets(0);
    self->zctx = zsys_init();
    self->loop = zloop_new();
    zloop_set_nonstop(self->loop, true);
    self->zap = zap_new(err);
    if (!self->zap || s_open_keys(self, err) < 0 || s_open_store(self, err) < 0 || auth_load(self, err) < 0 ||
        known_load(self, err) < 0)
        return err->code;
    auth_tell_unfit(self);
    self->pillars = pillars_new(self);
    AUTO_FREE char *store_file = fs_join(conf_str(self->conf, "cachedir"), STORE_FILE);
    const char *sock_dir = conf_str(self->conf, "sock_dir");
    self->lsock = lsock_new(self, sock_dir, err);
    /* From here on no other master works on this store. */
    if (!self->lsock || clockwatch_begin(self, err) < 0 || numbers_begin(self, err) < 0)
        return err->code;
    if (publish_restore(self, err) < 0)
        return err->code;
    self->workers = workers_new(self, sock_dir, store_file, err);
    self->files = self->workers ? files_new(self->opts, err) : NULL;
    if (!self->files || s_open_sockets(self, err) < 0)
        return err->code;
    s_watch(self, self->router, -1, inbound_router);
    s_watch(self, self->pub, -1, inbound_pub);
    s_watch(self, self->hello, -1, inbound_hello);
    s_watch(self, self->monitor, -1, inbound_router);
    s_watch(self, self->pub_monitor, -1, inbound_router);
    s_watch(self, self->hello_monitor, -1, inbound_router);
    s_watch(self, NULL, store_fd(self->store), inbound_store);
    s_watch(self, NULL, files_fd(self->files), fileline_ready);
    s_watch(self, NULL, self->signal_fd, s_signal);
    (void) zloop_timer(self->loop, TICK_MS, 0, s_tick, self);
    self->reactor = reactor_new(self, sock_dir, store_file);
    workers_restore(self->workers);
    return 0;
}

front_t *
front_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, registry_t *runners, registry_t *wheels,
          const masterctx_tables_t *host, fail_t *err)
{
    front_t *self = xcalloc(1, sizeof(*self));
    self->conf = STEAL(*conf_p);
    self->opts = conf_opts(self->conf);
    self->conf_dir = xstrdup(conf_dir);
    self->overrides = json_incref(overrides);
    self->runners = runners;
    self->wheels = wheels;
    self->host = host;
    self->modules = host ? host->modules : NULL;
    self->signal_fd = -1;
    self->peers = peers_new();
    self->known.alike = alike_new();
    self->acks.tail = &self->acks.first;
    self->notes = notes_new();
    self->uncommitted = map_new(NULL);
    self->strangers = (rate_t) RATE(LIMIT_STRANGER_EVENTS_RATE, LIMIT_STRANGER_EVENTS_BURST);
    self->refusals = refusals_new();
    self->noise = (rate_t) RATE(LIMIT_NOISE_RATE, LIMIT_NOISE_BURST);
    self->rekeys = (rate_t) RATE(LIMIT_REKEYS_RATE, LIMIT_REKEYS_BURST);
    self->jobs = jobs_new(publish_verdict, publish_done, self);
    self->audit = audit_new(conf_str(self->conf, "audit_log"));
    self->bus = bus_new(self);
    self->started_ms = self->grace_from_ms = clock_mono_ms();
    if (s_start(self, err) < 0)
        front_destroy(&self);
    return self;
}

bool
front_destroy(front_t **self_p)
{
    front_t *self = STEAL(*self_p);
    if (!self)
        return true;
    /* First the lines to the runners, so that who asks the master something hears that it ends. */
    lsock_destroy(&self->lsock);
    bool ended = workers_destroy(&self->workers);
    ended = files_destroy(&self->files) && ended;
    ended = pillars_destroy(&self->pillars) && ended;
    ended = reactor_destroy(&self->reactor) && ended;
    zloop_destroy(&self->loop);
    sock_unmonitor(self->router, &self->monitor);
    sock_unmonitor(self->pub, &self->pub_monitor);
    sock_unmonitor(self->hello, &self->hello_monitor);
    sock_close(&self->hello);
    sock_close(&self->router);
    sock_close(&self->pub);
    zap_destroy(&self->zap);
    numbers_end(self);
    store_reader_destroy(&self->reader);
    store_destroy(&self->store);
    jobs_destroy(&self->jobs);
    peers_destroy(&self->peers);
    alike_destroy(&self->known.alike);
    json_decref(self->known.bare);
    keystore_destroy(&self->keystore);
    rotate_close(self);
    inbound_forget(self);
    bus_destroy(&self->bus);
    notes_destroy(&self->notes);
    refusals_destroy(&self->refusals);
    audit_destroy(&self->audit);
    map_destroy(&self->uncommitted);
    gate_destroy(&self->gate);
    json_decref(self->present);
    free(self->store_trouble);
    free(self->conf_dir);
    json_decref(self->overrides);
    conf_destroy(&self->conf);
    if (self->signal_fd >= 0)
        (void) close(self->signal_fd);
    free(self);
    if (ended)
        zsys_shutdown();
    return ended;
}

int
front_run(front_t *self)
{
    log_info("the master is ready: ports %d and %d at %s, hello port %d, local socket in %s",
             (int) conf_int(self->conf, "publish_port"), (int) conf_int(self->conf, "ret_port"),
             conf_str(self->conf, "interface"), (int) conf_int(self->conf, "hello_port"),
             conf_str(self->conf, "sock_dir"));
    daemon_ready();
    inbound_trouble(self);
    while (!self->stop)
        if (zloop_start(self->loop) == 0 && zsys_interrupted)
            break;
    return self->exit_code;
}
