/* swarm.c - thousands of minions in a few processes: the minion's real session code, each with its own key,
 * but without modules.
 *
 *   swarm keys N KEYDIR [PKI]   makes N key pairs; with PKI, before the master starts, also the master's own
 *                               pair, and accepts the public halves there
 *   swarm run N PROCS KEYDIR PKI HOST PORT PUBPORT HELLOPORT [GRAINS]
 *                               runs until SIGTERM; prints {"ready": N, "pending": N, "jobs": N} when that
 *                               changes
 *
 * Returns have a real minion's shape: grains.items, a state run of 250 states (100 KB), anything else as
 * test.ping. A return is kept until the master acknowledges it, and sent again when the master is back. With
 * GRAINS, a JSON file, each minion sends these grains with its own names in them. Minions are called
 * swarm00000 and so on, or after SWARM_NAME (environment) instead of "swarm". A process needs about six
 * descriptors per minion.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "uplink/session.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define PROCS_MAX 32
#define STATES    250 /* in a state run's return: 100 KB */
#define TICK_MS   20  /* how often timers run and counts are reported */

typedef struct counts {
    int ready, pending, jobs;
} counts_t;

/* A minion. */
typedef struct one {
    char id[32], boot[LIMIT_BOOT];
    session_t *session;
    seen_t *seen;
    key_pair_t *keys;
    json_t *unacked; /* {jid: return}; NULL: none */
    int64_t next_ms;
    session_state_t state;
    void *watched[SESSION_SOCKETS];
    struct swarm *swarm;
} one_t;

/* The minions of one process. */
typedef struct swarm {
    const json_t *grains; /* of a minion; NULL: none are sent */
    json_t *states;       /* what a state run returns */
    one_t *all;
    int n, first, step; /* numbers of its minions: first, first + step, ... */
    int epoll_fd, report_fd;
    counts_t counts, reported;
} swarm_t;

typedef struct place {
    const char *dir, *host;
    const json_t *grains;
    uint8_t master_key[KEY_BYTES];
    int port, publish_port, hello_port;
} place_t;

static int
s_die(const fail_t *err)
{
    (void) fprintf(stderr, "swarm: %s\n", fail_text(err));
    return 1;
}

/* A minion's id from its number. */
static void
s_name(char out[32], int i)
{
    const char *name = getenv("SWARM_NAME");
    (void) snprintf(out, 32, "%.16s%05d", name ? name : "swarm", i);
}

/* Writes a file that need not survive the machine, without fsync: there are thousands. */
static int
s_write(const char *dir, const char *name, const char *text, mode_t mode, fail_t *err)
{
    AUTO_FREE char *path = fs_join(dir, name);
    return fs_write_quick(path, text, strlen(text), mode, err);
}

/* Makes one key pair, accepted by the master when `accepted` names its folder. */
static int
s_key(const char *dir, const char *accepted, const char *id, fail_t *err)
{
    AUTO(key_pair) keys = key_pair_new();
    AUTO_FREE char *name = xasprintf("%s.pem", id), *name_pub = xasprintf("%s.pub", id);
    AUTO_FREE char *public = key_public_pem(key_pair_public(keys));
    char *private = key_pair_pem(keys);
    int rc = s_write(dir, name, private, 0400, err);
    key_text_free(&private);
    if (rc == 0)
        rc = s_write(dir, name_pub, public, 0644, err);
    if (rc == 0 && accepted)
        rc = s_write(accepted, id, public, 0644, err);
    return rc;
}

static int
s_keys(int n, const char *dir, const char *pki)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *accepted = pki ? fs_join(pki, "minions") : NULL;
    if (fs_mkdirs(dir, 0700, &err) < 0 || (accepted && fs_mkdirs(accepted, 0700, &err) < 0))
        return s_die(&err);
    AUTO(key_pair) master = pki ? key_pair_open(pki, "master", NULL, &err) : NULL;
    for (int i = 0; i < n && !err.text; i++) {
        char id[32];
        s_name(id, i);
        (void) s_key(dir, accepted, id, &err);
    }
    return err.text ? s_die(&err) : 0;
}

/* ---- one minion ------------------------------------------------------------------------------ */

/* NEW grains of this minion: the given ones with its own names and addresses. Every tenth has another OS, and
 * a hundred racks share the minions, so that targets by grain have something to select. */
static json_t *
s_grains(const one_t *o)
{
    static const char *const own[] = { "id", "host", "nodename", "localhost" };
    int number = (int) (o - o->swarm->all) * o->swarm->step + o->swarm->first;
    json_t *grains = json_copy((json_t *) o->swarm->grains);
    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set_new(grains, own[i], json_string(o->id));
    json_object_set_new(grains, "fqdn", value_fmt("%s.example.net", o->id));
    json_object_set_new(grains, "fqdns", json_pack("[o]", value_fmt("%s.example.net", o->id)));
    json_object_set_new(grains, "machine_id", value_fmt("%032d", number));
    json_object_set_new(grains, "server_id", json_integer(number));
    json_object_set_new(
        grains, "ipv4",
        json_pack("[s, o]", "127.0.0.1", value_fmt("10.%d.%d.2", number / 256, number % 256)));
    json_object_set_new(grains, "rack", json_integer(number % 100));
    if (number % 10 == 0)
        json_object_set_new(grains, "os", json_string("Rocky"));
    return grains;
}

/* NEW return of a state run. */
static json_t *
s_states(void)
{
    json_t *all = json_object();
    for (int i = 0; i < STATES; i++) {
        AUTO_FREE char *id = xasprintf("/etc/app/conf.d/part-%03d.conf", i);
        AUTO_FREE char *key = xasprintf("file_|-%s_|-%s_|-managed", id, id);
        json_object_set_new(all, key,
                            json_pack("{s:s, s:o, s:{}, s:b, s:s, s:i, s:s, s:f, s:s}", "name", id, "comment",
                                      value_fmt("File %s is in the correct state", id), "changes", "result",
                                      true, "__sls__", "app.config", "__run_num__", i, "start_time",
                                      "10:15:22.481516", "duration", 1.375, "__id__", id));
    }
    return all;
}

/* NEW return of a function. */
static json_t *
s_return(const one_t *o, const char *fun)
{
    static const char *const runs[] = { "state.apply", "state.sls", "state.highstate" };
    if (str_eq(fun, "grains.items") && o->swarm->grains)
        return s_grains(o);
    for (size_t i = 0; i < NELEMS(runs); i++)
        if (str_eq(fun, runs[i])) {
            if (!o->swarm->states)
                o->swarm->states = s_states();
            return json_incref(o->swarm->states);
        }
    return json_true();
}

static void
s_send_ret(one_t *o, json_t *ret)
{
    (void) session_send(o->session, MSG_ret, ret, NULL);
}

static void
s_on_state(void *cookie, session_state_t state, const char *reason)
{
    one_t *o = cookie;
    counts_t *c = &o->swarm->counts;
    const char *jid;
    json_t *ret;
    c->ready += (state == SESSION_READY) - (o->state == SESSION_READY);
    c->pending += (state == SESSION_PENDING) - (o->state == SESSION_PENDING);
    o->state = state;
    if (state != SESSION_READY)
        return;
    if (o->swarm->grains) {
        json_auto_t *body = json_pack("{s:o}", "grains", s_grains(o));
        (void) session_send(o->session, MSG_grains, body, NULL);
    }
    json_object_foreach (o->unacked, jid, ret)
        s_send_ret(o, ret);
}

/* Runs nothing: sends `started` and the return at once. */
static void
s_on_job(void *cookie, json_t *job)
{
    one_t *o = cookie;
    const char *fun = value_str(job, "fun", "");
    json_t *jid = value_get(job, "jid"), *ret = json_object();
    json_auto_t *started = json_object();
    json_object_set(started, "jid", jid);
    json_object_set_new(started, "pid", json_integer(getpid()));
    json_object_set(ret, "jid", jid);
    json_object_set(ret, "fun", value_get(job, "fun"));
    json_object_set(ret, "fun_args", value_get(job, "arg"));
    json_object_set_new(ret, "return", s_return(o, fun));
    json_object_set_new(ret, "retcode", json_integer(0));
    json_object_set(ret, "success", json_true());
    if (strncmp(fun, "state.", 6) == 0)
        json_object_set_new(ret, "out", json_string("highstate"));
    if (!o->unacked)
        o->unacked = json_object();
    json_object_set_new(o->unacked, value_str(job, "jid", ""), ret);
    (void) session_send(o->session, MSG_started, started, NULL);
    s_send_ret(o, ret);
    o->swarm->counts.jobs++;
}

static void
s_on_ack(void *cookie, json_t *jids, json_t *events)
{
    one_t *o = cookie;
    size_t i;
    json_t *jid;
    json_array_foreach (jids, i, jid)
        (void) json_object_del(o->unacked, json_string_value(jid));
    if (json_object_size(o->unacked) == 0) {
        json_decref(o->unacked);
        o->unacked = NULL;
    }
}

static json_t *
s_pending(void *cookie)
{
    one_t *o = cookie;
    json_t *jids = json_array(), *ret;
    const char *jid;
    json_object_foreach (o->unacked, jid, ret)
        json_array_append_new(jids, json_string(jid));
    return jids;
}

/* Watches the sockets that are new. libzmq's descriptors are edge-triggered, so true means that a socket is
 * readable although its descriptor will not signal: a new one, or the first, to which was sent since the last
 * read. */
static bool
s_watch(one_t *o)
{
    void *socks[SESSION_SOCKETS] = { NULL };
    size_t n = session_sockets(o->session, socks);
    bool fresh = memcmp(socks, o->watched, sizeof(socks)) != 0, more = false;
    for (size_t i = 0; i < (fresh || n == 0 ? n : 1); i++) {
        uint64_t place = (uint64_t) (o - o->swarm->all) * SESSION_SOCKETS + i;
        struct epoll_event ev = { .events = EPOLLIN, .data.u64 = place };
        int events = 0;
        size_t len = sizeof(events);
        /* MOD: a descriptor that is watched already may have another place now. */
        int fd = fresh ? sock_fd(socks[i]) : -1;
        if (fresh && epoll_ctl(o->swarm->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
            (void) epoll_ctl(o->swarm->epoll_fd, EPOLL_CTL_MOD, fd, &ev);
        (void) zmq_getsockopt(socks[i], ZMQ_EVENTS, &events, &len);
        more = more || (events & ZMQ_POLLIN);
    }
    memcpy(o->watched, socks, sizeof(socks));
    return more;
}

/* Steps a session until nothing is left to read. `sock`: the socket that was signalled; NULL: any. */
static void
s_step(one_t *o, const void *sock)
{
    int ms;
    do {
        ms = session_step(o->session, sock);
        o->next_ms = clock_mono_ms() + ms;
        sock = NULL;
    } while (s_watch(o) || ms == 0);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* Starts minion `number`; false with *err without its key. */
static bool
s_start_one(swarm_t *self, void *zctx, const place_t *place, int number, fail_t *err)
{
    one_t *o = &self->all[self->n++];
    s_name(o->id, number);
    (void) snprintf(o->boot, sizeof(o->boot), "%d-%d", (int) getpid(), number);
    o->swarm = self;
    o->keys = key_pair_open(place->dir, o->id, NULL, err);
    session_conf_t conf = { .id = o->id,
                            .role = "minion",
                            .boot = o->boot,
                            .host = place->host,
                            .port = place->port,
                            .publish_port = place->publish_port,
                            .hello_port = place->hello_port,
                            .finger = "",
                            .known_key = place->master_key,
                            .keys = o->keys,
                            .seen = o->seen = seen_new(),
                            .no_heartbeat = true,
                            .wait_ms = 1000,
                            .wait_max_ms = 10000 };
    const session_host_t host = {
        .on_state = s_on_state, .on_job = s_on_job, .on_ack = s_on_ack, .pending = s_pending, .cookie = o
    };
    if (!o->keys)
        return false;
    o->session = session_new(zctx, &conf, &host);
    s_step(o, NULL);
    return true;
}

/* Sends this process's counts to the first process when they have changed. */
static void
s_report(swarm_t *self)
{
    if (memcmp(&self->reported, &self->counts, sizeof(self->counts)) == 0)
        return;
    self->reported = self->counts;
    (void) fs_write_all(self->report_fd, &self->counts, sizeof(self->counts));
}

/* A process's loop: steps signalled sessions at once, and those with a timer every TICK_MS. */
static NORETURN void
s_loop(swarm_t *self)
{
    for (int64_t tick = 0;;) {
        struct epoll_event events[256];
        int n = epoll_wait(self->epoll_fd, events, NELEMS(events), TICK_MS);
        for (int i = 0; i < n; i++) {
            one_t *o = &self->all[events[i].data.u64 / SESSION_SOCKETS];
            s_step(o, o->watched[events[i].data.u64 % SESSION_SOCKETS]);
        }
        int64_t now = clock_mono_ms();
        if (now < tick)
            continue;
        tick = now + TICK_MS;
        for (int i = 0; i < self->n; i++)
            if (self->all[i].next_ms <= now)
                s_step(&self->all[i], NULL);
        s_report(self);
    }
}

/* A child's main function: minions first, first + procs, ... up to total. */
static int
s_child(const place_t *place, int first, int total, int procs, int report_fd)
{
    fail_auto_t err = FAIL_INIT;
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    swarm_t self = { .grains = place->grains,
                     .first = first,
                     .step = procs,
                     .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                     .report_fd = report_fd };
    void *zctx = zmq_ctx_new();
    (void) zmq_ctx_set(zctx, ZMQ_MAX_SOCKETS, zmq_ctx_get(zctx, ZMQ_SOCKET_LIMIT));
    (void) daemon_raise_files(1L << 20);
    self.all = xcalloc((size_t) (total / procs + 1), sizeof(one_t));
    for (int i = first; i < total; i += procs)
        if (!s_start_one(&self, zctx, place, i, &err))
            return s_die(&err);
    s_loop(&self);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static volatile sig_atomic_t stop;

static void
s_on_signal(int sig)
{
    stop = 1;
}

/* Adds up the children's counts and prints them, until a signal or a child's end. */
static void
s_watch_children(int procs, const int *fds)
{
    counts_t each[PROCS_MAX] = { 0 };
    while (!stop) {
        struct pollfd p[PROCS_MAX];
        counts_t sum = { 0 };
        for (int i = 0; i < procs; i++)
            p[i] = (struct pollfd){ fds[i], POLLIN, 0 };
        if (poll(p, (nfds_t) procs, -1) < 0)
            continue;
        for (int i = 0; i < procs; i++) {
            if ((p[i].revents & POLLIN) &&
                read(fds[i], &each[i], sizeof(each[i])) != (ssize_t) sizeof(each[i]))
                stop = 1;
            else if (!(p[i].revents & POLLIN) && p[i].revents)
                stop = 1;
            sum.ready += each[i].ready;
            sum.pending += each[i].pending;
            sum.jobs += each[i].jobs;
        }
        (void) printf("{\"ready\": %d, \"pending\": %d, \"jobs\": %d}\n", sum.ready, sum.pending, sum.jobs);
        (void) fflush(stdout);
    }
}

static int
s_run(int n, int procs, const place_t *place)
{
    int fds[PROCS_MAX];
    pid_t pids[PROCS_MAX];
    if (n < 1 || procs < 1 || procs > PROCS_MAX)
        return 2;
    (void) signal(SIGTERM, s_on_signal);
    (void) signal(SIGINT, s_on_signal);
    for (int i = 0; i < procs; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0 || (pids[i] = fork()) < 0)
            return 1;
        if (pids[i] == 0)
            _exit(s_child(place, i, n, procs, ends[1]));
        (void) close(ends[1]);
        fds[i] = ends[0];
    }
    s_watch_children(procs, fds);
    for (int i = 0; i < procs; i++)
        (void) kill(pids[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int
s_number(const char *text)
{
    long long v = 0;
    return str_to_int(text, 0, 1000000, &v) ? (int) v : -1;
}

static int
s_main_run(char **argv)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t pem = BUF_INIT;
    AUTO_FREE char *path = fs_join(argv[5], "master.pub");
    place_t place = { .dir = argv[4],
                      .host = argv[6],
                      .port = s_number(argv[7]),
                      .publish_port = s_number(argv[8]),
                      .hello_port = s_number(argv[9]) };
    if (fs_read(path, LIMIT_KEY_FILE, &pem, &err) < 0 ||
        key_public_from_pem(buf_str(&pem), pem.len, place.master_key, &err) < 0)
        return s_die(&err);
    json_auto_t *grains = argv[10] ? json_load_file(argv[10], 0, NULL) : NULL;
    if (argv[10] && !json_is_object(grains)) {
        (void) fprintf(stderr, "swarm: %s: no grains\n", argv[10]);
        return 1;
    }
    place.grains = grains;
    return s_run(s_number(argv[2]), s_number(argv[3]), &place);
}

int
main(int argc, char **argv)
{
    log_init("swarm", LEVEL_ERROR, false);
    if ((argc == 4 || argc == 5) && str_eq(argv[1], "keys"))
        return s_keys(s_number(argv[2]), argv[3], argc == 5 ? argv[4] : NULL);
    if ((argc == 10 || argc == 11) && str_eq(argv[1], "run"))
        return s_main_run(argv);
    (void) fprintf(stderr, "usage: swarm keys N KEYDIR [PKI] | swarm run N PROCS KEYDIR PKI HOST PORT "
                           "PUBPORT HELLOPORT [GRAINS]\n");
    return 2;
}
