/* slsutil.c - execution module `slsutil`: merging, rendering and serialising for SLS files and templates, and
 * questions about the state tree. Works on Python values. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/py/py_peer.h"
#include "common/py/py_merge.h"
#include "common/py/py_peer.h"
#include "common/render/render.h"
#include "plugins/lib/call/banner.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/call/serializers.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* ---- merging ------------------------------------------------------------------------------------------ */

/* `dest` itself is changed and returned, as Python's dictupdate does. */
static py_t *
slsutil_update(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *dest = py_dict_gets(args, "dest");

    return py_update_how(dest, py_dict_gets(args, "upd"), pyarg_flag(args, "recursive_update"),
                         pyarg_flag(args, "merge_lists")) == 0
               ? py_ref(dest)
               : NULL;
}

/* Merges by the strategy's name; "smart" is aggregate for the renderer yamlex and recurse for all others. */
static py_t *
merge_two(py_t *a, py_t *b, py_t *args)
{
    return py_merge_for(a, b, pyarg_text(args, "strategy", "smart"), pyarg_text(args, "renderer", "yaml"),
                        pyarg_flag(args, "merge_lists"));
}

static py_t *
slsutil_merge(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return merge_two(py_dict_gets(args, "obj_a"), py_dict_gets(args, "obj_b"), args);
}

/* From left to right onto an empty mapping. */
static py_t *
slsutil_merge_all(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) list = py_tolist(py_dict_gets(args, "lst"));
    py_t *merged = list != NULL ? py_dict() : NULL;

    for (size_t i = 0; merged != NULL && i < py_seq_len(list); i++) {
        py_t *more = merge_two(merged, py_seq_at(list, i), args);
        py_unref(merged);
        merged = more;
    }
    return merged;
}

/* ---- renderer ----------------------------------------------------------------------------------------- */

/* Keywords that are not variables of the template are taken out of `vars`; its `context` comes on top. NEW
 * dict. */
static py_t *
slsutil_variables(py_t *kwargs)
{
    static const char *const taken[] = { "saltenv", "sls", "env", "input_data", "context" };
    AUTO(py) vars = py_todict(kwargs);
    py_t *context = py_dict_gets(kwargs, "context");

    for (size_t i = 0; i < NELEMS(taken); i++) {
        AUTO(py) name = py_strz(taken[i]);
        (void) py_dict_del(vars, name);
    }
    if (context != NULL && py_truth(context) > 0 && py_dict_update(vars, context) < 0)
        return NULL;
    return STEAL(vars);
}

/* Renders a prepared source with the call's variables. The pipeline is the call's default unless the source
 * begins with a shebang. NEW, or NULL with *err. */
static py_t *
render_this(call_ctx_t *ctx, py_t *args, render_source_t *source, fail_t *err)
{
    py_t *kwargs = py_dict_gets(args, "kwargs");
    AUTO(py) vars = slsutil_variables(kwargs);

    source->pipeline = pyarg_text(args, "default_renderer", "jinja|yaml");
    source->sls = pyarg_text(kwargs, "sls", "");
    source->saltenv = pyarg_text(kwargs, "saltenv", "base");
    source->context = vars;
    return vars != NULL ? render_data(render_of(ctx), source, err) : NULL;
}

/* cp.get_url: NEW path, or NULL when there is no such file, or with *err. */
static char *
fetched(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err)
{
    json_auto_t *args = json_pack("[s]", url), *kwargs = json_pack("{s:s}", "saltenv", saltenv);
    json_auto_t *path = NULL;

    if (ctx_call(ctx, "cp.get_url", args, kwargs, &path, err) < 0)
        return NULL;
    if (!json_is_string(path)) {
        log_error("Template was specified incorrectly: %s", url);
        return NULL;
    }
    return xstrdup(json_string_value(path));
}

/* {} for a missing template, which is logged. NEW, or NULL with *err. The file's time is part of its identity
 * for the cache of compiled templates. */
static py_t *
render_path(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *kwargs = py_dict_gets(args, "kwargs");
    AUTO_FREE char *path = fetched(ctx, pyarg_text(args, "path", ""), pyarg_text(kwargs, "saltenv", "base"),
                                   err);
    buf_auto_t text = BUF_INIT;
    struct stat st = { 0 };

    if (path == NULL)
        return err->code == 0 ? py_dict() : NULL;
    if (stat(path, &st) != 0 && !fs_is_absence(-errno)) {
        (void) fs_fail(err, -errno, "look at", path);
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        log_error("Template does not exist: %s", path);
        return py_dict();
    }
    if (fs_read(path, LIMIT_TEMPLATE, &text, err) < 0)
        return NULL;
    render_source_t source = { .text = buf_str(&text),
                               .len = text.len,
                               .path = path,
                               .version = (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec };
    return render_this(ctx, args, &source, err);
}

/* `path` wins over `string`. What is returned is the renderer's data, not text. */
static py_t *
slsutil_renderer(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *text = pyarg_text(args, "string", "");

    if (*pyarg_text(args, "path", "") != '\0')
        return render_path(ctx, args, err);
    if (*text == '\0') {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Must pass either path or string");
        return NULL;
    }
    /* Text of a peer is data, not a template: its marks stay with it, so the renderer does not evaluate
     * it. */
    spans_auto_t peer = SPANS_INIT;
    render_source_t source = { .path = ":string:", .peer = &peer };
    source.text = py_text(py_dict_gets(args, "string"), &source.len);
    py_peer_spans(py_dict_gets(args, "string"), &peer);
    return render_this(ctx, args, &source, err);
}

/* ---- serializers -------------------------------------------------------------------------------------- */

/* Serialises or deserialises by the serialiser's name. Options of the call go to the serialiser. */
static py_t *
slsutil_convert(py_t *args, const char *what, bool serialize, fail_t *err)
{
    const char *name = pyarg_text(args, "serializer", "");
    const serializer_t *s = serializer_find(name);

    if (s == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "Serializer '%s' not found.", name);
        return NULL;
    }
    if ((serialize ? s->serialize : s->deserialize) == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "Serializer '%s' does not implement %s.", name,
                         serialize ? "serialize" : "deserialize");
        return NULL;
    }
    py_t *v = py_dict_gets(args, what), *options = py_dict_gets(args, "mod_kwargs");
    return serialize ? serializer_write(s, v, options) : s->deserialize(v, options);
}

static py_t *
slsutil_serialize(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return slsutil_convert(args, "obj", true, err);
}

static py_t *
slsutil_deserialize(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return slsutil_convert(args, "stream_or_string", false, err);
}

/* ---- texts -------------------------------------------------------------------------------------------- */

static py_t *
slsutil_banner(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return banner_text(args);
}

/* A value that is true gives the one text, any other one the second; the texts are the call's. */
static py_t *
slsutil_boolstr(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    int truth = py_truth(py_dict_gets(args, "value"));

    return truth >= 0 ? py_ref(py_dict_gets(args, truth ? "true" : "false")) : NULL;
}

/* ---- the state tree ----------------------------------------------------------------------------------- */

/* Paths of one kind as an object, listed once per job. BORROWED, or NULL with *err. Templates ask for many
 * paths, and a listing is one request to the master. */
static json_t *
slsutil_listed(call_ctx_t *ctx, files_kind_t kind, const char *saltenv, fail_t *err)
{
    AUTO_FREE char *key = xasprintf("slsutil.%s.%d", saltenv, (int) kind);
    json_t *known = value_get(ctx_context(ctx), key), *path;
    size_t i;

    if (known != NULL)
        return known;
    json_auto_t *list = ctx_files(ctx) != NULL ? fileclient_list(ctx_files(ctx), kind, saltenv, "", err)
                                               : json_array();
    if (list == NULL)
        return NULL;
    known = json_object();
    json_array_foreach (list, i, path)
        json_object_set_new(known, json_string_value(path), json_true());
    json_object_set_new(ctx_context(ctx), key, known);
    return known;
}

/* 1, 0, or a negative errno. */
static int
slsutil_is_listed(call_ctx_t *ctx, files_kind_t kind, const char *path, const char *saltenv, fail_t *err)
{
    const json_t *paths = slsutil_listed(ctx, kind, saltenv, err);

    return paths != NULL ? value_get(paths, path) != NULL : -EIO;
}

/* True for a file or a folder of the state tree: 1, 0 or negative. The lists have no folder for the root
 * itself. */
static int
path_there(call_ctx_t *ctx, const char *path, const char *saltenv, fail_t *err)
{
    int rc = slsutil_is_listed(ctx, FILES_FILES, path, saltenv, err);

    return rc == 0 ? slsutil_is_listed(ctx, FILES_DIRS, path, saltenv, err) : rc;
}

/* NULL for a failure, whose *err is set. */
static py_t *
slsutil_answer(int rc)
{
    return rc >= 0 ? py_bool(rc > 0) : NULL;
}

static py_t *
slsutil_file_exists(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    if (!pyarg_defined(args, "path"))
        return NULL;
    return slsutil_answer(slsutil_is_listed(ctx, FILES_FILES, pyarg_text(args, "path", ""),
                                            pyarg_text(args, "saltenv", "base"), err));
}

static py_t *
slsutil_dir_exists(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return slsutil_answer(slsutil_is_listed(ctx, FILES_DIRS, pyarg_text(args, "path", ""),
                                            pyarg_text(args, "saltenv", "base"), err));
}

static py_t *
slsutil_path_exists(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    if (!pyarg_defined(args, "path"))
        return NULL;
    return slsutil_answer(
        path_there(ctx, pyarg_text(args, "path", ""), pyarg_text(args, "saltenv", "base"), err));
}

/* posixpath.normpath. NEW. Leading slashes go as well: paths of the tree are relative. */
static char *
normal_path(const char *path)
{
    char **parts = str_split(path, "/", true);
    buf_auto_t b = BUF_INIT;

    for (size_t i = 0; parts[i] != NULL; i++) {
        char *slash = b.len > 0 ? strrchr(b.data, '/') : NULL;
        bool up = strcmp(parts[i], "..") == 0 && b.len > 0 && !str_ends(b.data, "..");
        if (strcmp(parts[i], ".") == 0)
            continue;
        if (!up) {
            buf_printf(&b, "%s%s", b.len > 0 ? "/" : "", parts[i]);
            continue;
        }
        b.len = slash != NULL ? (size_t) (slash - b.data) : 0;
        b.data[b.len] = '\0';
    }
    strv_free(parts);
    return b.len > 0 ? buf_steal(&b) : xstrdup(".");
}

/* The first of `names` in the folder `at`: 1 with NEW *ret_path, 0, or a negative errno. */
static int
find_here(call_ctx_t *ctx, const char *at, py_t *names, const char *saltenv, char **ret_path, fail_t *err)
{
    for (size_t i = 0; i < py_seq_len(names); i++) {
        AUTO(py) name = py_tostr(py_seq_at(names, i));
        AUTO_FREE char *path = *at != '\0' ? fs_join(at, name != NULL ? py_cstr(name) : "")
                                           : xstrdup(name != NULL ? py_cstr(name) : "");
        int rc = path_there(ctx, path, saltenv, err);
        if (rc > 0)
            *ret_path = STEAL(path);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Looks for the names in the folder and in those above it, up to the root. Changes `at`. The error is Salt's
 * text, one for all names. */
static py_t *
find_upwards(call_ctx_t *ctx, char *at, py_t *names, const char *saltenv, fail_t *err)
{
    for (;;) {
        AUTO_FREE char *found = NULL;
        int rc = find_here(ctx, at, names, saltenv, &found, err);
        if (rc != 0)
            return rc > 0 ? py_str_utf8(found, strlen(found)) : NULL;
        if (*at == '\0')
            break;
        char *slash = strrchr(at, '/');
        *(slash != NULL ? slash : at) = '\0';
    }
    (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "File pattern(s) not found in path ancestry");
    return NULL;
}

/* The path of the first that is found, in the nearest folder. The start must be in the tree. */
static py_t *
slsutil_findup(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *start = pyarg_text(args, "startpath", ""), *saltenv = pyarg_text(args, "saltenv", "base");
    AUTO_FREE char *at = *start != '\0' ? normal_path(start) : xstrdup("");
    py_t *names = py_dict_gets(args, "filenames");
    int rc = *at != '\0' ? path_there(ctx, at, saltenv, err) : 1;

    if (rc == 0)
        (void) fail_kind(err, FAIL_INVOCATION, -ENOENT, "Starting path not found in the state tree: %s", at);
    if (rc <= 0)
        return NULL;
    if (py_is(names, PY_LIST))
        return find_upwards(ctx, at, names, saltenv, err);
    if (!py_is(names, PY_STR)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Filenames argument must be a string or list of strings");
        return NULL;
    }
    AUTO(py) one = py_list();
    py_append(one, names);
    return find_upwards(ctx, at, one, saltenv, err);
}

/* ---- table -------------------------------------------------------------------------------------------- */

#define LISTS_ROW                                                                                            \
    ARG("merge_lists", ARG_ANY, "false", "Extend lists by what they lack instead of replacing them")
#define STRATEGY_ROW                                                                                         \
    ARG("strategy", ARG_ANY, "\"smart\"", "recurse, list, aggregate, overwrite, none or smart")
#define RENDERER_ROW ARG("renderer", ARG_ANY, "\"yaml\"", "Decides what smart means")
#define ENV_ROW      ARG("saltenv", ARG_ANY, "\"base\"", "The environment")
#define TREE_ROW     ARG("path", ARG_ANY, ARG_REQUIRED, "A path in the state tree")
static const arg_t update_args[] = {
    ARG("dest", ARG_ANY, ARG_REQUIRED, "The mapping that changes"),
    ARG("upd", ARG_ANY, ARG_REQUIRED, "What is laid over it"),
    ARG("recursive_update", ARG_ANY, "true", "At all depths"),
    LISTS_ROW,
    ARGS_END,
};
static const arg_t merge_args[] = {
    ARG("obj_a", ARG_ANY, ARG_REQUIRED, "The mapping that is laid over"),
    ARG("obj_b", ARG_ANY, ARG_REQUIRED, "What is laid over it"),
    STRATEGY_ROW,
    RENDERER_ROW,
    LISTS_ROW,
    ARGS_END,
};
static const arg_t merge_all_args[] = {
    ARG("lst", ARG_ANY, ARG_REQUIRED, "The mappings, the strongest last"),
    STRATEGY_ROW,
    RENDERER_ROW,
    LISTS_ROW,
    ARGS_END,
};
static const arg_t renderer_args[] = {
    ARG("path", ARG_ANY, "null", "A URL (salt://...) or an absolute path"),
    ARG("string", ARG_ANY, "null", "A text instead of a file"),
    ARG("default_renderer", ARG_ANY, "\"jinja|yaml\"", "The renderers when the text has no #! line"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "saltenv, sls, context, and more variables for the template"),
    ARGS_END,
};
static const arg_t serialize_args[] = {
    ARG("serializer", ARG_ANY, ARG_REQUIRED, "json, yaml, python or configparser"),
    ARG("obj", ARG_ANY, ARG_REQUIRED, "The value"),
    ARG("mod_kwargs", ARG_ANY, ARG_STARSTAR, "Options of the serializer, such as indent"),
    ARGS_END,
};
static const arg_t deserialize_args[] = {
    ARG("serializer", ARG_ANY, ARG_REQUIRED, "json or yaml"),
    ARG("stream_or_string", ARG_ANY, ARG_REQUIRED, "The text"),
    ARG("mod_kwargs", ARG_ANY, ARG_STARSTAR, "Options of the serializer"),
    ARGS_END,
};
static const arg_t banner_args[] = {
    ARG("width", ARG_ANY, "72", "Characters in a line"),
    ARG("commentchar", ARG_ANY, "\"#\"", "What begins a comment"),
    ARG("borderchar", ARG_ANY, "\"#\"", "The character of the border"),
    ARG("blockstart", ARG_ANY, "null", "A line before the banner"),
    ARG("blockend", ARG_ANY, "null", "A line behind the banner"),
    ARG("title", ARG_ANY, "null", "Centered at the top"),
    ARG("text", ARG_ANY, "null", "At the bottom, from the left"),
    ARG("newline", ARG_ANY, "false", "End with a line break"),
    ARGS_END,
};
static const arg_t boolstr_args[] = {
    ARG("value", ARG_ANY, ARG_REQUIRED, "What is true or false"),
    ARG("true", ARG_ANY, "\"true\"", "Returned when it is true"),
    ARG("false", ARG_ANY, "\"false\"", "Returned when it is false"),
    ARGS_END,
};
static const arg_t path_args[] = { TREE_ROW, ENV_ROW, ARGS_END };
static const arg_t findup_args[] = {
    ARG("startpath", ARG_ANY, ARG_REQUIRED, "Where to begin; an empty text is the root"),
    ARG("filenames", ARG_ANY, ARG_REQUIRED, "A name, or several"),
    ENV_ROW,
    ARGS_END,
};

static const func_t funcs[] = {
    { "banner", NATIVE(slsutil_banner), banner_args, FN_READONLY | FN_NATIVE,
      "Return a block of comment that says who manages a file." CLI_EXAMPLE(
          "salt '*' slsutil.banner\n    salt '*' slsutil.banner commentchar='//' width=60") },
    { "boolstr", NATIVE(slsutil_boolstr), boolstr_args, FN_READONLY | FN_NATIVE,
      "Return one of two texts." CLI_EXAMPLE("salt '*' slsutil.boolstr True yes no") },
    { "deserialize", NATIVE(slsutil_deserialize), deserialize_args, FN_READONLY | FN_NATIVE,
      "Make a value of a text." CLI_EXAMPLE("salt '*' slsutil.deserialize 'json' '{\"foo\": \"Foo!\"}'") },
    { "dir_exists", NATIVE(slsutil_dir_exists), path_args, FN_READONLY | FN_NATIVE,
      "Whether there is such a folder in the state tree." CLI_EXAMPLE(
          "salt '*' slsutil.dir_exists nginx/files") },
    { "file_exists", NATIVE(slsutil_file_exists), path_args, FN_READONLY | FN_NATIVE,
      "Whether there is such a file in the state tree." CLI_EXAMPLE(
          "salt '*' slsutil.file_exists nginx/defaults.yaml") },
    { "findup", NATIVE(slsutil_findup), findup_args, FN_READONLY | FN_NATIVE,
      "Find a file in a folder of the state tree, or in the nearest one above it." CLI_EXAMPLE(
          "salt '*' slsutil.findup formulas/shared/nginx map.jinja") },
    { "merge", NATIVE(slsutil_merge), merge_args, FN_READONLY | FN_NATIVE,
      "Lay one mapping over another." CLI_EXAMPLE("salt '*' slsutil.merge '{foo: Foo}' '{bar: Bar}'") },
    { "merge_all", NATIVE(slsutil_merge_all), merge_all_args, FN_READONLY | FN_NATIVE,
      "Lay several mappings over each other." CLI_EXAMPLE(
          "salt '*' slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'") },
    { "path_exists", NATIVE(slsutil_path_exists), path_args, FN_READONLY | FN_NATIVE,
      "Whether there is such a file or folder in the state tree." CLI_EXAMPLE(
          "salt '*' slsutil.path_exists nginx/defaults.yaml") },
    { "renderer", NATIVE(slsutil_renderer), renderer_args, FN_READONLY | FN_NATIVE,
      "Render a file or a text." CLI_EXAMPLE(
          "salt '*' slsutil.renderer salt://path/to/file\n    "
          "salt '*' slsutil.renderer /path/to/file.sls default_renderer='jinja|yaml'\n    "
          "salt '*' slsutil.renderer string='Hello, {{ name }}.' name='world'") },
    { "serialize", NATIVE(slsutil_serialize), serialize_args, FN_READONLY | FN_NATIVE,
      "Make a text of a value." CLI_EXAMPLE("salt '*' slsutil.serialize 'json' obj=\"{'foo': 'Foo!'}\"") },
    { "update", NATIVE(slsutil_update), update_args, FN_READONLY | FN_NATIVE,
      "Lay one mapping over another, which changes." CLI_EXAMPLE(
          "salt '*' slsutil.update '{foo: Foo}' '{bar: Bar}'") },
};

PLUGIN(exec, slsutil, .doc = "What SLS files and templates need", FUNCS(funcs));
