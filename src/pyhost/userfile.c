/* userfile.c - see common/python/userfile.h. */
#include "common/python/userfile.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "pyhost/pyhost.h"
#include "salt/limits.h"
#include "salt/log.h"

/* The kind of that name; PYKINDS: its files are not called here. */
static pykind_t
userfile_kind(const char *name)
{
    pykind_t kind = 0;

    while (kind < PYKINDS && !str_eq(pykind_name(kind), name))
        kind++;
    return kind;
}

bool
userfile_is_named(call_ctx_t *ctx, const char *kind, const char *module)
{
    return pyhost_has(pyhost_of(ctx), userfile_kind(kind), module);
}

/* Seconds of processor time: twice what the clock grants, which is watched here. */
static int
userfile_seconds(void)
{
    int64_t deadline = py_deadline_ms(), left = deadline - clock_mono_ms();

    if (deadline == 0)
        left = LIMIT_TEMPLATE_TIME;
    return left > 0 ? (int) (left / 500) + 1 : 1;
}

/* The task that finds a function, or calls it. NEW. */
static json_t *
userfile_task(const userfile_t *what, bool only_find, json_t *args, json_t *kwargs)
{
    return json_pack("{s:{s:s, s:s, s:s, s:b, s:O, s:O, s:b, s:b, s:I, s:i}}", "user", "kind", what->kind,
                     "module", what->module, "fun", what->fun, "find", only_find, "args", args, "kwargs",
                     kwargs, "log", what->log_fails, "packaged", what->packaged, "memory",
                     what->unlimited ? (json_int_t) 0 : LIMIT_PYTHON_MEMORY, "seconds",
                     what->unlimited ? 0 : userfile_seconds());
}

/* There is a file of the kind, or Salt's own may be. */
static bool
userfile_any(pyloader_t *host, const char *kind)
{
    return pyhost_has(host, userfile_kind(kind), NULL) || pyhost_salt(host) != NULL;
}

/* NEW last message, or NULL with *err; nothing starts where there are no files of the kind. */
static json_t *
userfile_ask(call_ctx_t *ctx, const userfile_t *what, const json_t *task, fail_t *err)
{
    pyloader_t *host = pyhost_of(ctx);

    if (what->packaged || userfile_any(host, what->kind))
        return pyhost_user(host, what, task, err);
    (void) fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "%s", "");
    return NULL;
}

bool
userfile_has(call_ctx_t *ctx, const userfile_t *what, fail_t *err)
{
    json_auto_t *args = json_array(), *kwargs = json_object();
    json_auto_t *task = userfile_task(what, true, args, kwargs);
    json_auto_t *last = userfile_ask(ctx, what, task, err);

    return last != NULL;
}

py_t *
userfile_call(call_ctx_t *ctx, const userfile_t *what, py_t *args, py_t *kwargs, bool *ret_grains,
              fail_t *err)
{
    json_auto_t *plain = py_to_wire(args);
    json_auto_t *named = plain != NULL ? py_to_wire(kwargs) : NULL;

    if (named == NULL) {
        (void) fail_set(err, -EINVAL, "the arguments are no data: %s", py_raised_text());
        py_clear();
        return NULL;
    }
    json_auto_t *task = userfile_task(what, false, plain, named);
    json_auto_t *last = userfile_ask(ctx, what, task, err);
    if (last == NULL)
        return NULL;
    if (ret_grains != NULL)
        *ret_grains = value_bool(last, "grains", true);
    return py_from_wire(value_get(last, "done"));
}

json_t *
userfile_functions(call_ctx_t *ctx, const char *kind, fail_t *err)
{
    json_auto_t *task = json_pack("{s:{s:s}}", "functions", "kind", kind);
    pyloader_t *host = pyhost_of(ctx);

    if (!userfile_any(host, kind))
        return json_object();
    json_auto_t *last = pyhost_task(host, task, err);
    AUTO(py) found = last != NULL ? py_from_wire(value_get(last, "done")) : NULL;
    json_t *plain = found != NULL ? py_to_json(found) : NULL;
    if (last != NULL && plain == NULL)
        (void) fail_set(err, -EINVAL, "JSON can't say them");
    return plain;
}

void
userfile_check(call_ctx_t *ctx, const char *kind, const json_t *names)
{
    const py_limits_t limits = { .deadline_ms = clock_mono_ms() + LIMIT_PYTHON_CHECK_MS };
    fail_auto_t err = FAIL_INIT;
    py_scope_t scope;

    if (userfile_kind(kind) == PYKINDS)
        return;
    /* A file in a folder is part of the package of the folder's name, so that is checked. */
    json_t *stems = json_array(), *one;
    size_t i;
    json_array_foreach ((json_t *) names, i, one) {
        const char *dot = strchr(json_string_value(one), '.');
        const char *stem = dot != NULL ? dot + 1 : "";
        json_array_append_new(stems, json_stringn(stem, strcspn(stem, ".")));
    }
    json_auto_t *task = json_pack("{s:{s:s, s:o}}", "check", "kind", kind, "stems", stems);
    py_scope_enter(&scope, &limits);
    json_auto_t *last = pyhost_task_in_time(pyhost_of(ctx), task, &err);
    py_scope_leave(&scope);
    if (last == NULL)
        log_error("custom modules (%s) can't be looked at: %s", kind, fail_text(&err));
}
