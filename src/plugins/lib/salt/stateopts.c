/* stateopts.c - from the keywords of a state function to the compilation that it works on (Salt's
 * get_sls_opts()): environment, pillar and options, with which the SLS files are rendered. The context's
 * options are changed for the run and restored by stateopts_close. */
#include "plugins/lib/salt/stateopts.h"

#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/output/output.h"
#include "common/py/py_json.h"

/* A keyword that was given: null is not. BORROWED or NULL. */
static const json_t *
stateopts_given(const json_t *kwargs, const char *key)
{
    const json_t *value = json_object_get(kwargs, key);
    return json_is_null(value) ? NULL : value;
}

/* NEW text of a keyword or an option, or NULL. */
static char *
stateopts_text_of(const json_t *value)
{
    return value == NULL || json_is_null(value) ? NULL : value_pystr(value);
}

/* The argument, else the configuration's; lock_saltenv forbids another one. */
static int
read_saltenv(stateopts_t *self, const json_t *opts, const json_t *kwargs, fail_t *err)
{
    const json_t *asked = stateopts_given(kwargs, "saltenv");

    self->saltenv = stateopts_text_of(json_object_get(opts, "saltenv"));
    if (asked == NULL)
        return 0;
    AUTO_FREE char *name = stateopts_text_of(asked);
    if (value_bool(opts, "lock_saltenv", false) && !str_eq(name, self->saltenv))
        return fail_kind(err, FAIL_COMMAND, -EPERM, "lock_saltenv is enabled, saltenv cannot be changed");
    free(self->saltenv);
    self->saltenv = STEAL(name);
    return 0;
}

/* {saltenv, pillarenv, pillar}: *ret_differs when it is not what the configuration gives. */
static int
read_pillar(stateopts_t *self, const json_t *opts, const json_t *kwargs, bool *ret_differs, fail_t *err)
{
    const json_t *pillar = stateopts_given(kwargs, "pillar"), *asked = stateopts_given(kwargs, "pillarenv");
    AUTO_FREE char *configured = stateopts_text_of(json_object_get(opts, "pillarenv"));
    AUTO_FREE char *pillarenv = stateopts_text_of(json_object_get(opts, "pillarenv"));

    if (pillar != NULL && !json_is_object(pillar) && stateopts_given(kwargs, "pillar_enc") == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Pillar data must be formatted as a dictionary, unless pillar_enc is specified.");
    if (json_object_get(kwargs, "pillarenv") != NULL || value_bool(opts, "pillarenv_from_saltenv", false)) {
        free(pillarenv);
        pillarenv = stateopts_text_of(asked != NULL ? asked : stateopts_given(kwargs, "saltenv"));
    }
    self->ask = json_object();
    json_object_set_new(self->ask, "saltenv",
                        self->saltenv != NULL ? json_string(self->saltenv) : json_null());
    json_object_set_new(self->ask, "pillarenv", pillarenv != NULL ? json_string(pillarenv) : json_null());
    if (pillar != NULL)
        json_object_set(self->ask, "pillar", (json_t *) pillar);
    *ret_differs = pillar != NULL || !str_eq(pillarenv, configured);
    return 0;
}

/* salt-call has just compiled what it shows; a minion's pillar may be old. */
static int
take_pillar(stateopts_t *self, call_ctx_t *ctx, bool differs, bool force, fail_t *err)
{
    if (differs || !str_eq(value_str(ctx_opts(ctx), "__cli", ""), "salt-call")) {
        AUTO(py) pillar = ctx_compile_pillar(ctx, self->ask, err);
        if (pillar == NULL)
            return err->code != 0 ? err->code : fail_set(err, -EIO, "the pillar can't be compiled");
        ctx_set_pillar(ctx, pillar);
    }
    py_t *errors = force ? NULL : py_dict_gets(ctx_native_pillar(ctx), "_errors");
    if (errors != NULL && py_truth(errors) == 1)
        self->pillar_errors = py_to_json(errors);
    py_clear();
    return 0;
}

/* A run with a master has the master's options over its own, until it ends: Salt's
 * BaseHighState.__gen_opts(). */
static int
stateopts_take_options(stateopts_t *self, call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *told = NULL;
    int rc = ctx_files(ctx) != NULL ? fileclient_options(ctx_files(ctx), &told, err) : 0;

    self->ctx = ctx;
    self->own = json_copy(ctx_opts(ctx));
    if (rc < 0 || told == NULL)
        return rc;
    return conf_apply_master_opts(ctx_opts(ctx), told, err);
}

/* All of it, in that order. stateopts_close frees what there is, also after a failure. */
static int
open_with(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *dflt, const char *state_top,
          fail_t *err)
{
    const json_t *opts = ctx_opts(ctx);
    bool differs = false;
    int rc;

    *self = (stateopts_t){ 0 };
    if (stateopts_given(kwargs, "localconfig") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOTSUP,
                         "localconfig is not supported: put the options into a folder of their own and use "
                         "salt-call -c FOLDER");
    rc = stateopts_take_options(self, ctx, err);
    if (rc == 0)
        rc = read_saltenv(self, opts, kwargs, err);
    if (rc == 0)
        rc = read_pillar(self, opts, kwargs, &differs, err);
    if (rc == 0)
        rc = take_pillar(self, ctx, differs, value_truthy(json_object_get(kwargs, "force")), err);
    if (rc < 0)
        return rc;
    if (self->saltenv == NULL && dflt != NULL)
        self->saltenv = xstrdup(dflt);
    self->render = render_new(ctx, ctx_files(ctx));
    state_env_t env = { .ctx = ctx,
                        .files = ctx_files(ctx),
                        .render = self->render,
                        .saltenv = self->saltenv,
                        .state_top = state_top,
                        .state_top_saltenv = state_top != NULL ? self->saltenv : NULL };
    self->high = highstate_new(&env);
    return 0;
}

int
stateopts_open(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *dflt, fail_t *err)
{
    return open_with(self, ctx, kwargs, dflt, NULL, err);
}

int
stateopts_open_sound(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *dflt, fail_t *err)
{
    int rc = open_with(self, ctx, kwargs, dflt, NULL, err);

    return rc == 0 && self->pillar_errors != NULL ? stateopts_pillar_fail(self, ctx, err) : rc;
}

int
stateopts_open_top(stateopts_t *self, call_ctx_t *ctx, const json_t *kwargs, const char *state_top,
                   fail_t *err)
{
    return open_with(self, ctx, kwargs, NULL, state_top, err);
}

void
stateopts_close(stateopts_t *self)
{
    highstate_destroy(&self->high);
    render_destroy(&self->render);

    /* Options as they were before the run. */
    if (self->own != NULL) {
        json_object_clear(ctx_opts(self->ctx));
        json_object_update(ctx_opts(self->ctx), self->own);
        json_decref(self->own);
    }

    json_decref(self->ask);
    json_decref(self->pillar_errors);
    free(self->saltenv);
    *self = (stateopts_t){ 0 };
}

/* NEW list of a text with commas, or a copy of a list. */
json_t *
stateopts_split(const json_t *mods)
{
    if (json_is_array(mods))
        return json_copy((json_t *) mods);
    json_t *list = json_array();
    AUTO_FREE char *text = stateopts_text_of(mods);
    for (char *part = text, *end; part != NULL; part = end) {
        end = strchr(part, ',');
        if (end != NULL)
            *end++ = '\0';
        json_array_append_new(list, json_string(str_trim(part)));
    }
    return list;
}

/* Fails with the pillar's errors and Salt's return code. */
int
stateopts_pillar_fail(const stateopts_t *self, call_ctx_t *ctx, fail_t *err)
{
    output_opts_t how = OUTPUT_OPTS_INIT;
    buf_auto_t text = BUF_INIT;

    output_format(self->pillar_errors, &how, &text);
    while (text.len > 0 && strchr(" \n", text.data[text.len - 1]) != NULL)
        text.data[--text.len] = '\0';
    ctx_set_retcode(ctx, STATE_PILLAR_FAILURE);
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "Pillar failed to render. Additional info follows:\n\n%s",
                     buf_str(&text));
}
