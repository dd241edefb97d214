/* renderer_stateconf.c - the renderer `stateconf`: a template and then data, twice, with the configuration of
 * the first pass as variables of the second; then IDs relative to the file, a start, a goal, an order.
 *
 *   #!stateconf [-GoSp] [DATA-RENDERER [ARGUMENTS] . TEMPLATE-RENDERER [ARGUMENTS]]
 *
 * The first pass ends at a line "# --- end of state config ---". What `stateconf.set` states declare, and
 * what `extend` of an including file puts over it, is kept from file to file (render_source_t's `kept`). */
#include <ctype.h>

#include "common/base/str.h"
#include "common/match/regex.h"
#include "common/py/py_as.h"
#include "common/render/render_int.h"
#include "common/render/stateconf.h"

typedef struct stateconf {
    bool no_goal, ordered, start, is_data;
    char *data, *data_args, *template, *template_args; /* owned: the renderers */
    py_t *kept;
} stateconf_t;

/* ---- the argument line --------------------------------------------------------------------------------- */

/* Splits "NAME ARGUMENTS". */
static void
split_renderer(const char *text, char **ret_name, char **ret_args)
{
    size_t len = strcspn(text, " ");

    *ret_name = xstrndup(text, len);
    *ret_args = xstrdup(text + len + strspn(text + len, " "));
}

/* -EINVAL: each error about the "#!" line tells the whole syntax. */
static int
stateconf_usage(const char *why, fail_t *err)
{
    return fail_set(
        err, -EINVAL,
        "Invalid use of the renderer stateconf: %s. Usage: #!stateconf [-GoSp] [<data_renderer> [options] . "
        "<template_renderer> [options]], as in #!stateconf -o yaml . jinja",
        why);
}

/* The letters behind a "-". */
static int
stateconf_letters(stateconf_t *self, const char *letters, fail_t *err)
{
    for (; *letters != '\0'; letters++) {
        bool *flag = *letters == 'G'   ? &self->no_goal
                     : *letters == 'o' ? &self->ordered
                     : *letters == 's' ? &self->start
                     : *letters == 'p' ? &self->is_data
                                       : NULL;
        AUTO_FREE char *why = xasprintf("there is no option -%c", *letters);
        if (flag == NULL)
            return stateconf_usage(why, err);
        *flag = true;
    }
    return 0;
}

/* "yaml . jinja": at the first dot between blanks; "\." is a dot. */
static int
take_renderers(stateconf_t *self, const char *line, fail_t *err)
{
    const char *dot = strstr(line, " . ");

    if (dot == NULL)
        return stateconf_usage("two renderers have a dot between them", err);
    AUTO_FREE char *before = xstrndup(line, (size_t) (dot - line));
    AUTO_FREE char *data = str_replace(before, "\\.", ".");
    AUTO_FREE char *template = str_replace(dot + 3, "\\.", ".");
    split_renderer(data, &self->data, &self->data_args);
    split_renderer(template, &self->template, &self->template_args);
    if (self->ordered && !str_eq(self->data, "yaml"))
        return fail_set(err, -EINVAL, "Implicit ordering is only supported if the yaml renderer is used!");
    return 0;
}

static int
take_argline(stateconf_t *self, const char *argline, fail_t *err)
{
    char **words = str_split(argline, " \t", true);
    buf_auto_t rest = BUF_INIT;
    size_t i = 0;
    int rc = 0;

    for (; rc == 0 && words[i] != NULL && words[i][0] == '-' && words[i][1] != '\0'; i++) {
        if (str_eq(words[i], "--")) {
            i++;
            break;
        }
        rc = stateconf_letters(self, words[i] + 1, err);
    }
    for (; words[i] != NULL; i++)
        buf_printf(&rest, "%s%s", rest.len > 0 ? " " : "", words[i]);
    strv_free(words);
    if (rc == 0 && !self->is_data)
        rc = take_renderers(self, rest.len > 0 ? buf_str(&rest) : "yaml . jinja", err);
    return rc;
}

/* ---- the configuration --------------------------------------------------------------------------------- */

/* kept[name], a dict. BORROWED. */
static py_t *
stateconf_kept(const stateconf_t *self, const char *name)
{
    if (py_dict_gets(self->kept, name) == NULL)
        py_dict_sets_new(self->kept, name, py_dict());
    return py_dict_gets(self->kept, name);
}

/* An extension precedes; what both require is required. The extension's own list grows by that, as in
 * Salt. */
static void
put_extension(py_t *conf, py_t *extension)
{
    static const char *const lists[] = { "require", "watch", "listen", "onchanges", "onfail" };

    for (size_t i = 0; i < NELEMS(lists); i++) {
        py_t *list = py_dict_gets(extension, lists[i]), *more = py_dict_gets(conf, lists[i]);
        if (list == NULL || more == NULL || !py_is(list, PY_LIST) || !py_is(more, PY_LIST))
            continue;
        AUTO(py) copy = py_tolist(more);
        py_extend(list, copy);
    }
    py_dict_update(conf, extension);
}

/* Keeps what the data's `stateconf.set` states declare, and (`extends`) what its `extend` declares for
 * others. */
static void
keep_settings(const stateconf_t *self, py_t *data, bool extends)
{
    py_t *all = stateconf_kept(self, extends ? "extended" : "set"), *id, *states;

    for (size_t at = 0; py_dict_next(data, &at, &id, &states);) {
        if (!extends && py_str_is(id, "extend") && py_is(states, PY_DICT)) {
            keep_settings(self, states, true);
            continue;
        }
        /* The arguments of the ID's `stateconf.set`, short or whole. */
        const py_t *args = py_is(states, PY_DICT) ? py_dict_gets(states, "stateconf") : NULL;
        if (args == NULL && py_is(states, PY_DICT))
            args = py_dict_gets(states, STATECONF_SET);
        if (args == NULL || !py_is(args, PY_LIST))
            continue;
        if (py_dict_get(all, id) == NULL) {
            AUTO(py) fresh = py_dict();
            py_dict_set(all, id, fresh);
        }
        py_t *conf = py_dict_get(all, id), *key, *value;
        for (size_t i = 0, first; i < py_seq_len(args); i++)
            if (py_is(py_seq_at(args, i), PY_DICT) &&
                py_dict_next(py_seq_at(args, i), (first = 0, &first), &key, &value))
                py_dict_set(conf, key, value);
        py_t *extension = extends ? NULL : py_dict_get(stateconf_kept(self, "extended"), id);
        if (extension != NULL)
            put_extension(conf, extension);
    }
}

/* The template's variables of this pass; what the file itself has set without its name before the ID. NEW. */
static py_t *
context_of(const stateconf_t *self, const rendering_t *run, const char *sls, bool with_settings)
{
    py_t *context = py_dict(), *id, *conf;
    /* sls_dir: "web/conf" of "web.conf.nginx", "web" of "web". */
    const char *dot = strrchr(sls, '.');
    AUTO_FREE char *dotted = xstrndup(sls, dot != NULL ? (size_t) (dot - sls) : strlen(sls));
    AUTO_FREE char *folder = *dotted != '\0' ? str_replace(dotted, ".", "/") : xstrdup(".");
    AUTO_FREE char *prefix = xasprintf("%s::", sls);

    if (run->source->context != NULL)
        py_dict_update(context, run->source->context);
    py_dict_sets_new(context, "sls_dir", py_strz(folder));
    for (size_t at = 0; with_settings && py_dict_next(stateconf_kept(self, "set"), &at, &id, &conf);) {
        const char *text = py_cstr(id);
        py_dict_sets(context, str_starts(text, prefix) ? text + strlen(prefix) : text, conf);
    }
    return context;
}

/* ---- the passes ---------------------------------------------------------------------------------------- */

/* `extract`: only what the data sets counts. */
static int
stateconf_use(const stateconf_t *self, const rendering_t *run, py_t *data, bool extract, fail_t *err)
{
    const char *sls = run->source->sls != NULL ? run->source->sls : "";
    int rc;

    if (data == NULL || !py_is(data, PY_DICT))
        return fail_set(err, -EINVAL,
                        "the renderer 'stateconf' needs a dictionary of states, and this is a %s",
                        data != NULL ? py_type_name(data) : "text");
    /* "ID: state.fun" is "ID: {state.fun: []}". */
    py_t *id, *states;
    for (size_t at = 0; py_dict_next(data, &at, &id, &states);) {
        if (!py_is(states, PY_STR))
            continue;
        AUTO(py) pair = stateconf_pair(states, py_list());
        py_dict_set(data, id, pair);
    }
    if ((rc = stateconf_includes(data, sls, run->render->saltenv, err)) < 0)
        return rc;
    if (!extract && self->ordered && (rc = stateconf_order(data, self->kept, err)) < 0)
        return rc;
    if (self->start && (rc = stateconf_start(data, sls, err)) < 0)
        return rc;
    if (!extract && !self->no_goal && (rc = stateconf_goal(data, err)) < 0)
        return rc;
    if ((rc = stateconf_names(data, sls, err)) < 0)
        return rc;
    keep_settings(self, data, false);
    return 0;
}

/* Renders the text of `run` once; the data are those of `run` then. */
static int
pass(const stateconf_t *self, rendering_t *run, bool extract, fail_t *err)
{
    const char *sls = run->source->sls != NULL ? run->source->sls : "";
    const render_source_t *given = run->source;
    render_source_t source = *given;
    AUTO(py) context = context_of(self, run, sls, !extract);

    source.context = context;
    source.version = extract ? 0 : given->version; /* engines keep the whole file */
    run->source = &source;
    int rc = run_step(run, self->template, self->template_args, err);
    if (rc == 0)
        rc = run_step(run, self->data, self->data_args, err);
    run->source = given;
    return rc == 0 ? stateconf_use(self, run, run->is_data ? run->data : NULL, extract, err) : rc;
}

/* The first pass, over the beginning of the text. */
static int
configure(const stateconf_t *self, const rendering_t *run, size_t len, fail_t *err)
{
    rendering_t first = {
        .render = run->render, .source = run->source, .text = BUF_INIT, .untouched = run->untouched
    };

    buf_add(&first.text, buf_str(&run->text), len);
    for (size_t i = 0; i < run->peer.n && run->peer.v[i].from < len; i++) {
        const span_t *s = &run->peer.v[i];
        spans_add(&first.peer, s->from, s->to < len ? s->to : len, s->flags);
    }
    int rc = pass(self, &first, true, err);
    run_free(&first);
    return rc;
}

/* `self` is filled on the way; the caller frees it in any case. */
static int
stateconf_run(stateconf_t *self, rendering_t *run, const char *argline, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (take_argline(self, argline, err) < 0)
        return -EINVAL;
    if (self->is_data != run->is_data)
        return fail_set(err, -EINVAL, "the renderer 'stateconf' %s",
                        self->is_data ? "with -p needs data, and the one before it made a text"
                                      : "needs a text or its option -p, and the one before it made data");
    if (self->is_data)
        return stateconf_use(self, run, run->data, false, err);
    /* The configuration ends before its marker's line; without one there is a single pass. */
    rx_t *marker = rx_new("#\\s*-+\\s*end of state config\\s*-+", 0, &why);
    size_t len = 0, to;
    if (marker != NULL && rx_search(marker, buf_str(&run->text), run->text.len, 0, &why) > 0)
        (void) rx_group(marker, 0, &len, &to);
    rx_destroy(&marker);
    if (why.code != 0)
        return fail_set(err, why.code, "%s", fail_text(&why));
    if (len > 0 && configure(self, run, len, err) < 0)
        return -EINVAL;
    return pass(self, run, false, err);
}

int
render_stateconf(rendering_t *run, const char *argline, fail_t *err)
{
    py_t *kept = run->source->kept;
    stateconf_t self = { .kept = kept != NULL ? py_ref(kept) : py_dict() };
    int rc = stateconf_run(&self, run, argline, err);

    free(self.data);
    free(self.data_args);
    free(self.template);
    free(self.template_args);
    py_unref(self.kept);
    return rc;
}
