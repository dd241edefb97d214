/* at.c - execution module `at`: jobs that run once at a later time, by at(1), atq and atrm's option -d. A
 * tag is a comment at the head of a job's script, so that it survives in the queue; atq does not show it,
 * so each job is printed (at -c) to find its tag. */
#include <ctype.h>
#include <limits.h>
#include <time.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"

#define TAG_HEAD "### SALT: "

enum { AT_TIMEOUT_S = 60 };

/* ---- the queue ---------------------------------------------------------------------------------- */

/* The tag in a job's script, letters, digits and _; "" for none. The last one counts, as in Salt: the
 * script before it is the environment. NEW. */
static char *
tag_of(const char *script)
{
    char *tag = xstrdup("");
    char **lines = str_split(script, "\n", true);

    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *word = lines[i] + strlen(TAG_HEAD);
        size_t n = 0;
        while (str_starts(lines[i], TAG_HEAD) && (isalnum((unsigned char) word[n]) || word[n] == '_'))
            n++;
        if (n > 0) {
            free(tag);
            tag = xstrndup(word, n);
        }
    }
    strv_free(lines);
    return tag;
}

/* A job of a line of atq: "4\tFri Nov 27 12:00:00 2026 a root", or "4\t2026-11-27 12:00 a root" of older
 * ones. NEW; NULL for another line. */
static json_t *
job_of(const char *line)
{
    char **word = str_split(line, " \t", true);
    size_t n = strv_len(word);
    long long number;
    json_t *job = NULL;

    if (n > 0 && str_to_int(word[0], 0, INT_MAX, &number) && n == 5)
        job = json_pack("{s:I, s:s, s:s, s:s, s:s}", "job", (json_int_t) number, "date", word[1], "time",
                        word[2], "queue", word[3], "user", word[4]);
    else if (n == 8 && str_to_int(word[0], 0, INT_MAX, &number)) {
        AUTO_FREE char *when = xasprintf("%s %s %s %s", word[2], word[3], word[4], word[5]);
        struct tm tm = { .tm_year = 0 };
        char day[64], clock[32];
        if (strptime(when, "%b %d %H:%M:%S %Y", &tm) != NULL) {
            strftime(day, sizeof(day), "%Y-%m-%d", &tm);
            /* at knows minutes alone; seconds are shown as 00, as in Salt. */
            strftime(clock, sizeof(clock), "%H:%M:00", &tm);
            job = json_pack("{s:I, s:s, s:s, s:s, s:s}", "job", (json_int_t) number, "date", day, "time",
                            clock, "queue", word[6], "user", word[7]);
        }
    }
    strv_free(word);
    return job;
}

/* The jobs with a tag or a number, NULL for all: a list. NEW, or NULL with *err. */
static json_t *
queued_jobs(call_ctx_t *ctx, const char *wanted, fail_t *err)
{
    /* Red Hat's at has the same list under an option. */
    bool redhat = str_eq(value_str(ctx_grains(ctx), "os_family", ""), "RedHat");
    json_auto_t *list = redhat ? json_pack("[s, s]", "at", "-l") : json_pack("[s]", "atq");
    json_auto_t *ran = tool_words(ctx, list, NULL, NULL, 0, AT_TIMEOUT_S, err), *jobs = json_array();
    char **lines = ran != NULL ? str_split(value_str(ran, "stdout", ""), "\n", true) : NULL;

    for (size_t i = 0; lines != NULL && lines[i] != NULL && err->code == 0; i++) {
        json_auto_t *job = job_of(lines[i]);
        if (job == NULL) {
            /* A job left out would be one that atrm does not remove. */
            (void) fail_kind(err, FAIL_COMMAND, -EPROTO, "atq says '%s', which is no job", lines[i]);
            break;
        }
        AUTO_FREE char *number = value_pystr(value_get(job, "job"));
        json_auto_t *show = json_pack("[s, s, s]", "at", "-c", number);
        json_auto_t *script = tool_words(ctx, show, NULL, NULL, TOOL_QUIET, AT_TIMEOUT_S, err);
        AUTO_FREE char *tag = tag_of(value_str(script, "stdout", ""));
        json_object_set_new(job, "tag", json_string(tag));
        if (wanted == NULL || strcmp(wanted, tag) == 0 || strcmp(wanted, number) == 0)
            json_array_append(jobs, job);
    }
    strv_free(lines);
    return ran != NULL && err->code == 0 ? json_incref(jobs) : NULL;
}

static int
at_atq(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *wanted = value_pystr(value_get(args, "tag"));
    json_t *jobs = queued_jobs(ctx, value_truthy(value_get(args, "tag")) ? wanted : NULL, err);

    if (jobs == NULL)
        return err->code;
    *ret_value = json_pack("{s:o}", "jobs", jobs);
    return 0;
}

/* ---- adding and removing ------------------------------------------------------------------------ */

/* Queues the command; the answer has the new job as atq shows it. Too few arguments are an answer without
 * jobs, as in Salt. */
static int
at_at(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *words = value_get(args, "args"), *runas = value_get(args, "runas"), *job;
    AUTO_FREE char *when = value_pystr(json_array_get(words, 0)), *tag = value_pystr(value_get(args, "tag"));
    json_auto_t *rest = json_copy(words);

    if (json_array_size(words) < 2) {
        *ret_value = json_pack("{s:[]}", "jobs");
        return 0;
    }
    json_array_remove(rest, 0);
    AUTO_FREE char *command = value_joined(rest, " ");
    /* at reads the commands from its standard input. */
    AUTO_FREE char *script = value_truthy(value_get(args, "tag")) ? xasprintf(TAG_HEAD "%s\n%s", tag, command)
                                                                  : xstrdup(command);
    if (prog_check_operand("timespec", when, err) < 0 || field_check_text("tag", tag, FIELD_LINE, err) < 0)
        return err->code;
    /* `runas`: at takes the user who calls it for the job's owner. */
    json_auto_t *ran = sub_call(ctx, err, "cmd.run_all", "{s:[s, s], s:s, s:O, s:b, s:b, s:i}", "cmd", "at",
                                when, "stdin", script, "runas", runas, "python_shell", 0, "redirect_stderr",
                                1, "timeout", (int) AT_TIMEOUT_S);
    if (ran == NULL)
        return err->code;
    const char *said = value_str(ran, "stdout", "");
    if (strstr(said, "Garbled time") != NULL) {
        *ret_value = json_pack("{s:[], s:s}", "jobs", "error", "invalid timespec");
        return 0;
    }
    /* Warnings come before "job 4 at Fri Nov 27 12:00:00 2026". */
    const char *line = str_starts(said, "job ") ? said : strstr(said, "\njob ");
    if (line == NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", said);
    const char *at = strchr(line, ' ') + 1;
    AUTO_FREE char *number = xstrndup(at, strcspn(at, " "));
    job = queued_jobs(ctx, number, err);
    if (job == NULL)
        return err->code;
    *ret_value = json_pack("{s:o}", "jobs", job);
    return 0;
}

/* Removes jobs by their numbers, all of them ("all"), or all with a tag ("all TAG"). The answer names those
 * that were found. */
static int
at_atrm(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *words = value_get(args, "args"), *one, *tag = NULL;
    AUTO_FREE char *first = value_pystr(json_array_get(words, 0)),
                   *second = value_pystr(json_array_get(words, 1));
    bool is_all = json_array_size(words) > 0 && strcmp(first, "all") == 0;
    bool by_tag = is_all && json_array_size(words) > 1;
    json_auto_t *jobs = NULL, *named = json_array(), *removed = json_array(),
                *line = json_pack("[s, s]", "at", "-d");
    size_t i;

    if (json_array_size(words) > 0 && (jobs = queued_jobs(ctx, by_tag ? second : NULL, err)) == NULL)
        return err->code;
    json_array_foreach (words, i, one) {
        AUTO_FREE char *word = value_pystr(one);
        json_array_append_new(named, json_string(word));
    }
    json_array_foreach (jobs, i, one) {
        AUTO_FREE char *number = value_pystr(value_get(one, "job"));
        if (is_all || value_lists(named, number))
            json_array_append_new(removed, json_string(number));
    }
    tag = by_tag ? json_string(second) : json_null();
    *ret_value = json_pack("{s:{s:O, s:o}}", "jobs", "removed", removed, "tag", tag);
    if (json_array_size(removed) == 0)
        return 0;
    json_array_extend(line, removed);
    json_auto_t *ran = tool_words(ctx, line, NULL, NULL, TOOL_MERGE, AT_TIMEOUT_S, err);
    if (ran != NULL && value_int(ran, "retcode", 1) != 0)
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stdout", ""));
    if (err->code != 0) {
        json_decref(*ret_value);
        *ret_value = NULL;
    }
    return err->code;
}

/* The script of a job, environment and all. */
static int
at_atc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *number = value_pystr(value_get(args, "jobid"));
    json_auto_t *line = json_pack("[s, s, s]", "at", "-c", number);

    if (prog_check_operand("jobid", number, err) < 0)
        return err->code;
    json_auto_t *ran = tool_words(ctx, line, NULL, NULL, 0, AT_TIMEOUT_S, err);
    if (ran == NULL)
        return err->code;
    *ret_value = *value_str(ran, "stdout", "") != '\0'
                     ? json_incref(value_get(ran, "stdout"))
                     : json_pack("{s:o}", "error", value_fmt("invalid job id '%s'", number));
    return 0;
}

/* ---- searching ------------------------------------------------------------------------------------ */

/* True when the job has what is asked for: numbers are compared with the fields of its date and time. */
static bool
job_fits(const json_t *job, const json_t *asked)
{
    static const struct {
        const char *word, *key;
        size_t field;
    } parts[] = {
        { "hour", "time", 0 }, { "minute", "time", 1 }, { "day", "date", 2 }, { "month", "date", 1 },
        { "year", "date", 0 }, { "runas", "user", 0 },  { "tag", "tag", 0 },
    };

    for (size_t i = 0; i < NELEMS(parts); i++) {
        AUTO_FREE char *want = value_pystr(value_get(asked, parts[i].word));
        const char *whole = value_str(job, parts[i].key, "");
        bool is_number = strcmp(parts[i].key, "time") == 0 || strcmp(parts[i].key, "date") == 0;
        long long a = 0, b = -1;
        if (!value_truthy(value_get(asked, parts[i].word)))
            continue;
        if (!is_number && strcmp(want, whole) != 0)
            return false;
        char **field = is_number ? str_split(whole, ":-", false) : NULL;
        bool fits = !is_number ||
                    (strv_len(field) > parts[i].field && str_to_int(want, 0, 9999, &a) &&
                     str_to_int(field[parts[i].field], 0, 9999, &b) &&
                     (a == b || (strcmp(parts[i].word, "year") == 0 && a < 100 && a + 2000 == b)));
        strv_free(field);
        if (!fits)
            return false;
    }
    return true;
}

/* The jobs that have all of what is asked for. The error's text for a call without a condition is Salt's,
 * word by word. */
static int
at_jobcheck(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *asked = value_get(args, "kwargs"), *job;
    json_auto_t *jobs = NULL, *found = json_array();
    size_t i;

    if (json_object_size(asked) == 0) {
        *ret_value = json_pack("{s:s}", "error", "You have given a condition");
        return 0;
    }
    if ((jobs = queued_jobs(ctx, NULL, err)) == NULL)
        return err->code;
    json_array_foreach (jobs, i, job)
        if (job_fits(job, asked))
            json_array_append(found, job);
    *ret_value = json_pack("{s:O}", "jobs", found);
    if (json_array_size(found) == 0 && json_array_size(jobs) > 0)
        json_object_set_new(*ret_value, "note", json_string("No match jobs or time format error"));
    return 0;
}

static const char *
exec_at_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("at");

    return path != NULL ? NULL : "The at module could not be loaded: at command not found";
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t atq_args[] = { ARG("tag", ARG_ANY, "null", "Only jobs with this tag, or this number"),
                                  ARGS_END };
static const arg_t atrm_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Numbers of jobs; or all, or all and a tag"), ARGS_END
};
static const arg_t at_args[] = { ARG("args", ARG_ANY, ARG_STAR, "When, as at(1) takes it, and the command"),
                                 ARG("tag", ARG_ANY, "null", "A word to find the job by"),
                                 ARG("runas", ARG_STR, "null", "Whose job"), ARGS_END };
static const arg_t atc_args[] = { ARG("jobid", ARG_ANY, ARG_REQUIRED, "The job's number"), ARGS_END };
static const arg_t jobcheck_args[] = { ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                           "hour, minute, day, month, year, tag, runas",
                                           "hour minute day month year tag runas"),
                                       ARGS_END };

static const func_t funcs[] = {
    { "at", at_at, at_args, 0,
      "Add a job. Return it." CLI_EXAMPLE(
          "salt '*' at.at '3:05am +3 days' 'bin/myscript' tag=nightly runas=jim") },
    { "atc", at_atc, atc_args, FN_READONLY, "Return the script of a job." CLI_EXAMPLE("salt '*' at.atc 4") },
    { "atq", at_atq, atq_args, FN_READONLY,
      "Return the jobs that wait or run." CLI_EXAMPLE("salt '*' at.atq nightly") },
    { "atrm", at_atrm, atrm_args, 0,
      "Remove jobs." CLI_EXAMPLE("salt '*' at.atrm 4 5\n    salt '*' at.atrm all nightly") },
    { "jobcheck", at_jobcheck, jobcheck_args, FN_READONLY,
      "Return the jobs that fit." CLI_EXAMPLE("salt '*' at.jobcheck day=13 month=12 tag=rose") },
};

PLUGIN(exec, at, .doc = "Jobs that run once later", FUNCS(funcs), .unavailable = exec_at_unavailable);
