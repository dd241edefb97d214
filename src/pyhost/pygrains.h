/* pygrains.h - grains of custom modules (_grains).
 *
 * Layer      pyhost
 * Threads    any; the interpreter ends with the call
 * Tests      tests/t/3070-python-modules.bats
 */
#ifndef PYHOST_PYGRAINS_H
#define PYHOST_PYGRAINS_H

#include "salt/base.h"
#include "salt/value.h"

/* Run all grains functions of the folders that `opts` names; they see `grains`. Both BORROWED. NEW list of
 * objects, in order; NULL with *err when they can't be run, empty where there are no files. */
json_t *pygrains_gather(json_t *opts, json_t *grains, fail_t *err);

#endif
