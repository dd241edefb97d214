/* renderer_py.c - the renderer `py`: a Python file whose run() returns the data, or text.
 *
 * The file runs in the interpreter of python.c. Variables go there with the request; `salt[...]` calls,
 * look-ups and log records come back as questions, answered here until "done" or "failed" arrives. Files with
 * a peer's part are refused, and on a master Python must be allowed explicitly. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/registry.h"
#include "common/py/py_wire.h"
#include "common/render/python.h"
#include "common/render/render_int.h"
#include "salt/limits.h"
#include "salt/log.h"

/* ---- what the file sees -------------------------------------------------------------------------------- */

/* A value in the wire form; None, with an error in the log, when it has none. NEW. */
static json_t *
renderer_py_wire_of(py_t *v)
{
    json_t *wire = v != NULL ? py_to_wire(v) : NULL;

    if (v != NULL && wire == NULL) {
        log_error("what a file in Python should see is None there: %s", py_raised_text());
        py_clear();
    }
    return wire != NULL ? wire : json_null();
}

/* The options without grains and pillar, which the host adds itself. NEW. */
static json_t *
renderer_py_opts_of(const render_t *self)
{
    json_t *opts = json_copy(ctx_opts(self->ctx));

    json_object_set_new(opts, "id", json_string(ctx_id(self->ctx)));
    json_object_set_new(opts, "test", json_boolean(ctx_test(self->ctx)));
    return opts;
}

static json_t *
variables_of(const run_t *run)
{
    const render_source_t *s = run->source;
    call_ctx_t *ctx = run->render->ctx;

    return json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}", "grains", renderer_py_wire_of(ctx_native_grains(ctx)),
                     "pillar", renderer_py_wire_of(s->pillar != NULL ? s->pillar : ctx_native_pillar(ctx)),
                     "opts", renderer_py_opts_of(run->render), "saltenv", run->render->saltenv, "sls",
                     s->sls != NULL ? s->sls : "", "context", renderer_py_wire_of(s->context));
}

static const char *
renderer_py_path_of(const run_t *run)
{
    return run->source->path != NULL ? run->source->path : ":string:";
}

/* Python's name for the module: the file's name up to the first dot. NEW. */
static char *
renderer_py_module_of(const run_t *run)
{
    const char *slash = strrchr(renderer_py_path_of(run), '/');
    const char *base = slash != NULL ? slash + 1 : renderer_py_path_of(run);

    return xstrndup(base, strcspn(base, "."));
}

/* ---- questions of the file ----------------------------------------------------------------------------- */

/* Handlers of questions: NEW {"value": ...} or {"error": [class, text]}; NULL: no answer is expected. */
typedef json_t *question_fn(run_t *run, const json_t *asked);

static json_t *
answer_error(const char *type, const char *text)
{
    return json_pack("{s:[s, s]}", "error", type, text);
}

static json_t *
answer_raised(void)
{
    py_error_t e = PY_ERROR_INIT;

    py_take_error(&e);
    json_t *answer = answer_error(e.type != NULL ? e.type->name : "Exception",
                                  e.message != NULL ? e.message : "");
    py_error_free(&e);
    return answer;
}

/* Calls a function with a list and a dict, laid out as py_args_t wants them in one array. */
static py_t *
call_with(render_t *self, const char *name, const py_t *args, const py_t *kwargs)
{
    size_t n = py_seq_len(args), nkw = py_dict_len(kwargs), k = 0;
    py_t **room = xcalloc(n + 2 * nkw + 1, sizeof(py_t *)), *key, *value;

    for (size_t i = 0; i < n; i++)
        room[i] = py_seq_at(args, i);
    for (size_t i = 0; py_dict_next(kwargs, &i, &key, &value); k++) {
        room[n + k] = key;
        room[n + nkw + k] = value;
    }
    py_t *out = render_call(self, name, &(py_args_t){ n, room, nkw, room + n, room + n + nkw });
    free(room);
    return out;
}

static json_t *
on_call(run_t *run, const json_t *asked)
{
    const char *name = json_string_value(json_array_get(asked, 0));
    AUTO(py) args = py_from_wire(json_array_get(asked, 1));
    AUTO(py) kwargs = py_from_wire(json_array_get(asked, 2));

    if (name == NULL || !py_is(args, PY_LIST) || !py_is(kwargs, PY_DICT))
        return answer_error("TypeError", "a function is called with a list and a dict");
    AUTO(py) value = call_with(run->render, name, args, kwargs);
    json_auto_t *wire = value != NULL ? py_to_wire(value) : NULL;
    return wire != NULL ? json_pack("{s:O}", "value", wire) : answer_raised();
}

static json_t *
on_has(run_t *run, const json_t *asked)
{
    const char *name = json_string_value(asked);

    return json_pack("{s:b}", "value", name != NULL && render_has(run->render, name));
}

static void
renderer_py_add_function(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    json_array_append_new(cookie, json_string(name));
}

static json_t *
on_functions(run_t *run, const json_t *asked)
{
    call_ctx_t *ctx = run->render->ctx;
    json_auto_t *names = json_array();

    registry_each(ctx_registry(ctx, PLUGIN_EXEC), ctx, renderer_py_add_function, names);
    return json_pack("{s:O}", "value", names);
}

/* Logs a record; levels are Python's numbers, ten apart. */
static json_t *
on_log(run_t *run, const json_t *asked)
{
    static const log_level_t levels[] = { LEVEL_TRACE,   LEVEL_DEBUG, LEVEL_INFO,
                                          LEVEL_WARNING, LEVEL_ERROR, LEVEL_CRITICAL };
    json_int_t number = json_integer_value(json_array_get(asked, 0)) / 10;
    const char *text = json_string_value(json_array_get(asked, 1));
    size_t i = number < 0 ? 0 : number >= (json_int_t) NELEMS(levels) ? NELEMS(levels) - 1 : (size_t) number;

    log_at(levels[i], "%s", text != NULL ? text : "");
    return NULL;
}

static const struct {
    const char *name;
    question_fn *fn;
} questions[] = {
    { "call", on_call },
    { "functions", on_functions },
    { "has", on_has },
    { "log", on_log },
};

/* Answers a question: 1; 0 when the message is none; or a negative errno. */
static int
renderer_py_answer(run_t *run, const json_t *message, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(questions); i++) {
        const json_t *asked = json_object_get(message, questions[i].name);
        if (asked == NULL)
            continue;
        json_auto_t *said = questions[i].fn(run, asked);
        int rc = said != NULL ? python_send(run->render->python, said, err) : 0;
        return rc < 0 ? rc : 1;
    }
    return 0;
}

/* ---- how it ends --------------------------------------------------------------------------------------- */

/* run()'s result becomes the run's output: text stays text for the next renderer. */
static int
renderer_py_give(run_t *run, const json_t *wire)
{
    if (!json_is_string(wire))
        return run_give_data(run, py_from_wire(wire));
    buf_clear(&run->text);
    buf_add(&run->text, json_string_value(wire), json_string_length(wire));
    spans_free(&run->peer); /* with peer_data: warn */
    return 0;
}

/* *err from a traceback: the innermost frame in the file with its lines, then the callers. */
static int
tell_failure(const run_t *run, const json_t *failed, fail_t *err)
{
    const char *text = value_str(failed, "text", "it failed");
    const json_t *frames = value_get(failed, "frames"), *frame;
    AUTO_FREE char *file = run_file(run);
    fail_auto_t where = FAIL_INIT;
    buf_auto_t b = BUF_INIT;
    size_t i;

    if (json_array_size(frames) == 0)
        return fail_set(err, -EINVAL, "%s%s%s", text, file != NULL ? "\nin " : "", file != NULL ? file : "");
    json_array_foreach (frames, i, frame) {
        int line = (int) json_integer_value(json_array_get(frame, 0));
        if (i == 0)
            run_failed_at(run, text, line, 0, &where);
        else
            buf_printf(&b, "\ncalled from %s, line %d", file != NULL ? file : "the text", line);
    }

    /* For a KeyError of `salt[...]`: appends why the function is missing. */
    const char *name = run->render->missing;
    AUTO_FREE char *key = xasprintf("KeyError: '%s'", name != NULL ? name : "");
    if (name != NULL && strcmp(text, key) == 0) {
        AUTO_FREE char *why = call_missing(run->render->ctx, name);
        buf_printf(&b, "\n%s", why);
    }

    return fail_set(err, -EINVAL, "%s%s", fail_text(&where), buf_str(&b));
}

/* Answers questions until the file has ended. */
static int
converse(run_t *run, fail_t *err)
{
    for (;;) {
        json_auto_t *message = python_receive(run->render->python, py_deadline_ms(), err);
        if (message == NULL)
            return -EIO;
        int rc = renderer_py_answer(run, message, err);
        if (rc < 0)
            return rc;
        if (rc == 0 && json_object_get(message, "done") != NULL)
            return renderer_py_give(run, json_object_get(message, "done"));
        if (rc == 0)
            return tell_failure(run, json_object_get(message, "failed"), err);
    }
}

/* ---- rendering ----------------------------------------------------------------------------------------- */

static json_t *
request_of(const run_t *run)
{
    AUTO_FREE char *module = renderer_py_module_of(run);

    return json_pack("{s:{s:o, s:s, s:s, s:o, s:I, s:i}}", "run", "text",
                     value_utf8(buf_str(&run->text), run->text.len), "file", renderer_py_path_of(run), "name",
                     module, "vars", variables_of(run), "memory", (json_int_t) LIMIT_PYTHON_MEMORY, "seconds",
                     LIMIT_TEMPLATE_TIME / 1000);
}

/* Adds the file's name unless the message already has it. Returns `rc`. */
static int
tell_file(const run_t *run, int rc, const fail_t *why, fail_t *err)
{
    AUTO_FREE char *file = run_file(run);
    bool placed = file == NULL || strstr(fail_text(why), file) != NULL;

    return fail_set(err, rc, "%s%s%s", fail_text(why), placed ? "" : "\nin ", placed ? "" : file);
}

int
render_py(run_t *run, const char *argline, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (run->is_data)
        return fail_set(err, -EINVAL, "the renderer 'py' needs a text, and the one before it made data");
    if (run_check_program(run, err) < 0)
        return -EINVAL;
    if (render_may_python(run->render, &why) < 0)
        return tell_file(run, why.code, &why, err);

    /* Starts the interpreter, or replaces one that failed or belongs to the parent process. */
    render_t *self = run->render;
    if (self->python != NULL && !python_usable(self->python))
        python_destroy(&self->python);
    if (self->python == NULL)
        self->python = python_new(err);
    int rc = self->python != NULL ? 0 : -ENOENT;

    if (rc < 0)
        return rc;
    call_note(run->render->ctx, "py");
    json_auto_t *asked = request_of(run);
    rc = python_send(run->render->python, asked, &why);
    if (rc == 0)
        rc = converse(run, &why);
    return rc == 0 ? 0 : tell_file(run, rc, &why, err);
}
