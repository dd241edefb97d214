/* pillar.c - one compile from its configuration to the finished pillar; see pillar.h.
 *
 * The order, as in Salt's salt/pillar/__init__.py: top files choose SLS files by the minion's id and grains;
 * these are rendered and merged; external sources are merged before or after, by ext_pillar_first; then
 * pillar_opts, the override of the command line, and decryption. Errors of files are collected and end up in
 * the pillar's `_errors`. */
#include "common/pillar/pillar_int.h"

#include "common/base/clock.h"
#include "common/base/grainsid.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "salt/log.h"

/* ---- what functions and templates see of it ------------------------------------------------------------ */

static json_t *
pillar_grains(void *cookie)
{
    return ((compile_t *) cookie)->grains;
}

/* call_env's `pillar`: templates see the known pillar. Compiling a fresh one from within would recurse
 * without end. */
static py_t *
pillar_known(void *cookie, json_t *ask, fail_t *err)
{
    const compile_t *self = cookie;

    if (ask == NULL)
        return py_ref(self->known);
    (void) fail_kind(err, FAIL_COMMAND, -EDEADLK, "a pillar's template can't compile the pillar");
    return NULL;
}

/* Each function that a template asks for is an input of the pillar: reads_called() tells whether it is
 * pure. */
static void
pillar_called(void *cookie, const char *fun)
{
    const compile_t *self = cookie;

    if (self->env->reads != NULL)
        reads_called(self->env->reads, fun);
}

static void
pillar_refused(void *cookie, json_t *what)
{
    const pillar_env_t *env = ((compile_t *) cookie)->env;

    if (env->refused != NULL)
        env->refused(env->cookie, what);
}

/* Context of functions and templates. It caches the pillar, so a change of `known` needs a new context. */
static void
open_context(compile_t *self)
{
    call_env_t env = { .registry = self->env->registry,
                       .opts = self->opts,
                       .id = self->env->id,
                       .renders = "renderer_functions_pillar",
                       .grains = pillar_grains,
                       .pillar = pillar_known,
                       .called = pillar_called,
                       .refused = pillar_refused,
                       .peer = self->env->peer_grains,
                       .files = self->state_files,
                       .cookie = self };

    self->ctx = call_ctx_new(&env);
    self->render = render_new(self->ctx, self->files);
    render_show_paths(self->render);
}

static void
close_context(compile_t *self)
{
    render_destroy(&self->render);
    call_ctx_destroy(&self->ctx);
}

/* ---- configuration ------------------------------------------------------------------------------------- */

/* An option's text; NULL for one that is missing or empty. */
static const char *
pillar_text(const json_t *opts, const char *key)
{
    const char *text = value_str(opts, key, NULL);

    return str_empty(text) ? NULL : text;
}

const char *
compile_env(const compile_t *self)
{
    return self->pillarenv != NULL ? self->pillarenv : self->saltenv != NULL ? self->saltenv : "base";
}

/* pillar_roots with "__env__" replaced by the environment in use, unless that one has folders of its own.
 * NEW. */
static json_t *
pillar_roots(const compile_t *self)
{
    const json_t *roots = value_get(self->opts, "pillar_roots");
    json_t *out = json_is_object(roots) ? json_deep_copy(roots) : json_object();
    json_auto_t *any = json_incref(json_object_get(out, "__env__"));
    const char *env = compile_env(self);
    json_t *dir;
    size_t i;

    if (any == NULL)
        return out;
    json_object_del(out, "__env__");
    /* The name comes from a minion: a '/' or a leading '.' could lead out of the configured folder. */
    if (json_object_get(out, env) != NULL || strchr(env, '/') != NULL || env[0] == '.')
        return out;
    json_t *mine = json_array();
    json_array_foreach (any, i, dir) {
        AUTO_FREE char *real = str_replace(json_string_value(dir), "__env__", env);
        json_array_append_new(mine, json_string(real));
    }
    json_object_set_new(out, env, mine);
    return out;
}

static void
pillar_set_text(json_t *opts, const char *key, const char *text)
{
    json_object_set_new(opts, key, text != NULL ? json_string(text) : json_null());
}

/* The first source that on_demand_ext_pillar does not name; NULL: all are allowed. BORROWED. */
const char *
pillar_not_on_demand(json_t *opts, json_t *ext)
{
    json_t *allowed = value_get(opts, "on_demand_ext_pillar"), *name, *args;
    const char *key;
    size_t i;

    json_object_foreach (ext, key, args) {
        bool ok = false;
        json_array_foreach (allowed, i, name)
            ok = ok || str_eq(json_string_value(name), key);
        if (!ok)
            return key;
    }
    return NULL;
}

/* Builds the options that templates and functions see, and picks environments, strategy and deadline.
 * Requested environments win over configured ones. */
static void
pillar_configure(compile_t *self)
{
    const pillar_env_t *env = self->env;
    json_t *opts = self->opts = json_copy(env->opts);

    self->saltenv = env->saltenv != NULL ? env->saltenv : pillar_text(opts, "saltenv");
    self->pillarenv = env->pillarenv;
    if (self->pillarenv == NULL && value_bool(opts, "pillarenv_from_saltenv", false))
        self->pillarenv = env->saltenv;
    if (self->pillarenv == NULL)
        self->pillarenv = pillar_text(opts, "pillarenv");
    pillar_set_text(opts, "saltenv", self->saltenv);
    pillar_set_text(opts, "pillarenv", self->pillarenv);
    pillar_set_text(opts, "id", env->id);
    pillar_set_text(opts, "minion_id", env->id);
    pillar_set_text(opts, "file_client", "local");
    /* The grains have the minion's authenticated id: the reported grain `id` is not trusted. */
    if (env->grains != NULL && grains_are_of(env->grains, env->id)) {
        self->grains = json_incref(env->grains);
    } else {
        self->grains = env->grains != NULL ? json_copy(env->grains) : json_object();
        grains_set_id(self->grains, env->id);
    }
    json_object_set(opts, "grains", self->grains);
    self->roots = pillar_roots(self);
    json_object_set_new(opts, "pillar_roots", self->roots);

    /* Adds the external source that the minion asked for, if on_demand_ext_pillar allows all of its names. */
    const char *refused = pillar_not_on_demand(self->opts, self->env->ext);
    self->on_demand = json_array();
    if (refused != NULL)
        log_error("ext_pillar %s is not allowed on demand (option on_demand_ext_pillar)", refused);
    if (refused == NULL && self->env->ext != NULL) {
        json_t *list = value_get(self->opts, "ext_pillar");
        list = json_is_array(list) ? json_copy(list) : json_array();
        json_array_append(self->on_demand, self->env->ext);
        json_array_extend(list, self->on_demand);
        json_object_set_new(self->opts, "ext_pillar", list);
    }

    self->strategy = pillar_text(opts, "pillar_source_merging_strategy");
    self->strategy = self->strategy != NULL ? self->strategy : "smart";
    self->renderer = value_str(opts, "renderer", "jinja|yaml");
    self->merge_lists = value_bool(opts, "pillar_merge_lists", false);
    self->deadline_ms = clock_mono_ms() + value_int(opts, "pillar_timeout", LIMIT_PILLAR_TIME / 1000) * 1000;
}

compile_t *
compile_new(const pillar_env_t *env, bool nested)
{
    compile_t *self = xcalloc(1, sizeof(*self));

    self->env = env;
    self->nested = nested;
    pillar_configure(self);

    /* The pillar's file client; with `reads` wrapped to record what is looked at. */
    fileclient_t *inner = fileclient_local(self->opts, self->roots);
    self->files = self->env->reads != NULL ? reads_watch(self->env->reads, self->roots, &inner) : inner;

    self->state_files = fileclient_local(self->opts, NULL);
    self->known = env->known != NULL ? py_ref(env->known) : py_dict();
    self->avail = json_object();
    self->missing_ok = json_object();
    self->errors = json_array();
    open_context(self);
    return self;
}

void
compile_destroy(compile_t **self_p)
{
    compile_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    close_context(self);
    fileclient_destroy(&self->files);
    fileclient_destroy(&self->state_files);
    py_unref(self->known);
    json_decref(self->avail);
    json_decref(self->missing_ok);
    json_decref(self->errors);
    json_decref(self->grains);
    json_decref(self->on_demand);
    json_decref(self->opts);
    free(self);
}

/* ---- failures ------------------------------------------------------------------------------------------ */

/* Adds a text to the pillar's `_errors`. */
void
compile_error(compile_t *self, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    json_array_append_new(self->errors, value_utf8(text, strlen(text)));
}

int
compile_raised(fail_t *err)
{
    py_error_t e = PY_ERROR_INIT;

    py_take_error(&e);
    int rc = fail_set(err, -EINVAL, "%s: %s", e.type != NULL ? e.type->name : "Exception",
                      e.message != NULL ? e.message : "");
    py_error_free(&e);
    return rc;
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

int
compile_merge(compile_t *self, py_t **into_p, py_t *over, fail_t *err)
{
    py_t *merged = py_merge_for(*into_p, over, self->strategy, self->renderer, self->merge_lists);

    if (merged == NULL)
        return compile_raised(err);
    py_unref(*into_p);
    *into_p = merged;
    return 0;
}

/* Merges pillar= of the command line, except into nested compiles. */
static int
merge_override(compile_t *self, py_t **pillar_p, fail_t *err)
{
    py_t *override = self->env->override;

    return override != NULL && !self->nested && py_dict_len(override) > 0
               ? compile_merge(self, pillar_p, override, err)
               : 0;
}

/* The SLS files that the top file chooses, merged over the override; templates see neither it nor each other's
 * data. */
static int
pillar_render(compile_t *self, const json_t *top, py_t **pillar_p, fail_t *err)
{
    json_auto_t *matches = top_matches(self, top, err);

    if (matches == NULL)
        return -EINVAL;
    *pillar_p = self->env->override != NULL && !self->nested ? py_copy(self->env->override) : py_dict();
    return sls_render_all(self, matches, pillar_p, err);
}

/* Default order: SLS files, the override, then external sources. compile_run merges the override once more at
 * the end. */
static int
sources(compile_t *self, const json_t *top, py_t **pillar_p, fail_t *err)
{
    bool external = !self->nested && json_is_array(value_get(self->opts, "ext_pillar"));

    if (external && value_bool(self->opts, "ext_pillar_first", false)) {
        /* ext_pillar_first: the configured sources run first; top file and templates see their data, and
         * the SLS files override it. Data that the minion supplies (an override, a source of its own) is
         * merged only afterwards, so that no template decides by the minion's claims. */
        AUTO(py) outside = self->env->override != NULL ? py_copy(self->env->override) : py_dict();
        AUTO(py) facts = py_dict();
        if (ext_run(self, value_get(self->env->opts, "ext_pillar"), &facts, err) < 0)
            return -EINVAL;
        close_context(self);
        py_unref(self->known);
        self->known = py_ref(facts);
        open_context(self);
        if (pillar_render(self, top, pillar_p, err) < 0)
            return -EINVAL;
        AUTO(py) inside = *pillar_p;
        *pillar_p = NULL;
        if (merge_override(self, &outside, err) < 0 || compile_merge(self, &outside, facts, err) < 0 ||
            ext_run(self, self->on_demand, &outside, err) < 0)
            return -EINVAL;
        *pillar_p = STEAL(outside);
        return compile_merge(self, pillar_p, inside, err);
    }
    int rc = pillar_render(self, top, pillar_p, err);
    if (rc == 0 && external && json_array_size(value_get(self->opts, "ext_pillar")) > 0)
        rc = merge_override(self, pillar_p, err) < 0
                 ? -EINVAL
                 : ext_run(self, value_get(self->opts, "ext_pillar"), pillar_p, err);
    return rc;
}

/* NEW dict, or NULL with *err when a top file or include has a shape that Salt raises for. */
py_t *
compile_run(compile_t *self, fail_t *err)
{
    AUTO(py) pillar = NULL;
    json_auto_t *top = top_gather(self, err);
    json_auto_t *top_errors = self->errors;

    /* The top files' errors come last. */
    self->errors = json_array();
    if (top == NULL || sources(self, top, &pillar, err) < 0)
        return NULL;
    json_array_extend(self->errors, top_errors);

    /* pillar_opts: adds the master's configuration as the pillar's key `master`. */
    if (!self->nested && value_bool(self->opts, "pillar_opts", false)) {
        json_auto_t *opts = json_copy(self->opts);
        json_object_del(opts, "grains");
        json_object_set_new(opts, "saltversion", json_string(HALITE_VERSION));
        py_dict_sets_new(pillar, "master", py_from_json(opts));
    }

    /* ssh_merge_pillar: when this process's own pillar was known before, keys that the new one does not
     * replace are kept. */
    if (!self->nested && self->env->known != NULL && value_bool(self->opts, "ssh_merge_pillar", false)) {
        AUTO(py) fresh = pillar;
        pillar = py_ref(self->env->known);
        if (compile_merge(self, &pillar, fresh, err) < 0)
            return NULL;
    }

    /* Logs the errors and adds them under _errors. */
    json_t *one;
    size_t i;
    json_array_foreach (self->errors, i, one)
        log_error("pillar of %s: %s", self->env->id, json_string_value(one));
    if (i > 0)
        py_dict_sets_new(pillar, "_errors", py_from_json(self->errors));

    /* A remote minion's override is merged after decryption: otherwise it could have ciphertexts decrypted
     * for it. */
    if (!self->nested && self->env->peer_grains)
        decrypt_pillar(self, pillar);
    if (merge_override(self, &pillar, err) < 0)
        return NULL;
    if (!self->nested && !self->env->peer_grains)
        decrypt_pillar(self, pillar);
    return STEAL(pillar);
}

py_t *
pillar_compile(const pillar_env_t *env, fail_t *err)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, false);
    py_t *pillar = compile_run(self, err);

    if (pillar == NULL)
        fail_prefix(err, "pillar of %s: ", env->id);
    return pillar;
}

json_t *
pillar_top(const pillar_env_t *env, json_t **ret_errors, fail_t *err)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, false);
    json_auto_t *top = top_gather(self, err);
    json_t *out, *body, *row;
    const char *saltenv, *target;

    if (top == NULL)
        return NULL;
    out = json_object();
    json_object_foreach (top, saltenv, body) {
        json_t *targets = json_object();
        json_object_foreach (body, target, row)
            json_object_set(targets, target, value_get(row, "data"));
        json_object_set_new(out, saltenv, targets);
    }
    *ret_errors = json_incref(self->errors);
    return out;
}

/* Takes what a caller of pillar.items and its like asks for: environments, a source of its own, an
 * override. */
void
pillar_env_ask(pillar_env_t *env, const json_t *ask)
{
    const json_t *override = value_get(ask, "pillar");

    env->saltenv = pillar_text(ask, "saltenv") != NULL ? pillar_text(ask, "saltenv") : env->saltenv;
    env->pillarenv = pillar_text(ask, "pillarenv") != NULL ? pillar_text(ask, "pillarenv") : env->pillarenv;
    env->ext = json_is_object(value_get(ask, "ext")) ? value_get(ask, "ext") : NULL;
    if (!value_truthy(override))
        return;
    AUTO(py) given = py_from_wire(override);
    if (py_is(given, PY_DICT))
        env->override = env->peer_override ? py_peer(STEAL(given), SPAN_OWN) : STEAL(given);
    else
        log_error("Pillar data must be a dictionary"); /* as Salt: logged and ignored */
}
