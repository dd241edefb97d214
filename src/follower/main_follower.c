/* main_follower.c - salt-follower: follows the master's journal for one returner. salt-master starts it, with
 * one argument: {"conf": folder, "kind", "returner", "since", "overrides"}. */
#include <sys/resource.h>

#include "common/base/daemon.h"
#include "common/base/memory.h"
#include "common/conf/startup.h"
#include "common/local/client.h"
#include "common/masterctx/masterctx.h"
#include "follower/follow.h"
#include "minion/grains_set.h"
#include "plugins/builtin.h"
#include "salt/log.h"
#include "salt/value.h"

enum { ARGUMENT_MAX = 64 * 1024 };

static json_t *
main_follower_grains(json_t *opts)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_GRAIN, &n);
    json_t *found = json_object();

    grains_collect(rows, n, GRAIN_CHEAP, "", opts, found);
    grains_finish(opts, found);
    return found;
}

/* Fires an event of a returner, by a connection of its own. */
static int
main_follower_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    local_client_t *line = local_connect(value_str(cookie, "sock_dir", ""), err);
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    json_auto_t *reply = NULL;
    int rc = line != NULL ? local_call(line, &request, &reply, err) : err->code;

    json_decref(request);
    local_client_destroy(&line);
    return rc;
}

static int
main_follower_serve(json_t *opts, const json_t *told, fail_t *err)
{
    size_t n_exec, n_returners;
    const plugin_t *const *exec_rows = builtin_plugins(PLUGIN_EXEC, &n_exec);
    const plugin_t *const *returner_rows = builtin_plugins(PLUGIN_RETURNER, &n_returners);
    AUTO(registry) exec = registry_new(PLUGIN_EXEC, exec_rows, n_exec);
    AUTO(registry) returners = registry_built_in(PLUGIN_RETURNER, returner_rows, n_returners);
    const masterctx_tables_t tables = { .modules = exec,
                                        .returners = returners,
                                        .grains = main_follower_grains };
    const masterctx_env_t env = {
        .tables = &tables, .opts = opts, .jid = "", .fire = main_follower_fire, .cookie = opts
    };
    AUTO_FREE char *name = xasprintf("%s.%s", value_str(told, "kind", ""), value_str(told, "returner", ""));
    const follow_spec_t spec = { .kind = value_str(told, "kind", ""),
                                 .returner = value_str(told, "returner", ""),
                                 .name = name,
                                 .since = (uint64_t) value_int(told, "since", 0),
                                 .opts = opts };
    AUTO(masterctx) host = masterctx_new(&env);
    int rc = follow_run(masterctx_ctx(host), &spec, err);

    log_critical("follower %s: %s", name, fail_text(err));
    return rc < 0 ? 1 : 0;
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;

    memory_begin();
    daemon_stdio();
    json_auto_t *told = argc == 2 ? value_parse(argv[1], strlen(argv[1]), ARGUMENT_MAX, "the argument", &err)
                                  : NULL;
    if (told == NULL) {
        (void) fprintf(stderr,
                       "salt-follower: salt-master starts it, for event_return and master_job_cache: %s\n",
                       fail_text(&err));
        return 64;
    }
    AUTO(conf)
    conf = startup_conf("salt-follower", value_str(told, "conf", ""), CONF_MASTER,
                        value_get(told, "overrides"), &err);
    if (conf == NULL) {
        log_critical("%s", fail_text(&err));
        return 1;
    }
    int nice = (int) value_int(conf_opts(conf), "event_return_niceness", 0);
    if (nice != 0 && setpriority(PRIO_PROCESS, 0, nice) != 0)
        log_warning("event_return_niceness %d: %s", nice, strerror(errno));
    return main_follower_serve(conf_opts(conf), told, &err);
}
