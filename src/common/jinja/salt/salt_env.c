/* salt_env.c - Salt's Jinja environment: options, names of templates, variables of an SLS, and `salt`.
 *
 * `salt` is a host object that looks functions up by callback: salt['a.b'], salt.a.b and salt.get('a.b') all
 * give a function object whose call goes to the callback. */
#include "common/jinja/salt/salt_filter.h"
#include "common/base/str.h"
#include "common/jinja/jinja_salt.h"
#include "salt/value.h"

/* ---- options ------------------------------------------------------------------------------------------ */

static bool
option_bool(const json_t *env, const char *name, bool dflt)
{
    const json_t *v = value_get(env, name);
    return v == NULL ? dflt : value_truthy(v);
}

/* jinja_env's keys are those of Jinja's Environment; unknown ones were reported before. */
void
jinja_salt_options(jinja_options_t *o, const json_t *env, bool allow_undefined)
{
    *o = (jinja_options_t){ .tags = JTAG_DO | JTAG_LOOP_CONTROLS | JTAG_SALT,
                            .sandboxed = true,
                            .salt = true,
                            .undefined = allow_undefined ? &py_Undefined : &py_StrictUndefined };
    jsyntax_t *s = &o->syntax;
    s->block_start = value_str(env, "block_start_string", NULL);
    s->block_end = value_str(env, "block_end_string", NULL);
    s->variable_start = value_str(env, "variable_start_string", NULL);
    s->variable_end = value_str(env, "variable_end_string", NULL);
    s->comment_start = value_str(env, "comment_start_string", NULL);
    s->comment_end = value_str(env, "comment_end_string", NULL);
    s->line_statement = value_str(env, "line_statement_prefix", NULL);
    s->line_comment = value_str(env, "line_comment_prefix", NULL);
    s->newline = value_str(env, "newline_sequence", NULL);
    s->trim_blocks = option_bool(env, "trim_blocks", false);
    s->lstrip_blocks = option_bool(env, "lstrip_blocks", false);
    s->keep_trailing_newline = option_bool(env, "keep_trailing_newline", false);
}

/* ---- names of templates ------------------------------------------------------------------------------- */

/* os.path.normpath of a relative or absolute path. NEW. */
char *
jnormal_path(const char *path)
{
    char **parts = str_split(path, "/", true);
    size_t n = 0;
    bool absolute = path[0] == '/';
    for (size_t i = 0; parts[i] != NULL; i++) {
        bool up = strcmp(parts[i], "..") == 0;
        if (strcmp(parts[i], ".") == 0 || (up && n == 0 && absolute)) {
            free(parts[i]);
        } else if (up && n > 0 && strcmp(parts[n - 1], "..") != 0) {
            free(parts[i]);
            free(parts[--n]);
        } else {
            parts[n++] = parts[i];
        }
    }
    parts[n] = NULL;
    buf_auto_t b = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i > 0 || absolute ? "/" : "", parts[i]);
    strv_free(parts);
    return b.len > 0 ? buf_steal(&b) : xstrdup(absolute ? "/" : ".");
}

/* True for names that count from the including template's folder. */
static bool
is_relative(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || str_starts(name, "./") ||
           str_starts(name, "../");
}

/* A relative name belongs to the folder of the template that imports it and must not lead above the root.
 * NEW, or NULL. */
char *
jinja_salt_path(const char *name, py_t *globals)
{
    if (!is_relative(name))
        return xstrdup(name);
    py_t *dir = py_dict_gets(globals, "tpldir");
    if (dir == NULL || !py_is(dir, PY_STR))
        return NULL;
    char *joined AUTO_FREE = xasprintf("%s/%s", py_cstr(dir), name);
    char *path = jnormal_path(joined);
    if (strcmp(path, "..") != 0 && !str_starts(path, "../"))
        return path;
    free(path);
    return NULL;
}

static char *
salt_env_dotted(const char *path)
{
    return str_replace(path, "/", ".");
}

void
jinja_salt_loaded(const char *name, const char *path, py_t *globals)
{
    const char *slash = strrchr(path, '/');
    char *dir AUTO_FREE = slash != NULL ? xstrndup(path, (size_t) (slash - path)) : xstrdup("");
    py_t *given = is_relative(name) ? py_dict_gets(globals, "tpldir") : NULL;
    if (given != NULL) {
        free(dir);
        dir = xstrdup(py_cstr(given));
    }
    char *dots AUTO_FREE = salt_env_dotted(dir);
    py_dict_sets_new(globals, "tplfile", py_strz(given != NULL ? name : path));
    py_dict_sets_new(globals, "tpldir", py_strz(dir[0] != '\0' ? dir : "."));
    py_dict_sets_new(globals, "tpldot", py_strz(dots));
}

/* ---- variables of an SLS ------------------------------------------------------------------------------ */

/* Part of `tmplpath` below the file roots, found by the SLS name. NEW. */
static char *
salt_env_template_of(const char *tmplpath, const char *sls, const char *slspath)
{
    const char *slash = strrchr(tmplpath, '/');
    char *as_file AUTO_FREE = xasprintf("%s.sls", slspath);
    char *as_init AUTO_FREE = xasprintf("%s/init.sls", slspath);
    if (sls[0] == '\0')
        return xstrdup(slash != NULL ? slash + 1 : tmplpath);
    if (str_ends(tmplpath, as_file))
        return xstrdup(as_file);
    return xstrdup(str_ends(tmplpath, as_init) ? as_init : tmplpath);
}

void
jinja_salt_sls(py_t *context, const char *tmplpath, const char *sls)
{
    char *slspath AUTO_FREE = str_replace(sls, ".", "/");
    if (tmplpath != NULL && tmplpath[0] != '\0') {
        char *template AUTO_FREE = salt_env_template_of(tmplpath, sls, slspath);
        const char *slash = strrchr(template, '/');
        free(slspath);
        slspath = slash != NULL ? xstrndup(template, (size_t) (slash - template)) : xstrdup("");
        char *dots AUTO_FREE = salt_env_dotted(slspath);
        py_dict_sets_new(context, "tplpath", py_strz(tmplpath));
        py_dict_sets_new(context, "tplfile", py_strz(template));
        py_dict_sets_new(context, "tpldir", py_strz(slspath[0] != '\0' ? slspath : "."));
        py_dict_sets_new(context, "tpldot", py_strz(dots));
    }
    static const struct {
        const char *name, *separator;
    } forms[] = { { "slspath", "/" }, { "slsdotpath", "." }, { "slscolonpath", ":" }, { "sls_path", "_" } };
    for (size_t i = 0; i < NELEMS(forms); i++) {
        char *text AUTO_FREE = str_replace(slspath, "/", forms[i].separator);
        py_dict_sets_new(context, forms[i].name, py_strz(text));
    }
}

/* ---- salt --------------------------------------------------------------------------------------------- */

/* The object `salt`, and its modules: functions under a prefix. */
typedef struct loader {
    jinja_funcs_t funcs;
    char *prefix; /* "module." or "" */
} loader_t;

static void
loader_free(void *data)
{
    loader_t *l = data;
    free(l->prefix);
    free(l);
}

static int
loader_contains(py_t *self, py_t *item)
{
    const loader_t *l = py_host_data(self, py_host_class(self));
    return py_is(item, PY_STR) && l->funcs.has(l->funcs.cookie, py_cstr(item));
}

/* The bound of texts is lifted while a function runs: its own buffers do not belong to the render. */
static py_t *
function_call(py_t *self, const py_args_t *args)
{
    const loader_t *l = py_host_data(self, py_host_class(self));
    bool bound = py_bound_texts(false);
    py_t *v = l->funcs.call(l->funcs.cookie, l->prefix, args);
    (void) py_bound_texts(bound);
    return v;
}

static int
function_repr(py_t *self, buf_t *out)
{
    const loader_t *l = py_host_data(self, py_host_class(self));
    buf_printf(out, "<LoadedFunc name='%s'>", l->prefix);
    return 0;
}

static int
salt_env_module_repr(py_t *self, buf_t *out)
{
    const loader_t *l = py_host_data(self, py_host_class(self));
    buf_printf(out, "<LoadedMod module='salt.loaded.%.*s'>", (int) strlen(l->prefix) - 1, l->prefix);
    return 0;
}

static int loader_item(py_t *self, py_t *key, py_t **ret);
static int loader_attr(py_t *self, py_t *name, py_t **ret);
static int module_attr(py_t *self, py_t *name, py_t **ret);

static const py_class_t loader_class = { .name = "AliasedLoader",
                                         .module = "salt.utils.templates",
                                         .find_item = loader_item,
                                         .find_attr = loader_attr,
                                         .contains = loader_contains,
                                         .free = loader_free };
static const py_class_t module_class = { .name = "LoadedMod",
                                         .module = "salt.loader.lazy",
                                         .find_attr = module_attr,
                                         .repr = salt_env_module_repr,
                                         .free = loader_free };
static const py_class_t function_class = { .name = "LoadedFunc",
                                           .module = "salt.loader.lazy",
                                           .call = function_call,
                                           .repr = function_repr,
                                           .free = loader_free };

static loader_t *
loader_new(const jinja_funcs_t *funcs, const char *prefix)
{
    loader_t *l = xcalloc(1, sizeof(*l));
    l->funcs = *funcs;
    l->prefix = xstrdup(prefix);
    return l;
}

/* A function object for a name that exists. 1 found, 0 absent. */
static int
find_function(const loader_t *l, const char *name, py_t **ret)
{
    if (!l->funcs.has(l->funcs.cookie, name))
        return 0;
    *ret = py_host(&function_class, loader_new(&l->funcs, name));
    return 1;
}

/* A module object: "module." asks whether there is any function in it. */
static int
find_module(const loader_t *l, const char *name, py_t **ret)
{
    char *prefix AUTO_FREE = xasprintf("%s.", name);
    if (!l->funcs.has(l->funcs.cookie, prefix))
        return 0;
    *ret = py_host(&module_class, loader_new(&l->funcs, prefix));
    return 1;
}

/* salt['a.b'] is a function, salt['a'] a module. */
static int
loader_item(py_t *self, py_t *key, py_t **ret)
{
    const loader_t *l = py_host_data(self, &loader_class);
    if (!py_is(key, PY_STR))
        return 0;
    return strchr(py_cstr(key), '.') != NULL ? find_function(l, py_cstr(key), ret)
                                             : find_module(l, py_cstr(key), ret);
}

/* salt.get('test.ping'), as of any mapping. */
static py_t *
loader_get(void *data, const py_args_t *args)
{
    static const char *const params[] = { "key", "default", NULL };
    static const py_sig_t sig = { "get", params, 1, 2, 0 };
    py_t *slots[2] = { NULL, NULL }, *found = NULL;
    if (py_bind(args, &sig, slots) < 0)
        return NULL;
    if (py_is(slots[0], PY_STR) && find_function(data, py_cstr(slots[0]), &found) > 0)
        return found;
    return py_ref(slots[1] != NULL ? slots[1] : PY_None);
}

static const py_fn_class_t get_class = { .name = "get", .fn = loader_get, .free = loader_free };

static int
loader_attr(py_t *self, py_t *name, py_t **ret)
{
    const loader_t *l = py_host_data(self, &loader_class);
    if (!py_str_is(name, "get"))
        return find_module(l, py_cstr(name), ret);
    *ret = py_func(&get_class, loader_new(&l->funcs, ""));
    return 1;
}

static int
module_attr(py_t *self, py_t *name, py_t **ret)
{
    const loader_t *l = py_host_data(self, &module_class);
    char *full AUTO_FREE = xasprintf("%s%s", l->prefix, py_cstr(name));
    return find_function(l, full, ret);
}

py_t *
jinja_salt_funcs(const jinja_funcs_t *funcs)
{
    return py_host(&loader_class, loader_new(funcs, ""));
}

/* ---- rendering ---------------------------------------------------------------------------------------- */

int
jinja_salt_render(jinja_t *self, const jinja_source_t *source, py_t *context, buf_t *out, jinja_error_t *err)
{
    /* The context doubles as globals, so templates imported without context see it as well. */
    if (jinja_render(self, source, context, context, out, err) < 0)
        return -1;
    if (source->len > 0 && source->text[source->len - 1] == '\n')
        buf_putc(out, '\n');
    return 0;
}
