/* gpgring.c - a keyring of GnuPG: its folder, its runs, its keys. GnuPG has no library for what is done here
 * but its own program, whose options --with-colons and --status-fd are made for other programs to read. The
 * texts of people are never looked at: they are translated. */
#include <ctype.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/system/gpgring.h"
#include "salt/log.h"

/* Letters of --with-colons, Salt's names, its words for people, and the numbers of --import-ownertrust. */
static const struct trust {
    const char *letter, *level, *shown;
    int number;
} trusts[] = {
    { "e", "expired", "Expired", 1 },         { "q", "unknown", "Unknown", 2 },
    { "n", "not_trusted", "Not Trusted", 3 }, { "m", "marginally", "Marginally", 4 },
    { "f", "fully", "Fully Trusted", 5 },     { "u", "ultimately", "Ultimately Trusted", 6 },
};

/* Salt's word for a level; NULL: there is no such level. */
const char *
gpg_trust(const char *level, int *ret_number)
{
    for (size_t i = 0; i < NELEMS(trusts); i++)
        if (str_eq(trusts[i].level, level)) {
            *ret_number = trusts[i].number;
            return trusts[i].shown;
        }
    return NULL;
}

const char *
gpg_missing(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("gpg");

    return path != NULL ? NULL : "The gpg execution module cannot be loaded: gpg binary is not in the path.";
}

/* ---- the folder --------------------------------------------------------------------------------- */

/* The answer of user.info; *ret_user is the name. NEW, or NULL with *err. Without a name it is the user that
 * the minion runs as, by its option. */
static json_t *
user_of(call_ctx_t *ctx, const char *name, char **ret_user, fail_t *err)
{
    json_auto_t *own = *name == '\0' ? sub_call(ctx, err, "config.option", "{s:s}", "value", "user") : NULL;

    if (*name == '\0' && own == NULL)
        return NULL;
    *ret_user = own != NULL ? value_pystr(own) : xstrdup(name);
    json_t *info = sub_call(ctx, err, "user.info", "{s:s}", "name", *ret_user);
    if (info == NULL || value_truthy(info))
        return info;
    json_decref(info);
    fail_kind(err, FAIL_INVOCATION, -ENOENT, "User %s does not exist", *ret_user);
    return NULL;
}

/* Sets home, and user where the keyring is another's. Salt's keyring lies below config_dir, so that no home
 * is needed; gnupghome goes before all. A keyring of another user is used as that user, or gpg would leave
 * files of root's in it. */
static int
gpg_find(call_ctx_t *ctx, const json_t *args, gpg_t *out, fail_t *err)
{
    const char *home = value_str(args, "gnupghome", ""), *name = value_str(args, "user", "");
    AUTO_FREE char *user = NULL;

    if (str_eq(name, "salt") && *home == '\0') {
        json_auto_t *dir = sub_call(ctx, err, "config.get", "{s:s}", "key", "config_dir");
        AUTO_FREE char *text = dir != NULL ? value_pystr(dir) : NULL;
        out->home = text != NULL ? fs_join(text, "gpgkeys") : NULL;
        return text != NULL ? 0 : err->code;
    }
    if (*home != '\0' && (*name == '\0' || str_eq(name, "salt"))) {
        out->home = xstrdup(home);
        return 0;
    }
    json_auto_t *info = user_of(ctx, name, &user, err);
    if (info == NULL)
        return err->code;
    out->home = *home != '\0' ? xstrdup(home) : fs_join(value_str(info, "home", "/"), ".gnupg");
    if (value_int(info, "uid", -1) != (json_int_t) geteuid())
        out->user = STEAL(user);
    return 0;
}

/* Makes the folder as the one whose keyring it is. mkdir runs as the user, so that no link of his leads root
 * anywhere. */
static int
gpg_make_home(const gpg_t *self, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int there = fs_look(self->home, err);

    if (there != 0)
        return there < 0 ? there : 0;
    if (tool_begin(&prog, "mkdir", err) != 0)
        return err->code;
    prog_adds(&prog, "-p", "-m", "700", "--", self->home, NULL);
    prog.run_as = self->user;
    prog.timeout_ms = 10 * 1000;
    int code = prog_retcode(&prog, err);
    return code == 0  ? 0
           : code < 0 ? code
                      : fail_kind(err, FAIL_COMMAND, -EIO, "mkdir could not make %s", self->home);
}

/* The program with the options that all runs have. The passphrase goes through the standard input, never as
 * an argument, which everybody could read in /proc. */
int
gpg_begin(call_ctx_t *ctx, const json_t *args, const char *pass, bool make, gpg_t *out, fail_t *err)
{
    json_t *ring = value_get(args, "keyring");

    *out = (gpg_t){ .prog = PROG_INIT };
    if (value_truthy(ring) && !json_is_string(ring))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Please pass keyring as a string. Multiple keyrings are not allowed");
    /* With a keyring of its own gpg still wants the folder, for its trust and its agent. */
    make = make || value_truthy(ring);
    if (gpg_find(ctx, args, out, err) != 0 || (make && gpg_make_home(out, err) != 0) ||
        tool_begin(&out->prog, "gpg", err) != 0)
        return err->code;
    prog_adds(&out->prog, "--status-fd", "2", "--no-tty", "--no-verbose", "--fixed-list-mode", "--batch",
              "--with-colons", "--homedir", out->home, NULL);
    if (value_truthy(ring))
        prog_adds(&out->prog, "--no-default-keyring", "--keyring", json_string_value(ring), NULL);
    buf_reserve(&out->in, 4096); /* so that no copy of a passphrase stays behind as it grows */
    if (pass != NULL) {
        prog_adds(&out->prog, "--pinentry-mode", "loopback", "--passphrase-fd", "0", NULL);
        buf_printf(&out->in, "%s\n", pass);
    }
    return 0;
}

/* The output may be a secret key or a plain text, and the input a passphrase; both are wiped. */
void
gpgring_free(gpg_t *self)
{
    prog_free(&self->prog);
    if (self->res.out.data != NULL)
        explicit_bzero(self->res.out.data, self->res.out.cap);
    proc_result_free(&self->res);
    if (self->in.data != NULL)
        explicit_bzero(self->in.data, self->in.cap);
    buf_free(&self->in);
    free(self->home);
    free(self->user);
}

/* Runs what gpg_begin() began. A failure of gpg's is none here: its exit code and status lines say more, and
 * the callers read them. */
int
gpg_go(gpg_t *self, int timeout_s, fail_t *err)
{
    self->prog.in = buf_str(&self->in);
    self->prog.run_as = self->user;
    self->prog.timeout_ms = timeout_s * 1000;
    if (prog_run(&self->prog, &self->res, err) < 0)
        return err->code;
    return self->res.timed_out
               ? fail_kind(err, FAIL_COMMAND, -ETIMEDOUT, "gpg took longer than %d seconds", timeout_s)
               : 0;
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* The next "[GNUPG:] KEYWORD rest" at *at, which goes behind it. False: there is no more. Lines without the
 * mark are for people. */
bool
gpg_status(const char **at, char **ret_key, char **ret_rest)
{
    static const char mark[] = "[GNUPG:] ";

    while (**at != '\0') {
        const char *line = *at, *end = strchrnul(line, '\n');
        *at = *end != '\0' ? end + 1 : end;
        if (!str_starts(line, mark))
            continue;
        line += strlen(mark);
        size_t n = strcspn(line, " \n"), len = (size_t) (end - line);
        *ret_key = xstrndup(line, n);
        *ret_rest = n < len ? xstrndup(line + n + 1, len - n - 1) : xstrdup("");
        return true;
    }
    return false;
}

/* The rest of the first status line with the keyword. NEW; NULL: gpg did not say it. */
char *
gpg_said(const gpg_t *self, const char *keyword)
{
    const char *at = buf_str(&self->res.errs);

    for (bool more = true; more;) {
        AUTO_FREE char *key = NULL, *rest = NULL;
        more = gpg_status(&at, &key, &rest);
        if (more && str_eq(key, keyword))
            return STEAL(rest);
    }
    return NULL;
}

/* From the pillar only: an argument would stand in the job's cache and in the events. NEW; NULL: none, or
 * with *err. */
char *
gpg_passphrase(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *found = sub_call(ctx, err, "pillar.get", "{s:s}", "key", "gpg_passphrase");

    return value_truthy(found) ? value_pystr(found) : NULL;
}

void
gpg_wipe(char **pass)
{
    if (*pass != NULL)
        explicit_bzero(*pass, strlen(*pass));
    free(*pass);
}

/* ---- keys --------------------------------------------------------------------------------------- */

/* The word for a letter of validity or owner trust. Salt says "Marginally" for a level that is set, and
 * "Marginally Trusted" for one that is shown. "r" is of keys only. */
static const char *
letter_shown(const char *letter)
{
    for (size_t i = 0; i < NELEMS(trusts); i++)
        if (str_eq(trusts[i].letter, letter))
            return str_eq(letter, "m") ? "Marginally Trusted" : trusts[i].shown;
    return str_eq(letter, "r") ? "Revoked" : "Unknown";
}

/* A day of a time in seconds, in local time. No day for "" or 0, which is a key that never ends. */
void
gpg_put_day(json_t *key, const char *name, const char *seconds)
{
    long long t = 0;

    if (!str_to_int(seconds, 1, 1LL << 40, &t))
        return;
    AUTO_FREE char *day = clock_strftime("%Y-%m-%d", t * 1000000);
    json_object_set_new(key, name, json_string(day));
}

/* "\x3a" and the like as the bytes that they are. NEW. */
json_t *
gpg_uid_text(const char *field)
{
    buf_auto_t out = BUF_INIT;

    for (const char *p = field; *p != '\0'; p++) {
        char hex[3] = "";
        if (p[0] == '\\' && p[1] == 'x' && isxdigit((unsigned char) p[2]) && isxdigit((unsigned char) p[3])) {
            memcpy(hex, p + 2, 2);
            buf_putc(&out, (char) strtol(hex, NULL, 16));
            p += 3;
        } else {
            buf_putc(&out, *p);
        }
    }
    return value_utf8(buf_str(&out), out.len);
}

/* pub or sec: the key so far. NEW */
static json_t *
key_of(char *const *fields)
{
    enum { TRUST = 1, LENGTH, KEYID = 4, CREATED, EXPIRES, OWNER = 8 };
    json_t *key = json_pack("{s:s, s:s, s:[]}", "keyid", fields[KEYID], "fingerprint", "", "uids");

    gpg_put_day(key, "expires", fields[EXPIRES]);
    gpg_put_day(key, "created", fields[CREATED]);
    if (*fields[LENGTH] != '\0')
        json_object_set_new(key, "keyLength", json_string(fields[LENGTH]));
    if (*fields[OWNER] != '\0')
        json_object_set_new(key, "ownerTrust", json_string(letter_shown(fields[OWNER])));
    if (*fields[TRUST] != '\0')
        json_object_set_new(key, "trust", json_string(letter_shown(fields[TRUST])));
    return key;
}

/* Lines of `gpg --with-colons`, doc/DETAILS of GnuPG. Records of a key follow its pub or sec; sub-keys have
 * fpr records too, so only the first one is the key's. Lines of fewer fields are of other kinds. */
json_t *
gpg_keys_of(const char *colons)
{
    enum { FIELDS = 10, TEXT = 9 };
    json_t *keys = json_array(), *key = NULL;
    char **lines = str_split(colons, "\n", true);

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **fields = str_split(lines[i], ":", false);
        const char *kind = fields[0];
        if (strv_len(fields) >= FIELDS && (str_eq(kind, "pub") || str_eq(kind, "sec"))) {
            key = key_of(fields);
            json_array_append_new(keys, key);
        } else if (strv_len(fields) >= FIELDS && key != NULL && str_eq(kind, "uid")) {
            json_array_append_new(value_get(key, "uids"), gpg_uid_text(fields[TEXT]));
        } else if (strv_len(fields) >= FIELDS && key != NULL && str_eq(kind, "fpr") &&
                   *value_str(key, "fingerprint", "") == '\0') {
            json_object_set_new(key, "fingerprint", json_string(fields[TEXT]));
        }
        strv_free(fields);
    }
    strv_free(lines);
    return keys;
}

json_t *
gpg_keys(call_ctx_t *ctx, const json_t *args, bool secret, fail_t *err)
{
    enum { LIST_SECONDS = 60 };
    gpg_auto_t gpg = { .home = NULL };

    if (gpg_begin(ctx, args, NULL, false, &gpg, err) != 0)
        return NULL;
    /* gpg makes an empty keyring when it lists one. */
    int there = fs_look(gpg.home, err);
    if (there <= 0)
        return there < 0 ? NULL : json_array();
    prog_adds(&gpg.prog, secret ? "--list-secret-keys" : "--list-keys", "--fingerprint", "--fingerprint",
              NULL);
    if (gpg_go(&gpg, LIST_SECONDS, err) != 0)
        return NULL;
    if (gpg.res.status != 0) {
        fail_kind(err, FAIL_COMMAND, -EIO, "gpg could not list the keys of %s: %s", gpg.home,
                  buf_str(&gpg.res.errs));
        return NULL;
    }
    return gpg_keys_of(buf_str(&gpg.res.out));
}

/* An id is the end of a fingerprint: 8 or 16 digits of it, or all. Case does not matter, nor a leading 0x. */
bool
gpg_is_key(const json_t *key, const char *wanted)
{
    const char *print = value_str(key, "fingerprint", "");

    if (strncasecmp(wanted, "0x", 2) == 0)
        wanted += 2;
    size_t len = strlen(wanted), own = strlen(print);
    return (len == 8 || len == 16 || len == own) && len <= own && strcasecmp(print + own - len, wanted) == 0;
}
