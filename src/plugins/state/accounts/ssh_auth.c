/* ssh_auth.c - state module `ssh_auth`: keys that may log in as a user. The functions of the module `ssh`
 * change the file of authorized keys, and answer words ("new", "replace", "no change", "Key removed") that
 * become the comment here. A state names a key, a whole line of authorized_keys(5), or by `source` a file of
 * lines on the file server; `manage` names all keys of a user. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/system/authkeys.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The request of the SLS; the state's name may be a whole line. All but ctx, args, ret, err are owned. */
typedef struct want {
    call_ctx_t *ctx;
    json_t *args, *ret;
    fail_t *err;
    char *key, *enc, *comment;
    json_t *options;
} want_t;

static const char *
ssh_auth_source_of(const want_t *w)
{
    return value_str(w->args, "source", "");
}

/* A function of the module; with a file of keys or without. NEW, or NULL with *err. */
static json_t *
ssh_auth_ask(want_t *w, const char *fun, bool file, bool whole)
{
    json_auto_t *kwargs = json_pack("{s:O, s:O, s:O}", "user", value_get(w->args, "user"), "config",
                                    value_get(w->args, "config"), "fingerprint_hash_type",
                                    value_get(w->args, "fingerprint_hash_type"));
    json_t *value = NULL;

    if (file) {
        json_object_set(kwargs, "source", value_get(w->args, "source"));
        json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(w->ctx)));
        if (whole && json_array_size(w->options) > 0)
            json_object_set(kwargs, "options", w->options);
    } else {
        json_object_set_new(kwargs, "key", value_utf8(w->key, strlen(w->key)));
    }
    if (whole && !file) {
        json_object_set_new(kwargs, "enc", json_string(w->enc));
        json_object_set_new(kwargs, "comment", value_utf8(w->comment, strlen(w->comment)));
        json_object_set(kwargs, "options", w->options);
    }
    return ctx_call(w->ctx, fun, NULL, kwargs, &value, w->err) == 0 ? value : NULL;
}

/* ---- present ---------------------------------------------------------------------------------- */

/* Predicts the result for a file's keys, which ssh.check_key_file tells as {key: "add", "update" or
 * "exists"}; those with `skip` match already. `line` begins the line of each other key, `done` ends the
 * comment when there is none. */
static int
foretell_file(want_t *w, const char *skip, const char *line, const char *done)
{
    json_auto_t *keys = ssh_auth_ask(w, "ssh.check_key_file", true, str_eq(skip, "exists"));
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *status;

    if (keys == NULL)
        return w->err->code;
    json_object_foreach (keys, key, status) {
        const char *word = json_string_value(status);
        if (str_eq(word, skip))
            continue;
        if (str_eq(skip, "exists"))
            buf_printf(&text, "%s %s: %s\n", line, word, key);
        else
            buf_printf(&text, "%s: %s\n", line, key);
    }
    if (text.len > 0) {
        state_change(w->ret, w->key, json_string(str_eq(skip, "exists") ? "New" : "Removed"));
        return state_ret_set(w->ret, STATE_NONE, "%s", buf_str(&text));
    }
    return state_ret_set(w->ret, STATE_TRUE, "All host keys in file %s are already %s", ssh_auth_source_of(w),
                         done);
}

/* Turns the word of ssh.set_auth_key into the return. */
static int
tell_set(want_t *w, const char *said)
{
    const char *user = value_str(w->args, "user", "");

    if (str_eq(said, "replace")) {
        state_change(w->ret, w->key, json_string("Updated"));
        return state_ret_set(w->ret, STATE_TRUE, "The authorized host key %s for user %s was updated", w->key,
                             user);
    }
    if (str_eq(said, "new")) {
        state_change(w->ret, w->key, json_string("New"));
        return state_ret_set(w->ret, STATE_TRUE, "The authorized host key %s for user %s was added", w->key,
                             user);
    }
    if (str_eq(said, "no change"))
        return state_ret_set(w->ret, STATE_TRUE, "The authorized host key %s is already present for user %s",
                             w->key, user);
    if (str_eq(said, "fail"))
        return state_ret_set(
            w->ret, STATE_FALSE,
            "Failed to add the ssh key. Is the home directory available, and/or does the key "
            "file exist?");
    return state_ret_set(w->ret, STATE_FALSE,
                         "Invalid public ssh key, most likely has spaces or invalid syntax");
}

/* A missing source file fails the state; cp.cache_file answers "" for it. In test mode the file is not
 * fetched beforehand. */
static int
ssh_auth_present(want_t *w)
{
    bool file = *ssh_auth_source_of(w) != '\0';

    if (ctx_test(w->ctx)) {
        /* A key whose fingerprint can't be computed is refused by the run, and so by the test. */
        const char *user = value_str(w->args, "user", "");
        if (*ssh_auth_source_of(w) != '\0')
            return foretell_file(w, "exists", "Set to", "present");
        json_auto_t *status = ssh_auth_ask(w, "ssh.check_key", false, true);
        if (status == NULL)
            return w->err->code;
        if (str_eq(json_string_value(status), "exists"))
            return state_ret_set(w->ret, STATE_TRUE,
                                 "The authorized host key %s is already present for user %s", w->key, user);
        AUTO_FREE char *print = auth_fingerprint(
            w->key, value_str(w->args, "fingerprint_hash_type", "sha256"), w->err);
        if (print == NULL)
            return w->err->code != 0 ? w->err->code : tell_set(w, "invalid");
        state_change(w->ret, w->key,
                     json_string(str_eq(json_string_value(status), "add") ? "New" : "Updated"));
        return state_ret_set(w->ret, STATE_NONE, "Key %s for user %s is set to be %s", w->key, user,
                             str_eq(json_string_value(status), "add") ? "added" : "updated");
    }
    if (file) {
        json_auto_t *path = sub_call(w->ctx, w->err, "cp.cache_file", "{s:O, s:s}", "path",
                                     value_get(w->args, "source"), "saltenv", ctx_saltenv(w->ctx));
        if (path == NULL)
            return w->err->code;
        if (!value_truthy(path))
            return state_ret_set(w->ret, STATE_FALSE, "Failed to add the ssh key. Source file %s is missing",
                                 ssh_auth_source_of(w));
    }
    json_auto_t *said = ssh_auth_ask(w, file ? "ssh.set_auth_key_from_file" : "ssh.set_auth_key", file, true);
    return said != NULL ? tell_set(w, json_string_value(said)) : w->err->code;
}

/* ---- absent ----------------------------------------------------------------------------------- */

/* A key that is not there is success. */
static int
absent(want_t *w)
{
    bool file = *ssh_auth_source_of(w) != '\0';

    if (ctx_test(w->ctx) && file)
        return foretell_file(w, "add", "Set to remove", "absent");
    if (ctx_test(w->ctx)) {
        json_auto_t *status = ssh_auth_ask(w, "ssh.check_key", false, true);
        if (status == NULL)
            return w->err->code;
        if (str_eq(json_string_value(status), "add"))
            return state_ret_set(w->ret, STATE_TRUE, "Key is already absent");
        state_change(w->ret, w->key, json_string("Removed"));
        return state_ret_set(w->ret, STATE_NONE, "Key %s for user %s is set for removal", w->key,
                             value_str(w->args, "user", ""));
    }
    json_auto_t *said = ssh_auth_ask(w, file ? "ssh.rm_auth_key_from_file" : "ssh.rm_auth_key", file, false);
    if (said == NULL)
        return w->err->code;
    const char *text = json_string_value(said);
    /* "User authorized keys file not present" and "Key not present" are success. */
    if (str_eq(text, "Key removed"))
        state_change(w->ret, w->key, json_string("Removed"));
    return state_ret_set(w->ret, str_eq(text, "Key not removed") ? STATE_FALSE : STATE_TRUE, "%s", text);
}

/* ---- the states ------------------------------------------------------------------------------- */

typedef int body_fn(want_t *w);

static int
ssh_auth_one(call_ctx_t *ctx, json_t *args, body_fn *body, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    want_t w = { .ctx = ctx, .args = args, .ret = *ret_value, .err = err };

    /* Parses the name as a line "[options] [enc] key [comment]"; its parts override the arguments. A
     * source file's name is not a key. */
    const char *name = value_str(w.args, "name", "");
    json_t *given = value_get(w.args, "options");
    auth_line_auto_t line = AUTH_LINE_INIT;
    w.options = json_is_array(given) ? json_incref(given) : json_array();
    w.comment = xstrdup(value_str(w.args, "comment", ""));
    w.enc = xstrdup(value_str(w.args, "enc", "ssh-rsa"));
    w.key = xstrdup(name);
    if (*ssh_auth_source_of(&w) == '\0') {
        if (auth_line_parse(name, strlen(name), &line)) {
            free(w.key);
            free(w.enc);
            w.key = STEAL(line.key);
            w.enc = STEAL(line.enc);
        } else {
            size_t n = strcspn(name, " \t");
            const char *rest = name + n + strspn(name + n, " \t");
            w.key[n] = '\0';
            line.comment = xstrdup(rest);
        }
        if (*line.comment != '\0') {
            free(w.comment);
            w.comment = STEAL(line.comment);
        }
        if (!str_empty(line.options)) {
            json_decref(w.options);
            w.options = auth_options(line.options);
        }
    }

    int rc = body(&w);

    free(w.key);
    free(w.enc);
    free(w.comment);
    json_decref(w.options);

    return rc;
}

static int
ssh_auth_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    body_fn *const *body = ctx_row(ctx)->data.ptr;

    return ssh_auth_one(ctx, args, *body, ret_value, err);
}

/* ---- manage ----------------------------------------------------------------------------------- */

/* True when one of the SLS's keys, which may be whole lines, has that word. */
static bool
ssh_auth_names(const json_t *keys, const char *word)
{
    bool found = false;
    json_t *one;
    size_t i;

    json_array_foreach (keys, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        char **words = str_split(text, " ", true);
        for (size_t k = 0; words[k] != NULL; k++)
            found = found || strcmp(words[k], word) == 0;
        strv_free(words);
    }
    return found;
}

/* The user has these keys and no others. Its return has no name, as Salt's. */
static int
ssh_auth_manage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret(""), *keys = value_get(args, "ssh_keys"), *one;
    size_t i;

    if (!json_is_array(keys))
        return state_ret_set(ret, STATE_FALSE, "ssh_keys must be a list of keys");

    /* Keys of the user that the SLS does not name go first. */
    json_auto_t *have = sub_call(ctx, err, "ssh.auth_keys", "{s:O, s:O, s:O}", "user",
                                 value_get(args, "user"), "config", value_get(args, "config"),
                                 "fingerprint_hash_type", value_get(args, "fingerprint_hash_type"));
    const char *other;
    json_t *unused;
    if (have == NULL)
        return err->code;
    json_object_foreach (have, other, unused) {
        if (ssh_auth_names(value_get(args, "ssh_keys"), other))
            continue;
        json_auto_t *said = ctx_test(ctx) ? json_string("Key removed")
                                          : sub_call(ctx, err, "ssh.rm_auth_key", "{s:O, s:s, s:O, s:O}",
                                                     "user", value_get(args, "user"), "key", other, "config",
                                                     value_get(args, "config"), "fingerprint_hash_type",
                                                     value_get(args, "fingerprint_hash_type"));
        if (said == NULL)
            return err->code;
        state_change(ret, other, json_incref(said));
        if (ctx_test(ctx))
            state_ret_set(ret, STATE_NONE, "%s Key set for removal", other);
    }
    /* Each wanted key is a state `present` of its own; changes add up, and the worst result counts. */
    json_array_foreach (keys, i, one) {
        json_auto_t *call = json_copy(args), *did = NULL;
        AUTO_FREE char *key = value_pystr(one);
        json_object_set_new(call, "name", value_utf8(key, strlen(key)));
        if (ssh_auth_one(ctx, call, ssh_auth_present, &did, err) != 0)
            return err->code;
        json_object_update(value_get(ret, "changes"), value_get(did, "changes"));
        const char *before = value_str(ret, "comment", ""), *more = value_str(did, "comment", "");
        if (!state_changed(did) || ctx_test(ctx))
            state_ret_comment(ret, value_fmt("%s%s%s", before, *before != '\0' ? "\n" : "", more));
        if (!json_is_true(value_get(did, "result")) && !json_is_false(value_get(ret, "result")))
            json_object_set(ret, "result", value_get(did, "result"));
    }
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The key: its base64, or a whole line of authorized_keys")
#define COMMON_ROWS                                                                                          \
    ARG("user", ARG_STR, ARG_REQUIRED, "Who may log in with it"),                                            \
        ARG("enc", ARG_STR, "\"ssh-rsa\"", "Type of the key"),                                               \
        ARG("comment", ARG_STR, "\"\"", "Its comment"),                                                      \
        ARG("source", ARG_STR, "\"\"", "Take the keys of this file instead: salt://..."),                    \
        ARG("options", ARG_ANY, "null", "Its options, a list"),                                              \
        ARG("config", ARG_STR, "\".ssh/authorized_keys\"", "The file; %u is the user, %h his home"),         \
        ARG("fingerprint_hash_type", ARG_STR, "null", "sha256 unless told")
#define REST_ROW ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE)

static const arg_t present_args[] = { NAME_ROW, COMMON_ROWS, REST_ROW, ARGS_END };
static const arg_t absent_args[] = { NAME_ROW, COMMON_ROWS, ARGS_END };
static const arg_t manage_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "A name for the state"),
                                     ARG("ssh_keys", ARG_ANY, ARG_REQUIRED,
                                         "All keys that the user is to have"),
                                     COMMON_ROWS, REST_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", ssh_auth_run, absent_args, 0, "Ensure that a key may not log in.",
      .data.ptr = &(body_fn *const){ absent } },
    { "manage", ssh_auth_manage, manage_args, 0, "Ensure that these keys may log in, and no others." },
    { "present", ssh_auth_run, present_args, 0, "Ensure that a key may log in.",
      .data.ptr = &(body_fn *const){ ssh_auth_present } },
};

PLUGIN(state, ssh_auth, .doc = "Keys that may log in", FUNCS(funcs));
