/* pillar_local.c - see pillar_local.h. The compiler is common/pillar's, the same as the master's. */
#include "minion/parts/pillar_local.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/pillar/pillar.h"
#include "common/pillar/tops.h"
#include "salt/log.h"
#include "salt/value.h"

bool
pillar_is_local(const json_t *opts)
{
    if (str_eq(value_str(opts, "file_client", ""), "local"))
        return !value_bool(opts, "use_master_when_local", false);
    return str_eq(value_str(opts, "master_type", ""), "disable");
}

json_t *
pillar_ask_complete(const json_t *opts, const json_t *ask)
{
    static const char *const envs[] = { "saltenv", "pillarenv" };
    json_t *out = ask != NULL ? json_copy((json_t *) ask) : json_object();
    for (size_t i = 0; i < NELEMS(envs); i++) {
        const char *configured = value_str(opts, envs[i], NULL);
        if (value_str(out, envs[i], NULL) == NULL && configured != NULL)
            json_object_set_new(out, envs[i], json_string(configured));
        else if (value_str(out, envs[i], NULL) == NULL)
            json_object_del(out, envs[i]);
    }
    return out;
}

struct py *
pillar_local(json_t *opts, registry_t *registry, const char *id, json_t *grains, json_t *ask,
             struct py *known, fail_t *err)
{
    pillar_env_t env = { .opts = opts, .registry = registry, .id = id, .grains = grains, .known = known };
    json_auto_t *whole = pillar_ask_complete(opts, ask);
    pillar_env_ask(&env, whole);
    int64_t begin_us = clock_mono_us();
    struct py *pillar = pillar_compile(&env, err);
    log_debug("pillar of %s: %s here in %.6f s", id, pillar != NULL ? "compiled" : "did not compile",
              (double) (clock_mono_us() - begin_us) / 1e6);
    py_unref(env.override);
    return pillar;
}

json_t *
tops_local(json_t *opts, registry_t *registry, const char *id, json_t *grains, const char *saltenv)
{
    pillar_env_t env = { .opts = opts, .registry = registry, .id = id, .grains = grains, .saltenv = saltenv };
    return tops_find(&env);
}
