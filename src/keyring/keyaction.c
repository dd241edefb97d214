/* keyaction.c - see keyaction.h: what an operator does with keys, on the files. Tables are {state folder:
 * [ids]}, with names that are not ids under KEY_UNFIT. */
#include "keyring/keyaction.h"

#include <dirent.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define LOCAL "local"

/* Ids by the folder of their state; names that are not ids under KEY_UNFIT, if there are any. */
json_t *
keyaction_table(const keystore_t *store, fail_t *err)
{
    json_auto_t *table = json_object();

    for (size_t i = 0; i < KEY_STATES; i++) {
        json_t *ids = keystore_list(store, (key_state_t) i, err);

        if (ids == NULL)
            return NULL;
        json_object_set_new(table, key_state_dir((key_state_t) i), ids);
    }
    json_auto_t *unfit = keystore_unfit(store, err);

    if (unfit == NULL)
        return NULL;
    if (json_array_size(unfit) > 0)
        json_object_set(table, KEY_UNFIT, unfit);
    return STEAL(table);
}

static int
is_local_key(const struct dirent *e)
{
    return e->d_name[0] != '.' && (str_ends(e->d_name, ".pem") || str_ends(e->d_name, ".pub"));
}

static int
keyaction_ignoring_case(const struct dirent **a, const struct dirent **b)
{
    return strcasecmp((*a)->d_name, (*b)->d_name);
}

/* Adds the master's own key files under "local", as Salt's --finger-all does. */
json_t *
keyaction_table_local(const keystore_t *store, fail_t *err)
{
    json_auto_t *table = keyaction_table(store, err);
    json_t *names = json_array();
    struct dirent **found = NULL;

    if (table != NULL)
        json_object_set(table, LOCAL, names);
    int n = table == NULL ? 0 : scandir(keystore_dir(store), &found, is_local_key, keyaction_ignoring_case);

    for (int i = 0; i < n; i++) {
        /* What can't be looked at is told when it is read. */
        const char *name = found[i]->d_name;
        AUTO_FREE char *path = fs_join(keystore_dir(store), name);
        struct stat st;
        if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
            json_array_append_new(names, value_utf8(found[i]->d_name, strlen(found[i]->d_name)));

        free(found[i]);
    }
    free(found);
    json_decref(names);
    if (n < 0) {
        fail_set(err, -errno, "cannot read %s: %s", keystore_dir(store), strerror(errno));
        return NULL;
    }
    return STEAL(table);
}

/* Accepting reads the key first: a file that holds no key is refused rather than accepted. */
int
keyaction_one(keystore_t *store, key_act_t act, const char *id, key_state_t from, fail_t *err)
{
    uint8_t key[KEY_BYTES];

    if (act == KEY_ACT_DELETE)
        return keystore_delete(store, id, from, err);
    if (act == KEY_ACT_REJECT)
        return keystore_move(store, id, from, KEY_REJECTED, err);
    if (!keystore_get(store, id, from, key, err))
        return fail_set(err, -EINVAL, "there is no key of %s in %s", id, key_state_dir(from));
    return keystore_move(store, id, from, KEY_ACCEPTED, err);
}

/* ---- what a key looks like ----------------------------------------------------------------------- */

/* Makes the shown value of one key; NULL omits the key, *ret_code reports a failure. */
typedef json_t *show_fn(const keystore_t *store, const char *state, const char *id, const char *hash_type,
                        int *ret_code, fail_t *err);

/* PEM text of a key. */
static json_t *
keyaction_show_text(const keystore_t *store, const char *state, const char *id, const char *hash_type,
                    int *ret_code, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *pem = keystore_pem(store, id, key_state_of_dir(state), &why);

    if (why.code != 0)
        *ret_code = fail_set(err, why.code, "%s", fail_text(&why));
    return pem == NULL ? NULL : value_utf8(pem, strlen(pem));
}

/* Fingerprint of a key, or of one of the master's own files. */
static json_t *
show_finger(const keystore_t *store, const char *state, const char *id, const char *hash_type, int *ret_code,
            fail_t *err)
{
    char finger[FINGER_MAX] = "";

    if (str_eq(state, LOCAL)) {
        AUTO_FREE char *path = fs_join(keystore_dir(store), id);

        *ret_code = key_finger_file(hash_type, path, finger, err);
    } else {
        json_auto_t *pem = keyaction_show_text(store, state, id, hash_type, ret_code, err);

        if (pem != NULL)
            *ret_code = key_finger_typed(hash_type, json_string_value(pem), json_string_length(pem), finger,
                                         err);
    }
    return *ret_code != 0 || finger[0] == '\0' ? NULL : json_string(finger);
}

/* {state: {id: shown}} of a whole table; the first failure ends it. */
static json_t *
show_table(const keystore_t *store, const json_t *table, show_fn *show, const char *hash_type, fail_t *err)
{
    json_auto_t *out = json_object();
    json_t *ids, *id;
    const char *state;
    size_t i;

    json_object_foreach ((json_t *) table, state, ids) {
        json_t *keys = json_object();

        json_object_set_new(out, state, keys);
        json_array_foreach (ids, i, id) {
            int rc = 0;
            json_t *shown = show(store, state, json_string_value(id), hash_type, &rc, err);

            if (rc != 0)
                return NULL;
            if (shown != NULL)
                json_object_set_new(keys, json_string_value(id), shown);
        }
    }
    return STEAL(out);
}

json_t *
keyaction_texts(const keystore_t *store, const json_t *table, fail_t *err)
{
    return show_table(store, table, keyaction_show_text, NULL, err);
}

json_t *
keyaction_fingers(const keystore_t *store, const json_t *table, const char *hash_type, fail_t *err)
{
    return show_table(store, table, show_finger, hash_type, err);
}
