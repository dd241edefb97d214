/* ext_stack.c - external pillar `stack` (PillarStack): files that name YAML files, which are laid over each
 * other.
 *
 * The files are Jinja templates that see the stack as far as it has grown. How a mapping or a list is laid
 * over what is there its member "__" says: merge-last, merge-first, remove, overwrite. Source:
 * https://github.com/bbinet/pillarstack.
 *
 * What a minion says of itself may choose a file by a part of its name, but is no path and no pattern:
 * others' data would be within its reach. */
#include "common/pillar/pillar_int.h"

#include <ctype.h>
#include <glob.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/clock.h"
#include "common/py/py_host.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_traverse.h"
#include "common/py/py_yaml.h"
#include "salt/log.h"

/* A configuration file, and what its templates see. */
typedef struct stack {
    compile_t *owner;
    const char *cfg;
    char *folder;       /* owned: the configuration's */
    fileclient_t *near; /* owned: what its templates import, below its folder */
    call_ctx_t *ctx;    /* owned */
    render_t *render;   /* owned */
    py_t *pillar;       /* BORROWED */
    size_t bytes;       /* read so far */
} pillar_stack_t;

/* ---- laying values over each other ---------------------------------------------------------------- */

#define STRATEGIES "('overwrite', 'merge-first', 'merge-last', 'remove')"

static bool
strategy_is(py_t *strategy, const char *name)
{
    return py_is(strategy, PY_STR) && strcmp(py_cstr(strategy), name) == 0;
}

/* 0, or -1 raised for a strategy that is none. */
static int
check_strategy(py_t *strategy)
{
    static const py_exc_t exception = { "Exception", NULL };

    if (strategy_is(strategy, "overwrite") || strategy_is(strategy, "merge-first") ||
        strategy_is(strategy, "merge-last") || strategy_is(strategy, "remove"))
        return 0;
    AUTO(py) text = py_tostr(strategy);
    (void) py_raise(&exception, "Unknown strategy \"%s\", should be one of " STRATEGIES,
                    text != NULL ? py_cstr(text) : "?");
    return -1;
}

/* The strategy at the head of a list; NULL: it has none. BORROWED. */
static py_t *
list_strategy(const py_t *list)
{
    py_t *head = py_seq_len(list) > 0 ? py_seq_at(list, 0) : NULL;

    return head != NULL && py_is(head, PY_DICT) ? py_dict_gets(head, "__") : NULL;
}

/* Removes a key that need not be there. */
static void
drop_key(py_t *dict, const char *name)
{
    AUTO(py) key = py_strz(name);

    (void) py_dict_del(dict, key);
    py_clear();
}

/* NEW: the list's items from `from` on, without those of `without` (may be NULL). */
static py_t *
items_of(const py_t *list, size_t from, py_t *without)
{
    py_t *out = py_list();

    for (size_t i = from; i < py_seq_len(list); i++) {
        if (without == NULL || py_in(py_seq_at(list, i), without) <= 0)
            py_append(out, py_seq_at(list, i));
    }
    return out;
}

/* NEW: the value without the words that say how it is laid over others; mappings are changed in place. */
static py_t *
cleaned(py_t *v)
{
    py_t *key, *value;

    if (py_is(v, PY_LIST) && list_strategy(v) != NULL)
        return items_of(v, 1, NULL);
    if (py_is(v, PY_DICT)) {
        drop_key(v, "__");
        for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
            AUTO(py) clean = cleaned(value);
            (void) py_dict_set(v, key, clean);
        }
    }
    return py_ref(v);
}

/* NEW, or NULL raised. */
static py_t *
lists_merged(py_t *below, py_t *over)
{
    AUTO(py) last = py_strz("merge-last");
    py_t *said = list_strategy(over), *strategy = said != NULL ? said : last;
    AUTO(py) items = items_of(over, said != NULL ? 1 : 0, NULL);

    if (check_strategy(strategy) < 0)
        return NULL;
    if (strategy_is(strategy, "overwrite"))
        return STEAL(items);
    if (strategy_is(strategy, "remove"))
        return items_of(below, 0, items);
    bool first = strategy_is(strategy, "merge-first");
    py_t *out = items_of(first ? items : below, 0, NULL);
    const py_t *rest = first ? below : items;
    for (size_t i = 0; i < py_seq_len(rest); i++)
        py_append(out, py_seq_at(rest, i));
    return out;
}

static py_t *dicts_merged(py_t *below, py_t *over);

/* NEW: the member of two mappings; NULL raised. `first` has the older one win. */
static py_t *
member_merged(py_t *below, py_t *over, bool first)
{
    AUTO(py) base = first ? cleaned(over) : py_ref(below);
    py_t *upper = first ? below : over;

    if (strcmp(py_type_name(base), py_type_name(upper)) != 0)
        return cleaned(upper);
    return py_is(upper, PY_DICT)   ? dicts_merged(base, upper)
           : py_is(upper, PY_LIST) ? lists_merged(base, upper)
                                   : py_ref(upper);
}

/* NEW: `below`, changed, or `over`; NULL raised. */
static py_t *
dicts_merged(py_t *below, py_t *over)
{
    AUTO(py) last = py_strz("merge-last");
    py_t *said = py_dict_gets(over, "__"), *key, *value;
    AUTO(py) strategy = py_ref(said != NULL ? said : last);

    drop_key(over, "__");
    if (check_strategy(strategy) < 0)
        return NULL;
    if (strategy_is(strategy, "overwrite"))
        return cleaned(over);
    bool first = strategy_is(strategy, "merge-first"), gone = strategy_is(strategy, "remove");
    for (size_t i = 0; py_dict_next(over, &i, &key, &value);) {
        py_t *there = py_dict_get(below, key);
        if (gone) {
            (void) (there != NULL && py_dict_del(below, key));
            continue;
        }
        AUTO(py) merged = there != NULL ? member_merged(there, value, first) : cleaned(value);
        if (merged == NULL)
            return NULL;
        (void) py_dict_set(below, key, merged);
    }
    return py_ref(below);
}

/* ---- templates --------------------------------------------------------------------------------------- */

/* traverse_dict_and_list(data, key, default=None, delimiter=":") */
static py_t *
stack_traverse(void *data, const py_args_t *args)
{
    py_t *dflt = args->n > 2 ? args->v[2] : NULL;
    const char *delimiter = args->n > 3 && py_is(args->v[3], PY_STR) ? py_cstr(args->v[3]) : ":";

    if (args->n < 2)
        return py_raise(&py_TypeError, "traverse_dict_and_list() needs data and a key");
    for (size_t i = 0; i < args->nkw; i++) {
        if (strcmp(py_cstr(args->names[i]), "default") == 0)
            dflt = args->kwv[i];
        else if (strcmp(py_cstr(args->names[i]), "delimiter") == 0)
            delimiter = py_cstr(args->kwv[i]);
    }
    py_t *found = py_traverse(args->v[0], args->v[1], delimiter);
    return found != NULL || py_raised() != NULL ? found : dflt != NULL ? py_ref(dflt) : py_ref(PY_None);
}

static const py_fn_class_t traverse_class = { .name = "traverse_dict_and_list", .fn = stack_traverse };

/* Salt's names of what templates elsewhere know as `salt`, `grains` and `opts`; on the first line, so that
 * lines keep their numbers. */
#define NAMES "{%- set __salt__ = salt -%}{%- set __grains__ = grains -%}{%- set __opts__ = opts -%}"

/* Renders a file: data by "jinja|yaml", a text by "jinja". NEW, or NULL with *err. */
static py_t *
stack_rendered(pillar_stack_t *self, const char *path, const char *pipeline, py_t *stack, fail_t *err)
{
    const compile_t *owner = self->owner;
    const py_limits_t limits = { .deadline_ms = owner->deadline_ms };
    buf_auto_t text = BUF_INIT;
    AUTO(py) context = py_dict();
    AUTO(py) about = py_dict();
    py_scope_t scope;

    buf_puts(&text, NAMES);
    if (fs_read(path, LIMIT_EXT_PILLAR, &text, err) < 0)
        return NULL;
    self->bytes += text.len;
    if (self->bytes > LIMIT_EXT_PILLAR) {
        (void) fail_set(err, -EFBIG, "%s: the files have more than %d bytes", path, LIMIT_EXT_PILLAR);
        return NULL;
    }
    if (clock_mono_ms() >= owner->deadline_ms) {
        (void) fail_set(err, -ETIMEDOUT, "the pillar's time (option pillar_timeout) is up");
        return NULL;
    }
    py_dict_sets_new(about, "traverse", py_func(&traverse_class, NULL));
    py_dict_sets_new(about, "cfg_path", py_strz(self->cfg));
    py_dict_sets(context, "__stack__", about);
    py_dict_sets_new(context, "minion_id", py_strz(owner->env->id));
    py_t *asked = owner->pillarenv != NULL ? py_strz(owner->pillarenv) : py_ref(PY_None);
    py_dict_sets_new(context, "pillarenv", owner->env->peer_grains ? py_peer(asked, 0) : asked);
    py_dict_sets(context, "stack", stack);
    py_dict_sets_new(context, "ymlpath", py_strz(path));
    const render_source_t source = { .text = buf_str(&text),
                                     .len = text.len,
                                     .path = path,
                                     .pipeline = pipeline,
                                     .fixed = true,
                                     .saltenv = "base",
                                     .pillar = self->pillar,
                                     .context = context };
    py_scope_enter(&scope, &limits);
    py_t *made = render_data(self->render, &source, err);
    py_scope_leave(&scope);
    return made;
}

/* Grains in the names of files must be words: 0, or -EINVAL. */
static int
check_names(const py_t *text, const char *cfg, fail_t *err)
{
    spans_auto_t spans = SPANS_INIT;
    size_t len;
    const char *bytes = py_text(text, &len);

    py_peer_spans(text, &spans);
    for (size_t i = 0; i < spans.n; i++) {
        for (size_t at = spans.v[i].from; at < spans.v[i].to; at++) {
            unsigned char c = (unsigned char) bytes[at];
            bool dots = c == '.' && at > 0 && bytes[at - 1] == '.';
            if (dots || !(isalnum(c) || c >= 0x80 || strchr(" _-.@+=", c) != NULL))
                return fail_set(err, -EINVAL,
                                "%s: '%.*s', which the minion said of itself, has '%c', which a part of a "
                                "file's name may not have",
                                cfg, (int) (spans.v[i].to - spans.v[i].from), bytes + spans.v[i].from, c);
        }
    }
    return 0;
}

/* The names in a rendered configuration: a YAML list, or lines. NEW list, or NULL with *err. */
static py_t *
names_in(const py_t *text, const char *cfg, fail_t *err)
{
    yproblem_t problem = { 0 };
    size_t len;

    if (check_names(text, cfg, err) < 0)
        return NULL;
    const char *bytes = py_text(text, &len);
    AUTO(py) list = py_yaml_load(bytes, len, false, &problem);
    yproblem_free(&problem);
    py_clear();
    if (list != NULL && py_is(list, PY_LIST))
        return STEAL(list);
    py_t *names = py_list();
    char **lines = str_split(bytes, "\n", false);
    for (size_t i = 0; lines[i] != NULL; i++)
        py_append_new(names, py_strz(str_trim(lines[i])));
    strv_free(lines);
    return names;
}

/* ---- configurations ----------------------------------------------------------------------------------- */

/* Lays a YAML file over the stack. 0, or negative with *err. */
static int
stack_lay(pillar_stack_t *self, const char *path, py_t **stack_p, fail_t *err)
{
    AUTO(py) data = stack_rendered(self, path, "jinja|yaml", *stack_p, err);

    if (data == NULL)
        return fail_set(err, -EINVAL, "Stack pillar template render error in %s:\n\"%s\"", path,
                        fail_text(err));
    if (!py_is(data, PY_DICT))
        return 0;
    py_t *merged = dicts_merged(*stack_p, data);
    if (merged == NULL) {
        (void) fail_set(err, -EINVAL, "%s",
                        py_raised() != NULL ? py_raised_text() : "values can't be merged");
        py_clear();
        return -EINVAL;
    }
    py_unref(*stack_p);
    *stack_p = merged;
    return 0;
}

/* Lays the files that an item of a configuration names over the stack. */
static int
stack_item(pillar_stack_t *self, const char *item, py_t **stack_p, fail_t *err)
{
    AUTO_FREE char *pattern = *item == '/' ? xstrdup(item) : fs_join(self->folder, item);
    glob_t found;
    int rc = fs_glob(pattern, 0, &found, err);

    if (rc < 0)
        return rc;
    if (found.gl_pathc == 0)
        log_info("Ignoring pillar stack template \"%s\": can't find from root dir \"%s\"", item,
                 self->folder);
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        rc = stack_lay(self, found.gl_pathv[i], stack_p, err);
    globfree(&found);
    return rc;
}

/* Renders the configuration and lays the files that it names, each seeing the stack so far. */
static int
stack_names(pillar_stack_t *self, py_t **stack_p, fail_t *err)
{
    AUTO(py) text = stack_rendered(self, self->cfg, "jinja", *stack_p, err);
    AUTO(py) names = text != NULL ? names_in(text, self->cfg, err) : NULL;
    int rc = names != NULL ? 0 : -EINVAL;

    for (size_t i = 0; rc == 0 && i < py_seq_len(names); i++) {
        AUTO(py) name = py_tostr(py_seq_at(names, i));
        if (name != NULL && py_cstr(name)[strspn(py_cstr(name), " \t\r")] != '\0')
            rc = stack_item(self, py_cstr(name), stack_p, err);
    }
    return rc;
}

static json_t *
stack_grains(void *cookie)
{
    return ((compile_t *) cookie)->grains;
}

static py_t *
stack_known(void *cookie, json_t *ask, fail_t *err)
{
    return py_ref(((compile_t *) cookie)->known);
}

/* Follows one configuration file. Undefined variables are empty, as with Jinja by itself. */
static int
stack_config(compile_t *owner, const char *cfg, py_t *pillar, py_t **stack_p, fail_t *err)
{
    const char *slash = strrchr(cfg, '/');
    int found = fs_look_file(cfg, err);

    if (found < 0)
        return found;
    if (slash == NULL || found == 0) {
        log_info("Ignoring pillar stack cfg \"%s\": file does not exist", cfg);
        return 0;
    }
    pillar_stack_t self = {
        .owner = owner, .cfg = cfg, .folder = xstrndup(cfg, (size_t) (slash - cfg) + 1), .pillar = pillar
    };
    json_auto_t *opts = json_copy(owner->opts), *roots = json_pack("{s:[s]}", "base", self.folder);
    json_object_set_new(opts, "allow_undefined", json_true());
    const call_env_t env = { .registry = owner->env->registry,
                             .opts = opts,
                             .id = owner->env->id,
                             .renders = "renderer_functions_pillar",
                             .grains = stack_grains,
                             .pillar = stack_known,
                             .peer = owner->env->peer_grains,
                             .files = owner->state_files,
                             .cookie = owner };
    self.near = fileclient_local(opts, roots);
    self.ctx = call_ctx_new(&env);
    self.render = render_new(self.ctx, self.near);
    render_show_paths(self.render);
    int rc = stack_names(&self, stack_p, err);
    render_destroy(&self.render);
    call_ctx_destroy(&self.ctx);
    fileclient_destroy(&self.near);
    free(self.folder);
    return rc;
}

/* Appends the configurations that "grains:role: {web: FILE}" and the like choose. */
static int
add_chosen(compile_t *self, const char *matcher, json_t *choices, py_t *pillar, json_t *files, fail_t *err)
{
    const char *colon = strchr(matcher, ':');
    AUTO(py) grains = colon != NULL && str_starts(matcher, "grains:") ? py_from_json(self->grains) : NULL;
    AUTO(py) opts = colon != NULL && str_starts(matcher, "opts:") ? py_from_json(self->opts) : NULL;
    py_t *from = grains != NULL ? grains : opts != NULL ? opts : pillar;
    const char *env = self->pillarenv != NULL ? self->pillarenv : compile_env(self);
    json_t *one;
    size_t i;

    if (colon == NULL || (from == pillar && !str_starts(matcher, "pillar:")))
        return fail_set(
            err, -EINVAL,
            "Unknown traverse option \"%.*s\", should be one of dict_keys(['pillar', 'grains', 'opts'])",
            (int) strcspn(matcher, ":"), matcher);
    AUTO(py) path = py_strz(colon + 1);
    AUTO(py) found = py_traverse(from, path, ":");
    py_clear();
    AUTO(py) word = found != NULL ? py_tostr(found) : NULL;
    json_t *chosen = word != NULL ? value_get(choices, py_cstr(word)) : NULL;
    if (chosen == NULL && word != NULL && strcmp(py_cstr(word), env) == 0)
        chosen = value_get(choices, "__env__");
    json_auto_t *list = json_is_array(chosen) ? json_incref(chosen)
                        : chosen != NULL      ? json_pack("[O]", chosen)
                                              : json_array();
    json_array_foreach (list, i, one) {
        const char *named = json_is_string(one) ? json_string_value(one) : "";
        /* A minion asks for an environment by any name; as a part of a path it must not lead elsewhere. */
        if (strstr(named, "__env__") != NULL && (strchr(env, '/') != NULL || *env == '.'))
            return fail_set(err, -EINVAL, "%s: the pillar's environment '%s' has a '/' or begins with a '.'",
                            matcher, env);
        AUTO_FREE char *file = str_replace(named, "__env__", env);
        json_array_append_new(files, json_string(file));
        if (grains != NULL && strcmp(matcher, "grains:id") != 0)
            claims_tell(self, file, matcher);
    }
    return 0;
}

py_t *
ext_stack(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    json_auto_t *files = json_is_array(args)    ? json_copy((json_t *) args)
                         : json_is_string(args) ? json_pack("[O]", (json_t *) args)
                                                : json_array();
    AUTO(py) stack = py_dict();
    const char *matcher;
    json_t *choices, *cfg;
    size_t i;

    reads_mark_world(self->env->reads);
    json_object_foreach ((json_t *) args, matcher, choices) {
        if (add_chosen(self, matcher, choices, pillar, files, err) < 0)
            return NULL;
    }
    json_array_foreach (files, i, cfg) {
        if (!json_is_string(cfg)) {
            (void) fail_set(err, -EINVAL, "stack: a configuration file is a path, not %s",
                            json_is_object(cfg) ? "a mapping" : "a value");
            return NULL;
        }
        if (stack_config(self, json_string_value(cfg), pillar, &stack, err) < 0)
            return NULL;
    }
    return STEAL(stack);
}
