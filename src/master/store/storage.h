/* storage.h - the store as the front loop uses it: opened, polled by its descriptor, its errors logged.
 * front->store and front->reader live from this part's start to its destroy.
 *
 * Layer      master
 * Threads    the front loop's; the store's writer is a thread of its own (store.h)
 * Tests      tests/unit/master/test_front.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_STORE_STORAGE_H
#define MASTER_STORE_STORAGE_H

#include "master/front/front.h"

char *storage_path(const front_t *front);          /* NEW: the database's file */
const char *storage_trouble(const front_t *front); /* why it can't be written, BORROWED; NULL: it can */

#endif
