/* ssh.c - execution module `ssh`: the keys that may log in as a user. Parsing and writing of
 * authorized_keys (sshd(8), AUTHORIZED_KEYS FILE FORMAT) is in authkeys.h; this file compares keys and
 * words the answers as Salt does. A key is known by its text in base64: the type, options and comment
 * beside it may change. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/authkeys.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"

/* Arguments of a call that say which file and how fingerprints are made; `hash` NULL: sha256. BORROWED. */
typedef struct want {
    const char *user, *config, *hash;
} want_t;

static want_t
want_of(const json_t *args)
{
    return (want_t){ value_str(args, "user", ""), value_str(args, "config", ".ssh/authorized_keys"),
                     value_str(args, "fingerprint_hash_type", NULL) };
}

/* The user's keys: {} when he or his file is not there. NEW, or NULL with *err. */
static json_t *
ssh_keys_of(const want_t *w, fail_t *err)
{
    auth_file_auto_t file = { NULL, NULL, 0, 0 };
    fail_auto_t why = FAIL_INIT;

    return auth_file_of(w->user, w->config, &file, &why) == 0 ? auth_keys_read(file.path, w->hash, err)
                                                              : json_object();
}

/* Compares a wanted line with the user's file: "add", "update" or "exists"; NULL with *err. A constant. */
static const char *
ssh_status_of(const want_t *w, const char *key, const char *enc, const char *comment, const json_t *options,
              fail_t *err)
{
    const char *type = auth_enc(enc, err);
    json_auto_t *keys = type != NULL ? ssh_keys_of(w, err) : NULL;
    const json_t *have = value_get(keys, key);

    if (keys == NULL)
        return NULL;
    if (have == NULL)
        return "add";
    AUTO_FREE char *now = auth_line_text(key, value_str(have, "enc", ""), value_str(have, "comment", ""),
                                         value_get(have, "options"));
    AUTO_FREE char *wanted = auth_line_text(key, type, comment, options);
    return strcmp(now, wanted) == 0 ? "exists" : "update";
}

/* ---- one key ---------------------------------------------------------------------------------- */

/* A user's name gives that user's keys; a list, or nothing for all users, gives {user: keys} of those who
 * have a file. */
static int
ssh_auth_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *user = value_get(args, "user"), *one;
    json_auto_t *all = NULL, *ret = json_object();
    want_t w = want_of(args);
    size_t i;

    if (json_is_string(user) && json_string_length(user) > 0)
        return (*ret_value = ssh_keys_of(&w, err)) != NULL ? 0 : err->code;
    all = value_truthy(user) ? json_incref(user) : sub_call(ctx, err, "user.list_users", NULL);
    if (all == NULL)
        return err->code;
    json_array_foreach (all, i, one) {
        auth_file_auto_t file = { NULL, NULL, 0, 0 };
        fail_auto_t why = FAIL_INIT;
        w.user = json_string_value(one);
        /* A user who is not there, or has no home, is left out like one without a file. */
        int there = w.user == NULL || auth_file_of(w.user, w.config, &file, &why) < 0
                        ? 0
                        : fs_look(file.path, err);
        if (there < 0)
            return there;
        if (there == 0)
            continue;
        json_t *keys = auth_keys_read(file.path, w.hash, err);
        if (keys == NULL)
            return err->code;
        json_object_set_new(ret, w.user, keys);
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* The answer of ssh_status_of() for one key; nothing is changed. */
static int
ssh_check_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const want_t w = want_of(args);
    const char *status = ssh_status_of(&w, value_str(args, "key", ""), value_str(args, "enc", ""),
                                       value_str(args, "comment", ""), value_get(args, "options"), err);

    if (status == NULL)
        return err->code;
    *ret_value = json_string(status);
    return 0;
}

/* Puts a key into the user's file: "new", "replace", "no change", or what is wrong; NULL with *err. A
 * constant. */
static const char *
ssh_set_key(const want_t *w, const char *key, const char *enc, const char *comment, const json_t *options,
            fail_t *err)
{
    auth_file_auto_t file = { NULL, NULL, 0, 0 };
    fail_auto_t why = FAIL_INIT;
    const char *type = NULL;

    /* A blank or a line break would end the key, and what follows would be another field, or another
     * key. */
    if (key[strcspn(key, " \t\n")] != '\0' || !auth_options_sound(options))
        return "invalid";
    if ((type = auth_enc(enc, err)) == NULL)
        return NULL;
    if (auth_file_of(w->user, w->config, &file, &why) < 0)
        return "fail";
    AUTO_FREE char *print = auth_fingerprint(key, w->hash, err);
    if (print == NULL)
        return err->code != 0 ? NULL : "Invalid public key";
    const char *status = ssh_status_of(w, key, enc, comment, options, err);
    if (status == NULL || strcmp(status, "exists") == 0)
        return status != NULL ? "no change" : NULL;
    /* The folder .ssh is made when it is missing, the home never: a home that is not mounted yet would be
     * hidden later. */
    int home = str_starts(file.path, file.home) ? fs_look_dir(file.home, err) : 1;
    if (home <= 0)
        return home < 0 ? NULL : "fail";
    AUTO_FREE char *line = auth_line_text(key, type, comment, options);
    /* The comment too may hold no line break of its own: the one at the end is the line's. */
    if (strpbrk(line, "\r\n") != line + strlen(line) - 1)
        return "invalid";
    if (auth_keys_write(&file, key, line, err) < 0) {
        err->kind = FAIL_COMMAND;
        return NULL;
    }
    return strcmp(status, "add") == 0 ? "new" : "replace";
}

static int
ssh_set_auth_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const want_t w = want_of(args);
    const char *said = ssh_set_key(&w, value_str(args, "key", ""), value_str(args, "enc", "ssh-rsa"),
                                   value_str(args, "comment", ""), value_get(args, "options"), err);

    if (said == NULL)
        return err->code;
    *ret_value = json_string(said);
    return 0;
}

/* Takes a key out of the user's file: Salt's sentence about it, or NULL with *err. A constant. */
static const char *
ssh_remove_key(const want_t *w, const char *key, fail_t *err)
{
    auth_file_auto_t file = { NULL, NULL, 0, 0 };
    fail_auto_t why = FAIL_INIT;
    json_auto_t *keys = ssh_keys_of(w, err);

    if (keys == NULL)
        return NULL;
    if (value_get(keys, key) == NULL || auth_file_of(w->user, w->config, &file, &why) < 0)
        return "Key not present";
    if (auth_keys_write(&file, key, NULL, &why) == 0)
        return "Key removed";
    log_warning("Could not read/write key file: %s", fail_text(&why));
    return "Key not removed";
}

static int
ssh_rm_auth_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const want_t w = want_of(args);
    const char *said = ssh_remove_key(&w, value_str(args, "key", ""), err);

    if (said == NULL)
        return err->code;
    *ret_value = json_string(said);
    return 0;
}

/* ---- keys of a file ---------------------------------------------------------------------------- */

/* The keys of a file of the file server. `must`: a file that is not there is an error. NEW, else {}; NULL
 * with *err. */
static json_t *
keys_of_source(call_ctx_t *ctx, const json_t *args, bool must, fail_t *err)
{
    json_auto_t *path = sub_call(ctx, err, "cp.cache_file", "{s:O, s:O}", "path", value_get(args, "source"),
                                 "saltenv", value_get(args, "saltenv"));

    if (path == NULL)
        return NULL;
    int there = json_is_string(path) ? fs_look(json_string_value(path), err) : 0;
    if (there < 0)
        return NULL;
    if (there == 0 && !must)
        return json_object();
    if (there == 0) {
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Failed to pull key file from salt file server");
        return NULL;
    }
    return auth_keys_read(json_string_value(path), value_str(args, "fingerprint_hash_type", NULL), err);
}

/* The options of a key of a file: its line's own, else those that the caller gives for all. BORROWED. */
static json_t *
options_of(const json_t *args, const json_t *key)
{
    json_t *own = value_get(key, "options");

    return json_array_size(own) > 0 ? own : value_get(args, "options");
}

/* {key: status} of all keys of the file; {} when the file server does not have it. */
static int
ssh_check_key_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const want_t w = want_of(args);
    json_auto_t *keys = keys_of_source(ctx, args, false, err), *ret = json_object();
    const char *key;
    json_t *v;

    if (keys == NULL)
        return err->code;
    json_object_foreach (keys, key, v) {
        const char *status = ssh_status_of(&w, key, value_str(v, "enc", ""), value_str(v, "comment", ""),
                                           options_of(args, v), err);
        if (status == NULL)
            return err->code;
        json_object_set_new(ret, key, json_string(status));
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* The first of `order` that was said of any key, else the last. The list ends with NULL and goes from the
 * worst to the best. NEW. */
static json_t *
ssh_worst(const json_t *said, const char *const *order)
{
    json_t *one;
    size_t i;

    for (; order[1] != NULL; order++) {
        json_array_foreach (said, i, one)
            if (str_eq(json_string_value(one), *order))
                return json_string(*order);
    }
    return json_string(*order);
}

/* Sets every key of the file and returns the worst answer; a file without keys is "fail". */
static int
ssh_set_auth_key_from_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const order[] = { "fail", "replace", "new", "no change", NULL };
    const want_t w = want_of(args);
    json_auto_t *keys = keys_of_source(ctx, args, true, err), *all = json_array();
    const char *key;
    json_t *v;

    if (keys == NULL)
        return err->code;
    json_object_foreach (keys, key, v) {
        const char *said = ssh_set_key(&w, key, value_str(v, "enc", ""), value_str(v, "comment", ""),
                                       options_of(args, v), err);
        if (said == NULL)
            return err->code;
        json_array_append_new(all, json_string(said));
    }
    *ret_value = json_object_size(keys) > 0 ? ssh_worst(all, order) : json_string("fail");
    return 0;
}

/* Removes every key of the file. "Key removed" wins over "Key not present", as something has changed
 * then. */
static int
ssh_rm_auth_key_from_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const order[] = { "Key not removed", "Key removed", "Key not present", NULL };
    const want_t w = want_of(args);
    json_auto_t *keys = keys_of_source(ctx, args, true, err), *all = json_array();
    const char *key;
    json_t *v;

    if (keys == NULL)
        return err->code;
    json_object_foreach (keys, key, v) {
        const char *said = ssh_remove_key(&w, key, err);
        if (said == NULL)
            return err->code;
        json_array_append_new(all, json_string(said));
    }
    *ret_value = json_object_size(keys) > 0 ? ssh_worst(all, order) : json_string("fail");
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define USER_ROW   ARG("user", ARG_STR, ARG_REQUIRED, "Whose keys")
#define KEY_ROW    ARG("key", ARG_STR, ARG_REQUIRED, "The key in base64")
#define SOURCE_ROW ARG("source", ARG_STR, ARG_REQUIRED, "A file of keys: salt://...")
#define CONFIG_ROW ARG("config", ARG_STR, "\".ssh/authorized_keys\"", "The file; %u is the user, %h his home")
#define HASH_ROW   ARG("fingerprint_hash_type", ARG_STR, "null", "sha256 unless told")
#define CACHE_ROW  ARG("cache_keys", ARG_ANY, "null", "Accepted and not used")
#define ENV_ROW    ARG("saltenv", ARG_STR, "\"base\"", "Environment of salt:// files")

static const arg_t auth_keys_args[] = { ARG("user", ARG_ANY, "null", "Whose keys; a list; None: everybody's"),
                                        CONFIG_ROW, HASH_ROW, ARGS_END };
static const arg_t check_key_args[] = { USER_ROW,
                                        KEY_ROW,
                                        ARG("enc", ARG_STR, ARG_REQUIRED, "Type of the key"),
                                        ARG("comment", ARG_STR, ARG_REQUIRED, "Its comment"),
                                        ARG("options", ARG_ANY, ARG_REQUIRED, "Its options, a list"),
                                        CONFIG_ROW,
                                        CACHE_ROW,
                                        HASH_ROW,
                                        ARGS_END };
static const arg_t set_args[] = { USER_ROW,
                                  KEY_ROW,
                                  ARG("enc", ARG_STR, "\"ssh-rsa\"", "Type of the key"),
                                  ARG("comment", ARG_STR, "\"\"", "Its comment"),
                                  ARG("options", ARG_ANY, "null", "Its options, a list"),
                                  CONFIG_ROW,
                                  CACHE_ROW,
                                  HASH_ROW,
                                  ARGS_END };
static const arg_t rm_args[] = { USER_ROW, KEY_ROW, CONFIG_ROW, HASH_ROW, ARGS_END };
static const arg_t set_file_args[] = {
    USER_ROW, SOURCE_ROW, CONFIG_ROW,
    ENV_ROW,  HASH_ROW,   ARG("options", ARG_ANY, "null", "For keys whose line has none, a list"),
    ARGS_END
};
static const arg_t file_args[] = { USER_ROW, SOURCE_ROW, CONFIG_ROW, ENV_ROW, HASH_ROW, ARGS_END };

static const func_t funcs[] = {
    { "auth_keys", ssh_auth_keys, auth_keys_args, FN_READONLY,
      "Return the keys that may log in." CLI_EXAMPLE("salt '*' ssh.auth_keys root") },
    { "check_key", ssh_check_key, check_key_args, FN_READONLY,
      "Return what it would take for a key to be there: add, update, or exists." CLI_EXAMPLE(
          "salt '*' ssh.check_key root AAAA... ssh-rsa a@b '[]'") },
    { "check_key_file", ssh_check_key_file, set_file_args, FN_READONLY,
      "The same for each key of a file." CLI_EXAMPLE("salt '*' ssh.check_key_file root salt://ssh/keyfile") },
    { "rm_auth_key", ssh_rm_auth_key, rm_args, 0,
      "Take a key away." CLI_EXAMPLE("salt '*' ssh.rm_auth_key root AAAA...") },
    { "rm_auth_key_from_file", ssh_rm_auth_key_from_file, file_args, 0,
      "Take the keys of a file away." CLI_EXAMPLE(
          "salt '*' ssh.rm_auth_key_from_file root salt://ssh/keyfile") },
    { "set_auth_key", ssh_set_auth_key, set_args, 0,
      "Let a key log in." CLI_EXAMPLE("salt '*' ssh.set_auth_key root AAAA... enc=ed25519 comment=a@b") },
    { "set_auth_key_from_file", ssh_set_auth_key_from_file, set_file_args, 0,
      "Let the keys of a file log in." CLI_EXAMPLE(
          "salt '*' ssh.set_auth_key_from_file root salt://ssh/keyfile") },
};

PLUGIN(exec, ssh, .doc = "Keys that may log in", FUNCS(funcs));
