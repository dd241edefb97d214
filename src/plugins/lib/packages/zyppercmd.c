/* zyppercmd.c - how zypper is run: options, exit codes, waiting for its lock. */
#include <poll.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"

enum { LOCKED = 7, NOT_FOUND = 104 };
enum { LOCK_WAIT_MS = 5000, LOCK_TRIES = 360 }; /* half an hour */

/* As an argument or a keyword; NULL for this system. */
const char *
zypper_root(const json_t *args)
{
    const char *root = value_str(args, "root", value_str(value_get(args, "kwargs"), "root", ""));

    return *root != '\0' ? root : NULL;
}

/* ZYPP_READONLY_HACK lets a query run while another zypper has the lock. */
int
zypper_begin(call_ctx_t *ctx, prog_t *prog, unsigned flags, const char *root, fail_t *err)
{
    if (tool_need("zypper", err) < 0)
        return err->code;
    if ((flags & ZYPPER_SCOPE) && pkg_wants_scope(ctx))
        prog_adds(prog, "systemd-run", "--scope", NULL);
    prog_adds(prog, "zypper", "--non-interactive", NULL);
    if (flags & ZYPPER_XML)
        prog_add(prog, "--xmlout");
    if (!(flags & ZYPPER_REFRESHES))
        prog_add(prog, "--no-refresh");
    if (root != NULL)
        prog_adds(prog, "--root", root, NULL);
    if ((flags & ZYPPER_READS) && !(flags & ZYPPER_REFRESHES))
        prog_env(prog, "ZYPP_READONLY_HACK=1");
    return 0;
}

/* 100 to 103 tell that patches or a restart are due. */
bool
zypper_went_well(int code)
{
    return code == 0 || (code >= 100 && code <= 103);
}

/* What zypper says about a failure. NEW text. */
static char *
zyppercmd_complaint(const json_t *out, bool xml)
{
    const char *text = value_str(out, "stdout", ""), *errors = value_str(out, "stderr", "");
    json_auto_t *tags = xml ? xmltags_read(text) : json_array(), *messages = xmltags_named(tags, "message");
    buf_auto_t said = BUF_INIT;
    json_t *message;
    size_t i;

    json_array_foreach (messages, i, message) {
        if (str_eq(xmltags_attr(message, "type"), "error"))
            buf_printf(&said, "%s%s", said.len > 0 ? "\n" : "", value_str(message, "text", ""));
    }
    if (!xml || json_array_size(tags) == 0)
        buf_printf(&said, "%s%s", errors, xml ? "" : text);
    return xstrdup(said.len > 0 ? buf_str(&said) : "Check Zypper's logs.");
}

/* Tells the master who waits for the lock, and that it is free. Nobody need listen. */
static void
zyppercmd_tell(call_ctx_t *ctx, const char *tag, bool success, const char *info)
{
    fail_auto_t none = FAIL_INIT;
    json_auto_t *data = json_pack("{s:b, s:s}", "success", success, "info", info);

    (void) ctx_fire(ctx, tag, data, &none);
}

/* Waits for the lock as long as another zypper has it, at most half an hour. The code becomes the job's
 * unless a failure is allowed. */
json_t *
zypper_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    bool waited = false;
    json_auto_t *out = prog_run_all(prog, err);

    for (int n = 0; out != NULL && n < LOCK_TRIES && value_int(out, "retcode", 0) == LOCKED; n++) {
        if (!waited)
            zyppercmd_tell(ctx, "zypper/blocked", false, "Zypper is locked by another process.");
        waited = true;
        (void) poll(NULL, 0, LOCK_WAIT_MS);
        json_decref(out);
        out = prog_run_all(prog, err);
    }
    if (out == NULL)
        return NULL;
    int code = (int) value_int(out, "retcode", 0);
    /* Codes that Salt takes for warnings: no repositories, the lock, a repository that failed, failed scripts of
     * packages. */
    bool warning = code == 6 || code == LOCKED || code == 106 || code == 107;
    bool missing = code == NOT_FOUND && (flags & ZYPPER_MAY_MISS), bad = !zypper_went_well(code) && !warning;
    AUTO_FREE char *said = bad ? zyppercmd_complaint(out, (flags & ZYPPER_XML) != 0) : NULL;
    if (waited)
        zyppercmd_tell(ctx, "zypper/released", !bad, bad ? said : "Zypper has been released");
    if (!(flags & ZYPPER_MAY_FAIL))
        ctx_set_retcode(ctx, missing ? 0 : code);
    if (bad && !missing && !(flags & ZYPPER_MAY_FAIL)) {
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Zypper command failure: %s", said);
        return NULL;
    }
    return STEAL(out);
}

/* The command's XML as a list of tags; see xmltags.h. NEW, or NULL with *err. */
json_t *
zypper_elements(call_ctx_t *ctx, unsigned flags, const char *root, fail_t *err, ...)
{
    prog_auto_t prog = PROG_INIT;
    const char *word;
    va_list ap;

    if (zypper_begin(ctx, &prog, flags | ZYPPER_XML, root, err) < 0)
        return NULL;
    va_start(ap, err);
    while ((word = va_arg(ap, const char *)) != NULL)
        prog_add(&prog, word);
    va_end(ap);
    json_auto_t *out = zypper_run(ctx, &prog, flags | ZYPPER_XML, err);
    return out != NULL ? xmltags_read(value_str(out, "stdout", "")) : NULL;
}

/* The mark of states is removed first, so that a refresh that fails is not tried again by each of them. */
json_t *
zypper_refresh(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    json_t *force = value_get(args, "force"), *repos = value_get(kwargs, "repos"), *set;
    AUTO_FREE char *mark = xasprintf("%s/pkg_refresh",
                                     value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"));
    unsigned flags = ZYPPER_REFRESHES;
    prog_auto_t prog = PROG_INIT;

    (void) remove(mark);
    if (force == NULL || json_is_null(force)) {
        set = value_get(value_get(ctx_pillar(ctx), "zypper"), "refreshdb_force");
        force = set != NULL ? set : json_true();
    }
    if (zypper_begin(ctx, &prog, flags, zypper_root(args), err) < 0)
        return NULL;
    if (value_truthy(value_get(kwargs, "gpgautoimport")))
        prog_add(&prog, "--gpg-auto-import-keys");
    prog_add(&prog, "refresh");
    if (value_truthy(force))
        prog_add(&prog, "--force");
    if (value_truthy(repos) && prog_operands(&prog, "repos", repos, err) < 0)
        return NULL;
    json_auto_t *out = zypper_run(ctx, &prog, flags, err);
    if (out == NULL)
        return NULL;
    json_t *ret = json_object();
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *one; (one = strsep(&at, "\n")) != NULL;) {
        /* "Repository 'x' is up to date." is False, "Building repository 'x' cache ....[done]" True. */
        char *said = str_trim(one), *open = strchr(said, '\''),
             *close = open != NULL ? strchr(open + 1, '\'') : NULL;
        if (close == NULL)
            continue;
        AUTO_FREE char *name = xstrndup(open + 1, (size_t) (close - open - 1));
        if (str_starts(said, "Repository") && strstr(said, "is up to date") != NULL)
            json_object_set_new(ret, str_trim(name), json_false());
        else if (str_starts(said, "Building") && strstr(said, "done") != NULL)
            json_object_set_new(ret, str_trim(name), json_true());
    }
    return ret;
}

/* {repository: True when it was built anew}. */
int
zypper_refresh_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = zypper_refresh(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* `zypper ps -sss` prints names of services alone. */
int
zypper_services_need_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (zypper_begin(ctx, &prog, ZYPPER_READS, zypper_root(args), err) < 0)
        return err->code;
    prog_adds(&prog, "ps", "-sss", NULL);
    json_auto_t *out = zypper_run(ctx, &prog, ZYPPER_READS, err);
    if (out == NULL)
        return err->code;
    char **words = str_split(value_str(out, "stdout", ""), " \t\n", true);
    *ret_value = json_array();
    for (char **word = words; *word != NULL; word++)
        json_array_append_new(*ret_value, json_string(*word));
    strv_free(words);
    return 0;
}
