/* high.c - SLS files to high data: Salt's render_state() and render_highstate().
 *
 * Salt merges what an SLS includes into the SLS, level by level. Here all SLS of one tree of includes go into
 * one dict, each before what it includes: the same order, without copying each ID once per level. */
#include "common/state/high.h"

#include "common/base/str.h"
#include "salt/log.h"

typedef struct render_run {
    highstate_t *high;
    json_t *matches; /* what was asked for; NULL: nothing */
    py_t *tree;      /* the result */
    json_t *errors;
    int depth;
    const struct sls_run *includer; /* whose includes are rendered; NULL: what was asked for */
} render_run_t;

/* An SLS while it is rendered and merged. */
typedef struct sls_run {
    render_run_t *run;
    const char *sls, *saltenv;
    bool is_init; /* nginx/init.sls: a relative include starts inside nginx */
} sls_run_t;

static void render_sls(render_run_t *run, const char *sls, const char *saltenv);

/* Add the location of a key to the last error. */
static void
say_place(const render_run_t *run, const sls_run_t *in, const char *key)
{
    const high_env_t env = { .from = run->high };

    place_add(&env, run->errors, in->saltenv, in->sls, key);
}

/* ---- includes -------------------------------------------------------------------------------- */

static char *
show_envs(const json_t *envs)
{
    buf_auto_t text = BUF_INIT;
    json_t *name;
    size_t i;

    json_array_foreach (envs, i, name) {
        buf_printf(&text, "%s%s", i > 0 ? ", " : "", json_string_value(name));
    }
    return buf_steal(&text);
}

/* Resolve an include with leading dots: ".conf" within nginx is nginx.conf, "..common" within web.nginx is
 * web.common. An init.sls is a package itself and counts as one part more. NEW, or NULL with the error added
 * if there are more dots than parts. */
static char *
resolve_relative(const sls_run_t *self, const char *target)
{
    size_t level = strspn(target, "."), parts = 1 + self->is_init;
    const char *end = self->sls + strlen(self->sls);

    for (const char *p = self->sls; *p != '\0'; p++)
        parts += *p == '.';
    if (level > parts) {
        add_error(self->run->errors,
                  "Attempted relative include of '%s' within SLS '%s:%s' goes beyond top level package ",
                  target, self->saltenv, self->sls);
        return NULL;
    }
    for (size_t drop = level - self->is_init; drop > 0 && end > self->sls; drop--)
        while (end > self->sls && *--end != '.')
            ;
    int len = (int) (end - self->sls);
    return xasprintf("%.*s%s%s", len, self->sls, parts > level ? "." : "", target + level);
}

/* The environments that have the included SLS: the named one, or for "_xenv" those of the matches. NEW
 * array. */
static json_t *
resolve_envs(const sls_run_t *self, const char *saltenv, const char *target)
{
    json_t *envs = json_array(), *matches = self->run->matches;
    highstate_t *high = self->run->high;
    const char *name;
    json_t *value;

    if (strcmp(saltenv, "_xenv") != 0) {
        json_auto_t *found = json_object_get(matches, saltenv) != NULL
                                 ? NULL
                                 : highstate_find(high, saltenv, target);
        if (found == NULL || json_array_size(found) > 0)
            json_array_append_new(envs, json_string(saltenv));
        return envs;
    }
    json_object_foreach (matches, name, value) {
        json_auto_t *found = highstate_lists(high, name) ? highstate_find(high, name, target) : NULL;
        if (json_array_size(found) > 0)
            json_array_append_new(envs, json_string(name));
    }
    return envs;
}

/* Also while it is being rendered: a file of pydsl includes others meanwhile. */
static bool
was_rendered(const highstate_t *high, const char *saltenv, const char *sls)
{
    AUTO_FREE char *key = xasprintf("%s:%s", saltenv, sls);
    return map_get(high->sources, key) != NULL || value_get(high->loading, key) != NULL;
}

/* Include `target` once: SLS that were rendered already are skipped, which also ends circles. Ambiguity
 * between environments is settled by the includer's own environment, if it is one of them. */
static void
include_sls(const sls_run_t *self, const char *saltenv, const char *target)
{
    render_run_t *run = self->run;
    AUTO_FREE char *absolute = NULL;
    json_t *name;
    size_t i;

    if (*target == '.') {
        absolute = resolve_relative(self, target);
        if (absolute == NULL)
            return;
        target = absolute;
    }
    json_auto_t *envs = resolve_envs(self, saltenv, target);
    if (json_array_size(envs) != 1 && !value_lists(envs, self->saltenv)) {
        /* Reports an include that matches no environment, or more than one, with Salt's texts and a
         * suggestion. */
        json_t *errors = self->run->errors;
        AUTO_FREE char *found = show_envs(envs);
        if (json_array_size(envs) > 1) {
            add_error(
                errors,
                "Ambiguous include: Specified SLS %s: %s is available on the salt master in multiple available "
                "saltenvs: %s",
                saltenv, target, found);
            return;
        }
        json_auto_t *asked = json_array();
        const char *named;
        json_t *value;
        json_object_foreach (self->run->matches, named, value)
            json_array_append_new(asked, json_string(named));
        AUTO_FREE char *all = show_envs(asked);
        add_error(
            errors,
            "Unknown include: Specified SLS %s: %s is not available on the salt master in saltenv(s): %s ",
            saltenv, target, strcmp(saltenv, "_xenv") == 0 ? all : saltenv);
        suggest_sls(errors, highstate_avail_env(self->run->high, saltenv), target);

        return;
    }
    json_auto_t *found = highstate_find(run->high, self->saltenv, target);
    if (found == NULL)
        return;
    if (json_array_size(found) == 0)
        json_array_append_new(found, json_string(target)); /* rendering it reports that it does not exist */
    const char *from = json_array_size(envs) == 1 ? json_string_value(json_array_get(envs, 0))
                                                  : self->saltenv;
    json_array_foreach (found, i, name) {
        json_array_append(value_get(run->high->includes, self->sls), name);
        if (!was_rendered(run->high, from, json_string_value(name)))
            render_sls(run, json_string_value(name), from);
    }
}

/* ---- one SLS --------------------------------------------------------------------------------- */

/* Merge the IDs of `state` into `into`, and append its extensions and exclusions. The same ID with an equal
 * body is not a conflict: two SLS may include the same YAML. */
static void
merge_state(render_run_t *run, py_t *into, py_t *state)
{
    static const char *const lists[] = { "__extend__", "__exclude__" };
    py_t *name, *body;

    for (size_t i = 0; i < NELEMS(lists); i++) {
        AUTO(py) key = py_strz(lists[i]);
        AUTO(py) more = py_ref(py_dict_get(state, key));
        py_t *there = py_dict_get(into, key);
        if (more == NULL)
            continue;
        py_dict_del(state, key);
        if (there != NULL)
            py_extend(there, more);
        else
            py_dict_set(into, key, more);
    }
    for (size_t at = 0; py_dict_next(state, &at, &name, &body);) {
        py_t *there = py_dict_get(into, name);
        if (there != NULL && py_eq(there, body) != 1) {
            /* Reports an ID that two SLS declare, with the places of both. */
            AUTO_FREE char *id = py_show(name);
            const char *env1 = dict_text(there, "__env__", ""), *sls1 = dict_text(there, "__sls__", "");
            const char *env2 = dict_text(body, "__env__", ""), *sls2 = dict_text(body, "__sls__", "");
            const high_env_t env = { .from = run->high };
            add_error(
                run->errors,
                "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is "
                "'%s' and is found in SLS '%s:%s' and SLS '%s:%s'",
                id, env1, sls1, env2, sls2);
            place_add(&env, run->errors, env1, sls1, id);
            place_add(&env, run->errors, env2, sls2, id);
        }
        py_dict_set(into, name, body);
    }
}

/* Add one SLS to the tree, then its includes, then number the states that it declares. Includes come before
 * the numbering, so that included states run first. */
static void
merge_sls(const sls_run_t *self, py_t *state)
{
    render_run_t *run = self->run;
    decl_t decl = { self->sls, self->saltenv, run->errors, run->high };
    AUTO(py) held = NULL;
    AUTO(py) bodies = py_list();
    py_t *include = py_dict_gets(state, "include"), *name, *body;

    /* Take the list of includes out: only declarations may be left. `held` keeps it alive after that. */
    if (include != NULL && !py_is(include, PY_LIST)) {
        add_error(run->errors, "Include Declaration in SLS %s is not formed as a list", self->sls);
        say_place(run, self, "include");
        include = NULL;
    } else if (include != NULL) {
        AUTO(py) key = py_strz("include");
        held = py_ref(include);
        py_dict_del(state, key);
    }

    decl_lists(&decl, state);
    decl_extend(&decl, state);
    decl_exclude(&decl, state);
    decl_states(&decl, state);
    merge_state(run, run->tree, state);
    for (size_t at = 0; py_dict_next(state, &at, &name, &body);)
        py_append(bodies, body);
    const sls_run_t *outer = run->includer;
    run->includer = self;
    for (size_t i = 0; include != NULL && i < py_seq_len(include); i++) {
        /* "nginx", or {"dev": "nginx"}. */
        py_t *item = py_seq_at(include, i);
        json_t *errors = self->run->errors;
        AUTO_FREE char *saltenv = xstrdup(self->saltenv);
        py_t *key, *value, *target = item;
        if (py_is(item, PY_DICT)) {
            for (size_t at = 0; py_dict_next(item, &at, &key, &value);) {
                free(saltenv);
                saltenv = py_show(key); /* the last one counts, as in Salt */
                target = value;
            }
        }
        if (!py_is(target, PY_STR)) {
            AUTO_FREE char *text = py_show(item);
            add_error(errors, "Include Declaration in SLS %s: '%s' is a %s, not the name of an SLS",
                      self->sls, text, py_type_name(target));
            continue;
        }
        if (!highstate_has_env(self->run->high, saltenv) && !highstate_has_env(self->run->high, "__env__")) {
            add_error(errors, "Nonexistent saltenv '%s' found in include of '%s' within SLS '%s:%s'", saltenv,
                      py_cstr(target), self->saltenv, self->sls);
            continue;
        }
        include_sls(self, saltenv, py_cstr(target));
    }
    run->includer = outer;
    if (value_bool(run->high->opts, "state_auto_order", true))
        decl_order(bodies, &run->high->iorder);
}

/* An SLS that renders to nothing (None, an empty dict) is legal and adds nothing. */
static void
use_data(const sls_run_t *self, py_t *state)
{
    int truth = py_truth(state);

    if (truth < 0)
        py_clear();
    if (truth == 0)
        return;
    if (py_is(state, PY_DICT)) {
        merge_sls(self, state);
        return;
    }
    AUTO_FREE char *text = py_show(state);
    add_error(self->run->errors, "SLS %s does not render to a dictionary", self->sls);
    say_place(self->run, self, "");
    add_error(self->run->errors, "Error when rendering state with contents: %s", text);
}

/* Render one SLS and what it includes. The source is noted even when rendering fails: the error message needs
 * its path. */
static void
render_sls(render_run_t *run, const char *sls, const char *saltenv)
{
    AUTO_FREE char *key = xasprintf("%s:%s", saltenv, sls);
    AUTO(py) state = NULL;
    fail_auto_t err = FAIL_INIT;
    source_t *source = NULL;

    /* Two bounds that Salt lacks: includes recurse on the C stack, and every SLS is held until the end. */
    if (run->depth >= LIMIT_SLS_DEPTH) {
        add_error(run->errors, "SLS '%s:%s' is included %d files deep, at most %d are followed", saltenv, sls,
                  run->depth, LIMIT_SLS_DEPTH);
        return;
    }
    if (map_len(run->high->sources) >= LIMIT_SLS_FILES) {
        add_error(run->errors, "SLS '%s:%s' comes after %d others, the limit of one run", saltenv, sls,
                  LIMIT_SLS_FILES);
        return;
    }
    json_object_set_new(run->high->loading, key, json_true());
    int rc = highstate_load(run->high, sls, NULL, saltenv, &source, &state, &err);
    json_object_del(run->high->loading, key);
    if (source != NULL)
        map_set(run->high->sources, key, source);
    if (rc == 0) {
        add_error(
            run->errors,
            "Specified SLS %s in saltenv %s is not available on the salt master or through a configured "
            "fileserver",
            sls, saltenv);
        suggest_sls(run->errors, highstate_avail_env(run->high, saltenv), sls);
        if (str_ends(sls, ".sls"))
            place_note(run->errors, "The name of an SLS is written without \".sls\".");
        if (run->includer != NULL)
            say_place(run, run->includer, "include");
        return;
    }
    if (rc < 0) {
        add_error(run->errors, "Rendering SLS '%s:%s' failed: %s", saltenv, sls, fail_text(&err));
        log_debug("Rendering SLS '%s:%s' failed: %s", saltenv, sls, fail_text(&err));
        return;
    }
    sls_run_t self = { run, sls, saltenv,
                       str_ends(source->url, "/init.sls") || str_eq(source->url, "init.sls") };
    if (value_get(run->high->includes, sls) == NULL)
        json_object_set_new(run->high->includes, sls, json_array());
    /* Noted even when it includes nothing: low_fill_sls() tells an empty SLS from one that was never
     * rendered. */
    run->depth++;
    use_data(&self, state);
    run->depth--;
}

/* ---- a file that is included while another one is rendered (pydsl) ---------------------------- */

/* include() of a file of pydsl: renders the SLS into the tree at hand while its includer is still at work.
 * Without an includer on record, so that errors name the place of the call and not an `include:` list. */
static int
high_include(void *cookie, const char *saltenv, const char *sls, fail_t *err)
{
    highstate_t *self = cookie;
    render_run_t *run = self->run;
    const struct sls_run *includer = run->includer;
    size_t from = json_array_size(run->errors);

    if (was_rendered(self, saltenv, sls))
        return 0;
    run->includer = NULL;
    run->depth++;
    render_sls(run, sls, saltenv);
    run->depth--;
    run->includer = includer;
    if (json_array_size(run->errors) == from)
        return 0;

    /* The errors of the included file become the includer's: they leave the run's list, and the call that
     * included fails with all of their texts. */
    buf_auto_t text = BUF_INIT;
    while (json_array_size(run->errors) > from) {
        buf_printf(&text, "%s%s", text.len > 0 ? "\n" : "",
                   json_string_value(json_array_get(run->errors, from)));
        json_array_remove(run->errors, from);
    }
    return fail_set(err, -EINVAL, "%s", buf_str(&text));
}

/* ---- high data ------------------------------------------------------------------------------- */

/* Renders every SLS that a pattern matches, once each. An error about a missing SLS is reworded to name the
 * pattern. */
static void
render_pattern(render_run_t *run, py_t *high, const char *saltenv, const char *pattern, const json_t *found)
{
    json_auto_t *itself = json_array();
    json_t *name;
    size_t i;

    if (json_array_size(found) == 0) {
        /* the SLS appeared after the list was read: loading it tells */
        json_array_append_new(itself, json_string(pattern));
        found = itself;
    }
    json_array_foreach (found, i, name) {
        size_t from = json_array_size(run->errors);
        AUTO(py) tree = py_odict();
        if (was_rendered(run->high, saltenv, json_string_value(name)))
            continue;
        run->tree = tree;
        render_sls(run, json_string_value(name), saltenv);
        merge_state(run, high, tree);

        /* Give the errors since `from` Salt's wording for an SLS that a top file or a command names and
         * that does not exist. */
        json_t *errors = run->errors;
        AUTO_FREE char *named = xasprintf("SLS %s in saltenv", pattern);
        for (size_t j = from; j < json_array_size(errors); j++) {
            const char *text = json_string_value(json_array_get(errors, j));
            if (strstr(text, "is not available") == NULL || strstr(text, named) == NULL)
                continue;
            const char *hint = strstr(text, "\n    Did you mean ");
            json_array_set_new(errors, j,
                               value_fmt("No matching sls found for '%s' in env '%s'%s", pattern, saltenv,
                                         hint != NULL ? hint : ""));
        }
    }
}

/* Keep one copy of extensions that are equal: the same SLS can be reached by two paths. */
static void
clean_extends(py_t *high)
{
    py_t *list = py_dict_gets(high, "__extend__"), *name, *body;

    if (list == NULL || !py_is(list, PY_LIST))
        return;
    AUTO(py) kept = py_list();
    AUTO(py) seen = py_dict(); /* ID to [bodies] */
    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *extend = py_seq_at(list, i);
        for (size_t at = 0; py_is(extend, PY_DICT) && py_dict_next(extend, &at, &name, &body);) {
            py_t *bodies = py_dict_get(seen, name);
            if (bodies == NULL) {
                AUTO(py) fresh = py_list();
                py_dict_set(seen, name, fresh);
                bodies = fresh;
            }
            if (py_in(body, bodies) == 1)
                continue;
            py_append(bodies, body);
            AUTO(py) one = py_dict();
            py_dict_set(one, name, body);
            py_append(kept, one);
        }
    }
    py_dict_sets(high, "__extend__", kept);
}

py_t *
highstate_render(highstate_t *self, json_t *matches, json_t *errors)
{
    render_run_t run = { .high = self, .matches = matches, .errors = errors };
    json_auto_t *found = json_array();
    py_t *high = py_odict();
    const char *saltenv;
    json_t *list, *pattern;
    size_t i;

    self->run = &run;
    self->include = high_include;
    json_object_foreach (matches, saltenv, list) {
        json_array_foreach (list, i, pattern) {
            const char *text = json_string_value(pattern);
            const char *from = highstate_has_env(self, saltenv)     ? saltenv
                               : highstate_has_env(self, "__env__") ? "__env__"
                                                                    : NULL;
            if (text == NULL)
                continue;
            if (from == NULL) {
                /* Salt then renders the list of the entry before; so does this. */
                add_error(errors, "No matching salt environment for environment '%s' found", saltenv);
            } else {
                json_decref(found);
                found = highstate_find(self, from, text);
            }
            if (found != NULL)
                render_pattern(&run, high, saltenv, text, found);
        }
    }
    self->run = NULL;
    self->include = NULL;
    clean_extends(high);
    highstate_say_lists(self, errors);
    return high;
}

/* `sources` maps the path itself, so that errors have a location here too. */
py_t *
highstate_render_file(highstate_t *self, const char *path, const char *saltenv, json_t *errors)
{
    AUTO(py) state = NULL;
    fail_auto_t err = FAIL_INIT;
    py_t *tree = py_odict();
    render_run_t run = { .high = self, .tree = tree, .errors = errors };
    source_t *source = xcalloc(1, sizeof *source);
    AUTO_FREE char *key = xasprintf("%s:%s", saltenv, path);
    sls_run_t sls = { &run, path, saltenv, false };

    source->path = xstrdup(path);
    source->url = xstrdup(path);
    map_set(self->sources, key, source);
    if (source_load(self, source, path, saltenv, &state, &err) < 0)
        add_error(errors, "Rendering SLS '%s:%s' failed: %s", saltenv, path, fail_text(&err));
    else
        use_data(&sls, state);
    highstate_say_lists(self, errors);
    return tree;
}
