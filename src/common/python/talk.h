/* talk.h - a conversation with an interpreter: a task goes there, and its questions are answered until it is
 * done.
 *
 * A task is {"NAME": ...}; its end is {"done": ...} or {"failed": ...}; anything else that comes is a
 * question of the caller's table. An answer may begin a conversation of its own with the same interpreter,
 * which runs that task first.
 *
 * Layer      common/python
 * Threads    as python.h
 * Errors     as python.h
 * Tests      tests/unit/common/test_render.c, tests/cases/render/py.json */
#ifndef COMMON_PYTHON_TALK_H
#define COMMON_PYTHON_TALK_H

#include "common/py/py_ops.h"
#include "common/python/python.h"

/* NEW {"value": ...} or {"error": [class, text]}; NULL: no answer is expected. */
typedef json_t *python_answer_fn(void *cookie, const json_t *asked);
typedef struct python_question {
    const char *name;
    python_answer_fn *answer;
} python_question_t;

/* Run `task`, BORROWED. `questions` ends with a row without name; `deadline_ms` (NULL: none) is asked anew
 * before each wait, as python_receive() takes it. NEW last message, or NULL with *err. */
json_t *python_talk(python_t *self, const json_t *task, const python_question_t *questions, void *cookie,
                    int64_t (*deadline_ms)(void), fail_t *err);

/* Answers. NEW. */
json_t *python_error(const char *type, const char *text);
json_t *python_raised(void); /* of the exception that is raised; clears it */
/* The value in its wire form, or the exception that is raised; `v` NULL: raised. BORROWED. */
json_t *python_value(py_t *v);

/* A list and a dict as one call's arguments. `room` is NEW, to be freed when the call is over. */
py_args_t python_args(const py_t *args, const py_t *kwargs, py_t ***ret_room);

/* The value in its wire form; None, with an error in the log, where it has none. NEW. */
json_t *python_wire_of(py_t *v);
/* The same of plain JSON, in which an object that looks like a tag of the wire is an object. NULL stays NULL.
 * NEW. */
json_t *python_wire_of_json(const json_t *plain);

/* The answer to "log": [level, text]; levels are Python's numbers, ten apart. */
python_answer_fn python_on_log;

#endif
