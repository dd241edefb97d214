/* gitcmd.c - see gitcmd.h: runs git for modules and states, as the user and with the ssh key that the call
 * names. Never asks: a login that is missing is a failure. Texts of failures have their passwords removed. */
#include "plugins/lib/git/gitcmd.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "plugins/lib/call/tool.h"

/* A list of words, or a text that is split as a shell would. */
int
git_add_opts(prog_t *prog, const json_t *opts, fail_t *err)
{
    if (!json_is_string(opts)) {
        if (json_is_array(opts))
            prog_add_json(prog, opts);
        return 0;
    }
    char **words = prog_split(json_string_value(opts), err);
    if (words == NULL)
        return err->code;
    for (char **w = words; *w != NULL; w++)
        prog_add(prog, *w);
    strv_free(words);
    return 0;
}

int
git_begin(call_ctx_t *ctx, const json_t *args, const char *command, prog_t *prog, fail_t *err)
{
    const char *user = value_str(args, "user", "");

    if (tool_begin(prog, "git", err) < 0 || git_add_opts(prog, value_get(args, "git_opts"), err) < 0)
        return err->code;
    prog_add(prog, command);
    /* A minion has nobody to ask. */
    prog_env(prog, "GIT_TERMINAL_PROMPT=0");
    prog->cwd = value_str(args, "cwd", NULL);
    if (*user != '\0') {
        passwd_space_auto_t space = { 0 };
        const struct passwd *pw = passwd_user(&space, user);
        AUTO_FREE char *home = pw != NULL ? xasprintf("HOME=%s", pw->pw_dir) : NULL;
        prog->run_as = user;
        /* His settings, not ours: which he may not even read, and git says so amid its answer. */
        if (home != NULL)
            prog_env(prog, home);
    }

    /* ssh by this key and no other; a salt:// path is taken from the cache. */
    json_t *given = value_get(args, "identity");
    const char *path = json_string_value(json_is_array(given) ? json_array_get(given, 0) : given);
    AUTO_FREE char *local = NULL;
    if (str_empty(path))
        return 0;
    if (str_starts(path, "salt://")) {
        int rc = ctx_files(ctx) != NULL
                     ? fileclient_cache(ctx_files(ctx), path, value_str(args, "saltenv", "base"), &local, err)
                     : -ENOENT;
        if (rc < 0)
            return fail_kind(err, FAIL_COMMAND, rc, "identity file %s is not on the file server", path);
        path = local;
    }
    int there = fs_look(path, err);
    if (there <= 0)
        return there < 0 ? there
                         : fail_kind(err, FAIL_COMMAND, -ENOENT,
                                     "Unable to authenticate using identity file:\n\nThe following identity "
                                     "file(s) were not "
                                     "found: %s",
                                     path);
    AUTO_FREE char *quoted = str_shell_quote(path);
    AUTO_FREE char *ssh = xasprintf("GIT_SSH_COMMAND=ssh -i %s -o IdentitiesOnly=yes -o BatchMode=yes "
                                    "-o StrictHostKeyChecking=no -o PasswordAuthentication=no",
                                    quoted);
    prog_env(prog, ssh);
    return 0;
}

/* Unless soft, an exit code that is not 0 is an error with git's words. NEW {retcode, stdout, stderr}. */
json_t *
git_run(call_ctx_t *ctx, const json_t *args, prog_t *prog, unsigned flags, fail_t *err)
{
    bool quiet = (flags & (GIT_SOFT | GIT_QUIET)) != 0 || value_bool(args, "ignore_retcode", false);
    json_t *answer = tool_run(ctx, prog,
                              (quiet ? TOOL_QUIET : 0) | ((flags & GIT_MERGE) != 0 ? TOOL_MERGE : 0), err);

    if (answer == NULL || value_int(answer, "retcode", 1) == 0 || (flags & GIT_SOFT) != 0)
        return answer;

    /* "Command 'git fetch x' failed: ..." */
    const char *said = value_str(answer, (flags & GIT_MERGE) != 0 ? "stdout" : "stderr", "");
    buf_auto_t line = BUF_INIT;
    for (size_t i = 0; i < prog->n; i++)
        buf_printf(&line, "%s%s", i > 0 ? " " : "", i > 0 ? prog->argv[i] : "git");
    AUTO_FREE char *command = str_redacted(buf_str(&line)), *text = str_redacted(said);
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "Command '%s' failed%s%s", command, *text != '\0' ? ": " : "",
                     text);

    json_decref(answer);
    return NULL;
}

json_t *
git_text(call_ctx_t *ctx, const json_t *args, prog_t *prog, unsigned flags, fail_t *err)
{
    json_auto_t *answer = git_run(ctx, args, prog, flags, err);

    return answer != NULL ? json_incref(value_get(answer, "stdout")) : NULL;
}

json_t *
git_lines(json_t *text)
{
    json_t *list = json_array();
    char **lines = str_split(json_string_value(text), "\n", true);

    for (char **line = lines; *line != NULL; line++)
        json_array_append_new(list, value_utf8(*line, strlen(*line)));
    strv_free(lines);
    json_decref(text);
    return list;
}

json_t *
git_list_in(json_t *found, const char *key)
{
    if (value_get(found, key) == NULL)
        json_object_set_new(found, key, json_array());
    return value_get(found, key);
}

const char *
git_missing(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("git");

    return path != NULL ? NULL : "The git execution module is not loaded: the git binary is not in the path.";
}
