/* folder.h - a folder of a test's own: `dir`. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include "common/base/fs.h"
#include "salt/log.h"
#include "unit/unit.h"

static char dir[32];

static int
setup(void **state)
{
    log_init("test", LEVEL_QUIET, false);
    strcpy(dir, "/tmp/halite-unit-XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
    return fs_remove_tree(dir, NULL);
}

#endif
