/* front.c - the master's start, loop and end. front_new makes the event loop (zloop) and starts the parts in
 * the order of parts.def; front_run turns the loop until a signal; front_destroy ends the parts in reverse. A
 * timer of 100 ms drives the parts' ticks; SIGHUP reloads. */
#include "master/front/front.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/notify.h"
#include "common/base/str.h"
#include "common/conf/sourcenames.h"
#include "common/conf/startup.h"
#include "common/python/userfile.h"
#include "master/minions/secretmem.h"
#include "master/front/part.h"
#include "master/front/parts.h"
#include "salt/log.h"

#define TICK_MS     100
#define LARGE_BYTES (1024 * 1024)

static const front_part_t *const parts[PARTS] = {
#define PART(name) [PART_##name] = &part_##name,
#include "master/front/parts.def"
#undef PART
};

/* front_t with members of this file alone around it. */
typedef struct master {
    front_t front;
    char *conf_dir;
    json_t *overrides; /* of the command line, for a reload */
    int signal_fd;
} master_t;

static master_t *
front_master(front_t *front)
{
    return (master_t *) front; /* front is the first member */
}

/* ---- the configuration, signals -------------------------------------------------------------- */

/* Salt tells of a misspelled name when somebody logs in or asks for a pillar. Only an interpreter knows the
 * names that installed distributions bring: none is told where there is one. */
static void
warn_of_names(const json_t *opts)
{
    json_auto_t *unknown = userfile_extended(opts) ? NULL : sourcenames_unknown(opts);
    json_t *one;
    size_t i;

    json_array_foreach (unknown, i, one)
        log_warning("%s", json_string_value(one));
}

/* Replace the configuration. An invalid one leaves the former in force. */
static void
front_reload(front_t *self)
{
    fail_auto_t err = FAIL_INIT;
    master_t *master = front_master(self);
    conf_t *fresh = startup_reload(self->conf, master->conf_dir, CONF_MASTER, master->overrides, &err);
    if (fresh == NULL) {
        log_error("reload: the old configuration stays: %s", fail_text(&err));
        return;
    }
    conf_destroy(&self->conf);
    self->conf = fresh;
    self->opts = conf_opts(fresh);
    warn_of_names(self->opts);
    parts_reload(self);
}

/* Signals arrive through a signalfd, so that handlers run on the loop. -1 ends the loop. */
static int
front_signal(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    int sig;
    while ((sig = daemon_next_signal(item->fd)) != 0) {
        if (sig == SIGHUP) {
            front_reload(self);
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

static int
front_tick(zloop_t *loop, int timer, void *arg)
{
    front_t *self = arg;
    int64_t now = clock_mono_ms();
    notify_turn(now);
    parts_tick(self, now);
    return self->stop ? -1 : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
front_start(front_t *self, fail_t *err)
{
    self->max_files = daemon_raise_files((long) conf_int(self->conf, "max_open_files"));
    if (daemon_need_files(LIMIT_MASTER_FILES, err) < 0)
        return err->code;
    zmq_pollitem_t signals = { NULL, daemon_signals(false, err), ZMQ_POLLIN, 0 };
    front_master(self)->signal_fd = signals.fd;
    if (signals.fd < 0)
        return signals.fd;
    /* Map large messages individually, so that their memory returns to the system; glibc would raise the
     * threshold with each and keep more. */
    (void) mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    secretmem_open();
    zsys_handler_set(NULL);
    zsys_set_max_sockets(0);
    self->zctx = zsys_init();
    self->loop = zloop_new();
    zloop_set_nonstop(self->loop, true);
    (void) zloop_poller(self->loop, &signals, front_signal, self);
    zloop_poller_set_tolerant(self->loop, &signals);
    (void) zloop_timer(self->loop, TICK_MS, 0, front_tick, self);
    warn_of_names(self->opts);
    return parts_start(self, err);
}

/* A failed start is undone by front_destroy, which ends the parts that have started. */
front_t *
front_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, registry_t *runners, registry_t *wheels,
          const masterctx_tables_t *host, fail_t *err)
{
    master_t *master = xcalloc(1, sizeof(*master));
    front_t *self = &master->front;
    master->conf_dir = xstrdup(conf_dir);
    master->overrides = json_incref(overrides);
    master->signal_fd = -1;
    self->parts = parts;
    self->n_parts = PARTS;
    self->conf = STEAL(*conf_p);
    self->opts = conf_opts(self->conf);
    self->runners = runners;
    self->wheels = wheels;
    self->host = host;
    self->modules = host != NULL ? host->modules : NULL;
    self->started_ms = clock_mono_ms();
    if (front_start(self, err) < 0)
        front_destroy(&self);
    return self;
}

/* czmq is shut down only when no thread is left that uses it. */
bool
front_destroy(front_t **self_p)
{
    front_t *self = STEAL(*self_p);
    if (self == NULL)
        return true;
    master_t *master = front_master(self);
    bool ended = parts_end(self);
    zloop_destroy(&self->loop);
    free(master->conf_dir);
    json_decref(master->overrides);
    conf_destroy(&self->conf);
    if (master->signal_fd >= 0)
        (void) close(master->signal_fd);
    free(master);
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
    while (!self->stop)
        if (zloop_start(self->loop) == 0 && zsys_interrupted)
            break;
    return self->exit_code;
}
