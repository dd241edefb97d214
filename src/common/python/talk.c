/* talk.c - see talk.h. */
#include "common/python/talk.h"

#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "salt/log.h"

/* ---- answers ------------------------------------------------------------------------------------------- */

json_t *
python_error(const char *type, const char *text)
{
    return json_pack("{s:[s, s]}", "error", type, text);
}

json_t *
python_raised(void)
{
    py_error_t e = PY_ERROR_INIT;

    py_take_error(&e);
    json_t *answer = python_error(e.type != NULL ? e.type->name : "Exception",
                                  e.message != NULL ? e.message : "");
    py_error_free(&e);
    return answer;
}

json_t *
python_value(py_t *v)
{
    json_auto_t *wire = v != NULL ? py_to_wire(v) : NULL;

    return wire != NULL ? json_pack("{s:O}", "value", wire) : python_raised();
}

json_t *
python_wire_of(py_t *v)
{
    json_t *wire = v != NULL ? py_to_wire(v) : NULL;

    if (v != NULL && wire == NULL) {
        log_error("what a file in Python should see is None there: %s", py_raised_text());
        py_clear();
    }
    return wire != NULL ? wire : json_null();
}

json_t *
python_wire_of_json(const json_t *plain)
{
    AUTO(py) v = plain != NULL ? py_from_json(plain) : NULL;

    return plain != NULL ? python_wire_of(v) : NULL;
}

/* py_args_t wants positional values, keywords' names and keywords' values in one array. */
py_args_t
python_args(const py_t *args, const py_t *kwargs, py_t ***ret_room)
{
    size_t n = py_seq_len(args), nkw = py_dict_len(kwargs), k = 0;
    py_t **room = xcalloc(n + 2 * nkw + 1, sizeof(py_t *)), *key, *value;

    for (size_t i = 0; i < n; i++)
        room[i] = py_seq_at(args, i);
    for (size_t i = 0; py_dict_next(kwargs, &i, &key, &value); k++) {
        room[n + k] = key;
        room[n + nkw + k] = value;
    }
    *ret_room = room;
    return (py_args_t){ n, room, nkw, room + n, room + n + nkw };
}

json_t *
python_on_log(void *cookie, const json_t *asked)
{
    static const log_level_t levels[] = { LEVEL_TRACE,   LEVEL_DEBUG, LEVEL_INFO,
                                          LEVEL_WARNING, LEVEL_ERROR, LEVEL_CRITICAL };
    json_int_t number = json_integer_value(json_array_get(asked, 0)) / 10;
    const char *text = json_string_value(json_array_get(asked, 1));
    size_t i = number < 0 ? 0 : number >= (json_int_t) NELEMS(levels) ? NELEMS(levels) - 1 : (size_t) number;

    log_at(levels[i], "%s", text != NULL ? text : "");
    return NULL;
}

/* ---- the conversation ---------------------------------------------------------------------------------- */

json_t *
python_talk(python_t *self, const json_t *task, const python_question_t *questions, void *cookie,
            int64_t (*deadline_ms)(void), fail_t *err)
{
    int rc = python_send(self, task, err);

    while (rc >= 0) {
        json_auto_t *message = python_receive(self, deadline_ms != NULL ? deadline_ms() : 0, err);
        if (message == NULL)
            return NULL;
        const python_question_t *q = questions;
        while (q->name != NULL && json_object_get(message, q->name) == NULL)
            q++;
        if (q->name == NULL)
            return json_incref(message);
        json_auto_t *said = q->answer(cookie, json_object_get(message, q->name));
        rc = said != NULL ? python_send(self, said, err) : 0;
    }
    return NULL;
}
