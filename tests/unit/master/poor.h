/* poor.h - SQLite in a thread that has no memory for a while. */
#ifndef TESTS_UNIT_MASTER_POOR_H
#define TESTS_UNIT_MASTER_POOR_H

#include <sqlite3.h>

#include "unit/unit.h"

static sqlite3_mem_methods real_memory;
static _Thread_local bool poor;

static void *
poor_malloc(int size)
{
    return poor ? NULL : real_memory.xMalloc(size);
}

static void *
poor_realloc(void *was, int size)
{
    return poor ? NULL : real_memory.xRealloc(was, size);
}

/* From here on `poor` counts. Before SQLite is first used. */
static void
poor_memory(void)
{
    if (real_memory.xMalloc != NULL)
        return;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), SQLITE_OK);
    sqlite3_mem_methods mine = real_memory;
    mine.xMalloc = poor_malloc;
    mine.xRealloc = poor_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
}

#endif
