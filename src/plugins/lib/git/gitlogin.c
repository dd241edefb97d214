/* gitlogin.c - see gitlogin.h: user and password of an https remote. They go to git by its environment, never
 * on a command line; what a repository keeps lies in a file of its git folder, from which a credential helper
 * of its configuration reads. */
#include "plugins/lib/git/gitlogin.h"

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"

#define FILE_NAME "halite-credentials"
#define STORE     "git credential-store --file \"$(git rev-parse --git-common-dir)/" FILE_NAME "\""
/* Only asked: what the remote refuses today is not forgotten. */
#define ASK       "!f() { test \"$1\" = get && " STORE " get; }; f"
#define INHERIT   "!f() { test \"$1\" = get && git credential-store --file \"$HALITE_GIT_LOGINS\" get; }; f"

/* ---- one run of git -------------------------------------------------------------------------- */

/* Arguments win over the URL. A user without a password becomes part of the URL. */
int
gitlogin_of(git_login_t *self, const json_t *args, const char *user_arg, const char *pass_arg,
            const char *url, fail_t *err)
{
    const char *user = value_str(args, user_arg, ""), *pass = value_str(args, pass_arg, NULL);

    git_login_of(self, url);
    if (*user == '\0' && str_empty(pass))
        return 0;
    if (*user == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s needs %s", pass_arg, user_arg);
    if (!str_starts(url, "https://"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Basic Auth only supported for HTTPS");
    if (pass == NULL) {
        char *named = xasprintf("https://%s@%s", user, self->url + strlen("https://"));
        git_login_free(self);
        self->url = named;
        return 0;
    }
    /* As in an address, where Salt puts them. */
    free(self->user);
    free(self->password);
    self->user = git_decoded(user);
    self->password = git_decoded(pass);
    return strpbrk(self->user, "\r\n") == NULL && strpbrk(self->password, "\r\n") == NULL
               ? 0
               : fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s and %s are one line each", user_arg, pass_arg);
}

/* URL without the password. NEW. */
char *
gitlogin_shown(const git_login_t *self)
{
    const char *host = strstr(self->url, "://");

    return self->password != NULL && host != NULL
               ? xasprintf("%.*s://<redacted>@%s", (int) (host - self->url), self->url, host + strlen("://"))
               : str_redacted(self->url);
}

void
gitlogin_use(prog_t *prog, const git_login_t *self)
{
    char **env = git_login_env(self);

    for (char **e = env; *e != NULL; e++)
        prog_env(prog, *e);
    strv_free(env);
}

/* ---- what a repository keeps ----------------------------------------------------------------- */

/* `git credential VERB` on our file alone. NEW answer, or NULL with *err. */
static json_t *
credential(call_ctx_t *ctx, const json_t *args, const char *verb, const char *in, unsigned flags, fail_t *err)
{
    static const char *const env[] = {
        "GIT_CONFIG_COUNT=3",           "GIT_CONFIG_KEY_0=credential.helper",
        "GIT_CONFIG_VALUE_0=",          "GIT_CONFIG_KEY_1=credential.helper",
        ("GIT_CONFIG_VALUE_1=!" STORE), "GIT_CONFIG_KEY_2=credential.useHttpPath",
        "GIT_CONFIG_VALUE_2=true",      "GIT_ASKPASS="
    };
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "credential", &prog, err) < 0)
        return NULL;
    prog_add(&prog, verb);
    for (size_t i = 0; i < NELEMS(env); i++)
        prog_env(&prog, env[i]);
    prog.in = in;
    return git_run(ctx, args, &prog, flags, err);
}

/* `git config --local [option] credential.URL.KEY [value]`: its exit code, or negative with *err. */
static int
config(call_ctx_t *ctx, const json_t *args, const char *option, const git_login_t *self, const char *key,
       const char *value, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *name = xasprintf("credential.%s%s%s", self->url, *key != '\0' ? "." : "", key);

    if (git_begin(ctx, args, "config", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "--local", option, name, value, NULL);
    json_auto_t *answer = git_run(ctx, args, &prog, flags, err);
    return answer != NULL ? (int) value_int(answer, "retcode", 1) : err->code;
}

/* Without a password forgets; with one stores it and configures the helper for this URL alone. */
int
gitlogin_keep(call_ctx_t *ctx, const json_t *args, const git_login_t *self, fail_t *err)
{
    if (self->password == NULL && !str_starts(self->url, "http"))
        return 0;
    if (self->password == NULL) {
        /* The copy kept for this URL is removed, if it was kept here. */
        AUTO_FREE char *in = xasprintf("url=%s\n\n", self->url);
        /* Settings for that address by others remain. */
        if (config(ctx, args, "--get", self, "helper", "/" FILE_NAME "\"", GIT_SOFT, err) != 0)
            return err->code;
        json_auto_t *answer = credential(ctx, args, "reject", in, 0, err);
        if (answer == NULL)
            return err->code;
        int rc = config(ctx, args, "--remove-section", self, "", NULL, 0, err);
        return rc < 0 ? rc : 0;
    }
    AUTO_FREE char *in = xasprintf("url=%s\nusername=%s\npassword=%s\n\n", self->url, self->user,
                                   self->password);
    json_auto_t *answer = credential(ctx, args, "approve", in, 0, err);
    if (answer == NULL)
        return err->code;
    /* The empty one: nobody else is asked before. */
    int rc = config(ctx, args, "--replace-all", self, "helper", "", 0, err);
    if (rc == 0)
        rc = config(ctx, args, "--add", self, "helper", ASK, 0, err);
    if (rc == 0)
        rc = config(ctx, args, "--replace-all", self, "useHttpPath", "true", 0, err);
    return rc < 0 ? rc : 0;
}

bool
gitlogin_is_kept(call_ctx_t *ctx, const json_t *args, const git_login_t *self)
{
    fail_auto_t unused = FAIL_INIT;
    AUTO_FREE char *in = xasprintf("url=%s\n\n", self->url);
    json_auto_t *answer = credential(ctx, args, "fill", in, GIT_SOFT, &unused);
    AUTO_FREE char *want = xasprintf("\nusername=%s\npassword=%s\n", self->user, self->password);
    AUTO_FREE char *have = xasprintf("\n%s\n", value_str(answer, "stdout", ""));

    return strstr(have, want) != NULL;
}

/* Lets git read logins of the repository in `cwd`. Nothing outside a repository. */
void
gitlogin_inherit(call_ctx_t *ctx, const json_t *args, prog_t *prog)
{
    static const char *const env[] = { "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
                                       ("GIT_CONFIG_VALUE_0=" INHERIT) };
    prog_auto_t ask = PROG_INIT;
    fail_auto_t unused = FAIL_INIT;

    if (git_begin(ctx, args, "rev-parse", &ask, &unused) < 0)
        return;
    prog_add(&ask, "--git-common-dir");
    json_auto_t *answer = git_run(ctx, args, &ask, GIT_SOFT, &unused);
    const char *dir = value_str(answer, "stdout", "");
    AUTO_FREE char *whole = *dir == '/' ? xstrdup(dir) : fs_join(value_str(args, "cwd", ""), dir);
    AUTO_FREE char *file = xasprintf("HALITE_GIT_LOGINS=%s/" FILE_NAME, whole);
    if (value_int(answer, "retcode", 1) != 0)
        return;
    prog_env(prog, file);
    for (size_t i = 0; i < NELEMS(env); i++)
        prog_env(prog, env[i]);
}
