/* file_serialize.c - state file.serialize: data as a file in YAML, JSON, Python's notation, TOML, INI or as
 * a property list. Works on Python values, as keys and dates would be lost in JSON; merge_if_exists reads the
 * file by the same serialiser and merges recursively. The text is then managed as file.managed's contents. */
#include <ctype.h>

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_traverse.h"
#include "common/py/py_wire.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/manage.h"
#include "plugins/lib/call/serializers.h"

/* A run of file.serialize. */
typedef struct work {
    fstate_t *s;
    const serializer_t *how;
    py_t *data;         /* owned: what to write */
    json_t *difference; /* owned: what merge_if_exists changes; NULL without it */
} work_t;

/* ---- serializers ----------------------------------------------------------------------------- */

/* Turns the raised Python error into *err. */
static int
python_failed(fail_t *err)
{
    fail_set(err, -EINVAL, "%s", py_raised_text());
    py_clear();
    return -EINVAL;
}

/* Default options of each serializer, which serializer_opts overrides. */
static const struct defaults {
    const char *name, *options;
} defaults[] = {
    { "yaml", "{\"default_flow_style\": false}" },
    { "json", "{\"indent\": 2, \"separators\": [\",\", \": \"], \"sort_keys\": true}" },
};

/* The options of an argument, a mapping or a list of them, over those there are. */
static void
add_options(const fstate_t *s, const char *arg, json_t *opts)
{
    json_t *given = fstate_arg(s, arg), *one;
    size_t i;

    if (json_is_object(given))
        json_object_update(opts, given);
    json_array_foreach (given, i, one) {
        if (json_is_object(one))
            json_object_update(opts, one);
    }
}

/* The options of a serializer: its defaults, then those of the SLS. NEW. */
static json_t *
options_for(const fstate_t *s, const char *name)
{
    json_t *opts = json_object();

    for (size_t i = 0; i < NELEMS(defaults); i++) {
        json_auto_t *own = json_loads(defaults[i].options, 0, NULL);
        if (str_eq(defaults[i].name, name))
            json_object_update(opts, own);
    }
    add_options(s, "serializer_opts", opts);
    return opts;
}

/* The text, with a line feed behind it, or the bytes, as `contents` has them. */
static int
serialize(const work_t *w, json_t *opts, json_t **ret_contents, fail_t *err)
{
    AUTO(py) options = py_from_json(opts);
    AUTO(py) feed = py_strz("\n");
    AUTO(py) text = serializer_write(w->how, w->data, options);
    AUTO(py) whole = text == NULL || w->how->bytes ? py_ref(text) : py_add(text, feed);

    *ret_contents = whole != NULL ? py_to_wire(whole) : NULL;
    return *ret_contents != NULL ? 0 : python_failed(err);
}

/* What the file holds, read by the serializer. NEW value, or NULL with *err. */
static py_t *
deserialize(const work_t *w, const buf_t *text, fail_t *err)
{
    const serializer_t *how = w->how;
    json_auto_t *opts = json_object();
    AUTO(py) bytes = how->bytes ? py_bytes(buf_str(text), text->len) : py_str_utf8(buf_str(text), text->len);

    add_options(w->s, "deserializer_opts", opts);
    AUTO(py) options = py_from_json(opts);
    py_t *value = bytes != NULL ? how->deserialize(bytes, options) : NULL;

    if (value == NULL)
        (void) python_failed(err);
    return value;
}

/* ---- merging --------------------------------------------------------------------------------- */

static py_t *difference(py_t *past, py_t *now);

/* Change of one key's value: both values, or the nested differences. NEW; None when equal, NULL raised. */
static py_t *
file_serialize_change(py_t *was, py_t *now)
{
    int same = was != NULL ? py_eq(was, now) : 0;

    if (same != 0)
        return same > 0 ? PY_None : NULL;
    if (was != NULL && py_is(was, PY_DICT) && py_is(now, PY_DICT))
        return difference(was, now);
    py_t *both = py_dict();
    py_dict_sets(both, "new", now);
    py_dict_sets_new(both, "old", was != NULL ? py_ref(was) : py_strz("<_null_>"));
    return both;
}

/* Keys of `now` that differ from `past`, as salt.utils.dictdiffer computes it. NEW, or NULL raised. */
static py_t *
difference(py_t *past, py_t *now)
{
    AUTO(py) diff = py_dict();
    py_t *key, *v;

    if (py_enter() < 0)
        return NULL;
    for (size_t i = 0; diff != NULL && py_dict_next(now, &i, &key, &v);) {
        AUTO(py) one = file_serialize_change(py_dict_get(past, key), v);
        if (one == NULL || (!py_is(one, PY_NONE) && py_dict_set(diff, key, one) < 0))
            py_destroy(&diff);
    }
    py_leave();
    return STEAL(diff);
}

/* The data over what the file holds, as Python's values: JSON has no keys 8080 and true, no dates and no
 * large integers. 1: there is nothing to change; negative with *err. */
static int
merge_over(work_t *w, py_t *past, fail_t *err)
{
    AUTO(py) merged = py_merge(past, w->data, "recurse", false);
    int same = merged != NULL ? py_eq(past, merged) : -1;
    AUTO(py) diff = same == 0 ? difference(past, merged) : NULL;

    if (same > 0)
        return 1;
    w->difference = diff != NULL ? py_to_json(diff) : NULL;
    if (w->difference == NULL)
        return python_failed(err);
    py_unref(w->data);
    w->data = STEAL(merged);
    return 0;
}

/* merge_if_exists. 1: s->ret is the answer. */
static int
file_serialize_merge(work_t *w)
{
    fstate_t *s = w->s;
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (!fstate_on(s, "merge_if_exists", false)) {
        if (fstate_on(s, "deserializer_opts", false))
            state_ret_warn(s->ret,
                           "The 'deserializer_opts' option is ignored unless merge_if_exists is set to "
                           "True.");
        return 0;
    }
    int file = fstate_is_file(s, s->name);
    if (file <= 0)
        return file < 0;
    if (w->how->deserialize == NULL) {
        fstate_error(s, "merge_if_exists is not supported for the %s serializer", w->how->name);
        return 1;
    }
    AUTO(py) past = fstate_read(s, &text, &why) == 0 ? deserialize(w, &text, &why) : NULL;
    if (past == NULL) {
        fstate_error(s, "Failed to deserialize existing data: %s", fail_text(&why));
        return 1;
    }
    if (py_is(past, PY_NONE))
        return 0;
    if (!py_is(past, PY_DICT) || !py_is(w->data, PY_DICT)) {
        fstate_error(s, "Failed to merge: the file and the dataset must both be mappings");
        return 1;
    }
    int rc = merge_over(w, past, &why);
    if (rc > 0)
        (void) state_ret_set(s->ret, STATE_TRUE, "The file %s is in the correct state", s->name);
    else if (rc < 0)
        fstate_error(s, "Failed to merge: %s", fail_text(&why));
    return rc != 0;
}

/* ---- the state ------------------------------------------------------------------------------- */

/* Test mode's answer. Without `show_changes` the difference is hidden, as it may hold secrets. */
static int
file_serialize_tell(work_t *w)
{
    fstate_t *s = w->s;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *comment = NULL;
    json_t *changes = NULL;

    json_object_set_new(s->args, "follow_symlinks", json_true()); /* as the run does */
    if (manage_changes(s->ctx, s->args, &changes, &comment, &why) != 0)
        return fstate_error(s, "Unable to manage file: %s", fail_text(&why));
    bool any = json_object_size(changes) > 0;
    if (any && !fstate_on(s, "show_changes", true))
        json_object_set_new(changes, "diff", json_string("<show_changes=False>"));
    state_change_set(s->ret, changes);
    if (any)
        return state_ret_set(s->ret, STATE_NONE, "Dataset will be serialized and stored into %s", s->name);
    return state_ret_set(s->ret, STATE_TRUE, "The file %s is in the correct state", s->name);
}

/* With check_cmd file.managed writes the text, as it asks the command before there is anything new. */
static int
file_serialize_checked(work_t *w, fail_t *err)
{
    static const char *const passed[] = { "contents", "user",     "group",   "mode",
                                          "backup",   "makedirs", "tmp_dir", "show_changes",
                                          "encoding", "tmp_ext",  "name",    "encoding_errors",
                                          "check_cmd" };
    json_auto_t *args = json_object(), *made = NULL;

    for (size_t i = 0; i < NELEMS(passed); i++) {
        json_t *v = value_get(w->s->args, passed[i]);
        if (v != NULL && !json_is_null(v))
            json_object_set(args, passed[i], v);
    }
    int rc = file_state_managed(w->s->ctx, args, &made, err);
    if (rc == 0)
        json_object_update(w->s->ret, made);
    return rc;
}

/* Serialises and writes, or predicts in test mode. */
static int
file_serialize_store(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    json_auto_t *opts = options_for(s, w->how->name);
    json_t *contents = NULL;
    managed_auto_t none = MANAGED_INIT;
    int rc = serialize(w, opts, &contents, err);

    if (rc != 0)
        return rc;
    json_object_set_new(s->args, "contents", contents);
    json_object_set_new(s->args, "name", value_utf8(s->name, strlen(s->name)));
    json_object_set_new(s->args, "saltenv", json_string(ctx_saltenv(s->ctx)));
    rc = s->test                            ? file_serialize_tell(w)
         : fstate_on(s, "check_cmd", false) ? file_serialize_checked(w, err)
                                            : manage_file(s->ctx, s->args, &none, s->ret, err);

    /* The difference of the data stands for that of the text: a number that the file has as text is none, and
     * show_changes hides both. */
    bool written = value_get(value_get(s->ret, "changes"), "diff") != NULL;
    if (rc == 0 && w->difference != NULL && written && fstate_on(s, "show_changes", true) &&
        !json_is_false(value_get(s->ret, "result")))
        state_change(s->ret, "diff", json_incref(w->difference));
    return rc;
}

/* The data to write. NEW, or NULL with the state failed. */
static json_t *
choose_data(fstate_t *s)
{
    json_t *data = fstate_arg(s, "dataset"), *pillar = fstate_arg(s, "dataset_pillar");

    if (value_truthy(data) && value_truthy(pillar)) {
        fstate_error(s, "Only one of 'dataset' and 'dataset_pillar' is permitted");
        return NULL;
    }
    if (value_truthy(pillar)) {
        AUTO_FREE char *key = value_pystr(pillar);
        json_t *found = value_path(ctx_pillar(s->ctx), key, ":");
        return found != NULL ? json_incref(found) : json_string("");
    }
    if (data == NULL)
        fstate_error(s, "Neither 'dataset' nor 'dataset_pillar' was defined");
    return json_incref(data);
}

/* Default is YAML; names are not case-sensitive. */
static int
serialize_body(fstate_t *s, fail_t *err)
{
    json_t *formatter = value_get(value_get(s->args, "kwargs"), "formatter"),
           *serializer = fstate_arg(s, "serializer");
    work_t w = { .s = s };
    int rc = 0;

    int file = fstate_on(s, "create", true) ? 1 : fstate_is_file(s, s->name);
    if (file <= 0)
        return file < 0 ? 0
                        : state_ret_set(s->ret, STATE_TRUE,
                                        "File %s is not present and is not set for creation", s->name);
    if (value_truthy(serializer) && value_truthy(formatter))
        return fstate_error(s, "Only one of serializer and formatter are allowed");
    AUTO_FREE char *name = value_truthy(serializer)  ? value_pystr(serializer)
                           : value_truthy(formatter) ? value_pystr(formatter)
                                                     : xstrdup("yaml");
    json_auto_t *plain = choose_data(s);
    if (plain == NULL)
        return 0;
    json_t *pillar = fstate_arg(s, "dataset_pillar");
    AUTO(py) key = json_is_string(pillar) ? py_from_json(pillar) : NULL;
    w.data = key != NULL ? py_traverse(ctx_native_pillar(s->ctx), key, ":")
                         : ctx_native_arg(s->ctx, "dataset");
    py_clear(); /* what is not there is the empty text of choose_data() */
    if (w.data == NULL)
        w.data = py_from_json(plain);
    for (char *p = name; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    w.how = serializer_find(name);
    if (w.how == NULL)
        fstate_error(
            s,
            "The %s serializer could not be found. It either does not exist or its prerequisites are not "
            "installed.",
            name);
    else if (file_serialize_merge(&w) == 0)
        rc = file_serialize_store(&w, err);
    py_unref(w.data);
    json_decref(w.difference);
    return rc;
}

static FILE_STATE(file_state_serialize, "Must provide name to file.serialize", serialize_body);

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t serialize_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The file"),
    STATE_ANY("dataset", "null", "The data"),
    STATE_ANY("dataset_pillar", "null", "Pillar key of the data"),
    STATE_ANY("user", "null", "Owner, by name or number"),
    STATE_ANY("group", "null", "Group, by name or number"),
    STATE_ANY("mode", "null", "Octal mode"),
    STATE_ANY("backup", "\"\"", "minion: keep a copy in cachedir/file_backup"),
    STATE_ANY("makedirs", "false", "Make the folders above it"),
    STATE_ANY("show_changes", "true", "Show the difference"),
    STATE_ANY("create", "true", "False: do nothing when there is no such file"),
    STATE_ANY("merge_if_exists", "false", "Change what the file holds by the data"),
    STATE_TEXT("encoding", "null", "Encoding of the file, when not UTF-8"),
    STATE_TEXT("encoding_errors", "\"strict\"", "What to do with other characters: strict, ignore, replace"),
    STATE_ANY("serializer", "null",
              "yaml, json, python, toml, configparser or plist; `formatter` is the same"),
    STATE_ANY(
        "serializer_opts", "null",
        "Of YAML: default_flow_style, explicit_start, indent, sort_keys, width; of JSON: ensure_ascii, indent, separators, sort_keys; of plist: fmt: FMT_BINARY, skipkeys, sort_keys; of configparser: defaults"),
    STATE_ANY("deserializer_opts", "null", "Of configparser: defaults; others are not used"),
    STATE_ANY("check_cmd", "null", "Command that must agree to the new file; its path is added"),
    STATE_ANY("tmp_dir", "\"\"", "Folder of the file that check_cmd looks at"),
    STATE_ANY("tmp_ext", "\"\"", "End of that file's name"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "formatter: the same as serializer", "formatter"),
    ARGS_END
};

static const func_t funcs[] = {
    { "serialize", file_state_serialize, serialize_args, 0,
      "Make sure that a file holds some data in YAML, JSON, Python's notation, INI or as a property list." },
};

PLUGIN(state, file_serialize, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
