/* postgres_cluster.c - state module `postgres_cluster`: Debian's clusters of PostgreSQL, by
 * pg_createcluster(1) and its kin. Port and folder of data of a cluster that is there are compared and never
 * changed: other ones fail the state. */
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/pgrows.h"

/* "VERSION/NAME"; a version in YAML may be a number. NEW. */
static char *
cluster_key(const json_t *args)
{
    AUTO_FREE char *version = value_pystr(value_get(args, "version"));

    return xasprintf("%s/%s", version, value_str(args, "name", ""));
}

/* Also the arguments that are not compared go to the new cluster. */
static int
postgres_cluster_present_in(dbstate_t *s)
{
    static const char *const names[] = {
        "version",        "name",       "port", "encoding", "locale", "datadir", "allow_group_access",
        "data_checksums", "wal_segsize"
    };
    AUTO_FREE char *key = cluster_key(s->args), *port = value_pystr(value_get(s->args, "port"));
    json_auto_t *all = dbstate_call(s, "postgres.cluster_list", "{s:b}", "verbose", 1);
    json_t *there = value_get(all, key);
    const char *datadir = value_str(s->args, "datadir", "");

    if (all == NULL)
        return s->err->code;
    if (there != NULL) {
        AUTO_FREE char *has = value_pystr(value_get(there, "port"));
        bool same = (!value_truthy(value_get(s->args, "port")) || strcmp(has, port) == 0) &&
                    (*datadir == '\0' || strcmp(datadir, value_str(there, "datadir", "")) == 0);
        return same ? state_ret_set(s->ret, STATE_TRUE, "Cluster %s is already present", key)
                    : state_ret_set(s->ret, STATE_FALSE,
                                    "Cluster %s has wrong parameters which couldn't be changed on fly.", key);
    }
    if (!ctx_test(s->ctx)) {
        json_auto_t *call = json_object();
        for (size_t i = 0; i < NELEMS(names); i++)
            json_object_set(call, names[i], value_get(s->args, names[i]));
        int done = dbstate_ask_with(s, "postgres.cluster_create", call);
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to create cluster %s", key);
    }
    state_change(s->ret, key, json_string("Present"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "Cluster %s is set to be created", key)
                            : state_ret_set(s->ret, STATE_TRUE, "The cluster %s has been created", key);
}

/* A cluster of Debian's tools: version and name. It is stopped first. */
static int
postgres_cluster_absent_in(dbstate_t *s)
{
    AUTO_FREE char *key = cluster_key(s->args);
    const char *name = value_str(s->args, "name", "");
    json_t *version = value_get(s->args, "version");
    int there = dbstate_ask(s, "postgres.cluster_exists", "{s:O, s:s}", "version", version, "name", name);

    if (there < 0)
        return there;
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE, "Cluster %s is not present, so it cannot be removed", key);
    if (!ctx_test(s->ctx)) {
        json_auto_t *ran = dbstate_call(s, "postgres.cluster_remove", "{s:O, s:s, s:b}", "version", version,
                                        "name", name, "stop", 1);
        if (ran == NULL)
            return s->err->code;
        if (value_int(ran, "retcode", 1) != 0)
            return state_ret_set(s->ret, STATE_FALSE, "Cluster %s failed to be removed", key);
    }
    state_change(s->ret, name, json_string("Absent"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "Cluster %s is set to be removed", key)
                            : state_ret_set(s->ret, STATE_TRUE, "Cluster %s has been removed", key);
}

static int
cluster_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s = { .ctx = ctx, .args = args, .ret = *ret_value = state_ret_args(args), .err = err };

    s.access = json_object();
    int rc = ctx_row(ctx)->data.number ? postgres_cluster_present_in(&s) : postgres_cluster_absent_in(&s);
    return dbstate_end(&s, rc);
}

#define CLUSTER_ROWS ARG("version", ARG_ANY, ARG_REQUIRED, "Version of PostgreSQL"), PG_ROW_NAME("cluster")

static const arg_t present_args[] = { CLUSTER_ROWS, PG_ROWS_CLUSTER, ARGS_END };
static const arg_t absent_args[] = { CLUSTER_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "absent", cluster_run, absent_args, 0, "The cluster is not there.", .data.number = 0 },
    { "present", cluster_run, present_args, 0, "The cluster is there.", .data.number = 1 },
};

PLUGIN(state, postgres_cluster, .doc = "Debian's clusters of PostgreSQL", FUNCS(funcs));
