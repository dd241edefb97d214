/* archive.c - state archive.extracted: what an archive holds is in a folder. The archive's list is compared with what
 * is there. A note in the cache says while it is being unpacked, so that a run that was killed in between is not taken
 * for done by the next. Each step answers 1 when the return is made. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/call/sub.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/transfer/fetch.h"

typedef struct extracted {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    fail_t *err;
    char *name;           /* ends with "/" */
    char *source, *shown; /* the URL or path, and without its password */
    char *cached, *note;  /* the archive's file; the note of a run that has not ended */
    char *options;        /* NULL for none */
    const char *format;
    json_t *contents, *sum, *old_sum; /* owned; sums may be NULL */
    json_t *files;                    /* owned: what was extracted */
    json_t *trim;                     /* owned: a number, or false */
    bool local, cmd_unzip, needed, missing, hash_changed, made_dir, unfinished;
    uid_t uid;
    gid_t gid;
} extracted_t;

static void
extracted_free(extracted_t *x)
{
    free(x->name);
    free(x->source);
    free(x->shown);
    free(x->cached);
    free(x->note);
    free(x->options);
    json_decref(x->contents);
    json_decref(x->sum);
    json_decref(x->old_sum);
    json_decref(x->files);
    json_decref(x->trim);
}

/* The state has failed. Returns 1. */
static int PRINTF(2, 3) archive_say(extracted_t *x, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    (void) state_ret_set(x->ret, STATE_FALSE, "%s", text);
    return 1;
}

static json_t *
arg_of(const extracted_t *x, const char *key)
{
    json_t *v = value_get(x->args, key);

    return v != NULL && !json_is_null(v) ? v : NULL;
}

static bool
asked(const extracted_t *x, const char *key)
{
    return value_truthy(value_get(x->args, key));
}

static json_t *
extra(const extracted_t *x, const char *key)
{
    return value_get(value_get(x->args, "kwargs"), key);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool
is_abs_or_none(const json_t *path)
{
    return path == NULL || *json_string_value(path) == '/';
}

static int
check_ownership_place(extracted_t *x)
{
    json_t *place = arg_of(x, "enforce_ownership_on");

    if (!is_abs_or_none(place))
        return archive_say(x, "Value for 'enforce_ownership_on' is not an absolute path");
    AUTO_FREE char *path = place != NULL ? fop_normpath(json_string_value(place)) : NULL;
    AUTO_FREE char *with = place != NULL ? xasprintf("%s/", path) : NULL;
    AUTO_FREE char *top = fop_normpath(x->name), *below = xasprintf("%s/", strcmp(top, "/") == 0 ? "" : top);
    if (place != NULL && !str_starts(with, below))
        return archive_say(x, "Value for 'enforce_ownership_on' must be within %s", x->name);
    return 0;
}

static int
check_name(extracted_t *x)
{
    const char *name = value_str(x->args, "name", "");
    size_t n = strlen(name);

    if (asked(x, "skip_files_list_verify") && asked(x, "skip_verify"))
        return archive_say(x,
                           "Only one of \"skip_files_list_verify\" and \"skip_verify\" can be set to True");
    if (extra(x, "keep_source") != NULL && extra(x, "keep") != NULL)
        state_ret_warn(x->ret, "Both 'keep_source' and 'keep' were used. Since these both do the same thing, "
                               "'keep' was ignored.");
    if (*name != '/')
        return archive_say(x, "%s is not an absolute path", name);
    while (n > 0 && name[n - 1] == '/')
        n--;
    AUTO_FREE char *bare = xstrndup(name, n);
    int file = fs_look_file(n > 0 ? bare : "/", x->err);
    if (file < 0)
        return file;
    if (file > 0)
        return archive_say(x, "%s exists and is not a directory", bare);
    x->name = xasprintf("%s/", bare);
    if (!is_abs_or_none(arg_of(x, "if_missing")))
        return archive_say(x, "Value for 'if_missing' is not an absolute path");
    return check_ownership_place(x);
}

/* An unfinished run's files are not all there, whatever `if_missing` says. */
static int
check_if_missing(extracted_t *x)
{
    json_t *path = arg_of(x, "if_missing");
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

static int
check_owner(extracted_t *x)
{
    json_t *user = arg_of(x, "user"), *group = arg_of(x, "group");
    AUTO_FREE char *user_text = value_pystr(user), *group_text = value_pystr(group);

    x->uid = (uid_t) -1;
    x->gid = (gid_t) -1;
    if (value_truthy(user) && !fop_uid_of(user, &x->uid))
        return archive_say(x, "User %s does not exist", user_text);
    if (value_truthy(group) && !fop_gid_of(group, &x->gid))
        return archive_say(x, "Group %s does not exist", group_text);
    return 0;
}

static int
pick_source(extracted_t *x)
{
    json_t *source = value_get(x->args, "source");
    json_auto_t *hash = NULL;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = value_pystr(source);

    if (asked(x, "source_hash_update") && !asked(x, "source_hash"))
        state_ret_warn(x->ret, "The 'source_hash_update' argument is ignored when 'source_hash' is not also "
                               "specified.");
    if (source_pick(x->ctx, source, value_get(x->args, "source_hash"), ctx_saltenv(x->ctx), &x->source, &hash,
                    &why) < 0)
        return archive_say(x, "%s", fail_text(&why));
    if (str_empty(x->source))
        return archive_say(x, "Invalid source \"%s\"", text);
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
    return there > 0 ? 0 : there < 0 ? there : archive_say(x, "Source file '%s' does not exist", x->shown);
}

static int
check_format(extracted_t *x)
{
    static const char *const formats[] = { "tar", "rar", "zip" };
    json_t *given = arg_of(x, "archive_format");
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
        return archive_say(x,
                           "Could not guess archive_format from the value of the 'source' argument. Please "
                           "set this archive_format to one of the following: tar, rar, zip");
    for (size_t i = 0; i < NELEMS(formats); i++) {
        if (strcmp(formats[i], wanted) == 0)
            x->format = formats[i];
    }
    if (x->format != NULL)
        return 0;
    return archive_say(
        x,
        "Invalid archive_format '%s'. Either set it to a supported value (tar, rar, zip) or remove "
        "this argument and the archive format will be guessed based on file extension.",
        wanted);
}

static int
check_zip_options(extracted_t *x)
{
    json_t *tool = arg_of(x, "use_cmd_unzip");
    AUTO_FREE char *unzip = fs_which("unzip");

    x->cmd_unzip = tool != NULL ? value_truthy(tool) : x->options != NULL;
    if (x->options != NULL && !x->cmd_unzip)
        return archive_say(
            x, "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the "
               "'options' argument). Either remove 'use_cmd_unzip', or set it to True.");
    if (x->options != NULL && unzip == NULL)
        return archive_say(
            x, "archive.cmd_unzip function not available, unzip might not be installed on minion");
    if (asked(x, "password") && x->cmd_unzip)
        state_ret_warn(x->ret,
                       "Using a password in combination with setting 'use_cmd_unzip' to True is considered "
                       "insecure. It is recommended to remove the 'use_cmd_unzip' argument (or set it to "
                       "False) and allow Salt to extract the archive using Python's built-in ZIP file "
                       "support.");
    return 0;
}

static int
check_trim(extracted_t *x)
{
    json_t *given = value_get(x->args, "trim_output");
    AUTO_FREE char *text = value_pystr(given);
    long long n = 100;

    if (value_truthy(given) && !json_is_boolean(given) && !str_to_int(text, 0, INT32_MAX, &n))
        return archive_say(x, "Invalid value for trim_output, must be True/False or an integer");
    x->trim = value_truthy(given) ? json_integer(n) : json_false();
    return 0;
}

static int
archive_check_options(extracted_t *x)
{
    AUTO_FREE char *unrar = fs_which("unrar"), *rar = fs_which("rar");
    json_t *options = arg_of(x, "options");
    int rc = check_format(x);

    if (rc != 0)
        return rc;
    x->options = options != NULL ? value_pystr(options) : NULL;
    bool zip = strcmp(x->format, "zip") == 0, is_rar = strcmp(x->format, "rar") == 0;
    if (zip && (rc = check_zip_options(x)) != 0)
        return rc;
    if (!zip && asked(x, "password"))
        return archive_say(x, "The 'password' argument is only supported for zip archives");
    if (is_rar && unrar == NULL && rar == NULL)
        return archive_say(
            x, "archive.unrar function not available, rar/unrar might not be installed on minion");
    if (is_rar && !str_empty(x->options))
        return archive_say(
            x, "The 'options' argument is only compatible with the following archive formats: tar, "
               "zip");
    return check_trim(x);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static const char *
own_hash_type(const extracted_t *x)
{
    return value_str(ctx_opts(x->ctx), "hash_type", "sha256");
}

/* Where Salt keeps the digest of an archive, below cachedir/archive_hash. NEW. */
static char *
sum_place(const extracted_t *x, const char *path)
{
    const char *cache = value_str(ctx_opts(x->ctx), "cachedir", "");
    size_t n = strlen(cache);

    if (n > 0 && str_starts(path, cache) && path[n] == '/') {
        AUTO_FREE char *rest = xasprintf("%s.hash", path + n + 1);
        return fetch_cache_place(x->ctx, "archive_hash", rest);
    }
    AUTO_FREE char *rest = xasprintf("local/%s", path + strspn(path, "/"));
    return fetch_cache_place(x->ctx, "archive_hash", rest);
}

/* {"hash_type", "hsum"} that was kept of the file. NEW, NULL for none. */
static json_t *
kept_sum(const extracted_t *x, const char *path, const char *type)
{
    AUTO_FREE char *place = sum_place(x, path);
    buf_auto_t text = BUF_INIT;
    json_t *sum = NULL;

    if (fs_read_any(place, LIMIT_FILE_READ, &text, NULL) <= 0)
        return NULL;
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; sum == NULL && lines[i] != NULL; i++) {
        size_t n = strcspn(lines[i], ":");
        if (strlen(type) == n && strncmp(lines[i], type, n) == 0 && lines[i][n] == ':')
            sum = json_pack("{s:s, s:s}", "hash_type", type, "hsum", lines[i] + n + 1);
    }
    strv_free(lines);
    return sum;
}

static int
keep_sum(extracted_t *x)
{
    AUTO_FREE char *place = sum_place(x, x->cached), *above = fop_dirname(place), *hex = NULL;

    if (digest_file(x->cached, own_hash_type(x), &hex, x->err) < 0)
        return x->err->code;
    AUTO_FREE char *line = xasprintf("%s:%s\n", own_hash_type(x), hex);
    int rc = fs_mkdirs(above, 0755, x->err);
    return rc < 0 ? rc : fs_write_atomic(place, line, strlen(line), 0644, x->err);
}

static int
read_sum(extracted_t *x)
{
    json_auto_t *args = json_pack("{s:s, s:O, s:O, s:s}", "source", x->source, "source_hash",
                                  value_get(x->args, "source_hash"), "source_hash_name",
                                  value_get(x->args, "source_hash_name"), "saltenv", ctx_saltenv(x->ctx));
    fail_auto_t why = FAIL_INIT;

    if (asked(x, "source_hash") && source_sum(x->ctx, args, &x->sum, &why) < 0)
        return archive_say(x, "%s", fail_text(&why));
    return 0;
}

/* The copy in the cache, where there is one. NEW. */
static char *
cached_path(extracted_t *x)
{
    json_auto_t *list = json_pack("[s, s]", x->source, ctx_saltenv(x->ctx)), *path = NULL;
    fail_auto_t why = FAIL_INIT;

    if (x->local)
        return xstrdup(x->source);
    if (ctx_call(x->ctx, "cp.is_cached", list, NULL, &path, &why) < 0 || str_empty(json_string_value(path)))
        return NULL;
    return xstrdup(json_string_value(path));
}

/* With skip_files_list_verify the kept digest alone decides. */
static int
skip_by_sum(extracted_t *x)
{
    if (!asked(x, "skip_files_list_verify"))
        return 0;
    AUTO_FREE char *cached = cached_path(x);
    AUTO_FREE char *expected = cached == NULL ? fetch_extern_place(x->ctx, x->source, ctx_saltenv(x->ctx))
                                              : NULL;
    const char *path = cached != NULL ? cached : expected;
    json_auto_t *kept = path != NULL ? kept_sum(x, path, own_hash_type(x)) : NULL;

    if (x->unfinished || x->sum == NULL || kept == NULL ||
        !str_eq(value_str(kept, "hsum", NULL), value_str(x->sum, "hsum", "")))
        return 0;
    state_ret_set(x->ret, ctx_test(x->ctx) ? STATE_NONE : STATE_TRUE,
                  "Archive %s existing source sum is the same as the expected one and skip_files_list_verify "
                  "argument was set to True. Extraction is not needed",
                  x->shown);
    return 1;
}

static int
cache_source(extracted_t *x)
{
    json_auto_t *kwargs = NULL, *ret = NULL;
    fail_auto_t why = FAIL_INIT;

    if (x->local) {
        x->cached = xstrdup(x->source);
        return 0;
    }
    if (ctx_test(x->ctx)) {
        state_ret_set(
            x->ret, STATE_NONE,
            "Archive %s would be cached (if necessary) and checked to discover if extraction is needed",
            x->shown);
        return 1;
    }
    kwargs = json_pack("{s:s, s:O, s:O, s:b, s:s, s:b}", "name", x->source, "source_hash",
                       value_get(x->args, "source_hash"), "source_hash_name",
                       value_get(x->args, "source_hash_name"), "skip_verify", asked(x, "skip_verify"),
                       "saltenv", ctx_saltenv(x->ctx), "use_etag", asked(x, "use_etag"));
    if (ctx_state(x->ctx, "file.cached", kwargs, &ret, &why) < 0)
        return archive_say(x, "Failed to cache %s: %s", x->shown, fail_text(&why));
    if (!value_truthy(value_get(ret, "result"))) {
        json_object_update(x->ret, ret);
        return 1;
    }
    x->cached = cached_path(x);
    return x->cached != NULL ? 0 : archive_say(x, "Failed to cache %s: it is not in the cache", x->shown);
}

/* ---- what the archive holds ------------------------------------------------------------------ */

/* --strip-components=N of tar's options; None for none. NEW. */
static json_t *
stripped(const extracted_t *x)
{
    const char *p = strcmp(x->format, "tar") == 0 && x->options != NULL ? strstr(x->options, "--strip")
                                                                        : NULL;

    if (p == NULL)
        return json_null();
    p += strlen("--strip");
    p += str_starts(p, "-components") ? strlen("-components") : 0;
    size_t gap = strspn(p, " \t="), digits;
    p += gap;
    p += *p == '"' || *p == '\'' ? 1 : 0;
    digits = strspn(p, "0123456789");
    AUTO_FREE char *text = xstrndup(p, digits);
    long long n = 0;
    return gap > 0 && str_to_int(text, 1, INT32_MAX, &n) ? json_integer(n) : json_null();
}

static int
cannot_list(extracted_t *x, const fail_t *why)
{
    bool tar = strcmp(x->format, "tar") == 0, owner = asked(x, "user") || asked(x, "group");
    bool no_if = !asked(x, "if_missing"), no_place = owner && !asked(x, "enforce_ownership_on");
    static const char tar_help[] =
        "If the source archive is a tar archive compressed using a compression type not natively supported by the "
        "tar command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if "
        "Salt is unable to determine the files/directories in the archive, the following workaround(s) would need "
        "to be used for this state to proceed";

    if (!no_if && !no_place)
        return archive_say(x, "%s", fail_text(why));
    return archive_say(x, "%s\n\n%s (assuming the source file is a valid %s archive):\n%s%s", fail_text(why),
                       tar ? tar_help : "The following workarounds must be used for this state to proceed",
                       x->format, no_if ? "\n- 'if_missing' must be set" : "",
                       no_place ? "\n- Ownership cannot be managed without setting 'enforce_ownership_on'."
                                : "");
}

static int
list_contents(extracted_t *x)
{
    fail_auto_t why = FAIL_INIT;
    bool zip = strcmp(x->format, "zip") == 0;
    int secret = zip && !asked(x, "password")
                     ? sub_ask(x->ctx, &why, "archive.is_encrypted", "{s:s}", "name", x->cached)
                     : 0;

    fail_clear(&why);
    if (secret > 0)
        return archive_say(x,
                           "Archive %s is password-protected, but no password was specified. Please set the "
                           "'password' argument.",
                           x->shown);
    x->contents = sub_call(x->ctx, &why, "archive.list", "{s:s, s:s, s:O, s:o, s:b}", "name", x->cached,
                           "archive_format", x->format, "options", value_get(x->args, "list_options"),
                           "strip_components", stripped(x), "verbose", 1);
    if (x->contents == NULL)
        return cannot_list(x, &why);
    if (asked(x, "enforce_toplevel") && (json_array_size(value_get(x->contents, "top_level_dirs")) > 1 ||
                                         json_array_size(value_get(x->contents, "top_level_files")) > 0))
        return archive_say(
            x,
            "Archive does not have a single top-level directory. To allow this archive to be "
            "extracted, set 'enforce_toplevel' to False. To avoid a '%s-bomb' it may also be "
            "advisable to set a top-level directory by adding it to the 'name' value (for example, "
            "setting 'name' to %ssome_dir instead of %s).",
            x->format, x->name, x->name);
    if (asked(x, "clean") && asked(x, "clean_parent"))
        return archive_say(x, "Only one of 'clean' and 'clean_parent' can be set to True");
    return 0;
}

/* A path below the name, without the slash at a folder's end. NEW. */
static char *
bare_place(const extracted_t *x, const char *path)
{
    char *full = xasprintf("%s%s", x->name, path);
    size_t n = strlen(full);

    while (n > 1 && full[n - 1] == '/')
        full[--n] = '\0';
    return full;
}

/* Whether each path is there as what the archive has; those that are something else go to `wrong`. */
static int
compare_kind(extracted_t *x, const char *kind, json_t *wrong)
{
    json_t *path;
    size_t i;

    json_array_foreach (value_get(x->contents, kind), i, path) {
        AUTO_FREE char *full = bare_place(x, json_string_value(path));
        struct stat st;
        if (lstat(full, &st) < 0) {
            if (errno != ENOENT && errno != ENOTDIR)
                return archive_say(x, "[Errno %d] %s: '%s'", errno, strerror(errno), full);
            x->missing = x->missing || errno == ENOENT;
            continue;
        }
        bool dir = S_ISDIR(st.st_mode), link = S_ISLNK(st.st_mode);
        bool fits = *kind == 'd' ? dir : *kind == 'l' ? link : !dir && !link;
        if (!fits)
            json_array_append(wrong, path);
    }
    return 0;
}

/* Removes paths below the name: changes["removed"]. 1 with the errors as the comment. */
static int
remove_paths(extracted_t *x, const json_t *paths, const char *sentence)
{
    buf_auto_t errors = BUF_INIT;
    json_t *removed = json_object_get(value_get(x->ret, "changes"), "removed"), *path;
    json_auto_t *list = removed != NULL ? json_copy(removed) : json_array();
    size_t i;

    json_array_foreach (paths, i, path) {
        AUTO_FREE char *bare = bare_place(x, json_string_value(path));
        fail_auto_t why = FAIL_INIT;
        int rc = fop_remove(bare, &why);
        if (rc < 0)
            buf_printf(&errors, "\n- %s", fail_text(&why));
        else if (rc > 0)
            json_array_append_new(list, value_fmt("%s%s", x->name, json_string_value(path)));
    }
    if (json_array_size(list) > 0)
        state_change(x->ret, "removed", json_incref(list));
    return errors.len > 0 ? archive_say(x, "%s\n%s", sentence, buf_str(&errors)) : 0;
}

static int
settle_wrong(extracted_t *x, const json_t *wrong)
{
    buf_auto_t text = BUF_INIT, list = BUF_INIT;
    AUTO_FREE char *paths = value_joined(wrong, "\n- ");

    buf_printf(
        &text,
        "The below paths (relative to %s) exist, but are the incorrect type (file instead of directory, "
        "symlink instead of file, etc.).",
        x->name);
    buf_printf(&list, "\n\n- %s", paths);
    if (ctx_test(x->ctx) && asked(x, "clean")) {
        state_ret_set(
            x->ret, STATE_NONE,
            "%s Since the 'clean' option is enabled, the destination paths would be cleared and the "
            "archive would be extracted.%s",
            buf_str(&text), buf_str(&list));
        return 1;
    }
    if (ctx_test(x->ctx) && asked(x, "clean_parent")) {
        state_ret_set(
            x->ret, STATE_NONE,
            "%s Since the 'clean_parent' option is enabled, the destination parent directory would be "
            "removed first and then re-created and the archive would be extracted",
            buf_str(&text));
        return 1;
    }
    if (asked(x, "clean"))
        return 0;
    if (!asked(x, "force"))
        return archive_say(
            x,
            "%s To proceed with extraction, set 'force' to True. Note that this will remove these "
            "paths before extracting.%s",
            buf_str(&text), buf_str(&list));
    x->needed = true;
    if (ctx_test(x->ctx))
        return 0;
    return remove_paths(
        x, wrong,
        "One or more paths existed by were the incorrect type (i.e. file instead of directory or "
        "vice-versa), but could not be removed. The following errors were observed:\n");
}

static int
decide(extracted_t *x)
{
    static const char *const kinds[] = { "dirs", "files", "links" };
    json_auto_t *wrong = json_array(), *now = NULL;

    x->needed = asked(x, "overwrite") || x->unfinished;
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        int rc = compare_kind(x, kinds[i], wrong);
        if (rc != 0)
            return rc;
    }
    x->needed = x->needed || x->missing;
    int rc = json_array_size(wrong) > 0 ? settle_wrong(x, wrong) : 0;
    if (rc != 0 || x->needed || !asked(x, "source_hash_update") || x->old_sum == NULL)
        return rc;
    now = kept_sum(x, x->cached, value_str(x->old_sum, "hash_type", ""));
    x->hash_changed = now == NULL || !value_equal(now, x->old_sum);
    x->needed = x->hash_changed;
    return 0;
}

/* ---- extraction ------------------------------------------------------------------------------ */

static void
explain(extracted_t *x, buf_t *text)
{
    if (x->hash_changed)
        buf_puts(text, ", due to source_hash update");
    else if (x->missing)
        buf_puts(text, ", due to absence of one or more files/dirs");
}

static int
check_source_hash(extracted_t *x)
{
    if (!x->local || x->sum == NULL || asked(x, "skip_verify"))
        return 0;
    int same = sub_ask(x->ctx, x->err, "file.check_hash", "{s:s, s:O}", "path", x->source, "file_hash",
                       value_get(x->sum, "hsum"));
    if (same < 0)
        return same;
    return same > 0 ? 0
                    : archive_say(x, "%s does not match the desired source_hash %s", x->shown,
                                  value_str(x->sum, "hsum", ""));
}

static int
foretell(extracted_t *x)
{
    buf_auto_t text = BUF_INIT;

    buf_printf(&text, "Archive %s would be extracted to %s%s", x->shown, x->name,
               asked(x, "clean") ? ", after cleaning destination path(s)" : "");
    explain(x, &text);
    state_ret_set(x->ret, STATE_NONE, "%s", buf_str(&text));
    return 1;
}

static int
clear_place(extracted_t *x)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *bare = bare_place(x, "");

    if (asked(x, "clean_parent")) {
        int rc = fop_remove(bare, &why);
        if (rc < 0)
            return archive_say(
                x, "Unable to remove the directory %s. The following errors were observed:\n\n- %s", x->name,
                fail_text(&why));
        state_change(x->ret, "removed",
                     value_fmt("Directory %s was removed prior to the extraction", x->name));
    }
    if (!asked(x, "clean"))
        return 0;
    json_auto_t *paths = json_copy(value_get(x->contents, "top_level_dirs"));
    json_array_extend(paths, value_get(x->contents, "top_level_files"));
    return remove_paths(x, paths,
                        "One or more paths could not be cleaned. The following errors were observed:\n");
}

static int
make_place(extracted_t *x)
{
    AUTO_FREE char *above = fop_dirname(x->note);
    int dir = fs_look_dir(x->name, x->err);

    if (dir < 0 || fs_own_dir(above, 0700, x->err) < 0 ||
        fs_write_atomic(x->note, x->name, strlen(x->name), 0600, x->err) < 0)
        return x->err->code;
    if (dir > 0)
        return 0;
    json_auto_t *ret = NULL;
    json_auto_t *kwargs = json_pack("{s:s, s:O, s:b}", "name", x->name, "user", value_get(x->args, "user"),
                                    "makedirs", 1);
    x->made_dir = true;
    return ctx_state(x->ctx, "file.directory", kwargs, &ret, x->err);
}

/* tar's words from the user's options: short ones without a dash join x and v. */
static int
add_tar_options(extracted_t *x, json_t *line)
{
    char **words = prog_split(x->options, x->err);
    buf_auto_t letters = BUF_INIT;
    json_auto_t *rest = json_array();
    size_t at = 0;

    if (words == NULL)
        return x->err->code;
    buf_puts(&letters, "xv");
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], "v") == 0 || strcmp(words[i], "-v") == 0 || strcmp(words[i], "--verbose") == 0)
            continue;
        if (*words[i] == '-' || at > 0)
            json_array_append_new(rest, json_string(words[i]));
        for (const char *p = *words[i] == '-' || at > 0 ? "" : words[i]; *p != '\0'; p++) {
            if (*p != 'x' && *p != 'f')
                buf_putc(&letters, *p);
        }
        at++;
    }
    strv_free(words);
    json_array_append_new(line, json_string(buf_str(&letters)));
    json_array_extend(line, rest);
    return 0;
}

/* What Python's tarfile does: modes as stored, links to folders kept. */
static void
add_plain_options(json_t *line)
{
    static const char *const words[] = { "--extract", "--verbose", "--preserve-permissions",
                                         "--keep-directory-symlink", "--quoting-style=literal" };

    for (size_t i = 0; i < NELEMS(words); i++)
        json_array_append_new(line, json_string(words[i]));
}

/* Without options names are those of Python's tarfile: no slash behind a folder's. */
static int
run_tar(extracted_t *x)
{
    json_t *line = json_pack("[s]", "tar");
    int rc = 0;

    if (x->options != NULL)
        rc = add_tar_options(x, line);
    else
        add_plain_options(line);
    json_array_append_new(line, json_string("-f"));
    json_auto_t *ran = rc == 0 ? archive_run(x->ctx, json_incref(line), x->cached, x->name, x->err) : NULL;
    json_decref(line);
    if (ran == NULL)
        return x->err->code;
    if (value_int(ran, "retcode", 1) != 0) {
        state_change_set(x->ret, json_incref(ran));
        return archive_say(x, "%s", "");
    }
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    json_int_t most = json_is_integer(x->trim) ? json_integer_value(x->trim) : INT32_MAX;
    x->files = json_array();
    for (size_t i = 0; lines[i] != NULL && (json_int_t) i < most; i++) {
        size_t n = strlen(lines[i]);
        while (x->options == NULL && n > 1 && lines[i][n - 1] == '/')
            n--;
        json_array_append_new(x->files, value_utf8(lines[i], n));
    }
    strv_free(lines);
    if (x->options != NULL && json_array_size(x->files) == 0) {
        json_decref(x->files);
        x->files = json_string("no tar output so far");
    }
    return 0;
}

static int
unpack_by(extracted_t *x, const char *fun)
{
    json_auto_t *kwargs = json_copy(value_get(x->args, "kwargs"));
    fail_auto_t why = FAIL_INIT;
    bool rar = strcmp(fun, "archive.unrar") == 0;

    json_object_del(kwargs, "keep");
    json_object_del(kwargs, "keep_source");
    json_object_set_new(kwargs, rar ? "rarfile" : "zip_file", json_string(x->cached));
    json_object_set_new(kwargs, "dest", json_string(x->name));
    json_object_set(kwargs, "trim_output", x->trim);
    if (!rar) {
        json_object_set_new(kwargs, "options", x->options != NULL ? json_string(x->options) : json_null());
        json_object_set(kwargs, "password", value_get(x->args, "password"));
    }
    if (strcmp(fun, "archive.unzip") == 0)
        json_object_set(kwargs, "extract_perms", value_get(x->args, "extract_perms"));
    if (ctx_call(x->ctx, fun, NULL, kwargs, &x->files, &why) == 0)
        return 0;
    if (why.kind == FAIL_COMMAND || why.kind == FAIL_PROGRAM)
        return archive_say(x, "%s", fail_text(&why));
    return fail_kind(x->err, why.kind, why.code, "%s", fail_text(&why));
}

static int
extract(extracted_t *x)
{
    int rc = make_place(x);

    if (rc != 0)
        return rc;
    if (strcmp(x->format, "tar") == 0)
        rc = run_tar(x);
    else
        rc = unpack_by(x, strcmp(x->format, "rar") == 0 ? "archive.unrar"
                          : x->cmd_unzip                ? "archive.cmd_unzip"
                                                        : "archive.unzip");
    if (rc == 0)
        (void) unlink(x->note);
    if (rc == 1 && x->made_dir && rmdir(x->name) == 0)
        (void) unlink(x->note);
    return rc;
}

/* ---- ownership ------------------------------------------------------------------------------- */

typedef struct owners {
    json_t *missing, *failed; /* owned */
} owners_t;

static int
own_dir(extracted_t *x, const char *full, owners_t *o)
{
    json_auto_t *ret = NULL, *recurse = json_array();
    int there = fs_look_dir(full, x->err);

    if (there < 0)
        return there;
    if (there == 0) {
        if (!ctx_test(x->ctx))
            json_array_append_new(o->missing, json_string(full));
        return 0;
    }
    if (asked(x, "user"))
        json_array_append_new(recurse, json_string("user"));
    if (asked(x, "group"))
        json_array_append_new(recurse, json_string("group"));
    json_auto_t *kwargs = json_pack("{s:s, s:O, s:O, s:O}", "name", full, "user", value_get(x->args, "user"),
                                    "group", value_get(x->args, "group"), "recurse", recurse);
    if (ctx_state(x->ctx, "file.directory", kwargs, &ret, x->err) < 0)
        return x->err->code;
    if (value_truthy(value_get(ret, "changes")))
        state_change(x->ret, "updated ownership", json_true());
    if (!value_truthy(value_get(ret, "result")) && !ctx_test(x->ctx))
        json_array_append_new(o->failed, json_string(full));
    return 0;
}

static void
own_file(extracted_t *x, const char *full, owners_t *o)
{
    struct stat st;
    bool test = ctx_test(x->ctx);

    if (lstat(full, &st) < 0) {
        if (!test && errno == ENOENT)
            json_array_append_new(o->missing, json_string(full));
        if (!test)
            json_array_append_new(o->failed, json_string(full));
        return;
    }
    if ((x->uid == (uid_t) -1 || x->uid == st.st_uid) && (x->gid == (gid_t) -1 || x->gid == st.st_gid))
        return;
    if (test || lchown(full, x->uid, x->gid) == 0)
        state_change(x->ret, "updated ownership", json_true());
    else
        json_array_append_new(o->failed, json_string(full));
}

static int
own_list(extracted_t *x, const char *kind, owners_t *o)
{
    json_t *path;
    size_t i;
    int rc = 0;

    json_array_foreach (value_get(x->contents, kind), i, path) {
        AUTO_FREE char *full = xasprintf("%s%s", x->name, json_string_value(path));
        if (strcmp(kind, "top_level_dirs") != 0)
            own_file(x, full, o);
        else if (rc == 0)
            rc = own_dir(x, full, o);
    }
    return rc;
}

static int
enforce_ownership(extracted_t *x, owners_t *o)
{
    json_t *place = arg_of(x, "enforce_ownership_on");

    if (!asked(x, "user") && !asked(x, "group"))
        return 0;
    if (place != NULL) {
        const char *path = json_string_value(place);
        int dir = fs_look_dir(path, x->err);
        if (dir == 0)
            own_file(x, path, o);
        return dir > 0 ? own_dir(x, path, o) : dir;
    }
    int rc = own_list(x, "top_level_dirs", o);
    rc = rc == 0 ? own_list(x, "top_level_files", o) : rc;
    return rc == 0 ? own_list(x, "top_level_links", o) : rc;
}

/* ---- the return ------------------------------------------------------------------------------ */

static void
archive_tell(extracted_t *x)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *trim = value_pystr(x->trim);
    bool owned = value_get(value_get(x->ret, "changes"), "updated ownership") != NULL;

    if (!x->needed) {
        bool would = ctx_test(x->ctx) && owned;
        state_ret_set(x->ret, would ? STATE_NONE : STATE_TRUE, "All files in archive are already present%s",
                      would ? ". Ownership would be updated on one or more files/directories." : "");
        return;
    }
    if (!value_truthy(x->files)) {
        state_ret_set(x->ret, STATE_FALSE, "No files were extracted from %s", x->shown);
        return;
    }
    if (x->made_dir)
        state_change(x->ret, "directories_created", json_pack("[s]", x->name));
    state_change(x->ret, "extracted_files", json_incref(x->files));
    buf_printf(&text, "%s extracted to %s", x->shown, x->name);
    explain(x, &text);
    buf_printf(&text, ". Output was trimmed to %s number of lines", trim);
    state_ret_set(x->ret, STATE_TRUE, "%s", buf_str(&text));
}

static void
tell_owners(extracted_t *x, const owners_t *o)
{
    const json_t *const lists[] = { o->missing, o->failed };
    static const char *const said[] = { "the following paths were missing",
                                        "Salt was unable to change ownership on the following paths" };

    for (size_t i = 0; i < NELEMS(lists); i++) {
        AUTO_FREE char *paths = value_joined(lists[i], "\n- ");
        if (json_array_size(lists[i]) == 0)
            continue;
        json_object_set_new(x->ret, "comment",
                            value_fmt("%s\n\nWhile trying to enforce user/group ownership, %s:\n\n- %s",
                                      value_str(x->ret, "comment", ""), said[i], paths));
        if (i == 1 || !asked(x, "if_missing"))
            json_object_set_new(x->ret, "result", json_false());
    }
}

static int
drop_source(extracted_t *x)
{
    json_t *keep = extra(x, "keep_source") != NULL ? extra(x, "keep_source") : extra(x, "keep");
    json_auto_t *kwargs = json_pack("{s:s, s:s}", "name", x->source, "saltenv", ctx_saltenv(x->ctx)),
                *ret = NULL;

    if (x->local || keep == NULL || value_truthy(keep))
        return 0;
    if (ctx_state(x->ctx, "file.not_cached", kwargs, &ret, x->err) < 0)
        return x->err->code;
    if (!value_truthy(value_get(ret, "result")))
        state_ret_warn(x->ret, "%s", value_str(ret, "comment", ""));
    return 0;
}

static int
archive_finish(extracted_t *x)
{
    owners_t o = { json_array(), json_array() };
    int rc = enforce_ownership(x, &o);

    if (rc == 0) {
        archive_tell(x);
        tell_owners(x, &o);
        rc = drop_source(x);
    }
    json_decref(o.missing);
    json_decref(o.failed);
    return rc;
}

/* ---- the state ------------------------------------------------------------------------------- */

static int
note_sums(extracted_t *x)
{
    x->old_sum = kept_sum(x, x->cached, own_hash_type(x));
    if (ctx_test(x->ctx) || !asked(x, "source_hash") || !asked(x, "source_hash_update") ||
        asked(x, "skip_verify"))
        return 0;
    return keep_sum(x);
}

static int
act(extracted_t *x)
{
    static int (*const steps[])(extracted_t *) = { check_source_hash, foretell, clear_place, extract };
    int rc = 0;

    for (size_t i = 0; x->needed && rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i] == foretell && !ctx_test(x->ctx) ? 0 : steps[i](x);
    return rc != 0 ? rc : archive_finish(x);
}

static int
archive_extracted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static int (*const steps[])(extracted_t *) = {
        check_name,
        check_if_missing,
        check_owner,
        pick_source,
        archive_check_options,
        read_sum,
        skip_by_sum,
        cache_source,
        note_sums,
        list_contents,
        decide,
        act,
    };
    extracted_t x = { .ctx = ctx, .args = args, .err = err, .ret = state_ret_args(args) };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](&x);
    extracted_free(&x);
    *ret_value = x.ret;
    if (rc >= 0)
        return 0;
    json_decref(x.ret);
    *ret_value = NULL;
    return rc;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t extracted_args[] = {
    STATE_TEXT("name", ARG_REQUIRED, "Folder to unpack to"),
    STATE_ANY("source", ARG_REQUIRED,
              "The archive: path or URL, or a list of which the first that exists is taken"),
    STATE_ANY("source_hash", "null", "Digest of the archive, or where it stands"),
    STATE_ANY("source_hash_name", "null", "Name of the archive in a file of digests"),
    STATE_ANY("source_hash_update", "false", "Unpack again when the digest has changed"),
    STATE_ANY("skip_files_list_verify", "false", "Let the kept digest alone say whether it is unpacked"),
    STATE_ANY("skip_verify", "false", "Take an archive from a web server without a digest"),
    STATE_ANY("password", "null", "Of an encrypted zip archive"),
    STATE_ANY("options", "null", "Options of tar or unzip"),
    STATE_TEXT("list_options", "null", "A command that unpacks a tar archive to stdout, to list it"),
    STATE_ANY("force", "false", "Remove what is there as something else: a file for a folder"),
    STATE_ANY("overwrite", "false", "Unpack it in any case"),
    STATE_ANY("clean", "false", "Remove its top-level paths first"),
    STATE_ANY("clean_parent", "false", "Remove the folder first"),
    STATE_ANY("user", "null", "Owner of what is unpacked"),
    STATE_ANY("group", "null", "Group of what is unpacked"),
    STATE_TEXT("if_missing", "null", "Do nothing when this path exists"),
    STATE_ANY("trim_output", "false", "Show the first paths only: True for 100, or a number"),
    STATE_ANY("use_cmd_unzip", "null", "Unpack zip archives by the program unzip"),
    STATE_ANY("extract_perms", "true", "Give files of a zip archive the modes that it has"),
    STATE_ANY("enforce_toplevel", "true", "Refuse an archive with more than one path at its top"),
    STATE_TEXT("enforce_ownership_on", "null", "Path below the folder that gets the owner, in place of all"),
    STATE_ANY("archive_format", "null", "tar, zip or rar; by default from the source's name"),
    STATE_ANY("use_etag", "false", "Ask the web server by the ETag whether to fetch it again"),
    { "kwargs", ARG_ANY, ARG_STARSTAR, "keep_source, keep, and arguments of the function that unpacks",
      "keep_source keep excludes template runas" },
    ARGS_END,
};

static const func_t funcs[] = {
    { "extracted", archive_extracted, extracted_args, 0, "What an archive holds is in a folder." },
};

PLUGIN(state, archive, .doc = "Archives that are unpacked", FUNCS(funcs));
