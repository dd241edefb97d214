/* gpg.c - execution module `gpg`: the keys of a keyring of GnuPG. gpg_data.c signs and encrypts. The program
 * is driven by its status lines (doc/DETAILS of GnuPG), not by its words to people; gpgring.h has what both
 * parts share. A keyring is that of `user` or the folder `gnupghome`; a passphrase is the pillar's
 * gpg_passphrase, and goes to gpg's standard input. */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/gpgring.h"
#include "plugins/lib/system/gpgrows.h"
#include "salt/log.h"

enum { GPG_SECONDS = 60, CREATE_SECONDS = 600, SERVER_SECONDS = 120, FILE_MAX = 16 * 1024 * 1024 };
#define KEY_SERVER "keys.openpgp.org"

/* {"res": ..., "message": ...}. */
static int
gpg_say(bool res, const char *message, json_t **ret_value)
{
    *ret_value = json_pack("{s:b, s:s}", "res", res, "message", message);
    return 0;
}

/* ---- looking ------------------------------------------------------------------------------------ */

/* The row's number: secret keys rather than public ones. */
static int
gpg_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = gpg_keys(ctx, args, ctx_row(ctx)->data.number != 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The key by keyid or fingerprint. NEW, False when there is none; NULL with *err. A key's id may be its last
 * 8 or 16 digits, as gpg_is_key() takes it. */
static json_t *
find_key(call_ctx_t *ctx, const json_t *args, bool secret, fail_t *err)
{
    const char *keyid = value_str(args, "keyid", ""), *print = value_str(args, "fingerprint", "");
    json_auto_t *keys = gpg_keys(ctx, args, secret, err);
    json_t *one, *found = NULL;
    size_t i;

    json_array_foreach (keys, i, one)
        if (gpg_is_key(one, keyid) ||
            (*print != '\0' && strcasecmp(value_str(one, "fingerprint", ""), print) == 0))
            found = one;
    return keys == NULL ? NULL : found != NULL ? json_incref(found) : json_false();
}

/* False for a key that is not there. */
static int
gpg_get_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = find_key(ctx, args, ctx_row(ctx)->data.number != 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- key servers -------------------------------------------------------------------------------- */

/* Digits of a key's id need "0x", else the server looks for them in names. */
static int
gpg_search_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *server = value_str(args, "keyserver", "");
    AUTO_FREE char *copy = xstrdup(value_str(args, "text", ""));
    const char *text = str_trim(copy);
    bool hex = *text != '\0' && text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
    AUTO_FREE char *query = xasprintf("%s%s", hex ? "0x" : "", text);
    gpg_auto_t gpg = { .home = NULL };

    if (gpg_begin(ctx, args, NULL, false, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, "--fingerprint", "--keyserver", *server != '\0' ? server : KEY_SERVER, NULL);
    prog_adds(&gpg.prog, "--search-keys", "--", query, NULL);
    if (gpg_go(&gpg, SERVER_SECONDS, err) != 0)
        return err->code;
    *ret_value = gpg_found_keys(buf_str(&gpg.res.out));
    return 0;
}

/* Messages stand in gpg's order, one for each key. `res` is False when gpg gave no key, or refused one. */
static int
gpg_receive_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *server = value_str(args, "keyserver", "");
    json_auto_t *keys = gpg_words(value_get(args, "keys"));
    json_t *said = json_array();
    gpg_auto_t gpg = { .home = NULL };

    *ret_value = json_pack("{s:b, s:{}, s:o}", "res", 1, "changes", "message", said);
    if (json_array_size(keys) == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "keys must name at least one key");
    if (gpg_begin(ctx, args, NULL, true, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, "--keyserver", *server != '\0' ? server : KEY_SERVER, "--recv-keys", NULL);
    if (prog_operands(&gpg.prog, "keys", keys, err) != 0 || gpg_go(&gpg, SERVER_SECONDS, err) != 0)
        return err->code;
    const char *at = buf_str(&gpg.res.errs);
    bool came = false, refused = false;
    for (bool more = true; more;) {
        AUTO_FREE char *key = NULL, *rest = NULL;
        more = gpg_status(&at, &key, &rest);
        came = came || (more && str_eq(key, "IMPORT_OK"));
        refused = refused || (more && gpg_is_import_problem(key));
        const char *print = more ? strchrnul(rest, ' ') : "";
        print += *print == ' ';
        /* "IMPORT_OK 0 FINGERPRINT": 0 is "nothing changed". */
        if (more && str_eq(key, "IMPORT_OK") && str_starts(rest, "0 "))
            json_array_append_new(said, value_fmt("Key %s already exists in keychain", print));
        else if (more && str_eq(key, "IMPORT_OK"))
            json_array_append_new(said, value_fmt("Key %s added to keychain", print));
        else if (more && gpg_is_import_problem(key))
            json_array_append_new(said, json_string("Unable to add key to keychain"));
    }
    if (!came || refused) {
        AUTO_FREE char *errs = xstrdup(buf_str(&gpg.res.errs));
        json_array_append_new(said, value_fmt("GPG reported failure: %s", str_trim(errs)));
        json_object_set_new(*ret_value, "res", json_false());
    }
    return 0;
}

/* ---- changing ----------------------------------------------------------------------------------- */

/* Appends "Name: value"; a line break in it would be a further instruction to gpg. */
static int
put_parameter(const json_t *args, const char *argument, const char *name, buf_t *out, fail_t *err)
{
    json_t *v = value_get(args, argument);

    if (!value_truthy(v))
        return 0;
    AUTO_FREE char *text = value_pystr(v);
    if (strpbrk(text, "\r\n") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s must be one line", argument);
    buf_printf(out, "%s: %s\n", name, text);
    return 0;
}

/* The parameters are gpg's for unattended generation. Entropy may take its time, hence the longer
 * deadline. */
static int
gpg_create_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const parameters[][2] = {
        { "key_type", "Key-Type" },       { "key_length", "Key-Length" },
        { "subkey_type", "Subkey-Type" }, { "subkey_length", "Subkey-Length" },
        { "name_real", "Name-Real" },     { "name_comment", "Name-Comment" },
        { "name_email", "Name-Email" },   { "expire_date", "Expire-Date" },
    };
    bool with_pass = value_truthy(value_get(args, "use_passphrase"));
    AUTO_GPG_PASS pass = with_pass ? gpg_passphrase(ctx, err) : NULL;
    gpg_auto_t gpg = { .home = NULL };

    *ret_value = json_pack("{s:b, s:s, s:s}", "res", 0, "fingerprint", "", "message",
                           "gpg_passphrase not available in pillar.");
    if (with_pass && pass == NULL)
        return err->code;
    if (pass != NULL && strpbrk(pass, "\r\n") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "gpg_passphrase must be one line");
    if (gpg_begin(ctx, args, NULL, true, &gpg, err) != 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(parameters); i++)
        if (put_parameter(args, parameters[i][0], parameters[i][1], &gpg.in, err) != 0)
            return err->code;
    /* gpg wants one; python-gnupg makes it of the login and the host. */
    if (!value_truthy(value_get(args, "name_email"))) {
        char host[256] = "localhost";
        const char *login = getenv("LOGNAME");
        (void) gethostname(host, sizeof(host) - 1);
        AUTO_FREE char *name = str_replace(login != NULL && *login != '\0' ? login : "unspecified", " ", "_");
        buf_printf(&gpg.in, "Name-Email: %s@%s\n", name, host);
    }
    if (pass != NULL)
        buf_printf(&gpg.in, "Passphrase: %s\n", pass);
    /* %no-protection makes a key without a passphrase, for which gpg would otherwise ask the agent. */
    buf_printf(&gpg.in, "%s%%commit\n", pass != NULL ? "" : "%no-protection\n");
    prog_add(&gpg.prog, "--gen-key");
    if (gpg_go(&gpg, CREATE_SECONDS, err) != 0)
        return err->code;
    /* "KEY_CREATED B FINGERPRINT". */
    AUTO_FREE char *made = gpg_said(&gpg, "KEY_CREATED");
    const char *print = made != NULL ? strchr(made, ' ') : NULL;
    if (print == NULL)
        log_error("gpg.create_key: %s", buf_str(&gpg.res.errs));
    json_object_set_new(*ret_value, "res", json_boolean(print != NULL));
    json_object_set_new(*ret_value, "fingerprint", json_string(print != NULL ? print + 1 : ""));
    json_object_set_new(*ret_value, "message",
                        json_string(print != NULL ? "GPG key pair successfully generated."
                                                  : "Unable to generate GPG key pair."));
    return 0;
}

/* Deletes one half of a key: 1, 0 when gpg refuses, negative with *err. The fingerprint is gpg's own, from
 * the list, so that it is no option. --yes answers its question. */
static int
delete_half(call_ctx_t *ctx, const json_t *args, const char *print, bool secret, const char *pass,
            fail_t *err)
{
    gpg_auto_t gpg = { .home = NULL };

    if (gpg_begin(ctx, args, pass, false, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, "--yes", secret ? "--delete-secret-key" : "--delete-key", print, NULL);
    if (gpg_go(&gpg, GPG_SECONDS, err) != 0)
        return err->code;
    if (gpg.res.status != 0)
        log_error("gpg.delete_key: %s", buf_str(&gpg.res.errs));
    return gpg.res.status == 0;
}

/* gpg refuses to delete a public key while its secret half is there, so that goes first, and only when the
 * call says so. */
static int
gpg_delete_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool by_print = value_truthy(value_get(args, "fingerprint")),
         by_id = value_truthy(value_get(args, "keyid"));
    bool with_pass = value_truthy(value_get(args, "use_passphrase"));
    AUTO_GPG_PASS pass = NULL;
    buf_auto_t said = BUF_INIT;

    if (by_print == by_id)
        return gpg_say(false,
                       by_id ? "Only specify one argument, fingerprint or keyid"
                             : "Required argument, fingerprint or keyid",
                       ret_value);
    /* Both halves go by the fingerprint of the public one: a short id could mean several keys. */
    json_auto_t *key = find_key(ctx, args, false, err);
    if (!value_truthy(key))
        return key == NULL ? err->code : gpg_say(false, "Key not available in keychain.", ret_value);
    const char *print = value_str(key, "fingerprint", "");
    json_auto_t *secret = find_key(ctx, args, true, err);
    if (secret == NULL)
        return err->code;
    if (value_truthy(secret)) {
        if (!value_truthy(value_get(args, "delete_secret")))
            return gpg_say(false, "Secret key exists, delete first or pass delete_secret=True.", ret_value);
        pass = with_pass ? gpg_passphrase(ctx, err) : NULL;
        if (with_pass && pass == NULL)
            return err->code != 0 ? err->code
                                  : gpg_say(false, "gpg_passphrase not available in pillar.", ret_value);
        int gone = delete_half(ctx, args, print, true, pass, err);
        if (gone <= 0)
            return gone < 0 ? gone : gpg_say(false, "gpg could not delete the secret key", ret_value);
        buf_printf(&said, "Secret key for %s deleted\n", print);
    }
    int gone = delete_half(ctx, args, print, false, NULL, err);
    if (gone < 0)
        return gone;
    buf_printf(&said, gone > 0 ? "Public key for %s deleted" : "gpg could not delete the public key %s",
               print);
    return gpg_say(gone > 0, buf_str(&said), ret_value);
}

/* From a file or a text, by standard input. New keys are counted apart from known ones (IMPORT_RES). */
static int
gpg_import_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    enum { IMPORTED = 2, IMPORTED_RSA = 3, UNCHANGED = 4, COUNTS = 5 };
    const char *text = value_str(args, "text", ""), *file = value_str(args, "filename", "");
    gpg_auto_t gpg = { .home = NULL };

    if (*text == '\0' && *file == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "filename or text must be passed.");
    if (gpg_begin(ctx, args, NULL, true, &gpg, err) != 0)
        return err->code;
    if (*file != '\0') {
        int there = fs_read_any(file, FILE_MAX, &gpg.in, err);
        if (there <= 0)
            return there < 0 ? there : fail_kind(err, FAIL_INVOCATION, -ENOENT, "filename does not exist.");
    } else {
        buf_puts(&gpg.in, text);
    }
    prog_add(&gpg.prog, "--import");
    if (gpg_go(&gpg, GPG_SECONDS, err) != 0)
        return err->code;
    /* Of the counters of "IMPORT_RES" these are the ones of keys. */
    AUTO_FREE char *counted = gpg_said(&gpg, "IMPORT_RES");
    char **counts = str_split(counted != NULL ? counted : "", " ", true);
    bool whole = strv_len(counts) >= COUNTS;
    bool fresh = whole && (!str_eq(counts[IMPORTED], "0") || !str_eq(counts[IMPORTED_RSA], "0"));
    bool same = whole && !str_eq(counts[UNCHANGED], "0");
    strv_free(counts);
    /* Why it failed is only in gpg's words. */
    if (!fresh && !same)
        log_error("gpg.import_key: %s", buf_str(&gpg.res.errs));
    return gpg_say(fresh || same,
                   fresh  ? "Successfully imported key(s)."
                   : same ? "Key(s) already exist in keychain."
                          : "Unable to import key.",
                   ret_value);
}

/* A file of secret keys is for its owner alone. The answer is an object, or with `bare` the text. */
static int
gpg_export_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool secret = value_truthy(value_get(args, "secret")), bare = value_truthy(value_get(args, "bare"));
    bool with_pass = secret && value_truthy(value_get(args, "use_passphrase"));
    const char *output = value_str(args, "output", "");
    AUTO_GPG_PASS pass = with_pass ? gpg_passphrase(ctx, err) : NULL;
    json_auto_t *keys = gpg_words(value_get(args, "keyids"));
    gpg_auto_t gpg = { .home = NULL };

    if (with_pass && pass == NULL)
        return err->code != 0
                   ? err->code
                   : fail_kind(err, FAIL_INVOCATION, -ENOENT, "gpg_passphrase not available in pillar.");
    if (gpg_begin(ctx, args, pass, false, &gpg, err) != 0)
        return err->code;
    prog_adds(&gpg.prog, secret ? "--export-secret-key" : "--export", "--armor", NULL);
    if (prog_operands(&gpg.prog, "keyids", keys, err) != 0 || gpg_go(&gpg, GPG_SECONDS, err) != 0)
        return err->code;
    /* gpg prints nothing for a key that is not there. */
    bool good = gpg.res.out.len > 0;
    if (good && *output != '\0' &&
        fs_rewrite(output, gpg.res.out.data, gpg.res.out.len, secret ? 0600 : 0644, err) != 0)
        return err->code;
    *ret_value = gpg_result(good, bare, output, "Exported key data has been written to", &gpg.res.out, NULL);
    return 0;
}

/* By --import-ownertrust, since gpg has no command for it but in a dialogue. A bad level is a text as the
 * answer, as by Salt. */
static int
gpg_trust_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "fingerprint", ""), *keyid = value_str(args, "keyid", "");
    json_auto_t *key = NULL;
    gpg_auto_t gpg = { .home = NULL };
    int number = 0;

    if ((*given != '\0') == (*keyid != '\0'))
        return gpg_say(false,
                       *given != '\0' ? "Only specify one argument, fingerprint or keyid"
                                      : "Required argument, fingerprint or keyid",
                       ret_value);
    if (*given == '\0') {
        key = find_key(ctx, args, false, err);
        if (key == NULL)
            return err->code;
        AUTO_FREE char *none = xasprintf("KeyID %s not in GPG keychain", keyid);
        if (!value_truthy(key))
            return gpg_say(false, none, ret_value);
    }
    if (gpg_trust(value_str(args, "trust_level", ""), &number) == NULL) {
        *ret_value = json_string(
            "ERROR: Valid trust levels - expired,unknown,not_trusted,marginally,fully,ultimately");
        return 0;
    }
    const char *print = key != NULL ? value_str(key, "fingerprint", "") : given;
    /* Its line on standard input is FINGERPRINT:LEVEL, into which nothing else may get. */
    if (print[strspn(print, "0123456789abcdefABCDEF")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "fingerprint: %s is none", print);
    if (gpg_begin(ctx, args, NULL, false, &gpg, err) != 0)
        return err->code;
    buf_printf(&gpg.in, "%s:%d\n", print, number);
    prog_add(&gpg.prog, "--import-ownertrust");
    if (gpg_go(&gpg, GPG_SECONDS, err) != 0)
        return err->code;
    if (gpg.res.status != 0)
        return gpg_say(false, buf_str(&gpg.res.errs), ret_value);
    /* gpg tells whether it set or changed a trust; about the same trust again it says nothing. */
    AUTO_FREE char *said = gpg_trust_said(buf_str(&gpg.res.errs));
    (void) gpg_say(true, said, ret_value);
    if (*said != '\0')
        json_object_set_new(*ret_value, "fingerprint", json_string(print));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t list_args[] = { GPG_ROWS_RING, ARGS_END };
static const arg_t get_args[] = { GPG_ROW_KEYID, GPG_ROW_PRINT, GPG_ROWS_RING, ARGS_END };
static const arg_t search_args[] = {
    ARG("text", ARG_STR, ARG_REQUIRED, "What to search for: a name, an address, digits of a fingerprint"),
    GPG_ROW_SERVER,
    GPG_ROW_USER,
    GPG_ROW_HOME,
    ARGS_END,
};
static const arg_t receive_args[] = {
    GPG_ROW_SERVER,
    ARG("keys", ARG_ANY, "null", "The keys: a text with commas between, or a list"),
    GPG_ROWS_RING,
    ARGS_END,
};
static const arg_t create_args[] = {
    ARG("key_type", ARG_STR, "\"RSA\"", "RSA, DSA, ..."),
    ARG("key_length", ARG_INT, "1024", "Bits of the key"),
    ARG("name_real", ARG_STR, "\"Autogenerated Key\"", "Name of the owner"),
    ARG("name_comment", ARG_STR, "\"Generated by SaltStack\"", "A comment"),
    ARG("name_email", ARG_STR, "null", "Address of the owner"),
    ARG("subkey_type", ARG_STR, "null", "Kind of a second key"),
    ARG("subkey_length", ARG_ANY, "null", "Its bits"),
    ARG("expire_date", ARG_ANY, "null", "Date, or number of days, weeks, months, years: 2m"),
    GPG_ROW_PASS,
    GPG_ROWS_RING,
    ARGS_END,
};
static const arg_t delete_args[] = {
    GPG_ROW_KEYID,
    GPG_ROW_PRINT,
    ARG("delete_secret", ARG_ANY, "false", "True: its secret half too"),
    GPG_ROWS_RING,
    ARG("use_passphrase", ARG_ANY, "true", "The secret half has a passphrase: gpg_passphrase of the pillar"),
    ARGS_END,
};
static const arg_t import_args[] = {
    ARG("text", ARG_STR, "null", "The key's text"),
    ARG("filename", ARG_STR, "null", "Or its file"),
    GPG_ROWS_RING,
    ARGS_END,
};
static const arg_t export_args[] = {
    ARG("keyids", ARG_ANY, "null", "The keys: a text with commas between, or a list"),
    ARG("secret", ARG_ANY, "false", "True: the secret halves"),
    GPG_ROWS_RING,
    GPG_ROW_PASS,
    GPG_ROW_OUTPUT,
    GPG_ROW_BARE,
    ARGS_END,
};
static const arg_t trust_args[] = {
    GPG_ROW_KEYID,
    GPG_ROW_PRINT,
    ARG("trust_level", ARG_STR, "null", "expired, unknown, not_trusted, marginally, fully or ultimately"),
    GPG_ROWS_RING,
    ARGS_END,
};

static const func_t funcs[] = {
    { "create_key", gpg_create_key, create_args, 0,
      "Create a pair of keys." CLI_EXAMPLE(
          "salt '*' gpg.create_key name_real=Joe name_email=joe@example.com") },
    { "delete_key", gpg_delete_key, delete_args, 0,
      "Delete a key." CLI_EXAMPLE("salt '*' gpg.delete_key keyid=3FAD9F1E delete_secret=True") },
    { "export_key", gpg_export_key, export_args, 0,
      "Return keys as text, or write them to a file." CLI_EXAMPLE(
          "salt '*' gpg.export_key keyids=3FAD9F1E") },
    { "get_key", gpg_get_key, get_args, FN_READONLY,
      "Return what is known of a key; False when it is not there." CLI_EXAMPLE(
          "salt '*' gpg.get_key keyid=3FAD9F1E user=username") },
    { "get_secret_key", gpg_get_key, get_args, FN_READONLY,
      "Return what is known of a secret key; False when it is not there." CLI_EXAMPLE(
          "salt '*' gpg.get_secret_key keyid=3FAD9F1E"),
      .data.number = 1 },
    { "import_key", gpg_import_key, import_args, 0,
      "Import keys from a text or file." CLI_EXAMPLE("salt '*' gpg.import_key filename=/root/key.asc") },
    { "list_keys", gpg_list, list_args, FN_READONLY,
      "Return all keys." CLI_EXAMPLE("salt '*' gpg.list_keys gnupghome=/etc/apt/gpg") },
    { "list_secret_keys", gpg_list, list_args, FN_READONLY,
      "Return all secret keys." CLI_EXAMPLE("salt '*' gpg.list_secret_keys"), .data.number = 1 },
    { "receive_keys", gpg_receive_keys, receive_args, 0,
      "Receive keys from a key server." CLI_EXAMPLE("salt '*' gpg.receive_keys keys=3FAD9F1E,3FBD9F2E") },
    { "search_keys", gpg_search_keys, search_args, FN_READONLY,
      "Search for keys on a key server." CLI_EXAMPLE("salt '*' gpg.search_keys user@example.com") },
    { "trust_key", gpg_trust_key, trust_args, 0,
      "Set how far a key's owner is trusted." CLI_EXAMPLE(
          "salt '*' gpg.trust_key keyid=3FAD9F1E trust_level=marginally") },
};

PLUGIN(exec, gpg, .doc = "Keys, signatures and encryption by GnuPG", FUNCS(funcs),
       .unavailable = gpg_missing);
