/* tops.c - the sources of master_tops in Salt's order, each merged over what the ones before said.
 *
 * `ext_nodes` is built in: a command that gets the minion's id and prints YAML. All others are functions top()
 * of files in Python, users' or Salt's own; a user's file goes before what is built in. What a source says is
 * data: names of SLS files, which no template sees. */
#include "common/pillar/tops.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/host/proc.h"
#include "common/host/prog.h"
#include "common/pillar/pillar_int.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_yaml.h"
#include "common/python/userfile.h"
#include "salt/log.h"

/* Salt's own, which come behind users' files. */
static const char *const salts[] = { "cobbler", "ext_nodes", "mongo", "reclass", "saltclass", "varstack" };

/* ---- ext_nodes --------------------------------------------------------------------------------- */

/* Appends what the command prints. The id is the last argument: a word of its own, seen by no shell. */
static int
ext_nodes_output(const compile_t *self, const json_t *command, buf_t *out, fail_t *err)
{
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t res = { 0 };
    int64_t left = self->deadline_ms - clock_mono_ms();
    size_t n = 0;

    if (!json_is_string(command))
        return fail_set(err, -EINVAL, "it needs a command, as text");
    if (!conf_id_valid(self->env->id, err)) {
        fail_prefix(err, "the id does not become an argument: ");
        return err->code;
    }
    char **words = prog_split(json_string_value(command), err);
    while (words != NULL && words[n] != NULL)
        n++;
    if (n == 0) {
        strv_free(words);
        return err->code < 0 ? err->code : fail_set(err, -EINVAL, "it needs a command, as text");
    }
    words = xrealloc(words, (n + 2) * sizeof(*words));
    words[n] = xstrdup(self->env->id);
    words[n + 1] = NULL;

    spec.argv = words;
    spec.timeout_ms = left > 1 ? (int) left : 1;
    spec.out_limit = LIMIT_EXT_PILLAR;
    int rc = proc_run(&spec, &res, err);
    if (rc == 0 && res.timed_out)
        rc = fail_set(err, -ETIMEDOUT, "'%s' took longer than pillar_timeout and was ended", words[0]);
    else if (rc == 0 && res.dropped > 0)
        rc = fail_set(err, -EFBIG, "'%s' printed more than %d bytes", words[0], LIMIT_EXT_PILLAR);
    else if (rc == 0 && res.status != 0)
        rc = fail_set(err, -EIO, "'%s' ended with exit code %d: %s", words[0], res.status,
                      buf_str(&res.errs));
    if (rc == 0)
        buf_add(out, res.out.data, res.out.len);
    proc_result_free(&res);
    strv_free(words);
    return rc;
}

/* {environment: classes} of what the command printed, as Salt reads it. NEW, or NULL with *err. */
static py_t *
ext_nodes(const compile_t *self, fail_t *err)
{
    const json_t *command = value_get(value_get(self->opts, "master_tops"), "ext_nodes");
    yproblem_t problem = YPROBLEM_INIT;
    buf_auto_t out = BUF_INIT;
    py_t *key, *value;

    if (ext_nodes_output(self, command, &out, err) < 0)
        return NULL;
    AUTO(py) said = py_yaml_load_safe(buf_str(&out), out.len, &problem);
    if (said == NULL) {
        AUTO_FREE char *words = yproblem_show(&problem, NULL, buf_str(&out), out.len);
        (void) fail_set(err, -EINVAL, "what '%s' printed: %s", json_string_value(command), words);
        py_clear();
    } else if (!py_is(said, PY_DICT)) {
        (void) fail_set(err, -EINVAL, "'%s' printed no mapping with 'classes' but %s",
                        json_string_value(command), py_type_name(said));
    }
    yproblem_free(&problem);
    if (err->code < 0)
        return NULL;

    AUTO(py) env = py_ref(py_dict_gets(said, "environment"));
    py_t *classes = py_dict_gets(said, "classes");
    AUTO(py) list = py_list();
    py_t *ret = py_dict();
    if (env == NULL)
        env = py_strz("base");
    if (classes == NULL) {
        log_info("master_tops ext_nodes call did not have a dictionary with a \"classes\" key.");
        return ret;
    }
    for (size_t at = 0; py_is(classes, PY_DICT) && py_dict_next(classes, &at, &key, &value);)
        py_append(list, key);
    if (py_is(classes, PY_DICT) || py_is(classes, PY_LIST))
        (void) py_dict_set(ret, env, py_is(classes, PY_DICT) ? list : classes);
    return ret;
}

/* ---- files in Python --------------------------------------------------------------------------- */

/* Calls top(opts=, grains=). A minion of a master is told of by its id, its environments and its grains: its
 * other options stay with it. */
static py_t *
tops_python(const compile_t *self, const char *name, fail_t *err)
{
    const userfile_t what = { .kind = "tops", .module = name, .fun = "top", .log_fails = true };
    const py_limits_t limits = { .deadline_ms = self->deadline_ms };
    static const char *const told[] = { "id", "minion_id", "saltenv", "pillarenv", "grains" };
    json_auto_t *opts = self->env->peer_grains ? json_object() : json_copy(self->opts);
    AUTO(py) args = py_list();
    AUTO(py) kwargs = py_dict();
    py_scope_t scope;

    for (size_t i = 0; i < NELEMS(told); i++)
        json_object_set(opts, told[i], value_get(self->opts, told[i]));
    py_dict_sets_new(kwargs, "opts", py_from_json(opts));
    py_dict_sets_new(kwargs, "grains", py_from_json(self->grains));
    py_scope_enter(&scope, &limits);
    py_t *said = userfile_call(self->ctx, &what, args, kwargs, NULL, err);
    py_scope_leave(&scope);
    return said;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static bool
tops_is_salts(const char *name)
{
    for (size_t i = 0; i < NELEMS(salts); i++)
        if (strcmp(salts[i], name) == 0)
            return true;
    return false;
}

/* True when the source comes in that half of Salt's order: first users' files, then Salt's own. */
static bool
in_half(const compile_t *self, const char *name, bool users)
{
    return users == (!tops_is_salts(name) || userfile_is_named(self->ctx, "tops", name));
}

/* Takes no answer but {environment: [SLS]}: the compiler of states gets nothing else. */
static int
tops_check(const py_t *said, fail_t *err)
{
    py_t *env, *list;

    if (!py_is(said, PY_DICT))
        return fail_set(err, -EINVAL, "it gave no mapping of environments but %s", py_type_name(said));
    for (size_t at = 0; py_dict_next(said, &at, &env, &list);) {
        const char *name = py_is(env, PY_STR) ? py_cstr(env) : py_type_name(env);
        if (!py_is(env, PY_STR) || !py_is(list, PY_LIST))
            return fail_set(err, -EINVAL, "environment %s has no list of SLS", name);
        for (size_t i = 0; i < py_seq_len(list); i++)
            if (!py_is(py_seq_at(list, i), PY_STR))
                return fail_set(err, -EINVAL, "environment %s names as an SLS what is no text", name);
    }
    return 0;
}

/* Merges one source's answer into *tops_p; a failure is logged and changes nothing. */
static void
tops_ask(compile_t *self, const char *name, py_t **tops_p)
{
    bool native = strcmp(name, "ext_nodes") == 0 && !userfile_is_named(self->ctx, "tops", name);
    fail_auto_t err = FAIL_INIT;
    AUTO(py) said = native ? ext_nodes(self, &err) : tops_python(self, name, &err);

    if (said == NULL && !native && err.kind == FAIL_UNAVAILABLE) {
        const char *reason = fail_text(&err);
        log_error("Top function %s is not available%s%s: a file of that name is missing in _tops (salt-run "
                  "saltutil.sync_tops, option top_dirs), or Salt's own (option python_salt)",
                  name, *reason != '\0' ? ": " : "", reason);
        return;
    }
    if (said != NULL && tops_check(said, &err) == 0) {
        py_t *merged = py_merge(*tops_p, said, "smart", true);
        if (merged != NULL) {
            py_unref(*tops_p);
            *tops_p = merged;
            return;
        }
        (void) compile_raised(&err);
    }
    log_error(
        "Top function %s failed with error %s for minion %s: its states are left out (option master_tops)",
        name, fail_text(&err), self->env->id);
}

json_t *
tops_find(const pillar_env_t *env)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, true);
    json_auto_t *names = value_sorted_keys(value_get(self->opts, "master_tops"));
    AUTO(py) tops = py_dict();
    json_t *name;
    size_t i;

    for (int half = 0; half < 2; half++)
        json_array_foreach (names, i, name)
            if (in_half(self, json_string_value(name), half == 0))
                tops_ask(self, json_string_value(name), &tops);
    json_t *plain = py_to_json(tops);
    return plain != NULL ? plain : json_object();
}
