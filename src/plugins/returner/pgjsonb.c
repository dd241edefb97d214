/* pgjsonb.c - returner `pgjsonb`: jobs, returns and events in PostgreSQL, as jsonb; Salt's tables jids,
 * salt_returns and salt_events. */
#include "plugins/lib/returner/sqlreturn.h"

static const retopt_t options[] = {
    { "host", NULL, "\"localhost\"" }, { "user", NULL, "\"salt\"" }, { "password", "pass", "\"salt\"" },
    { "dbname", "db", "\"salt\"" },    { "port", NULL, "5432" },     { "sslmode", NULL, NULL },
    { "sslcert", NULL, NULL },         { "sslkey", NULL, NULL },     { "sslrootcert", NULL, NULL },
    { "sslcrl", NULL, NULL },
};

/* The time of a row is given, as Salt's returner does, and not left to the column's default. Jobs go first in
 * `clean`: their age is that of their returns. */
static const sqlshape_t pgjsonb_shape = {
    .name = "pgjsonb",
    .prefix = "returner.pgjsonb",
    .options = options,
    .n_options = NELEMS(options),
    .driver = &sqldriver_postgres,
    .ret = "INSERT INTO salt_returns (fun, jid, return, id, success, full_ret, alter_time) "
           "VALUES (:fun, :jid, :return, :id, :success, :full_ret, to_timestamp(:now))",
    .event = "INSERT INTO salt_events (tag, data, master_id, alter_time) "
             "VALUES (:tag, :data, :master_id, to_timestamp(:now))",
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
    .clean = { "DELETE FROM jids WHERE jid IN (SELECT jid FROM salt_returns WHERE alter_time < to_timestamp(:before))",
               "DELETE FROM salt_returns WHERE alter_time < to_timestamp(:before)",
               "DELETE FROM salt_events WHERE alter_time < to_timestamp(:before)" },
};

static const func_t funcs[] = { SQL_FUNCS(pgjsonb_shape) };

PLUGIN(returner, pgjsonb, .doc = "Keep jobs, returns and events in PostgreSQL as jsonb", FUNCS(funcs));
