/* pillar_sls.c - SLS files of the pillar: found, rendered, and merged with the SLS that they include.
 *
 * Each environment's SLS are rendered in the order of the top files. An SLS's `include` list is resolved
 * recursively (at most LIMIT_PILLAR_DEPTH) and merged below the including SLS, or above with
 * pillar_includes_override_sls. Rendered SLS are kept by name, so a second include reuses them. */
#include "common/pillar/pillar_int.h"

#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "salt/log.h"

/* ---- names and files ----------------------------------------------------------------------------------- */

int
sls_find(compile_t *self, const char *sls, const char *saltenv, char **ret_local, char **ret_path,
         fail_t *err)
{
    static const char *const ends[] = { ".sls", "/init.sls" };
    AUTO_FREE char *base = str_replace(sls, ".", "/");
    int rc = -ENOENT;

    for (size_t i = 0; i < NELEMS(ends) && rc == -ENOENT; i++) {
        AUTO_FREE char *path = xasprintf("%s%s", base, ends[i]);
        rc = fileclient_cache(self->files, path, saltenv, ret_local, err);
        if (rc == 0)
            *ret_path = STEAL(path);
    }
    return rc;
}

/* SLS names of a list of paths ("a/init.sls" is "a"): NEW array, sorted, without duplicates. */
static json_t *
pillar_sls_names(const json_t *paths)
{
    size_t n = 0, i;
    char **names = xcalloc(json_array_size(paths) + 1, sizeof(*names));
    json_t *path, *out = json_array();

    json_array_foreach (paths, i, path) {
        const char *text = json_string_value(path);
        if (!str_ends(text, ".sls"))
            continue;
        AUTO_FREE char *dotted = str_replace(text, "/", ".");
        size_t cut = str_ends(text, "/init.sls") ? strlen("/init.sls") : strlen(".sls");
        names[n++] = xstrndup(dotted, strlen(dotted) - cut);
    }
    qsort(names, n, sizeof(*names), str_by_text);
    for (i = 0; i < n; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            json_array_append_new(out, json_string(names[i]));
    strv_free(names);
    return out;
}

/* All SLS of an environment, cached for the compile. BORROWED; NULL with *err. */
static json_t *
avail(compile_t *self, const char *saltenv, fail_t *err)
{
    json_t *names = json_object_get(self->avail, saltenv);

    if (names != NULL)
        return names;
    json_auto_t *paths = fileclient_list(self->files, FILES_FILES, saltenv, "", err);
    if (paths == NULL)
        return NULL;
    names = pillar_sls_names(paths);
    json_object_set_new(self->avail, saltenv, names);
    return names;
}

static bool
env_exists(const compile_t *self, const char *saltenv)
{
    return strcmp(saltenv, "base") == 0 || json_object_get(self->roots, saltenv) != NULL;
}

/* fnmatch.filter over the SLS of an environment: appends to `out`. */
static int
pillar_sls_filter(compile_t *self, const char *saltenv, const char *pattern, json_t *out, fail_t *err)
{
    json_t *names = avail(self, saltenv, err), *name;
    size_t i;

    json_array_foreach (names, i, name)
        if (match_glob(pattern, json_string_value(name)))
            json_array_append(out, name);
    return names != NULL ? 0 : -EIO;
}

/* ---- one file ------------------------------------------------------------------------------------------ */

/* Renders within the time that is left of pillar_timeout. A document without content gives an empty dict. */
static py_t *
pillar_sls_render(compile_t *self, const render_source_t *source, fail_t *err)
{
    py_limits_t limits = { .deadline_ms = self->deadline_ms };
    py_scope_t scope;

    if (clock_mono_ms() >= self->deadline_ms) {
        (void) fail_set(err, -ETIMEDOUT, "the pillar's time (option pillar_timeout) is up");
        return NULL;
    }
    py_scope_enter(&scope, &limits);
    py_t *data = render_data(self->render, source, err);
    py_scope_leave(&scope);
    if (data == NULL || !py_is(data, PY_NONE))
        return data;
    py_unref(data);
    return py_dict();
}

/* `version` is the file's time of change in nanoseconds, the key of the renderer's template cache. */
py_t *
sls_load(compile_t *self, const char *local, const char *path, const char *sls, const char *saltenv,
         py_t *defaults, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    struct stat st;

    if (fs_read(local, LIMIT_TEMPLATE, &text, err) < 0)
        return NULL;
    const char *at = buf_str(&text);
    if (at[strspn(at, " \t\r\n\v\f")] == '\0' && strlen(at) == text.len)
        return py_dict();
    bool known = stat(local, &st) == 0;
    render_source_t source = { .text = buf_str(&text),
                               .len = text.len,
                               .path = local,
                               .version = known ? st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec : 0,
                               .sls = sls,
                               .tmplpath = path,
                               .saltenv = saltenv,
                               .pillar = self->known,
                               .context = defaults != NULL && py_is(defaults, PY_DICT) ? defaults : NULL };
    int64_t begin_us = clock_mono_us();
    py_t *data = pillar_sls_render(self, &source, err);
    log_debug("pillar of %s: %s%s in environment '%s' from %s %s in %.6f s", self->env->id,
              sls != NULL ? "SLS " : "the top file", sls != NULL ? sls : "", saltenv, local,
              data != NULL ? "rendered" : "did not render", (double) (clock_mono_us() - begin_us) / 1e6);
    return data;
}

/* ---- an SLS with what it includes ---------------------------------------------------------------------- */

/* State of one environment's SLS: data by SLS name, without the included data. */
typedef struct mods {
    const char *saltenv;
    py_t *by_sls;
} mods_t;

typedef struct include {
    const char *sls; /* as written */
    py_t *key, *defaults;
} include_t;

static int pillar_sls(compile_t *self, mods_t *mods, const char *sls, py_t *defaults, py_t **ret_state,
                      fail_t *err);

/* NEW array of the SLS that an include means. Salt filters twice, so an existing name appears twice, and a
 * relative one is also found at the top level. */
static json_t *
pillar_sls_meant(compile_t *self, const mods_t *mods, const include_t *inc, const char *sls, bool is_init,
                 fail_t *err)
{
    AUTO_FREE char *top = str_replace(inc->sls + strspn(inc->sls, "."), "/", ".");
    /* ".x" counts from the including SLS, or from its folder. More dots do not go up, as in Salt: one is taken
     * off here, and all of them above. */
    const char *dot = is_init ? NULL : strrchr(sls, '.');
    size_t len = is_init ? strlen(sls) : dot != NULL ? (size_t) (dot - sls) : 0;
    AUTO_FREE char *name = inc->sls[0] != '.' ? xstrdup(inc->sls)
                           : len > 0          ? xasprintf("%.*s.%s", (int) len, sls, inc->sls + 1)
                                              : xstrdup(inc->sls + 1);
    json_auto_t *out = json_array();

    if (!env_exists(self, mods->saltenv))
        compile_error(self, "No matching pillar environment for environment '%s' found", mods->saltenv);
    else if (pillar_sls_filter(self, mods->saltenv, top, out, err) < 0 ||
             pillar_sls_filter(self, mods->saltenv, name, out, err) < 0)
        return NULL;
    if (json_array_size(out) == 0)
        json_array_append_new(out, value_utf8(name, strlen(name)));
    return STEAL(out);
}

/* Wraps `state` as {a: {b: state}} for the key "a:b". TAKES `state`, gives NEW. */
static py_t *
under_key(py_t *state, const char *key)
{
    char **parts = str_split(key, ":", false);

    for (size_t n = strv_len(parts); n-- > 0;) {
        py_t *outer = py_dict();
        py_dict_sets_new(outer, parts[n], state);
        state = outer;
    }
    strv_free(parts);
    return state;
}

/* Merges one included SLS into *into_p, under its key; it is rendered unless an earlier include did so. */
static int
include_one(compile_t *self, mods_t *mods, const include_t *inc, const char *meant, py_t **into_p,
            fail_t *err)
{
    AUTO(py) state = py_ref(py_dict_gets(mods->by_sls, meant));

    if (state == NULL && pillar_sls(self, mods, meant, inc->defaults, &state, err) < 0)
        return -EINVAL;
    if (state == NULL || py_truth(state) != 1)
        return 0;
    bool keyed = inc->key != NULL && py_truth(inc->key) == 1;
    AUTO(py) placed = keyed ? under_key(py_ref(state), py_cstr(inc->key)) : py_ref(state);
    if (*into_p != NULL)
        return compile_merge(self, into_p, placed, err);
    *into_p = STEAL(placed);
    return 0;
}

/* Merges what an SLS includes into *into_p, in the order of the list. */
static int
include_all(compile_t *self, mods_t *mods, const char *sls, bool is_init, py_t *includes, py_t *defaults,
            py_t **into_p, fail_t *err)
{
    include_t inc = { .defaults = defaults };

    for (size_t i = 0; i < py_seq_len(includes); i++) {
        /* Parses "name" or {name: {key, defaults}}. As in Salt, `defaults` of one entry also apply to the
         * entries after it. */
        py_t *item = py_seq_at(includes, i);
        py_t *name = item, *how = NULL;
        size_t j = 0;
        inc.key = NULL;
        if (py_is(item, PY_DICT)) {
            if (!py_dict_next(item, &j, &name, &how) || !py_is(how, PY_DICT)) {
                (void) fail_set(err, -EINVAL,
                                "SLS '%s': an include with options is '- name: {key: ..., defaults: ...}'",
                                sls);
                return -EINVAL;
            }
            inc.key = py_dict_gets(how, "key");
            inc.defaults = py_dict_gets(how, "defaults");
        }
        if (!py_is(name, PY_STR)) {
            (void) fail_set(err, -EINVAL, "SLS '%s': what it includes must be a name, not %s", sls,
                            py_type_name(name));
            return -EINVAL;
        }
        if (inc.key != NULL && py_truth(inc.key) == 1 && !py_is(inc.key, PY_STR)) {
            (void) fail_set(err, -EINVAL, "SLS '%s': the key of an include must be text", sls);
            return -EINVAL;
        }
        inc.sls = py_cstr(name);

        json_auto_t *meant = pillar_sls_meant(self, mods, &inc, sls, is_init, err);
        json_t *one;
        size_t k;
        if (meant == NULL)
            return -EINVAL;
        json_array_foreach (meant, k, one)
            if (include_one(self, mods, &inc, json_string_value(one), into_p, err) < 0)
                return -EINVAL;
    }
    return 0;
}

/* Removes `include` from *state_p and merges the included SLS under it, or over it when so configured. */
static int
include(compile_t *self, mods_t *mods, const char *sls, bool is_init, py_t *defaults, py_t **state_p,
        fail_t *err)
{
    AUTO(py) includes = py_ref(py_dict_gets(*state_p, "include"));
    AUTO(py) name = py_strz("include");
    AUTO(py) under = NULL;

    if (!py_is(includes, PY_LIST)) {
        compile_error(self, "Include Declaration in SLS '%s' is not formed as a list", sls);
        return 0;
    }
    if (self->depth >= LIMIT_PILLAR_DEPTH)
        return fail_set(err, -ELOOP, "SLS '%s': more than %d SLS include each other", sls,
                        LIMIT_PILLAR_DEPTH);
    (void) py_dict_del(*state_p, name);
    bool over = value_bool(self->opts, "pillar_includes_override_sls", false);
    self->depth++;
    int rc = include_all(self, mods, sls, is_init, includes, defaults, over ? state_p : &under, err);
    self->depth--;
    if (rc < 0 || over || under == NULL)
        return rc;
    rc = compile_merge(self, &under, *state_p, err);
    if (rc == 0) {
        py_unref(*state_p);
        *state_p = STEAL(under);
    }
    return rc;
}

/* Renders one SLS. *ret_state is NEW, or NULL when there is nothing to lay on the pillar. */
static int
pillar_sls(compile_t *self, mods_t *mods, const char *sls, py_t *defaults, py_t **ret_state, fail_t *err)
{
    AUTO_FREE char *local = NULL;
    AUTO_FREE char *path = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = sls_find(self, sls, mods->saltenv, &local, &path, &why);

    if (rc == -ENOENT) {
        /* A missing SLS is silent with ignore_missing or without folders for the environment, else an
         * error, once per SLS. */
        const json_t *ok = json_object_get(self->missing_ok, mods->saltenv);
        if (json_object_get(ok, sls) != NULL) {
            log_debug("Skipping ignored and missing SLS '%s' in environment '%s'", sls, mods->saltenv);
        } else if (!value_truthy(json_object_get(self->roots, mods->saltenv))) {
            log_debug(
                "Specified SLS '%s' in environment '%s' was not found: the environment has no folders in "
                "pillar_roots",
                sls, mods->saltenv);
        } else {
            compile_error(self, "Specified SLS '%s' in environment '%s' is not available on the salt master",
                          sls, mods->saltenv);
            py_dict_sets_new(mods->by_sls, sls, py_dict());
        }

        return 0;
    }
    AUTO(py) state = rc == 0 ? sls_load(self, local, path, sls, mods->saltenv, defaults, &why) : NULL;
    py_dict_sets(mods->by_sls, sls, state != NULL ? state : PY_None);
    if (state == NULL) {
        /* Logs a failed SLS. By default the pillar only gets a short text, since the details may contain
         * secrets (pillar_safe_render_error). */
        AUTO_FREE char *text = xasprintf("Rendering SLS '%s' failed, render error:\n%s", sls,
                                         fail_text(&why));
        log_error("pillar of %s: %s", self->env->id, text);
        if (value_bool(self->opts, "pillar_safe_render_error", true))
            compile_error(self, "Rendering SLS '%s' failed. Please see master log for details.", sls);
        else
            compile_error(self, "%s", text);

        return 0;
    }
    if (!py_is(state, PY_DICT) && py_truth(state) == 1)
        compile_error(self, "SLS '%s' does not render to a dictionary", sls);
    else if (py_is(state, PY_DICT) && py_dict_gets(state, "include") != NULL &&
             include(self, mods, sls, str_ends(path, "/init.sls"), defaults, &state, err) < 0)
        return -EINVAL;
    *ret_state = STEAL(state);
    return 0;
}

/* ---- all of them --------------------------------------------------------------------------------------- */

/* SLS names for a top file's words, globs expanded; a glob without a match stays a name. NEW array. */
static json_t *
pillar_sls_expand(compile_t *self, const char *saltenv, const json_t *words, fail_t *err)
{
    json_auto_t *out = json_array();
    json_t *word;
    size_t i;

    json_array_foreach (words, i, word) {
        size_t before = json_array_size(out);
        if (!env_exists(self, saltenv))
            compile_error(self, "No matching pillar environment for environment '%s' found", saltenv);
        else if (match_has_glob(json_string_value(word)) &&
                 pillar_sls_filter(self, saltenv, json_string_value(word), out, err) < 0)
            return NULL;
        if (json_array_size(out) == before)
            json_array_append(out, word);
    }
    return STEAL(out);
}

int
sls_render_all(compile_t *self, const json_t *matches, py_t **pillar_p, fail_t *err)
{
    const char *saltenv;
    json_t *words;

    json_object_foreach ((json_t *) matches, saltenv, words) {
        json_auto_t *names = pillar_sls_expand(self, saltenv, words, err);
        AUTO(py) by_sls = py_dict();
        mods_t mods = { saltenv, by_sls };
        json_t *name;
        size_t i;

        if (names == NULL)
            return -EINVAL;
        json_array_foreach (names, i, name) {
            AUTO(py) state = NULL;
            if (pillar_sls(self, &mods, json_string_value(name), NULL, &state, err) < 0)
                return -EINVAL;
            if (state == NULL)
                continue;
            if (!py_is(state, PY_DICT))
                log_error("pillar SLS '%s' is not a mapping and is left out", json_string_value(name));
            else if (compile_merge(self, pillar_p, state, err) < 0)
                return -EINVAL;
        }
    }
    return 0;
}
