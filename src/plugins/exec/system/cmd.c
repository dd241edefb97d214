/* cmd.c - execution module `cmd`: runs programs and shell commands with all of Salt's arguments. Each call
 * becomes a cmd_run_t: exec_cmd_prepare() checks and resolves everything that can be refused before a program
 * starts (user, shell, template, allow lists, umask, cwd, argv, environment), exec_cmd_start() runs it by
 * proc.h, exec_cmd_outcome() decodes output and judges the exit code. The functions at the end differ in
 * flags and in the part of the result that they return. */
#include "salt/plugin.h"

#include <fnmatch.h>
#include <iconv.h>
#include <math.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/call/cmdrows.h"
#include "salt/log.h"

/* U+FFFD in UTF-8, which stands where bytes have no meaning in the output's encoding. */
#define REPLACEMENT "\xef\xbf\xbd"

enum {
    LOGIN_ENV_MS = 60000, /* for su and the user's profile */
    LOGIN_ENV_LIMIT = 1024 * 1024,
    ICONV_CHUNK = 4096
};

extern char **environ;

/* Flags by which the cmd functions differ; all else is in their arguments. */
enum {
    RUN_MERGE = 1 << 0,     /* stderr into stdout */
    RUN_BG = 1 << 1,        /* do not wait */
    RUN_NO_RSTRIP = 1 << 2, /* keep the last line breaks */
    RUN_SHELL = 1 << 3      /* a shell unless told otherwise */
};

/* A call on its way: prepare fills the members from the arguments, start and outcome read them. NULL, or 0,
 * where nothing is said of a member. exec_cmd_run_free() frees the owned ones, after a failure too. */
typedef struct cmd_run {
    call_ctx_t *ctx;
    json_t *args;   /* BORROWED, bound */
    json_t *kwargs; /* BORROWED */
    unsigned flags;
    json_t *cmd;              /* BORROWED: text or list */
    json_t *rendered;         /* owned: what `cmd` is, when it is a template */
    char *cwd, *shell, *text; /* owned; text: the command as messages show it */
    const char *runas, *group;
    bool bg, python_shell, quiet;
    log_level_t level;
    char **argv, **env; /* owned */
    size_t n_env;
    int umask;
    json_t *codes, *outs, *errs; /* owned: what counts as success */
} cmd_run_t;

/* An argument, or a further keyword of that name: cmd.run_all(bg=True). BORROWED, NULL when None. */
static json_t *
opt(const cmd_run_t *r, const char *name)
{
    json_t *v = value_get(r->args, name);

    if (v == NULL)
        v = value_get(r->kwargs, name);
    return json_is_null(v) ? NULL : v;
}

/* The same as text; NULL also for an empty text and for another type, which then count as not given. */
static const char *
opt_str(const cmd_run_t *r, const char *name)
{
    json_t *v = opt(r, name);

    return json_is_string(v) && json_string_length(v) > 0 ? json_string_value(v) : NULL;
}

/* The same by Python's truth, so that "yes" and 1 are true; None is the default. */
static bool
opt_bool(const cmd_run_t *r, const char *name, bool dflt)
{
    json_t *v = opt(r, name);

    return v != NULL ? value_truthy(v) : dflt;
}

/* Frees the members, not `r` itself, which is on the stack of its function. */
static void
exec_cmd_run_free(cmd_run_t *r)
{
    free(r->cwd);
    free(r->shell);
    free(r->text);
    json_decref(r->rendered);
    strv_free(r->argv);
    strv_free(r->env);
    json_decref(r->codes);
    json_decref(r->outs);
    json_decref(r->errs);
}

/* ---- environment -------------------------------------------------------------------------- */

/* The slot of a variable, or NULL. The environment is an array of "NAME=VALUE", NULL-terminated. */
static char **
env_find(cmd_run_t *r, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < r->n_env; i++) {
        if (strncmp(r->env[i], name, len) == 0 && r->env[i][len] == '=')
            return &r->env[i];
    }
    return NULL;
}

/* Sets a variable, in the place of an older value. */
static void
env_put(cmd_run_t *r, const char *name, const char *value)
{
    char **have = env_find(r, name);

    if (have == NULL) {
        r->env = xrealloc(r->env, (r->n_env + 2) * sizeof(*r->env));
        have = &r->env[r->n_env++];
        r->env[r->n_env] = NULL;
    } else {
        free(*have);
    }
    *have = xasprintf("%s=%s", name, value);
}

/* Order is not kept: the last entry takes the place of the dropped one. */
static void
env_drop(cmd_run_t *r, const char *name)
{
    char **have = env_find(r, name);

    if (have == NULL)
        return;
    free(*have);
    *have = r->env[--r->n_env];
    r->env[r->n_env] = NULL;
}

/* Sets "NAME=VALUE"; a line without a name is dropped (the process environment may hold such). */
static void
env_put_line(cmd_run_t *r, const char *line)
{
    const char *eq = strchr(line, '=');

    if (eq == NULL || eq == line)
        return;
    AUTO_FREE char *name = xstrndup(line, (size_t) (eq - line));
    env_put(r, name, eq + 1);
}

/* Sets a variable of the caller's. Names that would break the environment are refused; None becomes "" with
 * an error in the log, as in Salt. 0, or negative with *err. */
static int
env_put_given(cmd_run_t *r, const char *name, json_t *v, fail_t *err)
{
    if (*name == '\0' || strchr(name, '=') != NULL)
        return fail_kind(
            err, FAIL_COMMAND, -EINVAL,
            "illegal environment variable name '%s': env is a dictionary, or a list of NAME: VALUE", name);
    if (json_is_null(v))
        log_error("Environment variable '%s' passed without a value. Setting value to an empty string", name);
    AUTO_FREE char *value = json_is_null(v) ? xstrdup("") : value_pystr(v);
    env_put(r, name, value);
    return 0;
}

/* An element of `env`: a dictionary, or a name alone, which is set to "". Anything else is ignored. */
static int
env_put_element(cmd_run_t *r, json_t *element, fail_t *err)
{
    const char *name;
    json_t *v;
    int rc = 0;

    if (json_is_string(element))
        return env_put_given(r, json_string_value(element), json_null(), err);
    json_object_foreach (element, name, v) {
        if ((rc = env_put_given(r, name, v, err)) < 0)
            break;
    }
    return rc;
}

/* The part between the two marks, as `env -0` writes it: each variable ends with a NUL, so values may hold
 * line breaks. Text outside of the marks is a profile's output. Without two marks the environment stays as
 * it is, with an error in the log: Salt runs the command all the same. */
static void
env_put_marked(cmd_run_t *r, const buf_t *out, const char *mark)
{
    size_t len = strlen(mark);
    const char *begin = memmem(buf_str(out), out->len, mark, len);
    const char *end = NULL;

    if (begin != NULL) {
        begin += len;
        end = memmem(begin, out->len - (size_t) (begin - out->data), mark, len);
    }
    if (end == NULL) {
        log_error("Environment could not be retrieved for user '%s'", r->runas);
        return;
    }
    for (const char *p = begin; p < end; p += strnlen(p, (size_t) (end - p)) + 1) {
        AUTO_FREE char *line = xstrndup(p, strnlen(p, (size_t) (end - p)));
        env_put_line(r, line);
    }
}

/* Takes the environment of the user's login shell: `su -` prints it between two random marks, so that
 * output of the user's profile can't pass for it. Only root can run su without a password; other users get
 * USER and HOME alone. 0, or negative with *err. */
static int
env_put_login(cmd_run_t *r, const struct passwd *user, fail_t *err)
{
    uint64_t noise;
    proc_result_t res;

    if (geteuid() == 0) {
        salt_assert(getrandom(&noise, sizeof(noise), 0) == (ssize_t) sizeof(noise));
        AUTO_FREE char *mark = xasprintf("<<<%016llx>>>", (unsigned long long) noise);
        AUTO_FREE char *script = xasprintf("printf %%s '%s'; env -0; printf %%s '%s'", mark, mark);
        AUTO_FREE char *name = xstrdup(r->runas);
        char su[] = "su", s[] = "-s", dash[] = "-", c[] = "-c";
        char *argv[] = { su, s, r->shell, dash, name, c, script, NULL };
        proc_spec_t spec = PROC_SPEC_INIT;
        spec.argv = argv;
        spec.timeout_ms = LOGIN_ENV_MS;
        spec.out_limit = LOGIN_ENV_LIMIT;
        if (proc_run(&spec, &res, err) < 0) {
            err->kind = FAIL_COMMAND;
            fail_prefix(err, "Environment could not be retrieved for user '%s': ", r->runas);
            return -EIO;
        }
        env_put_marked(r, &res.out, mark);
        proc_result_free(&res);
    }
    /* Last, since a profile may have set them to something else. */
    env_put(r, "USER", user->pw_name);
    env_put(r, "HOME", user->pw_dir);
    return 0;
}

/* Builds the environment: the minion's (unless clean_env), then the user's login, then the caller's variables
 * over both. NOTIFY_SOCKET is dropped, so that a child can't speak to systemd for the minion. */
static int
build_env(cmd_run_t *r, const struct passwd *user, fail_t *err)
{
    const char *prepend = opt_str(r, "prepend_path");
    /* The caller's part is gathered apart, since C for a missing LC_ variable has to win over the minion's
     * own value, not over the caller's. */
    cmd_run_t own = { .runas = r->runas, .shell = r->shell, .args = r->args, .kwargs = r->kwargs };
    int rc = user != NULL ? env_put_login(&own, user, err) : 0;

    if (rc == 0) {
        /* `env` may be a dictionary or, as YAML writers like it, a list of them. */
        json_t *given = opt(&own, "env"), *element;
        rc = json_is_object(given) ? env_put_element(&own, given, err) : 0;
        size_t i;

        json_array_foreach (given, i, element) {
            if (rc == 0)
                rc = env_put_element(&own, element, err);
        }
    }
    if (opt_bool(r, "reset_system_locale", true)) {
        /* Sets missing LC_* variables to C, because modules parse English and C numbers. */
        static const char *const names[] = {
            "LC_CTYPE",       "LC_NUMERIC",        "LC_TIME",  "LC_COLLATE", "LC_MONETARY",
            "LC_MESSAGES",    "LC_PAPER",          "LC_NAME",  "LC_ADDRESS", "LC_TELEPHONE",
            "LC_MEASUREMENT", "LC_IDENTIFICATION", "LANGUAGE",
        };
        for (size_t i = 0; i < NELEMS(names); i++) {
            if (env_find(&own, names[i]) == NULL)
                env_put(&own, names[i], "C");
        }
    }
    for (char **line = environ; line != NULL && *line != NULL && !opt_bool(r, "clean_env", false); line++)
        env_put_line(r, *line);
    env_drop(r, "NOTIFY_SOCKET");
    for (size_t i = 0; i < own.n_env; i++)
        env_put_line(r, own.env[i]);
    strv_free(own.env);
    /* Never NULL, which would mean to inherit the minion's environment. */
    if (r->env == NULL)
        r->env = xcalloc(1, sizeof(*r->env));
    /* Last, so that it stands before the caller's PATH too. */
    if (prepend != NULL) {
        char **path = env_find(r, "PATH");
        AUTO_FREE char *joined = path != NULL ? xasprintf("%s:%s", prepend, *path + strlen("PATH="))
                                              : xstrdup(prepend);
        env_put(r, "PATH", joined);
    }
    return rc;
}

/* ---- what to run and where ---------------------------------------------------------------- */

/* An unusable shell is a CommandExecutionError, a path that can't be looked at an error of its own. It is
 * checked even where no shell is used, as in Salt. */
static int
choose_shell(cmd_run_t *r, fail_t *err)
{
    const char *shell = opt_str(r, "shell");

    if (shell == NULL)
        shell = getenv("SHELL");
    r->shell = xstrdup(!str_empty(shell) ? shell : "/bin/sh");
    if (access(r->shell, X_OK) != 0 && errno != EACCES && !fs_is_absence(-errno))
        return fs_fail(err, -errno, "look at", r->shell);
    if (access(r->shell, X_OK) != 0 || fs_is_dir(r->shell))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "The shell %s is not available", r->shell);
    return 0;
}

/* With `template` the text is one, else it stays. NEW, or NULL with *err. Salt's message speaks of file
 * paths, since its cp module has the same words. */
static json_t *
exec_cmd_rendered(const cmd_run_t *r, const char *text, fail_t *err)
{
    json_t *template = opt(r, "template");
    AUTO_FREE char *name = value_truthy(template) ? value_pystr(template) : NULL;
    buf_auto_t out = BUF_INIT;

    if (name == NULL)
        return value_utf8(text, strlen(text));
    if (!template_known(name)) {
        fail_kind(err, FAIL_COMMAND, -ENOTSUP, "Attempted to render file paths with unavailable engine %s",
                  name);
        return NULL;
    }
    json_auto_t *call = json_pack("{s:s, s:s}", "template", name, "saltenv",
                                  opt_str(r, "saltenv") != NULL ? opt_str(r, "saltenv") : "base");
    if (template_render(r->ctx, call, NULL, text, strlen(text), &out, err) < 0)
        return NULL;
    return value_utf8(buf_str(&out), out.len);
}

/* The command itself as a template. A list stays as it is. */
static int
render_command(cmd_run_t *r, fail_t *err)
{
    if (!json_is_string(r->cmd))
        return 0;
    r->rendered = exec_cmd_rendered(r, json_string_value(r->cmd), err);
    r->cmd = r->rendered;
    return r->cmd != NULL ? 0 : -EINVAL;
}

/* Where to run: the home of the user who runs it, unless told otherwise; the root folder when that home
 * can't be read. A given folder must be there, and its path be absolute. */
static int
choose_cwd(cmd_run_t *r, const struct passwd *user, fail_t *err)
{
    json_t *given = opt(r, "cwd");

    if (value_truthy(given)) {
        AUTO_FREE char *text = value_pystr(given);
        /* `template` makes a template of the folder as well. */
        json_auto_t *cwd = exec_cmd_rendered(r, text, err);
        if (cwd == NULL)
            return -EINVAL;
        r->cwd = xstrdup(json_string_value(cwd));
    } else {
        const char *home = user != NULL ? user->pw_dir : getenv("HOME");
        r->cwd = xstrdup(!str_empty(home) ? home : "/");
        if (access(r->cwd, R_OK) != 0) {
            free(r->cwd);
            r->cwd = xstrdup("/");
        }
    }
    int rc = *r->cwd == '/' ? fs_look_dir(r->cwd, err) : 0;
    if (rc == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOTDIR,
                         "Specified cwd '%s' either not absolute or does not exist", r->cwd);
    return rc < 0 ? rc : 0;
}

/* Builds argv: SHELL -c TEXT with a shell; else the text split as shlex does, or the list as it is. */
static int
build_argv(cmd_run_t *r, fail_t *err)
{
    size_t words = json_is_array(r->cmd) ? json_array_size(r->cmd) : 1;

    r->text = value_pystr(r->cmd);
    if (!r->python_shell && !json_is_array(r->cmd)) {
        fail_auto_t why = FAIL_INIT;
        r->argv = prog_split(r->text, &why);
        if (r->argv == NULL)
            return fail_kind(err, FAIL_GENERIC, -EINVAL, "ValueError: %s", fail_text(&why));
        /* Messages show the words as Python shows a list. */
        json_auto_t *list = json_array();
        for (char **p = r->argv; *p != NULL; p++)
            json_array_append_new(list, value_utf8(*p, strlen(*p)));
        free(r->text);
        r->text = value_repr(list);
    } else {
        size_t lead = r->python_shell ? 2 : 0;
        r->argv = xcalloc(lead + words + 1, sizeof(*r->argv));
        if (r->python_shell) {
            r->argv[0] = xstrdup(r->shell);
            r->argv[1] = xstrdup("-c");
        }
        if (json_is_array(r->cmd)) {
            /* A list becomes the program and its arguments; with a shell, what the shell gets after -c, as
             * Python does. */
            const json_t *list = r->cmd;
            for (size_t i = 0; i < json_array_size(list); i++)
                r->argv[lead + i] = value_pystr(json_array_get(list, i));
        } else {
            r->argv[lead] = xstrdup(r->text);
        }
    }
    if (r->argv[0] == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "cmd is empty: there is nothing to run");
    return 0;
}

/* Globs match the whole command line; a backslash is literal (fnmatch's FNM_NOESCAPE), as in Python. */
static bool
exec_cmd_any_matches(json_t *globs, const char *text)
{
    size_t i;
    json_t *glob;

    json_array_foreach (globs, i, glob) {
        if (json_is_string(glob) && fnmatch(json_string_value(glob), text, FNM_NOESCAPE) == 0)
            return true;
    }
    return false;
}

/* The minion's own lists bind those who call from outside, not the modules: only calls of a job carry its
 * number. The black list comes first. An empty white list allows everything. */
static int
exec_cmd_check_allowed(const cmd_run_t *r, fail_t *err)
{
    json_t *black = value_get(ctx_opts(r->ctx), "cmd_blacklist_glob");
    json_t *white = value_get(ctx_opts(r->ctx), "cmd_whitelist_glob");
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *word;

    if (value_get(r->kwargs, "__pub_jid") == NULL)
        return 0;
    /* A list is matched as one line, with spaces between the words. */
    json_array_foreach (r->cmd, i, word) {
        AUTO_FREE char *shown = value_pystr(word);
        buf_printf(&text, "%s%s", i > 0 ? " " : "", shown);
    }
    if (!json_is_array(r->cmd)) {
        AUTO_FREE char *shown = value_pystr(r->cmd);
        buf_puts(&text, shown);
    }
    if (exec_cmd_any_matches(black, buf_str(&text)) ||
        (json_array_size(white) > 0 && !exec_cmd_any_matches(white, buf_str(&text))))
        return fail_kind(err, FAIL_COMMAND, -EPERM, "The shell command \"%s\" is not permitted",
                         buf_str(&text));
    return 0;
}

/* The text is read as octal digits, also when YAML made a number of them. Zero is refused, as in Salt,
 * because it would make world-writable files. -1: the umask stays. */
static int
choose_umask(cmd_run_t *r, fail_t *err)
{
    json_t *given = opt(r, "umask");

    r->umask = -1;
    if (given == NULL)
        return 0;
    AUTO_FREE char *text = value_pystr(given);
    const char *digits = text + strspn(text, "0");
    if (*digits == '\0')
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Zero umask is not allowed.");
    if (digits[strspn(digits, "01234567")] != '\0' || strlen(digits) > 4)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid umask: '%s'", text);
    r->umask = (int) strtol(digits, NULL, 8);
    return 0;
}

/* A list, or text with commas. NEW. */
static json_t *
split_option(const cmd_run_t *r, const char *name)
{
    json_t *given = opt(r, name), *list = json_array();

    if (given == NULL || json_is_array(given)) {
        json_array_extend(list, given);
        return list;
    }
    AUTO_FREE char *text = value_pystr(given);
    char **parts = str_split(text, ",", false);
    for (char **p = parts; *p != NULL; p++)
        json_array_append_new(list, json_string(str_trim(*p)));
    strv_free(parts);
    return list;
}

/* Results that count as success, so that the outcome needs no further parsing. Codes that are no numbers
 * are an error, as in Salt. */
static int
choose_success(cmd_run_t *r, fail_t *err)
{
    json_auto_t *codes = split_option(r, "success_retcodes");
    size_t i;
    json_t *v;
    long long n;

    r->outs = split_option(r, "success_stdout");
    r->errs = split_option(r, "success_stderr");
    r->codes = json_array();
    json_array_foreach (codes, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (!str_to_int(text, INT32_MIN, INT32_MAX, &n))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "success_retcodes must be a list of integers");
        json_array_append_new(r->codes, json_integer(n));
    }
    return 0;
}

/* Everything that can be refused before a program starts. 0, or negative with *err. */
static int
exec_cmd_prepare(cmd_run_t *r, fail_t *err)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *user;
    int rc;

    r->kwargs = value_get(r->args, "kwargs");
    r->cmd = value_get(r->args, "cmd");
    r->bg = (r->flags & RUN_BG) != 0 || opt_bool(r, "bg", false);
    /* A shell is the default for those who call from outside (their calls have a job's number), not for modules,
     * unless the minion's cmd_safe is off: Salt's rule. */
    json_t *shell = opt(r, "python_shell");
    r->python_shell = shell != NULL
                          ? value_truthy(shell)
                          : (r->flags & RUN_SHELL) != 0 || value_truthy(value_get(r->kwargs, "__pub_jid")) ||
                                !value_bool(ctx_opts(r->ctx), "cmd_safe", true);

    /* "quiet" is no level: nothing is logged then, and messages do not show the command. */
    const char *name = opt_str(r, "output_loglevel");

    r->level = LEVEL_DEBUG;
    if (name != NULL) {
        r->quiet = strcasecmp(name, "quiet") == 0;
        if (!r->quiet && !log_level_parse(name, &r->level)) {
            log_error("Invalid output_loglevel '%s'. Falling back to 'info'.", name);
            r->level = LEVEL_INFO;
        }
    }

    /* The user who runs it. */
    passwd_space_auto_t groups = { 0 };

    r->runas = opt_str(r, "runas");
    r->group = opt_str(r, "group");
    /* A module in Python may leave a user in the job's context, as in Salt. */
    if (r->runas == NULL)
        r->runas = value_str(ctx_context(r->ctx), "runas", NULL);
    user = NULL;
    if (r->runas != NULL && (user = passwd_user(&space, r->runas)) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "User '%s' is not available", r->runas);
    if (r->group != NULL && passwd_group(&groups, r->group) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Group '%s' is not available", r->group);

    /* The command is rendered before it is looked up in the lists, so that a template can't hide a
     * forbidden one. */
    if ((rc = choose_shell(r, err)) < 0 || (rc = render_command(r, err)) < 0 ||
        (rc = exec_cmd_check_allowed(r, err)) < 0 || (rc = choose_umask(r, err)) < 0 ||
        (rc = choose_cwd(r, user, err)) < 0 || (rc = choose_success(r, err)) < 0 ||
        (rc = build_argv(r, err)) < 0)
        return rc;
    return build_env(r, user, err);
}

/* ---- what came of it ---------------------------------------------------------------------- */

/* The output as the caller gets it. NEW text, or NULL with *err. */
static json_t *
output_text(const cmd_run_t *r, const buf_t *out, fail_t *err)
{
    const char *encoding = opt_str(r, "output_encoding");
    buf_auto_t other = BUF_INIT;

    if (encoding != NULL && strcasecmp(encoding, "utf-8") != 0 && strcasecmp(encoding, "utf8") != 0) {
        /* Bytes of another encoding as UTF-8; what has no meaning in it is replaced. */
        /* Bytes of another encoding become UTF-8, and bytes without a meaning in it U+FFFD. Python's
         * spellings are given to iconv: "utf_16" and "latin-1" are known as utf-16 and latin1. */
        AUTO_FREE char *dashes = str_replace(encoding, "_", "-");
        AUTO_FREE char *name = strncasecmp(dashes, "latin-", 6) == 0 ? xasprintf("latin%s", dashes + 6)
                                                                     : STEAL(dashes);

        iconv_t cd = iconv_open("UTF-8", name);
        char *from = out->data, chunk[ICONV_CHUNK];
        size_t left = out->len;
        if (cd == (iconv_t) -1) {
            (void) fail_set(err, -EINVAL, "LookupError: unknown encoding: %s", encoding);
            return NULL;
        }
        while (left > 0) {
            char *to = chunk;
            size_t room = sizeof(chunk);
            size_t rc = iconv(cd, &from, &left, &to, &room);
            buf_add(&other, chunk, sizeof(chunk) - room);
            if (rc == (size_t) -1 && errno != E2BIG) {
                buf_puts(&other, REPLACEMENT);
                from++;
                left--;
            }
        }
        iconv_close(cd);

        out = &other;
    }
    size_t len = out->len;
    /* Python's rstrip() takes all white space, not just line breaks. */
    if ((r->flags & RUN_NO_RSTRIP) == 0 && opt_bool(r, "rstrip", true)) {
        while (len > 0 && strchr(" \t\n\r\v\f", out->data[len - 1]) != NULL && out->data[len - 1] != '\0')
            len--;
    }
    /* Bytes that are no UTF-8 are replaced. */
    return value_utf8(buf_str(out), len);
}

/* True when one of the texts is part of the output. */
static bool
says_success(const json_t *texts, const char *output)
{
    size_t i;
    json_t *v;

    json_array_foreach (texts, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (strstr(output, text) != NULL)
            return true;
    }
    return false;
}

/* The command as logs show it: its first word, for the rest may hold secrets. NEW. */
static char *
log_name(const json_t *cmd)
{
    AUTO_FREE char *text = value_pystr(json_is_array(cmd) ? json_array_get(cmd, 0) : cmd);
    const char *word = text + strspn(text, " \t\n");

    return xstrndup(word, strcspn(word, json_is_array(cmd) ? "" : " \t\n"));
}

/* Failures are logged at least as errors unless ignore_retcode; output_loglevel: quiet logs nothing. */
static void
log_outcome(const cmd_run_t *r, int retcode, const char *out, const char *errs)
{
    bool failed = retcode != 0 && !r->bg && !opt_bool(r, "ignore_retcode", false);
    log_level_t level = failed && r->level < LEVEL_ERROR ? LEVEL_ERROR : r->level;
    AUTO_FREE char *name = log_name(r->cmd);

    if (r->quiet)
        return;
    if (failed)
        log_error("Command '%s' failed with return code: %d", name, retcode);
    if (*out != '\0')
        log_at(level, "stdout: %s", out);
    if (*errs != '\0')
        log_at(level, "stderr: %s", errs);
    if (retcode != 0)
        log_at(level, "retcode: %d", retcode);
}

/* {"pid", "retcode", "stdout", "stderr"}. NEW, or NULL with *err. Also sets the job's exit code. A command
 * that took too long has Salt's text for its output and the exit code 1; what it printed is lost, as in
 * Salt. */
static json_t *
exec_cmd_outcome(const cmd_run_t *r, const proc_result_t *res, fail_t *err)
{
    json_t *timeout = opt(r, "timeout");

    if (res->timed_out) {
        AUTO_FREE char *seconds = value_pystr(timeout);
        ctx_set_retcode(r->ctx, 1);
        return json_pack("{s:o, s:s, s:i, s:i}", "stdout",
                         value_fmt("%s : Timed out after %s seconds", r->text, seconds), "stderr", "",
                         "retcode", 1, "pid", (int) res->pid);
    }
    json_auto_t *out = output_text(r, &res->out, err), *errs = output_text(r, &res->errs, err);
    if (out == NULL || errs == NULL)
        return NULL;
    /* success_retcodes, success_stdout and success_stderr turn a failure into 0. */
    bool fine = says_success(r->outs, json_string_value(out)) ||
                says_success(r->errs, json_string_value(errs));
    for (size_t i = 0; i < json_array_size(r->codes); i++)
        fine = fine || json_integer_value(json_array_get(r->codes, i)) == res->status;
    int retcode = fine ? 0 : res->status;
    ctx_set_retcode(r->ctx, r->bg || opt_bool(r, "ignore_retcode", false) ? 0 : retcode);
    log_outcome(r, r->bg ? 0 : retcode, json_string_value(out), json_string_value(errs));
    return json_pack("{s:i, s:o, s:O, s:O}", "pid", (int) res->pid, "retcode",
                     r->bg ? json_null() : json_integer(retcode), "stdout", out, "stderr", errs);
}

/* Python's words for a program that can't be started. */
static int
start_failed(const cmd_run_t *r, fail_t *why, fail_t *err)
{
    bool plain = why->code == -ENOENT || why->code == -EACCES || why->code == -ENOEXEC;
    AUTO_FREE char *reason = plain ? xasprintf("[Errno %d] %s: '%s'", -why->code, strerror(-why->code),
                                               r->argv[0])
                                   : xstrdup(fail_text(why));

    return fail_kind(err, FAIL_COMMAND, why->code,
                     "Unable to run command '%s' with the context '{'cwd': '%s', 'shell': %s}', reason: %s",
                     r->quiet ? "REDACTED" : r->text, r->cwd, r->python_shell ? "True" : "False", reason);
}

/* Starts the program and waits, unless in the background. A time that is not a number is an error. 0 when
 * the program ran, whatever its exit code; negative with *err when it could not be started. */
static int
exec_cmd_start(const cmd_run_t *r, proc_result_t *res, fail_t *err)
{
    json_t *timeout = opt(r, "timeout"), *given = r->bg ? NULL : opt(r, "stdin");
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = given != NULL ? value_pystr(given) : NULL;
    proc_spec_t spec = PROC_SPEC_INIT;

    /* A line break typed as \n on the command line is one, unless stdin_raw_newlines. A program in the
     * background gets none. */
    AUTO_FREE char *input = text == NULL || opt_bool(r, "stdin_raw_newlines", false)
                                ? STEAL(text)
                                : str_replace(text, "\\n", "\n");

    if (value_truthy(timeout) && !json_is_number(timeout)) {
        AUTO_FREE char *shown = value_pystr(timeout);
        return fail_set(err, -EINVAL, "Error: timeout %s must be a number", shown);
    }
    double seconds = timeout != NULL ? json_number_value(timeout) : 0;
    spec.argv = r->argv;
    spec.env = r->env;
    spec.cwd = r->cwd;
    spec.run_as = r->runas;
    spec.group = r->group;
    spec.in = input;
    spec.in_len = input != NULL ? strlen(input) : 0;
    /* Rounded up, since 0 means to wait without an end. */
    spec.timeout_ms = seconds > 0 && seconds < INT32_MAX / 1000 ? (int) ceil(seconds * 1000) : 0;
    spec.umask = r->umask;
    spec.merge_stderr = (r->flags & RUN_MERGE) != 0 || opt_bool(r, "redirect_stderr", false);
    spec.background = r->bg;
    if (!r->quiet) {
        AUTO_FREE char *name = log_name(r->cmd);
        log_info("Executing command '%s' %s%s%sin directory '%s'", name, r->runas != NULL ? "as user '" : "",
                 r->runas != NULL ? r->runas : "", r->runas != NULL ? "' " : "", r->cwd);
    }
    return proc_run(&spec, res, &why) < 0 ? start_failed(r, &why, err) : 0;
}

/* Salt's cmd._run: all functions of the module stand on it. NEW result, or NULL with *err. */
static json_t *
run_command(cmd_run_t *r, fail_t *err)
{
    proc_result_t res;

    if (exec_cmd_prepare(r, err) < 0 || exec_cmd_start(r, &res, err) < 0)
        return NULL;
    json_t *ret = exec_cmd_outcome(r, &res, err);
    proc_result_free(&res);
    return ret;
}

/* ---- functions ---------------------------------------------------------------------------- */

/* cmd.run and its relatives: the output, with stderr in it, as text. raise_err turns a failure into an
 * exception. */
static int
cmd_run_text(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    unsigned flags = (unsigned) ctx_row(ctx)->data.number;
    cmd_run_t r = { .ctx = ctx, .args = args, .flags = flags | RUN_MERGE };
    json_auto_t *ret = run_command(&r, err);
    bool hide = value_bool(args, "hide_output", false);
    int rc = ret != NULL ? 0 : -EIO;

    /* With output_loglevel quiet there is no exception either: Salt raises it where it logs. */
    if (rc == 0 && !r.quiet) {
        int retcode = (int) value_int(ret, "retcode", 0);
        bool failed = retcode != 0 && !value_bool(args, "ignore_retcode", false);
        AUTO_FREE char *name = log_name(r.cmd);
        if (failed)
            log_error("Command '%s' failed with return code: %d", name, retcode);
        log_at(failed && r.level < LEVEL_ERROR ? LEVEL_ERROR : r.level, "output: %s",
               value_str(ret, "stdout", ""));
        if (failed && value_bool(args, "raise_err", false))
            rc = fail_kind(err, FAIL_COMMAND, -EIO, "%s", hide ? "" : value_str(ret, "stdout", ""));
    }
    exec_cmd_run_free(&r);
    if (rc == 0)
        *ret_value = hide ? json_string("") : json_incref(value_get(ret, "stdout"));
    return rc;
}

/* Returns one member of run_command's result, which the row names, or "" with hide_output; an exit code is
 * not hidden. */
static int
cmd_run_member(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *member = ctx_row(ctx)->data.text;
    bool code = strcmp(member, "retcode") == 0;
    cmd_run_t r = { .ctx = ctx, .args = args, .flags = code ? RUN_MERGE : 0 };
    json_auto_t *ret = run_command(&r, err);
    bool hide = value_bool(args, "hide_output", false) && !code;

    exec_cmd_run_free(&r);
    if (ret == NULL)
        return -EIO;
    *ret_value = hide ? json_string("") : json_incref(value_get(ret, member));
    return 0;
}

/* The whole result. hide_output empties the two texts, and the exit code stays. */
static int
cmd_mod_run_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    cmd_run_t r = { .ctx = ctx, .args = args };
    json_t *ret = run_command(&r, err);

    exec_cmd_run_free(&r);
    if (ret == NULL)
        return -EIO;
    if (value_bool(args, "hide_output", false)) {
        json_object_set_new(ret, "stdout", json_string(""));
        json_object_set_new(ret, "stderr", json_string(""));
    }
    *ret_value = ret;
    return 0;
}

/* Only the number of the process: nothing else is known, as the call does not wait. */
static int
cmd_mod_run_bg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    cmd_run_t r = { .ctx = ctx, .args = args, .flags = RUN_BG | RUN_NO_RSTRIP };
    json_auto_t *ret = run_command(&r, err);

    exec_cmd_run_free(&r);
    if (ret == NULL)
        return -EIO;
    *ret_value = json_pack("{s:O}", "pid", value_get(ret, "pid"));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t run_args[] = {
    ROWS_WHO,  ROW_PYTHON_SHELL, ROWS_ENV,     ROW_RSTRIP, ROW_UMASK,    ROWS_LOG,
    ROW_HIDE,  ROWS_LIMIT,       ROW_VT,       ROW_BG,     ROW_PASSWORD, ROW_ENCODED,
    ROW_RAISE, ROW_PREPEND,      ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t shell_args[] = {
    ROWS_WHO, ROWS_ENV, ROW_RSTRIP,   ROW_UMASK,   ROWS_LOG,     ROW_HIDE,   ROWS_LIMIT,
    ROW_VT,   ROW_BG,   ROW_PASSWORD, ROW_PREPEND, ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t stream_args[] = {
    ROWS_WHO,   ROW_PYTHON_SHELL, ROWS_ENV,     ROW_RSTRIP,  ROW_UMASK,    ROWS_LOG,   ROW_HIDE,
    ROWS_LIMIT, ROW_VT,           ROW_PASSWORD, ROW_PREPEND, ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t run_all_args[] = {
    ROWS_WHO, ROW_PYTHON_SHELL, ROWS_ENV,     ROW_RSTRIP,  ROW_UMASK,   ROWS_LOG,     ROW_HIDE,   ROWS_LIMIT,
    ROW_VT,   ROW_REDIRECT,     ROW_PASSWORD, ROW_ENCODED, ROW_PREPEND, ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t retcode_args[] = {
    ROWS_WHO, ROW_PYTHON_SHELL, ROWS_ENV,     ROW_UMASK,  ROWS_LOG, ROWS_LIMIT,
    ROW_VT,   ROW_PASSWORD,     ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t bg_args[] = {
    ROW_CMD,     ROW_CWD,      ROW_RUNAS,   ROW_GROUP,    ROW_SHELL,  ROW_PYTHON_SHELL,
    ROWS_ENV,    ROW_UMASK,    ROW_TIMEOUT, ROWS_LOG,     ROW_LOCALE, ROW_IGNORE,
    ROW_SALTENV, ROW_PASSWORD, ROW_PREPEND, ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};

static const func_t funcs[] = {
    { "retcode", cmd_run_member, retcode_args, FN_RAW_KWARGS,
      "Run a command and return its exit code." CLI_EXAMPLE("salt '*' cmd.retcode \"test -e /etc/passwd\""),
      .data.text = "retcode" },
    { "run", cmd_run_text, run_args, FN_RAW_KWARGS,
      "Run a command and return what it prints, standard error included.\n\nCalled from outside, the "
      "command goes through the shell; called by a module or a template it does not, unless "
      "``python_shell=True``. The job's exit code is the command's." CLI_EXAMPLE(
          "salt '*' cmd.run \"ls -l | awk '/foo/{print \\\\$2}'\"\n    "
          "salt '*' cmd.run 'ls -l' cwd=/tmp runas=nobody timeout=10"),
      .data.number = 0 },
    { "run_all", cmd_mod_run_all, run_all_args, FN_RAW_KWARGS,
      "Run a command and return its ``pid``, ``retcode``, ``stdout`` and ``stderr``." CLI_EXAMPLE(
          "salt '*' cmd.run_all \"ls -l | awk '/foo/{print \\\\$2}'\"") },
    { "run_bg", cmd_mod_run_bg, bg_args, FN_RAW_KWARGS,
      "Start a command and return its ``pid`` without waiting. Its output is dropped." CLI_EXAMPLE(
          "salt '*' cmd.run_bg \"fstrim-all\"") },
    { "run_stderr", cmd_run_member, stream_args, FN_RAW_KWARGS,
      "Run a command and return what it prints to standard error." CLI_EXAMPLE(
          "salt '*' cmd.run_stderr \"ls -l | awk '/foo/{print \\\\$2}'\""),
      .data.text = "stderr" },
    { "run_stdout", cmd_run_member, stream_args, FN_RAW_KWARGS,
      "Run a command and return what it prints to standard output." CLI_EXAMPLE(
          "salt '*' cmd.run_stdout \"ls -l | awk '/foo/{print \\\\$2}'\""),
      .data.text = "stdout" },
    { "shell", cmd_run_text, shell_args, FN_RAW_KWARGS,
      "Like cmd.run, always through the shell." CLI_EXAMPLE("salt '*' cmd.shell \"ls -l | wc -l\""),
      .data.number = RUN_SHELL },
};

PLUGIN(exec, cmd, .doc = "Run programs and shell commands", FUNCS(funcs));
