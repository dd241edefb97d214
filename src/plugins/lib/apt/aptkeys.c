/* aptkeys.c - the keys that apt trusts: pkg.get_repo_keys, add_repo_key, del_repo_key. Keys are in apt-key's
 * ring where that program exists and is wanted, else files in a keyring folder. Key data is read from gpg's
 * colon format (doc/DETAILS in GnuPG). */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/aptrepo.h"
#include "salt/log.h"

bool
apt_has_apt_key(bool wanted)
{
    AUTO_FREE char *path = fs_which("apt-key");

    return wanted && path != NULL;
}

/* ---- gpg's colon lines --------------------------------------------------------------------- */

/* A field of a record: number, text, or None when empty. NEW. */
static json_t *
item(char **items, size_t n, size_t i)
{
    long long number;

    if (i >= n)
        return json_null();
    char *text = str_trim(items[i]);
    if (*text == '\0')
        return json_null();
    return str_to_int(text, INT64_MIN, INT64_MAX, &number) ? json_integer(number)
                                                           : value_utf8(text, strlen(text));
}

/* Fields of a "pub" or "sub" record by their places in the colon format. */
static json_t *
key_record(char **items, size_t n)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "algorithm", item(items, n, 3), "bits",
                     item(items, n, 2), "capability", item(items, n, 11), "date_creation", item(items, n, 5),
                     "date_expiration", item(items, n, 6), "keyid", n > 4 ? items[4] : "", "validity",
                     item(items, n, 1));
}

/* Takes one record of gpg's output; *key is the key that it belongs to, BORROWED from `ret`. */
static void
aptkeys_take_record(json_t *ret, json_t **key, char **items, size_t n)
{
    const char *kind = n > 1 ? items[0] : "";

    if (str_eq(kind, "pub")) {
        *key = key_record(items, n);
        json_object_set_new(ret, value_str(*key, "keyid", ""), *key);
    } else if (*key == NULL) {
        return;
    } else if (str_eq(kind, "sub")) {
        json_object_set_new(*key, "subkey", key_record(items, n));
    } else if (str_eq(kind, "fpr")) {
        json_t *subkey = json_object_get(*key, "subkey");
        json_object_set_new(subkey != NULL ? subkey : *key, "fingerprint", item(items, n, 9));
    } else if (str_eq(kind, "uid")) {
        json_object_set_new(*key, "uid", item(items, n, 9));
        json_object_set_new(*key, "uid_hash", item(items, n, 7));
    }
}

/* {keyid: {...}}. NEW. */
static void
add_keys(json_t *ret, const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    json_t *key = NULL;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        char **items = str_split(str_trim(line), ":", false);
        aptkeys_take_record(ret, &key, items, strv_len(items));
        strv_free(items);
    }
}

/* ---- listing ------------------------------------------------------------------------------- */

/* gpg reads the file as a keyring, whatever the default one is. NEW, or NULL with *err. */
static json_t *
keyring_keys(call_ctx_t *ctx, const char *path, fail_t *err)
{
    json_auto_t *out = apt_output(ctx, err, "gpg", "--no-default-keyring", "--keyring", path, "--list-keys",
                                  "--with-colons", NULL);
    json_t *ret;

    if (out == NULL)
        return NULL;
    ret = json_object();
    add_keys(ret, value_str(out, "stdout", ""));
    return ret;
}

/* Keys of all files in a folder. NEW, or NULL with *err. */
static json_t *
folder_keys(call_ctx_t *ctx, const char *keydir, fail_t *err)
{
    char **names = NULL;
    json_auto_t *ret = json_object();
    json_t *keys = fs_names(keydir, &names, err) == 0 ? ret : NULL;

    for (size_t i = 0; keys != NULL && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(keydir, names[i]);
        keys = keyring_keys(ctx, path, err);
        if (keys != NULL)
            json_object_update(ret, keys);
        json_decref(keys);
    }
    strv_free(names);
    return keys != NULL ? STEAL(ret) : NULL;
}

/* NEW path. */
static char *
keydir_of(const char *keydir)
{
    return root_path(apt_root(), str_empty(keydir) ? APT_KEYRINGS : keydir);
}

/* 1 when the folder of keys is there; apt's own is made where it is missing. 0, or negative. */
static int
need_keydir(const char *dir, fail_t *err)
{
    AUTO_FREE char *own = root_path(apt_root(), APT_KEYRINGS);
    int there = fs_look_dir(dir, err);

    if (there != 0)
        return there;
    if (str_eq(dir, own)) {
        int rc = fs_own_dir(dir, 0755, err);
        return rc < 0 ? rc : 1;
    }
    log_error("The directory %s does not exist. Please create this directory only writable by root", dir);
    return 0;
}

/* False where there is neither apt-key nor the folder. */
json_t *
apt_keys(call_ctx_t *ctx, bool aptkey, const char *keydir, fail_t *err)
{
    AUTO_FREE char *dir = keydir_of(keydir);

    if (!apt_has_apt_key(aptkey)) {
        int there = fs_look_dir(dir, err);
        if (there != 0)
            return there > 0 ? folder_keys(ctx, dir, err) : NULL;
        log_debug("The directory %s does not exist. Please create this directory only writable by root", dir);
        return json_false();
    }
    json_auto_t *out = apt_output(ctx, err, "apt-key", "adv", "--batch", "--list-public-keys",
                                  "--with-fingerprint", "--with-fingerprint", "--with-colons",
                                  "--fixed-list-mode", NULL);
    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", 0) != 0) {
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s", value_str(out, "stderr", ""));
        return NULL;
    }
    json_t *ret = json_object();
    add_keys(ret, value_str(out, "stdout", ""));
    return ret;
}

int
apt_get_repo_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = apt_keys(ctx, value_truthy(value_get(args, "aptkey")), value_str(args, "keydir", NULL), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A short id matches the end of a long one. */
static bool
known_key(const json_t *keys, const char *keyid)
{
    const char *id;
    json_t *v;

    json_object_foreach ((json_t *) keys, id, v) {
        if (str_ends(id, keyid))
            return true;
    }
    return false;
}

/* 1 when the command ended well, else 0. */
static int
aptkeys_succeeded(json_t *out, fail_t *err)
{
    json_auto_t *result = out;

    if (result == NULL)
        return err->code;
    if (value_int(result, "retcode", 0) == 0)
        return 1;
    log_error("Unable to add repo key: %s", value_str(result, "stderr", ""));
    return 0;
}

/* A ring that gpg wrote is for apt's own user too, whatever the umask is. */
static int
share_ring(int rc, const char *ring, fail_t *err)
{
    if (rc == 1 && chmod(ring, 0644) != 0)
        return fail_set(err, -errno, "%s: %s", ring, strerror(errno));
    return rc;
}

/* Adds a key from a file, fetched first when it is a URL. 1 added, 0 not, or negative. */
static int
aptkeys_add_path(call_ctx_t *ctx, const apt_key_t *key, const char *dir, fail_t *err)
{
    AUTO_FREE char *path = *key->path == '/' ? xstrdup(key->path)
                                             : pkg_cache_file(ctx, key->path, key->saltenv, err);
    if (path == NULL)
        return err->code;
    if (*path == '\0') {
        log_error("Unable to get cached copy of file: %s", key->path);
        return 0;
    }
    if (key->aptkey)
        return aptkeys_succeeded(apt_output(ctx, err, "apt-key", "add", path, NULL), err);
    const char *name = !str_empty(key->keyfile) ? key->keyfile : strrchr(path, '/');
    AUTO_FREE char *to = fs_join(dir, name != NULL ? name : path);

    /* The key of `path` into `to`; armour is taken off by gpg, unless the name says that it stays. */
    buf_auto_t text = BUF_INIT;
    int rc = fs_read(path, LIMIT_FILE_READ, &text, err);

    if (rc < 0)
        return rc;
    if (strstr(buf_str(&text), "-BEGIN PGP") != NULL && !str_ends(to, ".asc"))
        return share_ring(aptkeys_succeeded(apt_output(ctx, err, "gpg", "--batch", "--yes", "--output", to,
                                                       "--dearmor", path, NULL),
                                            err),
                          to, err);
    rc = fs_write_atomic(to, buf_str(&text), text.len, 0644, err);
    return rc < 0 ? rc : 1;
}

/* gpg takes the armour off, unless the name says that it stays. */
static int
aptkeys_add_text(call_ctx_t *ctx, const apt_key_t *key, const char *dir, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    apt_prog(ctx, &prog, false);
    prog.in = key->text;
    if (key->aptkey) {
        prog_adds(&prog, "apt-key", "add", "-", NULL);
        return aptkeys_succeeded(apt_run(&prog, err), err);
    }
    if (str_empty(key->keyfile)) {
        log_error("A key given as text needs the name of its file. See keyfile argument");
        return 0;
    }
    AUTO_FREE char *to = fs_join(dir, key->keyfile);
    if (str_ends(to, ".asc")) {
        int rc = fs_write_atomic(to, key->text, strlen(key->text), 0644, err);
        return rc < 0 ? rc : 1;
    }
    prog_adds(&prog, "gpg", "--batch", "--yes", "--output", to, "--dearmor", NULL);
    return share_ring(aptkeys_succeeded(apt_run(&prog, err), err), to, err);
}

/* With apt-key into its ring, else into a file of its own, which must be named. */
static int
add_from_server(call_ctx_t *ctx, const apt_key_t *key, const char *dir, fail_t *err)
{
    if (str_empty(key->keyid))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "No keyid or keyid too short for keyserver: %s",
                         key->keyserver);
    if (key->aptkey)
        return aptkeys_succeeded(apt_output(ctx, err, "apt-key", "adv", "--batch", "--keyserver",
                                            key->keyserver, "--recv", key->keyid, NULL),
                                 err);
    if (str_empty(key->keyfile)) {
        log_error("You must define the name of the key file to save the key. See keyfile argument");
        return 0;
    }
    AUTO_FREE char *ring = *key->keyfile == '/' ? root_path(apt_root(), key->keyfile)
                                                : fs_join(dir, key->keyfile);
    return share_ring(
        aptkeys_succeeded(apt_output(ctx, err, "gpg", "--no-default-keyring", "--keyring", ring,
                                     "--keyserver", key->keyserver, "--recv-keys", key->keyid, NULL),
                          err),
        ring, err);
}

/* 1 when the key is trusted now, also when it was before; 0 when it could not be added; negative for an
 * invalid call. */
int
apt_add_key(call_ctx_t *ctx, const apt_key_t *given, fail_t *err)
{
    AUTO_FREE char *dir = keydir_of(given->keydir);
    apt_key_t key = *given;

    if (!str_empty(key.keyid) && prog_check_operand("keyid", key.keyid, err) < 0)
        return err->code;
    key.aptkey = apt_has_apt_key(key.aptkey);
    int there = key.aptkey ? 1 : need_keydir(dir, err);
    if (there <= 0)
        return there;
    if (!str_empty(key.keyid)) {
        json_auto_t *keys = apt_keys(ctx, key.aptkey, key.keydir, err);
        if (keys == NULL)
            return err->code;
        if (known_key(keys, key.keyid))
            return 1;
    }
    if (!str_empty(key.path))
        return aptkeys_add_path(ctx, &key, dir, err);
    if (!str_empty(key.text))
        return aptkeys_add_text(ctx, &key, dir, err);
    if (!str_empty(key.keyserver))
        return add_from_server(ctx, &key, dir, err);
    if (!str_empty(key.keyid))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "No keyserver specified for keyid: %s", key.keyid);
    return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "add_repo_key() takes at least 1 argument (0 given)");
}

int
apt_add_repo_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    apt_key_t key = { .path = value_str(args, "path", NULL),
                      .text = value_str(args, "text", NULL),
                      .keyserver = value_str(args, "keyserver", NULL),
                      .keyid = value_str(args, "keyid", NULL),
                      .saltenv = value_str(args, "saltenv", "base"),
                      .keydir = value_str(args, "keydir", NULL),
                      .keyfile = value_str(args, "keyfile", NULL),
                      .aptkey = value_truthy(value_get(args, "aptkey")) };
    int rc = apt_add_key(ctx, &key, err);

    if (rc < 0)
        return rc;
    *ret_value = json_boolean(rc == 1);
    return 0;
}

/* ---- deleting ------------------------------------------------------------------------------ */

/* The file of the folder that holds a key: 1 removed, 0 not found. */
static int
remove_file(call_ctx_t *ctx, const char *dir, const char *keyid, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    if (strlen(keyid) != 8 && strlen(keyid) != 16)
        log_debug("The keyid needs to be either 8 or 16 characters");
    for (size_t i = 0; rc == 0 && names[i] != NULL && (strlen(keyid) == 8 || strlen(keyid) == 16); i++) {
        AUTO_FREE char *path = fs_join(dir, names[i]);
        json_auto_t *keys = keyring_keys(ctx, path, err);
        if (keys == NULL)
            rc = err->code;
        else if (known_key(keys, keyid))
            rc = unlink(path) == 0 ? 1
                                   : fail_set(err, -errno, "%s can't be removed: %s", path, strerror(errno));
    }
    strv_free(names);
    return rc;
}

/* NEW keyid, or NULL with *err. */
static char *
keyid_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *keyid = pkg_arg(kwargs, "keyid");
    const char *name = value_str(args, "name", "");

    if (!value_truthy(value_get(kwargs, "keyid_ppa"))) {
        if (keyid == NULL)
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "keyid or keyid_ppa and PPA name must be passed");
        return keyid != NULL ? value_pystr(keyid) : NULL;
    }
    if (!str_starts(name, "ppa:")) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "keyid_ppa requires that a PPA be passed");
        return NULL;
    }
    json_auto_t *info = apt_ppa_info(ctx, name, err);
    if (info == NULL)
        return NULL;
    const char *finger = value_str(info, "signing_key_fingerprint", "");
    return xstrdup(strlen(finger) > 8 ? finger + strlen(finger) - 8 : finger);
}

/* False when no file has the key. */
int
apt_del_repo_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = keydir_of(value_str(args, "keydir", NULL));
    bool aptkey = value_truthy(value_get(args, "aptkey"));

    int there = aptkey ? 1 : fs_look_dir(dir, err);
    if (there < 0)
        return there;
    if (there == 0) {
        log_debug("The directory %s does not exist. Please create this directory only writable by root", dir);
        *ret_value = json_false();
        return 0;
    }
    AUTO_FREE char *keyid = keyid_of(ctx, args, err);
    if (keyid == NULL)
        return err->code;
    if (!apt_has_apt_key(aptkey)) {
        int rc = remove_file(ctx, dir, keyid, err);
        if (rc < 0)
            return rc;
        *ret_value = rc == 1 ? json_string(keyid) : json_false();
        return 0;
    }
    if (prog_check_operand("keyid", keyid, err) < 0)
        return err->code;
    json_auto_t *out = apt_output(ctx, err, "apt-key", "del", keyid, NULL);
    if (out == NULL)
        return err->code;
    const char *errors = value_str(out, "stderr", "");
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Failed to remove keyid %s%s%s", keyid,
                         *errors != '\0' ? ": " : "", errors);
    *ret_value = json_string(keyid);
    return 0;
}
