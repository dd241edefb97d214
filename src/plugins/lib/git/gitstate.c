/* gitstate.c - see gitstate.h: what states of `git` share: comments that gather, failures with the changes so
 * far, calls of the module's functions, and looks at the target folder. */
#include "plugins/lib/git/gitstate.h"

#include "common/base/fs.h"
#include "common/base/str.h"

void
gitstate_note(gitstate_t *self, const char *fmt, ...)
{
    va_list ap;

    buf_puts(&self->comments, self->n_comments > 0 ? ". " : "");
    va_start(ap, fmt);
    buf_vprintf(&self->comments, fmt, ap);
    va_end(ap);
    self->n_comments++;
}

const char *
gitstate_notes(gitstate_t *self)
{
    if (self->n_comments > 1 && !str_ends(buf_str(&self->comments), "."))
        buf_putc(&self->comments, '.');
    return buf_str(&self->comments);
}

int
gitstate_fail(gitstate_t *self, const char *text)
{
    bool more = self->n_comments > 0;

    return state_ret_set(self->ret, STATE_FALSE, "%s%s%s", text, more ? "\n\nChanges already made: " : "",
                         more ? gitstate_notes(self) : "");
}

int
gitstate_failed(gitstate_t *self, const char *before)
{
    const char *text = fail_text(self->err), *said = strstr(text, "' failed: ");

    if (self->err->kind != FAIL_COMMAND)
        return self->err->code;
    AUTO_FREE char *whole = xasprintf(
        "%s%s", before, str_starts(text, "Command '") && said != NULL ? said + strlen("' failed: ") : text);
    fail_clear(self->err);
    return gitstate_fail(self, whole);
}

/* TAKES more. NEW, or NULL with *err. */
json_t *
gitstate_call(gitstate_t *self, const char *fun, json_t *more, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s?, s:O, s:O}", "cwd", self->target, "user",
                                    value_get(self->args, "user"), "password",
                                    value_get(self->args, "password"));
    json_t *value = NULL;

    json_object_update(kwargs, more);
    json_decref(more);
    return ctx_call(self->ctx, fun, NULL, kwargs, &value, err) == 0 ? value : NULL;
}

/* A failure is not an error of the state: NULL. */
json_t *
gitstate_soft(gitstate_t *self, const char *fun, json_t *more)
{
    fail_auto_t err = FAIL_INIT;

    more = more != NULL ? more : json_object();
    json_object_set_new(more, "ignore_retcode", json_true());
    return gitstate_call(self, fun, more, &err);
}

json_t *
gitstate_access(const gitstate_t *self)
{
    static const char *const names[] = { "identity", "https_user", "https_pass" };
    json_t *kwargs = json_object();

    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_set(kwargs, names[i], value_get(self->args, names[i]));
    json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(self->ctx)));
    return kwargs;
}

/* 1, 0, or negative with *err. */
int
gitstate_is_checkout(gitstate_t *self, const char *dot)
{
    AUTO_FREE char *path = fs_join(self->target, dot);
    int there = fs_look_dir(path, self->err);

    if (there != 0)
        return there;
    json_auto_t *worktree = gitstate_call(self, "git.is_worktree", json_pack("{s:b}", "ignore_retcode", 1),
                                          self->err);
    return worktree != NULL ? json_is_true(worktree) : self->err->code;
}

int
gitstate_is_empty(const gitstate_t *self)
{
    char **names = NULL;
    int rc = fs_names(self->target, &names, self->err);

    if (rc == 0)
        rc = names[0] == NULL;
    strv_free(names);
    return rc;
}

/* Removes all that is in the target. 0; 1 when the return is made; or negative. */
int
gitstate_empty(gitstate_t *self)
{
    char **names = NULL;
    buf_auto_t errors = BUF_INIT;

    if (fs_names(self->target, &names, self->err) < 0)
        return self->err->code;
    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(self->target, names[i]);
        fail_auto_t why = FAIL_INIT;
        if (fs_remove_tree(path, &why) < 0)
            buf_printf(&errors, "\n  %s\n    %s", path, fail_text(&why));
    }
    strv_free(names);
    if (errors.len == 0) {
        state_change(self->ret, "forced clone", json_true());
        return 0;
    }
    AUTO_FREE char *text = xasprintf("Unable to remove%s", buf_str(&errors));
    (void) gitstate_fail(self, text);
    return 1;
}
