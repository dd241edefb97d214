/* file_serialize.c - state file.serialize: data as a file in YAML, JSON, Python's notation or INI. */
#include <ctype.h>

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_traverse.h"
#include "minion/fileops/fileops.h"
#include "minion/fileops/fstate.h"
#include "minion/fileops/manage.h"
#include "minion/modlib/serializers.h"

typedef struct work {
    fstate_t *s;
    const serializer_t *how;
    json_t *data;          /* owned: what to write */
    py_t *native;          /* owned: the same where JSON can't say it, else NULL */
    json_t *past, *merged; /* owned: NULL without merge_if_exists */
} work_t;

/* ---- serializers ----------------------------------------------------------------------------- */

static int
python_failed(fail_t *err)
{
    fail_set(err, -EINVAL, "%s", py_raised_text());
    py_clear();
    return -EINVAL;
}

/* What each serializer is told unless serializer_opts says otherwise. */
static const struct defaults {
    const char *name, *options;
} defaults[] = {
    { "yaml", "{\"default_flow_style\": false}" },
    { "json", "{\"indent\": 2, \"separators\": [\",\", \": \"], \"sort_keys\": true}" },
};

/* From a mapping or a list of them. NEW. */
static json_t *
options_for(const fstate_t *s, const char *name)
{
    json_t *given = fstate_arg(s, "serializer_opts"), *opts = json_object(), *one;
    size_t i;

    for (i = 0; i < NELEMS(defaults); i++) {
        json_auto_t *own = json_loads(defaults[i].options, 0, NULL);
        if (str_eq(defaults[i].name, name))
            json_object_update(opts, own);
    }
    if (json_is_object(given))
        json_object_update(opts, given);
    json_array_foreach (given, i, one) {
        if (json_is_object(one))
            json_object_update(opts, one);
    }
    return opts;
}

static int
serialize(const work_t *w, json_t *opts, buf_t *out, fail_t *err)
{
    AUTO(py) value = w->native != NULL ? py_ref(w->native) : py_from_json(w->data);
    AUTO(py) options = py_from_json(opts);
    AUTO(py) text = w->how->serialize(value, options);
    size_t len;
    const char *bytes = text != NULL ? py_text(text, &len) : NULL;

    if (bytes == NULL)
        return python_failed(err);
    buf_add(out, bytes, len);
    return 0;
}

/* NEW value, or NULL with *err. */
static json_t *
deserialize(const serializer_t *how, const buf_t *text, fail_t *err)
{
    AUTO(py) bytes = py_str_utf8(buf_str(text), text->len);
    AUTO(py) options = py_dict();
    AUTO(py) value = bytes != NULL ? how->deserialize(bytes, options) : NULL;
    json_t *v = value != NULL ? py_to_json(value) : NULL;

    if (v == NULL)
        (void) python_failed(err);
    return v;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* What is other in `now` than in `past`, with both values. NEW. */
static json_t *
difference(const json_t *past, const json_t *now)
{
    json_t *diff = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) now, key, v) {
        json_t *was = json_object_get(past, key);
        if (was == NULL) {
            json_object_set_new(diff, key, json_pack("{s:O, s:s}", "new", v, "old", "<_null_>"));
        } else if (json_is_object(was) && json_is_object(v)) {
            json_auto_t *below = difference(was, v);
            if (json_object_size(below) > 0)
                json_object_set(diff, key, below);
        } else if (!value_equal(was, v)) {
            json_object_set_new(diff, key, json_pack("{s:O, s:O}", "new", v, "old", was));
        }
    }
    return diff;
}

/* merge_if_exists. 1: s->ret is the answer. */
static int
merge(work_t *w)
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
    if (!fop_is_file(s->name))
        return 0;
    if (w->how->deserialize == NULL) {
        fstate_error(s, "merge_if_exists is not supported for the %s serializer", w->how->name);
        return 1;
    }
    if (fstate_read(s, &text, &why) == 0)
        w->past = deserialize(w->how, &text, &why);
    if (w->past == NULL) {
        fstate_error(s, "Failed to deserialize existing data: %s", fail_text(&why));
        return 1;
    }
    if (json_is_null(w->past))
        return 0;
    w->merged = json_deep_copy(w->past);
    if (!json_is_object(w->merged) || !json_is_object(w->data)) {
        fstate_error(s, "Failed to merge: the file and the dataset must both be mappings");
        return 1;
    }
    value_merge(w->merged, w->data, false);
    if (value_equal(w->past, w->merged)) {
        (void) state_ret_set(s->ret, STATE_TRUE, "The file %s is in the correct state", s->name);
        return 1;
    }
    json_decref(w->data);
    w->data = json_incref(w->merged);
    py_destroy(&w->native);
    return 0;
}

/* ---- the state ------------------------------------------------------------------------------- */

static int
tell(work_t *w)
{
    fstate_t *s = w->s;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *comment = NULL;
    json_t *changes = NULL;

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

static int
store(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    json_auto_t *opts = options_for(s, w->how->name);
    buf_auto_t text = BUF_INIT;
    managed_auto_t none = MANAGED_INIT;
    int rc = serialize(w, opts, &text, err);

    if (rc != 0)
        return rc;
    buf_putc(&text, '\n');
    json_object_set_new(s->args, "contents", value_utf8(text.data, text.len));
    json_object_set_new(s->args, "name", value_utf8(s->name, strlen(s->name)));
    json_object_set_new(s->args, "saltenv", json_string(ctx_saltenv(s->ctx)));
    rc = s->test ? tell(w) : manage_file(s->ctx, s->args, &none, s->ret, err);
    if (rc == 0 && json_is_object(w->past) && w->merged != NULL)
        state_change(s->ret, "diff", difference(w->past, w->merged));
    return rc;
}

/* NEW, or NULL when JSON says it all. */
static py_t *
native_data(fstate_t *s)
{
    json_t *pillar = fstate_arg(s, "dataset_pillar");
    AUTO(py) key = json_is_string(pillar) ? py_from_json(pillar) : NULL;

    return key != NULL ? py_traverse(ctx_native_pillar(s->ctx), key, ":") : ctx_native_arg(s->ctx, "dataset");
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

static int
serialize_body(fstate_t *s, fail_t *err)
{
    json_t *formatter = value_get(value_get(s->args, "kwargs"), "formatter"),
           *serializer = fstate_arg(s, "serializer");
    work_t w = { .s = s };
    int rc = 0;

    if (!fstate_on(s, "create", true) && !fop_is_file(s->name))
        return state_ret_set(s->ret, STATE_TRUE, "File %s is not present and is not set for creation",
                             s->name);
    if (value_truthy(serializer) && value_truthy(formatter))
        return fstate_error(s, "Only one of serializer and formatter are allowed");
    AUTO_FREE char *name = value_truthy(serializer)  ? value_pystr(serializer)
                           : value_truthy(formatter) ? value_pystr(formatter)
                                                     : xstrdup("yaml");
    w.data = choose_data(s);
    if (w.data == NULL)
        return 0;
    w.native = native_data(s);
    for (char *p = name; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    w.how = serializer_find(name);
    if (w.how == NULL)
        fstate_error(
            s,
            "The %s serializer could not be found. It either does not exist or its prerequisites are not "
            "installed.",
            name);
    else if (merge(&w) == 0)
        rc = store(&w, err);
    json_decref(w.data);
    py_unref(w.native);
    json_decref(w.past);
    json_decref(w.merged);
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
    STATE_ANY("serializer", "null", "yaml, json, python or configparser; `formatter` is the same"),
    STATE_ANY("serializer_opts", "null", "default_flow_style, indent, sort_keys, separators, ensure_ascii"),
    STATE_ANY("deserializer_opts", "null", "Accepted and not used"),
    STATE_ROW("kwargs", ARG_ANY, ARG_STARSTAR, "formatter: the same as serializer"),
    ARGS_END
};

static const func_t funcs[] = {
    { "serialize", file_state_serialize, serialize_args, 0,
      "Make sure that a file holds some data in YAML, JSON, Python's notation or INI." },
};

PLUGIN(state, file_serialize, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
