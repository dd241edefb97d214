/* memory.h - the end of a process without memory, and giving back memory that an idle process does not need.
 *
 * Layer      common/base
 * Threads    any; the other threads go on
 * Tests      tests/unit/common/test_memory.c
 */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Call it first in each program. From then on a failed allocation of jansson's ends the process as our own
 * ones do (salt_no_memory), because callers do not check small objects. Memory that jansson frees is wiped:
 * it may hold passwords. */
void memory_begin(void);

/* Between these two calls jansson's functions fail on this thread instead, for parsers of what peers send.
 * memory_end_spare returns true when one has failed. */
void memory_spare(void);
bool memory_end_spare(void);

/* Gives free memory back to the system, and lets go of the pages of programs and libraries: starting needs
 * far more of them than waiting. A page that is used again comes back from the kernel's cache, in some
 * microseconds for each 64 kB. */
void memory_rest(void);

#endif
