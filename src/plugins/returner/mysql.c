/* mysql.c - returner `mysql`: jobs, returns and events in MySQL or MariaDB, as texts of JSON; Salt's tables
 * jids, salt_returns and salt_events. */
#include "plugins/lib/returner/sqlreturn.h"

static const retopt_t options[] = {
    { "host", NULL, "\"salt\"" }, { "user", NULL, "\"salt\"" },
    { "pass", NULL, "\"salt\"" }, { "db", NULL, "\"salt\"" },
    { "port", NULL, "3306" },     { "unix_socket", NULL, "\"/tmp/mysql.sock\"" },
    { "ssl_ca", NULL, NULL },     { "ssl_cert", NULL, NULL },
    { "ssl_key", NULL, NULL },
};

/* `load` replaces what a job was published with, `load_new` keeps it: a follower's repeat must change
 * nothing. `clean` deletes by the time of the row and not of the job; jids first, as their age is that of
 * their returns. */
static const sqlshape_t mysql_shape = {
    .name = "mysql",
    .prefix = "mysql",
    .options = options,
    .n_options = NELEMS(options),
    .driver = &sqldriver_mysql,
    .ret = "INSERT INTO `salt_returns` (`fun`, `jid`, `return`, `id`, `success`, `full_ret`) "
           "VALUES (:fun, :jid, :return, :id, :success, :full_ret)",
    .event = "INSERT INTO `salt_events` (`tag`, `data`, `master_id`) VALUES (:tag, :data, :master_id)",
    .load =
        "INSERT INTO `jids` (`jid`, `load`) VALUES (:jid, :load) ON DUPLICATE KEY UPDATE `load` = VALUES(`load`)",
    .load_new = "INSERT IGNORE INTO `jids` (`jid`, `load`) VALUES (:jid, :load)",
    .get_load = "SELECT `load` FROM `jids` WHERE `jid` = :jid",
    .get_jid = "SELECT `id`, `full_ret` FROM `salt_returns` WHERE `jid` = :jid",
    .get_fun =
        "SELECT s.`id`, s.`full_ret` FROM `salt_returns` s JOIN (SELECT `id`, MAX(`jid`) AS `jid` FROM `salt_returns` "
        "WHERE `fun` = :fun GROUP BY `id`) m ON s.`jid` = m.`jid` AND s.`id` = m.`id` WHERE s.`fun` = :fun",
    .get_jids = "SELECT DISTINCT `jid`, `load` FROM `jids`",
    .get_minions = "SELECT DISTINCT `id` FROM `salt_returns`",
    .clean = { "DELETE FROM `jids` WHERE `jid` IN (SELECT DISTINCT `jid` FROM `salt_returns` WHERE `alter_time` < FROM_UNIXTIME(:before))",
               "DELETE FROM `salt_returns` WHERE `alter_time` < FROM_UNIXTIME(:before)",
               "DELETE FROM `salt_events` WHERE `alter_time` < FROM_UNIXTIME(:before)" },
};

static const func_t funcs[] = { SQL_FUNCS(mysql_shape) };

PLUGIN(returner, mysql, .doc = "Keep jobs, returns and events in MySQL or MariaDB", FUNCS(funcs));
