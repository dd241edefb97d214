/* extracted_options.c - see extracted.h: the arguments, before anything is fetched. They are looked at in
 * Salt's order, so that of several faults the same one is told. */
#include "plugins/lib/archive/extracted.h"

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/transfer/fetch.h"

/* An argument that may be left out, but not relative: there is no folder that it would be relative to. */
static bool
is_abs_or_none(const json_t *path)
{
    return path == NULL || *json_string_value(path) == '/';
}

/* The destination, and options that contradict each other. 0 with x->name, which ends in "/", as Salt's
 * comments show it. */
static int
check_name(extracted_t *x)
{
    const char *name = value_str(x->args, "name", "");
    size_t n = strlen(name);

    if (extracted_asked(x, "skip_files_list_verify") && extracted_asked(x, "skip_verify"))
        return extracted_fail(
            x, "Only one of \"skip_files_list_verify\" and \"skip_verify\" can be set to True");
    if (extracted_extra(x, "keep_source") != NULL && extracted_extra(x, "keep") != NULL)
        state_ret_warn(x->ret, "Both 'keep_source' and 'keep' were used. Since these both do the same thing, "
                               "'keep' was ignored.");
    if (*name != '/')
        return extracted_fail(x, "%s is not an absolute path", name);
    while (n > 0 && name[n - 1] == '/')
        n--;
    AUTO_FREE char *bare = xstrndup(name, n);
    int file = fs_look_file(n > 0 ? bare : "/", x->err);
    if (file < 0)
        return file;
    if (file > 0)
        return extracted_fail(x, "%s exists and is not a directory", bare);
    x->name = xasprintf("%s/", bare);
    if (!is_abs_or_none(extracted_arg(x, "if_missing")))
        return extracted_fail(x, "Value for 'if_missing' is not an absolute path");
    json_t *place = extracted_arg(x, "enforce_ownership_on");
    if (!is_abs_or_none(place))
        return extracted_fail(x, "Value for 'enforce_ownership_on' is not an absolute path");
    AUTO_FREE char *path = place != NULL ? fop_normpath(json_string_value(place)) : NULL;
    AUTO_FREE char *with = place != NULL ? xasprintf("%s/", path) : NULL;
    /* Both are normalized first: "..", or a folder that only begins with the same letters, would be
     * outside. */
    AUTO_FREE char *top = fop_normpath(x->name), *below = xasprintf("%s/", strcmp(top, "/") == 0 ? "" : top);
    if (place != NULL && !str_starts(with, below))
        return extracted_fail(x, "Value for 'enforce_ownership_on' must be within %s", x->name);
    return 0;
}

/* An unfinished run's files are not all there, whatever `if_missing` says. The note of such a run is removed
 * when it has finished; while it is there the archive is extracted again. 1: there is nothing to do. */
static int
check_if_missing(extracted_t *x)
{
    json_t *path = extracted_arg(x, "if_missing");
    AUTO_FREE char *id = digest_bytes("sha256", x->name, strlen(x->name), x->err);

    if (id == NULL)
        return x->err->code;
    x->note = fetch_cache_place(x->ctx, "archive_unfinished", id);
    int left = fs_look(x->note, x->err);
    int there = left >= 0 && path != NULL ? fop_exists(json_string_value(path), x->err) : left;
    if (there < 0)
        return there;
    x->unfinished = left > 0;
    if (path == NULL || there == 0 || x->unfinished)
        return 0;
    state_ret_set(x->ret, STATE_TRUE, "Path %s exists", json_string_value(path));
    return 1;
}

/* Numbers of the user and the group. A name that does not exist yet fails here, before the archive has
 * changed anything. */
static int
check_owner(extracted_t *x)
{
    json_t *user = extracted_arg(x, "user"), *group = extracted_arg(x, "group");
    AUTO_FREE char *user_text = value_pystr(user), *group_text = value_pystr(group);

    x->uid = (uid_t) -1;
    x->gid = (gid_t) -1;
    if (value_truthy(user) && !fop_uid_of(user, &x->uid))
        return extracted_fail(x, "User %s does not exist", user_text);
    if (value_truthy(group) && !fop_gid_of(group, &x->gid))
        return extracted_fail(x, "Group %s does not exist", group_text);
    return 0;
}

/* The first source of a list that is there, with its hash. A local one is read where it is; a copy in the
 * cache would be of no use. */
static int
pick_source(extracted_t *x)
{
    json_t *source = value_get(x->args, "source");
    json_auto_t *hash = NULL;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = value_pystr(source);

    if (extracted_asked(x, "source_hash_update") && !extracted_asked(x, "source_hash"))
        state_ret_warn(x->ret, "The 'source_hash_update' argument is ignored when 'source_hash' is not also "
                               "specified.");
    if (source_pick(x->ctx, source, value_get(x->args, "source_hash"), ctx_saltenv(x->ctx), &x->source, &hash,
                    &why) < 0)
        return extracted_fail(x, "%s", fail_text(&why));
    if (str_empty(x->source))
        return extracted_fail(x, "Invalid source \"%s\"", text);
    AUTO_FREE char *scheme = source_scheme(x->source);
    x->local = *scheme == '\0' || strcmp(scheme, "file") == 0;
    if (x->local) {
        const char *path = str_starts(x->source, "file://") ? x->source + strlen("file://") : x->source;
        AUTO_FREE char *wide = fop_expanduser(path);
        free(x->source);
        x->source = fop_realpath(wide);
    }
    x->shown = str_redacted(x->source);
    int there = x->local ? fs_look_file(x->source, x->err) : 1;
    return there > 0 ? 0 : there < 0 ? there : extracted_fail(x, "Source file '%s' does not exist", x->shown);
}

/* By the argument, else by the end of the name; the query of a URL is no part of the name. */
static int
check_format(extracted_t *x)
{
    static const char *const formats[] = { "tar", "rar", "zip" };
    json_t *given = extracted_arg(x, "archive_format");
    AUTO_FREE char *text = value_pystr(given);
    url_auto_t url = { 0 };

    url_parse(&url, x->source);
    if (value_truthy(given)) {
        for (char *p = text; *p != '\0'; p++)
            *p = *p >= 'A' && *p <= 'Z' ? (char) (*p - 'A' + 'a') : *p;
    }
    const char *wanted = value_truthy(given) ? text
                                             : archive_guess(*url.path != '\0' ? url.path : url.netloc);
    if (wanted == NULL)
        return extracted_fail(
            x, "Could not guess archive_format from the value of the 'source' argument. Please "
               "set this archive_format to one of the following: tar, rar, zip");
    for (size_t i = 0; i < NELEMS(formats); i++) {
        if (strcmp(formats[i], wanted) == 0)
            x->format = formats[i];
    }
    if (x->format != NULL)
        return 0;
    return extracted_fail(
        x,
        "Invalid archive_format '%s'. Either set it to a supported value (tar, rar, zip) or remove "
        "this argument and the archive format will be guessed based on file extension.",
        wanted);
}

/* Options on the command line mean that the program unzip must do it; else our own reader does, to which a
 * password can be given without anybody seeing it. */
static int
check_zip_options(extracted_t *x)
{
    json_t *tool = extracted_arg(x, "use_cmd_unzip");
    AUTO_FREE char *unzip = fs_which("unzip");

    x->cmd_unzip = tool != NULL ? value_truthy(tool) : x->options != NULL;
    if (x->options != NULL && !x->cmd_unzip)
        return extracted_fail(
            x, "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the "
               "'options' argument). Either remove 'use_cmd_unzip', or set it to True.");
    if (x->options != NULL && unzip == NULL)
        return extracted_fail(
            x, "archive.cmd_unzip function not available, unzip might not be installed on minion");
    if (extracted_asked(x, "password") && x->cmd_unzip)
        state_ret_warn(x->ret,
                       "Using a password in combination with setting 'use_cmd_unzip' to True is considered "
                       "insecure. It is recommended to remove the 'use_cmd_unzip' argument (or set it to "
                       "False) and allow Salt to extract the archive using Python's built-in ZIP file "
                       "support.");
    return 0;
}

/* The options that each format knows. Programs that are missing are told before anything is fetched. */
static int
archive_check_options(extracted_t *x)
{
    AUTO_FREE char *unrar = fs_which("unrar"), *rar = fs_which("rar");
    json_t *options = extracted_arg(x, "options");
    int rc = check_format(x);

    if (rc != 0)
        return rc;
    x->options = options != NULL ? value_pystr(options) : NULL;
    bool zip = strcmp(x->format, "zip") == 0, is_rar = strcmp(x->format, "rar") == 0;
    if (zip && (rc = check_zip_options(x)) != 0)
        return rc;
    if (!zip && extracted_asked(x, "password"))
        return extracted_fail(x, "The 'password' argument is only supported for zip archives");
    if (is_rar && unrar == NULL && rar == NULL)
        return extracted_fail(
            x, "archive.unrar function not available, rar/unrar might not be installed on minion");
    if (is_rar && !str_empty(x->options))
        return extracted_fail(
            x, "The 'options' argument is only compatible with the following archive formats: tar, "
               "zip");
    json_t *given = value_get(x->args, "trim_output");
    AUTO_FREE char *text = value_pystr(given);
    long long n = 100;
    if (value_truthy(given) && !json_is_boolean(given) && !str_to_int(text, 0, INT32_MAX, &n))
        return extracted_fail(x, "Invalid value for trim_output, must be True/False or an integer");
    x->trim = value_truthy(given) ? json_integer(n) : json_false();
    return 0;
}

/* 0 to go on; 1 when the return is complete; or negative. */
int
extracted_check(extracted_t *x)
{
    /* Each step relies on those before it: the format is guessed by the source that was picked. */
    static int (*const steps[])(extracted_t *) = { check_name, check_if_missing, check_owner, pick_source,
                                                   archive_check_options };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](x);
    return rc;
}
