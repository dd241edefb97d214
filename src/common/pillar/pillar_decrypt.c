/* pillar_decrypt.c - option decrypt_pillar: decrypts values of the finished pillar in place with a renderer.
 *
 * Only renderers in decrypt_pillar_renderers are allowed. A missing key is not an error; a failure is logged
 * and added to the pillar's `_errors`, and the value stays as it is. */
#include "common/pillar/pillar_int.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "salt/log.h"

/* Finds the dict that holds the last part of "a:b:c" and that part. False when absent. *ret_holder is
 * BORROWED, *ret_key NEW. */
static bool
pillar_decrypt_find(py_t *pillar, const char *path, const char *delim, py_t **ret_holder, char **ret_key)
{
    const char *cut;
    py_t *at = pillar;

    for (; (cut = strstr(path, delim)) != NULL; path = cut + strlen(delim)) {
        AUTO_FREE char *part = xstrndup(path, (size_t) (cut - path));
        at = py_is(at, PY_DICT) ? py_dict_gets(at, part) : NULL;
        if (at == NULL)
            return false;
    }
    *ret_holder = at;
    if (!py_is(at, PY_DICT) || py_dict_gets(at, path) == NULL)
        return false;
    *ret_key = xstrdup(path);
    return true;
}

static void
pillar_decrypt_key(compile_t *self, py_t *pillar, const char *path, const char *renderer, json_t *errors)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *key = NULL;
    py_t *holder = NULL, *clear = NULL;

    if (!pillar_decrypt_find(pillar, path, value_str(self->opts, "decrypt_pillar_delimiter", ":"), &holder,
                             &key)) {
        log_debug("Pillar key %s not present", path);
        return;
    }
    if (!value_lists(value_get(self->opts, "decrypt_pillar_renderers"), renderer))
        (void) fail_set(&err, -EINVAL, "'%s' is not a valid decryption renderer", renderer);
    else
        clear = render_decrypt(self->render, renderer, py_dict_gets(holder, key), &err);
    if (clear != NULL) {
        py_dict_sets_new(holder, key, clear);
        return;
    }
    json_t *text = value_fmt("Failed to decrypt pillar key '%s': %s", path, fail_text(&err));
    log_error("%s", json_string_value(text));
    json_array_append_new(errors, text);
}

/* Decrypts the keys of an entry of decrypt_pillar: "key" for the default renderer, or {key: renderer}. */
static void
pillar_decrypt_entry(compile_t *self, py_t *pillar, json_t *entry, json_t *errors)
{
    const char *dflt = value_str(self->opts, "decrypt_pillar_default", "gpg"), *path;
    json_t *renderer;

    if (json_is_string(entry))
        pillar_decrypt_key(self, pillar, json_string_value(entry), dflt, errors);
    json_object_foreach (entry, path, renderer)
        pillar_decrypt_key(self, pillar, path, json_is_string(renderer) ? json_string_value(renderer) : dflt,
                           errors);
}

void
decrypt_pillar(compile_t *self, py_t *pillar)
{
    json_t *wanted = value_get(self->opts, "decrypt_pillar"), *entry;
    json_auto_t *errors = json_array();
    size_t i;

    if (json_is_object(wanted))
        pillar_decrypt_entry(self, pillar, wanted, errors);
    json_array_foreach (wanted, i, entry)
        pillar_decrypt_entry(self, pillar, entry, errors);
    if (json_array_size(errors) == 0)
        return;
    py_t *told = py_dict_gets(pillar, "_errors");
    AUTO(py) more = py_from_json(errors);
    if (told != NULL && py_is(told, PY_LIST))
        (void) py_extend(told, more);
    else
        py_dict_sets(pillar, "_errors", more);
}
