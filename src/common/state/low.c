/* low.c - flatten high data to low chunks: Salt's compile_high_data().
 *
 * Each state, function and entry of `names` makes one chunk. Values become JSON; the values that JSON can't
 * express (tuples, marks of a peer's data) are kept beside it under CHUNK_NATIVES when the chunks are to
 * run. */
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "common/state/high.h"

typedef struct low {
    const high_env_t *env;
    json_t *chunks, *errors;
    py_t *id, *body;
    char *name; /* the ID as text */
    json_t *chunk;
    py_t *funs;  /* set */
    py_t *names; /* list */
    py_t *seen;  /* hash of `names`: entry, or a dict's first key, to [entries] */
} low_t;

/* Turns the pending exception into an error that names the ID, and clears it. */
static void
say_raised(low_t *self)
{
    add_error(self->errors, "ID '%s' in SLS '%s': %s", self->name, dict_text(self->body, "__sls__", ""),
              py_raised_text());
    py_clear();
}

/* NEW; null with the error added for a value that JSON cannot hold. */
static json_t *
to_json(low_t *self, py_t *v)
{
    json_t *json = py_to_json(v);

    if (json == NULL) {
        say_raised(self);
        return json_null();
    }
    return json;
}

/* Set chunk[key]. A later argument of the same name also drops the earlier one's native value. */
static void
low_set_key(low_t *self, json_t *chunk, py_t *key, py_t *value)
{
    AUTO_FREE char *other = py_is(key, PY_STR) ? NULL : py_show(key);
    const char *name = other != NULL ? other : py_cstr(key);
    json_t *json = to_json(self, value), *natives = json_object_get(chunk, CHUNK_NATIVES);

    if (natives != NULL)
        json_object_del(natives, name);
    if (self->env != NULL && self->env->natives && !json_is_null(json) &&
        (!py_wire_plain(value) || py_holds_peer(value))) {
        /* Keep the native value beside the chunk's own. JSON has no tuples and no marks of data that a peer
         * sent. */
        json_t *wire = py_to_wire_peer(value);
        if (wire == NULL) {
            say_raised(self);
        } else {
            if (natives == NULL)
                json_object_set_new(chunk, CHUNK_NATIVES, natives = json_object());
            json_object_set_new(natives, name, wire);
        }
    }
    json_object_set_new(chunk, name, json);
}

/* `entry not in names` by hash: linear, where Salt compares with all earlier entries. */
static bool
is_new_name(low_t *self, py_t *entry)
{
    py_t *key = py_is(entry, PY_DICT) ? dict_first(entry, NULL) : entry;

    if (key == NULL)
        key = PY_None;
    py_t *same = py_dict_get(self->seen, key);
    if (same == NULL) {
        AUTO(py) fresh = py_list();
        if (py_dict_set(self->seen, key, fresh) < 0)
            py_clear(); /* unhashable, such as a list: the error comes where it is used */
        py_append(fresh, entry);
        return true;
    }
    for (size_t i = 0; i < py_seq_len(same); i++)
        if (py_eq(py_seq_at(same, i), entry) == 1)
            return false;
    py_append(same, entry);
    return true;
}

/* Collects the entries of `names`. Repeated ones are dropped: each name makes a chunk of its own. */
static void
low_add_names(low_t *self, py_t *list)
{
    py_iter_t it;
    py_t *entry;

    if (py_iter_start(&it, list) < 0) {
        add_error(self->errors, "The 'names' argument in state '%s' in SLS '%s' needs to be formed as a list",
                  self->name, dict_text(self->body, "__sls__", ""));
        py_clear();
        return;
    }
    while ((entry = py_iter_next(&it)) != NULL) {
        if (is_new_name(self, entry))
            py_append(self->names, entry);
        py_unref(entry);
    }
    py_clear();
    py_iter_end(&it);
}

/* Salt makes one chunk per function; `live` is shared by them, so the last `fun` would win if there were two:
 * high_verify() refuses that. */
static void
add_chunks(low_t *self, json_t *live)
{
    py_t *fun, *none;

    for (size_t at = 0; py_dict_next(self->funs, &at, &fun, &none);) {
        json_object_set_new(live, "fun", to_json(self, fun));
        json_array_append(self->chunks, live);
    }
}

/* Apply {"/etc/a": [{"mode": 600}, {"user": "root"}]}: an entry of `names` with arguments of its own. */
static void
apply_named(low_t *self, json_t *live, py_t *entry)
{
    py_t *args, *key, *value;
    py_t *name = dict_first(entry, &args);

    if (name == NULL)
        return;
    json_object_set_new(live, "name", to_json(self, name));
    bool sound = py_is(args, PY_LIST);
    for (size_t i = 0; sound && i < py_seq_len(args); i++) {
        py_t *arg = py_seq_at(args, i);
        sound = py_is(arg, PY_DICT);
        for (size_t at = 0; sound && py_dict_next(arg, &at, &key, &value);)
            low_set_key(self, live, key, value);
    }
    if (!sound) {
        AUTO_FREE char *text = py_show(name);
        add_error(self->errors,
                  "The name '%s' in the 'names' argument of state '%s' in SLS '%s' needs a list of arguments "
                  "below it",
                  text, self->name, dict_text(self->body, "__sls__", ""));
    }
}

/* Makes the chunks of one state of an ID: the arguments are gathered first, because `names` and the function
 * may stand anywhere in the list. */
static void
compile_state(low_t *self, py_t *state, py_t *run)
{
    AUTO(py) funs = py_set(false);
    AUTO(py) names = py_list();
    AUTO(py) seen = py_dict();
    json_auto_t *chunk = json_object();
    py_t *sls = py_dict_gets(self->body, "__sls__"), *saltenv = py_dict_gets(self->body, "__env__");

    self->funs = funs;
    self->names = names;
    self->seen = seen;
    self->chunk = chunk;
    json_object_set_new(chunk, "state", to_json(self, state));
    json_object_set_new(chunk, "name", to_json(self, self->id));
    if (self->env != NULL && self->env->orchestration_jid != NULL)
        json_object_set_new(chunk, "__orchestration_jid__", json_string(self->env->orchestration_jid));
    if (sls != NULL)
        json_object_set_new(chunk, "__sls__", to_json(self, sls));
    if (saltenv != NULL)
        json_object_set_new(chunk, "__env__", to_json(self, saltenv));
    json_object_set_new(chunk, "__id__", to_json(self, self->id));
    for (size_t i = 0; i < py_seq_len(run); i++) {
        /* A string is the function, a dict holds arguments. A `name` that is not text gives way to the ID. */
        py_t *arg = py_seq_at(run, i);
        py_t *key, *value;
        if (py_is(arg, PY_STR)) {
            py_set_add(self->funs, arg);
            continue;
        }
        if (!py_is(arg, PY_DICT))
            continue;
        for (size_t at = 0; py_dict_next(arg, &at, &key, &value);) {
            if (py_str_is(key, "names"))
                low_add_names(self, value);
            else if (py_str_is(key, "state"))
                continue; /* an argument does not change the module */
            else if (py_str_is(key, "name") && !py_is(value, PY_STR))
                json_object_set_new(self->chunk, "name", json_string(self->name));
            else
                low_set_key(self, self->chunk, key, value);
        }
    }
    if (py_seq_len(names) > 0) {
        /* name_order keeps the entries of `names` in their order: low_order() adds it as a fraction. */
        for (size_t i = 0; i < py_seq_len(self->names); i++) {
            py_t *entry = py_seq_at(self->names, i);
            json_auto_t *live = json_deep_copy(self->chunk);
            if (py_is(entry, PY_DICT))
                apply_named(self, live, entry);
            else
                json_object_set_new(live, "name", to_json(self, entry));
            json_object_set_new(live, "name_order", json_integer((json_int_t) i + 1));
            add_chunks(self, live);
        }
    } else {
        add_chunks(self, chunk);
    }
}

json_t *
high_compile(py_t *high, const high_env_t *env, json_t *errors)
{
    low_t self = { .env = env, .chunks = json_array(), .errors = errors };
    py_t *state, *run;

    for (size_t at = 0; py_dict_next(high, &at, &self.id, &self.body);) {
        if (high_internal(self.id) || !py_is(self.body, PY_DICT))
            continue;
        AUTO_FREE char *name = py_show(self.id);
        self.name = name;
        for (size_t in = 0; py_dict_next(self.body, &in, &state, &run);)
            if (!high_internal(state) && py_is(run, PY_LIST))
                compile_state(&self, state, run);
    }
    low_order(self.chunks);
    return self.chunks;
}
