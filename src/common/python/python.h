/* python.h - a Python interpreter beside this process: host.py, fed over a socket.
 *
 * The interpreter is started when first needed, or forked by the daemon's zygote (door.h) where there is one;
 * the messages are one JSON value a line, described in host.py. An interpreter of the zygote's has this
 * process's environment, folder, standard error and limits, too. It ends with this process, with all
 * processes of its session.
 *
 * Layer      common/python
 * Threads    only the one that started the interpreter, which ends with it; not usable in a forked child
 * Errors     -ENOENT: no python3 on this host; -ETIMEDOUT; -EPIPE: the interpreter has ended
 * Tests      tests/unit/common/test_render.c, tests/cases/render/py.json, tests/t/3075-zygote.bats */
#ifndef COMMON_PYTHON_PYTHON_H
#define COMMON_PYTHON_PYTHON_H

#include "salt/base.h"

typedef struct python python_t;

/* Which interpreter: an interpreter of the zygote's must have been started with the same. BORROWED for a
 * call. */
typedef struct python_how {
    const char *program;  /* path; "": python3 of PATH */
    const char *salt;     /* the folder of Salt's own package; NULL: files import ours */
    const char *cachedir; /* where bytecode of the package is kept */
} python_how_t;

/* NEW, or NULL with *err. */
python_t *python_new(const python_how_t *how, fail_t *err);
/* An interpreter that has `door` as its descriptor DOOR_FD, and no zygote's. */
python_t *python_new_at(const python_how_t *how, int door, fail_t *err);
void python_destroy(python_t **self_p);
/* True while this process is the one that started it and no error has happened. */
bool python_usable(const python_t *self);
/* True when the zygote forked it, which has run loader.py already. */
bool python_is_forked(const python_t *self);
/* The conversation's descriptor, for poll(). BORROWED. */
int python_fd(const python_t *self);

int python_send(python_t *self, const json_t *message, fail_t *err);
/* Next message, NEW, or NULL with *err. At `deadline_ms` (clock_mono_ms(); 0: none) the running file gets
 * SIGXCPU, which usually makes it answer; after a grace period the interpreter is killed (-ETIMEDOUT). */
json_t *python_receive(python_t *self, int64_t deadline_ms, fail_t *err);

#endif
