/* file_patch.c - state file.patch: a patch that is applied once. patch(1) runs first into a temporary output;
 * when that fails, a reversed dry run of the rejects tells whether the patch was applied before. A reject
 * that can be taken back is in the file already. The patch itself is fetched and rendered by file.managed, in
 * test mode too. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/output/outputter.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/file/text.h"

/* A run of file.patch. */
typedef struct work {
    fstate_t *s;
    json_t *options; /* list of the program's options, without -p */
    json_t *strip;   /* of -p and `strip`; NULL for none */
    bool dir;
    char *patch, *rejects, *output; /* temporary files; rejects may be the user's, but not in test mode */
    bool own_rejects;
} work_t;

/* ---- options --------------------------------------------------------------------------------- */

/* Options that the state itself needs. */
static bool
file_patch_is_ours(const char *option)
{
    static const char *const ours[] = { "-N", "--forward", "-r", "--reject-file", "-o", "--output" };

    for (size_t i = 0; i < NELEMS(ours); i++) {
        if (str_starts(option, ours[i]))
            return true;
    }
    return false;
}

/* -p and --strip override the argument `strip`. False: the state has failed. */
static bool
take_strip(work_t *w, const char *text, const char *option)
{
    long long n;

    if (text == NULL || !str_to_int(text, INT32_MIN, INT32_MAX, &n)) {
        state_ret_comment(w->s->ret,
                          value_fmt("Invalid format for '%s' CLI option. Consider using the 'strip' "
                                    "option for this state.",
                                    option));
        return false;
    }
    json_decref(w->strip);
    w->strip = json_integer(n);
    return true;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* {"pid", "retcode", "stdout", "stderr"}: NEW, or NULL with *err. `more`: options, TAKEN. */
static json_t *
run_patch(work_t *w, const char *patch, json_t *more, bool dry_run, fail_t *err)
{
    json_auto_t *extra = more;
    buf_auto_t options = BUF_INIT;
    json_t *lists[2] = { w->options, extra }, *one;
    size_t i;

    for (size_t k = 0; k < 2; k++) {
        json_array_foreach (lists[k], i, one) {
            AUTO_FREE char *quoted = str_shell_quote(json_string_value(one));
            buf_printf(&options, "%s%s", options.len > 0 ? " " : "", quoted);
        }
    }
    return fstate_call(w->s, file_patch,
                       json_pack("{s:s, s:s, s:s, s:b}", "originalfile", w->s->name, "patchfile", patch,
                                 "options", buf_str(&options), "dry_run", dry_run),
                       err);
}

/* Adds -pN for a patch of a folder; for a single file patch(1) is told its name. The same list. */
static json_t *
strip_option(const work_t *w, json_t *options)
{
    AUTO_FREE char *n = w->dir && w->strip != NULL ? value_pystr(w->strip) : NULL;

    if (n != NULL)
        json_array_append_new(options, value_fmt("-p%s", n));
    return options;
}

/* Tries, decides, and applies the patch. */
static int
file_patch_apply(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    json_auto_t *tried = run_patch(
        w, w->patch, strip_option(w, json_pack("[s, s, s, s, s]", "-N", "-r", w->rejects, "-o", w->output)),
        false, err);

    if (tried == NULL)
        return err->code;
    if (value_int(tried, "retcode", 0) != 0) {
        const char *complaint = value_str(tried, "stderr", "");
        json_auto_t *reversed = run_patch(w, w->rejects, json_pack("[s, s]", "-R", "-f"), true, err);
        if (reversed == NULL)
            return err->code;
        if (value_int(tried, "retcode", 0) == 2 && *complaint != '\0')
            return fstate_error(s, "%s", complaint);
        if (value_int(reversed, "retcode", 1) == 0)
            return state_ret_set(s->ret, STATE_TRUE, "Patch was already applied");

        /* Fails the state with the results of the trial. */
        const output_opts_t plain = OUTPUT_OPTS_INIT;
        buf_auto_t shown = BUF_INIT;
        output_nested_at(tried, &plain, 14, 0, &shown);
        return fstate_error(
            s, "Patch would not apply cleanly, no changes made. Results of dry-run are below.%s\n\n%s",
            fstate_str(s, "reject_file") == NULL
                ? " Run state again using the reject_file option to save rejects to a "
                  "persistent file."
                : "",
            buf_str(&shown));
    }
    if (s->test) {
        state_change_set(s->ret, json_incref(tried));
        return state_ret_set(s->ret, STATE_NONE, "The patch would be applied");
    }
    json_auto_t *done = run_patch(w, w->patch, strip_option(w, json_array()), false, err);
    if (done == NULL)
        return err->code;
    state_change_set(s->ret, json_incref(done));
    if (value_int(done, "retcode", 1) == 0)
        return state_ret_set(s->ret, STATE_TRUE, "Patch successfully applied");
    return fstate_error(s, "Failed to apply patch");
}

/* ---- before ---------------------------------------------------------------------------------- */

/* The patch itself as a file. 1: the state has failed. */
static int
fetch_patch(work_t *w, fail_t *err)
{
    static const char *const passed[] = { "source_hash", "source_hash_name", "skip_verify",
                                          "template",    "context",          "defaults" };
    fstate_t *s = w->s;
    AUTO_FREE char *source = NULL;
    json_auto_t *hash = NULL, *ret = NULL;
    fail_auto_t why = FAIL_INIT;

    if (source_pick(s->ctx, value_get(s->args, "source"), fstate_arg(s, "source_hash"), ctx_saltenv(s->ctx),
                    &source, &hash, &why) != 0) {
        fstate_error(s, "%s", fail_text(&why));
        return 1;
    }
    w->patch = content_temp(NULL, NULL, "", 0, err);
    if (w->patch == NULL)
        return err->code;
    /* The chunk's saltenv is the context's. */
    json_auto_t *args = json_pack("{s:s, s:s}", "name", w->patch, "source", source != NULL ? source : "");
    for (size_t i = 0; i < NELEMS(passed); i++) {
        if (fstate_arg(s, passed[i]) != NULL)
            json_object_set(args, passed[i], fstate_arg(s, passed[i]));
    }
    /* A test needs the patch to try it: only its temporary copy is written. */
    ctx_set_test(s->ctx, false);
    int rc = file_state_managed(s->ctx, args, &ret, err);
    ctx_set_test(s->ctx, s->test);
    if (rc != 0)
        return rc;
    if (s->test || value_truthy(value_get(ret, "result")))
        return 0;
    json_decref(s->ret);
    s->ret = json_incref(ret);
    return 1;
}

/* NULL, or what is wrong with the call. NEW. */
static char *
file_patch_fault(fstate_t *s)
{
    const char *reject = fstate_str(s, "reject_file");
    AUTO_FREE char *program = fs_which("patch");

    if (program == NULL)
        return xstrdup("patch executable not found on minion");
    if (*s->name != '/')
        return xasprintf("%s is not an absolute path", s->name);
    fail_auto_t why = FAIL_INIT;
    int there = fop_exists(s->name, &why);
    if (there <= 0)
        return there < 0 ? xstrdup(fail_text(&why)) : xasprintf("%s does not exist", s->name);
    if (reject == NULL)
        return NULL;
    AUTO_FREE char *folder = fop_dirname(reject);
    if (*folder != '/')
        return xasprintf("'%s' is not an absolute path", reject);
    int dir = fop_exists_as(folder, S_IFDIR, &why);
    if (dir < 0)
        return xstrdup(fail_text(&why));
    if (dir == 0)
        return xasprintf("Parent directory for reject_file '%s' either does not exist, or is not a directory",
                         reject);
    return NULL;
}

/* Rejects and output go to temporary files, which the caller removes; rejects to reject_file when given. */
static int
file_patch_run(work_t *w, fail_t *err)
{
    fstate_t *s = w->s;
    const char *reject = fstate_str(s, "reject_file");
    AUTO_FREE char *why = file_patch_fault(s);
    int rc;

    if (why != NULL)
        return fstate_error(s, "%s", why);
    if (value_get(value_get(s->args, "kwargs"), "hash") != NULL)
        state_ret_warn(s->ret, "The 'hash' argument is no longer used and has been ignored.");
    if (value_get(value_get(s->args, "kwargs"), "dry_run_first") != NULL)
        state_ret_warn(s->ret, "The 'dry_run_first' argument is no longer used and has been ignored.");
    json_object_set_new(s->ret, "result", json_false());

    /* Reads the options; one that is not allowed fails the state. */
    json_t *given = fstate_arg(w->s, "options");
    AUTO_FREE char *line = given != NULL ? value_pystr(given) : xstrdup("");
    fail_auto_t failed = FAIL_INIT;
    buf_auto_t refused = BUF_INIT;
    char **words = prog_split(line, &failed);
    bool ok = words != NULL;
    if (!ok)
        fstate_error(w->s, "%s", fail_text(&failed));
    for (char **word = words; ok && *word != NULL; word++) {
        if (file_patch_is_ours(*word))
            buf_printf(&refused, "%s%s", refused.len > 0 ? ", " : "", *word);
        if (str_starts(*word, "-p"))
            ok = take_strip(w, *word + 2, "-p");
        else if (str_starts(*word, "--strip=") || strcmp(*word, "--strip") == 0)
            ok = take_strip(w, (*word)[7] == '=' ? *word + 8 : *++word, "-strip");
        else
            json_array_append_new(w->options, value_utf8(*word, strlen(*word)));
        if (*word == NULL)
            break;
    }
    strv_free(words);
    if (ok && refused.len > 0)
        fstate_error(w->s, "The following CLI options are not allowed: %s", buf_str(&refused));
    if (!ok || refused.len != 0)
        return 0;

    if ((rc = fetch_patch(w, err)) != 0)
        return rc < 0 ? rc : 0;
    w->own_rejects = reject == NULL || s->test;
    w->rejects = w->own_rejects ? content_temp(NULL, NULL, "", 0, err) : xstrdup(reject);
    w->output = content_temp(NULL, NULL, "", 0, err);
    return w->rejects == NULL || w->output == NULL ? err->code : file_patch_apply(w, err);
}

static int
patch_body(fstate_t *s, fail_t *err)
{
    json_t *strip = fstate_arg(s, "strip");
    work_t w = { .s = s, .options = json_array(), .strip = strip != NULL ? json_incref(strip) : NULL };

    int dir = fstate_is_dir(s, s->name);
    w.dir = dir > 0;
    int rc = dir < 0 ? 0 : file_patch_run(&w, err);
    char *temporary[] = { w.patch, w.own_rejects ? w.rejects : NULL, w.output };
    for (size_t i = 0; i < NELEMS(temporary); i++) {
        if (temporary[i] != NULL)
            unlink(temporary[i]);
    }
    free(w.patch);
    free(w.rejects);
    free(w.output);
    json_decref(w.options);
    json_decref(w.strip);
    return rc;
}

static FILE_STATE(file_state_patch, "A file/directory to be patched is required", patch_body);

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t patch_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "The file or folder to patch"),
    STATE_ANY("source", "null", "URL or path of the patch; of a list the first that exists"),
    STATE_ANY("source_hash", "null", "Digest, TYPE=DIGEST, or a file of sums"),
    STATE_ANY("source_hash_name", "null", "Name to look for in a file of sums"),
    STATE_ANY("skip_verify", "false", "Take a source from outside without a digest"),
    STATE_TEXT("template", "null", "jinja: the patch is a template"),
    STATE_ANY("context", "null", "Variables of the template"),
    STATE_ANY("defaults", "null", "Variables of the template that context overrides"),
    STATE_ANY("options", "\"\"", "Options of the program patch"),
    STATE_TEXT("reject_file", "null", "Where hunks go that can't be applied"),
    STATE_ANY("strip", "null", "How many folders to take from the names in a patch of a folder"),
    STATE_TEXT("saltenv", "null", "Environment of the source"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "hash and dry_run_first are told to be out of use",
        "hash dry_run_first"),
    ARGS_END
};

static const func_t funcs[] = {
    { "patch", file_state_patch, patch_args, 0,
      "Make sure that a patch is applied to a file or folder.\n\nThe program patch does it; a patch that was "
      "applied before is not a change." },
};

PLUGIN(state, file_patch, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
