/* engines.h - the option `engines`: a list of names, of {name: options}, or one mapping of them.
 *
 * Layer      common/conf
 * Tests      tests/unit/common/test_engines.c
 */
#ifndef COMMON_CONF_ENGINES_H
#define COMMON_CONF_ENGINES_H

#include "salt/value.h"

/* NEW {name: {"module": text, "options": object}} in their order; `engine_module` of the options names the
 * module, of which there may be several. What is neither is left out, with a line in the log. A master's
 * `schedule` is an engine, too. */
json_t *engines_of(const json_t *opts);

#endif
