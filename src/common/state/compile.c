/* compile.c - one compilation: the environments, the SLS lists of each, how a file is found and rendered, and
 * the sequence of steps from high data to low chunks.
 *
 * highstate_t caches both lists for the life of one compilation, so that a run asks the file server once.
 * Relies on the file client (common/files) for finding and on the renderer for the pipeline. */
#include "common/state/compile.h"

#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/state/high.h"
#include "salt/log.h"

/* The first automatic order: Salt's State.iorder starts here too, so that explicit small orders run first. */
enum { FIRST_ORDER = 10000 };

static void
avail_free(void *p)
{
    avail_t *self = p;

    json_decref(self->list);
    map_destroy(&self->names);
    free(self->problem);
    free(self);
}

void
source_free(void *p)
{
    source_t *self = p;

    if (self == NULL)
        return;
    free(self->path);
    free(self->url);
    free(self);
}

highstate_t *
highstate_new(const state_env_t *env)
{
    highstate_t *self = xcalloc(1, sizeof *self);

    self->env = *env;
    self->opts = env->opts != NULL ? env->opts : ctx_opts(env->ctx);
    self->avail = map_new(avail_free);
    self->sources = map_new(source_free);
    self->includes = json_object();
    self->kept = env->render != NULL ? render_kept(env->render) : py_dict();
    self->loading = json_object();
    self->iorder = FIRST_ORDER;
    return self;
}

void
highstate_destroy(highstate_t **self_p)
{
    highstate_t *self = *self_p;

    if (self == NULL)
        return;
    map_destroy(&self->avail);
    map_destroy(&self->sources);
    json_decref(self->includes);
    py_unref(self->kept);
    json_decref(self->loading);
    json_decref(self->envs);
    free(self->top_problem);
    free(self->list_problem);
    free(self);
    *self_p = NULL;
}

/* ---- environments ---------------------------------------------------------------------------- */

static void
compile_add_once(json_t *list, const char *text)
{
    if (text != NULL && !value_lists(list, text))
        json_array_append_new(list, json_string(text));
}

/* Remember the first listing that failed. A failed list must not pass for an empty one, or states would
 * silently be left out; highstate_say_lists() makes it an error of the compilation. TAKES the text. */
static void
keep_problem(highstate_t *self, char *text)
{
    if (self->list_problem == NULL)
        self->list_problem = text;
    else
        free(text);
}

void
highstate_say_lists(const highstate_t *self, json_t *errors)
{
    if (self->list_problem != NULL && !value_lists(errors, self->list_problem))
        add_error(errors, "%s", self->list_problem);
}

/* Salt's _get_envs(): `env_order` restricted to what the file server has, if it names any; otherwise base,
 * the environments of file_roots, and the file server's. Cached. */
json_t *
highstate_envs(highstate_t *self)
{
    if (self->envs != NULL)
        return self->envs;

    /* List the file server's environments. */
    fail_auto_t err = FAIL_INIT;
    json_auto_t *served = self->env.files != NULL ? fileclient_envs(self->env.files, &err) : NULL;
    if (self->env.files != NULL && served == NULL)
        keep_problem(self,
                     xasprintf("The environments of the file server can't be listed: %s", fail_text(&err)));

    json_t *order = json_object_get(self->opts, "env_order"), *item;
    const char *name;
    size_t i;

    self->envs = json_array();
    json_array_foreach (order, i, item) {
        const char *text = json_string_value(item);
        if (json_array_size(served) == 0 || value_lists(served, text))
            compile_add_once(self->envs, text);
    }
    if (json_array_size(order) > 0)
        return self->envs;
    compile_add_once(self->envs, "base");
    json_object_foreach (json_object_get(self->opts, "file_roots"), name, item)
        compile_add_once(self->envs, name);
    json_array_foreach (served, i, item) {
        compile_add_once(self->envs, json_string_value(item));
    }
    return self->envs;
}

bool
highstate_has_env(highstate_t *self, const char *saltenv)
{
    return strcmp(saltenv, "base") == 0 || value_lists(highstate_envs(self), saltenv);
}

/* The list is read once and kept, even when reading it fails: `problem` then says why, and the empty list
 * must not be taken for the truth (highstate_lists()). */
const avail_t *
highstate_avail_env(highstate_t *self, const char *saltenv)
{
    avail_t *avail = map_get(self->avail, saltenv);
    fail_auto_t err = FAIL_INIT;
    json_t *path;
    size_t i;

    if (avail != NULL)
        return avail;
    avail = xcalloc(1, sizeof *avail);
    avail->list = json_array();
    avail->names = map_new(NULL);
    map_set(self->avail, saltenv, avail);
    if (self->env.files == NULL || !highstate_has_env(self, saltenv))
        return avail;
    json_auto_t *files = fileclient_list(self->env.files, FILES_FILES, saltenv, "", &err);
    if (files == NULL)
        avail->problem = xasprintf("The SLS files of environment %s can't be listed: %s", saltenv,
                                   fail_text(&err));
    json_array_foreach (files, i, path) {
        /* "nginx/init.sls" is nginx, "nginx/ng/conf.sls" is nginx.ng.conf; other files are no SLS. */
        const char *file = json_string_value(path);
        if (!str_ends(file, ".sls"))
            continue;
        AUTO_FREE char *name = xstrndup(file, strlen(file) - (str_ends(file, "/init.sls") ? 9 : 4));
        for (char *p = name; *p != '\0'; p++)
            if (*p == '/')
                *p = '.';
        if (map_get(avail->names, name) != NULL) /* web.sls and web/init.sls are one name */
            continue;
        map_set(avail->names, name, avail);
        json_array_append_new(avail->list, json_string(name));
    }
    json_t *sorted = value_sorted_texts(avail->list);
    json_decref(avail->list);
    avail->list = sorted;
    return avail;
}

bool
highstate_lists(highstate_t *self, const char *saltenv)
{
    const avail_t *avail = highstate_avail_env(self, saltenv);

    if (avail->problem != NULL)
        keep_problem(self, xstrdup(avail->problem));
    return avail->problem == NULL;
}

/* A name without a wildcard costs no list: its load tells whether the file exists. Only wildcards need the
 * whole environment. */
json_t *
highstate_find(highstate_t *self, const char *saltenv, const char *pattern)
{
    const avail_t *avail = highstate_avail_env(self, saltenv);
    json_t *found = json_array(), *name;
    size_t i;

    if (!match_has_glob(pattern)) {
        if (avail->problem != NULL || map_get(avail->names, pattern) != NULL)
            json_array_append_new(found, json_string(pattern));
        return found;
    }
    if (!highstate_lists(self, saltenv)) {
        json_decref(found);
        return NULL;
    }
    json_array_foreach (avail->list, i, name) {
        if (match_glob(pattern, json_string_value(name)))
            json_array_append(found, name);
    }
    return found;
}

/* A listing that fails fails the whole answer: an environment that is left out would look like an empty
 * one. */
json_t *
highstate_avail(highstate_t *self, fail_t *err)
{
    json_auto_t *all = json_object();
    json_t *saltenv;
    size_t i;

    if (highstate_lists(self, "base"))
        json_object_set(all, "base", highstate_avail_env(self, "base")->list);
    json_array_foreach (highstate_envs(self), i, saltenv) {
        const char *name = json_string_value(saltenv);
        if (highstate_lists(self, name))
            json_object_set(all, name, highstate_avail_env(self, name)->list);
    }
    if (self->list_problem == NULL)
        return STEAL(all);
    (void) fail_set(err, -EIO, "%s", self->list_problem);
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The modification time in ns is the version under which the renderer caches the parsed template. */
int
source_load(highstate_t *self, const source_t *source, const char *sls, const char *saltenv, py_t **ret_data,
            fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    struct stat st;
    int64_t version = 0;

    if (fs_read(source->path, LIMIT_TEMPLATE, &text, err) < 0)
        return -1;
    if (stat(source->path, &st) == 0)
        version = (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    render_source_t from = { .text = buf_str(&text),
                             .len = text.len,
                             .path = source->path,
                             .version = version,
                             .sls = sls,
                             .tmplpath = source->url,
                             .saltenv = saltenv,
                             .pillar = self->env.pillar,
                             .kept = self->kept,
                             .include = self->include,
                             .cookie = self };
    int64_t begin_us = clock_mono_us();
    *ret_data = render_data(self->env.render, &from, err);
    log_debug("%s%s in saltenv '%s': salt://%s from %s %s in %.6f s", sls != NULL ? "SLS " : "the top file",
              sls != NULL ? sls : "", saltenv, source->url, source->path,
              *ret_data != NULL ? "rendered" : "did not render", (double) (clock_mono_us() - begin_us) / 1e6);
    return *ret_data != NULL ? 0 : -1;
}

/* Find one file. 1 with *ret_source NEW; 0 when it does not exist; -1 with *err. */
static int
find_file(highstate_t *self, const char *url, const char *saltenv, source_t **ret_source, fail_t *err)
{
    char *path = NULL;
    int rc = self->env.files != NULL ? fileclient_cache(self->env.files, url, saltenv, &path, err) : -ENOENT;

    if (rc < 0)
        return rc == -ENOENT ? 0 : -1;
    *ret_source = xcalloc(1, sizeof **ret_source);
    (*ret_source)->path = path;
    (*ret_source)->url = xstrdup(url);
    return 1;
}

/* Salt's lookup order: "a/b.sls" before "a/b/init.sls". */
int
highstate_load(highstate_t *self, const char *sls, const char *url, const char *saltenv,
               source_t **ret_source, py_t **ret_data, fail_t *err)
{
    int rc;

    *ret_source = NULL;
    if (sls != NULL) {
        AUTO_FREE char *path = str_replace(sls, ".", "/");
        AUTO_FREE char *file = xasprintf("%s.sls", path);
        AUTO_FREE char *init = xasprintf("%s/init.sls", path);
        rc = find_file(self, file, saltenv, ret_source, err);
        if (rc == 0)
            rc = find_file(self, init, saltenv, ret_source, err);
    } else {
        rc = find_file(self, url, saltenv, ret_source, err);
    }
    if (rc <= 0)
        return rc;
    return source_load(self, *ret_source, sls, saltenv, ret_data, err) < 0 ? -1 : 1;
}

/* ---- high data to low chunks ----------------------------------------------------------------- */

/* Salt's order of steps. Each step ends the compilation when it adds errors, because the later ones rely on
 * the shape that it verifies. Extensions come before verification: they can add the function that a state
 * lacks. */
json_t *
high_to_low(py_t *high, const high_env_t *env, json_t *errors)
{
    size_t before = json_array_size(errors);

    high_reconcile_extend(high, false, env, errors);
    high_verify(high, env, errors);
    if (json_array_size(errors) > before)
        return json_array();
    high_requisite_in(high, env, errors);
    high_apply_exclude(high);
    if (json_array_size(errors) > before)
        return json_array();
    json_t *chunks = high_compile(high, env, errors);
    if (json_array_size(errors) > before)
        json_array_clear(chunks);
    if (env != NULL && env->from != NULL)
        low_fill_sls(chunks, env->from->includes);
    return chunks;
}
