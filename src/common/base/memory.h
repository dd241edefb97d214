/* memory.h - what happens when there is none, and what a process that rests need not keep.
 *
 * Layer      common/base
 * Threads    any; the other threads go on
 * Tests      tests/unit/common/test_memory.c
 */
#ifndef COMMON_BASE_MEMORY_H
#define COMMON_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* First of all in each program: from here on jansson's memory ends the process as our own does
 * (salt_no_memory), as nobody looks whether a small object could be made. What jansson frees is wiped:
 * passwords are among it. */
void memory_begin(void);

/* Between these two, on this thread, jansson's functions fail instead: for parsers of what peers send.
 * memory_end_spare says whether any had to. */
void memory_spare(void);
bool memory_end_spare(void);

/* Free memory goes back to the system, and the pages of programs and libraries, of which a start needs far
 * more than waiting does, are let go: the kernel has them, and gives those back that are used again (some
 * microseconds for each 64 kB). */
void memory_rest(void);

#endif
