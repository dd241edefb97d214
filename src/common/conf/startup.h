/* startup.h - start-up of both daemons and salt-call: options to overrides, configuration, log.
 *
 * Layer      common/conf
 * Threads    before any thread exists
 * Errors     0 or a negative errno with the text that the program prints
 * Tests      tests/unit/common/test_startup.c, tests/t/0000-start.bats
 */
#ifndef COMMON_CONF_STARTUP_H
#define COMMON_CONF_STARTUP_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* The given command line values (optparse's) that are also configuration options: NEW object for
 * conf_load. Paths are absolute. */
json_t *startup_overrides(const json_t *values);
/* The configuration folder: --config-dir, $SALT_CONFIG_DIR, /etc/salt. NEW. One that is named and does not
 * exist is warned about on stderr, as Salt does it. */
char *startup_conf_dir(const json_t *values);
/* Load, start the log (program's name, levels, form, and the log file), and say the warnings. A line on the
 * terminal shows when that takes more than a second. */
conf_t *startup_conf(const char *program, const char *dir, conf_side_t side, const json_t *overrides,
                     fail_t *err);
/* Set the log's format and the levels of its loggers from the options. */
void startup_log_form(const json_t *opts);
/* After SIGHUP: load again. Live options take effect; the others keep the value of `old`, with a warning. Log
 * levels are updated and the log file is reopened. NEW, to replace `old`, or NULL with *err. */
conf_t *startup_reload(const conf_t *old, const char *dir, conf_side_t side, const json_t *overrides,
                       fail_t *err);

/* Make the daemon's folders. When root starts it for another `user`, they and their content change to that
 * user: pki_dir (for who has keys), cachedir, the master's sock_dir, and the files pidfile, log_file and
 * audit_log. */
int startup_folders(const conf_t *conf, conf_side_t side, bool with_keys, fail_t *err);

#endif
