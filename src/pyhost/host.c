/* host.c - a context's host: what files there are, the interpreter, answers to its questions, and calls. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/host/pyinstall.h"
#include "common/plugin/call.h"
#include "common/plugin/place.h"
#include "common/python/userfile.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "common/python/door.h"
#include "pyhost/pyhost.h"
#include "salt/log.h"
#include "salt/state.h"

/* Files of this folder, the parts of the interpreter's program, in the order in which it gets them. */
static const struct {
    const char *file, *text;
} parts[] = {
#include "gen/pyhost_parts.inc"
};

struct pyloader {
    call_ctx_t *ctx;                  /* BORROWED */
    json_t *folders, *stems[PYKINDS]; /* owned; NULL until first asked for */
    char *salt;                       /* owned: the folder of Salt's package; NULL: none */
    bool looked;                      /* for it */
    python_t *python;                 /* NULL until first needed */
    bool barren;                      /* no interpreter can be started; that was said */
    pid_t talker;                     /* the process of the conversations that are under way */
    int talks, in_time;               /* how many of them; how many of these have a deadline */
    const userfile_t *user;           /* the innermost call of pyhost_user(); BORROWED; NULL: none */
};

static void
forget_stems(pyloader_t *self)
{
    for (pykind_t i = 0; i < PYKINDS; i++)
        json_decref(STEAL(self->stems[i]));
}

/* Forgets where files are. */
static void
forget_files(pyloader_t *self)
{
    free(STEAL(self->salt));
    self->looked = self->barren = false;
    json_decref(STEAL(self->folders));
    forget_stems(self);
}

static void
pyhost_free(void *value)
{
    pyloader_t *self = value;

    python_destroy(&self->python);
    forget_files(self);
    free(self);
}

/* A context has at most one host, made on first use: a job without Python modules starts no interpreter. */
pyloader_t *
pyhost_of(call_ctx_t *ctx)
{
    static const char key;
    pyloader_t *self = call_attached(ctx, &key);

    if (self != NULL)
        return self;
    self = xcalloc(1, sizeof(*self));
    self->ctx = ctx;
    call_attach(ctx, &key, self, pyhost_free);
    return self;
}

/* Looks at folders once and keeps their names, so that a job that calls only functions in C pays one look. */
bool
pyhost_has(pyloader_t *self, pykind_t kind, const char *stem)
{
    if (self->folders == NULL) {
        self->folders = pyfiles_folders(self->ctx);
        if (userfile_extended(ctx_opts(self->ctx))) {
            /* Only an interpreter knows the folders of installed distributions. */
            json_auto_t *task = json_pack("{s:{s:o}}", "extensions", "options", pyfiles_options());
            fail_auto_t err = FAIL_INIT;
            json_auto_t *last = pyhost_task(self, task, &err);

            if (last == NULL)
                log_error("installed extensions are not used: %s", fail_text(&err));
            else if (self->folders != NULL)
                json_object_update(self->folders, value_get(last, "done"));
            forget_stems(self); /* the start has looked at some */
        }
    }
    if (self->stems[kind] == NULL)
        self->stems[kind] = pyfiles_stems(json_object_get(self->folders, pykind_name(kind)));
    return stem != NULL ? json_object_get(self->stems[kind], stem) != NULL
                        : json_object_size(self->stems[kind]) > 0;
}

const char *
pyhost_salt(pyloader_t *self)
{
    if (!self->looked)
        self->salt = pyinstall_salt("", ctx_opts(self->ctx));
    self->looked = true;
    return self->salt;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

/* Python's class for a function's failure. */
static json_t *
answer_failure(const fail_t *err)
{
    static const char *const classes[] = {
        [FAIL_GENERIC] = "Exception",
        [FAIL_COMMAND] = "CommandExecutionError",
        [FAIL_PROGRAM] = "CommandNotFoundError",
        [FAIL_INVOCATION] = "SaltInvocationError",
        [FAIL_ARGUMENTS] = "TypeError",
        [FAIL_UNAVAILABLE] = "KeyError",
    };

    return python_error(classes[err->kind], fail_text(err));
}

/* The registry of a kind; NULL: the context has none. */
static registry_t *
registry_for(const pyloader_t *self, const char *kind)
{
    for (pykind_t i = 0; kind != NULL && i < PYKINDS; i++) {
        plugin_kind_t plugin = 0;
        while (plugin < PLUGIN_KINDS && pykind_of(plugin) != i)
            plugin++;
        if (plugin < PLUGIN_KINDS && str_eq(kind, pykind_name(i)))
            return ctx_registry(self->ctx, plugin);
    }
    return NULL;
}

/* Question "find": [file, name, whether Salt's own] of a function in Python, which the interpreter then calls
 * itself; true for one in C; null: no such function. */
static json_t *
on_find(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    const char *kind = json_string_value(json_array_get(asked, 0));
    const char *name = json_string_value(json_array_get(asked, 1));
    registry_t *registry = registry_for(self, kind);
    fail_auto_t err = FAIL_INIT;
    const func_t *f = registry != NULL && name != NULL ? registry_find(registry, self->ctx, name, &err)
                                                       : NULL;
    const pyfunction_t *own = pyfunction_of(f);

    if (own != NULL)
        return json_pack("{s:[s, s, b]}", "value", own->stem, own->name, own->salts);
    return json_pack("{s:o}", "value", f != NULL ? json_true() : json_null());
}

/* __states__["file.managed"]("/etc/motd", source=...): positional values by the names of the row. */
static json_t *
call_state(const pyloader_t *self, const char *name, py_t *args, py_t *kwargs)
{
    fail_auto_t err = FAIL_INIT;
    const func_t *f = ctx_find_state(self->ctx, name, &err);
    json_auto_t *named = py_to_json(kwargs), *plain = py_to_json(args), *ret = NULL;
    json_t *value;
    size_t i;

    if (f == NULL)
        return answer_failure(&err);
    if (named == NULL || plain == NULL)
        return python_raised();
    json_array_foreach (plain, i, value) {
        const arg_t *row = f->args;
        for (size_t k = 0; k < i && row != NULL && row->text != NULL; k++)
            row++;
        if (row == NULL || row->text == NULL)
            return python_error("TypeError", "a state takes fewer positional arguments");
        json_object_set(named, arg_name(row), value);
    }
    if (ctx_state(self->ctx, name, named, &ret, &err) < 0)
        return answer_failure(&err);
    return json_pack("{s:o}", "value", python_wire_of_json(ret));
}

/* Question "call": runs a function for Python code, with values of Python's kinds kept (py_from_wire). A
 * failure becomes the exception of its kind there. */
static json_t *
on_call(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    const char *kind = json_string_value(json_array_get(asked, 0));
    const char *name = json_string_value(json_array_get(asked, 1));
    AUTO(py) args = py_from_wire(json_array_get(asked, 2));
    AUTO(py) kwargs = py_from_wire(json_array_get(asked, 3));
    AUTO_FREE py_t **room = NULL;
    fail_auto_t err = FAIL_INIT;

    if (kind == NULL || name == NULL || !py_is(args, PY_LIST) || !py_is(kwargs, PY_DICT))
        return python_error("TypeError", "a function is called with a list and a dict");
    registry_t *registry = registry_for(self, kind);
    if (registry == NULL)
        return python_error("KeyError", name);
    if (str_eq(kind, "states"))
        return call_state(self, name, args, kwargs);
    const py_args_t given = python_args(args, kwargs, &room);
    AUTO(py) value = ctx_call_native_of(self->ctx, registry, name, &given, &err);
    return value == NULL && py_raised() == NULL ? answer_failure(&err) : python_value(value);
}

static void
host_add_name(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    json_array_append_new(cookie, json_string(name));
}

static json_t *
on_names(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    registry_t *registry = registry_for(self, json_string_value(asked));
    json_t *names = json_array();

    if (registry != NULL)
        registry_each(registry, self->ctx, host_add_name, names);
    return json_pack("{s:o}", "value", names);
}

static json_t *
on_pillar(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;

    return json_pack("{s:o}", "value", python_wire_of(ctx_native_pillar(self->ctx)));
}

/* Question "fire": the data must be plain JSON, as an event goes to the master. */
static json_t *
on_fire(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    const char *tag = json_string_value(json_array_get(asked, 0));
    AUTO(py) data = py_from_wire(json_array_get(asked, 1));
    json_auto_t *plain = py_to_json(data);
    fail_auto_t err = FAIL_INIT;

    if (plain == NULL)
        return python_raised();
    if (tag == NULL || ctx_fire(self->ctx, tag, plain, &err) < 0)
        return python_error("CommandExecutionError", tag != NULL ? fail_text(&err) : "an event needs a tag");
    return json_pack("{s:b}", "value", true);
}

/* __jid_event__.fire_event(data, suffix): an event of the running runner, which who waits for that sees. */
static json_t *
on_jid_event(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    const char *base = json_string_value(json_array_get(asked, 0));
    const char *suffix = json_string_value(json_array_get(asked, 1));
    json_auto_t *request = json_pack("[o, O]", value_fmt("%s/%s", base, suffix), json_array_get(asked, 2));
    json_auto_t *fired = on_fire(cookie, request);
    AUTO(py) data = py_from_wire(json_array_get(asked, 2));
    json_auto_t *plain = py_to_json(data);

    if (plain != NULL && value_get(fired, "error") == NULL)
        call_show(self->ctx, suffix, plain);
    py_clear();
    return json_incref(fired);
}

/* Question of PyDSL's include(): only a state run's renderer has SLS files to include. */
static json_t *
on_include(void *cookie, const json_t *asked)
{
    const pyloader_t *self = cookie;
    const char *saltenv = json_string_value(json_array_get(asked, 0));
    const char *sls = json_string_value(json_array_get(asked, 1));
    fail_auto_t err = FAIL_INIT;

    if (self->user == NULL || self->user->include == NULL)
        return python_error("SaltRenderError", "PyDSL only works with a running high state!");
    if (saltenv == NULL || sls == NULL)
        return python_error("TypeError", "include() takes names of SLS files");
    if (self->user->include(self->user->cookie, saltenv, sls, &err) < 0)
        return python_error("SaltRenderError", fail_text(&err));
    return json_pack("{s:b}", "value", true);
}

static const python_question_t questions[] = {
    { "find", on_find },      { "call", on_call },       { "names", on_names },
    { "pillar", on_pillar },  { "fire", on_fire },       { "jid_event", on_jid_event },
    { "log", python_on_log }, { "include", on_include }, { NULL, NULL },
};

/* ---- the interpreter ----------------------------------------------------------------------------------- */

/* The lowest level that the log takes from interpreters, as Python's number. */
static int
least_level(void)
{
    static const struct {
        log_level_t level;
        int number;
    } levels[] = { { LEVEL_TRACE, 5 }, { LEVEL_DEBUG, 10 }, { LEVEL_INFO, 20 }, { LEVEL_WARNING, 30 } };
    size_t i = 0;

    while (i < NELEMS(levels) && !log_wants(levels[i].level))
        i++;
    return i < NELEMS(levels) ? levels[i].number : 40;
}

static json_t *
pyhost_said(pyloader_t *self, const json_t *task, fail_t *err)
{
    /* Conversations of the parent's are none of a forked child's. */
    if (self->talker != getpid())
        self->talks = 0;
    self->talker = getpid();
    self->talks++;
    json_t *last = python_talk(self->python, task, questions, self, self->in_time > 0 ? py_deadline_ms : NULL,
                               err);
    self->talks--;
    return last;
}

json_t *
pyhost_program(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NELEMS(parts); i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "text", parts[i].text, "file", parts[i].file));
    return json_pack("{s:o}", "more", list);
}

/* Starts the interpreter, or another one where it has ended or is the parent's. */
static int
pyhost_start(pyloader_t *self, fail_t *err)
{
    if (self->python != NULL && python_usable(self->python))
        return 0;
    /* A question of its own is being answered: what asked has ended with it. */
    if (self->talks > 0 && self->talker == getpid())
        return fail_set(err, -EPIPE, "python3 has ended before it answered");
    if (self->barren)
        return fail_set(err, -ENOENT, "there is no interpreter of Python");
    python_destroy(&self->python);
    const json_t *opts = ctx_opts(self->ctx);
    const python_how_t how = { value_str(opts, "python", ""), pyhost_salt(self),
                               value_str(opts, "cachedir", "") };
    self->python = python_new(&how, err);
    if (self->python == NULL) {
        self->barren = true;
        log_error("modules in Python can't be loaded: %s", fail_text(err));
        return -ENOENT;
    }
    if (!python_is_forked(self->python)) {
        json_auto_t *more = pyhost_program();
        json_auto_t *loaded = pyhost_said(self, more, err);
        if (loaded == NULL)
            return -EIO;
    }
    /* The first task of loader.py tells what is the same for all that follow. */
    json_auto_t *conf = json_copy(ctx_opts(self->ctx));
    bool runners = ctx_registry(self->ctx, PLUGIN_RUNNER) != NULL &&
                   ctx_registry(self->ctx, PLUGIN_EXEC) == NULL;

    (void) pyhost_has(self, PYKIND_modules, NULL);
    json_object_set_new(conf, "id", json_string(ctx_id(self->ctx)));
    json_auto_t *set_up = json_pack("{s:{s:o, s:o, s:O, s:s, s:i, s:s?}}", "setup", "opts",
                                    python_wire_of_json(conf), "grains",
                                    python_wire_of(ctx_native_grains(self->ctx)), "dirs", self->folders,
                                    "kind", pykind_name(runners ? PYKIND_runners : PYKIND_modules), "level",
                                    least_level(), "salt", pyhost_salt(self));
    json_auto_t *ready = pyhost_said(self, set_up, err);
    return ready != NULL ? 0 : -EIO;
}

/* The kind of a failure by its word of loader.py. */
static fail_kind_t
failed_kind(const char *word)
{
    static const struct {
        const char *word;
        fail_kind_t kind;
    } kinds[] = { { "command", FAIL_COMMAND },
                  { "program", FAIL_PROGRAM },
                  { "invocation", FAIL_INVOCATION },
                  { "arguments", FAIL_ARGUMENTS },
                  { "unavailable", FAIL_UNAVAILABLE } };

    for (size_t i = 0; i < NELEMS(kinds); i++)
        if (str_eq(kinds[i].word, word))
            return kinds[i].kind;
    return FAIL_GENERIC;
}

/* NEW last message of the task, or NULL with *err: the interpreter did not start, died, or the code raised.
 */
json_t *
pyhost_task(pyloader_t *self, const json_t *task, fail_t *err)
{
    if (pyhost_start(self, err) < 0)
        return NULL;
    json_auto_t *last = pyhost_said(self, task, err);
    const json_t *failed = value_get(last, "failed");
    if (last == NULL || (failed == NULL && value_get(last, "done") != NULL))
        return json_incref(last);
    (void) fail_kind(err, failed_kind(value_str(failed, "kind", "")), -EINVAL, "%s",
                     value_str(failed, "text", "python3 said nothing that means anything here"));
    return NULL;
}

/* The interpreter may be in the midst of a call that brought this about: it goes on, and loads files anew
 * later. */
void
pyhost_forget(pyloader_t *self)
{
    fail_auto_t err = FAIL_INIT;

    forget_files(self);
    door_dismiss();
    if (self->python == NULL || !python_usable(self->python))
        return;
    json_auto_t *task = json_pack("{s:{s:o}}", "forget", "grains",
                                  python_wire_of(ctx_native_grains(self->ctx)));
    json_auto_t *last = pyhost_said(self, task, &err);
    if (last == NULL)
        log_debug("modules in Python are loaded in another interpreter: %s", fail_text(&err));
}

/* Within this call the deadline of the py scope holds, too: code of users that should only be looked at may
 * not run for ever. */
json_t *
pyhost_task_in_time(pyloader_t *self, const json_t *task, fail_t *err)
{
    self->in_time++;
    json_t *last = pyhost_task(self, task, err);
    self->in_time--;
    return last;
}

/* A task of a user's file, which may lead to another one's before it ends: the outer one is in force again
 * afterwards. */
json_t *
pyhost_user(pyloader_t *self, const userfile_t *what, const json_t *task, fail_t *err)
{
    const userfile_t *outer = self->user;

    self->user = what;
    json_t *last = pyhost_task_in_time(self, task, err);
    self->user = outer;
    return last;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

const pyfunction_t *
pyfunction_of(const func_t *f)
{
    return f != NULL && f->fn == NATIVE(pyhost_run) ? f->data.ptr : NULL;
}

/* The tag below which the events of a runner or wheel function are; null: it is none. NEW. */
static json_t *
pyhost_tag_of(call_ctx_t *ctx, const pyfunction_t *f)
{
    const char *above = f->kind == PYKIND_runners ? "run" : f->kind == PYKIND_wheel ? "wheel" : NULL;

    return above != NULL ? value_fmt("salt/%s/%s", above, ctx_jid(ctx)) : json_null();
}

/* The value of a global that a file mentions; of the event's object, its tag. NEW. */
static json_t *
global_of(call_ctx_t *ctx, const pyfunction_t *f, const char *word)
{
    if (str_eq(word, "tag") || str_eq(word, "jid_event"))
        return pyhost_tag_of(ctx, f);
    if (str_eq(word, "user"))
        return json_string(call_user(ctx));
    if (str_eq(word, "low"))
        return python_wire_of_json(ctx_chunk(ctx));
    if (str_eq(word, "lowstate"))
        return python_wire_of_json(ctx_chunks(ctx));
    if (str_eq(word, "running"))
        return python_wire_of_json(ctx_running(ctx));
    if (str_eq(word, "instance_id"))
        return json_string(ctx_run_id(ctx));
    if (str_eq(word, "env"))
        return json_string(ctx_saltenv(ctx));
    if (str_eq(word, "jid"))
        return json_string(ctx_jid(ctx));
    return json_null();
}

/* The argument as the SLS file has it, where JSON can't say it, or as it is bound. NEW. */
static py_t *
argument_of(call_ctx_t *ctx, const pyfunction_t *f, const char *name, const py_t *args)
{
    py_t *own = f->kind == PYKIND_states ? ctx_native_arg(ctx, name) : NULL;

    return own != NULL ? own : py_ref(py_dict_gets(args, name));
}

/* Adds what the interpreter takes for absent when it is empty. TAKES value; false: NULL, which was raised. */
static bool
add_unless_empty(json_t *asked, const char *name, json_t *value)
{
    if (json_array_size(value) + json_object_size(value) > 0)
        json_object_set_new(asked, name, value);
    else
        json_decref(value);
    return value != NULL;
}

/* Runners and wheel functions, which are the master's. */
static bool
is_masters(const pyfunction_t *f)
{
    return f->kind == PYKIND_runners || f->kind == PYKIND_wheel;
}

/* The task of a call; arguments by the shape of the row. NEW; NULL: raised. */
static json_t *
invoke_task(call_ctx_t *ctx, const pyfunction_t *f, const py_t *args)
{
    const func_t *row = ctx_row(ctx);
    shape_t shape = shape_of(row);
    json_auto_t *task = json_object();
    json_t *asked = json_object();
    AUTO(py) bound = py_dict();

    json_object_set_new(task, "invoke", asked);
    json_object_set_new(asked, "kind", json_string(pykind_name(f->kind)));
    json_object_set_new(asked, "stem", json_string(f->stem));
    json_object_set_new(asked, "fun", json_string(f->name));
    if (f->salts)
        json_object_set_new(asked, "salt", json_true());
    if (ctx_test(ctx))
        json_object_set_new(asked, "test", json_true());
    json_object_set(asked, "umask", value_get(ctx_chunk(ctx), "__umask__"));
    int64_t memory = is_masters(f) ? value_int(ctx_opts(ctx), "python_run_memory", 0) : 0;
    if (memory > 0)
        json_object_set_new(asked, "memory", json_integer(memory));
    for (const arg_t *a = row->args; a != NULL && a->text != NULL; a++)
        if (a != shape.star && a != shape.starstar)
            py_dict_sets_new(bound, arg_name(a), argument_of(ctx, f, arg_name(a), args));
    if (json_object_set_new(asked, "bound", py_to_wire(bound)) != 0 ||
        (shape.star != NULL &&
         !add_unless_empty(asked, "star", py_to_wire(py_dict_gets(args, arg_name(shape.star))))) ||
        (shape.starstar != NULL &&
         !add_unless_empty(asked, "keywords", py_to_wire(py_dict_gets(args, arg_name(shape.starstar))))))
        return NULL;
    /* Only the globals that the file mentions go along: __pillar__ and __opts__ may be large. */
    json_t *globals = json_object(), *word;
    size_t i;
    json_array_foreach (f->wants, i, word)
        json_object_set_new(globals, json_string_value(word), global_of(ctx, f, json_string_value(word)));
    add_unless_empty(asked, "globals", globals);
    return STEAL(task);
}

/* Runners and wheel functions share a few workers, so that their time is bounded; jobs of minions have limits
 * of their own. */
static json_t *
invoked(call_ctx_t *ctx, const pyfunction_t *f, const json_t *task, fail_t *err)
{
    int64_t seconds = is_masters(f) ? value_int(ctx_opts(ctx), "python_run_time", 0) : 0;
    const py_limits_t limits = { .deadline_ms = clock_mono_ms() + seconds * 1000 };
    py_scope_t scope;

    if (seconds == 0)
        return pyhost_task(pyhost_of(ctx), task, err);
    py_scope_enter(&scope, &limits);
    json_t *last = pyhost_task_in_time(pyhost_of(ctx), task, err);
    py_scope_leave(&scope);
    return last;
}

py_t *
pyhost_run(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const pyfunction_t *f = pyfunction_of(ctx_row(ctx));
    json_auto_t *task = invoke_task(ctx, f, args);
    json_auto_t *last = task != NULL ? invoked(ctx, f, task, err) : NULL;
    int retcode = (int) value_int(last, "retcode", 0);

    if (last == NULL)
        return NULL;
    if (retcode != 0)
        ctx_set_retcode(ctx, retcode);
    return py_from_wire(value_get(last, "done"));
}
