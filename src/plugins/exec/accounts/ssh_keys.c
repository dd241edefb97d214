/* ssh_keys.c - execution module `ssh`: key files of the host (sshd_config(5), HostKey) and of users.
 * Private keys are among the answers unless the caller says otherwise, as in Salt: jobs' results hold them
 * then. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* The text of a key file without white space around it, "" when it can't be read. NEW. */
static json_t *
key_text(const char *path)
{
    buf_auto_t text = BUF_INIT;

    if (fs_look_file(path, NULL) <= 0 || fs_read(path, LIMIT_HOST_FILE, &text, NULL) < 0 || text.data == NULL)
        return json_string("");
    const char *trimmed = str_trim(text.data);
    return value_utf8(trimmed, strlen(trimmed));
}

/* {"ed25519": private key, "ed25519.pub": public key, "ed25519-cert.pub": certificate}. `private` and
 * `certs` leave these out when they are False. */
static int
ssh_host_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "keydir", ""), *folder = *given != '\0' ? given : "/etc/ssh";
    const json_t *private = value_get(args, "private"), *certs = value_get(args, "certs");
    rx_t *pattern = rx_new("ssh_host_(.+)_key((-cert)?\\.pub)?", 0, err);
    json_auto_t *keys = json_object();
    char **names = NULL;
    int rc = pattern != NULL ? fs_look_dir(folder, err) : err->code;

    if (rc == 0)
        rc = fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", folder);
    rc = rc > 0 ? fs_names(folder, &names, err) : rc;
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        if (rx_match(pattern, names[i], strlen(names[i]), 0, err) <= 0)
            continue;
        AUTO_FREE char *type = rx_group_text(pattern, names[i], 1),
                       *pub = rx_group_text(pattern, names[i], 2);
        AUTO_FREE char *cert = rx_group_text(pattern, names[i], 3);
        if ((pub == NULL && json_is_false(private)) || (cert != NULL && json_is_false(certs)))
            continue;
        AUTO_FREE char *key = xasprintf("%s%s", type, pub != NULL ? pub : ""),
                       *path = fs_join(folder, names[i]);
        json_object_set_new(keys, key, key_text(path));
    }
    strv_free(names);
    rx_destroy(&pattern);
    *ret_value = rc == 0 ? json_incref(keys) : NULL;
    return rc;
}

/* Adds those of the user's files that are there: the given one, else the usual ones; none for False. */
static void
add_user_keys(const char *home, const json_t *file, const char *suffix, json_t *into)
{
    static const char *const usual[] = { "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519" };
    const bool given = value_truthy(file);

    for (size_t i = 0; i < (given ? 1 : NELEMS(usual)) && !json_is_false(file); i++) {
        AUTO_FREE char *name = given ? value_pystr(file) : xasprintf("%s%s", usual[i], suffix);
        AUTO_FREE char *path = *name == '/' ? xstrdup(name) : xasprintf("%s/.ssh/%s", home, name);
        if (fs_look_file(path, NULL) > 0)
            json_object_set_new(into, *name == '/' ? fop_basename(name) : name, key_text(path));
    }
}

/* {user: {file: text}}; users without a key are left out, and so are names that no account has. */
static int
ssh_user_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *user = value_get(args, "user"), *one;
    json_auto_t *all = NULL, *ret = json_object();
    size_t i;

    if (!value_truthy(user))
        all = sub_call(ctx, err, "user.list_users", NULL);
    else
        all = json_is_array(user) ? json_incref(user) : json_pack("[O]", user);
    if (all == NULL)
        return err->code;
    json_array_foreach (all, i, one) {
        AUTO_FREE char *name = value_pystr(one);
        passwd_space_auto_t space = { 0 };
        const struct passwd *pw = passwd_user(&space, name);
        json_auto_t *keys = json_object();
        if (pw != NULL) {
            /* pubfile or prvfile: False leaves that half out. */
            add_user_keys(pw->pw_dir, value_get(args, "pubfile"), ".pub", keys);
            add_user_keys(pw->pw_dir, value_get(args, "prvfile"), "", keys);
        }
        if (json_object_size(keys) > 0)
            json_object_set(ret, name, keys);
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* Reads the header alone, as Salt: a key in OpenSSH's own format says nothing there of its passphrase, and
 * counts as not encrypted. */
static int
ssh_key_is_encrypted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "key", "");
    buf_auto_t text = BUF_INIT;
    int there = fs_look(path, err);

    if (there == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s does not exist", path);
    if (there < 0 || fs_read(path, LIMIT_HOST_FILE, &text, err) < 0)
        return err->code;
    rx_t *header = rx_new("BEGIN (?:\\w+\\s)*PRIVATE KEY", 0, err);
    int found = header != NULL ? rx_search(header, buf_str(&text), text.len, 0, err) : err->code;
    rx_destroy(&header);
    if (found == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s is not a private key", path);
    if (found > 0)
        *ret_value = json_boolean(strstr(buf_str(&text), "ENCRYPTED") != NULL);
    return found > 0 ? 0 : found;
}

/* ---- table ---------------------------------------------------------------------------------- */

static const arg_t host_args[] = { ARG("keydir", ARG_STR, "null", "Their folder; by default /etc/ssh"),
                                   ARG("private", ARG_BOOL, "true", "Private keys too"),
                                   ARG("certs", ARG_BOOL, "true", "Certificates too"), ARGS_END };
static const arg_t user_args[] = {
    ARG("user", ARG_ANY, "null", "Whose; a list; None: everybody's"),
    ARG("pubfile", ARG_ANY, "null", "This file instead of the usual public ones; False: none"),
    ARG("prvfile", ARG_ANY, "null", "This file instead of the usual private ones; False: none"), ARGS_END
};
static const arg_t key_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "Path of a private key"), ARGS_END };

static const func_t funcs[] = {
    { "host_keys", ssh_host_keys, host_args, FN_READONLY,
      "Return the keys of the host, the private ones too." CLI_EXAMPLE(
          "salt '*' ssh.host_keys private=False certs=False") },
    { "key_is_encrypted", ssh_key_is_encrypted, key_args, FN_READONLY,
      "Return whether a private key needs a passphrase." CLI_EXAMPLE(
          "salt '*' ssh.key_is_encrypted /root/id_rsa") },
    { "user_keys", ssh_user_keys, user_args, FN_READONLY,
      "Return the keys of users, the private ones too." CLI_EXAMPLE(
          "salt '*' ssh.user_keys root prvfile=False") },
};

PLUGIN(exec, ssh_keys, .provides = "ssh", .doc = "Key files of the host and of users", FUNCS(funcs));
