/* main_api.c - salt-api: command line, configuration, wiring; then the loop. */
#include <signal.h>
#include <unistd.h>

#include "api/api.h"
#include "api/guesses.h"
#include "api/http.h"
#include "api/hub.h"
#include "api/line.h"
#include "api/low.h"
#include "api/opts.h"
#include "api/route.h"
#include "api/stats.h"
#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/memory.h"
#include "common/base/notify.h"
#include "common/cli/complete.h"
#include "common/conf/startup.h"
#include "salt/log.h"
#include "salt/value.h"

enum { SECOND_MS = 1000, SWEEP_S = 60 };

/* The API, and what metrics_port shows; each has its own server. */
typedef struct program {
    api_t api, metrics; /* `set` NULL: there is none */
} program_t;

typedef struct signals {
    watch_t watch;
    program_t *program;
    bool end;
} signals_t;

static void
signals_ready(void *cookie, uint32_t events)
{
    signals_t *self = cookie;
    int signo;

    while ((signo = daemon_next_signal(self->watch.fd)) != 0) {
        if (signo == SIGTERM || signo == SIGINT)
            self->end = true;
        if (signo == SIGHUP) {
            log_reopen();
            if (self->program->api.http != NULL)
                http_reload(self->program->api.http);
        }
    }
}

/* One server's share of a turn: what takes too long, and what libmicrohttpd has to do. */
static void
api_turn(const api_t *api, bool second, int64_t now_ms, int *ret_wait)
{
    if (api->http == NULL)
        return;
    if (second)
        http_tick(api->http, now_ms);
    int wait = http_turn(api->http);
    if (wait >= 0 && wait < *ret_wait)
        *ret_wait = wait;
}

/* Says what `systemctl status` shows. */
static void
program_status(const program_t *self)
{
    const api_t *api = self->api.http != NULL ? &self->api : &self->metrics;

    if (!notify_heard())
        return;
    notify_status("%zu connections, %zu log-ins, %zu streams of events; port %d at %s%s",
                  http_connections(api->http), sessions_count(api->sessions), hubs_listeners(api->hubs),
                  (int) value_int(api->set->rest, "port", 0), settings_str(api->set, "host"),
                  api->set->tls ? ", with TLS" : "");
}

/* Until a signal ends it. 0, or a negative errno. */
static int
api_loop(program_t *self, signals_t *signals)
{
    int64_t second_ms = 0, sweep_ms = 0;
    int rc = 0;

    while (rc == 0 && !signals->end) {
        int64_t now_ms = clock_mono_ms();
        bool second = now_ms - second_ms >= SECOND_MS;
        int wait = SECOND_MS;
        if (second)
            second_ms = now_ms;
        if (now_ms - sweep_ms >= (int64_t) SWEEP_S * SECOND_MS) {
            sweep_ms = now_ms;
            sessions_sweep(self->api.sessions, api_now());
        }
        lines_turn();
        low_tick(now_ms, &wait);
        hubs_turn(self->api.hubs, now_ms, &wait);
        api_turn(&self->api, second, now_ms, &wait);
        api_turn(&self->metrics, second, now_ms, &wait);
        if (second)
            program_status(self);
        notify_turn(now_ms);
        rc = poller_turn(self->api.poller, wait);
    }
    return rc;
}

/* 0, or a negative errno with *err. */
static int
api_listen(api_t *api, fail_t *err)
{
    if (api->set == NULL)
        return 0;
    (void) daemon_raise_files(value_int(api->set->rest, "connections", 0) * 2 + 64);
    if ((api->http = http_new(api, err)) == NULL)
        return err->code;
    log_info("salt-api listens on %s, port %d%s", settings_str(api->set, "host"),
             (int) value_int(api->set->rest, "port", 0), api->set->tls ? ", with TLS" : "");
    return 0;
}

/* Listens, then becomes `user` and serves. */
static int
program_serve(program_t *self, const conf_t *conf, fail_t *err)
{
    signals_t signals = { .watch = { -1, signals_ready, &signals }, .program = self };

    if ((self->api.poller = poller_new(err)) == NULL)
        return err->code;
    /* The server of metrics shows the figures of the API: both have the same tables. */
    api_t *api = &self->api;
    api->sessions = sessions_new();
    api->guesses = guesses_new();
    api->stats = stats_new();
    api->hubs = hubs_new(api);
    self->metrics.poller = api->poller;
    self->metrics.sessions = api->sessions;
    self->metrics.guesses = api->guesses;
    self->metrics.stats = api->stats;
    self->metrics.hubs = api->hubs;
    int rc = api_listen(&self->api, err);
    if (rc == 0)
        rc = api_listen(&self->metrics, err);
    if (rc == 0)
        rc = daemon_user(conf_str(conf, "user"), err);
    if (rc == 0) {
        daemon_hide();
        rc = signals.watch.fd = daemon_signals(false, err);
    }
    if (rc >= 0)
        rc = poller_add(self->api.poller, &signals.watch, EPOLLIN);
    if (rc == 0) {
        daemon_ready();
        rc = api_loop(self, &signals);
        notify_stopping();
    }
    /* Streams end first, and the server has a turn to say so; then the tables that they used. */
    hubs_end(api->hubs);
    if (api->http != NULL)
        (void) http_turn(api->http);
    http_destroy(&api->http);
    http_destroy(&self->metrics.http);
    hubs_destroy(&api->hubs);
    sessions_destroy(&api->sessions);
    guesses_destroy(&api->guesses);
    free(api->stats);
    lines_end();
    if (signals.watch.fd >= 0)
        (void) close(signals.watch.fd);
    poller_destroy(&self->api.poller);
    return rc;
}

static int
api_fail(const fail_t *err)
{
    log_critical("%s", fail_text(err));
    return EXIT_FAILURE;
}

/* The master's configuration names files of its own for this program. */
static void
api_overrides(const char *dir, json_t *overrides)
{
    AUTO(conf) conf = conf_load(dir, CONF_MASTER, overrides, NULL, NULL);
    static const struct {
        const char *option, *own;
    } names[] = { { "log_file", "api_logfile" }, { "pidfile", "api_pidfile" }, { "user", "api_user" } };

    for (size_t i = 0; conf != NULL && i < NELEMS(names); i++)
        if (value_get(overrides, names[i].option) == NULL)
            json_object_set_new(overrides, names[i].option, json_string(conf_str(conf, names[i].own)));
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    opt_result_t opts = { 0 };

    memory_begin();
    if (complete_asked(argc, argv))
        return complete_options(&opts_api, argc, argv);
    daemon_stdio();
    notify_begin();
    tzset();
    int code = optparse_run(&opts_api, argc, argv, &opts);
    if (code >= 0) {
        opt_result_free(&opts);
        return code;
    }
    AUTO_FREE char *dir = startup_conf_dir(opts.values);
    json_auto_t *overrides = startup_overrides(opts.values), *warnings = json_array();
    api_overrides(dir, overrides);
    AUTO(conf) conf = startup_conf("salt-api", dir, CONF_MASTER, overrides, &err);
    bool background = value_bool(opts.values, "daemon", false);
    opt_result_free(&opts);
    AUTO(settings) figures = conf != NULL ? settings_metrics(conf_opts(conf)) : NULL;
    bool only_figures = figures != NULL && !(json_object_size(conf_get(conf, "rest_cherrypy")) > 0 ||
                                             json_object_size(conf_get(conf, "rest_tornado")) > 0);
    AUTO(settings) set = conf != NULL && !only_figures ? settings_new(conf_opts(conf), warnings, &err) : NULL;
    size_t i;
    json_t *warning;
    json_array_foreach (warnings, i, warning)
        log_warning("%s", json_string_value(warning));
    if ((set == NULL && !only_figures) || (background && daemon_background(&err) < 0))
        return api_fail(&err);
    AUTO_FREE char *pid_file = xstrdup(conf_str(conf, "pidfile"));
    if (daemon_pid_file(pid_file, &err) < 0)
        return api_fail(&err);
    program_t program = {
        .api = { .set = set,
                 .sock_dir = conf_str(conf, "sock_dir"),
                 .routes = route_table,
                 .clients = low_clients },
        .metrics = { .set = figures,
                     .sock_dir = conf_str(conf, "sock_dir"),
                     .routes = route_table_metrics,
                     .clients = low_clients },
    };
    int rc = program_serve(&program, conf, &err);
    daemon_pid_remove(pid_file);
    return rc < 0 ? api_fail(&err) : EXIT_SUCCESS;
}
