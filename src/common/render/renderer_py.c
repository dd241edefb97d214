/* renderer_py.c - the renderer `py`: a Python file whose run() returns the data, or text.
 *
 * The file runs in the interpreter of python.c. Variables go there with the request; `salt[...]` calls,
 * look-ups and log records come back as questions, answered here until "done" or "failed" arrives. Files with
 * a peer's part are refused, and on a master Python must be allowed explicitly.
 *
 * The interpreter is not that of the job's modules (src/pyhost). A file that does not stop at its deadline
 * ends its interpreter: that may be in the midst of a call of the module that had the file rendered, and what
 * it keeps for the job would go too. LIMIT_PYTHON_MEMORY is of an address space, of which the job's modules
 * would have a part. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/registry.h"
#include "common/py/py_wire.h"
#include "common/python/talk.h"
#include "common/render/render_int.h"
#include "salt/limits.h"
#include "salt/log.h"

static const char *
renderer_py_path_of(const rendering_t *run)
{
    return run->source->path != NULL ? run->source->path : ":string:";
}

/* ---- questions of the file ----------------------------------------------------------------------------- */

/* `salt["mod.fun"](...)` of the file: [name, args, kwargs]. Refusals and failures come back as exceptions. */
static json_t *
on_call(void *cookie, const json_t *asked)
{
    rendering_t *run = cookie;
    const char *name = json_string_value(json_array_get(asked, 0));
    AUTO(py) args = py_from_wire(json_array_get(asked, 1));
    AUTO(py) kwargs = py_from_wire(json_array_get(asked, 2));

    if (name == NULL || !py_is(args, PY_LIST) || !py_is(kwargs, PY_DICT))
        return python_error("TypeError", "a function is called with a list and a dict");
    AUTO_FREE py_t **room = NULL;
    const py_args_t given = python_args(args, kwargs, &room);
    AUTO(py) value = render_call(run->render, name, &given);
    return python_value(value);
}

static json_t *
on_has(void *cookie, const json_t *asked)
{
    rendering_t *run = cookie;
    const char *name = json_string_value(asked);

    return json_pack("{s:b}", "value", name != NULL && render_has(run->render, name));
}

static void
renderer_py_add_function(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    json_array_append_new(cookie, json_string(name));
}

/* Names of all functions, for what iterates over `salt`. */
static json_t *
on_functions(void *cookie, const json_t *asked)
{
    rendering_t *run = cookie;
    call_ctx_t *ctx = run->render->ctx;
    json_auto_t *names = json_array();

    registry_each(ctx_registry(ctx, PLUGIN_EXEC), ctx, renderer_py_add_function, names);
    return json_pack("{s:O}", "value", names);
}

static const python_question_t questions[] = {
    { "call", on_call }, { "functions", on_functions }, { "has", on_has }, { "log", python_on_log },
    { NULL, NULL },
};

/* ---- how it ends --------------------------------------------------------------------------------------- */

/* *err from a traceback: the innermost frame in the file with its lines, then the callers. */
static int
tell_failure(const rendering_t *run, const json_t *failed, fail_t *err)
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

/* Run the file, and take what it ends with. */
static int
converse(rendering_t *run, const json_t *task, fail_t *err)
{
    json_auto_t *last = python_talk(run->render->python, task, questions, run, py_deadline_ms, err);

    if (last == NULL)
        return -EIO;
    json_t *done = json_object_get(last, "done");
    if (done != NULL && !json_is_string(done))
        return run_give_data(run, py_from_wire(done));
    if (done != NULL) {
        /* Text stays text for the next renderer. */
        buf_clear(&run->text);
        buf_add(&run->text, json_string_value(done), json_string_length(done));
        spans_free(&run->peer); /* with peer_data: warn */
        return 0;
    }
    return tell_failure(run, json_object_get(last, "failed"), err);
}

/* ---- rendering ----------------------------------------------------------------------------------------- */

/* The task for the host: the text, its names, its variables and its limits. NEW. */
static json_t *
request_of(const rendering_t *run)
{
    const render_source_t *s = run->source;
    call_ctx_t *ctx = run->render->ctx;

    /* Python's name for the module is the file's name up to the first dot. */
    const char *slash = strrchr(renderer_py_path_of(run), '/');
    const char *base = slash != NULL ? slash + 1 : renderer_py_path_of(run);
    AUTO_FREE char *module = xstrndup(base, strcspn(base, "."));

    /* The options go without grains and pillar, which the host adds itself. */
    json_auto_t *opts = json_copy(ctx_opts(ctx));
    json_object_set_new(opts, "id", json_string(ctx_id(ctx)));
    json_object_set_new(opts, "test", json_boolean(ctx_test(ctx)));
    json_auto_t *vars = json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}", "grains",
                                  python_wire_of(ctx_native_grains(ctx)), "pillar",
                                  python_wire_of(s->pillar != NULL ? s->pillar : ctx_native_pillar(ctx)),
                                  "opts", python_wire_of_json(opts), "saltenv", run->render->saltenv, "sls",
                                  s->sls != NULL ? s->sls : "", "context", python_wire_of(s->context));
    return json_pack("{s:{s:o, s:s, s:s, s:O, s:I, s:i}}", "run", "text",
                     value_utf8(buf_str(&run->text), run->text.len), "file", renderer_py_path_of(run), "name",
                     module, "vars", vars, "memory", (json_int_t) LIMIT_PYTHON_MEMORY, "seconds",
                     LIMIT_TEMPLATE_TIME / 1000);
}

/* Adds the file's name unless the message already has it. Returns `rc`. */
static int
tell_file(const rendering_t *run, int rc, const fail_t *why, fail_t *err)
{
    AUTO_FREE char *file = run_file(run);
    bool placed = file == NULL || strstr(fail_text(why), file) != NULL;

    return fail_set(err, rc, "%s%s%s", fail_text(why), placed ? "" : "\nin ", placed ? "" : file);
}

int
render_py(rendering_t *run, const char *argline, fail_t *err)
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
    if (self->python == NULL) {
        const json_t *opts = ctx_opts(self->ctx);
        const python_how_t how = { value_str(opts, "python", ""), NULL, value_str(opts, "cachedir", "") };
        self->python = python_new(&how, err);
    }
    int rc = self->python != NULL ? 0 : -ENOENT;

    if (rc < 0)
        return rc;
    call_note(run->render->ctx, "py");
    json_auto_t *asked = request_of(run);
    rc = converse(run, asked, &why);
    return rc == 0 ? 0 : tell_file(run, rc, &why, err);
}
