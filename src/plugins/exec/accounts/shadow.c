/* shadow.c - execution module `shadow`: passwords of this host's users and how long they hold. /etc/shadow
 * (shadow(5); of `root` when given) is read directly; ages are changed by chage and locks by passwd, while
 * password hashes are written into the file itself, so that they never appear on a command line. Dates are
 * days since 1970, ages days. A user whose password another service keeps has no line, and counts as
 * unknown. */
#include <shadow.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/accounts.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

enum { SHADOW_FIELDS = 9, DAY_S = 86400 };
#define SHADOW_LIMIT (64UL * 1024 * 1024)

/* The argument `root`; NULL for this host. BORROWED. */
static const char *
root_of(const json_t *args)
{
    const char *root = value_str(args, "root", NULL);

    return str_empty(root) ? NULL : root;
}

/* The file's path, below `root`. NEW. */
static char *
shadow_path(const json_t *args)
{
    const char *root = root_of(args);

    return root != NULL ? fs_join(root, "etc/shadow") : xstrdup("/etc/shadow");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The fields after the password; an empty one is -1. */
static const char *const ages[] = { "lstchg", "min", "max", "warn", "inact", "expire" };

/* NEW lines of the file, or NULL with *err. */
static char **
shadow_lines(const json_t *args, fail_t *err)
{
    AUTO_FREE char *path = shadow_path(args);
    buf_auto_t text = BUF_INIT;

    return fs_read(path, SHADOW_LIMIT, &text, err) < 0 ? NULL : str_split(buf_str(&text), "\n", true);
}

/* True when the line belongs to the user. */
static bool
line_is(const char *line, const char *name)
{
    size_t n = strlen(name);

    return strncmp(line, name, n) == 0 && line[n] == ':';
}

/* The user's line as Salt says it, with empty texts for all members when there is no such user, or no such
 * file. NEW, or NULL with *err (no right to read it, as a rule). */
static json_t *
shadow_info(const json_t *args, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    fail_auto_t why = FAIL_INIT;
    char **lines = shadow_lines(args, &why);
    json_t *info = NULL;

    if (why.code < 0 && why.code != -ENOENT) {
        (void) fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
        return NULL;
    }

    for (char **line = lines; line != NULL && *line != NULL && info == NULL; line++) {
        if (line_is(*line, name)) {
            char **parts = str_split(*line, ":", false);
            size_t n = strv_len(parts);
            info = json_pack("{s:s, s:s}", "name", parts[0], "passwd", n > 1 ? parts[1] : "");

            for (size_t i = 0; i < NELEMS(ages); i++) {
                long long days = -1;
                if (i + 2 < n)
                    (void) str_to_int(parts[i + 2], -1, INT32_MAX, &days);
                json_object_set_new(info, ages[i], json_integer(days));
            }
            strv_free(parts);
        }
    }
    if (lines != NULL)
        strv_free(lines);
    if (info == NULL) {
        info = json_pack("{s:s, s:s}", "name", "", "passwd", "");
        for (size_t i = 0; i < NELEMS(ages); i++)
            json_object_set_new(info, ages[i], json_string(""));
    }
    return info;
}

static int
shadow_mod_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = shadow_info(args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Names in the order of their bytes. *ret_value NEW. */
static int
shadow_list_users(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = shadow_lines(args, err);
    json_t *list;

    if (lines == NULL)
        return err->code;
    list = json_array();
    for (char **line = lines; *line != NULL; line++)
        (*line)[strcspn(*line, ":")] = '\0';
    qsort(lines, strv_len(lines), sizeof(*lines), str_by_text);
    for (char **line = lines; *line != NULL; line++)
        json_array_append_new(list, json_string(*line));
    strv_free(lines);
    *ret_value = list;
    return 0;
}

/* The text of an account without a password: no input hashes to it, so it locks the password out. */
static int
shadow_default_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string("!");
    return 0;
}

/* ---- ages ------------------------------------------------------------------------------------ */

/* A field that chage changes: its key in shadow.info, the function's argument, and the option. */
typedef struct age {
    const char *key, *arg; /* in shadow.info, and of the function */
    const char *option;
    bool compare; /* afterwards: not dates, which may be written as texts */
} age_t;

/* Reads the field before and after chage; a value that is right already runs nothing. False for an unknown
 * user. */
static int
shadow_set_age(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const age_t *age = ctx_row(ctx)->data.ptr;
    json_auto_t *before = shadow_info(args, err);
    json_t *want = value_get(args, age->arg);
    prog_auto_t prog = PROG_INIT;
    int code;

    if (before == NULL)
        return err->code;
    *ret_value = json_false();
    if (*value_str(before, "name", "") == '\0')
        return 0;
    if (value_equal(want, value_get(before, age->key))) {
        *ret_value = json_true();
        return 0;
    }
    if (account_prog(&prog, "chage", "-R", root_of(args), err) < 0)
        return err->code;
    prog_add_option(&prog, age->option, want);
    prog_adds(&prog, "--", value_str(args, "name", ""), NULL);
    /* chage reads days, and dates as YYYY-MM-DD; -1 takes a limit away. */
    if (tool_retcode(ctx, &prog, 0, &code, err) < 0)
        return err->code;
    json_auto_t *after = shadow_info(args, err);
    *ret_value = json_boolean(age->compare ? value_equal(value_get(after, age->key), want) : code == 0);
    return err->code;
}

/* ---- passwords ------------------------------------------------------------------------------- */

/* Runs passwd with one option for the user; the name is checked, as it could be an option: passwd knows no
 * "--". 0, also when passwd refused; negative with *err. */
static int
run_passwd(call_ctx_t *ctx, const json_t *args, const char *option, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code;

    if (account_check_name(value_str(args, "name", ""), err) < 0 ||
        account_prog(&prog, "passwd", "-R", root_of(args), err) < 0)
        return err->code;
    prog_adds(&prog, option, value_str(args, "name", ""), NULL);
    return tool_retcode(ctx, &prog, 0, &code, err);
}

/* True for a lock, which is a "!" before the hash; a "*" is no lock but a password that never fits. */
static bool
shadow_is_locked(const json_t *info)
{
    return *value_str(info, "passwd", "") == '!';
}

/* Locks or unlocks, as the row says. False when the user does not exist or passwd refused, as it does to
 * unlock an empty password. */
static int
shadow_set_lock(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool lock = ctx_row(ctx)->data.number;
    json_auto_t *before = shadow_info(args, err);

    if (before == NULL)
        return err->code;
    *ret_value = json_boolean(*value_str(before, "name", "") != '\0' && shadow_is_locked(before) == lock);
    if (*value_str(before, "name", "") == '\0' || shadow_is_locked(before) == lock)
        return 0;
    if (run_passwd(ctx, args, lock ? "-l" : "-u", err) < 0)
        return err->code;
    json_auto_t *after = shadow_info(args, err);
    *ret_value = json_boolean(shadow_is_locked(after) == lock);
    return err->code;
}

/* True when the field is empty afterwards: then the user logs in without a password where PAM allows
 * that. */
static int
shadow_del_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (run_passwd(ctx, args, "-d", err) < 0)
        return err->code;
    json_auto_t *after = shadow_info(args, err);
    *ret_value = json_boolean(*value_str(after, "passwd", "") == '\0' &&
                              str_eq(value_str(after, "name", ""), value_str(args, "name", "")));
    return err->code;
}

/* Replaces the user's hash, or adds a line, under the lock that passwd and useradd take, and whole or not
 * at all: without the lock, what one of those wrote meanwhile would be lost. lckpwdf(3) waits for 15 seconds.
 * A lock of another root is not taken: it knows only this host's. The day of the change is
 * today's; the other ages stay. 0, or negative with *err. */
static int
write_password(const json_t *args, const char *password, fail_t *err)
{
    AUTO_FREE char *path = shadow_path(args);
    bool locked = root_of(args) == NULL;

    if (locked && lckpwdf() != 0)
        return fail_set(err, -EBUSY,
                        "%s stays as it was: its lock, /etc/.pwd.lock, can't be had (%s); try again when no "
                        "other program changes accounts",
                        path,
                        errno == EINTR || errno == EAGAIN ? "another program holds it" : strerror(errno));
    char **lines = shadow_lines(args, err);
    int rc = err->code;
    if (lines != NULL) {
        /* Builds the file's text with the new field. */
        const char *name = value_str(args, "name", "");
        AUTO_FREE char *day = xasprintf("%lld", (long long) (time(NULL) / DAY_S));
        buf_auto_t out = BUF_INIT;
        bool found = false;
        for (char *const *line = lines; *line != NULL; line++) {
            if (!line_is(*line, name)) {
                buf_printf(&out, "%s\n", *line);
                continue;
            }
            char **parts = str_split(*line, ":", false);
            size_t n = strv_len(parts);
            found = true;
            buf_printf(&out, "%s:%s:%s", name, password, day);
            for (size_t i = 3; i < SHADOW_FIELDS; i++)
                buf_printf(&out, ":%s", i < n ? parts[i] : "");
            buf_putc(&out, '\n');
            strv_free(parts);
        }
        if (!found)
            buf_printf(&out, "%s:%s:%s::::::\n", name, password, day);
        AUTO_FREE char *text = xstrdup(buf_str(&out));

        rc = partfile_put(path, text, strlen(text), 0640, err);
        strv_free(lines);
    }
    if (locked)
        (void) ulckpwdf();
    return rc;
}

/* True when the file has the hash afterwards; False for an unknown user. Text that would break the file's
 * format is refused; the hash itself is not checked, as in Salt. */
static int
shadow_set_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *password = value_str(args, "password", "");
    json_auto_t *user = account_user(root_of(args), name, err);

    if (err->code < 0)
        return err->code;
    if (strpbrk(password, ":\n") != NULL)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "this is not a password hash: it has a colon or a line break in it; see shadow.gen_password");
    *ret_value = json_false();
    if (user == NULL)
        return 0;
    if (write_password(args, password, err) < 0)
        return err->code;
    json_auto_t *after = shadow_info(args, err);
    *ret_value = json_boolean(str_eq(value_str(after, "passwd", ""), password));
    return err->code;
}

/* random.shadow_hash makes the hash: the one place that does. */
static int
shadow_gen_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = sub_call(ctx, err, "random.shadow_hash", "{s:O, s:O, s:O}", "password",
                          value_get(args, "password"), "crypt_salt", value_get(args, "crypt_salt"),
                          "algorithm", value_get(args, "algorithm"));
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The user")
#define ROOT_ROW ARG("root", ARG_STR, "null", "Work below this folder")

static const arg_t name_args[] = { NAME_ROW, ROOT_ROW, ARGS_END };
static const arg_t root_args[] = { ROOT_ROW, ARGS_END };
static const arg_t inact_args[] = { NAME_ROW, ARG("inactdays", ARG_INT, ARG_REQUIRED, "Days"), ROOT_ROW,
                                    ARGS_END };
static const arg_t max_args[] = { NAME_ROW, ARG("maxdays", ARG_INT, ARG_REQUIRED, "Days"), ROOT_ROW,
                                  ARGS_END };
static const arg_t min_args[] = { NAME_ROW, ARG("mindays", ARG_INT, ARG_REQUIRED, "Days"), ROOT_ROW,
                                  ARGS_END };
static const arg_t warn_args[] = { NAME_ROW, ARG("warndays", ARG_INT, ARG_REQUIRED, "Days"), ROOT_ROW,
                                   ARGS_END };
static const arg_t date_args[] = { NAME_ROW,
                                   ARG("date", ARG_ANY, ARG_REQUIRED, "Days since 1970, or YYYY-MM-DD"),
                                   ROOT_ROW, ARGS_END };
static const arg_t expire_args[] = {
    NAME_ROW, ARG("expire", ARG_ANY, ARG_REQUIRED, "Days since 1970, or YYYY-MM-DD; -1: never"), ROOT_ROW,
    ARGS_END
};
static const arg_t gen_args[] = {
    ARG("password", ARG_STR, ARG_REQUIRED, "The password itself"),
    ARG("crypt_salt", ARG_STR, "null", "The salt; None: a random one"),
    ARG("algorithm", ARG_STR, "\"sha512\"", "sha512, sha256 or md5"),
    ARGS_END,
};
static const arg_t set_args[] = {
    NAME_ROW,
    ARG("password", ARG_STR, ARG_REQUIRED, "The hash of the password"),
    ARG("use_usermod", ARG_BOOL, "false", "Accepted; the file is changed in one step either way"),
    ROOT_ROW,
    ARGS_END,
};

static const func_t funcs[] = {
    { "default_hash", shadow_default_hash, NULL, FN_READONLY,
      "Return what stands for no password." CLI_EXAMPLE("salt '*' shadow.default_hash") },
    { "del_password", shadow_del_password, name_args, 0,
      "Remove a user's password: none is asked for then." CLI_EXAMPLE(
          "salt '*' shadow.del_password username") },
    { "gen_password", shadow_gen_password, gen_args, FN_READONLY,
      "Return a password's hash." CLI_EXAMPLE("salt '*' shadow.gen_password 'I_am_password'") },
    { "info", shadow_mod_info, name_args, FN_READONLY,
      "Return what the shadow file says of a user." CLI_EXAMPLE("salt '*' shadow.info root") },
    { "list_users", shadow_list_users, root_args, FN_READONLY,
      "Return the users of the shadow file." CLI_EXAMPLE("salt '*' shadow.list_users") },
    { "lock_password", shadow_set_lock, name_args, 0,
      "Make a user's password useless." CLI_EXAMPLE("salt '*' shadow.lock_password username"),
      .data.number = true },
    { "set_date", shadow_set_age, date_args, 0,
      "Set the day of the last change." CLI_EXAMPLE("salt '*' shadow.set_date username 0"),
      .data.ptr = &(age_t){ "lstchg", "date", "-d", false } },
    { "set_expire", shadow_set_age, expire_args, 0,
      "Set the day on which the account ends." CLI_EXAMPLE("salt '*' shadow.set_expire username -1"),
      .data.ptr = &(age_t){ "expire", "expire", "-E", false } },
    { "set_inactdays", shadow_set_age, inact_args, 0,
      "Set for how many days after it ran out a password is still accepted." CLI_EXAMPLE(
          "salt '*' shadow.set_inactdays username 7"),
      .data.ptr = &(age_t){ "inact", "inactdays", "-I", true } },
    { "set_maxdays", shadow_set_age, max_args, 0,
      "Set after how many days a password must be changed." CLI_EXAMPLE(
          "salt '*' shadow.set_maxdays username 90"),
      .data.ptr = &(age_t){ "max", "maxdays", "-M", true } },
    { "set_mindays", shadow_set_age, min_args, 0,
      "Set for how many days a password can't be changed again." CLI_EXAMPLE(
          "salt '*' shadow.set_mindays username 7"),
      .data.ptr = &(age_t){ "min", "mindays", "-m", true } },
    { "set_password", shadow_set_password, set_args, 0,
      "Set a user's password by its hash." CLI_EXAMPLE("salt '*' shadow.set_password root '$6$salt$hash'") },
    { "set_warndays", shadow_set_age, warn_args, 0,
      "Set for how many days before it runs out a user is warned." CLI_EXAMPLE(
          "salt '*' shadow.set_warndays username 7"),
      .data.ptr = &(age_t){ "warn", "warndays", "-W", true } },
    { "unlock_password", shadow_set_lock, name_args, 0,
      "Undo lock_password." CLI_EXAMPLE("salt '*' shadow.unlock_password username"), .data.number = false },
};

PLUGIN(exec, shadow, .doc = "Passwords of users", FUNCS(funcs));
