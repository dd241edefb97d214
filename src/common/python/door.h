/* door.h - the way from a process to its daemon's zygote: one end of a socket that the daemon opened before
 * it forked jobs or began threads.
 *
 * A zygote is an interpreter that has imported what files import of the package `salt`, which takes longer
 * than all else of such a call, and forks interpreters. The daemon starts it when the first interpreter has
 * ended that imported that package, or had as many tasks as a state run's has (common/python/zygote.h). The
 * messages are those of zygote.py.
 *
 * Layer      common/python
 * Threads    any
 * Tests      tests/t/3075-zygote.bats */
#ifndef COMMON_PYTHON_DOOR_H
#define COMMON_PYTHON_DOOR_H

#include "common/python/python.h"

#define DOOR_FD  4           /* the zygote's end, in the zygote */
#define DOOR_MAX (64 * 1024) /* bytes of a message */

/* This process and those that it forks have this door, BORROWED; -1: none any more. */
void door_open(int fd);
bool door_is_open(void);
/* A zygote is behind it, or not. */
void door_serve(bool served);
bool door_is_served(void);

/* Ask for an interpreter that speaks at `talk`, ends when all copies of the other end of the pipe `life` are
 * closed, and works in the folder `folder`; a zygote is there. 0, or negative: it does not listen.
 * Descriptors are BORROWED. */
int door_fork(const python_how_t *how, int talk, int life, int folder);
/* Tell which modules an interpreter has imported, BORROWED; null: none needs to stay for the like. */
void door_used(const python_how_t *how, const json_t *names);
/* The zygote shall end: files have changed. */
void door_dismiss(void);

#endif
