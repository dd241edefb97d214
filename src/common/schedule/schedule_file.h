/* schedule_file.h - the file in which a minion keeps its added jobs: _schedule.conf beside the files of
 * default_include, which read it at the next start.
 *
 * Layer      common/schedule
 * Threads    any
 * Ownership  said per function
 * Errors     negative errno with the path
 * Tests      tests/t/3500-schedule.bats
 */
#ifndef COMMON_SCHEDULE_FILE_H
#define COMMON_SCHEDULE_FILE_H

#include "salt/base.h"

/* NEW path. `opts`: conf_file and default_include. */
char *schedule_file(const json_t *opts);
/* NEW object {NAME: {...}}; empty when there is no file. NULL with *err. */
json_t *schedule_file_load(const json_t *opts, fail_t *err);
int schedule_file_save(const json_t *opts, const json_t *schedule, fail_t *err);

#endif
