/* main_master.c - salt-master: command line, configuration, tables; then the front loop. */
#include <pthread.h>
#include <unistd.h>

#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/notify.h"
#include "common/host/proc.h"
#include "common/cli/complete.h"
#include "common/cli/optparse.h"
#include "common/cli/ttyguard.h"
#include "common/conf/startup.h"
#include "master/front/front.h"
#include "master/opts.h"
#include "plugins/builtin.h"
#include "minion/grains_set.h"
#include "salt/log.h"
#include "salt/value.h"

static int
master_main_master_fail(const fail_t *err)
{
    log_critical("%s", fail_text(err));
    return 1;
}

/* NEW copy of this host's grains, which are gathered once; runners' threads may ask at the same time. */
static json_t *
master_main_master_grains(json_t *opts)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static json_t *found;
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_GRAIN, &n);
    (void) pthread_mutex_lock(&lock);
    if (found == NULL) {
        found = json_object();
        grains_collect(rows, n, GRAIN_CHEAP, "", opts, found);
        grains_collect(rows, n, GRAIN_SLOW, "", opts, found);
        grains_finish(opts, found);
    }
    json_t *copy = json_deep_copy(found);
    (void) pthread_mutex_unlock(&lock);
    return copy;
}

/* Build the registries of plug-ins and run the front loop. When a thread still uses them at the end, the
 * process exits without freeing anything. */
static int
master_main_master_serve(conf_t **conf_p, const char *dir, json_t *overrides, const char *pid_file,
                         fail_t *err)
{
    size_t n_runners, n_wheels, n_modules, n_states, n_returners;
    const plugin_t *const *runner_rows = builtin_plugins(PLUGIN_RUNNER, &n_runners);
    const plugin_t *const *wheel_rows = builtin_plugins(PLUGIN_WHEEL, &n_wheels);
    AUTO(registry) runners = registry_new(PLUGIN_RUNNER, runner_rows, n_runners);
    AUTO(registry) wheels = registry_new(PLUGIN_WHEEL, wheel_rows, n_wheels);
    const plugin_t *const *module_rows = builtin_plugins(PLUGIN_EXEC, &n_modules);
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, module_rows, n_modules);
    const plugin_t *const *state_rows = builtin_plugins(PLUGIN_STATE, &n_states);
    AUTO(registry) states = registry_new(PLUGIN_STATE, state_rows, n_states);
    const plugin_t *const *returner_rows = builtin_plugins(PLUGIN_RETURNER, &n_returners);
    AUTO(registry) returners = registry_built_in(PLUGIN_RETURNER, returner_rows, n_returners);
    const masterctx_tables_t host = { .modules = modules,
                                      .states = states,
                                      .runners = runners,
                                      .returners = returners,
                                      .grains = master_main_master_grains };
    front_t *front = front_new(conf_p, dir, overrides, runners, wheels, &host, err);
    int code = front != NULL ? front_run(front) : master_main_master_fail(err);
    bool ended = front_destroy(&front);
    daemon_pid_remove(pid_file);
    if (!ended) {
        proc_end_all(); /* processes that work started, with their children: exiting would leave them */
        _exit(code);
    }
    return code;
}

/* Order matters: completion answers before anything is set up; configuration is read as root, then the pid
 * file and folders are made, and only then privileges are dropped. */
int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    opt_result_t opts = { 0 };
    memory_begin();
    ttyguard_begin();
    if (complete_asked(argc, argv))
        return complete_options(&opts_master, argc, argv);
    daemon_stdio();
    notify_begin();
    tzset(); /* time zone names are made on first use: before there are threads */
    int code = optparse_run(&opts_master, argc, argv, &opts);
    if (code >= 0) {
        opt_result_free(&opts);
        return code;
    }
    AUTO_FREE char *dir = startup_conf_dir(opts.values);
    json_auto_t *overrides = startup_overrides(opts.values);
    AUTO(conf) conf = startup_conf("salt-master", dir, CONF_MASTER, overrides, &err);
    bool background = value_bool(opts.values, "daemon", false);
    opt_result_free(&opts);
    if (conf == NULL || (background && daemon_background(&err) < 0))
        return master_main_master_fail(&err);
    AUTO_FREE char *pid_file = xstrdup(conf_str(conf, "pidfile"));
    if (daemon_pid_file(pid_file, &err) < 0)
        return master_main_master_fail(&err);
    if (startup_folders(conf, CONF_MASTER, true, &err) < 0 || daemon_user(conf_str(conf, "user"), &err) < 0) {
        daemon_pid_remove(pid_file);
        return master_main_master_fail(&err);
    }
    daemon_hide();
    return master_main_master_serve(&conf, dir, overrides, pid_file, &err);
}
