/* pillar_top.c - the pillar's top files: gathered over all environments, merged, matched against one minion.
 *
 * Each environment's top file and the files that it includes are rendered; later ones replace the lists of
 * equal targets. Targets keep Salt's order. top_matches then picks the SLS whose targets match the minion. */
#include "common/pillar/pillar_int.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "salt/log.h"

/* ---- gathering ----------------------------------------------------------------------------------------- */

/* An environment that nothing gives pillars to leaves the pillar empty, which is Salt's answer too. git_pillar has
 * environments of its own. */
static void
say_no_env(const compile_t *self)
{
    json_t *sources = value_get(self->opts, "ext_pillar"), *source, *dirs;
    buf_auto_t known = BUF_INIT;
    const char *env;
    size_t i;

    json_array_foreach (sources, i, source)
        if (value_get(source, "git") != NULL)
            return;
    json_object_foreach (self->roots, env, dirs)
        buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", env);
    log_warning("pillar of %s: there is no environment '%s' in pillar_roots, which has: %s", self->env->id,
                self->pillarenv, buf_str(&known));
}

/* Environments whose top files count: pillarenv alone; with strategy "none" the minion's saltenv or base;
 * else all, base first. NEW array. */
static json_t *
pillar_top_envs(const compile_t *self)
{
    json_t *envs = json_array(), *dirs;
    const char *env;

    if (self->pillarenv != NULL) {
        if (json_object_get(self->roots, self->pillarenv) != NULL)
            json_array_append_new(envs, json_string(self->pillarenv));
        else if (json_object_get(self->roots, "__env__") == NULL)
            say_no_env(self);
        return envs;
    }
    const char *only = strcmp(self->strategy, "none") != 0 ? NULL
                       : self->env->saltenv != NULL        ? self->env->saltenv
                                                           : "base";
    if (only == NULL || strcmp(only, "base") == 0)
        json_array_append_new(envs, json_string("base"));
    json_object_foreach (self->roots, env, dirs)
        if (strcmp(env, "base") != 0 && (only == NULL || strcmp(only, env) == 0))
            json_array_append_new(envs, json_string(env));
    return envs;
}

/* Path of the top file below the roots: the option state_top serves the pillar, too, as in Salt. */
static const char *
top_file(const compile_t *self)
{
    const char *name = value_str(self->opts, "state_top", "top.sls");

    name += str_starts(name, "salt://") ? strlen("salt://") : 0;
    return name + strspn(name, "/");
}

/* Rendered top files and their paths. */
typedef struct tops {
    py_t *data;    /* list */
    json_t *paths; /* array, in the same order */
} tops_t;

static void
tops_free(tops_t *self)
{
    py_unref(self->data);
    json_decref(self->paths);
}

/* TAKES `data`. */
static void
tops_add(tops_t *self, py_t *data, const char *local)
{
    py_append_new(self->data, data);
    json_array_append_new(self->paths, value_utf8(local, strlen(local)));
}

/* Loads the files that a top file includes; their own includes are not followed, as in Salt. */
static void
load_includes(compile_t *self, py_t *top, const char *saltenv, tops_t *tops)
{
    py_t *includes = py_is(top, PY_DICT) ? py_dict_gets(top, "include") : NULL;
    AUTO(py) done = py_set(false);
    bool listed = includes != NULL && py_is(includes, PY_LIST);

    for (size_t i = 0; listed && i < py_seq_len(includes); i++) {
        py_t *name = py_seq_at(includes, i);
        if (!py_is(name, PY_STR) || py_in(name, done) == 1)
            continue;
        (void) py_set_add(done, name);

        /* Loads the files that a top file includes. */
        AUTO_FREE char *local = NULL;
        AUTO_FREE char *path = NULL;
        fail_auto_t err = FAIL_INIT;
        const char *sls = py_cstr(name);
        if (sls_find(self, sls, saltenv, &local, &path, &err) == -ENOENT) {
            log_error("the pillar's top file of environment '%s' includes '%s', which is not there", saltenv,
                      sls);
            continue;
        }
        py_t *data = local != NULL ? sls_load(self, local, path, NULL, saltenv, NULL, &err) : NULL;
        if (data != NULL)
            tops_add(tops, data, local);
        else
            compile_error(self, "Rendering Top file %s failed, render error:\n%s", sls, fail_text(&err));
    }
}

/* Loads the environments' own top files; `of` gets the environment of each. The first failure ends the loop,
 * as in Salt. */
static void
own_tops(compile_t *self, tops_t *own, json_t *of)
{
    json_auto_t *envs = pillar_top_envs(self);
    json_t *env;
    size_t i;

    json_array_foreach (envs, i, env) {
        fail_auto_t err = FAIL_INIT;

        /* Loads an environment's top file; a missing one is not an error. */
        const char *saltenv = json_string_value(env);
        AUTO_FREE char *local = NULL;
        int rc = fileclient_cache(self->files, top_file(self), saltenv, &local, &err);

        if (rc == -ENOENT)
            fail_clear(&err);
        py_t *top = rc == 0 ? sls_load(self, local, top_file(self), NULL, saltenv, NULL, &err) : NULL;
        if (top != NULL)
            tops_add(own, top, local);
        if (err.code < 0) {
            compile_error(self, "Rendering Primary Top file failed, render error:\n%s", fail_text(&err));
            return;
        }

        if (json_array_size(own->paths) > json_array_size(of))
            json_array_append(of, env);
    }
}

/* ---- merging ------------------------------------------------------------------------------------------- */

/* Parsed list of one target. */
typedef struct entry {
    json_t *matches, *sls; /* arrays */
    long long order;
    bool ignore_missing;
} entry_t;

/* A name that a target lists twice counts once, at its first place. */
static void
pillar_top_add_sls(json_t *list, py_t *name)
{
    json_auto_t *text = py_to_json(name);
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one)
        if (json_equal(one, text))
            return;
    json_array_append(list, text);
}

/* 0, or -1 raised. */
static int
read_entry(entry_t *entry, py_t *parts)
{
    py_iter_t it;
    py_t *part;

    if (py_iter_start(&it, parts) < 0)
        return -1;
    while ((part = py_iter_next(&it)) != NULL) {
        /* Reads an item of a target's list: an SLS name, a match type, `order` or `ignore_missing`. */
        py_t *order, *missing;
        if (py_is(part, PY_STR))
            pillar_top_add_sls(entry->sls, part);
        if (py_is(part, PY_DICT)) {
            if (py_dict_gets(part, "match") != NULL)
                json_array_append_new(entry->matches, py_to_json(part));
            if ((order = py_dict_gets(part, "order")) != NULL) {
                /* A number, or a text of one; anything else counts as 0. */
                int64_t n = 0;
                long long parsed = 0;
                if (!py_to_int64(order, &n) && str_to_int(py_cstr(order), INT32_MIN, INT32_MAX, &parsed))
                    n = parsed;
                entry->order = n;
            }
            missing = py_dict_gets(part, "ignore_missing");
            entry->ignore_missing = entry->ignore_missing || (missing != NULL && py_truth(missing) == 1);
        }

        py_unref(part);
    }
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : 0;
}

/* Sets a target's row. A target that an earlier top file has keeps its place and gets the new list. 0, or -1
 * raised. */
static int
merge_target(compile_t *self, const char *saltenv, py_t *target, py_t *parts, json_t *path, json_t *body)
{
    entry_t entry = { json_array(), json_array(), 0, false };
    AUTO(py) name = py_tostr(target);
    int rc = name != NULL ? read_entry(&entry, parts) : -1;

    if (rc == 0) {
        /* Marks the SLS whose absence is not an error. */
        json_t *of_env = json_object_get(self->missing_ok, saltenv), *one;
        size_t i;
        if (entry.ignore_missing) {
            if (of_env == NULL) {
                of_env = json_object();
                json_object_set_new(self->missing_ok, saltenv, of_env);
            }
            json_array_foreach (entry.sls, i, one)
                json_object_set_new(of_env, json_string_value(one), json_true());
        }

        json_array_extend(entry.matches, entry.sls);
        json_object_set_new(body, py_cstr(name),
                            json_pack("{s:O, s:I, s:b, s:O}", "data", entry.matches, "order",
                                      (json_int_t) entry.order, "text", py_is(target, PY_STR), "path", path));
    }
    json_decref(entry.matches);
    json_decref(entry.sls);
    return rc;
}

/* Merges one environment of a top file. 0, or -1 raised. */
static int
merge_env(compile_t *self, const char *saltenv, py_t *targets, json_t *path, json_t *into)
{
    json_t *body = json_object_get(into, saltenv);
    py_iter_t it;
    py_t *target;
    int rc = 0;

    if (py_iter_start(&it, targets) < 0)
        return -1;
    if (body == NULL) {
        body = json_object();
        json_object_set_new(into, saltenv, body);
    }
    while (rc == 0 && (target = py_iter_next(&it)) != NULL) {
        AUTO(py) parts = py_getitem(targets, target);
        rc = parts != NULL ? merge_target(self, saltenv, target, parts, path, body) : -1;
        py_unref(target);
    }
    py_iter_end(&it);
    return rc < 0 || py_raised() != NULL ? -1 : 0;
}

/* Merges one top file into {saltenv: {target: row}}. 0, or -1 raised: with Python's AttributeError for data
 * that is not a mapping. */
static int
merge_top(compile_t *self, py_t *top, json_t *path, json_t *into)
{
    py_t *env, *targets;

    if (!py_is(top, PY_DICT)) {
        py_raise(&py_AttributeError, "'%s' object has no attribute 'items'", py_type_name(top));
        return -1;
    }
    for (size_t i = 0; py_dict_next(top, &i, &env, &targets);) {
        AUTO(py) name = py_tostr(env);
        if (name == NULL ||
            (!py_str_is(name, "include") && merge_env(self, py_cstr(name), targets, path, into) < 0))
            return -1;
    }
    return 0;
}

/* Sorts each environment by the targets' `order`, stable. A selection sort is enough, as orders are few. */
static void
sort(json_t *top)
{
    const char *env, *target;
    json_t *body, *row;
    void *tmp;

    json_object_foreach_safe (top, tmp, env, body) {
        size_t n = json_object_size(body), left = n;
        json_t *sorted = json_object();
        while (left > 0) {
            const char *least = NULL;
            json_int_t order = 0;
            json_object_foreach (body, target, row)
                if (json_object_get(sorted, target) == NULL &&
                    (least == NULL || value_int(row, "order", 0) < order)) {
                    least = target;
                    order = value_int(row, "order", 0);
                }
            json_object_foreach (body, target, row)
                if (json_object_get(sorted, target) == NULL && value_int(row, "order", 0) == order) {
                    json_object_set(sorted, target, row);
                    left--;
                }
        }
        json_object_set_new(top, env, sorted);
    }
}

/* Moves an environment to the end: of several that set a key, the last one counts. */
static void
put_last(json_t *top, const char *env)
{
    json_auto_t *body = json_incref(json_object_get(top, env));

    if (body == NULL)
        return;
    json_object_del(top, env);
    json_object_set(top, env, body);
}

json_t *
top_gather(compile_t *self, fail_t *err)
{
    tops_t own = { py_list(), json_array() }, tops = { py_list(), json_array() };
    json_auto_t *of = json_array(), *top = json_object();
    int rc = 0;

    /* Each environment's top file, followed by the files that it includes. */
    own_tops(self, &own, of);
    for (size_t i = 0; i < py_seq_len(own.data); i++) {
        py_t *one_top = py_seq_at(own.data, i);
        tops_add(&tops, py_ref(one_top), json_string_value(json_array_get(own.paths, i)));
        load_includes(self, one_top, json_string_value(json_array_get(of, i)), &tops);
    }
    tops_free(&own);
    for (size_t i = 0; rc == 0 && i < py_seq_len(tops.data); i++)
        rc = merge_top(self, py_seq_at(tops.data, i), json_array_get(tops.paths, i), top);
    tops_free(&tops);
    if (rc < 0 && py_raised_is(&py_TypeError)) {
        /* Salt handles this exception, and then has no top file; others end the compile. */
        py_clear();
        json_object_clear(top);
        compile_error(self, "Error encountered while rendering pillar top file.");
    } else if (rc < 0) {
        (void) compile_raised(err);
        fail_prefix(err, "the pillar's top file: ");
        return NULL;
    }
    sort(top);

    /* Environments in the order of pillar_roots, and those of env_order behind them in its order. */
    json_t *order = value_get(self->opts, "env_order"), *one;
    const char *env;
    size_t i;

    json_object_foreach ((json_t *) self->roots, env, one)
        put_last(top, env);
    json_array_foreach (order, i, one)
        if (json_is_string(one))
            put_last(top, json_string_value(one));

    return STEAL(top);
}

/* ---- matching ------------------------------------------------------------------------------------------ */

/* 1 when the target matches the minion, 0 when not, negative with *err for an unknown match type, where Salt
 * raises. A target that cannot be parsed is logged and does not match. */
static int
confirm(compile_t *self, const char *target, const json_t *row, fail_t *err)
{
    /* The last `match:` of a target's list, "compound" without one. */
    const json_t *data = value_get(row, "data");
    const char *word = "compound";
    const json_t *part;
    size_t i;
    json_array_foreach (data, i, part)
        if (json_is_object(part))
            word = value_str(part, "match", "");

    fail_auto_t why = FAIL_INIT;
    tgt_type_t type;

    if (!tgt_type_parse(word, &type))
        return fail_set(err, -EINVAL, "the pillar's top file: target '%s': '%s' is not a kind of target",
                        target, word);
    if (!value_bool(row, "text", true))
        return 0;
    json_auto_t *expr = json_string(target);
    AUTO(target) tgt = target_new(expr, type, value_get(self->opts, "nodegroups"), NULL, &why);
    if (tgt == NULL) {
        log_error("the pillar's top file: target '%s': %s", target, fail_text(&why));
        return 0;
    }
    if (target_needs_claims(tgt))
        claims_tell(self, value_str(row, "path", ""), target);
    json_auto_t *pillar = target_needs_pillar(tgt) ? py_to_json(self->known) : NULL;
    if (py_raised() != NULL)
        return compile_raised(err);
    match_subject_t subject = { self->env->id, self->grains, pillar, NULL };
    return target_match(tgt, &subject) ? 1 : 0;
}

/* Appends the SLS of a target's list that no earlier target brought. */
static void
take_sls(json_t *into, const json_t *data)
{
    json_t *part, *have;
    size_t i, k;

    json_array_foreach (data, i, part) {
        bool known = !json_is_string(part);
        json_array_foreach (into, k, have)
            known = known || json_equal(have, part);
        if (!known)
            json_array_append(into, part);
    }
}

json_t *
top_matches(compile_t *self, const json_t *top, fail_t *err)
{
    json_auto_t *matches = json_object();
    const char *env, *target;
    json_t *body, *row;

    json_object_foreach ((json_t *) top, env, body) {
        if (self->pillarenv != NULL && strcmp(env, self->pillarenv) != 0)
            continue;
        json_object_foreach (body, target, row) {
            int rc = confirm(self, target, row, err);
            if (rc < 0)
                return NULL;
            log_trace("pillar of %s: the top file's target '%s' in environment '%s' %s", self->env->id,
                      target, env, rc == 1 ? "matches" : "does not match");
            if (rc == 1 && json_object_get(matches, env) == NULL)
                json_object_set_new(matches, env, json_array());
            if (rc == 1)
                take_sls(json_object_get(matches, env), value_get(row, "data"));
        }
    }
    return STEAL(matches);
}
