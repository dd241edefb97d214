/* calloutput.h - outputters of users' files in Python (_output). An interpreter is started for one print,
 * when no built-in outputter has the name and there are such files.
 *
 * Layer      minion, of salt-call
 * Threads    one
 * Tests      tests/t/3090-python-kinds.bats
 */
#ifndef MINION_CALLOUTPUT_H
#define MINION_CALLOUTPUT_H

#include "common/base/buf.h"
#include "salt/value.h"

/* True when a user's file of the name is there, as this configuration says. */
bool calloutput_has(json_t *opts, const char *out);
/* Append the data as the file's output(data) prints it. `conf`: the program's configuration, or NULL. False:
 * there is no such file, or it failed, which the log says. */
bool calloutput_print(const json_t *conf, const char *out, const json_t *data, buf_t *text);

#endif
