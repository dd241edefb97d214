/* prog.c - run programs for modules: argument vector, C locale, trimmed output; and split command lines as
 * shlex.split does.
 *
 * The C locale keeps the output parseable; LANG and LC_* of the daemon are removed, unless the caller sets
 * them. */
#include "common/host/prog.h"

#include "common/host/proc.h"
#include "common/base/str.h"
#include "salt/value.h"

extern char **environ;

void
prog_free(prog_t *self)
{
    strv_free(self->argv);
    strv_free(self->env);
    self->argv = self->env = NULL;
    self->n = self->n_env = 0;
}

/* TAKES `word`. */
static void
prog_push(char ***v, size_t *n, char *word)
{
    *v = xrealloc(*v, (*n + 2) * sizeof(**v));
    (*v)[(*n)++] = word;
    (*v)[*n] = NULL;
}

void
prog_add(prog_t *self, const char *word)
{
    prog_push(&self->argv, &self->n, xstrdup(word));
}

void
prog_addf(prog_t *self, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    prog_push(&self->argv, &self->n, xvasprintf(fmt, ap));
    va_end(ap);
}

void
prog_adds(prog_t *self, ...)
{
    va_list ap;

    va_start(ap, self);
    for (const char *word; (word = va_arg(ap, const char *)) != NULL;)
        prog_add(self, word);
    va_end(ap);
}

/* A list's items are words of their own; numbers are written as Python's str() does. */
void
prog_add_json(prog_t *self, const json_t *words)
{
    if (!json_is_array(words)) {
        prog_push(&self->argv, &self->n, value_pystr(words));
        return;
    }
    for (size_t i = 0; i < json_array_size(words); i++)
        prog_push(&self->argv, &self->n, value_pystr(json_array_get(words, i)));
}

void
prog_add_option(prog_t *self, const char *option, const json_t *value)
{
    prog_add(self, option);
    prog_push(&self->argv, &self->n, value_pystr(value));
}

/* Words of users that stand among a program's arguments must not be options of it. */
int
prog_check_operand(const char *argument, const char *word, fail_t *err)
{
    if (word[0] != '-' || word[1] == '\0')
        return 0;
    AUTO_FREE char *shown = str_redacted(word);
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "%s: '%s' begins with \"-\", so that a program would take it for an option; give another "
        "value, or a file's name with its folder: ./-NAME",
        argument, shown);
}

int
prog_check_operands(const char *argument, const json_t *words, fail_t *err)
{
    size_t n = json_is_array(words) ? json_array_size(words) : 1;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        AUTO_FREE char *word = value_pystr(json_is_array(words) ? json_array_get(words, i) : words);
        rc = prog_check_operand(argument, word, err);
    }
    return rc;
}

int
prog_operand(prog_t *self, const char *argument, const char *word, fail_t *err)
{
    int rc = prog_check_operand(argument, word, err);

    if (rc == 0)
        prog_add(self, word);
    return rc;
}

int
prog_operands(prog_t *self, const char *argument, const json_t *words, fail_t *err)
{
    int rc = prog_check_operands(argument, words, err);

    if (rc == 0)
        prog_add_json(self, words);
    return rc;
}

void
prog_env(prog_t *self, const char *assignment)
{
    prog_push(&self->env, &self->n_env, xstrdup(assignment));
}

/* True when the caller sets the variable itself. */
static bool
overridden(const prog_t *self, const char *assignment)
{
    for (size_t i = 0; i < self->n_env; i++) {
        const char *a = self->env[i];
        size_t n = strcspn(a, "=");
        if (n == strcspn(assignment, "=") && strncmp(a, assignment, n) == 0)
            return true;
    }
    return false;
}

int
prog_run(const prog_t *self, proc_result_t *res, fail_t *err)
{
    proc_spec_t spec = PROC_SPEC_INIT;

    salt_assert(self->n > 0);

    /* Builds the environment: inherited variables, the C locale, then the additions, which win. */
    char **env = NULL;
    size_t n = 0;
    for (char **e = environ; *e != NULL; e++) {
        if (!str_starts(*e, "LC_") && !str_starts(*e, "LANG") && !overridden(self, *e))
            prog_push(&env, &n, xstrdup(*e));
    }
    if (!overridden(self, "LC_ALL="))
        prog_push(&env, &n, xstrdup("LC_ALL=C"));
    for (size_t i = 0; i < self->n_env; i++)
        prog_push(&env, &n, xstrdup(self->env[i]));

    spec.argv = self->argv;
    spec.env = env;
    /* The user may have no access to the current folder. */
    spec.cwd = self->cwd == NULL && self->run_as != NULL ? "/" : self->cwd;
    spec.run_as = self->run_as;
    spec.in = self->in;
    spec.in_len = self->in != NULL ? strlen(self->in) : 0;
    spec.timeout_ms = self->timeout_ms;
    spec.merge_stderr = self->merge_stderr;
    int rc = proc_run(&spec, res, err);
    strv_free(env);
    return rc;
}

/* Length without trailing white space (Python's rstrip). */
static size_t
stripped_len(const buf_t *text)
{
    size_t len = text->len;

    while (len > 0 && memchr(" \t\n\v\f\r", text->data[len - 1], 6) != NULL)
        len--;
    return len;
}

/* NEW {"pid", "retcode", "stdout", "stderr"}, as cmd.run_all has it; NULL with *err when it did not start. */
json_t *
prog_run_all(const prog_t *self, fail_t *err)
{
    proc_result_t res = { 0 };
    json_t *ret = NULL;

    int rc = prog_run(self, &res, err);
    if (rc == 0 && res.timed_out)
        buf_printf(&res.errs, "%s%s was ended, as it took more than %d s", res.errs.len > 0 ? "\n" : "",
                   self->argv[0], self->timeout_ms / 1000);
    if (rc == 0)
        ret = json_pack("{s:I, s:i, s:o, s:o}", "pid", (json_int_t) res.pid, "retcode", res.status, "stdout",
                        value_utf8(buf_str(&res.out), stripped_len(&res.out)), "stderr",
                        value_utf8(buf_str(&res.errs), stripped_len(&res.errs)));
    proc_result_free(&res);
    return ret;
}

/* NEW output, whatever the exit code, which goes to *ret_code; NULL with *err when it did not start. */
char *
prog_stdout(const prog_t *self, int *ret_code, fail_t *err)
{
    proc_result_t res = { 0 };
    char *text = NULL;

    if (prog_run(self, &res, err) == 0) {
        json_auto_t *clean = value_utf8(buf_str(&res.out), stripped_len(&res.out));
        text = xstrdup(json_string_value(clean));
        if (ret_code != NULL)
            *ret_code = res.status;
    }
    proc_result_free(&res);
    return text;
}

int
prog_retcode(const prog_t *self, fail_t *err)
{
    proc_result_t res = { 0 };
    int rc = prog_run(self, &res, err);

    if (rc == 0)
        rc = res.status;
    proc_result_free(&res);
    return rc;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* Append a word at `p`. Returns the position behind it, or NULL when a quote or an escape is not finished. */
static const char *
prog_take_word(const char *p, buf_t *word)
{
    while (p != NULL && *p != '\0' && strchr(" \t\r\n", *p) == NULL) {
        if (*p == '\'' || *p == '"') {
            /* In double quotes a backslash escapes a quote or itself. */
            char quote = *p++;
            for (; *p != '\0' && *p != quote; p++) {
                if (quote == '"' && p[0] == '\\' && (p[1] == '"' || p[1] == '\\'))
                    p++;
                buf_putc(word, *p);
            }
            if (*p++ != quote)
                return NULL;
        } else if (*p == '\\') {
            if (p[1] == '\0')
                return NULL;
            buf_putc(word, p[1]);
            p += 2;
        } else {
            buf_putc(word, *p++);
        }
    }
    return p;
}

char **
prog_split(const char *line, fail_t *err)
{
    char **words = xcalloc(1, sizeof(*words));
    size_t n = 0;

    for (const char *p = line + strspn(line, " \t\r\n"); *p != '\0'; p += strspn(p, " \t\r\n")) {
        buf_auto_t word = BUF_INIT;
        p = prog_take_word(p, &word);
        if (p == NULL) {
            fail_set(err, -EINVAL, "%s",
                     strchr(line, '"') != NULL || strchr(line, '\'') != NULL ? "No closing quotation"
                                                                             : "No escaped character");
            strv_free(words);
            return NULL;
        }
        prog_push(&words, &n, buf_steal(&word));
    }
    return words;
}
