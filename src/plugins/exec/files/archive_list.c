/* archive_list.c - more of execution module `archive`: what a tar, zip or rar archive holds, and whether one
 * is encrypted. Zip archives are read here; tar and rar tell by themselves, tar with quoted names, so that a
 * name may hold any byte. Salt asks Python's tarfile and zipfile; the answers are compared with theirs
 * (tests/cases/exec/archive.list.json). Errors carry the path of the cached copy behind Salt's words. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "plugins/lib/archive/archives.h"
#include "plugins/lib/archive/zipfile.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/log.h"

/* A call in work. `name` is the user's path or URL, `cached` the file that is read. The three lists are
 * filled by a reader of one format; folders end with "/". */
typedef struct listing {
    call_ctx_t *ctx;
    json_t *args;
    const char *name;
    char *cached;                 /* owned */
    json_t *dirs, *files, *links; /* owned */
} listing_t;

static void
listing_free(listing_t *l)
{
    free(l->cached);
    json_decref(l->dirs);
    json_decref(l->files);
    json_decref(l->links);
}

#define listing_auto_t __attribute__((cleanup(listing_free))) listing_t

/* A byte of a name that is no UTF-8 becomes U+FFFD, as everywhere in results. */
static void
listing_add(json_t *list, const char *name, const char *more)
{
    AUTO_FREE char *text = xasprintf("%s%s", name, more);

    json_array_append_new(list, value_utf8(text, strlen(text)));
}

/* ---- tar -------------------------------------------------------------------------------------- */

/* A name that tar quoted as C does: NEW, and *ret_end behind its closing quote; NULL when there is none. An
 * octal escape has three digits and is below 0400; the quote within is escaped too, so that the next bare one
 * ends the name. */
static char *
tar_name(const char *p)
{
    static const char letters[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
    buf_auto_t out = BUF_INIT;

    for (p = strchr(p, '"'); p != NULL && *++p != '"';) {
        if (*p == '\0')
            return NULL;
        if (*p != '\\') {
            buf_putc(&out, *p);
            continue;
        }
        const char *found = *++p != '\0' ? strchr(letters, *p) : NULL;
        int octal = 0;
        if (*p >= '0' && *p <= '3' && sscanf(p, "%3o", (unsigned *) &octal) == 1 &&
            strspn(p, "01234567") >= 3) {
            buf_putc(&out, (char) octal);
            p += 2;
        } else {
            buf_putc(&out, found != NULL ? bytes[found - letters] : *p);
        }
    }
    return p != NULL ? buf_steal(&out) : NULL;
}

/* The line's first letter is the kind, as ls prints it. Hard links ("h") count as files. */
static void
add_tar_line(listing_t *l, const char *line)
{
    AUTO_FREE char *name = tar_name(line);

    if (name == NULL)
        return;
    size_t n = strlen(name);
    while (*line == 'd' && n > 1 && name[n - 1] == '/')
        name[--n] = '\0';
    if (*line == 'd')
        listing_add(l->dirs, name, "/");
    else
        listing_add(*line == 'l' ? l->links : l->files, name, "");
}

/* tar's own reading first, which knows the compressions of Python and more; where it fails, what the user's
 * command unpacks. A command of the user's is run with the archive behind it, and what it prints is read as a
 * tar archive. */
static int
list_tar(listing_t *l, fail_t *err)
{
    const char *options = value_str(l->args, "options", NULL);
    json_auto_t *ran = archive_run(l->ctx,
                                   json_pack("[s, s, s, s, s, s, s]", "tar", "--list", "--verbose",
                                             "--numeric-owner", "--absolute-names", "--quoting-style=c",
                                             "--file"),
                                   l->cached, NULL, err);

    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0 && !str_empty(options)) {
        json_decref(STEAL(ran));
        ran = archive_run_unpacked(l->ctx, options, l->cached, err);
    }
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EBADMSG,
                         "Unable to list contents of %s. If this is an XZ-compressed tar archive, install XZ "
                         "Utils to enable listing its contents. If it is compressed using something other "
                         "than XZ, it may be necessary to specify CLI options to decompress the archive. See "
                         "the documentation for details.",
                         l->name);
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++)
        add_tar_line(l, lines[i]);
    strv_free(lines);
    return 0;
}

/* ---- zip and rar ------------------------------------------------------------------------------ */

/* Archives from Windows have no entries for folders, or some without a mode: the nearest folder of each name
 * is added, as Salt does, and an entry that is such a folder leaves the files. */
static void
add_zip_parents(listing_t *l)
{
    json_auto_t *files = json_copy(l->files);
    AUTO(map) seen = map_new(NULL);
    json_t *file;
    size_t i;

    json_array_foreach (l->dirs, i, file)
        map_set(seen, json_string_value(file), seen);
    json_array_foreach (files, i, file) {
        const char *name = json_string_value(file), *slash = strrchr(name, '/');
        AUTO_FREE char *dir = slash != NULL ? xstrndup(name, (size_t) (slash - name) + 1) : NULL;
        if (dir != NULL && map_get(seen, dir) == NULL) {
            map_set(seen, dir, seen);
            json_array_append_new(l->dirs, json_string(dir));
        }
    }
    for (i = json_array_size(l->files); i-- > 0;) {
        if (map_get(seen, json_string_value(json_array_get(l->files, i))) != NULL)
            json_array_remove(l->files, i);
    }
}

/* The central directory alone is read, so that no member is unpacked. A member's kind is in its Unix mode;
 * those without one go to the files first. */
static int
list_zip(listing_t *l, fail_t *err)
{
    zipfile_auto_t zip = ZIPFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = zipfile_open(&zip, l->cached, &why);

    if (rc == -EBADMSG)
        return fail_kind(err, FAIL_COMMAND, rc, "%s is not a ZIP file", l->name);
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "Failed to list contents of %s: %s", l->name,
                         fail_text(&why));
    for (size_t i = 0; i < zip.n; i++) {
        const zip_entry_t *e = &zip.v[i];
        listing_add(S_ISLNK(e->mode) ? l->links : S_ISDIR(e->mode) ? l->dirs : l->files, e->name, "");
    }
    add_zip_parents(l);
    return 0;
}

/* "Name: PATH" and "Type: Directory" or "Type: File" in turn. `rar lt` prints a block for each member. Links
 * are told as files. */
static int
list_rar(listing_t *l, fail_t *err)
{
    AUTO_FREE char *rar = fs_which("rar"), *name = NULL;

    if (rar == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "rar command not available, is it installed?");
    json_auto_t *ran = archive_run(l->ctx, json_pack("[s, s]", "rar", "lt"), l->cached, NULL, err);
    if (ran == NULL)
        return err->code;
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char *line = str_trim(lines[i]);
        if (str_starts(line, "Name:")) {
            free(name);
            name = xstrdup(str_trim(line + strlen("Name:")));
        } else if (str_starts(line, "Type:") && name != NULL) {
            bool dir = str_eq(str_trim(line + strlen("Type:")), "Directory");
            listing_add(dir ? l->dirs : l->files, name, dir ? "/" : "");
            free(STEAL(name));
        }
    }
    strv_free(lines);
    /* An old rar has another format and prints no such lines: an empty listing counts as a failure. */
    if (json_array_size(l->dirs) + json_array_size(l->files) > 0)
        return 0;
    return fail_kind(
        err, FAIL_COMMAND, -EBADMSG,
        "Failed to list %s, is it a rar file? If so, the installed version of rar may be too old "
        "to list data in a parsable format. Installing the rarfile Python module may be an easier "
        "workaround if newer rar is not readily available.",
        l->name);
}

/* ---- what is returned ------------------------------------------------------------------------- */

/* Each path without its first folders; those that are not deep enough go. */
static void
strip_paths(json_t *list, long n)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        const char *p = json_string_value(json_array_get(list, i));
        for (long k = 0; k < n && p != NULL; k++)
            p = strchr(p, '/') != NULL ? strchr(p, '/') + 1 : NULL;
        if (p == NULL || *p == '\0')
            json_array_remove(list, i);
        else
            json_array_set_new(list, i, json_string(p));
    }
}

/* Those of a sorted list with that many slashes. NEW. A folder's own "/" at its end counts: top folders have
 * one slash, top files none. */
static json_t *
of_depth(const json_t *list, size_t depth)
{
    json_t *out = json_array(), *v;
    size_t i;

    json_array_foreach (list, i, v) {
        size_t slashes = 0;
        for (const char *p = json_string_value(v); *p != '\0'; p++)
            slashes += *p == '/';
        if (slashes == depth)
            json_array_append(out, v);
    }
    return out;
}

/* The folder that all paths are in counts as a top one, also where the archive has no entry for it. */
static void
add_common_dir(const json_t *dirs, json_t *top)
{
    size_t n = json_array_size(dirs), len = 0;

    if (n == 0)
        return;
    const char *first = json_string_value(json_array_get(dirs, 0));
    const char *last = json_string_value(
        json_array_get(dirs, n - 1)); /* sorted: what both begin with, all do */
    while (first[len] != '\0' && first[len] == last[len])
        len++;
    const char *slash = memchr(first, '/', len);
    AUTO_FREE char *common = slash != NULL ? xstrndup(first, (size_t) (slash - first) + 1) : NULL;
    if (common != NULL && !value_lists(top, common))
        json_array_append_new(top, json_string(common));
}

/* A plain sorted list, or with `verbose` the kinds apart and what is at the top. The state archive.extracted
 * works with the latter. */
static json_t *
listing_value(listing_t *l)
{
    if (!value_truthy(value_get(l->args, "verbose"))) {
        json_auto_t *all = json_copy(l->dirs);
        json_array_extend(all, l->files);
        json_array_extend(all, l->links);
        return value_sorted_texts(all);
    }
    json_t *dirs = value_sorted_texts(l->dirs), *files = value_sorted_texts(l->files);
    json_t *links = value_sorted_texts(l->links), *top = of_depth(dirs, 1);
    add_common_dir(dirs, top);
    json_t *ret = json_pack("{s:o, s:o, s:o, s:o}", "dirs", dirs, "files", files, "links", links,
                            "top_level_dirs", top);
    json_object_set_new(ret, "top_level_files", of_depth(files, 0));
    json_object_set_new(ret, "top_level_links", of_depth(links, 0));
    return ret;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* The format is given, or told by the end of the name without a URL's query. */
static int
list_by_format(listing_t *l, fail_t *err)
{
    static const struct {
        const char *format;
        int (*list)(listing_t *l, fail_t *err);
    } rows[] = { { "tar", list_tar }, { "zip", list_zip }, { "rar", list_rar } };
    const char *format = value_str(l->args, "archive_format", "");

    if (*format == '\0') {
        url_auto_t url = { 0 };
        url_parse(&url, l->name);
        format = archive_guess(*url.path != '\0' ? url.path : url.netloc);
    }
    if (format == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Unable to guess archive format, please pass an 'archive_format' argument.");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (strcmp(rows[i].format, format) == 0)
            return rows[i].list(l, err);
    }
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "Unsupported archive format '%s'", format);
}

/* A copy that can't be removed is no reason to withhold the listing. */
static void
clean_cached(const listing_t *l)
{
    if (value_truthy(value_get(l->args, "clean")) && unlink(l->cached) < 0 && errno != ENOENT)
        log_warning("Failed to clean cached archive %s: %s", l->cached, strerror(errno));
}

/* Salt's CommandExecutionError with its info. */
static int
with_location(const listing_t *l, const fail_t *why, fail_t *err)
{
    const char *text = fail_text(why);
    bool ended = *text != '\0' && strchr(".?!", text[strlen(text) - 1]) != NULL;

    return fail_kind(err, FAIL_COMMAND, why->code,
                     "%s%s Additional info follows:\n\narchive location:\n    %s", text, ended ? "" : ".",
                     l->cached);
}

/* `l` is to be freed in any case: its lists are made before the fetching may fail. */
static int
listing_cache(listing_t *l, call_ctx_t *ctx, json_t *args, fail_t *err)
{
    *l = (listing_t){ .ctx = ctx, .args = args, .name = value_str(args, "name", "") };
    l->dirs = json_array();
    l->files = json_array();
    l->links = json_array();
    l->cached = archive_cache(ctx, args, err);
    return l->cached != NULL ? 0 : err->code;
}

static int
archive_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *strip = value_get(args, "strip_components");
    AUTO_FREE char *strip_text = value_pystr(strip);
    listing_auto_t l = { 0 };
    fail_auto_t why = FAIL_INIT;
    long long n = 0;

    if (listing_cache(&l, ctx, args, err) < 0)
        return err->code;
    /* Asked before the format, so that an unreadable file is not told as a broken archive. */
    if (access(l.cached, R_OK) < 0)
        (void) fail_set(&why, -errno, "Failed to list contents of %s: [Errno %d] %s: '%s'", l.name, errno,
                        strerror(errno), l.cached);
    if (why.code == 0 && list_by_format(&l, &why) == 0 && value_truthy(strip)) {
        if (!str_to_int(strip_text, 1, INT32_MAX, &n))
            (void) fail_kind(&why, FAIL_COMMAND, -EINVAL, "'strip_components' must be a positive integer");
        strip_paths(l.dirs, n);
        strip_paths(l.files, n);
        strip_paths(l.links, n);
    }
    if (why.code != 0)
        return with_location(&l, &why, err);
    clean_cached(&l);
    *ret_value = listing_value(&l);
    return 0;
}

/* True when any member is. Only zip archives tell. */
static int
archive_is_encrypted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    listing_auto_t l = { 0 };
    zipfile_auto_t zip = ZIPFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    bool encrypted = false;

    if (listing_cache(&l, ctx, args, err) < 0)
        return err->code;
    int rc = zipfile_open(&zip, l.cached, &why);
    if (rc == -EBADMSG) {
        fail_clear(&why);
        (void) fail_set(&why, rc, "%s is not a ZIP file", l.name);
    }
    if (rc < 0)
        return with_location(&l, &why, err);
    for (size_t i = 0; i < zip.n; i++)
        encrypted = encrypted || zip_is_encrypted(&zip.v[i]);
    clean_cached(&l);
    *ret_value = json_boolean(encrypted);
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "Path or URL of the archive")
#define CACHE_ROWS                                                                                           \
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// URL"),                                     \
        ARG("source_hash", ARG_STR, "null", "A cached copy with this digest is not fetched again"),          \
        ARG("use_etag", ARG_BOOL, "false", "Ask the web server by the ETag whether to fetch it again")
#define CLEAN_ROW ARG("clean", ARG_BOOL, "false", "Remove the archive afterwards")

static const arg_t list_args[] = {
    NAME_ROW,
    ARG("archive_format", ARG_STR, "null", "tar, zip or rar; by default from the name"),
    ARG("options", ARG_STR, "null", "tar: a command that unpacks the archive to stdout"),
    ARG("strip_components", ARG_ANY, "null", "How many folders to leave out at the front of each path"),
    CLEAN_ROW,
    ARG("verbose", ARG_BOOL, "false", "Return folders, files and links apart"),
    CACHE_ROWS,
    ARGS_END,
};
static const arg_t encrypted_args[] = { NAME_ROW, CLEAN_ROW, CACHE_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "is_encrypted", archive_is_encrypted, encrypted_args, 0,
      "Return whether a zip archive needs a password." CLI_EXAMPLE(
          "salt '*' archive.is_encrypted /path/to/myfile.zip") },
    { "list", archive_list, list_args, 0,
      "Return the paths that an archive holds." CLI_EXAMPLE(
          "salt '*' archive.list /path/to/myfile.tar.gz\n    salt '*' archive.list salt://foo.tar.gz") },
};

PLUGIN(exec, archive_list, .provides = "archive", .doc = "What archives hold", FUNCS(funcs));
