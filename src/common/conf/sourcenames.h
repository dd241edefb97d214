/* sourcenames.h - names in the options external_auth and ext_pillar that nothing answers to.
 *
 * Salt tells so when somebody logs in, or a pillar is compiled; a misspelled name is told at start and at each
 * reload here.
 *
 * Layer      common/conf
 * Tests      tests/unit/common/test_sourcenames.c
 */
#ifndef COMMON_CONF_SOURCENAMES_H
#define COMMON_CONF_SOURCENAMES_H

#include "salt/value.h"

/* A sentence for each name that is neither one of Salt's nor that of a user's file in Python, or one that such
 * a file takes (__virtualname__): NEW list. */
json_t *sourcenames_unknown(const json_t *opts);

#endif
