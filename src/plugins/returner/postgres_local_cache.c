/* postgres_local_cache.c - returner `postgres_local_cache`: a master's job cache in PostgreSQL; Salt's tables
 * jids, with a column for each member of a job's load, salt_returns and salt_events. */
#include "plugins/lib/returner/sqlreturn.h"

static const retopt_t options[] = {
    { "host", NULL, NULL },   { "user", NULL, NULL }, { "password", "passwd", NULL },
    { "dbname", "db", NULL }, { "port", NULL, NULL },
};

static const char *const columns[] = { "jid", "tgt_type", "cmd", "tgt", "kwargs",
                                       "ret", "user",     "arg", "fun", NULL };
#define LOAD_COLUMNS "jid, tgt_type, cmd, tgt, kwargs, ret, username, arg, fun"
#define LOAD_INSERT                                                                                          \
    "INSERT INTO jids (jid, started, tgt_type, cmd, tgt, kwargs, ret, username, arg, fun) "                  \
    "VALUES (:jid, :started, :tgt_type, :cmd, :tgt, :kwargs, :ret, :user, :arg, :fun) ON CONFLICT (jid) DO NOTHING"

static const sqlshape_t local_shape = {
    .name = "postgres_local_cache",
    .prefix = "master_job_cache.postgres",
    .options = options,
    .n_options = NELEMS(options),
    .driver = &sqldriver_postgres,
    .ret =
        "INSERT INTO salt_returns (fun, jid, return, id, success) VALUES (:fun, :jid, :job_ret, :id, :success)",
    .event = "INSERT INTO salt_events (tag, data, master_id) VALUES (:tag, :data, :master_id)",
    .load = LOAD_INSERT,
    .load_new = LOAD_INSERT,
    .get_load = "SELECT " LOAD_COLUMNS " FROM jids WHERE jid = :jid",
    .get_jid = "SELECT id, return FROM salt_returns WHERE jid = :jid",
    .get_fun = "SELECT s.id, s.return FROM salt_returns s JOIN (SELECT id, MAX(jid) AS jid FROM salt_returns "
               "WHERE fun = :fun GROUP BY id) m ON s.jid = m.jid AND s.id = m.id WHERE s.fun = :fun",
    .get_jids = "SELECT " LOAD_COLUMNS " FROM jids",
    .get_minions = "SELECT DISTINCT id FROM salt_returns",
    .columns = columns,
};

static const func_t funcs[] = { SQL_FUNCS(local_shape) };

PLUGIN(returner, postgres_local_cache, .doc = "Keep a master's jobs in PostgreSQL", FUNCS(funcs));
