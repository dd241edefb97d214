/* postgres.c - returner `postgres`: jobs, returns and events in PostgreSQL, as texts of JSON; Salt's tables
 * jids, salt_returns and salt_events. */
#include "plugins/lib/returner/sqlreturn.h"

static const retopt_t options[] = {
    { "host", NULL, "\"localhost\"" }, { "user", NULL, "\"salt\"" }, { "password", "passwd", "\"salt\"" },
    { "dbname", "db", "\"salt\"" },    { "port", NULL, "5432" },
};

/* Salt's returner has no way to clean these tables, and so there is none here. */
static const sqlshape_t postgres_shape = {
    .name = "postgres",
    .prefix = "returner.postgres",
    .options = options,
    .n_options = NELEMS(options),
    .driver = &sqldriver_postgres,
    .ret = "INSERT INTO salt_returns (fun, jid, return, id, success, full_ret) "
           "VALUES (:fun, :jid, :return, :id, :success, :full_ret)",
    .event = "INSERT INTO salt_events (tag, data, master_id) VALUES (:tag, :data, :master_id)",
    .load =
        "INSERT INTO jids (jid, load) VALUES (:jid, :load) ON CONFLICT (jid) DO UPDATE SET load = EXCLUDED.load",
    .load_new = "INSERT INTO jids (jid, load) VALUES (:jid, :load) ON CONFLICT (jid) DO NOTHING",
    .get_load = "SELECT load FROM jids WHERE jid = :jid",
    .get_jid = "SELECT id, full_ret FROM salt_returns WHERE jid = :jid",
    .get_fun =
        "SELECT s.id, s.full_ret FROM salt_returns s JOIN (SELECT id, MAX(jid) AS jid FROM salt_returns "
        "WHERE fun = :fun GROUP BY id) m ON s.jid = m.jid AND s.id = m.id WHERE s.fun = :fun",
    .get_jids = "SELECT jid, load FROM jids",
    .get_minions = "SELECT DISTINCT id FROM salt_returns",
};

static const func_t funcs[] = { SQL_FUNCS(postgres_shape) };

PLUGIN(returner, postgres, .doc = "Keep jobs, returns and events in PostgreSQL as texts", FUNCS(funcs));
