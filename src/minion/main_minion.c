/* main_minion.c - salt-minion: command line, configuration, pid file, checks; then the job server.
 *
 * Everything that can fail for a reason that the operator must know is tried before the job server starts.
 * main() also returns in the forked networking process (`owner` is false there), which must not remove the
 * pid file. A restart that a job asked for is an exec of the same binary with the same pid.
 */
#include <unistd.h>

#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/notify.h"
#include "common/cli/complete.h"
#include "common/cli/optparse.h"
#include "common/cli/ttyguard.h"
#include "common/conf/startup.h"
#include "common/crypto/keys.h"
#include "common/crypto/saltpki.h"
#include "minion/grains_set.h"
#include "minion/jobs/jobserver.h"
#include "uplink/masters.h"
#include "minion/opts.h"
#include "minion/parts/parts.h"
#include "uplink/sessions.h"
#include "plugins/builtin.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

static int
main_minion_fail(const fail_t *err)
{
    log_critical("%s", fail_text(err));
    return 1;
}

/* Creates folders, changes to the configured user and makes the process undumpable, before anything runs. */
static int
main_minion_prepare(const conf_t *conf, fail_t *err)
{
    if (startup_folders(conf, CONF_MINION, true, err) < 0 || daemon_user(conf_str(conf, "user"), err) < 0)
        return err->code;
    daemon_hide();

    /* Tries what the networking process will need, here, where an error still reaches the terminal:
     * descriptors, masters, id, key. */
    bool made = false;
    if (daemon_need_files(LIMIT_MINION_FILES, err) < 0)
        return err->code;
    json_auto_t *masters = masters_parse(conf, err);
    const char *pki = conf_str(conf, "pki_dir");
    if (masters == NULL || !conf_id_valid(conf_str(conf, "id"), err) || fs_own_dir(pki, 0700, err) < 0)
        return err->code;
    AUTO_FREE char *of_salt = NULL;
    int rc = saltpki_set_aside(pki, &of_salt, err);
    if (of_salt != NULL)
        log_warning("%s", of_salt);
    AUTO(key_pair) keys = rc == 0 ? key_pair_open(pki, "minion", &made, err) : NULL;
    if (keys == NULL)
        return err->code;
    char finger[FINGER_LEN];
    key_finger(key_pair_public(keys), finger);
    if (json_array_size(masters) == 0)
        log_info("master_type is disable: this minion has no master");
    grains_check_file(conf_opts(conf));
    log_info("minion %s: %s key, fingerprint %s", conf_str(conf, "id"), made ? "new" : "its", finger);
    return 0;
}

/* Runs the job server until it ends. *ret_owner: false in the networking process. *ret_again: start again. */
static int
main_minion_serve(conf_t **conf_p, const char *dir, json_t *overrides, bool *ret_owner, bool *ret_again,
                  fail_t *err)
{
    size_t n_exec, n_states, n_grains, n_beacons, n_returners;
    const plugin_t *const *exec_rows = builtin_plugins(PLUGIN_EXEC, &n_exec);
    const plugin_t *const *state_rows = builtin_plugins(PLUGIN_STATE, &n_states);
    const plugin_t *const *grain_rows = builtin_plugins(PLUGIN_GRAIN, &n_grains);
    const plugin_t *const *beacon_rows = builtin_plugins(PLUGIN_BEACON, &n_beacons);
    AUTO(registry) exec = registry_new(PLUGIN_EXEC, exec_rows, n_exec);
    AUTO(registry) states = registry_new(PLUGIN_STATE, state_rows, n_states);
    const plugin_t *const *returner_rows = builtin_plugins(PLUGIN_RETURNER, &n_returners);
    AUTO(registry) returners = registry_built_in(PLUGIN_RETURNER, returner_rows, n_returners);
    const jobserver_tables_t tables = { exec,        states,    grain_rows,   n_grains,
                                        beacon_rows, n_beacons, minion_parts, returners };
    AUTO(jobserver) server = jobserver_new(conf_p, dir, overrides, &tables, err);
    if (server == NULL)
        return main_minion_fail(err);
    int code = jobserver_run(server);
    *ret_owner = !server->in_session;
    *ret_again = *ret_owner && server->ending == JOBSERVER_RESTART;
    return code;
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    opt_result_t opts = { 0 };
    memory_begin();
    ttyguard_begin();
    if (complete_asked(argc, argv))
        return complete_options(&opts_minion, argc, argv);
    daemon_stdio();
    notify_begin();
    int code = optparse_run(&opts_minion, argc, argv, &opts);
    if (code >= 0) {
        opt_result_free(&opts);
        return code;
    }
    AUTO_FREE char *dir = startup_conf_dir(opts.values);
    json_auto_t *overrides = startup_overrides(opts.values);
    AUTO(conf) conf = startup_conf("salt-minion", dir, CONF_MINION, overrides, &err);
    bool background = value_bool(opts.values, "daemon", false);
    opt_result_free(&opts);
    if (conf == NULL || (background && daemon_background(&err) < 0))
        return main_minion_fail(&err);
    AUTO_FREE char *pid_file = xstrdup(conf_str(conf, "pidfile"));
    if (daemon_pid_file(pid_file, &err) < 0)
        return main_minion_fail(&err);
    if (main_minion_prepare(conf, &err) < 0) {
        daemon_pid_remove(pid_file);
        return main_minion_fail(&err);
    }
    bool owner = true, again = false;
    code = main_minion_serve(&conf, dir, overrides, &owner, &again, &err);
    if (owner)
        daemon_pid_remove(pid_file);
    if (again) {
        notify_again();
        (void) execv("/proc/self/exe", argv);
        log_critical("the minion can't start itself again: %s", strerror(errno));
        return 1;
    }
    return code;
}
