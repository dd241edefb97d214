/* python.h - a Python interpreter beside this process that runs "#!py" files: host.py, fed over a
 * socket.
 *
 * The system's python3 is started when first needed; the messages are one JSON value a line, described in
 * host.py.
 *
 * Layer      common/python
 * Threads    only the one that started the interpreter, which ends with it; not usable in a forked child
 * Errors     -ENOENT: no python3 on this host; -ETIMEDOUT; -EPIPE: the interpreter has ended
 * Tests      tests/unit/common/test_render.c, tests/cases/render/py.json */
#ifndef COMMON_PYTHON_PYTHON_H
#define COMMON_PYTHON_PYTHON_H

#include "salt/base.h"

typedef struct python python_t;

/* NEW, or NULL with *err. `program`: the interpreter's path; "": python3 of PATH. */
python_t *python_new(const char *program, fail_t *err);
void python_destroy(python_t **self_p);
/* True while this process is the one that started it and no error has happened. */
bool python_usable(const python_t *self);

int python_send(python_t *self, const json_t *message, fail_t *err);
/* Next message, NEW, or NULL with *err. At `deadline_ms` (clock_mono_ms(); 0: none) the running file gets
 * SIGXCPU, which usually makes it answer; after a grace period the interpreter is killed (-ETIMEDOUT). */
json_t *python_receive(python_t *self, int64_t deadline_ms, fail_t *err);

#endif
