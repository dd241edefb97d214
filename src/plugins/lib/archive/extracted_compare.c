/* extracted_compare.c - see extracted.h: what the archive holds, beside what is there. */
#include "plugins/lib/archive/extracted.h"

#include <sys/stat.h>

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"

/* --strip-components=N of tar's options; None for none. NEW. tar takes both spellings and any beginning of
 * the long one; Salt's expression looks for these two. */
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

/* The error of the list, and which arguments would do without one. When those are given already, the error
 * alone. */
static int
cannot_list(extracted_t *x, const fail_t *why)
{
    bool tar = strcmp(x->format, "tar") == 0,
         owner = extracted_asked(x, "user") || extracted_asked(x, "group");
    bool no_if = !extracted_asked(x, "if_missing"),
         no_place = owner && !extracted_asked(x, "enforce_ownership_on");
    static const char tar_help[] =
        "If the source archive is a tar archive compressed using a compression type not natively supported by the "
        "tar command, then setting the 'list_options' argument may allow the contents to be listed. Otherwise, if "
        "Salt is unable to determine the files/directories in the archive, the following workaround(s) would need "
        "to be used for this state to proceed";

    if (!no_if && !no_place)
        return extracted_fail(x, "%s", fail_text(why));
    return extracted_fail(
        x, "%s\n\n%s (assuming the source file is a valid %s archive):\n%s%s", fail_text(why),
        tar ? tar_help : "The following workarounds must be used for this state to proceed", x->format,
        no_if ? "\n- 'if_missing' must be set" : "",
        no_place ? "\n- Ownership cannot be managed without setting 'enforce_ownership_on'." : "");
}

/* The members of the archive, by the execution module's archive.list, and what follows from it alone. A list of
 * verbose kind has folders, files and links apart. */
static int
list_contents(extracted_t *x)
{
    fail_auto_t why = FAIL_INIT;
    bool zip = strcmp(x->format, "zip") == 0;
    /* Only zip files are asked: of the others a list is made without a password. */
    int secret = zip && !extracted_asked(x, "password")
                     ? sub_call_bool(x->ctx, &why, "archive.is_encrypted", "{s:s}", "name", x->cached)
                     : 0;

    fail_clear(&why);
    if (secret > 0)
        return extracted_fail(
            x,
            "Archive %s is password-protected, but no password was specified. Please set the "
            "'password' argument.",
            x->shown);
    x->contents = sub_call(x->ctx, &why, "archive.list", "{s:s, s:s, s:O, s:o, s:b}", "name", x->cached,
                           "archive_format", x->format, "options", value_get(x->args, "list_options"),
                           "strip_components", stripped(x), "verbose", 1);
    if (x->contents == NULL)
        return cannot_list(x, &why);
    if (extracted_asked(x, "enforce_toplevel") &&
        (json_array_size(value_get(x->contents, "top_level_dirs")) > 1 ||
         json_array_size(value_get(x->contents, "top_level_files")) > 0))
        return extracted_fail(
            x,
            "Archive does not have a single top-level directory. To allow this archive to be "
            "extracted, set 'enforce_toplevel' to False. To avoid a '%s-bomb' it may also be "
            "advisable to set a top-level directory by adding it to the 'name' value (for example, "
            "setting 'name' to %ssome_dir instead of %s).",
            x->format, x->name, x->name);
    if (extracted_asked(x, "clean") && extracted_asked(x, "clean_parent"))
        return extracted_fail(x, "Only one of 'clean' and 'clean_parent' can be set to True");
    return 0;
}

/* A member's place below the destination, without slashes at its end. NEW. */
char *
extracted_place(const extracted_t *x, const char *path)
{
    char *full = xasprintf("%s%s", x->name, path);
    size_t n = strlen(full);

    while (n > 1 && full[n - 1] == '/')
        full[--n] = '\0';
    return full;
}

/* Whether each path is there as what the archive has; those that are something else go to `wrong`. lstat() is
 * used, so that a link that stands for a folder counts as a link: extraction through it would write
 * elsewhere. */
static int
compare_kind(extracted_t *x, const char *kind, json_t *wrong)
{
    json_t *path;
    size_t i;

    json_array_foreach (value_get(x->contents, kind), i, path) {
        AUTO_FREE char *full = extracted_place(x, json_string_value(path));
        struct stat st;
        if (lstat(full, &st) < 0) {
            if (errno != ENOENT && errno != ENOTDIR)
                return extracted_fail(x, "[Errno %d] %s: '%s'", errno, strerror(errno), full);
            /* Below something that is no folder the member can't be; that something is among the wrong
             * ones. */
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

/* Removes members that are there, and tells them as changes. What can't be removed fails after all others
 * were tried. */
int
extracted_remove(extracted_t *x, const json_t *paths, const char *sentence)
{
    buf_auto_t errors = BUF_INIT;
    json_t *removed = json_object_get(value_get(x->ret, "changes"), "removed"), *path;
    json_auto_t *list = removed != NULL ? json_copy(removed) : json_array();
    size_t i;

    json_array_foreach (paths, i, path) {
        AUTO_FREE char *bare = extracted_place(x, json_string_value(path));
        fail_auto_t why = FAIL_INIT;
        int rc = fop_remove(bare, &why);
        if (rc < 0)
            buf_printf(&errors, "\n- %s", fail_text(&why));
        else if (rc > 0)
            json_array_append_new(list, value_fmt("%s%s", x->name, json_string_value(path)));
    }
    if (json_array_size(list) > 0)
        state_change(x->ret, "removed", json_incref(list));
    return errors.len > 0 ? extracted_fail(x, "%s\n%s", sentence, buf_str(&errors)) : 0;
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
    if (ctx_test(x->ctx) && extracted_asked(x, "clean")) {
        state_ret_set(
            x->ret, STATE_NONE,
            "%s Since the 'clean' option is enabled, the destination paths would be cleared and the "
            "archive would be extracted.%s",
            buf_str(&text), buf_str(&list));
        return 1;
    }
    if (ctx_test(x->ctx) && extracted_asked(x, "clean_parent")) {
        state_ret_set(
            x->ret, STATE_NONE,
            "%s Since the 'clean_parent' option is enabled, the destination parent directory would be "
            "removed first and then re-created and the archive would be extracted",
            buf_str(&text));
        return 1;
    }
    if (extracted_asked(x, "clean"))
        return 0;
    if (!extracted_asked(x, "force"))
        return extracted_fail(
            x,
            "%s To proceed with extraction, set 'force' to True. Note that this will remove these "
            "paths before extracting.%s",
            buf_str(&text), buf_str(&list));
    x->needed = true;
    if (ctx_test(x->ctx))
        return 0;
    return extracted_remove(
        x, wrong,
        "One or more paths existed by were the incorrect type (i.e. file instead of directory or "
        "vice-versa), but could not be removed. The following errors were observed:\n");
}

/* Sets x->needed: the archive is extracted when something is missing, is of another kind, or the source is
 * another than the last time. */
static int
decide(extracted_t *x)
{
    static const char *const kinds[] = { "dirs", "files", "links" };
    json_auto_t *wrong = json_array(), *now = NULL;

    x->needed = extracted_asked(x, "overwrite") || x->unfinished;
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        int rc = compare_kind(x, kinds[i], wrong);
        if (rc != 0)
            return rc;
    }
    x->needed = x->needed || x->missing;
    int rc = json_array_size(wrong) > 0 ? settle_wrong(x, wrong) : 0;
    if (rc != 0 || x->needed || !extracted_asked(x, "source_hash_update") || x->old_sum == NULL)
        return rc;
    /* All members are there: only a source that has changed since is a reason. */
    now = extracted_kept_sum(x, x->cached, value_str(x->old_sum, "hash_type", ""));
    x->hash_changed = now == NULL || !value_equal(now, x->old_sum);
    x->needed = x->hash_changed;
    return 0;
}

/* 0 to go on; 1 when the return is complete; or negative. */
int
extracted_compare(extracted_t *x)
{
    static int (*const steps[])(extracted_t *) = { list_contents, decide };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](x);
    return rc;
}
