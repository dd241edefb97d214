/* reaction.c - render one reactor file for an event and build the list of its reactions; see reaction.h.
 *
 * Steps: reaction_render() -> declaration() per ID, compiled as high data -> low_order() -> reaction_of() per
 * chunk -> requisites(), which turns `require` into indexes. An error breaks one reaction, not the file. */
#include "common/reactor/reaction_int.h"

#include <glob.h>
#include <sys/stat.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/state/compile.h"
#include "salt/limits.h"
#include "salt/value.h"

#define ORDER_BEGIN 10000 /* first automatic order, as for states */

/* State while one file is processed. */
typedef struct work {
    const reaction_env_t *env;
    const json_t *firing;
    char *path;    /* on this machine */
    char *url;     /* as errors name it */
    char *relpath; /* below the roots; NULL: not from there */
    buf_t text;
    json_t *chunks, *errors, *out;
    int order;
} work_t;

/* ---- errors -------------------------------------------------------------------------------------------- */

static void
reaction_error(json_t *errors, const char *file, const char *id, size_t line, const char *text)
{
    json_t *error = json_pack("{s:s, s:s*, s:s}", "file", file, "id", id, "error", text);

    if (line > 0)
        json_object_set_new(error, "line", json_integer((json_int_t) line));

    /* A message that ends like "in FILE, line 3" tells it. */
    long long told;
    for (const char *p = line > 0 ? NULL : strstr(text, ", line "); p != NULL; p = strstr(p + 1, ", line ")) {
        AUTO_FREE char *digits = xstrndup(p + 7, strspn(p + 7, "0123456789"));
        if (str_to_int(digits, 1, INT32_MAX, &told))
            json_object_set_new(error, "line", json_integer(told));
    }
    json_array_append_new(errors, error);
}

/* Report a file that could not be read; "passing" if the cause may pass, so that the caller can retry. */
static void
error_read(json_t *errors, const char *file, int code, const char *text)
{
    reaction_error(errors, file, NULL, 0, text);
    if (fs_is_passing(code))
        json_object_set_new(json_array_get(errors, json_array_size(errors) - 1), "passing", json_true());
}

static void
error_at(work_t *w, const char *id, const char *text)
{
    reaction_error(w->errors, w->url, id, id != NULL ? sls_line_of(buf_str(&w->text), id) : 0, text);
}

/* ---- declarations -------------------------------------------------------------------------------------- */

static bool
is_private(const py_t *key)
{
    return py_is(key, PY_STR) && str_starts(py_cstr(key), "__");
}

/* Bring a body into the state compiler's shape: a list of one-key mappings and the function's name; other
 * texts go to *ret_words. NEW list. */
static py_t *
reaction_body(py_t *body, bool named, py_t **ret_words)
{
    py_t *list = py_list(), *key, *value;

    *ret_words = py_list();
    if (py_is(body, PY_DICT)) {
        for (size_t at = 0; py_dict_next(body, &at, &key, &value);) {
            AUTO(py) one = py_dict();
            py_dict_set(one, key, value);
            py_append(list, one);
        }
    } else if (py_is(body, PY_LIST)) {
        for (size_t i = 0; i < py_seq_len(body); i++) {
            py_t *item = py_seq_at(body, i);
            bool is_function = !named && py_is(item, PY_STR);
            py_append(py_is(item, PY_DICT) || is_function ? list : *ret_words, item);
            named = named || is_function;
        }
    } else if (!py_is(body, PY_NONE)) {
        py_append(named ? *ret_words : list, body);
    }
    return list;
}

static void
reaction_add_arg(py_t *list, const char *key, py_t *value)
{
    AUTO(py) one = py_dict();

    py_dict_sets(one, key, value);
    py_append(list, one);
}

/* Split "runner.state.orchestrate" into client and function. */
static void
reaction_function(work_t *w, py_t *id, const char *word, py_t *body)
{
    const char *dot = strchr(word, '.');
    AUTO_FREE char *client = xstrndup(word, dot != NULL ? (size_t) (dot - word) : strlen(word));

    /* Compile one declaration to low chunks. Texts without a key become the argument REACTION_WORDS. */
    const char *fun = dot != NULL ? dot + 1 : NULL;
    AUTO(py) words = NULL;
    AUTO(py) list = reaction_body(body, fun != NULL, &words);
    AUTO(py) state = py_dict();
    AUTO(py) high = py_dict();
    AUTO(py) order = py_int(w->order++);
    json_auto_t *problems = json_array();
    json_t *one;
    size_t i;

    if (fun != NULL)
        py_append_new(list, py_strz(fun));
    if (py_seq_len(words) > 0)
        reaction_add_arg(list, REACTION_WORDS, words);
    bool ordered = false;
    for (size_t k = 0; k < py_seq_len(list); k++)
        ordered = ordered ||
                  (py_is(py_seq_at(list, k), PY_DICT) && py_dict_gets(py_seq_at(list, k), "order") != NULL);
    if (!ordered)
        reaction_add_arg(list, "order", order);
    py_dict_sets(state, client, list);
    py_dict_sets_new(state, "__sls__", py_strz(w->url));
    py_dict_sets_new(state, "__env__", py_strz("base"));
    if (py_dict_set(high, id, state) < 0)
        py_clear();
    high_verify(high, NULL, problems);
    json_auto_t *chunks = json_array_size(problems) == 0 ? high_compile(high, NULL, problems) : json_array();
    AUTO_FREE char *name = py_is(id, PY_STR) ? xstrdup(py_cstr(id)) : NULL;
    json_array_foreach (problems, i, one)
        error_at(w, name, json_string_value(one));
    json_array_extend(w->chunks, chunks);
}

/* Reads an ID: "runner.state.orch" alone, or functions with their arguments below them. */
static void
declaration(work_t *w, py_t *id, py_t *body)
{
    py_t *key, *value;

    if (py_is(body, PY_STR)) {
        reaction_function(w, id, py_cstr(body), PY_None);
        return;
    }
    if (!py_is(body, PY_DICT)) {
        AUTO_FREE char *text = xasprintf("'%s' has no function below it, CLIENT.MODULE.FUNCTION",
                                         py_cstr(id));
        error_at(w, py_cstr(id), text);
        return;
    }
    for (size_t at = 0; py_dict_next(body, &at, &key, &value);)
        if (py_is(key, PY_STR) && !is_private(key))
            reaction_function(w, id, py_cstr(key), value);
}

/* ---- what requires what -------------------------------------------------------------------------------- */

/* Resolve one target of `require` to indexes. False: the file has no such reaction. */
static bool
require(const json_t *list, size_t self, const json_t *target, json_t *indexes)
{
    const char *key = NULL, *id = json_string_value(target);
    bool found = false;
    json_t *one, *v;
    size_t i;

    json_object_foreach ((json_t *) target, key, v)
        id = json_string_value(v);
    const char *client = json_is_object(target)
                             ? reaction_client(json_object_iter_key(json_object_iter((json_t *) target)))
                             : NULL;
    if (str_eq(client, "id") || str_eq(client, "name"))
        client = NULL;
    json_array_foreach (list, i, one) {
        if (i == self || id == NULL || (client != NULL && !str_eq(value_str(one, "client", ""), client)) ||
            (!str_eq(value_str(one, "id", ""), id) && !str_eq(value_str(one, "name", ""), id)))
            continue;
        json_array_append_new(indexes, json_integer((json_int_t) i));
        found = true;
    }
    return found;
}

/* True when `at` reaches `goal` through requirements. `seen` marks visited reactions, so that each is visited
 * once. */
static bool
leads_to(const json_t *list, size_t at, size_t goal, bool *seen)
{
    json_t *index;
    size_t i;

    seen[at] = true;
    json_array_foreach (value_get(json_array_get(list, at), "require"), i, index) {
        size_t next = (size_t) json_integer_value(index);
        if (next == goal || (!seen[next] && leads_to(list, next, goal, seen)))
            return true;
    }
    return false;
}

static void
reaction_break(work_t *w, json_t *reaction, const char *why)
{
    json_object_set_new(reaction, "broken", json_true());
    error_at(w, value_str(reaction, "id", ""), why);
}

/* Resolve the requirements of all reactions; chunks[i] belongs to list[i]. */
static void
requisites(work_t *w, const json_t *chunks, json_t *list)
{
    json_t *one, *target;
    size_t i, k;

    json_array_foreach (list, i, one) {
        json_t *indexes = json_array();
        json_array_foreach (value_get(json_array_get(chunks, i), "require"), k, target)
            if (!require(list, i, target, indexes)) {
                AUTO_FREE char *shown = value_pystr(target);
                AUTO_FREE char *why = xasprintf("it requires %s, and the file has no such reaction", shown);
                reaction_break(w, one, why);
            }
        json_object_set_new(one, "require", indexes);
    }
    json_array_foreach (list, i, one) {
        AUTO_FREE bool *seen = xcalloc(json_array_size(list) + 1, sizeof(bool));
        if (leads_to(list, i, i, seen))
            reaction_break(w, one, "it requires itself, by way of others");
    }
}

/* ---- chunks to reactions ------------------------------------------------------------------------------- */

/* Makes the file's chunks reactions, in their order, and appends them to the list with indexes of that
 * list. */
static void
reactions(work_t *w)
{
    json_auto_t *seen = json_object(), *kept = json_array(), *list = json_array();
    json_t *chunk;
    size_t i;

    if (json_array_size(w->chunks) > LIMIT_REACTIONS) {
        AUTO_FREE char *why = xasprintf("it has %zu reactions, %d are allowed", json_array_size(w->chunks),
                                        LIMIT_REACTIONS);
        error_at(w, NULL, why);
        return;
    }
    low_order(w->chunks);
    json_array_foreach (w->chunks, i, chunk) {
        fail_auto_t err = FAIL_INIT;
        const char *id = value_str(chunk, "__id__", "");
        json_auto_t *reaction = reaction_of(w->env, chunk, &err);
        if (reaction == NULL) {
            error_at(w, id, fail_text(&err));
            continue;
        }
        size_t line = sls_line_of(buf_str(&w->text), id);
        json_object_set_new(reaction, "file", json_string(w->url));
        json_object_set_new(reaction, "id", json_string(id));
        json_object_set(reaction, "name", value_get(chunk, "name"));
        if (line > 0)
            json_object_set_new(reaction, "line", json_integer((json_int_t) line));

        /* Set "part", the key that keeps this reaction of this event from being done twice, also after a
         * restart. Repeated IDs are numbered. */
        const char *who = value_str(reaction, "id", ""), *rule = value_str(w->firing, "rule", "");
        json_int_t n = value_int(seen, who, 0) + 1;
        AUTO_FREE char *whole = xasprintf("%s%s%s#%s", rule, *rule ? "!" : "", w->url, who);
        bool fits = strlen(whole) + sizeof("/1000") <= LIMIT_NOTE_LEN; /* with room for a number behind it */
        AUTO_FREE char *hex = fits ? NULL : digest_bytes("sha256", whole, strlen(whole), NULL);
        AUTO_FREE char *part = fits ? xstrdup(whole) : xasprintf("#%s", hex);
        json_object_set_new(seen, who, json_integer(n));
        json_object_set_new(reaction, "part", n == 1 ? json_string(part) : value_fmt("%s/%d", part, (int) n));

        json_array_append(kept, chunk);
        json_array_append(list, reaction);
    }
    requisites(w, kept, list);
    size_t base = json_array_size(w->out), k;
    json_t *reaction, *index;
    json_array_foreach (list, i, reaction) {
        json_array_foreach (value_get(reaction, "require"), k, index)
            json_integer_set(index, json_integer_value(index) + (json_int_t) base);
        json_object_del(reaction, "name");
        json_array_append(w->out, reaction);
    }
}

/* ---- rendering ----------------------------------------------------------------------------------------- */

/* NEW high data, or NULL with an error on record. */
static py_t *
reaction_render(work_t *w)
{
    static const char *const words[] = { "data", "tag", "events", "count", "group", "missing" };
    fail_auto_t err = FAIL_INIT;
    AUTO(py) context = py_dict();
    struct stat st;

    /* The template's variables are the event's words, marked as a peer's data. */
    for (size_t i = 0; i < NELEMS(words); i++)
        if (value_get(w->firing, words[i]) != NULL)
            py_dict_sets_new(context, words[i], py_from_json_peer(value_get(w->firing, words[i])));

    int rc = fs_read(w->path, LIMIT_TEMPLATE, &w->text, &err);
    if (rc < 0) {
        error_read(w->errors, w->url, rc, fail_text(&err));
        return NULL;
    }
    bool there = stat(w->path, &st) == 0;
    render_source_t source = { .text = buf_str(&w->text),
                               .len = w->text.len,
                               .path = w->path,
                               .version = there
                                              ? (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
                                              : 0,
                               .reaction = true,
                               .tmplpath = w->relpath,
                               .saltenv = "base",
                               .context = context };
    py_t *high = render_data(w->env->render, &source, &err);
    if (high == NULL)
        error_read(w->errors, w->url, err.code, fail_text(&err));
    return high;
}

/* Process one file. A URL of the file server gives the template its path below the roots. */
static void
reaction_file(const reaction_env_t *env, const json_t *firing, const char *path, const char *url, json_t *out,
              json_t *errors)
{
    bool served = str_starts(url, "salt://");
    work_t w = { .env = env,
                 .firing = firing,
                 .path = xstrdup(path),
                 .url = xstrdup(url),
                 .relpath = served ? xstrndup(url + 7, strcspn(url + 7, "?")) : NULL,
                 .text = BUF_INIT,
                 .chunks = json_array(),
                 .errors = errors,
                 .out = out,
                 .order = ORDER_BEGIN };
    AUTO(py) high = reaction_render(&w);
    py_t *id, *body;

    if (high != NULL && !py_is(high, PY_DICT))
        reaction_error(errors, url, NULL, 0, "it is not a mapping of IDs to functions");
    for (size_t at = 0; py_is(high != NULL ? high : PY_None, PY_DICT) && py_dict_next(high, &at, &id, &body);)
        if (!is_private(id))
            declaration(&w, id, body);
    reactions(&w);
    json_decref(w.chunks);
    buf_free(&w.text);
    free(w.path);
    free(w.url);
    free(w.relpath);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static const char missing_text[] = "File missing or not found.";

json_t *
reaction_list(const reaction_env_t *env, const json_t *firing, json_t *errors)
{
    const char *file = value_str(firing, "file", "");
    fail_auto_t err = FAIL_INIT;
    json_t *out = json_array();
    AUTO_FREE char *path = NULL;

    if (!str_starts(file, "salt://")) {
        /* A pattern may match several files; each is processed on its own. */
        glob_t found;
        int rc = fs_glob(file, 0, &found, NULL);
        if (fs_is_passing(rc))
            error_read(errors, file, rc, strerror(-rc));
        else if (found.gl_pathc == 0)
            reaction_error(errors, file, NULL, 0, missing_text);
        else
            for (size_t i = 0; i < found.gl_pathc; i++)
                reaction_file(env, firing, found.gl_pathv[i], found.gl_pathv[i], out, errors);
        globfree(&found);

        return out;
    }
    int rc = fileclient_cache(env->files, file, "base", &path, &err);
    if (rc < 0)
        error_read(errors, file, rc, rc == -ENOENT ? missing_text : fail_text(&err));
    else
        reaction_file(env, firing, path, file, out, errors);
    return out;
}

/* Why a file of a rule cannot be used, for a check of the configuration. NEW; NULL: it is there. */
char *
reaction_missing(fileclient_t *files, const char *file)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *st = NULL;
    glob_t found;

    if (str_starts(file, "salt://")) {
        int rc = fileclient_stat(files, file, "base", &st, &err);
        return rc == 0 ? NULL : xstrdup(rc == -ENOENT ? missing_text : fail_text(&err));
    }
    int rc = fs_glob(file, 0, &found, &err);
    bool there = found.gl_pathc > 0;
    globfree(&found);
    return there ? NULL : xstrdup(rc < 0 ? fail_text(&err) : missing_text);
}
