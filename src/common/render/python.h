/* python.h - a Python interpreter beside this process that runs "#!py" files: python_host.py, fed over a
 * socket.
 *
 * It is the system's python3, started when it is first needed. What is said on the line is in python_host.py.
 *
 * Layer      common/render, private
 * Threads    the one that started the interpreter, which ends with it. A child that was forked must not use its parent's
 * Errors     -ENOENT: there is no python3 here; -ETIMEDOUT; -EPIPE: it has ended
 * Tests      tests/unit/common/test_render.c, tests/cases/render/py.json
 */
#ifndef COMMON_RENDER_PYTHON_H
#define COMMON_RENDER_PYTHON_H

#include "salt/base.h"

typedef struct python python_t;

/* NEW, or NULL with *err. */
python_t *python_new(fail_t *err);
void python_destroy(python_t **self_p);
/* Whether this process has started it, and it has not failed. */
bool python_usable(const python_t *self);

int python_send(python_t *self, const json_t *message, fail_t *err);
/* The next message, NEW, or NULL with *err. At `deadline_ms` (clock_mono_ms(); 0: none) what runs in it is
 * told to end, which is a message too; if it does not, the interpreter is killed. */
json_t *python_receive(python_t *self, int64_t deadline_ms, fail_t *err);

#endif
