/* renderer_jinja.c - the renderer `jinja`: templates with Salt's variables and imports from the file server.
 *
 * A renderer has two engines, for SLS files (jinja_sls_env) and other files (jinja_env), which keep compiled
 * templates by path and time of change. Errors list the chain of templates from the innermost, and
 * suggestions for unknown names. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/render/render_int.h"
#include "salt/limits.h"
#include "salt/log.h"

/* ---- imports ------------------------------------------------------------------------------------------ */

/* Fills *ret from the file `local`, which it takes on success; the text stays NULL when the engine has this
 * version. */
static int
read_template(char *local, jinja_known_fn *known, void *known_cookie, jinja_file_t *ret, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    struct stat st;
    int rc;

    if (stat(local, &st) < 0)
        return -errno;
    int64_t version = (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (known(known_cookie, local) != version) {
        if ((rc = fs_read(local, LIMIT_TEMPLATE, &text, err)) < 0)
            return rc;
        ret->len = text.len;
        ret->text = buf_steal(&text);
    }
    ret->path = local;
    ret->version = version;
    return 0;
}

/* Fetches a template through the file client; a path from the root is itself, but not for other machines: the
 * name could be theirs. Files that minions sent are refused: their content would run as template code. */
static int
renderer_jinja_load(render_t *self, const char *path, jinja_known_fn *known, void *known_cookie,
                    jinja_file_t *ret_file, fail_t *err)
{
    bool own = path[0] == '/' && !call_is_peer(self->ctx);
    AUTO_FREE char *local = own ? xstrdup(path) : NULL;
    int rc = own ? 0 : fileclient_cache(self->files, path, self->saltenv, &local, err);

    if (rc >= 0 && render_is_sent(self, local))
        return fail_set(err, -EPERM, "%s was sent by a minion, and what a minion says is not a template",
                        local);
    if (rc < 0 || (rc = read_template(local, known, known_cookie, ret_file, err)) < 0)
        return rc;
    if (path[0] != '/' && !self->shows_paths && map_get(self->urls, local) == NULL)
        map_set(self->urls, local, xasprintf("salt://%s", path));
    local = NULL;
    return 0;
}

/* The engine's loader. Passing errors (a file server out of reach) are recorded, so that the run reports them
 * instead of "not found". */
int
render_load(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
            jinja_file_t *ret_file, fail_t *err)
{
    render_t *self = cookie;
    AUTO_FREE char *path = jinja_salt_path(name, globals);

    if (path == NULL || self->files == NULL)
        return -ENOENT;
    int rc = renderer_jinja_load(self, path, known, known_cookie, ret_file, err);
    jinja_salt_loaded(name, path, globals);
    if (fs_is_passing(rc))
        self->lacked = rc;
    return rc;
}

/* ---- engines ------------------------------------------------------------------------------------------ */

static void
check_setting(const char *key)
{
    static const char *const known[] = {
        "block_start_string",   "block_end_string",   "variable_start_string", "variable_end_string",
        "comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix",
        "trim_blocks",          "lstrip_blocks",      "newline_sequence",      "keep_trailing_newline",
    };

    for (size_t i = 0; i < NELEMS(known); i++)
        if (strcmp(known[i], key) == 0)
            return;
    log_warning("Jinja2 environment %s is not recognized", key);
}

/* The configured environment, keys in lower case, with the older options of the same meaning. NEW. */
static json_t *
renderer_jinja_environment(const json_t *opts, const char *name)
{
    static const char *const older[] = { "trim_blocks", "lstrip_blocks" };
    const json_t *given = value_get(opts, name);
    json_t *env = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) given, key, v) {
        AUTO_FREE char *lower = xstrdup(key);
        for (char *p = lower; *p != '\0'; p++)
            *p = *p >= 'A' && *p <= 'Z' ? (char) (*p + 'a' - 'A') : *p;
        check_setting(lower);
        json_object_set(env, lower, v);
    }
    for (size_t i = 0; i < NELEMS(older); i++) {
        AUTO_FREE char *option = xasprintf("jinja_%s", older[i]);
        if (value_bool(opts, option, false))
            json_object_set_new(env, older[i], json_true());
    }
    return env;
}

static void
renderer_jinja_looked(void *cookie, const char *what)
{
    call_note(((render_t *) cookie)->ctx, what);
}

/* The engine for SLS files or for others, made when first used. BORROWED. */
static jinja_t *
engine_for(render_t *self, bool sls)
{
    if (self->engines[sls] != NULL)
        return self->engines[sls];
    json_t *opts = ctx_opts(self->ctx);
    json_auto_t *env = renderer_jinja_environment(opts, sls ? "jinja_sls_env" : "jinja_env");
    const jinja_loader_t loader = { render_load, self };
    jinja_options_t options;
    jinja_salt_options(&options, env, value_bool(opts, "allow_undefined", false));
    options.peer_lenient = str_eq(value_str(opts, "peer_data", "strict"), "warn");
    options.looked = renderer_jinja_looked;
    options.cookie = self;
    self->engines[sls] = jinja_new(&options, &loader);
    return self->engines[sls];
}

bool
render_has_tags(render_t *self, const char *text, size_t len)
{
    return jinja_has_tags(text, len, jinja_syntax(engine_for(self, false))) ||
           jinja_has_tags(text, len, jinja_syntax(engine_for(self, true)));
}

enum { CHAIN_SHOWN = 20 };

/* ---- errors ------------------------------------------------------------------------------------------- */

/* For an unknown function: appends why it is missing and similar names. */
static void
renderer_jinja_put_missing(buf_t *b, const rendering_t *run, const jinja_error_t *e)
{
    const char *name = run->render->missing;

    if (name == NULL || !py_exc_is(e->type, &py_UndefinedError))
        return;
    const char *dot = strchr(name, '.');
    AUTO_FREE char *whole = xasprintf("'%s'", name);
    AUTO_FREE char *tail = xasprintf("'%s'", dot != NULL ? dot + 1 : name);
    if (!str_ends(e->message, whole) && !str_ends(e->message, tail))
        return;
    AUTO_FREE char *why = call_missing(run->render->ctx, name);
    buf_printf(b, "\n%s", why);
}

/* -EINVAL with Salt's text of the error, the chain of templates, and what may be missing. */
static int
jinja_failed(const rendering_t *run, const jinja_error_t *e, fail_t *err)
{
    const render_source_t *s = run->source;
    buf_auto_t b = BUF_INIT;
    jinja_told_t told;

    jinja_salt_tell(e, buf_str(&run->text), run->text.len, s->sls, &told);
    buf_puts(&b, told.text);
    jinja_told_free(&told);

    /* Appends the chain of places, innermost first; of a long chain only both ends. */
    const jinja_frame_t *last = NULL;

    for (size_t i = 0; i < e->n; i++) {
        const jinja_frame_t *f = &e->frames[i];
        if (i == CHAIN_SHOWN && e->n > CHAIN_SHOWN + 2) {
            buf_printf(&b, "\nfrom %zu places more", e->n - CHAIN_SHOWN - 1);
            i = e->n - 2;
            continue;
        }
        if (last != NULL && last->line == f->line && str_eq(last->path, f->path))
            continue;

        const char *word = last == NULL ? "in" : "from";
        AUTO_FREE char *url = run_url(run, f->path);

        if (url != NULL) {
            buf_printf(&b, "\n%s %s, line %d", word, url, f->line);
            if (f->label != NULL)
                buf_printf(&b, " (%s %s)", f->place == JINJA_BLOCK ? "block" : "macro", f->label);
        }

        last = f;
    }

    if (py_exc_is(e->type, &jinja_TemplateNotFound))
        buf_printf(&b, "\nThere is no such file in saltenv '%s'.", run->render->saltenv);
    renderer_jinja_put_missing(&b, run, e);
    return fail_set(err, -EINVAL, "%s", buf_str(&b));
}

/* ---- rendering ---------------------------------------------------------------------------------------- */

/* Renders with an engine. Only an untouched file without peers' parts may use the cache. */
static int
render_with(rendering_t *run, jinja_t *engine, py_t *context, buf_t *out, fail_t *err)
{
    const render_source_t *s = run->source;
    bool kept = run->untouched && s->version != 0 && run->peer.n == 0;
    spans_auto_t peer = SPANS_INIT;

    if (run_check_template(run, jinja_syntax(engine), context, err) < 0)
        return -EINVAL;
    jinja_marks_free(&run->marks);
    const jinja_source_t source = { .text = buf_str(&run->text),
                                    .len = run->text.len,
                                    .cache_key = kept ? s->path : NULL,
                                    .version = s->version,
                                    .marks = run->untouched ? &run->marks : NULL,
                                    .peer = &peer };
    jinja_error_t e = JINJA_ERROR_INIT;

    if (jinja_salt_render(engine, &source, context, out, &e) == 0) {
        run_take_peer(run, &peer);
        return 0;
    }
    int rc = jinja_failed(run, &e, err);
    jinja_error_free(&e);
    return rc;
}

int
render_jinja(rendering_t *run, const char *argline, fail_t *err)
{
    if (argline[0] != '\0' && strcmp(argline, "-s") != 0)
        return fail_set(err, -EINVAL, "Unknown renderer option: %s", argline);
    if (run->is_data)
        return fail_set(err, -EINVAL, "the renderer 'jinja' needs a text, and the one before it made data");
    buf_t out = BUF_INIT;
    bool sls = !str_empty(run->source->sls);
    /* A render within this one changes opts["pillar"]; the outer value is restored afterwards. */
    AUTO(py) outer = py_ref(run->render->opts != NULL ? py_dict_gets(run->render->opts, "pillar") : NULL);
    AUTO(py) context = run_context(run);
    int rc = context != NULL ? render_with(run, engine_for(run->render, sls), context, &out, err) : -EINVAL;
    if (outer != NULL)
        py_dict_sets(run->render->opts, "pillar", outer);
    if (rc == 0) {
        buf_free(&run->text);
        run->text = out;
        return 0;
    }
    buf_free(&out);
    return rc;
}
