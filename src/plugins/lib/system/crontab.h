/* crontab.h - a user's crontab as Salt keeps it: what is above its mark is left alone, what is below is ours.
 *
 * A tab is {"pre": [line], "crons": [entry], "special": [entry], "env": [{name, value}]}. An entry has
 * identifier, comment (None or text), commented, cmd, and minute, hour, daymonth, month, dayweek, or spec
 * ("@daily"). Format: the lines of crontab(5); an entry's comment line ends in "SALT_CRON_IDENTIFIER:ID".
 *
 * Layer      plugins/lib/system
 * Threads    one at a time
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND where `crontab` is missing, or a tab can't be read
 * Tests      tests/unit/plugins/test_crontab.c
 */
#ifndef PLUGINS_LIB_SYSTEM_CRONTAB_H
#define PLUGINS_LIB_SYSTEM_CRONTAB_H

#include "salt/plugin.h"

/* The five fields of time, in the order of the file. */
#define CRONTAB_TIMES 5
extern const char *const crontab_times[CRONTAB_TIMES + 1];

/* Pure: text to tab and back. The tab's texts are the bytes of the file, whether they are UTF-8 or not, so
 * that it is written as it was; a tab to be returned is made of a text that is UTF-8. */
json_t *crontab_parse(const char *text);
char *crontab_text(const json_t *tab);
/* True when `entry` has this command and identifier (NULL: none). */
bool crontab_is(const json_t *entry, const char *cmd, const char *identifier);
/* True when `want` (NULL and None: any value) differs from `have`. "random" accepts every value but "*". */
bool crontab_differs(const json_t *have, const json_t *want);
/* NEW text of a time field: lower case; "random" and "A:B" draw a number. `field` is one of crontab_times;
 * `month` bounds a random day. */
char *crontab_time(const char *field, const char *text, const char *month);

/* -EINVAL with *err where a value of an entry (its members as in a tab), or a variable's name or value, would
 * become lines or fields of the tab. */
int crontab_check_entry(const json_t *entry, fail_t *err);
int crontab_check_env(const json_t *name, const json_t *value, fail_t *err);

/* The user's tab as its bytes, without crontab's own header; "" when crontab says that there is none. All
 * else that crontab says against it is an error: what could not be read must not be taken for empty and
 * written so. Nor is a user whom this host does not know (yet), unless `look`: nothing will be written. */
char *crontab_read(const char *user, bool look, fail_t *err);
/* 0; or 1 with what crontab says against it in *ret_said (NEW); or negative with *err. */
int crontab_write(call_ctx_t *ctx, const char *user, const char *text, char **ret_said, fail_t *err);

#endif
